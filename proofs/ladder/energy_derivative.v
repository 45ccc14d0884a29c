(** dE/ds = - sigma^2 on the finite power family (subsec:thermodynamic-coordinate).

    S is any finite state space and U any energy on it; the paper's are S_T and
    U = - log p0 ([power_target_is_family]).

    - [family s x]            pi_s(x) = e^{-s U(x)} / Z(s)
    - [mean_energy s]         E_{pi_s}[U];  [variance s]  sigma^2(s)
    - [mean_derivative]     d/ds E_s[f] = - Cov_s(f, U), for every f
    - [mean_energy_derivative]    d/ds E = - sigma^2, at every s
    - [variance_positive]     sigma^2 > 0 unless U is constant; [variance_constant]
      it is zero then
    - [mean_energy_decreasing]    E falls strictly along the ladder
    - [acceptance_falls_above], [acceptance_falls_below]   the exact equilibrium
      acceptance of two rungs falls as the gap between their powers widens        *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import boolp classical_sets reals topology normedtype sequences derive exp realfun.
From Tempera Require Import kernels autoregressive record_space power power_target real_powers.
From Tempera Require Import equilibrium_acceptance.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory numFieldNormedType.Exports.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Lemma is_derive_sum_seq (R : realType) (I : Type) (r : seq I) (f : I -> R -> R) (df : I -> R) s :
  (forall i, is_derive s 1 (f i) (df i)) ->
  is_derive s 1 (fun t => \sum_(i <- r) f i t) (\sum_(i <- r) df i).
Proof.
move=> d; elim: r => [|i r IH].
  rewrite big_nil (_ : (fun t => _) = (fun=> 0)); first exact: is_derive_cst.
  by apply/funext => t; rewrite big_nil.
rewrite big_cons (_ : (fun t => _) = f i \+ (fun t => \sum_(j <- r) f j t)); last first.
  by apply/funext => t; rewrite big_cons.
exact: (@is_deriveD _ _ _ (f i) (fun t => \sum_(j <- r) f j t) s 1).
Qed.

Section PowerFamily.
Variables (R : realType) (S : finType) (U : S -> R) (x0 : S).
Implicit Types (s : R) (x : S) (f : S -> R).

Definition boltzmann x s : R := expR (- U x * s).
Definition partition s : R := \sum_x boltzmann x s.
Definition family s x : R := boltzmann x s / partition s.
Definition mean_energy s : R := \sum_x family s x * U x.
Definition variance s : R := \sum_x family s x * (U x - mean_energy s) ^+ 2.

Lemma boltzmann_gt0 x s : 0 < boltzmann x s.
Proof. exact: expR_gt0. Qed.

Lemma partition_gt0 s : 0 < partition s.
Proof.
rewrite /partition (bigD1 x0) //= ltr_spaddl ?boltzmann_gt0 //.
by apply: sumr_ge0 => x _; apply/ltW/boltzmann_gt0.
Qed.

Lemma family_gt0 s x : 0 < family s x.
Proof. by rewrite divr_gt0 ?boltzmann_gt0 ?partition_gt0. Qed.

Lemma family_law s : law (family s).
Proof.
split=> [x|]; first exact/ltW/family_gt0.
by rewrite -mulr_suml mulfV // gt_eqF ?partition_gt0.
Qed.

Lemma varianceE s : variance s = \sum_x family s x * U x ^+ 2 - mean_energy s ^+ 2.
Proof.
set m := mean_energy s.
have split x : family s x * (U x - m) ^+ 2
    = family s x * U x ^+ 2 + (- (m *+ 2) * (family s x * U x) + m ^+ 2 * family s x).
  rewrite sqrrB mulrDr mulrBr -addrA; congr (_ + (_ + _)); last exact: mulrC.
  by rewrite mulrnAr mulNr mulrnAl [m * _]mulrCA [U x * m]mulrC.
rewrite /variance -/m (eq_bigr _ (fun x _ => split x)) big_split /= big_split /=.
rewrite -!mulr_sumr (proj2 (family_law s)) -/(mean_energy s) -/m mulr1; congr (_ + _).
by rewrite mulNr mulrnAl -expr2 -{2}(mulr1n (m ^+ 2)) mulr2n opprD -addrA addNr addr0.
Qed.

Lemma boltzmann_derivative x s : is_derive s 1 (boltzmann x) (- U x * boltzmann x s).
Proof.
have inner : is_derive s 1 (fun t => - U x * t) (- U x).
  have := @is_deriveZ _ _ _ id (- U x) s 1 _ (is_derive_id s 1).
  by rewrite /GRing.scale /= mulr1.
have := @is_derive1_comp _ expR (fun t => - U x * t) s _ _ (is_derive_expR _) inner.
by rewrite /GRing.scale /= mulrC.
Qed.

(** d/ds E_s[f] = - Cov_s(f, U) for every f. *)
Definition mean f s : R := \sum_x family s x * f x.
Definition covariance f s : R := mean (fun x => f x * U x) s - mean f s * mean U s.

Lemma weighted f s : \sum_x f x * boltzmann x s = partition s * mean f s.
Proof.
rewrite mulr_sumr; apply: eq_bigr => x _; rewrite /family.
rewrite mulrA [partition s * _]mulrC divfK; first exact: mulrC.
by rewrite gt_eqF // partition_gt0.
Qed.

Theorem mean_derivative f s : is_derive s 1 (mean f) (- covariance f s).
Proof.
have dZ : is_derive s 1 partition (\sum_x - U x * boltzmann x s).
  by apply: is_derive_sum_seq => x; apply: boltzmann_derivative.
pose M t := \sum_x f x * boltzmann x t.
have dM : is_derive s 1 M (\sum_x f x * (- U x * boltzmann x s)).
  apply: is_derive_sum_seq => x.
  exact: (@is_deriveZ _ _ _ (boltzmann x) (f x) s 1 _ (boltzmann_derivative x s)).
have Z0 t : partition t != 0 by rewrite gt_eqF // partition_gt0.
have ME : mean f = M \* (fun t => (partition t)^-1).
  apply/funext => t; transitivity (M t * (partition t)^-1); last by [].
  by rewrite /M weighted mulrAC mulfV ?mul1r.
have dV := @is_deriveV _ partition s _ 1 (Z0 s) dZ.
have dE := @is_deriveM _ _ M (fun t => (partition t)^-1) s 1 _ _ dM dV.
rewrite ME; apply: (is_derive_eq dE).
have -> : \sum_x - U x * boltzmann x s = - (partition s * mean U s).
  by rewrite -weighted -sumrN; apply: eq_bigr => x _; rewrite mulNr.
have -> : \sum_x f x * (- U x * boltzmann x s) = - (partition s * mean (fun x => f x * U x) s).
  by rewrite -weighted -sumrN; apply: eq_bigr => x _; rewrite mulNr mulrN mulrA.
rewrite /M weighted /covariance.
have combine (z p u q : R) : z != 0 ->
    z * p * (- z ^- 2 * - (z * u)) + z^-1 * (- (z * q)) = - (q - p * u).
  move=> z0; rewrite [z^-1 * _]mulrN mulKf // opprB; congr (_ - _).
  rewrite mulrNN expr2 invfM -[z^-1 * z^-1 * _]mulrA mulKf // mulrAC mulrA mulfV // mul1r.
  exact: mulrC.
exact: combine.
Qed.

Theorem mean_energy_derivative s : is_derive s 1 mean_energy (- variance s).
Proof.
have -> : variance s = covariance U s.
  by rewrite varianceE /covariance expr2; congr (_ - _); apply: eq_bigr => x _; rewrite expr2.
exact: mean_derivative.
Qed.

(** Unless all energies agree, every power target spreads over two of them. *)
Theorem variance_positive s : (exists x y, U x != U y) -> 0 < variance s.
Proof.
case=> x [y xy]; have term0 z : 0 <= family s z * (U z - mean_energy s) ^+ 2.
  by rewrite mulr_ge0 ?sqr_ge0 // ltW // family_gt0.
rewrite lt_def sumr_ge0 // andbT; apply/eqP => /psumr_eq0P zero.
have at_mean z : U z = mean_energy s.
  have /eqP := zero (fun z _ => term0 z) z isT.
  by rewrite mulf_eq0 gt_eqF ?family_gt0 //= sqrf_eq0 subr_eq0 => /eqP.
by move: xy; rewrite !at_mean eqxx.
Qed.

Theorem variance_constant s c : (forall x, U x = c) -> variance s = 0.
Proof.
move=> const; have m : mean_energy s = c.
  rewrite /mean_energy; under eq_bigr do rewrite const.
  by rewrite -mulr_suml (proj2 (family_law s)) mul1r.
by rewrite /variance big1 // => x _; rewrite const m subrr expr0n mulr0.
Qed.

Corollary mean_energy_decreasing s t :
  (exists x y, U x != U y) -> s < t -> mean_energy t < mean_energy s.
Proof.
move=> vary st; have cont : {within `[s, t], continuous mean_energy}.
  apply: continuous_subspaceT => u; apply: differentiable_continuous.
  by apply/derivable1_diffP; case: (mean_energy_derivative u).
have [c _ e] := MVT st (fun u _ => mean_energy_derivative u) cont.
by rewrite -subr_lt0 e nmulr_rlt0 ?subr_gt0 // oppr_lt0 variance_positive.
Qed.

(** A higher power tilts towards low energy. *)
Lemma tilted_exponents s t x y :
  (- U x * t + - U y * s) - (- U y * t + - U x * s) = (U y - U x) * (t - s).
Proof.
rewrite !mulNr opprD !opprK mulrBr !mulrBl opprB.
by rewrite [LHS](AC (2*2) ((3*1)*(4*2)))%AC.
Qed.

Lemma flowsE s t x y : family t x * family s y =
  expR (- U x * t + - U y * s) / (partition t * partition s).
Proof. by rewrite /family mulf_div expRD. Qed.

Lemma family_tilts s t : s <= t -> tilts U (family s) (family t).
Proof.
move=> st x y xy; rewrite !flowsE ler_pmul2r ?invr_gt0 ?mulr_gt0 ?partition_gt0 // ler_expR.
by rewrite -subr_ge0 tilted_exponents mulr_ge0 // subr_ge0.
Qed.

Lemma family_strictly_tilts s t : s < t -> strictly_tilts U (family s) (family t).
Proof.
move=> st x y xy; rewrite !flowsE ltr_pmul2r ?invr_gt0 ?mulr_gt0 ?partition_gt0 // ltr_expR.
by rewrite -subr_gt0 tilted_exponents mulr_gt0 // subr_gt0.
Qed.

Theorem acceptance_falls_above s t t' : (exists x y, U x != U y) -> s <= t -> t < t' ->
  overlap (family s) (family t') < overlap (family s) (family t).
Proof.
move=> vary st tt'; apply: (overlap_strictly_decreasing _ _ _ _ _ _ _ _ vary).
- exact: family_law.
- exact: family_law.
- exact: family_law.
- exact: family_tilts.
- by apply: family_tilts; apply: le_trans (ltW tt').
- by apply: family_tilts; apply: ltW.
- exact: family_gt0.
exact: family_strictly_tilts.
Qed.

Theorem acceptance_falls_below s' s t : (exists x y, U x != U y) -> s' < s -> s <= t ->
  overlap (family s') (family t) < overlap (family s) (family t).
Proof.
move=> [x [y xy]] ss' st; rewrite overlap_sym [X in _ < X]overlap_sym.
have flip a b : tilts U a b -> tilts (fun z => - U z) b a.
  by move=> ab u v; rewrite ler_opp2 => /ab; rewrite [b u * _]mulrC [b v * _]mulrC.
apply: (@overlap_strictly_decreasing _ _ (fun z => - U z)).
- exact: family_law.
- exact: family_law.
- exact: family_law.
- by apply: flip; apply: family_tilts.
- by apply: flip; apply: family_tilts; apply: le_trans st; apply: ltW.
- by apply: flip; apply: family_tilts; apply: ltW.
- exact: family_gt0.
- move=> u v; rewrite ltr_opp2 => /(family_strictly_tilts ss').
  by rewrite [_ * family s' v]mulrC [_ * family s' u]mulrC.
by exists x, y; rewrite eqr_opp.
Qed.

End PowerFamily.

(** The paper's family: p0^s / Z(s) on S_T, for U = - log p0. *)
Section Records.
Variables (R : realType) (V : finType) (E : {set V}) (lm : seq V -> V -> R) (T : nat).
Hypothesis lm_model : model E lm.
Notation S_T := (S_T E lm T).

Definition energy (x : S_T) : R := - ln (record_prob E lm (val x)).

Theorem power_target_is_family s x : target (power_real s) x = family energy s x.
Proof.
have powE (y : S_T) : power_real s (record_prob E lm (val y)) = boltzmann energy y s.
  have p0 := record_prob_gt0 y.
  by rewrite /= /real_pow gt_eqF // /exp_fun /boltzmann /energy opprK mulrC.
rewrite /target /family powE /Z /partition; congr (_ / _).
by apply: eq_bigr => y _; apply: powE.
Qed.

End Records.
