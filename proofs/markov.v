(** * Finite laws and Markov kernels over an ordered field

    Everything here is a plain function into a [realFieldType]; equality of laws
    is pointwise ([=1]), so no axiom is needed.  Kernels act on laws from the
    right, as in the paper.

    Interface
    - [law mu]                 mu is a probability law on the finType S
    - [kernel P]               every row of P : S -> T -> R is a law
    - [act mu P]               the law mu P
    - [compk P Q]              P then Q;  [idk] the identity;  [iterk n P] = P^n
    - [ordered s W]            W_{s_1} W_{s_2} ..., the first of s applied first
    - [run n mu P]             mu P^n
    - [invariant mu P]         mu P =1 mu;   [reversible mu P] detailed balance
    - [mixk w P]               the mixture sum_j w_j P_j
    - [prob mu A]              mu(A);  [tv mu nu] total variation, half the l1 norm
    - [accept pi q x y], [mh pi q]   Metropolis-Hastings with target pi, proposal q
    - [product pi], [prodk L]  product law and product kernel on {ffun I -> S}
    - [marginal i mu]          the marginal of a joint law at rung i            *)

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

(** ** Total variation *)

Definition prob S (mu : S -> R) (A : pred S) : R := \sum_(x | A x) mu x.

Definition tv S (mu nu : S -> R) : R := 2%:R^-1 * \sum_x `|mu x - nu x|.

Lemma tv_ge0 S (mu nu : S -> R) : 0 <= tv mu nu.
Proof. by rewrite mulr_ge0 ?invr_ge0 ?ler0n // sumr_ge0. Qed.

Lemma tv_sym S (mu nu : S -> R) : tv mu nu = tv nu mu.
Proof. by congr (_ * _); apply: eq_bigr => x _; rewrite distrC. Qed.

Lemma tv_ext S (mu mu' nu nu' : S -> R) :
  mu =1 mu' -> nu =1 nu' -> tv mu nu = tv mu' nu'.
Proof. by move=> e1 e2; congr (_ * _); apply: eq_bigr => x _; rewrite e1 e2. Qed.

Lemma tv_refl S (mu : S -> R) : tv mu mu = 0.
Proof. by rewrite /tv big1 ?mulr0 // => x _; rewrite subrr normr0. Qed.

Lemma tv_triangle S (mu nu xi : S -> R) : tv mu xi <= tv mu nu + tv nu xi.
Proof.
rewrite /tv -mulrDr ler_wpmul2l ?invr_ge0 ?ler0n // -big_split /=.
by apply: ler_sum => x _; apply: ler_dist_add.
Qed.

Lemma tv_eq0 S (mu nu : S -> R) : tv mu nu = 0 -> mu =1 nu.
Proof.
move/eqP; rewrite mulf_eq0 invr_eq0 pnatr_eq0 /= psumr_eq0 // => /allP h x.
by apply/eqP; rewrite -subr_eq0 -normr_eq0; apply: h; rewrite mem_index_enum.
Qed.

(** A kernel never increases total variation. *)
Lemma tv_act_le S T (mu nu : S -> R) (P : S -> T -> R) :
  kernel P -> tv (act mu P) (act nu P) <= tv mu nu.
Proof.
move=> kP; rewrite /tv ler_wpmul2l ?invr_ge0 ?ler0n //.
apply: (@le_trans _ _ (\sum_y \sum_x `|mu x - nu x| * P x y)).
  apply: ler_sum => y _; rewrite /act -sumrB.
  apply: le_trans (ler_norm_sum _ _ _) _; apply: ler_sum => x _.
  by rewrite -mulrBl normrM (ger0_norm (proj1 (kP x) y)).
rewrite exchange_big /=; apply: ler_sum => x _.
by rewrite -mulr_sumr; case: (kP x) => _ ->; rewrite mulr1.
Qed.

Lemma tv_run_le S n (mu nu : S -> R) (P : S -> S -> R) :
  kernel P -> tv (run n mu P) (run n nu P) <= tv mu nu.
Proof.
move=> kP; elim: n => [|n IH] //.
by rewrite !runS; apply: le_trans (tv_act_le _ _ kP) IH.
Qed.

Lemma probC S (mu : S -> R) (A : pred S) :
  law mu -> prob mu (predC A) = 1 - prob mu A.
Proof.
by case=> _ <-; rewrite /prob [\sum_x _](bigID A) /= addrAC subrr add0r.
Qed.

Lemma prob_ge0 S (mu : S -> R) (A : pred S) : law mu -> 0 <= prob mu A.
Proof. by case=> mu0 _; apply: sumr_ge0. Qed.

Lemma prob_le1 S (mu : S -> R) (A : pred S) : law mu -> prob mu A <= 1.
Proof. by move=> lmu; rewrite -subr_ge0 -probC // prob_ge0. Qed.

(** The difference of the masses of any event is at most the total variation. *)
Lemma tv_event S (mu nu : S -> R) (A : pred S) :
  law mu -> law nu -> `|prob mu A - prob nu A| <= tv mu nu.
Proof.
move=> lmu lnu; set d := prob mu A - prob nu A.
have dA : d = \sum_(x | A x) (mu x - nu x) by rewrite sumrB.
have dC : - d = \sum_(x | ~~ A x) (mu x - nu x).
  rewrite sumrB -!/(prob _ (predC A)) !probC // /d !opprB.
  by rewrite [RHS]addrC addrA subrK.
have h : `|d| + `|d| <= \sum_x `|mu x - nu x|.
  rewrite [\sum_x _](bigID A) /= -{2}normrN dC dA.
  by apply: ler_add; apply: ler_norm_sum.
rewrite /tv -(ler_pmul2l (_ : 0 < 2%:R :> R)) ?ltr0n //.
by rewrite mulrA mulfV ?pnatr_eq0 // mul1r mulr_natl mulr2n.
Qed.

(** ... and the event where mu exceeds nu attains it. *)
Lemma tv_attained S (mu nu : S -> R) :
  law mu -> law nu ->
  tv mu nu = prob mu (fun x => nu x <= mu x) - prob nu (fun x => nu x <= mu x).
Proof.
move=> lmu lnu; set A := fun x => nu x <= mu x.
set d := prob mu A - prob nu A.
have dA : \sum_(x | A x) `|mu x - nu x| = d.
  rewrite /d /prob -sumrB; apply: eq_bigr => x Ax.
  by rewrite ger0_norm // subr_ge0.
have dC : \sum_(x | ~~ A x) `|mu x - nu x| = d.
  have -> : d = prob nu (predC A) - prob mu (predC A).
    by rewrite !probC // opprB [RHS]addrC addrA subrK.
  rewrite /prob -sumrB; apply: eq_bigr => x /= nAx.
  by rewrite ltr0_norm ?opprB // subr_lt0 ltNge.
rewrite /tv (bigID A) /= dA dC (_ : d + d = 2%:R * d).
  by rewrite mulrA mulVf ?mul1r // pnatr_eq0.
by rewrite mulr_natl mulr2n.
Qed.

(** ** Metropolis-Hastings *)

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

(** ** Products over rungs *)

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
Proof. by move=> X; apply: (kernel_idk (X i)). Qed.

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

End Kernels.
