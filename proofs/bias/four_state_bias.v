(** The bias theorem at the four-state example: [1/3 - (3/4)^N]_+
    (sec:endpoint-bias-example-condensed, "Recovery of the structural lower bound").

    From the general theorem with K = n_local = 1, threshold 1 and the terminal
    probability 1/2 of the proposal: delta = (1/2) (1/2) = 1/4 is derived, not typed in.

    - [run_uncoupled]        without swaps the rungs run on their own
    - [four_state_bias]      the finite-step bound, for every N
    - [four_state_bias_floor]   its floor 1/3                                     *)
From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov autoregressive record_space power power_target.
From Tempera Require Import truncating structural_bias_rearranging structural_bias.
From Tempera Require Import structural_bias_truncating structural_bias_entry.
From Tempera Require Import executable four_state four_state_laws four_state_tv sequence_not_tokenwise.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Uncoupled.
Variables (R : realFieldType) (S : finType) (n : nat).
Variables (mu : 'I_n.+1 -> S -> R) (L : 'I_n.+1 -> S -> S -> R).
Local Notation state := {ffun 'I_n.+1 -> S}.

Lemma run_uncoupled (C : state -> state -> R) N :
  run N (product mu) (truncated_round L C 1 0) =1 product (fun k => run N (mu k) (L k)).
Proof.
elim: N => [//|N IH] X; rewrite runS -act_prodk.
have one_sweep : truncated_round L C 1 0 =2 prodk L.
  move=> Y Z; rewrite /truncated_round /compk act_idk.
  by rewrite /iterk /= /compk act_idk.
exact: act_ext.
Qed.

Lemma run_uncoupled_marginal (C : state -> state -> R) N k :
  (forall j, law (mu j)) -> (forall j, kernel (L j)) ->
  marginal k (run N (product mu) (truncated_round L C 1 0)) =1 run N (mu k) (L k).
Proof.
move=> lmu kL x; rewrite /marginal; under eq_bigr do rewrite run_uncoupled.
by apply: (marginal_product k) => j; apply: law_run.
Qed.

End Uncoupled.

Local Notation target := (target_on_comparison (E := E) (lm := lm) (T := 2) powers).

Lemma targetE k : target k =1 pi.
Proof.
move=> x; rewrite /pi /extended /valid /target_on_comparison.
case: insubP => [y _ vy|none] /=; first by rewrite /power_target.target vy.
have -> : record_prob E lm (val x) = 0.
  by apply/eqP; rewrite eq_le (prefix_prob_ge0 lm_model) andbT leNgt.
by rewrite mul0r.
Qed.

(** After the empty history the proposal ends the record with probability 1/2. *)
Lemma ends_half k s : supported E lm s -> open E s -> (size s < 1)%N ->
  1/2%:R <= \sum_(v in E) g E lm (powers k) s (Some v).
Proof. by case: s => // _ _ _; rewrite big_set1 proposal_first_token. Qed.

Theorem four_state_bias N :
  Num.max (1/3%:R - (3%:R/4%:R) ^+ N) 0 <= tv (nu_t N) pi.
Proof.
pose C := @idk rat_realFieldType [finType of {ffun 'I_1 -> space}].
pose mu := product (fun _ : 'I_1 => @dirac rat_realFieldType _ X4).
have mu_law : law mu by apply: law_product => _; apply: law_dirac.
have kC : kernel C by apply: kernel_idk.
have rC : rearranges C by apply: rearranges_idk.
have [_ /(_ ord0)] := @structural_bias_of_family _ _ E lm 2 0 1 powers C 1 0 mu
  lm_model kC rC isT mu_law isT (1/2%:R) N isT ends_half.
have -> : long_mass (short 1) target ord0 = 1/3%:R.
  rewrite -excluded_mass; apply: eq_bigr => x _; exact: targetE.
have -> : 1 - 1%:R / 2%:R * (1 / 2%:R) = 3%:R/4%:R :> rat by apply/eqP; vm_compute.
have ld (j : 'I_1) : law (@dirac rat_realFieldType _ X4) by apply: law_dirac.
have kL (j : 'I_1) : kernel (truncating_at (E := E) (lm := lm) (T := 2) powers j).
  by apply: truncating_kernel; apply: lm_model.
by rewrite !mul1r (tv_ext (run_uncoupled_marginal C N ord0 ld kL) (targetE ord0)).
Qed.

(** The bound's floor: from some N on the total variation is above every number
    below 1/3.  The chain's own floor is 1/2 ([four_state_tv.tv_trunc_floor]). *)
Corollary four_state_bias_floor (eps : rat) : 0 < eps ->
  exists N0, forall N, (N0 <= N)%N -> 1/3%:R - eps < tv (nu_t N) pi.
Proof.
move=> /rate_vanishes[N0 small]; exists N0 => N /small lt.
have bound := four_state_bias N.
set low := 1/3%:R in bound *; set rate := (_ / _) in small lt bound *.
apply: (@lt_le_trans _ _ (Num.max (low - rate ^+ N) 0)) => //.
by rewrite lt_maxr ltr_add2l ltr_opp2 lt.
Qed.
