(** * Programs that ask for draws

    A sampler decides by draws alone: it asks for one at an address, with the tickets
    of every outcome, and goes on with the outcome that wins.  Tickets may be integers
    (tempera's lottery) or the probabilities themselves (the printed algorithm).

    - [program], [bind]      the programs
    - [expect D p F]         the expectation of F of the result, every draw being new;
                             [D] is the law with which an outcome wins
    - [yields D p mu view]   p returns [view y] with probability mu y
    - [each_rung f X]        one program for every rung, one after the other        *)

From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Programs.
Variables (ticket address : Type).

Inductive program (A : Type) : Type :=
| Done (x : A)
| Draw (a : address) (I : finType) (w : I -> ticket) (k : I -> program A).

Arguments Draw {A} a {I} w k.

Fixpoint bind A B (p : program A) (f : A -> program B) : program B :=
  match p with
  | Done x => f x
  | Draw a _ w k => Draw a w (fun i => bind (k i) f)
  end.

(** p, n times over. *)
Fixpoint repeat A (n : nat) (f : nat -> A -> program A) (i : nat) (x : A) : program A :=
  if n is n'.+1 then bind (f i x) (repeat n' f i.+1) else Done x.

End Programs.

Arguments Done {ticket address A} x.
Arguments Draw {ticket address A} a {I} w k.

(** ** The law of a program whose draws are all new *)
Section Law.
Variables (R : realFieldType) (ticket address : Type).
Notation program := (program ticket address).
Variable D : forall I : finType, (I -> ticket) -> I -> R.

Fixpoint expect A (p : program A) (F : A -> R) : R :=
  match p with
  | Done x => F x
  | Draw a _ w k => \sum_i D w i * expect (k i) F
  end.

Lemma expect_ext A (p : program A) (F F' : A -> R) : F =1 F' -> expect p F = expect p F'.
Proof.
by move=> e; elim: p => [x|a I w k IH] /=; [apply: e | apply: eq_bigr => i _; rewrite IH].
Qed.

Lemma expect_bind A B (p : program A) (f : A -> program B) F :
  expect (bind p f) F = expect p (fun x => expect (f x) F).
Proof. by elim: p => [//|a I w k IH] /=; apply: eq_bigr => i _; rewrite IH. Qed.

Definition yields A (S : finType) (p : program A) (mu : S -> R) (view : S -> A) : Prop :=
  forall F, expect p F = \sum_y mu y * F (view y).

Lemma yields_done A (S : finType) (x : S) (view : S -> A) :
  yields (Done (view x)) (@idk R S x) view.
Proof. by move=> F; rewrite /= (sum_idkl x (fun y => F (view y))). Qed.

Lemma yields_ext A (S : finType) (p : program A) (mu nu : S -> R) (view : S -> A) :
  mu =1 nu -> yields p mu view -> yields p nu view.
Proof. by move=> e yp F; rewrite yp; apply: eq_bigr => y _; rewrite e. Qed.

(** One program after the other is one kernel after the other. *)
Lemma yields_bind A B (S S' : finType) (p : program A) (f : A -> program B)
    (mu : S -> R) (P : S -> S' -> R) (view : S -> A) (view' : S' -> B) :
  yields p mu view -> (forall y, yields (f (view y)) (P y) view') ->
  yields (bind p f) (act mu P) view'.
Proof.
move=> yp yf F; rewrite expect_bind yp /act.
under eq_bigr do rewrite yf mulr_sumr.
rewrite exchange_big /=; apply: eq_bigr => y _; rewrite mulr_suml.
by apply: eq_bigr => x _; rewrite mulrA.
Qed.

Lemma yields_repeat A (S : finType) (f : nat -> A -> program A) (P : S -> S -> R)
    (view : S -> A) n i x :
  (forall j y, yields (f j (view y)) (P y) view) ->
  yields (repeat n f i (view x)) (iterk n P x) view.
Proof.
move=> yf; elim: n i x => [|n IH] i x; first exact: yields_done.
by apply: yields_bind; [apply: yf | move=> y; apply: IH].
Qed.

(** The result as a law on the states themselves. *)
Lemma yields_law (A : eqType) (S : finType) (p : program A) (mu : S -> R)
    (view : S -> A) y :
  injective view -> yields p mu view -> expect p (fun x => (x == view y)%:R) = mu y.
Proof.
move=> inj yp; rewrite yp -[RHS](sum_idk y mu).
by apply: eq_bigr => x _; rewrite inj_eq.
Qed.

End Law.

(** ** Independent coordinates *)
Section Resample.
Variables (R : realFieldType) (J S : finType) (mu : J -> S -> R).
Notation state := {ffun J -> S}.

Definition put (A : Type) (X : {ffun J -> A}) (j : J) (x : A) : {ffun J -> A} :=
  [ffun i => if i == j then x else X i].

Lemma putE (A : Type) (X : {ffun J -> A}) j x : put X j x j = x.
Proof. by rewrite ffunE eqxx. Qed.

Lemma put_other (A : Type) (X : {ffun J -> A}) j x i : i != j -> put X j x i = X i.
Proof. by move=> ij; rewrite ffunE (negPf ij). Qed.

Lemma put_same (A : Type) (X : {ffun J -> A}) j : put X j (X j) = X.
Proof. by apply/ffunP => i; rewrite ffunE; case: eqP => // ->. Qed.

Lemma put_put (A : Type) (X : {ffun J -> A}) j x y : put (put X j x) j y = put X j y.
Proof. by apply/ffunP => i; rewrite !ffunE; case: eqP. Qed.

(** A coordinate that nothing else looks at may be drawn apart. *)
Lemma resample (j : J) (G : S -> state -> R) : law (mu j) ->
  (forall y Y u, G y (put Y j u) = G y Y) ->
  \sum_y mu j y * (\sum_Y product mu Y * G y Y) = \sum_Y product mu Y * G (Y j) Y.
Proof.
move=> [_ mu1] blind; under eq_bigr do rewrite mulr_sumr.
rewrite pair_bigA /=.
have weight y (Y : state) : mu j (Y j) * product mu (put Y j y) = mu j y * product mu Y.
  rewrite /product (bigD1 j) //= [in RHS](bigD1 j) //= putE mulrCA; congr (_ * (_ * _)).
  by apply: eq_bigr => i ij; rewrite put_other.
pose h (p : S * state) := (p.2 j, put p.2 j p.1).
rewrite (reindex h) /=; last first.
  by exists h => -[y Y] _; rewrite /h /= putE put_put put_same.
rewrite (eq_bigr (fun p => mu j p.1 * (product mu p.2 * G (p.2 j) p.2))) => [|[y Y] _ /=].
  rewrite -(pair_bigA _ (fun y Y => mu j y * (product mu Y * G (Y j) Y))) /=.
  by rewrite exchange_big /=; apply: eq_bigr => Y _; rewrite -mulr_suml mu1 mul1r.
by rewrite blind mulrA weight mulrA.
Qed.

End Resample.

(** ** One program for every rung *)
Section Rungs.
Variables (R : realFieldType) (ticket address : Type).
Notation program := (program ticket address).
Variable D : forall I : finType, (I -> ticket) -> I -> R.
Variables (J : finType) (A : Type).

Fixpoint each_of (f : J -> A -> program A) (s : seq J) (X : {ffun J -> A}) :
    program {ffun J -> A} :=
  if s is j :: s' then bind (f j (X j)) (fun x => each_of f s' (put X j x)) else Done X.

Definition each_rung f X := each_of f (enum J) X.

(** The rungs' programs look at their own records only, so the results are
    independent: their joint law is a product. *)
Lemma yields_each (S : finType) f (X : {ffun J -> A}) (mu : J -> S -> R) (view : S -> A) :
  (forall j, law (mu j)) -> (forall j, yields D (f j (X j)) (mu j) view) ->
  yields D (each_rung f X) (product mu) (fun Y => [ffun j => view (Y j)]).
Proof.
move=> lmu yf F; rewrite /each_rung.
suff go s (Z : {ffun J -> A}) : uniq s -> (forall j, j \in s -> Z j = X j) ->
    expect D (each_of f s Z) F =
    \sum_Y product mu Y * F [ffun j => if j \in s then view (Y j) else Z j].
  rewrite go ?enum_uniq //; apply: eq_bigr => Y _; congr (_ * F _).
  by apply/ffunP => j; rewrite !ffunE mem_enum.
elim: s Z => [|j s IH] Z /= us same.
  rewrite (eq_bigr (fun Y => product mu Y * F Z)) => [|Y _]; last first.
    by congr (_ * F _); apply/ffunP => j; rewrite ffunE.
  by rewrite -mulr_suml; have [_ ->] := law_product lmu; rewrite mul1r.
case/andP: us => js us; rewrite expect_bind same ?mem_head // yf.
pose G y (Y : {ffun J -> S}) :=
  F [ffun i => if i \in s then view (Y i) else if i == j then view y else Z i].
transitivity (\sum_y mu j y * (\sum_Y product mu Y * G y Y)).
  apply: eq_bigr => y _; congr (_ * _); rewrite IH // => [|i si].
    apply: eq_bigr => Y _; congr (_ * F _); apply/ffunP => i; rewrite !ffunE.
    by case: ifP.
  rewrite put_other ?same // ?inE ?si ?orbT //.
  by apply: contraNneq js => <-.
rewrite resample // => [|y Y u]; last first.
  congr (F _); apply/ffunP => i; rewrite !ffunE; case: ifP => // si.
  by case: eqP => // ij; rewrite ij (negPf js) in si.
apply: eq_bigr => Y _; congr (_ * F _); apply/ffunP => i; rewrite !ffunE inE.
case: (i =P j) => [->|_] //=; by rewrite (negPf js).
Qed.

End Rungs.
