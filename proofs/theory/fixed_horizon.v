(** * Target preservation of fixed-horizon Parallel Power Tempering

    prop:fixed-stage-invariance, for any vocabulary, terminal set, horizon, model,
    ladder of powers, restart laws and numbers of sweeps.  Rungs are counted from
    0: 'I_n.+1, K = n+1.  A restart index r : 'I_T is the paper's r-1.

    - [local_at k r]   L_{k,r}         - [local k]  L_k
    - [Pi]             the product target on S_T^K
    - [transition ..]  P = R^n_local C^n_sweep                                  *)

From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov autoregressive record_space power power_target.
From Tempera Require Import replica_exchange.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section FixedHorizon.
Variables (R : realFieldType) (V : finType) (E : {set V}).
Variable lm : seq V -> V -> R.
Variables (T n : nat).
Variable alpha : 'I_n.+1 -> power R.
Variable omega : 'I_n.+1 -> 'I_T -> R.

Notation S_T := (S_T E lm T).
Notation state := {ffun 'I_n.+1 -> S_T}.
Implicit Types (x y : S_T) (X Y : state) (k : 'I_n.+1).

Definition pi k : S_T -> R := target (alpha k).
Definition Pi : state -> R := product pi.

Definition local_at k (r : 'I_T) : S_T -> S_T -> R := mh (pi k) (q (alpha k) r).
Definition local k : S_T -> S_T -> R := mixk (omega k) (local_at k).

Definition transition (C : state -> state -> R) (n_local n_sweep : nat) :=
  ppt local C n_local n_sweep.

Hypothesis lm_model : model E lm.
Hypothesis omega_law : forall k, law (omega k).

Lemma pi_law k : law (pi k).
Proof. exact: target_law. Qed.

Lemma pi_gt0 k x : 0 < pi k x.
Proof. exact: target_gt0. Qed.

Lemma pi_ge0 k x : 0 <= pi k x.
Proof. exact/ltW/pi_gt0. Qed.

Lemma Pi_law : law Pi.
Proof. by apply: law_product => k; apply: pi_law. Qed.

Lemma local_at_kernel k r : kernel (local_at k r).
Proof. by apply: mh_kernel => [x|]; [apply: pi_ge0 | apply: q_law => //; apply: ltnW]. Qed.

Lemma local_kernel k : kernel (local k).
Proof. by apply: kernel_mixk => // r; apply: local_at_kernel. Qed.

(** L_{k,r} is reversible with respect to pi_k ... *)
Theorem local_at_reversible k r : reversible (pi k) (local_at k r).
Proof.
by apply: mh_reversible => [x|x y]; [apply: pi_ge0 | apply: q_ge0].
Qed.

(** ... hence so is its mixture over a restart law that does not see the state ... *)
Theorem local_reversible k : reversible (pi k) (local k).
Proof. by apply: reversible_mixk => r; apply: local_at_reversible. Qed.

Theorem local_invariant k : invariant (pi k) (local k).
Proof. by apply: reversible_invariant; [apply: local_kernel | apply: local_reversible]. Qed.

(** ... and the synchronized local sweep R preserves Pi. *)
Theorem sweep_invariant : invariant Pi (sweep local).
Proof. by apply: invariant_prodk => k; apply: local_invariant. Qed.

Theorem sweep_reversible : reversible Pi (sweep local).
Proof. by apply: reversible_prodk => k; apply: local_reversible. Qed.

Theorem swap_reversible e : reversible Pi (W pi e).
Proof. by apply: W_reversible => k x; apply: pi_ge0. Qed.

Theorem swap_invariant e : invariant Pi (W pi e).
Proof. by apply: W_invariant => k x; apply: pi_ge0. Qed.

Theorem ordered_sweep_invariant : invariant Pi (adj pi).
Proof. by apply: adj_invariant => k x; apply: pi_ge0. Qed.

Theorem even_odd_invariant : invariant Pi (deo pi).
Proof. by apply: deo_invariant => k x; apply: pi_ge0. Qed.

(** The complete transition, under the ordered and under the even-odd schedule. *)
Theorem transition_invariant_adj n_local n_sweep :
  invariant Pi (transition (adj pi) n_local n_sweep).
Proof.
apply: ppt_invariant; [exact: local_invariant | exact: ordered_sweep_invariant].
Qed.

Theorem transition_invariant_deo n_local n_sweep :
  invariant Pi (transition (deo pi) n_local n_sweep).
Proof.
apply: ppt_invariant; [exact: local_invariant | exact: even_odd_invariant].
Qed.

(** One local sweep and one parity layer at a time: each layer's step preserves Pi. *)
Theorem transition_invariant_layer b n_local :
  invariant Pi (transition (deo_layer pi b) n_local 1).
Proof.
apply: ppt_invariant; first exact: local_invariant.
by apply: deo_layer_invariant => k x; apply: pi_ge0.
Qed.

(** The two-step chain of the even-odd schedule: R, the paper's odd edges, R, its
    even edges. *)
Theorem transition_invariant_alternating n_local :
  invariant Pi (compk (transition (deo_layer pi false) n_local 1)
                      (transition (deo_layer pi true) n_local 1)).
Proof. by apply: invariant_compk; apply: transition_invariant_layer. Qed.

Lemma transition_kernel_adj n_local n_sweep :
  kernel (transition (adj pi) n_local n_sweep).
Proof.
apply: ppt_kernel; first exact: local_kernel.
by apply: adj_kernel => k x; apply: pi_ge0.
Qed.

(** prop:fixed-stage-invariance, all its claims in one statement. *)
Theorem fixed_stage_invariance :
  [/\ forall k r, reversible (pi k) (local_at k r),
      invariant Pi (sweep local),
      forall e, invariant Pi (W pi e),
      invariant Pi (adj pi)
    & forall n_local n_sweep, invariant Pi (transition (adj pi) n_local n_sweep)].
Proof.
split; [exact: local_at_reversible | exact: sweep_invariant | exact: swap_invariant
       | exact: ordered_sweep_invariant | exact: transition_invariant_adj].
Qed.

(** The marginal of Pi at the designated rung is its target ... *)
Theorem output_marginal k : marginal k Pi =1 pi k.
Proof. by apply: marginal_product => j; apply: pi_law. Qed.

(** ... and stays so after any number of rounds. *)
Theorem output_marginal_after k n_local n_sweep N :
  marginal k (run N Pi (transition (adj pi) n_local n_sweep)) =1 pi k.
Proof.
move=> x; rewrite -output_marginal; apply: eq_bigr => X _.
exact/run_invariant/transition_invariant_adj.
Qed.

(** eq:swap-acceptance-theory, without logarithms: only p0 of the two records and
    the two rungs' powers enter. *)
Theorem swap_ratio_p0 (e : 'I_n) X :
  let p i := record_prob E lm (val (X i)) in
  Pi (exchange e X) / Pi X =
  (alpha (lower e) (p (upper e)) / alpha (lower e) (p (lower e)))
  * (alpha (upper e) (p (lower e)) / alpha (upper e) (p (upper e))).
Proof.
move=> p; rewrite /Pi swap_ratio => [|k x]; last exact: pi_gt0.
rewrite /pi /target -mulf_div; congr (_ * _).
  by rewrite -mulf_div mulfV ?mulr1 // invr_eq0 gt_eqF ?Z_gt0.
by rewrite -mulf_div mulfV ?mulr1 // invr_eq0 gt_eqF ?Z_gt0.
Qed.

End FixedHorizon.

(** With powers m and m+d (natural numbers): the ratio is (p0(x)/p0(y))^d. *)
Theorem swap_ratio_natural (R : realFieldType) (V : finType) (E : {set V})
    (lm : seq V -> V -> R) (T n : nat) (m : 'I_n.+1 -> nat) (e : 'I_n)
    (X : {ffun 'I_n.+1 -> S_T E lm T}) :
  model E lm -> (m (lower e) <= m (upper e))%N ->
  let p i := record_prob E lm (val (X i)) in
  let Pi := Pi (fun k => power_nat R (m k)) in
  Pi (exchange e X) / Pi X = (p (lower e) / p (upper e)) ^+ (m (upper e) - m (lower e)).
Proof.
move=> lm_model le p Pi; rewrite /Pi swap_ratio_p0 // !power_natE -!/(p _).
have p0 i : p i != 0 by rewrite gt_eqF ?record_prob_gt0.
set a := p (lower e); set b := p (upper e); set i := m _; set j := m (upper e).
have -> : j.+1 = (i.+1 + (j - i))%N by rewrite addSn subnKC.
have ai : a ^+ i.+1 != 0 by rewrite expf_neq0 ?p0.
have bi : b ^+ i.+1 != 0 by rewrite expf_neq0 ?p0.
have cancel (u v w s : R) : u != 0 -> v != 0 -> v / u * (u * w / (v * s)) = w / s.
  move=> u0 v0; rewrite invfM !mulrA [LHS](ACl ((1*5)*(2*3)*(4*6))%AC) /=.
  by rewrite mulfV // mulVf // !mul1r.
by rewrite !exprD expr_div_n cancel.
Qed.
