(** A restart law through tau, and its factor (subsec:implementation-local).

    "Restricting it to the open positions would make omega depend on the current state
    and would require a tau(x)/tau(y) factor in the acceptance ratio."  Here omega is
    any family of restart laws indexed by the first terminal position; the factor is
    omega(r|tau(y)) / omega(r|tau(x)), and for the uniform law on the open positions it
    is tau(x)/tau(y), read as len(x)/len(y): a censored record, which has no terminal
    token, has T open positions and counts as T.

    - [through_tau omega]       the restart law at x is omega (tau x)
    - [through_tau_accept]      its acceptance, in the cached form
    - [open_positions_accept]   the uniform one: 1 /\ len(x)/len(y) * prod z(y)/z(x)
    - [tau_factor]              len is tau, or T where the record is censored       *)
From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov autoregressive record_space power power_target.
From Tempera Require Import cached_ratio state_dependent_restart.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section ThroughTau.
Variables (R : realFieldType) (V : finType) (E : {set V}).
Variable lm : seq V -> V -> R.
Variable alpha : power R.
Variable T : nat.
Hypothesis lm_model : model E lm.
Hypothesis T_gt0 : (0 < T)%N.
Notation S_T := (S_T E lm T).
Notation target := (@target R V E lm alpha T).
Notation q := (@q R V E lm alpha T).
Notation z := (z E lm alpha).
Implicit Types (x y : S_T) (r : 'I_T).

(** No terminal token inside the horizon. *)
Definition censored x : bool := ~~ terminated E (val x).

Section AnyLaw.
(** Positions count from 0; the index T stands for "no terminal token". *)
Variable omega : 'I_T.+1 -> 'I_T -> R.
Hypothesis omega_law : forall t, law (omega t).

Lemma tau_le x : (tau E (val x) <= T)%N.
Proof. by rewrite -[X in (_ <= X)%N](size_tuple (val x)) find_size. Qed.

Definition through_tau x r : R := omega (inord (tau E (val x))) r.

Let q_kernel r : kernel (q r).
Proof. by apply: q_law => //; apply: ltnW. Qed.

Theorem through_tau_reversible :
  reversible target (restarting target through_tau (fun r : 'I_T => q r)).
Proof.
by apply: restarting_reversible => [x|x|r]; [exact: target_ge0 | exact: omega_law | exact: q_kernel].
Qed.

Theorem through_tau_invariant :
  invariant target (restarting target through_tau (fun r : 'I_T => q r)).
Proof.
by apply: restarting_invariant => [x|x|r]; [exact: target_ge0 | exact: omega_law | exact: q_kernel].
Qed.

(** The usual cached ratio times omega(r|tau(y)) / omega(r|tau(x)). *)
Theorem through_tau_accept r x y : through_tau x r * q r x y != 0 ->
  accept target (restart_and_propose through_tau (fun r : 'I_T => q r) r) x y =
  Num.min 1 (through_tau y r / through_tau x r
             * \prod_(r <= t < T) (z (take t (val y)) / z (take t (val x)))).
Proof.
move=> n0; rewrite restart_factor // cached_ratio ?(ltnW (ltn_ord r)) //.
move: n0; rewrite !mulf_eq0 !negb_or => /andP[_ /andP[+ _]].
by rewrite pnatr_eq0 eqb0 negbK => /eqP.
Qed.

End AnyLaw.

(** ** The uniform law on the open positions *)

(** The number of open positions: tau, or T for a censored record. *)
Lemma len_censored x : censored x -> len E (val x) = T.
Proof.
rewrite /censored /terminated has_find size_tuple -leqNgt => le.
by rewrite /len size_tuple; apply/minn_idPr; rewrite leqW.
Qed.

Lemma len_terminated x : ~~ censored x -> len E (val x) = (tau E (val x)).+1.
Proof.
rewrite /censored negbK /terminated has_find size_tuple => lt.
by rewrite /len size_tuple; apply/minn_idPl.
Qed.

(** A proposal from an open position leaves that position open. *)
Lemma restart_stays_open r x y : q r x y != 0 -> (r < len E (val x))%N -> (r < len E (val y))%N.
Proof.
rewrite mulf_eq0 negb_or pnatr_eq0 eqb0 negbK => /andP[/eqP kept _].
have rT := ltn_ord r; rewrite /len !size_tuple !leq_min !ltnS rT !andbT.
have := congr1 (terminated E) kept; rewrite !terminated_take !size_tuple !(minn_idPl (ltnW rT)).
by rewrite !ltnNge => /negb_inj ->.
Qed.

Notation open_positions := (@on_tokens R V E lm T).

Lemma open_positions_factor r x y : q r x y != 0 -> (r < len E (val x))%N ->
  open_positions y r / open_positions x r = (len E (val x))%:R / (len E (val y))%:R.
Proof.
move=> qn rx; have ry := restart_stays_open qn rx.
by rewrite /on_tokens rx ry invrK mulrC.
Qed.

Theorem open_positions_accept r x y : q r x y != 0 -> (r < len E (val x))%N ->
  accept target (restart_and_propose open_positions (fun r : 'I_T => q r) r) x y =
  Num.min 1 ((len E (val x))%:R / (len E (val y))%:R
             * \prod_(r <= t < T) (z (take t (val y)) / z (take t (val x)))).
Proof.
move=> qn rx; rewrite restart_factor.
  rewrite open_positions_factor // cached_ratio ?(ltnW (ltn_ord r)) //.
  by move: qn; rewrite mulf_eq0 negb_or pnatr_eq0 eqb0 negbK => /andP[/eqP].
by rewrite mulf_neq0 // /on_tokens rx invr_eq0 pnatr_eq0 -lt0n (leq_trans _ rx).
Qed.

(** The paper's tau counts from 1; the four cases of the factor. *)
Theorem tau_factor x y :
  (len E (val x))%:R / (len E (val y))%:R =
  (if censored x then T else (tau E (val x)).+1)%:R
  / (if censored y then T else (tau E (val y)).+1)%:R :> R.
Proof.
suff lenE (u : S_T) : len E (val u) = if censored u then T else (tau E (val u)).+1.
  by rewrite !lenE.
by case: ifPn => [/len_censored|/len_terminated].
Qed.

(** The uniform law on the open positions is a law through tau. *)
Theorem open_positions_through_tau :
  exists omega : 'I_T.+1 -> 'I_T -> R, (forall t, law (omega t))
    /\ forall x r, open_positions x r = through_tau omega x r.
Proof.
pose count (t : 'I_T.+1) := minn t.+1 T.
exists (fun t r => if (r < count t)%N then (count t)%:R^-1 else 0); split=> [t|x r].
  have cT : (count t <= T)%N by apply: geq_minr.
  have c0 : (0 < count t)%N by rewrite leq_min T_gt0.
  split=> [r|]; first by case: ifP; rewrite ?invr_ge0 ?ler0n.
  rewrite -big_mkcond /= -(big_ord_widen T (fun=> (count t)%:R^-1) cT).
  by rewrite big_const_ord iter_addr_0 -[LHS]mulr_natl mulfV // pnatr_eq0 -lt0n.
by rewrite /through_tau /on_tokens /count /len size_tuple inordK // ltnS tau_le.
Qed.

End ThroughTau.
