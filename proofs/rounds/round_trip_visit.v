(** A round trip as one hitting time.

    A chain starts at [A], visits [B] and returns to [A].  Joined to a flag that
    is raised when the chain leaves [B], the round trip is the hitting time of
    (A, raised) from (A, not raised), and its expectation is the sum of the two
    expected passage times ([round_trip_splits]). *)
From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov round_trip_hitting.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Visit.
Variables (R : realFieldType) (S : finType) (P : S -> S -> R) (A B : S).

(** The chain together with the memory of having been at [B] before now. *)
Definition remembering (x y : S * bool) : R :=
  P x.1 y.1 * (y.2 == x.2 || (x.1 == B))%:R.

Definition return_after_visit : pred (S * bool) := pred1 (A, true).

Lemma remembering_mean x (g : S * bool -> R) :
  \sum_y remembering x y * g y = \sum_s P x.1 s * g (s, x.2 || (x.1 == B)).
Proof.
transitivity (\sum_s \sum_b remembering x (s, b) * g (s, b)).
  by rewrite pair_bigA /=; apply: eq_bigr => -[].
apply: eq_bigr => s _; rewrite /remembering /= (bigD1 (x.2 || (x.1 == B))) //= eqxx mulr1.
by rewrite big1 ?addr0 // => b /negbTE ->; rewrite mulr0 mul0r.
Qed.

Hypothesis P_kernel : kernel P.

Lemma remembering_kernel : kernel remembering.
Proof.
move=> x; split=> [y|].
  by rewrite /remembering mulr_ge0 ?ler0n //; case: (P_kernel x.1).
have := remembering_mean x (fun=> 1).
under eq_bigr do rewrite mulr1.
by move=> ->; under eq_bigr do rewrite mulr1; case: (P_kernel x.1).
Qed.

Variables (rank_B rank_A : S -> nat).
Hypothesis approaches_B : approaches P (pred1 B) rank_B.
Hypothesis approaches_A : approaches P (pred1 A) rank_A.
Hypothesis A_is_not_B : A != B.

Definition rank_return (x : S * bool) : nat :=
  if x.2 then rank_A x.1 else (rank_B x.1 + (\max_s rank_A s).+1)%N.

Lemma approaches_return : approaches remembering return_after_visit rank_return.
Proof.
case=> s [] /=.
  rewrite /return_after_visit /= xpair_eqE andbT => sA.
  have [t Pst rt] := approaches_A sA.
  by exists (t, true); rewrite /remembering ?mulr1.
move=> _; have [sB|sB] := eqVneq s B.
  have BA : B != A by rewrite eq_sym.
  have [t Pst rt] := approaches_A BA.
  exists (t, true); first by rewrite /remembering /= sB eqxx mulr1.
  by rewrite /rank_return /= addnS ltnS (leq_trans (leq_bigmax t)) ?leq_addl.
have [t Pst rt] := approaches_B sB.
exists (t, false); first by rewrite /remembering /= (negbTE sB) mulr1.
by rewrite /rank_return /= ltn_add2r.
Qed.

Theorem round_trip_splits (to_B to_A : S -> R) :
  hitting_equations P (pred1 B) to_B -> hitting_equations P (pred1 A) to_A ->
  exists trip : S * bool -> R,
    [/\ hitting_equations remembering return_after_visit trip,
        forall trip', hitting_equations remembering return_after_visit trip' -> trip' =1 trip
      & trip (A, false) = to_B A + to_A B].
Proof.
move=> hB hA.
pose trip (x : S * bool) := if x.2 then to_A x.1 else to_B x.1 + to_A B.
have tripE : hitting_equations remembering return_after_visit trip.
  case=> s []; rewrite remembering_mean /return_after_visit /= xpair_eqE ?andbT ?andbF.
    by rewrite /trip /= hA.
  rewrite {1}/trip /= hB; have [->|sB] := eqVneq s B.
    rewrite [pred1 B B]/= eqxx add0r hA [pred1 A B]/= eq_sym (negbTE A_is_not_B).
    by [].
  rewrite [pred1 B s]/= (negbTE sB) /trip /= -addrA; congr (_ + _).
  under [RHS]eq_bigr do rewrite mulrDr.
  by rewrite big_split /= -mulr_suml; case: (P_kernel s) => _ ->; rewrite mul1r.
exists trip; split=> // trip' trip'E.
exact: (hitting_equations_unique remembering_kernel approaches_return).
Qed.

End Visit.
