(** * A restart law that depends on the state

    Restarting over {1..tau(x)} only would make omega depend on the record.  With
    the factor omega(r|y)/omega(r|x) in the acceptance the kernel is reversible;
    without it the target is not invariant, as the four-state model shows.

    - [restarting pi w q]   restart j with probability w x j, proposal q_j, and the
                            factor in the acceptance
    - [unfactored pi w q]   the same restarts, accepted as if w were the same at x
                            and y                                                *)

From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov autoregressive record_space power power_target.
From Tempera Require Import executable four_state.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section StateDependentRestart.
Variables (R : realFieldType) (S J : finType).
Variable pi : S -> R.
Variable w : S -> J -> R.
Variable q : J -> S -> S -> R.

Definition restart_and_propose j x y : R := w x j * q j x y.

Definition restart_move x y : R :=
  \sum_j restart_and_propose j x y * accept pi (restart_and_propose j) x y.

Definition restarting x y : R :=
  if y == x then 1 - \sum_(s | s != x) restart_move x s else restart_move x y.

(** The mixture of the Metropolis-Hastings kernels with weights seen at x. *)
Definition unfactored x y : R := \sum_j w x j * mh pi (q j) x y.

(** The acceptance is the usual one times omega(r|y) / omega(r|x). *)
Lemma restart_factor j x y : w x j * q j x y != 0 ->
  accept pi (restart_and_propose j) x y =
  Num.min 1 ((w y j / w x j) * ((pi y * q j y x) / (pi x * q j x y))).
Proof.
move=> n0; rewrite /accept /restart_and_propose (negPf n0) mulf_div.
by rewrite mulrCA [pi x * _]mulrCA.
Qed.

Hypothesis pi_ge0 : forall x, 0 <= pi x.
Hypothesis w_law : forall x, law (w x).
Hypothesis q_law : forall j, kernel (q j).

Lemma restart_and_propose_ge0 j x y : 0 <= restart_and_propose j x y.
Proof. by rewrite mulr_ge0 //; [case: (w_law x) | case: (q_law j x)]. Qed.

Theorem restarting_reversible : reversible pi restarting.
Proof.
move=> x y; have [->//|yx] := eqVneq y x.
have flow a b : b != a -> pi a * restarting a b =
    \sum_j Num.min (pi a * restart_and_propose j a b) (pi b * restart_and_propose j b a).
  move=> ba; rewrite /restarting (negPf ba) mulr_sumr; apply: eq_bigr => j _.
  rewrite -(mh_flow pi_ge0 (@restart_and_propose_ge0 j) ba).
  by rewrite /mh (negPf ba).
rewrite !flow // 1?eq_sym //; apply: eq_bigr => j _.
by rewrite minC.
Qed.

Theorem restarting_kernel : kernel restarting.
Proof.
move=> x; have move0 y : 0 <= restart_move x y.
  apply: sumr_ge0 => j _; apply: mulr_ge0; first exact: restart_and_propose_ge0.
  by apply: accept_ge0 => // *; apply: restart_and_propose_ge0.
have le : \sum_(s | s != x) restart_move x s <= 1.
  apply: (@le_trans _ _ (\sum_s \sum_j restart_and_propose j x s)).
    apply: (@le_trans _ _ (\sum_s restart_move x s)).
      by rewrite [X in _ <= X](bigD1 x) //= ler_addr.
    apply: ler_sum => s _; apply: ler_sum => j _.
    by rewrite ler_pimulr ?accept_le1 ?restart_and_propose_ge0.
  rewrite exchange_big /= -(proj2 (w_law x)); apply: ler_sum => j _.
  by rewrite -mulr_sumr; case: (q_law j x) => _ ->; rewrite mulr1.
split=> [y|].
  by rewrite /restarting; case: ifP => _; rewrite ?subr_ge0.
rewrite (bigD1 x) //= {1}/restarting eqxx.
rewrite [X in _ + X](eq_bigr (restart_move x)) ?subrK //.
by move=> y yx; rewrite /restarting (negPf yx).
Qed.

Theorem restarting_invariant : invariant pi restarting.
Proof. exact: reversible_invariant restarting_kernel restarting_reversible. Qed.

End StateDependentRestart.

(** ** Through tau(x): restart uniformly on the tokens of the record *)
Section RestartOnTokens.
Variables (R : realFieldType) (V : finType) (E : {set V}).
Variable lm : seq V -> V -> R.
Variable alpha : power R.
Variable T : nat.
Hypothesis lm_model : model E lm.
Hypothesis T_gt0 : (0 < T)%N.
Implicit Types x y : S_T E lm T.

Definition on_tokens x (r : 'I_T) : R :=
  if (r < len E (val x))%N then (len E (val x))%:R^-1 else 0.

Lemma on_tokens_law x : law (on_tokens x).
Proof.
have lT : (len E (val x) <= T)%N by rewrite /len size_tuple geq_minr.
have l0 : (0 < len E (val x))%N by rewrite /len size_tuple leq_min T_gt0.
split=> [r|]; first by rewrite /on_tokens; case: ifP; rewrite ?invr_ge0 ?ler0n.
rewrite /on_tokens -big_mkcond /= -(big_ord_widen T (fun=> (len E (val x))%:R^-1) lT).
rewrite big_const_ord iter_addr_0 -[LHS]mulr_natl mulfV //.
by rewrite pnatr_eq0 -lt0n.
Qed.

Theorem on_tokens_reversible :
  reversible (target alpha) (restarting (target alpha) on_tokens (fun r : 'I_T => q alpha r)).
Proof.
apply: restarting_reversible => [x|x|r]; [exact: target_ge0 | exact: on_tokens_law |].
by apply: q_law => //; apply: ltnW.
Qed.

Theorem on_tokens_invariant :
  invariant (target alpha) (restarting (target alpha) on_tokens (fun r : 'I_T => q alpha r)).
Proof.
apply: restarting_invariant => [x|x|r]; [exact: target_ge0 | exact: on_tokens_law |].
by apply: q_law => //; apply: ltnW.
Qed.

End RestartOnTokens.

(** ** Without the factor *)

Definition unfactored_four : S_T E lm 2 -> S_T E lm 2 -> rat :=
  unfactored (target square) (@on_tokens _ _ _ _ 2) (fun r : 'I_2 => q square r).

Theorem unfactored_moves_target :
  act (target square) unfactored_four Y1 = 7%:R / 12%:R /\ target square Y1 = 2%:R / 3%:R.
Proof.
have len1 : len E (val Y1) = 1%N by rewrite /len /tau /= inE.
have len3 : len E (val Y3) = 2%N by rewrite /len /tau /= !inE.
have len4 : len E (val Y4) = 2%N by rewrite /len /tau /= !inE.
split; last first.
  by rewrite -(x_targetE square tokens_uniq tokens_all terminalE); apply/eqP; vm_compute.
rewrite /act sum_Y /unfactored_four /unfactored !big_ord_recl !big_ord0.
rewrite /on_tokens len1 len3 len4 -!(x_targetE square tokens_uniq tokens_all terminalE).
by rewrite -!(x_local_atE square tokens_uniq tokens_all terminalE).
Qed.

Theorem unfactored_not_invariant : ~ invariant (target square) unfactored_four.
Proof.
by move=> h; case: unfactored_moves_target; rewrite (h Y1) => -> /eqP.
Qed.
