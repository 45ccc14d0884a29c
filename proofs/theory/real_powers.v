(** * Real powers, and the two log-ratios that the sampler computes

    The only file here that uses real analysis: it shows that x |-> x^a is a
    [power] for every real a, so that every theorem stated for an abstract power
    holds for the paper's real ladder, and restates the two cached ratios with the
    paper's logarithms.  Its theorems rest on mathcomp-analysis' classical axioms. *)

From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import reals exp.
From Tempera Require Import markov autoregressive record_space power power_target.
From Tempera Require Import cached_ratio replica_exchange fixed_horizon.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section RealPower.
Variables (R : realType) (a : R).

(** 0^a = 0: a token of probability zero keeps it. *)
Definition real_pow (x : R) : R := if x == 0 then 0 else x `^ a.

Lemma real_pow0 : real_pow 0 = 0.
Proof. by rewrite /real_pow eqxx. Qed.

Lemma real_pow1 : real_pow 1 = 1.
Proof. by rewrite /real_pow oner_eq0 exp_fun1. Qed.

Lemma real_powM x y : 0 <= x -> 0 <= y -> real_pow (x * y) = real_pow x * real_pow y.
Proof.
rewrite /real_pow mulf_eq0 !le0r; case: eqP => [->|_] /=; first by rewrite mul0r.
case: eqP => [->|_] /=; first by rewrite mulr0.
by move=> x0 y0; rewrite /exp_fun lnM // mulrDr expRD.
Qed.

Lemma real_pow_gt0 x : 0 < x -> 0 < real_pow x.
Proof. by move=> x0; rewrite /real_pow gt_eqF // exp_fun_gt0. Qed.

Definition power_real : power R := Power real_pow0 real_pow1 real_powM real_pow_gt0.

Lemma ln_power_real x : 0 < x -> ln (power_real x) = a * ln x.
Proof. by move=> x0; rewrite /= /real_pow gt_eqF // /exp_fun expK. Qed.

End RealPower.

Section RealLadder.
Variables (R : realType) (V : finType) (E : {set V}) (lm : seq V -> V -> R) (T n : nat).
Variable alpha : 'I_n.+1 -> R.
Variable omega : 'I_n.+1 -> 'I_T -> R.
Hypothesis lm_model : model E lm.
Hypothesis omega_law : forall k, law (omega k).
Notation S_T := (S_T E lm T).
Notation powers := (fun k => power_real (alpha k)).

(** prop:fixed-stage-invariance on the paper's real ladder. *)
Theorem fixed_stage_invariance_real :
  let Pi := Pi (E := E) (lm := lm) (T := T) powers in
  let pi := pi (E := E) (lm := lm) (T := T) powers in
  [/\ forall k r, reversible (pi k) (local_at powers k r),
      invariant Pi (sweep (local powers omega)),
      forall e, invariant Pi (W pi e),
      invariant Pi (adj pi)
    & forall n_local n_sweep,
        invariant Pi (transition powers omega (adj pi) n_local n_sweep)].
Proof. exact: fixed_stage_invariance. Qed.

(** The rest of the target preservation on that ladder: the mixture over restart
    positions, each parity layer, the even-odd schedule, local sweeps alternating with
    the two layers, and the law of any rung after any number of rounds. *)
Theorem target_preservation_real :
  let Pi := Pi (E := E) (lm := lm) (T := T) powers in
  let pi := pi (E := E) (lm := lm) (T := T) powers in
  let step C := transition powers omega C in
  [/\ forall k, reversible (pi k) (local powers omega k),
      forall b, invariant Pi (deo_layer pi b),
      forall n_local n_sweep, invariant Pi (step (deo pi) n_local n_sweep),
      forall n_local, invariant Pi (compk (step (deo_layer pi false) n_local 1%N)
                                          (step (deo_layer pi true) n_local 1%N))
    & forall k C n_local n_sweep N, invariant Pi C ->
        marginal k (run N Pi (step C n_local n_sweep)) =1 pi k].
Proof.
split=> [k|b|n_local n_sweep|n_local|k C n_local n_sweep N iC x].
- exact: local_reversible.
- by apply: deo_layer_invariant => i x; apply: pi_ge0.
- exact: transition_invariant_deo.
- exact: transition_invariant_alternating.
rewrite -(output_marginal powers lm_model) // /marginal; apply: eq_bigr => X _.
apply/run_invariant; apply: ppt_invariant iC => j; exact: local_invariant.
Qed.

(** zeta_{t+1,k}(x) = log z(x_{<t}), eq:implementation-token-normalizers *)
Definition zeta (k : 'I_n.+1) (x : S_T) (t : nat) : R :=
  ln (z E lm (power_real (alpha k)) (take t (val x))).

(** eq:implementation-local-cached-ratio *)
Theorem log_cached_ratio k r (x y : S_T) : (r <= T)%N ->
  take r (val y) = take r (val x) ->
  let target := target (power_real (alpha k)) in
  let q := q (power_real (alpha k)) in
  ln ((target y * q r y x) / (target x * q r x y))
    = \sum_(r <= t < T) (zeta k y t - zeta k x t).
Proof.
move=> rT e /=; rewrite cached_ratio //.
have zt w t : 0 < z E lm (power_real (alpha k)) (take t (val (w : S_T))).
  by apply: z_gt0 => //; apply: supported_prefix.
elim: (index_iota r T) => [|t s IH]; first by rewrite !big_nil ln1.
have pos : 0 < \prod_(j <- s) (z E lm (power_real (alpha k)) (take j (val y))
                               / z E lm (power_real (alpha k)) (take j (val x))).
  by apply: (big_ind (fun u => 0 < u)) => [|u v|j _];
     [exact: ltr01 | exact: mulr_gt0 | rewrite divr_gt0].
by rewrite !big_cons lnM ?posrE ?divr_gt0 // IH ln_div ?posrE.
Qed.

(** eq:swap-acceptance-theory *)
Theorem log_swap_ratio (e : 'I_n) (X : {ffun 'I_n.+1 -> S_T}) :
  let p i := record_prob E lm (val (X i)) in
  let Pi := Pi powers in
  ln (Pi (exchange e X) / Pi X)
    = (alpha (upper e) - alpha (lower e)) * (ln (p (lower e)) - ln (p (upper e))).
Proof.
move=> p /=; rewrite swap_ratio_p0 //=.
have p0 i : 0 < p i by apply: record_prob_gt0.
have pp k i : 0 < power_real (alpha k) (p i) by apply: pow_gt0.
rewrite -!/(p _) lnM ?posrE ?divr_gt0 ?pp // !ln_div ?posrE ?pp //.
rewrite !ln_power_real // -!mulrBr mulrBl addrC; congr (_ + _).
by rewrite -mulrN opprB.
Qed.

End RealLadder.
