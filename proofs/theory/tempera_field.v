(** Identities of an ordered field, decided by Coq's own [field] and [ring].

    mathcomp's structures are not known to these tactics.  [to_field R] renames
    the operations of the goal to those of the declared field of [R]; a section
    over [R : realFieldType] declares it with
    [Add Field a_name : (field_theory_of R)]. *)
From mathcomp Require Import all_ssreflect all_algebra.
Require Export Ring Field.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Operations.
Variable R : realFieldType.

Definition zero_of : R := 0.
Definition one_of : R := 1.
Definition add_of (x y : R) : R := x + y.
Definition mul_of (x y : R) : R := x * y.
Definition opp_of (x : R) : R := - x.
Definition sub_of (x y : R) : R := x - y.
Definition inv_of (x : R) : R := x^-1.
Definition div_of (x y : R) : R := x / y.

Lemma field_theory_of :
  field_theory zero_of one_of add_of mul_of sub_of opp_of div_of inv_of eq.
Proof.
split=> //; last by move=> x /eqP nz; rewrite /mul_of /inv_of mulVf.
  split=> //; [exact: add0r | exact: addrC | exact: addrA | exact: mul1r
             | exact: mulrC | exact: mulrA | exact: mulrDl | exact: subrr].
by apply/eqP; exact: oner_neq0.
Qed.

End Operations.

Ltac to_field R :=
  match goal with |- @eq _ ?a ?b => change (@eq (Num.RealField.sort R) a b) end;
  repeat match goal with
  | |- context [@GRing.add ?Z ?x ?y] => change (@GRing.add Z x y) with (@add_of R x y)
  | |- context [@GRing.mul ?Z ?x ?y] => change (@GRing.mul Z x y) with (@mul_of R x y)
  | |- context [@GRing.opp ?Z ?x] => change (@GRing.opp Z x) with (@opp_of R x)
  | |- context [@GRing.inv ?Z ?x] => change (@GRing.inv Z x) with (@inv_of R x)
  | |- context [@GRing.one ?Z] => change (@GRing.one Z) with (@one_of R)
  | |- context [@GRing.zero ?Z] => change (@GRing.zero Z) with (@zero_of R)
  end.

Section Check.
Variable R : realFieldType.
Add Field check_field : (field_theory_of R).

Goal forall (a b : R) k, a != 0 ->
  (a + b - 1) / a = 1 + b / a - a^-1 /\ (k.+1)%:R * b - k%:R * b = b.
Proof.
move=> a b k /eqP a0; split; first by to_field R; field.
by rewrite mulrS; to_field R; ring.
Qed.

End Check.
