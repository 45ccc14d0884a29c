(** Ordered ADJ: the expected passage times of the tagged replica
    (eq:ord-up, eq:ord-down), for every ladder and every acceptance vector. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov tempera_field round_trip_hitting round_trip_schedule.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Adj.
Variables (R : realFieldType) (n : nat) (a : nat -> R).
Add Field adj_field : (field_theory_of R).
Local Notation K := n.+1.
Local Notation rung := (@rung n).
Local Notation rho := (rejection_odds a).
Local Notation sweep := (@adj_sweep R n a).
Hypothesis a_probability : forall k, (0 < k <= n)%N -> 0 < a k <= 1.

Let a_neq0 k : (0 < k <= n)%N -> a k <> 0.
Proof. by move/a_probability/andP=> [a0 _] e; rewrite e ltxx in a0. Qed.

Let lower k : (0 < k <= n)%N -> (0 < k <= K)%N.
Proof. by case/andP=> -> /leqW. Qed.

Let topmost : (0 < K <= K)%N.
Proof. by rewrite leqnn. Qed.

Let upper k : (0 < k <= n)%N -> (0 < k.+1 <= K)%N.
Proof. by case/andP=> _; rewrite ltnS. Qed.

(** The mean of [h] at the end of a sweep whose edges k, k+1, ... are still to be
    attempted, for a tag at rung k. *)
Definition cascade (h : 'I_K -> R) (k : nat) : R :=
  mean (ordered (iota k (K - k)) (@attempt R n a)) h (rung k).

Lemma cascade_top h : cascade h K = h (rung K).
Proof. by rewrite /cascade subnn mean_idk. Qed.

Lemma cascade_step h k : (0 < k <= n)%N ->
  cascade h k = a k * cascade h k.+1 + (1 - a k) * h (rung k).
Proof.
move=> /andP[k0 kn]; rewrite {1}/cascade subSn //= mean_compk mean_attempt exchange_up -subSS.
congr (_ + _ * _); apply: mean_ordered_away => j.
rewrite mem_iota subnKC // => /andP[kj jn].
apply: exchange_away; rewrite ?k0 ?(leqW kn) ?(ltn_trans k0 kj) //.
  by rewrite neq_ltn kj.
by rewrite neq_ltn ltnS ltnW.
Qed.

Lemma sweep_from_bottom h : mean sweep h (rung 1) = cascade h 1.
Proof. by rewrite /cascade subSS subn0. Qed.

Lemma split_edges k : (0 < k)%N -> (k <= n)%N ->
  iota 1 n = iota 1 k.-1 ++ k :: iota k.+1 (K - k.+1).
Proof.
case: k => // k _ kn; rewrite subSS -[_ :: _]/(iota (1 + k) (n - k.+1).+1).
by rewrite -iotaD -subSn // subSS subnKC // ltnW.
Qed.

Lemma sweep_from_above h k : (0 < k <= n)%N ->
  mean sweep h (rung k.+1) = a k * h (rung k) + (1 - a k) * cascade h k.+1.
Proof.
move=> /andP[k0 kn]; rewrite /adj_sweep.
rewrite (split_edges k0 kn).
rewrite mean_ordered_cat => [|j]; last first.
  rewrite mem_iota add1n prednK // => /andP[j0 jk].
  apply: exchange_away; rewrite ?j0 ?ltnS ?kn ?(leq_trans (ltnW jk)) //.
    by rewrite neq_ltn (leqW jk) orbT.
  by rewrite eqSS neq_ltn jk orbT.
rewrite [LHS]/= mean_compk mean_attempt exchange_down; congr (_ * _ + _).
apply: mean_ordered_away => j; rewrite mem_iota subnKC // => /andP[kj jn].
apply: exchange_away; rewrite ?k0 ?(leqW kn) ?(ltn_trans k0 kj) //.
  by rewrite neq_ltn kj.
by rewrite neq_ltn ltnS ltnW.
Qed.

(** Every rung but the first is the upper end of an edge. *)
Lemma rung_cases (i : 'I_K) : i = rung 1 \/ exists2 k, (0 < k <= n)%N & i = rung k.+1.
Proof.
case: i => [[|k] kn]; first by left; rewrite rung1; apply: val_inj.
right; exists k.+1; first by [].
by apply: val_inj; rewrite /= inordK.
Qed.

Lemma sweep_down_entry k : (0 < k <= n)%N -> 0 < sweep (rung k.+1) (rung k).
Proof.
move=> kn; rewrite -mean_entry sweep_from_above // eqxx mulr1.
have /andP[a0 a1] := a_probability kn.
apply: ltr_paddr => //; rewrite mulr_ge0 ?subr_ge0 // /cascade.
apply: mean_ge0 => [|j]; last exact: ler0n.
apply: kernel_ordered => j; rewrite mem_iota => /andP[kj jn].
case/andP: kn => k0 kn.
by apply: kernel_attempt => //; rewrite (ltn_trans k0 kj) -ltnS -(subnKC (_ : k.+1 <= K)%N).
Qed.

Lemma sweep_cascade_entry : 0 < sweep (rung 1) (rung K).
Proof.
rewrite -mean_entry sweep_from_bottom; set h := fun _ => _.
suff pos m k : (k + m = K)%N -> (0 < k)%N -> 0 < cascade h k.
  by apply: (pos n 1%N); rewrite ?add1n.
elim: m k => [|m IH] k; first by rewrite addn0 => -> _; rewrite cascade_top /h eqxx ltr01.
rewrite addnS => /[dup] kmK [km] k0.
have kn : (0 < k <= n)%N by rewrite k0 -km leq_addr.
have /andP[a0 a1] := a_probability kn.
rewrite cascade_step // ltr_paddr ?mulr_gt0 ?IH ?addSn //.
by rewrite mulr_ge0 ?subr_ge0 // /h ler0n.
Qed.

Definition rank_up (i : 'I_K) : nat := if i == rung K then 0%N else i.+1.

Lemma adj_approaches_top : approaches sweep (pred1 (rung K)) rank_up.
Proof.
move=> i /= iK; rewrite {2}/rank_up (negbTE iK).
have [->|[k kn ->]] := rung_cases i.
  by exists (rung K); rewrite ?sweep_cascade_entry // /rank_up eqxx.
exists (rung k); first exact: sweep_down_entry.
rewrite (val_rung (upper kn)) /rank_up; case: ifP => // _.
by rewrite (val_rung (lower kn)).
Qed.

Lemma adj_approaches_bottom : approaches sweep (pred1 (rung 1)) (@nat_of_ord K).
Proof.
move=> i /=; have [->|[k kn ->] _] := rung_cases i; first by rewrite eqxx.
exists (rung k); first exact: sweep_down_entry.
by rewrite -ltnS (val_rung (upper kn)) (val_rung (lower kn)).
Qed.

(** The expected passage times from every rung. *)
Definition adj_up_from (i : 'I_K) : R :=
  if i == rung K then 0 else i.+1%:R + \sum_(i.+1 <= k < K) k%:R * rho k.

Definition adj_down_from (i : 'I_K) : R :=
  i%:R + \sum_(1 <= k < i.+1) (K - k)%:R * rho k.

Lemma adj_up_at k : (0 < k <= n)%N ->
  adj_up_from (rung k) = k%:R + \sum_(k <= j < K) j%:R * rho j.
Proof.
move=> kn; rewrite /adj_up_from (rung_eq (lower kn) topmost) (val_rung (lower kn)).
by case/andP: kn => _; rewrite -ltnS => /ltn_eqF ->.
Qed.

Lemma adj_up_cascade k : (0 < k <= K)%N ->
  cascade adj_up_from k = \sum_(k <= j < K) j%:R * rho j.
Proof.
suff claim m : (k + m = K)%N -> (0 < k)%N -> cascade adj_up_from k = \sum_(k <= j < K) j%:R * rho j.
  by case/andP=> k0 kK; apply: (claim (K - k)%N); rewrite ?subnKC.
elim: m k => [|m IH] k.
  by rewrite addn0 => -> _; rewrite cascade_top /adj_up_from eqxx big_geq.
rewrite addnS => km k0.
have kn : (0 < k <= n)%N by case: km => <-; rewrite k0 leq_addr.
have kK : (k < K)%N by case/andP: kn.
rewrite cascade_step // IH ?addSn // adj_up_at // (big_ltn kK).
rewrite /rejection_odds; move: (\sum_(_ <= _ < _) _) => s.
by to_field R; field; exact: a_neq0.
Qed.

Lemma adj_up_equations : hitting_equations sweep (pred1 (rung K)) adj_up_from.
Proof.
move=> i /=; rewrite -/(mean _ _ _); case: eqP => [->|/eqP iK]; first by rewrite /adj_up_from eqxx.
move: iK; have [->|[k kn ->]] := rung_cases i => iK.
  rewrite sweep_from_bottom adj_up_cascade // adj_up_at //.
  by case: (n) iK; rewrite ?eqxx.
have k1n : (0 < k.+1 <= n)%N.
  case/andP: kn => k0 kn; rewrite /= ltn_neqAle kn andbT.
  by apply: contra iK => /eqP ->.
rewrite sweep_from_above // adj_up_cascade ?(leqW (proj2 (andP k1n))) //.
have kK : (k < K)%N by case/andP: kn.
rewrite !adj_up_at // (big_ltn kK).
rewrite mulrS /rejection_odds; move: (\sum_(_ <= _ < _) _) => s.
by to_field R; field; exact: a_neq0.
Qed.

Lemma adj_down_at k : (0 < k <= K)%N ->
  adj_down_from (rung k) = k.-1%:R + \sum_(1 <= j < k) (K - j)%:R * rho j.
Proof. by move=> kK; rewrite /adj_down_from val_rung // inordK //; case: k kK. Qed.

Lemma adj_down_next k : (0 < k <= n)%N ->
  adj_down_from (rung k.+1) = adj_down_from (rung k) + 1 + (K - k)%:R * rho k.
Proof.
case/andP=> k0 kn; rewrite !adj_down_at ?k0 ?(leqW kn) // big_nat_recr //=.
rewrite -{1}(prednK k0) mulrS; move: (\sum_(_ <= _ < _) _) => s.
by to_field R; ring.
Qed.

Lemma adj_down_cascade k : (0 < k <= K)%N ->
  cascade adj_down_from k = adj_down_from (rung k) + (K - k)%:R.
Proof.
suff claim m : (k + m = K)%N -> (0 < k)%N ->
    cascade adj_down_from k = adj_down_from (rung k) + (K - k)%:R.
  by case/andP=> k0 kK; apply: (claim (K - k)%N); rewrite ?subnKC.
elim: m k => [|m IH] k; first by rewrite addn0 => -> _; rewrite cascade_top subnn addr0.
rewrite addnS => km k0.
have kn : (0 < k <= n)%N by case: km => <-; rewrite k0 leq_addr.
have kK : (k < K)%N by case/andP: kn.
rewrite cascade_step // IH ?addSn // adj_down_next // -(subnSK kK) [(K - k.+1).+1%:R]mulrS.
rewrite /rejection_odds; move: (adj_down_from _) (_%:R) => s d.
by to_field R; field; exact: a_neq0.
Qed.

Lemma adj_down_equations : hitting_equations sweep (pred1 (rung 1)) adj_down_from.
Proof.
move=> i /=; rewrite -/(mean _ _ _); have [->|[k kn ->]] := rung_cases i.
  by rewrite eqxx adj_down_at // big_geq // addr0.
have kn' := andP kn.
rewrite rung_eq ?ltnS ?(proj2 kn') // eqSS (gtn_eqF (proj1 kn')).
rewrite sweep_from_above // adj_down_cascade ?ltnS ?(proj2 kn') // adj_down_next //.
have kK : (k < K)%N by rewrite ltnS (proj2 kn').
rewrite -(subnSK kK) [(K - k.+1).+1%:R]mulrS.
rewrite /rejection_odds; move: (adj_down_from _) (_%:R) => s d.
by to_field R; field; exact: a_neq0.
Qed.

(** eq:ord-up: the expected number of sweeps from rung 1 to rung K. *)
Theorem adj_up_passage : (0 < n)%N ->
  exists h, [/\ hitting_equations sweep (pred1 (rung K)) h,
    forall h', hitting_equations sweep (pred1 (rung K)) h' -> h' =1 h
    & h (rung 1) = 1 + \sum_(1 <= k < K) k%:R * rho k].
Proof.
move=> n0; exists adj_up_from; split; first exact: adj_up_equations.
  move=> h hE; apply: (hitting_equations_unique (kernel_adj_sweep a_probability)) hE _.
    exact: adj_approaches_top.
  exact: adj_up_equations.
by rewrite adj_up_at.
Qed.

(** eq:ord-down: the expected number of sweeps from rung K to rung 1. *)
Theorem adj_down_passage :
  exists h, [/\ hitting_equations sweep (pred1 (rung 1)) h,
    forall h', hitting_equations sweep (pred1 (rung 1)) h' -> h' =1 h
    & h (rung K) = (K - 1)%:R + \sum_(1 <= k < K) (K - k)%:R * rho k].
Proof.
exists adj_down_from; split; first exact: adj_down_equations.
  move=> h hE; apply: (hitting_equations_unique (kernel_adj_sweep a_probability)) hE _.
    exact: adj_approaches_bottom.
  exact: adj_down_equations.
by rewrite adj_down_at ?ltnS ?leqnn // subn1.
Qed.

End Adj.
