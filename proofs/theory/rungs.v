(** * Product laws and product kernels over rungs, and their marginals *)

From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import kernels total_variation.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Rungs.
Variable R : realFieldType.
Implicit Types S T U J : finType.

Definition product (I S : finType) (pi : I -> S -> R) (X : {ffun I -> S}) : R :=
  \prod_i pi i (X i).

Definition prodk (I S T : finType) (L : I -> S -> T -> R)
    (X : {ffun I -> S}) (Y : {ffun I -> T}) : R :=
  \prod_i L i (X i) (Y i).

Definition marginal (I S : finType) (i : I) (mu : {ffun I -> S} -> R) : S -> R :=
  fun x => \sum_(X : {ffun I -> S} | X i == x) mu X.

Lemma law_product (I S : finType) (pi : I -> S -> R) :
  (forall i, law (pi i)) -> law (product pi).
Proof.
move=> lpi; split=> [X|]; first by apply: prodr_ge0 => i _; case: (lpi i).
rewrite -(bigA_distr_bigA pi) /= big1 // => i _.
by case: (lpi i).
Qed.

Lemma kernel_prodk (I S T : finType) (L : I -> S -> T -> R) :
  (forall i, kernel (L i)) -> kernel (prodk L).
Proof.
by move=> kL X; apply: (@law_product I T (fun i => L i (X i))) => i; apply: kL.
Qed.

Lemma act_prodk (I S T : finType) (pi : I -> S -> R) (L : I -> S -> T -> R) :
  act (product pi) (prodk L) =1 product (fun i => act (pi i) (L i)).
Proof.
move=> Y; rewrite /act /product /prodk.
rewrite (bigA_distr_bigA (fun i x => pi i x * L i x (Y i))) /=.
by apply: eq_bigr => X _; rewrite -big_split.
Qed.

Lemma invariant_prodk (I S : finType) (pi : I -> S -> R) (L : I -> S -> S -> R) :
  (forall i, invariant (pi i) (L i)) -> invariant (product pi) (prodk L).
Proof.
by move=> iL Y; rewrite act_prodk; apply: eq_bigr => i _; apply: iL.
Qed.

Lemma reversible_prodk (I S : finType) (pi : I -> S -> R) (L : I -> S -> S -> R) :
  (forall i, reversible (pi i) (L i)) -> reversible (product pi) (prodk L).
Proof.
move=> rL X Y; rewrite /product /prodk -!big_split /=.
by apply: eq_bigr => i _; apply: rL.
Qed.

Lemma marginal_act (I S : finType) (i : I) (mu : {ffun I -> S} -> R) :
  marginal i mu =1 act mu (fun X x => (X i == x)%:R).
Proof.
move=> x; rewrite /marginal /act big_mkcond /=; apply: eq_bigr => X _.
by case: eqP => _; rewrite ?mulr1 ?mulr0.
Qed.

Lemma kernel_coordinate (I S : finType) (i : I) :
  kernel (fun (X : {ffun I -> S}) x => (X i == x)%:R : R).
Proof. by move=> X; apply: (@kernel_idk R S (X i)). Qed.

Lemma law_marginal (I S : finType) (i : I) (mu : {ffun I -> S} -> R) :
  law mu -> law (marginal i mu).
Proof.
move=> lmu; apply: (law_ext (fun x => esym (marginal_act i mu x))).
by apply: law_act => //; apply: kernel_coordinate.
Qed.

Lemma tv_marginal_le (I S : finType) (i : I) (mu nu : {ffun I -> S} -> R) :
  tv (marginal i mu) (marginal i nu) <= tv mu nu.
Proof.
rewrite (tv_ext (marginal_act i mu) (marginal_act i nu)).
by apply: tv_act_le; apply: kernel_coordinate.
Qed.

(** The marginal of a product law at rung i is its i-th factor. *)
Lemma marginal_product (I S : finType) (pi : I -> S -> R) (i : I) :
  (forall j, law (pi j)) -> marginal i (product pi) =1 pi i.
Proof.
move=> lpi x; rewrite /marginal.
pose F j y := pi j y * (if j == i then (y == x)%:R else 1).
rewrite big_mkcond (eq_bigr (fun X : {ffun I -> S} => \prod_j F j (X j))).
  rewrite -(bigA_distr_bigA F) /= (bigD1 i) //= [Z in _ * Z]big1 ?mulr1.
    by rewrite /F eqxx; apply: (sum_idk x (pi i)).
  move=> j ji; rewrite /F (negPf ji); under eq_bigr do rewrite mulr1.
  by case: (lpi j).
move=> Y _; rewrite /product big_split /=.
rewrite [\prod_j (if _ then _ else _)](bigD1 i) //= eqxx.
rewrite [Z in _ = _ * (_ * Z)]big1 => [|j ji]; last by rewrite (negPf ji).
by case: eqP => _; rewrite ?mulr1 ?mulr0.
Qed.

End Rungs.

(** All the rungs' updates, each repeated, are the repeated product. *)
Lemma prodk_iterk (R : realFieldType) (I S : finType) (L : I -> S -> S -> R) m :
  prodk (fun i => iterk m (L i)) =2 iterk m (prodk L).
Proof.
elim: m => [|m IH] X Y.
  rewrite /prodk /= /idk; have [->|ne] := eqVneq X Y.
    by rewrite big1 // => i _; rewrite eqxx.
  have [i ni] : exists i, X i != Y i.
    by apply/existsP; rewrite -negb_forall; apply: contra ne => /forallP e; apply/eqP/ffunP => i; apply/eqP.
  by rewrite (bigD1 i) //= (negPf ni) mul0r.
rewrite /= /compk -(act_ext (fun _ => erefl) (fun Z => IH Z)).
by rewrite (act_prodk (fun i => L i (X i)) (fun i => iterk m (L i)) Y).
Qed.
