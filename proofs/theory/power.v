(** * Powers as multiplicative maps

    The paper raises probabilities to a real power alpha >= 1.  All that its
    theorems use of x |-> x^alpha is that it is multiplicative and keeps 0, 1 and
    positivity.  A [power] is such a map on an ordered field; [power_nat n] is the
    power n+1.                                                                  *)

From mathcomp Require Import all_ssreflect all_algebra.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Record power (R : realFieldType) := Power {
  pow :> R -> R;
  pow0 : pow 0 = 0;
  pow1 : pow 1 = 1;
  powM : forall x y, 0 <= x -> 0 <= y -> pow (x * y) = pow x * pow y;
  pow_gt0 : forall x, 0 < x -> 0 < pow x
}.

Section Power.
Variables (R : realFieldType) (alpha : power R).

Lemma pow_ge0 x : 0 <= x -> 0 <= alpha x.
Proof. by rewrite le0r => /orP[/eqP ->|/pow_gt0/ltW//]; rewrite pow0. Qed.

Lemma pow_eq0 x : 0 <= x -> (alpha x == 0) = (x == 0).
Proof.
rewrite le0r => /orP[/eqP ->|x0]; first by rewrite pow0 eqxx.
by rewrite !gt_eqF ?pow_gt0.
Qed.

Lemma pow_prod (I : Type) (r : seq I) (P : pred I) (F : I -> R) :
  (forall i, P i -> 0 <= F i) ->
  alpha (\prod_(i <- r | P i) F i) = \prod_(i <- r | P i) alpha (F i).
Proof.
move=> F0; elim: r => [|i r IH]; first by rewrite !big_nil pow1.
rewrite !big_cons; case: ifP => // Pi.
by rewrite powM ?F0 ?prodr_ge0 // IH.
Qed.

End Power.

Section PowerNat.
Variables (R : realFieldType) (n : nat).

Lemma power_nat0 : (0 : R) ^+ n.+1 = 0. Proof. by rewrite expr0n. Qed.
Lemma power_nat1 : (1 : R) ^+ n.+1 = 1. Proof. by rewrite expr1n. Qed.
Lemma power_natM (x y : R) : 0 <= x -> 0 <= y -> (x * y) ^+ n.+1 = x ^+ n.+1 * y ^+ n.+1.
Proof. by move=> _ _; rewrite exprMn. Qed.
Lemma power_nat_gt0 (x : R) : 0 < x -> 0 < x ^+ n.+1.
Proof. by move=> x0; rewrite exprn_gt0. Qed.

(** The power n+1. *)
Definition power_nat : power R :=
  @Power R (fun x => x ^+ n.+1) power_nat0 power_nat1 power_natM power_nat_gt0.

Lemma power_natE (x : R) : power_nat x = x ^+ n.+1.
Proof. by []. Qed.

End PowerNat.
