(** * Sums that have no order

    Rows of whole numbers X (inputs) and W (weights) whose squares add up to at most
    2^32 - 1 and 2^30 - 1: by Cauchy-Schwarz no sum of products X_i W_i over any of the
    places leaves 32 bits.  So a machine whose additions wrap at 32 bits has the exact
    sum, whatever the order, the grouping, and the limbs that it multiplies.

    - [wrap z]          z as 32-bit two's complement: what a register holds of it
    - [order I]         a way of adding: a tree with a place of I at each leaf
    - [added_by_machine term o]  the sum by o, wrapped at every addition
    - [any_order]       that is the exact sum, by every tree that takes no place twice
    - [any_limbs]       so is what products of limbs give, put together modulo 2^32
    - [any_order_of_values], [weights_sum]  the same for attention's sums
    - [doubled_rounds_no_smaller]  a larger exponent never fits where a smaller one does not *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** ** 32 bits *)
Definition wrap (z : int) : int := ((z + 2 ^+ 31) %% 2 ^+ 32)%Z - 2 ^+ 31.

(** The powers stay letters in these proofs: no proof may compute 2^32 in unary. *)
Section Wrap.
Variables half whole : int.
Hypothesis half_half : half + half = whole.
Let wrapped (z : int) : int := ((z + half) %% whole)%Z - half.

Let wrapped_fits z : `|z| < half -> wrapped z = z.
Proof.
rewrite ltr_norml => /andP[lo hi]; rewrite /wrapped modz_small ?addrK //.
by rewrite -ler_subl_addr sub0r (ltW lo) -half_half ltr_add2r hi.
Qed.

Let wrapped_same y z : (y = z %[mod whole])%Z -> wrapped y = wrapped z.
Proof. by move=> yz; rewrite /wrapped -modzDml yz modzDml. Qed.

Let wrappedE z : (wrapped z = z %[mod whole])%Z.
Proof. by rewrite /wrapped modzDml addrK. Qed.

Lemma wrap_facts : [/\ forall z, `|z| < half -> wrapped z = z,
  forall y z, (y = z %[mod whole])%Z -> wrapped y = wrapped z
  & forall z, (wrapped z = z %[mod whole])%Z].
Proof. by split; [exact: wrapped_fits | exact: wrapped_same | exact: wrappedE]. Qed.
End Wrap.

Lemma pow31_pow32 : 2 ^+ 31 + 2 ^+ 31 = 2 ^+ 32 :> int.
Proof. by rewrite [in RHS]exprS mulrDl mul1r. Qed.

Lemma wrap_fits z : `|z| < 2 ^+ 31 -> wrap z = z.
Proof. by case: (wrap_facts pow31_pow32) => fits _ _; apply: fits. Qed.

Lemma wrap_same y z : (y = z %[mod 2 ^+ 32])%Z -> wrap y = wrap z.
Proof. by case: (wrap_facts pow31_pow32) => _ same _; apply: same. Qed.

Lemma wrapE z : (wrap z = z %[mod 2 ^+ 32])%Z.
Proof. by case: (wrap_facts pow31_pow32) => _ _ e; apply: e. Qed.

Lemma wrap_add y z : wrap (wrap y + wrap z) = wrap (y + z).
Proof. by apply: wrap_same; rewrite -modzDm (wrapE y) (wrapE z) modzDm. Qed.

(** ** Orders of adding *)
Inductive order (I : Type) := Nothing | Place of I | Both of order I & order I.
Arguments Nothing {I}.

Section Orders.
Variable I : finType.

Fixpoint places (o : order I) : seq I :=
  match o with Nothing => [::] | Place i => [:: i] | Both l r => places l ++ places r end.

Variable term : I -> int.

Fixpoint added_by_machine (o : order I) : int :=
  match o with
  | Nothing => 0
  | Place i => wrap (term i)
  | Both l r => wrap (added_by_machine l + added_by_machine r)
  end.

Lemma added_wraps o : added_by_machine o = wrap (\sum_(i <- places o) term i).
Proof.
elim: o => [|i|l IHl r IHr] /=; first by rewrite big_nil wrap_fits // normr0 exprn_gt0.
  by rewrite big_seq1.
by rewrite IHl IHr wrap_add big_cat.
Qed.

(** Where no sum over any places leaves 32 bits, every order is exact. *)
Lemma exact_in_any_order o :
  (forall S : {set I}, `|\sum_(i in S) term i| < 2 ^+ 31) -> uniq (places o) ->
  added_by_machine o = \sum_(i in places o) term i.
Proof.
move=> fits u; rewrite added_wraps big_uniq // wrap_fits //.
by have := fits [set i in places o]; under eq_bigl do rewrite inE.
Qed.

End Orders.

(** ** Products *)
Lemma cauchy_schwarz (R : realDomainType) (I : finType) (S : {set I}) (x y : I -> R) :
  (\sum_(i in S) x i * y i) ^+ 2 <= (\sum_(i in S) x i ^+ 2) * (\sum_(i in S) y i ^+ 2).
Proof.
set xx := \sum_(i in S) x i ^+ 2; set yy := \sum_(i in S) y i ^+ 2; set xy := \sum_(i in S) _.
suff lagrange : \sum_(i in S) \sum_(j in S) (x i * y j - x j * y i) ^+ 2 = (xx * yy - xy ^+ 2) *+ 2.
  have : 0 <= (xx * yy - xy ^+ 2) *+ 2.
    by rewrite -lagrange; apply: sumr_ge0 => i _; apply: sumr_ge0 => j _; apply: sqr_ge0.
  by rewrite pmulrn_lge0 // subr_ge0.
have one i : \sum_(j in S) (x i * y j - x j * y i) ^+ 2 =
    x i ^+ 2 * yy + y i ^+ 2 * xx - (x i * y i * xy) *+ 2.
  rewrite /xx /yy /xy !mulr_sumr -sumrMnl -big_split -sumrB /=.
  apply: eq_bigr => j _; rewrite sqrrB !exprMn addrAC [x j ^+ 2 * _]mulrC.
  by rewrite [x i * y j * _]mulrACA [y j * y i]mulrC mulrACA.
rewrite (eq_bigr _ (fun i _ => one i)) sumrB big_split /= sumrMnl -!mulr_suml -/xx -/yy -/xy.
by rewrite [yy * xx]mulrC -mulr2n mulrnBl expr2.
Qed.

Lemma below_product (s xx ww a b c : int) :
  s ^+ 2 <= xx * ww -> 0 <= xx <= a - 1 -> 0 <= ww <= b - 1 -> a * b = c ^+ 2 -> 0 < a -> 0 < b -> 0 < c ->
  `|s| < c.
Proof.
move=> sq /andP[x0 xa] /andP[w0 wb] abc a0 b0 c0.
rewrite -(ltr_pexpn2r (ltn0Sn 1)) ?nnegrE ?normr_ge0 ?(ltW c0) // real_normK ?num_real // -abc.
apply: le_lt_trans sq _; apply: (@le_lt_trans _ _ ((a - 1) * b)).
  by apply: ler_pmul => //; apply: le_trans wb _; rewrite ler_subl_addr ler_addl.
by rewrite ltr_pmul2r // ltr_subl_addr ltr_addl.
Qed.

Lemma powers_of_bounds : 2 ^+ 32 * 2 ^+ 30 = (2 ^+ 31) ^+ 2 :> int.
Proof. by rewrite -exprD -exprM. Qed.

Section Products.
Variables (I : finType) (X W : I -> int).
Hypothesis inputs : \sum_i X i ^+ 2 <= 2 ^+ 32 - 1.
Hypothesis weights : \sum_i W i ^+ 2 <= 2 ^+ 30 - 1.

Lemma fewer_squares (S : {set I}) (Y : I -> int) : \sum_(i in S) Y i ^+ 2 <= \sum_i Y i ^+ 2.
Proof. by rewrite big_mkcond ler_sum // => i _; case: ifP => // _; rewrite sqr_ge0. Qed.

Theorem any_places_fit (S : {set I}) : `|\sum_(i in S) X i * W i| < 2 ^+ 31.
Proof.
have squares (Y : I -> int) B : \sum_i Y i ^+ 2 <= B -> 0 <= \sum_(i in S) Y i ^+ 2 <= B.
  move=> YB; rewrite (le_trans (fewer_squares S Y) YB) andbT.
  by apply: sumr_ge0 => i _; apply: sqr_ge0.
have p n : 0 < 2 ^+ n :> int by apply: exprn_gt0.
exact: (below_product (cauchy_schwarz S X W) (squares _ _ inputs) (squares _ _ weights)
  powers_of_bounds (p _) (p _) (p _)).
Qed.

(** Every order, every grouping, every part of a sum. *)
Theorem any_order (o : order I) : uniq (places o) ->
  added_by_machine (fun i => X i * W i) o = \sum_(i in places o) X i * W i.
Proof. by move=> u; apply: exact_in_any_order => // S; apply: any_places_fit. Qed.

(** A whole row: an order that leaves out no place. *)
Corollary any_order_of_a_row (o : order I) : uniq (places o) -> (forall i, i \in places o) ->
  added_by_machine (fun i => X i * W i) o = \sum_i X i * W i.
Proof. by move=> u all; rewrite any_order //; apply: eq_bigl => i; rewrite all. Qed.

(** Any limbs: each product of limbs is added up by an order of its own, wrapping, then multiplied
    by the places' values [b k * c l], and the m * n results are added by an order of their own. *)
Theorem any_limbs (m n : nat) (b : 'I_m -> int) (c : 'I_n -> int)
    (x : 'I_m -> I -> int) (w : 'I_n -> I -> int)
    (inner : 'I_m * 'I_n -> order I) (outer : order ('I_m * 'I_n)%type) :
  (forall i, X i = \sum_k b k * x k i) -> (forall i, W i = \sum_l c l * w l i) ->
  (forall kl, uniq (places (inner kl)) /\ forall i, i \in places (inner kl)) ->
  uniq (places outer) -> (forall kl, kl \in places outer) ->
  added_by_machine (fun kl => b kl.1 * c kl.2 *
      added_by_machine (fun i => x kl.1 i * w kl.2 i) (inner kl)) outer = \sum_i X i * W i.
Proof.
move=> Xx Ww each u all; rewrite added_wraps big_uniq // (eq_bigl predT) => [|kl]; last by rewrite all.
have fits : `|\sum_i X i * W i| < 2 ^+ 31.
  by have := any_places_fit setT; rewrite (eq_bigl predT) // => i; rewrite inE.
rewrite -[RHS]wrap_fits //; apply: wrap_same.
have exact : \sum_i X i * W i = \sum_(kl : 'I_m * 'I_n) b kl.1 * c kl.2 * \sum_i x kl.1 i * w kl.2 i.
  rewrite -(pair_bigA _ (fun k l => b k * c l * \sum_i x k i * w l i)) /=.
  under [RHS]eq_bigr do under eq_bigr do rewrite mulr_sumr.
  under [RHS]eq_bigr do rewrite exchange_big /=.
  rewrite exchange_big; apply: eq_bigr => i _; rewrite Xx Ww mulr_suml; apply: eq_bigr => k _.
  by rewrite mulr_sumr; apply: eq_bigr => l _; rewrite mulrACA.
rewrite exact; apply: (big_ind2 (fun y z => (y = z %[mod 2 ^+ 32])%Z)) => // [y1 y2 z1 z2 e1 e2|kl _].
  by rewrite -modzDm e1 e2 modzDm.
have [uk allk] := each kl; rewrite added_wraps big_uniq // (eq_bigl predT) => [|i]; last by rewrite allk.
by rewrite -modzMmr wrapE modzMmr.
Qed.

End Products.

Lemma same_sum m x x' y y' : (x = x' %[mod m])%Z -> (y = y' %[mod m])%Z -> (x + y = x' + y' %[mod m])%Z.
Proof. by move=> xx yy; rewrite -modzDm xx yy modzDm. Qed.

Lemma same_product m a x x' : (x = x' %[mod m])%Z -> (a * x = a * x' %[mod m])%Z.
Proof. by move=> xx; rewrite -modzMmr xx modzMmr. Qed.

Lemma limbs_multiplied (I : finType) (b : int) (X W xh xl wh wl : I -> int) :
  (forall i, X i = b * xh i + xl i) -> (forall i, W i = b * wh i + wl i) ->
  \sum_i X i * W i = b * b * (\sum_i xh i * wh i) + b * (\sum_i xh i * wl i)
    + b * (\sum_i xl i * wh i) + \sum_i xl i * wl i.
Proof.
move=> Xx Ww; rewrite !mulr_sumr -!big_split; apply: eq_bigr => i _ /=; rewrite Xx Ww.
by rewrite mulrDl !mulrDr addrA mulrACA -[b * xh i * wl i]mulrA [xl i * (b * _)]mulrCA.
Qed.

(** Two limbs of eight bits, four products: what AMX and integer tensor cores do. *)
Corollary four_products (I : finType) (X W xh xl wh wl : I -> int) :
  \sum_i X i ^+ 2 <= 2 ^+ 32 - 1 -> \sum_i W i ^+ 2 <= 2 ^+ 30 - 1 ->
  (forall i, X i = 2 ^+ 8 * xh i + xl i) -> (forall i, W i = 2 ^+ 8 * wh i + wl i) ->
  wrap (2 ^+ 8 * 2 ^+ 8 * wrap (\sum_i xh i * wh i)
        + 2 ^+ 8 * wrap (\sum_i xh i * wl i) + 2 ^+ 8 * wrap (\sum_i xl i * wh i)
        + wrap (\sum_i xl i * wl i)) = \sum_i X i * W i.
Proof.
move=> inputs weights Xx Ww.
have fits : `|\sum_i X i * W i| < 2 ^+ 31.
  by have := any_places_fit inputs weights setT; rewrite (eq_bigl predT) // => i; rewrite inE.
rewrite -[RHS]wrap_fits //; apply: wrap_same; rewrite (limbs_multiplied Xx Ww).
have part a x := same_product a (wrapE x).
exact: same_sum (same_sum (same_sum (part _ _) (part _ _)) (part _ _)) (wrapE _).
Qed.

(** ** Attention: weights of a split's positions times whole numbers of 16 bits *)
Lemma values_below (I : finType) (p : I -> nat) (v : I -> int) (a b c : int) (S : {set I}) :
  \sum_i (p i)%:Z <= a -> (forall i, `|v i| <= b - 1) -> a * b = c -> 0 < a -> 1 <= b ->
  `|\sum_(i in S) (p i)%:Z * v i| < c.
Proof.
move=> pa vb <- a0 b1; have b0 : 0 <= b - 1 by rewrite subr_ge0.
apply: le_lt_trans (ler_norm_sum _ _ _) _; apply: (@le_lt_trans _ _ ((\sum_i (p i)%:Z) * (b - 1))).
  rewrite mulr_suml big_mkcond ler_sum // => i _; case: ifP => _; last exact: mulr_ge0.
  by rewrite normrM ler_wpmul2l.
apply: le_lt_trans (ler_wpmul2r b0 pa) _.
by rewrite ltr_pmul2l // ltr_subl_addr ltr_addl.
Qed.

Lemma powers_of_values : 2 ^+ 16 * 2 ^+ 15 = 2 ^+ 31 :> int.
Proof. by rewrite -exprD. Qed.

Section Values.
Variables (I : finType) (p : I -> nat) (v : I -> int).
Hypothesis share : \sum_i (p i)%:Z <= 2 ^+ 16.
Hypothesis values : forall i, `|v i| <= 2 ^+ 15 - 1.

Theorem any_values_fit (S : {set I}) : `|\sum_(i in S) (p i)%:Z * v i| < 2 ^+ 31.
Proof.
have pos n : 0 < 2 ^+ n :> int by apply: exprn_gt0.
exact: (values_below S share values powers_of_values (pos _) (exprn_ege1 _ _)).
Qed.

Theorem any_order_of_values (o : order I) : uniq (places o) ->
  added_by_machine (fun i => (p i)%:Z * v i) o = \sum_(i in places o) (p i)%:Z * v i.
Proof. by move=> u; apply: exact_in_any_order => // S; apply: any_values_fit. Qed.

End Values.

(** 256 weights that are within 1/2 of shares add up to at most 128 more than the shares. *)
Theorem weights_sum (R : realFieldType) (I : finType) (p : I -> nat) (a : I -> R) :
  (#|I| <= 256)%N -> (forall i, (p i)%:R <= a i + 2%:R^-1) ->
  (\sum_i p i)%:R <= \sum_i a i + 128%:R.
Proof.
move=> few near; rewrite natr_sum; apply: le_trans (ler_sum _ (fun i _ => near i)) _.
rewrite big_split /= ler_add2l sumr_const -[X in X <= _]mulr_natr.
rewrite ler_pdivr_mull ?ltr0n // -natrM ler_nat; exact: few.
Qed.

(** ** The exponent
    Rounding twice a number gives no smaller whole number than rounding it, whatever is done with
    ties.  So where an exponent fits every smaller one does, and a search from either side ends at
    the same largest one. *)
Theorem doubled_rounds_no_smaller (R : realFieldType) (z : R) (k l : int) :
  `|z - k%:~R| <= 2%:R^-1 -> `|2%:R * z - l%:~R| <= 2%:R^-1 -> `|k| <= `|l|.
Proof.
move=> kz lz; have [->|k0] := eqVneq k 0; first by rewrite normr0.
have half : 2%:R^-1 + 2%:R^-1 = 1 :> R by rewrite -mulr2n -[LHS]mulr_natl mulfV // pnatr_eq0.
have k1 : 1 <= `|k%:~R| :> R by rewrite -intr_norm ler1z -gtz0_ge1 normr_gt0.
have zk : `|k%:~R| <= `|z| + 2%:R^-1 :> R.
  rewrite -ler_subl_addl; apply: le_trans kz; rewrite distrC; exact: ler_sub_dist.
have zl : `|z| + `|z| <= `|l%:~R| + 2%:R^-1 :> R.
  have -> : `|z| + `|z| = `|2%:R * z| by rewrite normrM normr_nat mulr_natl mulr2n.
  by rewrite -ler_subl_addl; apply: le_trans lz; apply: ler_sub_dist.
have zhalf : 2%:R^-1 <= `|z| by rewrite -(ler_add2r 2%:R^-1) half; apply: le_trans zk.
have less : `|k%:~R| < `|l%:~R| + 1 :> R.
  apply: le_lt_trans zk _; rewrite -[X in _ < _ + X]half addrA ltr_add2r; apply: lt_le_trans zl.
  by rewrite ltr_addl; apply: lt_le_trans zhalf; rewrite invr_gt0 ltr0n.
by move: less; rewrite -!intr_norm -[X in _ < _ + X]mulr1z -intrD ltr_int ltz_addr1.
Qed.
