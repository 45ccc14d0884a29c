(** The structural bias of the truncating kernel that truncating.v defines.

    One-way drift is not assumed here but proved: the truncating update never
    lengthens a record, so records of at most h tokens stay so.  What remains an
    assumption is the uniform accepted entry delta, as in the paper. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov autoregressive record_space power power_target.
From Tempera Require Import replica_exchange truncating structural_bias_rearranging structural_bias.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section TruncatingEnsemble.
Variables (R : realFieldType) (V : finType) (E : {set V}).
Variable lm : seq V -> V -> R.
Variables (T n h : nat).
Variable alpha : 'I_n.+1 -> power R.
Notation comparison := (comparison E lm T).
Notation state := {ffun 'I_n.+1 -> comparison}.

Hypothesis lm_model : model E lm.

(** B: records of at most h tokens. *)
Definition short : pred comparison := fun x => (tokens_of (val x) <= h)%N.

Definition truncating_at k : comparison -> comparison -> R := @truncating R V E lm (alpha k) T.

(** No record of B leaves B under a truncating update. *)
Theorem truncating_closed k x : short x -> prob (truncating_at k x) short = 1.
Proof.
move=> sx; rewrite -(proj2 (truncating_kernel (alpha k) lm_model (T := T) x)) /prob.
rewrite [RHS](bigID short) /= [X in _ = _ + X]big1 ?addr0 // => y long.
apply: truncating_never_lengthens; apply: leq_ltn_trans sx _.
by rewrite ltnNge; exact: long.
Qed.

(** The target on the comparison space: zero outside S_T. *)
Definition target_on_comparison k (x : comparison) : R :=
  alpha k (record_prob E lm (val x)) / Z E lm (alpha k) T.

Hypothesis T_positive : (0 < T)%N.

(** Every record of S_T lies in the comparison space. *)
Lemma supported_comparable (x : record V T) : 0 < record_prob E lm x -> comparable E lm x.
Proof.
move=> px; pose y : S_T E lm T := exist _ x px.
have [lt|ge] := ltnP (tokens_of x) (size x); last first.
  have full : tokens_of x = T.
    move: ge; rewrite size_tuple => ge; apply/eqP; rewrite eqn_leq ge andbT.
    by rewrite -[X in (_ <= X)%N](size_tuple x) find_size.
  rewrite /comparable full T_positive (supported_prefix lm_model y T) /=.
  by rewrite drop_oversize ?size_tuple.
have padded : nth bot x (tokens_of x) = bot.
  have := nth_find bot (s := x) (a := fun o => o == bot).
  by rewrite has_find => /(_ lt)/eqP.
set m := tokens_of x in lt padded *.
have mT : (m < T)%N by rewrite -(size_tuple x).
have ended : terminated E (take m x).
  have := supported_prefix lm_model y m.+1; rewrite /= (take_nth bot) // padded.
  rewrite supported_rcons // => /andP[sm]; rewrite /p0 sm /step.
  by case: ifP => //; rewrite ltxx.
have m0 : (0 < m)%N by move: ended; case: (m) => //; rewrite take0.
have tau_lt : (tau E x < m)%N.
  by move: ended; rewrite terminated_take leq_min => /andP[].
rewrite /comparable m0 (supported_prefix lm_model y m) /=.
apply/(all_nthP bot) => i; rewrite size_drop size_tuple => im; rewrite nth_drop.
have mi : (m + i < T)%N by rewrite -ltn_subRL.
have := @padding R V E lm lm_model T y (Ordinal mi); rewrite (tnth_nth bot) /= => -> //.
by rewrite (leq_trans tau_lt) ?leq_addr.
Qed.

Lemma target_on_comparison_law k : law (target_on_comparison k).
Proof.
have Z0 := Z_gt0 (alpha k) lm_model T; split=> [x|].
  by rewrite divr_ge0 ?(ltW Z0) // pow_ge0 // prefix_prob_ge0.
rewrite -mulr_suml /Z; set total := \sum_(x : S_T _ _ _) _.
have -> : \sum_(x : comparison) alpha k (record_prob E lm (val x)) = total.
  rewrite /total (sum_S_T_vanish lm_model (F := fun x => alpha k (record_prob E lm x))); last first.
    by move=> x ->; rewrite pow0.
  rewrite [RHS](bigID (fun x : record V T => comparable E lm x)) /= [X in _ = _ + X]big1 ?addr0 => [|x nc]; last first.
    have : ~~ (0 < record_prob E lm x) by apply: contra nc; exact: supported_comparable.
    rewrite -leNgt => le; have -> : record_prob E lm x = 0.
      by apply/eqP; rewrite eq_le le prefix_prob_ge0.
    by rewrite pow0.
  rewrite [RHS](reindex_omap (val : comparison -> record V T) insub) /=.
    by apply: eq_bigl => x; rewrite (valP x) valK eqxx.
  by move=> x cx; rewrite insubT.
by rewrite mulfV // gt_eqF.
Qed.

Variables (C : state -> state -> R) (n_local n_sweep : nat).
Hypothesis C_kernel : kernel C.
Hypothesis C_rearranges : rearranges C.
Hypothesis n_local_positive : (0 < n_local)%N.

Local Notation Pi := (product target_on_comparison).
Local Notation P := (truncated_round truncating_at C n_local n_sweep).
Local Notation b := (long_mass short target_on_comparison).

Let kernels k : kernel (truncating_at k).
Proof. exact: truncating_kernel. Qed.

(** TV(Pi P, Pi) >= (1/K) sum_k phi_k, with no assumption on the flow. *)
Theorem truncating_flow_bound :
  n.+1%:R^-1 * (\sum_k target_flow short truncating_at target_on_comparison k)
    <= tv (act Pi P) Pi.
Proof.
exact: (flow_bound n_sweep kernels C_kernel C_rearranges target_on_comparison_law
  n_local_positive truncating_closed).
Qed.

(** Positive shortening flow at the target at any rung violates invariance. *)
Theorem truncating_not_invariant :
  0 < \sum_k target_flow short truncating_at target_on_comparison k -> ~ invariant Pi P.
Proof.
exact: (positive_flow_not_invariant kernels C_kernel C_rearranges target_on_comparison_law
  n_local_positive truncating_closed).
Qed.

(** thm:ppt-structural-bias for the truncating kernel. *)
Theorem truncating_structural_bias (delta : R) (mu : state -> R) N :
  0 < delta <= 1 ->
  (forall k x, ~~ short x -> delta <= prob (truncating_at k x) short) -> law mu ->
  Num.max (1 - \prod_k (1 - b k) - n.+1%:R * (1 - delta) ^+ N) 0 <= tv (run N mu P) Pi
  /\ forall k, Num.max (b k - n.+1%:R * (1 - delta) ^+ N) 0
        <= tv (marginal k (run N mu P)) (target_on_comparison k).
Proof.
move=> d entry lmu; apply: ppt_structural_bias => //.
- exact: target_on_comparison_law.
exact: truncating_closed.
Qed.

End TruncatingEnsemble.
