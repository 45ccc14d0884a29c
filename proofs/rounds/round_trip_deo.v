(** DEO: the expected passage times of the tagged replica between endpoint
    arrivals, for every ladder and every acceptance vector. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov tempera_field round_trip_hitting round_trip_schedule.
From Tempera Require Import round_trip_lifted.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Deo.
Variables (R : realFieldType) (n : nat) (a : nat -> R).
Add Field deo_field : (field_theory_of R).
Local Notation K := n.+1.
Local Notation rung := (@rung n).
Local Notation rho := (rejection_odds a).
Local Notation going_up := (@going_up n).
Local Notation going_down := (@going_down n).
Local Notation deo := (@deo R n a).
Hypothesis a_probability : forall k, (0 < k <= n)%N -> 0 < a k <= 1.

Let a_neq0 k : (0 < k <= n)%N -> a k <> 0.
Proof. by move/a_probability/andP=> [a0 _] e; rewrite e ltxx in a0. Qed.

Let lower k : (0 < k <= n)%N -> (0 < k <= K)%N.
Proof. by case/andP=> -> /leqW. Qed.

Let upper k : (0 < k <= n)%N -> (0 < k.+1 <= K)%N.
Proof. by case/andP=> _; rewrite ltnS. Qed.

Let topmost : (0 < K <= K)%N.
Proof. by rewrite leqnn. Qed.

Let lowest : (0 < 1 <= K)%N.
Proof. by []. Qed.

Let facts k : (0 < k <= n)%N -> [/\ (0 < k <= n)%N, (0 < k <= K)%N & (0 < k.+1 <= K)%N].
Proof. by move=> kn; split; [| exact: lower | exact: upper]. Qed.

Definition rank_top (x : 'I_K * bool) : nat :=
  if upward x then (K - x.1.+1)%N else (K + x.1.+1)%N.

Definition rank_bottom (x : 'I_K * bool) : nat :=
  if upward x then (K + (K - x.1.+1))%N else x.1 : nat.

Lemma rank_top_up k : (0 < k <= K)%N -> rank_top (going_up k) = (K - k)%N.
Proof. by move=> kK; rewrite /rank_top upward_going_up //= val_rung. Qed.

Lemma rank_top_down k : (0 < k <= K)%N -> rank_top (going_down k) = (K + k)%N.
Proof. by move=> kK; rewrite /rank_top upward_going_down //= val_rung. Qed.

Lemma rank_bottom_up k : (0 < k <= K)%N -> rank_bottom (going_up k) = (K + (K - k))%N.
Proof. by move=> kK; rewrite /rank_bottom upward_going_up //= val_rung. Qed.

Lemma rank_bottom_down k : (0 < k <= K)%N -> rank_bottom (going_down k) = k.-1.
Proof. 
move=> kK; rewrite /rank_bottom upward_going_down //=; apply: succn_inj.
by rewrite val_rung // prednK //; case/andP: kK.
Qed.

Lemma deo_up_positive k : (0 < k <= n)%N -> 0 < deo (going_up k) (going_up k.+1).
Proof.
move=> /facts[kn kl ku]; rewrite deo_entry deo_from_up // eqxx going_down_up // mulr1 mulr0 addr0.
by case/andP: (a_probability kn).
Qed.

Lemma deo_down_positive k : (0 < k <= n)%N -> 0 < deo (going_down k.+1) (going_down k).
Proof.
move=> /facts[kn kl ku]; rewrite deo_entry deo_from_down // eqxx going_up_down // mulr1 mulr0 addr0.
by case/andP: (a_probability kn).
Qed.

Lemma deo_approaches_top : approaches deo (pred1 (going_up K)) rank_top.
Proof.
move=> x /=; case: (deo_rows x) => [->|[k /facts[kn kl ku] ->]|->|[k /facts[kn kl ku] ->]]; first by rewrite eqxx.
- move=> _; exists (going_up k.+1); first exact: deo_up_positive.
  rewrite !rank_top_up //; case/andP: kn => k0 kn.
  by rewrite ltn_sub2l // ltnS.
- move=> _; exists (going_up 1); first by rewrite deo_entry deo_from_bottom eqxx ltr01.
  by rewrite rank_top_up // rank_top_down // (leq_ltn_trans (leq_subr _ _)) // addn1.
- move=> _; exists (going_down k); first exact: deo_down_positive.
  by rewrite !rank_top_down // ltn_add2l.
Qed.

Lemma deo_approaches_bottom : approaches deo (pred1 (going_down 1)) rank_bottom.
Proof.
move=> x /=; case: (deo_rows x) => [->|[k /facts[kn kl ku] ->]|->|[k /facts[kn kl ku] ->]].
- move=> _; exists (going_down K); first by rewrite deo_entry deo_from_top eqxx ltr01.
  by rewrite rank_bottom_up // rank_bottom_down // subnn addn0.
- move=> _; exists (going_up k.+1); first exact: deo_up_positive.
  rewrite !rank_bottom_up //; case/andP: kn => k0 kn.
  by rewrite ltn_add2l ltn_sub2l // ltnS.
- by rewrite eqxx.
- move=> _; exists (going_down k); first exact: deo_down_positive.
  by rewrite !rank_bottom_down //; case/andP: kn; case: (k).
Qed.

(** The expected passage times from every state. *)
Definition top_from (k : nat) : R :=
  (K%:R - k%:R) + 2%:R * \sum_(k <= j < K) j%:R * rho j.

Definition deo_to_top (x : 'I_K * bool) : R :=
  let k := x.1.+1 in top_from k + (if upward x then 0 else 2%:R * k%:R - 1).

Definition bottom_from (k : nat) : R :=
  (k%:R - 1) + 2%:R * \sum_(1 <= j < k) (K%:R - j%:R) * rho j.

Definition deo_to_bottom (x : 'I_K * bool) : R :=
  let k := x.1.+1 in bottom_from k + (if upward x then 2%:R * (K%:R - k%:R) + 1 else 0).

Lemma deo_to_top_up k : (0 < k <= K)%N -> deo_to_top (going_up k) = top_from k.
Proof. by move=> kK; rewrite /deo_to_top upward_going_up //= val_rung // addr0. Qed.

Lemma deo_to_top_down k : (0 < k <= K)%N ->
  deo_to_top (going_down k) = top_from k + (2%:R * k%:R - 1).
Proof. by move=> kK; rewrite /deo_to_top upward_going_down //= val_rung. Qed.

Lemma deo_to_bottom_up k : (0 < k <= K)%N ->
  deo_to_bottom (going_up k) = bottom_from k + (2%:R * (K%:R - k%:R) + 1).
Proof. by move=> kK; rewrite /deo_to_bottom upward_going_up //= val_rung. Qed.

Lemma deo_to_bottom_down k : (0 < k <= K)%N -> deo_to_bottom (going_down k) = bottom_from k.
Proof. by move=> kK; rewrite /deo_to_bottom upward_going_down //= val_rung // addr0. Qed.

Lemma top_from_step k : (0 < k <= n)%N ->
  top_from k = top_from k.+1 + 1 + 2%:R * k%:R * rho k.
Proof.
case/andP=> _ kn; rewrite /top_from big_ltn ?ltnS // [k.+1%:R]mulrS.
by move: (\sum_(_ <= _ < _) _) => s; to_field R; ring.
Qed.

Lemma bottom_from_step k : (0 < k <= n)%N ->
  bottom_from k.+1 = bottom_from k + 1 + 2%:R * (K%:R - k%:R) * rho k.
Proof.
case/andP=> k0 _; rewrite /bottom_from big_nat_recr //= [k.+1%:R]mulrS.
by move: (\sum_(_ <= _ < _) _) => s; to_field R; ring.
Qed.

Lemma deo_top_equations : hitting_equations deo (pred1 (going_up K)) deo_to_top.
Proof.
move=> x /=; case: (deo_rows x) => [->|[k /facts[kn kl ku] ->]|->|[k /facts[kn kl ku] ->]].
- by rewrite eqxx deo_to_top_up // /top_from big_geq // mulr0 addr0 subrr.
- have kK : k != K by case/andP: kn => _ kn; rewrite neq_ltn ltnS kn.
  rewrite going_up_eq // (negbTE kK) deo_from_up //.
  rewrite !deo_to_top_up // deo_to_top_down // (top_from_step kn).
  rewrite /rejection_odds; move: (top_from _) => s; move: (_%:R : R) => d.
  by to_field R; field; exact: a_neq0.
- rewrite going_down_up // deo_from_bottom deo_to_top_down // deo_to_top_up //.
  by rewrite mulr1n mulr1 [2%:R]mulrSr addrK addrC.
- rewrite going_down_up // deo_from_down //.
  rewrite !deo_to_top_down // deo_to_top_up // (top_from_step kn).
  rewrite /rejection_odds [k.+1%:R]mulrS; move: (top_from _) => s; move: (k%:R : R) => d.
  by rewrite -[2%:R]/(1 + 1); to_field R; field; exact: a_neq0.
Qed.

Lemma deo_bottom_equations : hitting_equations deo (pred1 (going_down 1)) deo_to_bottom.
Proof.
move=> x /=; case: (deo_rows x) => [->|[k /facts[kn kl ku] ->]|->|[k /facts[kn kl ku] ->]].
- rewrite going_up_down // deo_from_top deo_to_bottom_down // deo_to_bottom_up //.
  by move: (bottom_from _) => s; rewrite subrr mulr0 add0r addrC.
- rewrite going_up_down // deo_from_up //.
  rewrite !deo_to_bottom_up // deo_to_bottom_down // (bottom_from_step kn).
  rewrite /rejection_odds [k.+1%:R]mulrS; move: (bottom_from _) => s.
  move: (k%:R : R) (K%:R : R) => d e.
  by rewrite -[2%:R]/(1 + 1); to_field R; field; exact: a_neq0.
- by rewrite eqxx deo_to_bottom_down // /bottom_from big_geq // mulr0 addr0 subrr.
- have k1 : k.+1 != 1%N by case/andP: kn => k0 _; rewrite eqSS neq_ltn k0 orbT.
  rewrite going_down_eq // (negbTE k1) deo_from_down //.
  rewrite !deo_to_bottom_down // deo_to_bottom_up // (bottom_from_step kn).
  rewrite /rejection_odds [k.+1%:R]mulrS; move: (bottom_from _) => s.
  move: (k%:R : R) (K%:R : R) => d e.
  by rewrite -[2%:R]/(1 + 1); to_field R; field; exact: a_neq0.
Qed.

(** From arrival at rung 1 to arrival at rung K, the turnaround layer included. *)
Theorem deo_up_passage :
  exists h, [/\ hitting_equations deo (pred1 (going_up K)) h,
    forall h', hitting_equations deo (pred1 (going_up K)) h' -> h' =1 h
    & h (going_down 1) = K%:R + 2%:R * \sum_(1 <= k < K) k%:R * rho k].
Proof.
exists deo_to_top; split; first exact: deo_top_equations.
  move=> h hE; apply: (hitting_equations_unique (kernel_deo a_probability) deo_approaches_top hE).
  exact: deo_top_equations.
rewrite deo_to_top_down // /top_from mulr1n; move: (\sum_(_ <= _ < _) _) => s.
by rewrite -[2%:R]/(1 + 1); to_field R; ring.
Qed.

(** From arrival at rung K to arrival at rung 1, the turnaround layer included. *)
Theorem deo_down_passage :
  exists h, [/\ hitting_equations deo (pred1 (going_down 1)) h,
    forall h', hitting_equations deo (pred1 (going_down 1)) h' -> h' =1 h
    & h (going_up K) = K%:R + 2%:R * \sum_(1 <= k < K) (K - k)%:R * rho k].
Proof.
exists deo_to_bottom; split; first exact: deo_bottom_equations.
  move=> h hE; apply: (hitting_equations_unique (kernel_deo a_probability) deo_approaches_bottom hE).
  exact: deo_bottom_equations.
rewrite deo_to_bottom_up // /bottom_from.
rewrite (eq_big_nat _ _ (F2 := fun k => (K - k)%:R * rho k)) => [|k /andP[_ kK]]; last first.
  by rewrite natrB // ltnW.
move: (\sum_(_ <= _ < _) _) => s; rewrite subrr.
by to_field R; ring.
Qed.

End Deo.
