(** * Laws and Markov kernels on finite sets, invariance and reversibility

    [law], [kernel], [act], [compk], [idk], [iterk], [ordered], [run], [invariant],
    [reversible], [mixk], [dirac]: see markov.v for the list.                    *)

From mathcomp Require Import all_ssreflect all_algebra.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Kernels.
Variable R : realFieldType.
Implicit Types S T U J : finType.

Definition law S (mu : S -> R) : Prop :=
  (forall x, 0 <= mu x) /\ \sum_x mu x = 1.

Definition kernel S T (P : S -> T -> R) : Prop := forall x, law (P x).

Definition act S T (mu : S -> R) (P : S -> T -> R) : T -> R :=
  fun y => \sum_x mu x * P x y.

Definition compk S T U (P : S -> T -> R) (Q : T -> U -> R) : S -> U -> R :=
  fun x => act (P x) Q.

Definition idk S : S -> S -> R := fun x y => (x == y)%:R.

Definition iterk S (n : nat) (P : S -> S -> R) : S -> S -> R :=
  iter n (compk P) (@idk S).

Definition run S (n : nat) (mu : S -> R) (P : S -> S -> R) : S -> R :=
  iter n (fun nu => act nu P) mu.

Definition ordered S (J : Type) (s : seq J) (W : J -> S -> S -> R) : S -> S -> R :=
  foldr (fun j Q => compk (W j) Q) (@idk S) s.

Definition invariant S (mu : S -> R) (P : S -> S -> R) : Prop := act mu P =1 mu.

Definition reversible S (mu : S -> R) (P : S -> S -> R) : Prop :=
  forall x y, mu x * P x y = mu y * P y x.

Definition mixk S T J (w : J -> R) (P : J -> S -> T -> R) : S -> T -> R :=
  fun x y => \sum_j w j * P j x y.

Definition dirac S (a : S) : S -> R := idk a.

(** ** Laws and their images *)

Lemma law_le1 S (mu : S -> R) x : law mu -> mu x <= 1.
Proof.
case=> mu0 mu1; rewrite -mu1 (bigD1 x) //= ler_addl.
exact: sumr_ge0.
Qed.

Lemma law_ext S (mu nu : S -> R) : mu =1 nu -> law mu -> law nu.
Proof.
move=> e [mu0 mu1]; split=> [x|]; first by rewrite -e.
by rewrite -mu1; apply: eq_bigr.
Qed.

Lemma law_act S T (mu : S -> R) (P : S -> T -> R) :
  law mu -> kernel P -> law (act mu P).
Proof.
case=> mu0 mu1 kP; split=> [y|].
  by apply: sumr_ge0 => x _; apply: mulr_ge0 => //; case: (kP x).
rewrite exchange_big /= -mu1; apply: eq_bigr => x _.
by rewrite -mulr_sumr; case: (kP x) => _ ->; rewrite mulr1.
Qed.

Lemma sum_idk S (x : S) (F : S -> R) : \sum_y F y * idk y x = F x.
Proof.
rewrite (bigD1 x) //= /idk eqxx mulr1 big1 ?addr0 // => y yx.
by rewrite (negPf yx) mulr0.
Qed.

Lemma sum_idkl S (x : S) (F : S -> R) : \sum_y idk x y * F y = F x.
Proof.
rewrite (bigD1 x) //= /idk eqxx mul1r big1 ?addr0 // => y yx.
by rewrite eq_sym (negPf yx) mul0r.
Qed.

Lemma kernel_idk S : kernel (@idk S).
Proof.
move=> x; split=> [y|]; first exact: ler0n.
by rewrite -[RHS](sum_idkl x (fun=> 1)); apply: eq_bigr => y _; rewrite mulr1.
Qed.

Lemma law_dirac S (a : S) : law (dirac a).
Proof. exact: kernel_idk. Qed.

Lemma kernel_compk S T U (P : S -> T -> R) (Q : T -> U -> R) :
  kernel P -> kernel Q -> kernel (compk P Q).
Proof. by move=> kP kQ x; apply: law_act. Qed.

Lemma kernel_iterk S n (P : S -> S -> R) : kernel P -> kernel (iterk n P).
Proof.
move=> kP; elim: n => [|n IH]; first exact: kernel_idk.
exact: kernel_compk.
Qed.

Lemma kernel_ordered S (J : eqType) (s : seq J) (W : J -> S -> S -> R) :
  (forall j, j \in s -> kernel (W j)) -> kernel (ordered s W).
Proof.
elim: s => [|j s IH] kW; first exact: kernel_idk.
apply: kernel_compk; first by apply: kW; rewrite mem_head.
by apply: IH => i si; apply: kW; rewrite inE si orbT.
Qed.

Lemma kernel_mixk S T J (w : J -> R) (P : J -> S -> T -> R) :
  law w -> (forall j, kernel (P j)) -> kernel (mixk w P).
Proof.
case=> w0 w1 kP x; split=> [y|].
  by apply: sumr_ge0 => j _; apply: mulr_ge0 => //; case: (kP j x).
rewrite exchange_big /= -w1; apply: eq_bigr => j _.
by rewrite -mulr_sumr; case: (kP j x) => _ ->; rewrite mulr1.
Qed.

Lemma act_ext S T (mu nu : S -> R) (P Q : S -> T -> R) :
  mu =1 nu -> P =2 Q -> act mu P =1 act nu Q.
Proof. by move=> e1 e2 y; apply: eq_bigr => x _; rewrite e1 e2. Qed.

Lemma act_compk S T U (mu : S -> R) (P : S -> T -> R) (Q : T -> U -> R) :
  act mu (compk P Q) =1 act (act mu P) Q.
Proof.
move=> z; rewrite /act /compk /act.
under eq_bigr do rewrite mulr_sumr.
rewrite exchange_big /=; apply: eq_bigr => y _.
by rewrite mulr_suml; apply: eq_bigr => x _; rewrite mulrA.
Qed.

Lemma compk_ext S T U (P P' : S -> T -> R) (Q Q' : T -> U -> R) :
  P =2 P' -> Q =2 Q' -> compk P Q =2 compk P' Q'.
Proof. by move=> eP eQ x; apply: act_ext => // y; apply: eP. Qed.

Lemma act_idk S (mu : S -> R) : act mu (@idk S) =1 mu.
Proof. by move=> y; rewrite /act sum_idk. Qed.

Lemma act_iterk S n (mu : S -> R) (P : S -> S -> R) :
  act mu (iterk n P) =1 run n mu P.
Proof.
elim: n mu => [|n IH] mu y; first exact: act_idk.
by rewrite act_compk IH /run -iterSr.
Qed.

Lemma runS S n (mu : S -> R) (P : S -> S -> R) :
  run n.+1 mu P = act (run n mu P) P.
Proof. by []. Qed.

Lemma law_run S n (mu : S -> R) (P : S -> S -> R) :
  law mu -> kernel P -> law (run n mu P).
Proof. by move=> lmu kP; elim: n => [|n IH] //=; apply: law_act. Qed.

(** ** Invariance and reversibility *)

Lemma reversible_invariant S (mu : S -> R) (P : S -> S -> R) :
  kernel P -> reversible mu P -> invariant mu P.
Proof.
move=> kP rev y; rewrite /act.
under eq_bigr do rewrite rev.
by rewrite -mulr_sumr; case: (kP y) => _ ->; rewrite mulr1.
Qed.

Lemma invariant_idk S (mu : S -> R) : invariant mu (@idk S).
Proof. exact: act_idk. Qed.

Lemma invariant_compk S (mu : S -> R) (P Q : S -> S -> R) :
  invariant mu P -> invariant mu Q -> invariant mu (compk P Q).
Proof.
move=> iP iQ y; rewrite act_compk.
by rewrite (act_ext iP (fun _ _ => erefl)) iQ.
Qed.

Lemma invariant_iterk S n (mu : S -> R) (P : S -> S -> R) :
  invariant mu P -> invariant mu (iterk n P).
Proof.
move=> iP; elim: n => [|n IH]; first exact: invariant_idk.
exact: invariant_compk.
Qed.

Lemma invariant_ordered S (J : eqType) (s : seq J) (W : J -> S -> S -> R) mu :
  (forall j, j \in s -> invariant mu (W j)) -> invariant mu (ordered s W).
Proof.
elim: s => [|j s IH] iW; first exact: invariant_idk.
apply: invariant_compk; first by apply: iW; rewrite mem_head.
by apply: IH => i si; apply: iW; rewrite inE si orbT.
Qed.

Lemma invariant_mixk S J (w : J -> R) (P : J -> S -> S -> R) (mu : S -> R) :
  law w -> (forall j, invariant mu (P j)) -> invariant mu (mixk w P).
Proof.
case=> _ w1 iP y; rewrite /act /mixk.
under eq_bigr do rewrite mulr_sumr.
rewrite exchange_big /= -[RHS]mul1r -w1 mulr_suml.
apply: eq_bigr => j _; rewrite -(iP j y) /act mulr_sumr.
by apply: eq_bigr => x _; rewrite mulrCA.
Qed.

Lemma reversible_mixk S J (w : J -> R) (P : J -> S -> S -> R) (mu : S -> R) :
  (forall j, reversible mu (P j)) -> reversible mu (mixk w P).
Proof.
move=> rP x y; rewrite /mixk !mulr_sumr; apply: eq_bigr => j _.
by rewrite mulrCA rP mulrCA.
Qed.

Lemma invariant_ext S (mu : S -> R) (P Q : S -> S -> R) :
  P =2 Q -> invariant mu P -> invariant mu Q.
Proof.
by move=> e iP y; rewrite -[RHS]iP; apply: eq_bigr => x _; rewrite e.
Qed.

Lemma run_invariant S n (mu : S -> R) (P : S -> S -> R) :
  invariant mu P -> run n mu P =1 mu.
Proof. by move=> iP y; rewrite -act_iterk; apply: invariant_iterk. Qed.

End Kernels.
