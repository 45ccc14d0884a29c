(** * The cached acceptance ratio

    eq:implementation-local-cached-ratio, without logarithms: for two records of
    S_T that agree before the restart position, the Metropolis-Hastings ratio is
    the product of the ratios of the tokenwise normalizers from r on.            *)

From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov autoregressive record_space power power_target.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section CachedRatio.
Variables (R : realFieldType) (V : finType) (E : {set V}).
Variable lm : seq V -> V -> R.
Variable alpha : power R.
Hypothesis lm_model : model E lm.
Variable T : nat.

Notation S_T := (S_T E lm T).
Notation z := (z E lm alpha).
Notation g := (g E lm alpha).
Notation target := (@target R V E lm alpha T).
Notation q := (@q R V E lm alpha T).
Implicit Types x y : S_T.

(** exp of the cached sum of zeta from the restart position on. *)
Definition cached_z (r : nat) x : R := \prod_(r <= t < T) z (take t (val x)).

Lemma cached_z_gt0 r x : 0 < cached_z r x.
Proof.
rewrite /cached_z; apply: (big_ind (fun u => 0 < u)) => [|u v|t _];
  [exact: ltr01 | exact: mulr_gt0 |].
by apply: z_gt0 => //; apply: supported_prefix.
Qed.

(** Padding positions contribute nothing: the sum may stop at the record's length. *)
Lemma cached_z_len r x :
  cached_z r x = \prod_(r <= t < len E (val x)) z (take t (val x)).
Proof.
have le : (len E (val x) <= T)%N by rewrite /len size_tuple geq_minr.
have one t : (len E (val x) <= t < T)%N -> z (take t (val x)) = 1.
  case/andP=> ge lt; apply: z_padding => //; first exact: supported_prefix.
  rewrite terminated_take size_tuple (minn_idPl (ltnW lt)).
  by move: ge; rewrite /len size_tuple geq_min [(T <= t)%N]leqNgt lt orbF.
have [rl|lr] := leqP r (len E (val x)).
  rewrite /cached_z (big_cat_nat _ (n := len E (val x))) //=.
  by rewrite [X in _ * X]big_nat [X in _ * X]big1 ?mulr1.
rewrite [RHS]big_geq; last exact: ltnW.
rewrite /cached_z big_nat big1 // => t /andP[rt tT]; apply: one.
by rewrite tT (leq_trans (ltnW lr) rt).
Qed.

(** The powered law of a record, cut at the restart position. *)
Lemma powered_record r x : (r <= T)%N ->
  alpha (record_prob E lm (val x)) =
  alpha (prefix_prob E lm (take r (val x))) * (suffix bot g r (val x) * cached_z r x).
Proof.
move=> rT; rewrite /record_prob !prefix_probE.
rewrite (suffix_split _ _ (r := r)) ?size_tuple // powM; last first.
- by apply: suffix_ge0 => *; apply: p0_ge0.
- by apply: suffix_ge0 => *; apply: p0_ge0.
congr (_ * _); rewrite /suffix pow_prod => [|t _]; last exact: p0_ge0.
rewrite /cached_z size_tuple -big_split /=; apply: eq_bigr => t _.
by rewrite p0E_g //; apply: supported_prefix.
Qed.

(** eq:implementation-local-cached-ratio *)
Theorem cached_ratio r x y : (r <= T)%N -> take r (val y) = take r (val x) ->
  (target y * q r y x) / (target x * q r x y) =
  \prod_(r <= t < T) (z (take t (val y)) / z (take t (val x))).
Proof.
move=> rT e; rewrite /target /q e eqxx !mul1r !(powered_record _ rT) e.
set c := alpha _; set gx := suffix bot g r (val x); set gy := suffix bot g r (val y).
have c0 : c != 0.
  rewrite gt_eqF // pow_gt0 // -supportedE //; exact: supported_prefix.
have g0 (w : S_T) : suffix bot g r (val w) != 0.
  have := @q_gt0 R V E lm alpha lm_model T r w w erefl.
  by rewrite /power_target.q eqxx mul1r => /gt_eqF ->.
have gx0 : gx != 0 by apply: g0.
have gy0 : gy != 0 by apply: g0.
have Z0 : Z E lm alpha T != 0 by rewrite gt_eqF // Z_gt0.
have zx0 : cached_z r x != 0 by rewrite gt_eqF // cached_z_gt0.
rewrite prodf_div -!/(cached_z r _).
apply/eqP; rewrite eqr_div //; last first.
  by rewrite !mulf_neq0 ?invr_eq0.
apply/eqP; rewrite !mulrA.
by rewrite [LHS](ACl (3*1*5*6*4*2)%AC).
Qed.

(** The two sums may stop at the two records' own lengths. *)
Corollary cached_ratio_len r x y : (r <= T)%N -> take r (val y) = take r (val x) ->
  (target y * q r y x) / (target x * q r x y) =
  (\prod_(r <= t < len E (val y)) z (take t (val y)))
  / (\prod_(r <= t < len E (val x)) z (take t (val x))).
Proof. by move=> rT e; rewrite cached_ratio // prodf_div -!cached_z_len. Qed.

(** The acceptance probability that the sampler computes from its cache is the
    Metropolis-Hastings one, wherever the proposal can go. *)
Corollary cached_accept r x y : (r <= T)%N -> q r x y != 0 ->
  accept target (q r) x y = Num.min 1 (cached_z r y / cached_z r x).
Proof.
move=> rT qn0; rewrite /accept (negPf qn0) cached_ratio ?prodf_div //.
by move: qn0; rewrite mulf_eq0 negb_or pnatr_eq0 eqb0 negbK => /andP[/eqP].
Qed.

(** A restart past the first terminal token proposes the record itself. *)
Lemma self_transition r x y : (r <= T)%N -> (tau E (val x) < r)%N ->
  q r x y = (y == x)%:R.
Proof.
move=> rT tr; have qxx : q r x x = 1.
  rewrite /power_target.q eqxx mul1r /suffix size_tuple big_nat big1 // => t /andP[rt tT].
  have th : terminated E (take t (val x)).
    by rewrite terminated_take size_tuple (minn_idPl (ltnW tT)) (leq_trans tr rt).
  rewrite g_padding ?supported_prefix // -(tnth_nth bot (val x) (Ordinal tT)).
  by rewrite padding //= (leq_trans tr rt).
have [->//|yx] := eqVneq y x.
have [q0 q1] := q_law alpha lm_model rT x.
move: q1; rewrite (bigD1 x) //= qxx => /eqP; rewrite addrC -subr_eq0 addrK => /eqP.
by move/psumr_eq0P => -> // w _; apply: q0.
Qed.

End CachedRatio.
