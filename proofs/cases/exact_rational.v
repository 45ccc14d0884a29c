(** * Coq's canonical rationals as an ordered field of mathcomp

    mathcomp's [rat] is built on unary numbers.  [Qc], the reduced fractions of
    Coq's library, is built on binary ones: with this structure the executable
    kernels compute on models whose fractions are not tiny.                      *)

From mathcomp Require Import all_ssreflect all_algebra.
From Coq Require Import ZArith QArith Qcanon.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.

Definition Qc_eqb (x y : Qc) : bool := Qeq_bool x y.

Lemma Qc_eqP : Equality.axiom Qc_eqb.
Proof.
move=> x y; apply: (iffP idP) => [/Qeq_bool_eq/Qc_is_canon //|->].
exact/Qeq_eq_bool/Qeq_refl.
Qed.

Definition Qc_eqMixin := EqMixin Qc_eqP.
Canonical Qc_eqType := EqType Qc Qc_eqMixin.

Definition Qc_code (x : Qc) : bool * nat * nat :=
  (Qnum x <? 0, Z.abs_nat (Qnum x), Pos.to_nat (Qden x))%Z.
Definition Qc_decode (c : bool * nat * nat) : Qc :=
  let: (s, n, d) := c in
  Q2Qc ((if s then - Z.of_nat n else Z.of_nat n)%Z # Pos.of_nat d).

Lemma Qc_codeK : cancel Qc_code Qc_decode.
Proof.
case=> -[n d] c; apply: Qc_is_canon; rewrite /Qc_code /Qc_decode /= Pos2Nat.id.
rewrite Zabs2Nat.id_abs (_ : (if _ then _ else _) = n); first exact: Qred_correct.
by case: Z.ltb_spec => h; [rewrite Z.abs_neq ?Z.opp_involutive //; apply: Z.lt_le_incl | rewrite Z.abs_eq].
Qed.

Definition Qc_choiceMixin := CanChoiceMixin Qc_codeK.
Canonical Qc_choiceType := ChoiceType Qc Qc_choiceMixin.

Definition Qc_zmodMixin :=
  ZmodMixin Qcplus_assoc Qcplus_comm Qcplus_0_l
    (fun x => eq_trans (Qcplus_comm (- x) x) (Qcplus_opp_r x)).
Canonical Qc_zmodType := ZmodType Qc Qc_zmodMixin.

Lemma Qc_one_neq0 : Q2Qc 1 != Q2Qc 0 :> Qc. Proof. by []. Qed.

Definition Qc_ringMixin :=
  ComRingMixin Qcmult_assoc Qcmult_comm Qcmult_1_l Qcmult_plus_distr_l Qc_one_neq0.
Canonical Qc_ringType := RingType Qc Qc_ringMixin.
Canonical Qc_comRingType := ComRingType Qc Qcmult_comm.

Lemma Qc_mulVf (x : Qc) : x != 0%R -> (Qcinv x * x)%R = 1%R.
Proof. by move/eqP => x0; apply: Qcmult_inv_l. Qed.

Lemma Qc_inv0 : Qcinv (Q2Qc 0) = Q2Qc 0. Proof. exact: Qc_is_canon. Qed.

Definition Qc_fieldUnitMixin := FieldUnitMixin Qc_mulVf Qc_inv0.
Canonical Qc_unitRingType := UnitRingType Qc Qc_fieldUnitMixin.
Canonical Qc_comUnitRingType := [comUnitRingType of Qc].

Lemma Qc_fieldP : GRing.Field.mixin_of Qc_unitRingType. Proof. by []. Qed.
Definition Qc_idomainMixin := FieldIdomainMixin Qc_fieldP.
Canonical Qc_idomainType := IdomainType Qc Qc_idomainMixin.
Canonical Qc_fieldType := FieldType Qc Qc_fieldP.

(** ** Order *)
Definition Qc_le (x y : Qc) : bool := Qle_bool x y.
Definition Qc_lt (x y : Qc) : bool := ~~ Qc_le y x.

Lemma Qc_leP (x y : Qc) : reflect (x <= y)%Qc (Qc_le x y).
Proof. by apply: (iffP idP) => /Qle_bool_iff. Qed.

Local Open Scope ring_scope.
Arguments Qc_le (x y)%R.
Arguments Qc_lt (x y)%R.

Definition Qc_abs (x : Qc) : Qc := if Qc_le 0 x then x else - x.

Arguments Qc_abs x%R.

Lemma Qc_le0D (x y : Qc) : Qc_le 0 x -> Qc_le 0 y -> Qc_le 0 (x + y).
Proof.
move=> /Qc_leP x0 /Qc_leP y0; apply/Qc_leP.
have := Qcplus_le_compat _ _ _ _ x0 y0.
by rewrite Qcplus_0_l.
Qed.

Lemma Qc_le0M (x y : Qc) : Qc_le 0 x -> Qc_le 0 y -> Qc_le 0 (x * y).
Proof.
move=> /Qc_leP x0 /Qc_leP y0; apply/Qc_leP.
by have := Qcmult_le_compat_r _ _ _ x0 y0; rewrite Qcmult_0_l.
Qed.

Lemma Qc_le0_anti (x : Qc) : Qc_le 0 x -> Qc_le x 0 -> x = 0.
Proof. by move=> /Qc_leP x0 /Qc_leP x1; apply: Qcle_antisym. Qed.

Lemma Qc_sub_ge0 (x y : Qc) : Qc_le 0 (y - x) = Qc_le x y.
Proof.
apply/Qc_leP/Qc_leP => h; last first.
  by apply: (proj1 (Qcle_minus_iff x y)).
by apply: (proj2 (Qcle_minus_iff x y)).
Qed.

Lemma Qc_le_total : total Qc_le.
Proof.
move=> x y; case: (Qclt_le_dec y x) => h.
- by apply/orP; right; apply/Qc_leP; apply: Qclt_le_weak.
- by apply/orP; left; apply/Qc_leP.
Qed.

Lemma Qc_absN (x : Qc) : Qc_abs (- x) = Qc_abs x.
Proof.
have neg0 (y : Qc) : Qc_le 0 y -> Qc_le 0 (- y) -> y = 0.
  by move=> p n; apply: Qc_le0_anti => //; rewrite -Qc_sub_ge0 sub0r.
rewrite /Qc_abs; case: (boolP (Qc_le 0 x)) => p; case: (boolP (Qc_le 0 (- x))) => n.
- by rewrite (neg0 x p n); apply: Qc_is_canon.
- exact: opprK.
- by [].
have := Qc_le_total 0 x; rewrite (negPf p) /= -Qc_sub_ge0 sub0r => h.
by rewrite h in n.
Qed.

Lemma Qc_ge0_abs (x : Qc) : Qc_le 0 x -> Qc_abs x = x.
Proof. by rewrite /Qc_abs => ->. Qed.

Lemma Qc_lt_def (x y : Qc) : Qc_lt x y = (y != x) && Qc_le x y.
Proof.
rewrite /Qc_lt; have := Qc_le_total x y; case: eqP => [->|ne]; first by rewrite orbb => ->.
case xy : (Qc_le x y); case yx : (Qc_le y x) => //= _.
by case: ne; apply: Qcle_antisym; apply/Qc_leP.
Qed.

Definition Qc_leMixin : realLeMixin Qc_idomainType :=
  RealLeMixin Qc_le0D Qc_le0M Qc_le0_anti Qc_sub_ge0
    (Qc_le_total (0 : Qc)) Qc_absN Qc_ge0_abs Qc_lt_def.

Canonical Qc_porderType := POrderType ring_display Qc Qc_leMixin.
Canonical Qc_latticeType := LatticeType Qc Qc_leMixin.
Canonical Qc_distrLatticeType := DistrLatticeType Qc Qc_leMixin.
Canonical Qc_orderType := OrderType Qc Qc_le_total.
Canonical Qc_numDomainType := NumDomainType Qc Qc_leMixin.
Canonical Qc_normedZmodType := NormedZmodType Qc Qc Qc_leMixin.
Canonical Qc_numFieldType := [numFieldType of Qc].
Canonical Qc_realDomainType := [realDomainType of Qc].
Canonical Qc_realFieldType := [realFieldType of Qc].
