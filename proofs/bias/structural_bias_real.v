(** The bias theorem's explicit delta on a ladder of real powers (thm:ppt-structural-bias).

    Real powers of at least 1 sharpen; with powers in [1, a_max] and a terminal token of
    probability at least c after every open history of fewer than h tokens,
    delta = c^a_max h / T.                                                          *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import reals exp.
From Tempera Require Import markov autoregressive record_space power power_target real_powers.
From Tempera Require Import truncating structural_bias_rearranging structural_bias.
From Tempera Require Import structural_bias_truncating structural_bias_entry.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section RealPowers.
Variable R : realType.

Lemma real_pow_mono (a u w : R) : 0 <= a -> 0 <= u <= w -> real_pow a u <= real_pow a w.
Proof.
move=> a0 /andP[u0 uw]; rewrite /real_pow; have [_|un] := eqVneq u 0.
  by case: eqP => // _; apply: ltW; apply: exp_fun_gt0.
have up : 0 < u by rewrite lt_def un.
have wp : 0 < w by apply: lt_le_trans uw.
have ln_uw : ln u <= ln w by rewrite ler_ln ?posrE.
by rewrite gt_eqF // /exp_fun ler_expR ler_wpmul2l.
Qed.

Lemma real_pow_falls (a b u : R) : a <= b -> 0 < u <= 1 -> real_pow b u <= real_pow a u.
Proof.
move=> ab /andP[u0 u1]; rewrite /real_pow gt_eqF // /exp_fun ler_expR.
have ln0 : ln u <= 0 by rewrite -(@ln1 R) ler_ln ?posrE ?ltr01.
by rewrite ler_wnmul2r.
Qed.

Lemma real_power_sharpens (a : R) : 1 <= a -> sharpens (power_real a).
Proof.
move=> a1; split=> [u /andP[u0 u1]|u w]; last by apply: real_pow_mono; apply: le_trans a1.
have [->|un] := eqVneq u 0; first by rewrite /= /real_pow eqxx.
have up : 0 < u <= 1 by rewrite lt_def un u0.
apply: le_trans (real_pow_falls a1 up) _.
by rewrite /real_pow (negPf un) exp_funr1 // lt_def un.
Qed.

Variables (V : finType) (E : {set V}) (lm : seq V -> V -> R).
Variables (T n h : nat) (alpha : 'I_n.+1 -> R) (a_max c : R).
Notation state := {ffun 'I_n.+1 -> comparison E lm T}.
Variables (C : state -> state -> R) (n_local n_sweep : nat) (mu : state -> R).

Theorem structural_bias_real N :
  model E lm -> kernel C -> rearranges C -> (0 < n_local)%N -> law mu -> (0 < h < T)%N ->
  0 < c <= 1 -> (forall k, 1 <= alpha k <= a_max) ->
  (forall s, supported E lm s -> open E s -> (size s < h)%N ->
     exists2 v, v \in E & c <= lm (pmap id s) v) ->
  let powers k := power_real (alpha k) in
  let target := target_on_comparison (E := E) (lm := lm) (T := T) powers in
  let b := long_mass (@short R V E lm T h) target in
  let mu_N := run N mu (truncated_round (truncating_at powers) C n_local n_sweep) in
  let delta := h%:R / T%:R * c `^ a_max in
  Num.max (1 - \prod_k (1 - b k) - n.+1%:R * (1 - delta) ^+ N) 0 <= tv mu_N (product target)
  /\ forall k, Num.max (b k - n.+1%:R * (1 - delta) ^+ N) 0 <= tv (marginal k mu_N) (target k).
Proof.
move=> mod kC rC nl lmu hT c01 bounds ends powers target b mu_N delta.
have /andP[c0 c1] := c01; have cE a : real_pow a c = c `^ a by rewrite /real_pow gt_eqF.
have a_ge1 k : 1 <= alpha k by case/andP: (bounds k).
apply: structural_bias_of_family => //.
  rewrite exp_fun_gt0 -cE /=; apply: le_trans (_ : real_pow 1 c <= _); last first.
    by rewrite /real_pow gt_eqF // exp_funr1.
  by apply: real_pow_falls => //; case/andP: (bounds ord0) => one; apply: le_trans.
move=> k s ss os sh; rewrite -cE; apply: (@le_trans _ _ (power_real (alpha k) c)).
  by apply: real_pow_falls => //; case/andP: (bounds k).
apply: (terminal_probability_enough mod (real_power_sharpens (a_ge1 k)) (ltW c0) ss).
by have [v vE cv] := ends s ss os sh; exists v; rewrite ?p0_open.
Qed.

End RealPowers.
