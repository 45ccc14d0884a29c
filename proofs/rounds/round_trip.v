(** Expected round trips of a tagged replica: K (1 + R) sweeps under ordered ADJ
    and 2 K (1 + R) layers under DEO, for every K and every acceptance vector.

    Reading the statements: K = n+1 rungs; edge k, for 1 <= k <= n, joins rungs k
    and k+1 and accepts with probability [a k] in (0, 1]; rho_k = (1 - a k) / a k
    and R is their sum.  The chains [adj_sweep] and [deo] are defined attempt by
    attempt in round_trip_schedule.v.  [hitting_equations P target h] is the linear
    system h = 0 on the target, h = 1 + P h off it; the expected hitting time of a
    finite chain is its solution, and [..._expected] says so without that remark:
    over an archimedean field the value is the sum over m of Pr(T > m). *)
From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov tempera_field round_trip_hitting round_trip_visit.
From Tempera Require Import round_trip_schedule round_trip_adj round_trip_lifted round_trip_deo.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Totals.
Variables (R : realFieldType) (n : nat) (a : nat -> R).
Add Field total_field : (field_theory_of R).
Local Notation K := n.+1.
Local Notation rung := (@rung n).
Local Notation rho := (rejection_odds a).
Local Notation total := (@total_rejection_odds R n a).

(** sum k rho_k + sum (K-k) rho_k = K R. *)
Lemma sum_both_ways :
  \sum_(1 <= k < K) k%:R * rho k + \sum_(1 <= k < K) (K - k)%:R * rho k = K%:R * total.
Proof.
rewrite -big_split /= mulr_sumr; apply: eq_big_nat => k /andP[_ kK].
by rewrite natrB 1?ltnW // -mulrDl addrC subrK.
Qed.

(** The round trip of ordered ADJ as a chain: the tagged replica and whether it
    has been at rung K. *)
Definition adj_trip := remembering (@adj_sweep R n a) (rung K).
Definition adj_back := return_after_visit (rung 1).

(** The round trip of DEO, from arrival to arrival. *)
Definition deo_trip := remembering (@deo R n a) (going_up n K).
Definition deo_back := return_after_visit (going_down n 1).

Hypothesis a_probability : forall k, (0 < k <= n)%N -> 0 < a k <= 1.

Lemma endpoints_differ : (0 < n)%N -> rung 1 != rung K.
Proof.
move=> n0; have topmost : (0 < K <= K)%N by rewrite leqnn.
by rewrite rung_eq // neq_ltn ltnS n0.
Qed.

Lemma arrivals_differ : going_down n 1 != going_up n K.
Proof. by rewrite going_down_up //= leqnn. Qed.

(** E T_ADJ = K (1 + R). *)
Theorem adj_round_trip : (0 < n)%N ->
  exists trip, [/\ hitting_equations adj_trip adj_back trip,
    forall trip', hitting_equations adj_trip adj_back trip' -> trip' =1 trip
    & trip (rung 1, false) = K%:R * (1 + total)].
Proof.
move=> n0; have [up [upE _ up1]] := adj_up_passage a_probability n0.
have [down [downE _ downK]] := adj_down_passage a_probability.
have [trip [tripE unique start]] := round_trip_splits (kernel_adj_sweep a_probability)
  (adj_approaches_top a_probability) (adj_approaches_bottom a_probability)
  (endpoints_differ n0) upE downE.
exists trip; split=> //; rewrite start up1 downK mulrDr mulr1 -sum_both_ways subn1 /= [K%:R]mulrS.
by move: (\sum_(_ <= _ < _) _) (\sum_(_ <= _ < _) _) => s t; to_field R; ring.
Qed.

(** E T_DEO = 2 K (1 + R), both turnaround layers included. *)
Theorem deo_round_trip :
  exists trip, [/\ hitting_equations deo_trip deo_back trip,
    forall trip', hitting_equations deo_trip deo_back trip' -> trip' =1 trip
    & trip (going_down n 1, false) = 2%:R * K%:R * (1 + total)].
Proof.
have [up [upE _ up1]] := deo_up_passage a_probability.
have [down [downE _ downK]] := deo_down_passage a_probability.
have [trip [tripE unique start]] := round_trip_splits (kernel_deo a_probability)
  (deo_approaches_top a_probability) (deo_approaches_bottom a_probability)
  arrivals_differ upE downE.
exists trip; split=> //; rewrite start up1 downK -mulrA mulrDr mulr1 -sum_both_ways.
move: (\sum_(_ <= _ < _) _) (\sum_(_ <= _ < _) _) => s t.
by rewrite -[2%:R]/(1 + 1); to_field R; ring.
Qed.

(** Ordered ADJ needs half as many expected iterations as DEO. *)
Theorem adj_is_half_of_deo trip_adj trip_deo : (0 < n)%N ->
  hitting_equations adj_trip adj_back trip_adj ->
  hitting_equations deo_trip deo_back trip_deo ->
  trip_adj (rung 1, false) = trip_deo (going_down n 1, false) / 2%:R.
Proof.
move=> n0 adjE deoE; have [t [_ tU tV]] := adj_round_trip n0.
have [t' [_ tU' tV']] := deo_round_trip.
rewrite (tU _ adjE) (tU' _ deoE) tV tV' [RHS]mulrC -[2%:R * _ * _]mulrA mulKf //.
by rewrite pnatr_eq0.
Qed.

(** The Remark of Section "Ladder Design": equal acceptances. *)
Lemma total_equal_acceptance abar : (forall k, (0 < k <= n)%N -> a k = abar) ->
  total = (K - 1)%:R * ((1 - abar) / abar).
Proof.
move=> aE; rewrite /total_rejection_odds.
rewrite (eq_big_nat _ _ (F2 := fun=> (1 - abar) / abar)) => [|k kK]; last first.
  by rewrite /rejection_odds aE.
by rewrite sumr_const_nat mulr_natl.
Qed.

Corollary adj_equal_acceptance abar : (0 < n)%N ->
  (forall k, (0 < k <= n)%N -> a k = abar) ->
  exists trip, [/\ hitting_equations adj_trip adj_back trip,
    forall trip', hitting_equations adj_trip adj_back trip' -> trip' =1 trip
    & trip (rung 1, false) = K%:R * (1 + (K - 1)%:R * ((1 - abar) / abar))].
Proof. by move=> n0 aE; rewrite -total_equal_acceptance //; exact: adj_round_trip. Qed.

Corollary deo_equal_acceptance abar :
  (forall k, (0 < k <= n)%N -> a k = abar) ->
  exists trip, [/\ hitting_equations deo_trip deo_back trip,
    forall trip', hitting_equations deo_trip deo_back trip' -> trip' =1 trip
    & trip (going_down n 1, false) = 2%:R * K%:R * (1 + (K - 1)%:R * ((1 - abar) / abar))].
Proof. by move=> aE; rewrite -total_equal_acceptance //; exact: deo_round_trip. Qed.

End Totals.

(** The same values as expectations of the trip's length. *)
Section Expectations.
Variables (R : archiFieldType) (n : nat) (a : nat -> R).
Hypothesis a_probability : forall k, (0 < k <= n)%N -> 0 < a k <= 1.
Local Notation K := n.+1.
Local Notation total := (@total_rejection_odds R n a).

Theorem adj_up_expected : (0 < n)%N ->
  expected_hitting_time (@adj_sweep R n a) (pred1 (rung n K)) (rung n 1)
    (1 + \sum_(1 <= k < K) k%:R * rejection_odds a k).
Proof.
move=> n0; have [h [hE _ <-]] := adj_up_passage a_probability n0.
exact: (hitting_mean_limit (kernel_adj_sweep a_probability) (adj_approaches_top a_probability)).
Qed.

Theorem adj_down_expected :
  expected_hitting_time (@adj_sweep R n a) (pred1 (rung n 1)) (rung n K)
    ((K - 1)%:R + \sum_(1 <= k < K) (K - k)%:R * rejection_odds a k).
Proof.
have [h [hE _ <-]] := adj_down_passage a_probability.
exact: (hitting_mean_limit (kernel_adj_sweep a_probability) (adj_approaches_bottom a_probability)).
Qed.

Theorem adj_round_trip_expected : (0 < n)%N ->
  expected_hitting_time (@adj_trip R n a) (@adj_back n) (rung n 1, false) (K%:R * (1 + total)).
Proof.
move=> n0; have [h [hE _ <-]] := adj_round_trip a_probability n0.
have approach := approaches_return (adj_approaches_top a_probability)
  (adj_approaches_bottom a_probability) (endpoints_differ n0).
exact: (hitting_mean_limit (remembering_kernel _ (kernel_adj_sweep a_probability)) approach).
Qed.

Theorem deo_round_trip_expected :
  expected_hitting_time (@deo_trip R n a) (@deo_back n) (going_down n 1, false)
    (2%:R * K%:R * (1 + total)).
Proof.
have [h [hE _ <-]] := deo_round_trip a_probability.
have approach := approaches_return (deo_approaches_top a_probability)
  (deo_approaches_bottom a_probability) (arrivals_differ n).
exact: (hitting_mean_limit (remembering_kernel _ (kernel_deo a_probability)) approach).
Qed.

End Expectations.
