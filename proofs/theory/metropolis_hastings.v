(** * Metropolis-Hastings kernels: eq:local-accept, flows, reversibility *)

From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import kernels.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section MetropolisHastings.
Variable R : realFieldType.
Implicit Types S T U J : finType.

(** 1 /\ pi(y) q(x|y) / (pi(x) q(y|x)); 0 when y is never proposed from x. *)
Definition accept S (pi : S -> R) (q : S -> S -> R) (x y : S) : R :=
  if q x y == 0 then 0
  else Num.min 1 ((pi y * q y x) / (pi x * q x y)).

(** The diagonal carries the self-proposals and all the rejections. *)
Definition mh S (pi : S -> R) (q : S -> S -> R) (x y : S) : R :=
  if y == x then 1 - \sum_(z | z != x) q x z * accept pi q x z
  else q x y * accept pi q x y.

Lemma accept_ge0 S (pi : S -> R) (q : S -> S -> R) x y :
  (forall z, 0 <= pi z) -> (forall z t, 0 <= q z t) -> 0 <= accept pi q x y.
Proof.
move=> pi0 q0; rewrite /accept; case: ifP => // _.
by rewrite le_minr ler01 divr_ge0 ?mulr_ge0.
Qed.

Lemma accept_le1 S (pi : S -> R) (q : S -> S -> R) x y : accept pi q x y <= 1.
Proof. by rewrite /accept; case: ifP => _; rewrite ?ler01 // le_minl lexx. Qed.

(** The accepted flow between distinct states is the smaller of the two
    proposed flows. *)
Lemma mh_flow S (pi : S -> R) (q : S -> S -> R) x y :
  (forall z, 0 <= pi z) -> (forall z t, 0 <= q z t) -> y != x ->
  pi x * mh pi q x y = Num.min (pi x * q x y) (pi y * q y x).
Proof.
move=> pi0 q0 yx; rewrite /mh (negPf yx) /accept.
have nn a b : 0 <= pi a * q b a by rewrite mulr_ge0.
case: eqP => [->|/eqP qn0].
  by rewrite !mulr0 min_l // mulr_ge0.
have [p0|pn0] := eqVneq (pi x) 0.
  by rewrite p0 !mul0r min_l // mulr_ge0.
have a0 : 0 < pi x * q x y by rewrite mulr_gt0 // lt_def ?pn0 ?qn0 ?pi0 ?q0.
rewrite mulrA minr_pmulr ?ltW // mulr1 mulrCA mulfV ?mulr1 //.
by rewrite gt_eqF.
Qed.

Lemma mh_kernel S (pi : S -> R) (q : S -> S -> R) :
  (forall z, 0 <= pi z) -> kernel q -> kernel (mh pi q).
Proof.
move=> pi0 kq x.
have q0 a b : 0 <= q a b by case: (kq a).
have le : \sum_(z | z != x) q x z * accept pi q x z <= 1.
  apply: (@le_trans _ _ (\sum_(z | z != x) q x z)).
    by apply: ler_sum => z _; rewrite ler_pimulr ?accept_le1.
  by case: (kq x) => _ <-; rewrite [\sum_i _](bigD1 x) //= ler_addr.
split=> [y|].
  rewrite /mh; case: ifP => _; first by rewrite subr_ge0.
  by rewrite mulr_ge0 ?accept_ge0.
rewrite (bigD1 x) //= {1}/mh eqxx.
rewrite [X in _ + X](eq_bigr (fun y => q x y * accept pi q x y)) ?subrK //.
by move=> y yx; rewrite /mh (negPf yx).
Qed.

Lemma mh_reversible S (pi : S -> R) (q : S -> S -> R) :
  (forall z, 0 <= pi z) -> (forall z t, 0 <= q z t) -> reversible pi (mh pi q).
Proof.
move=> pi0 q0 x y; have [->//|yx] := eqVneq y x.
by rewrite !mh_flow // 1?eq_sym // minC.
Qed.

Lemma mh_invariant S (pi : S -> R) (q : S -> S -> R) :
  (forall z, 0 <= pi z) -> kernel q -> invariant pi (mh pi q).
Proof.
move=> pi0 kq; apply: reversible_invariant; first exact: mh_kernel.
by apply: mh_reversible => // x y; case: (kq x).
Qed.

(** Self-proposals alone are a lower bound on the diagonal. *)
Lemma mh_diag S (pi : S -> R) (q : S -> S -> R) x :
  (forall z, 0 <= pi z) -> kernel q -> q x x <= mh pi q x x.
Proof.
move=> pi0 kq; rewrite /mh eqxx ler_subr_addr -(proj2 (kq x)) [X in _ <= X](bigD1 x) //= ler_add2l.
by apply: ler_sum => z _; rewrite ler_pimulr ?accept_le1 //; case: (kq x).
Qed.

End MetropolisHastings.
