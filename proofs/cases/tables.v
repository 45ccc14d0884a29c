(** * Laws and kernels as lists

    mathcomp's sums over finite types do not reduce.  Over a list that holds every
    state once, a law is the list of its values and a kernel the list of its rows;
    the operations here compute on such lists, and each is proved to be the list of
    what the operation of markov.v gives.

    - [listing s]            s holds every state of a finite type once
    - [values s mu]          mu along s;  [table s u P]  the rows of P
    - [x_act], [x_comp]      a law or a kernel, then a kernel
    - [x_unit], [x_power], [x_ordered]   the identity, P^n, W_1 W_2 ...           *)

From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Definition listing (S : finType) (s : seq S) : Prop := uniq s /\ forall x, x \in s.

Section Tables.
Variable R : realFieldType.
Implicit Types (m r : seq R) (A B : seq (seq R)).

Definition values (S : Type) (s : seq S) (mu : S -> R) : seq R := [seq mu x | x <- s].

Definition table (S U : Type) (s : seq S) (u : seq U) (P : S -> U -> R) : seq (seq R) :=
  [seq values u (P x) | x <- s].

(** Most entries of an exchange are zero, and adding zero is what costs. *)
Definition x_plus (a b : R) : R := if a == 0 then b else if b == 0 then a else a + b.
Definition x_times (a b : R) : R := if b == 0 then 0 else a * b.

Fixpoint x_add m r : seq R :=
  match m, r with
  | a :: m', b :: r' => x_plus a b :: x_add m' r'
  | _, _ => [::]
  end.

(** The law m after the kernel of rows A, which has w columns. *)
Fixpoint x_act (w : nat) m A : seq R :=
  match m, A with
  | a :: m', r :: A' =>
      if a == 0 then x_act w m' A' else x_add [seq x_times a v | v <- r] (x_act w m' A')
  | _, _ => nseq w 0
  end.

Definition x_comp (w : nat) A B : seq (seq R) := [seq x_act w r B | r <- A].

Definition x_unit (w : nat) : seq (seq R) :=
  [seq [seq (if i == j then 1 else 0) | j <- iota 0 w] | i <- iota 0 w].

Definition x_power (w n : nat) A : seq (seq R) := iter n (x_comp w A) (x_unit w).

Definition x_ordered (w : nat) (As : seq (seq (seq R))) : seq (seq R) :=
  foldr (x_comp w) (x_unit w) As.

Lemma x_plusE a b : x_plus a b = a + b.
Proof. by rewrite /x_plus; case: eqP => [->|_]; [rewrite add0r|case: eqP => [->|//]; rewrite addr0]. Qed.

Lemma x_timesE a b : x_times a b = a * b.
Proof. by rewrite /x_times; case: eqP => [->|//]; rewrite mulr0. Qed.

Lemma x_addE (S : Type) (s : seq S) (mu nu : S -> R) :
  x_add (values s mu) (values s nu) = values s (fun x => mu x + nu x).
Proof. by elim: s => //= x s IH; rewrite x_plusE IH. Qed.

Lemma eq_values (S : Type) (s : seq S) (mu nu : S -> R) :
  mu =1 nu -> values s mu = values s nu.
Proof. by move=> e; apply: eq_map. Qed.

Lemma eq_table (S U : Type) (s : seq S) (u : seq U) (P Q : S -> U -> R) :
  P =2 Q -> table s u P = table s u Q.
Proof. by move=> e; apply: eq_map => x; apply: eq_values. Qed.

Lemma sum_listing (S : finType) (s : seq S) (F : S -> R) :
  listing s -> \sum_(x <- s) F x = \sum_x F x.
Proof.
case=> us ms; rewrite -[RHS]big_enum; apply: perm_big.
by apply: uniq_perm; rewrite ?enum_uniq // => x; rewrite ms mem_enum.
Qed.

Lemma x_act_sum (S U : Type) (s : seq S) (u : seq U) (mu : S -> R) (P : S -> U -> R) :
  x_act (size u) (values s mu) (table s u P) = values u (fun y => \sum_(x <- s) mu x * P x y).
Proof.
elim: s => [|x s IH] /=.
  rewrite (@eq_values U u _ (fun=> 0)) => [|y]; last by rewrite big_nil.
  by elim: u => //= y u ->.
have e y : \sum_(z <- x :: s) mu z * P z y = mu x * P x y + \sum_(z <- s) mu z * P z y.
  by rewrite big_cons.
rewrite IH (eq_values _ e); case: eqP => [->|_].
  by apply: eq_values => y; rewrite mul0r add0r.
rewrite -x_addE; congr (x_add _ _); rewrite /values -map_comp.
by apply: eq_map => y /=; rewrite x_timesE.
Qed.

Theorem x_actE (S U : finType) (s : seq S) (u : seq U) (mu : S -> R) (P : S -> U -> R) :
  listing s -> x_act (size u) (values s mu) (table s u P) = values u (act mu P).
Proof. by move=> ls; rewrite x_act_sum; apply: eq_values => y; apply: sum_listing. Qed.

Theorem x_compE (S T U : finType) (s : seq S) (t : seq T) (u : seq U)
    (P : S -> T -> R) (Q : T -> U -> R) :
  listing t -> x_comp (size u) (table s t P) (table t u Q) = table s u (compk P Q).
Proof. by move=> lt; rewrite /x_comp /table -map_comp; apply: eq_map => x /=; apply: x_actE. Qed.

Theorem x_unitE (S : finType) (s : seq S) : uniq s -> x_unit (size s) = table s s (@idk R S).
Proof.
case: s => [//|x0 s] us; set t := x0 :: s.
have along (A : Type) (F : S -> A) : map F t = [seq F (nth x0 t i) | i <- iota 0 (size t)].
  by rewrite -{1}[t]take_size -(map_nth_iota0 x0) // -map_comp.
rewrite /x_unit; apply: etrans _ (esym (along _ _)); apply/eq_in_map => i; rewrite mem_iota add0n => /andP[_ it].
rewrite /values; apply: etrans _ (esym (along _ _)); apply/eq_in_map => j; rewrite mem_iota add0n => /andP[_ jt].
by rewrite /idk nth_uniq //; case: eqP.
Qed.

Theorem x_powerE (S : finType) (s : seq S) (n : nat) (P : S -> S -> R) :
  listing s -> x_power (size s) n (table s s P) = table s s (iterk n P).
Proof.
move=> ls; elim: n => [|n IH]; first by apply: x_unitE; case: ls.
by rewrite /x_power iterS -/(x_power _ _ _) IH x_compE.
Qed.

Theorem x_orderedE (S : finType) (s : seq S) (J : Type) (js : seq J) (W : J -> S -> S -> R) :
  listing s -> x_ordered (size s) [seq table s s (W j) | j <- js] = table s s (ordered js W).
Proof.
move=> ls; elim: js => [|j js IH]; first by apply: x_unitE; case: ls.
by rewrite /= -/(x_ordered _ _) IH x_compE.
Qed.

End Tables.
