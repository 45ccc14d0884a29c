(** The arithmetic and the geometric ladder (cor:arithmetic-geometric-ladders). *)
From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import tempera_field ladder.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Templates.
Variables (R : realFieldType) (n : nat) (lo hi : R) (A : R -> R).
Add Field template_field : (field_theory_of R).
Local Notation K := n.+1.
Hypothesis n_positive : (0 < n)%N.
Hypothesis lo_lt_hi : lo < hi.
Hypothesis A_decreasing : forall s t, 0 <= s -> s < t -> A t < A s.

Let n_neq0 : n%:R != 0 :> R. Proof. by rewrite pnatr_eq0 -lt0n. Qed.
Let n_gt0 : 0 < n%:R :> R. Proof. by rewrite ltr0n. Qed.

(** alpha_1 + (k-1)/(K-1) (alpha_K - alpha_1). *)
Definition arithmetic (k : nat) : R := lo + (k - 1)%:R / (K - 1)%:R * (hi - lo).

Section Arithmetic.
Variable sigma0 : R.
Hypothesis sigma0_positive : 0 < sigma0.

(** The length of a constant sigma. *)
Definition constant_length (x y : R) : R := sigma0 * (y - x).

Let additive x y z : lo <= x -> x <= y -> y <= z -> z <= hi ->
  constant_length x z = constant_length x y + constant_length y z.
Proof. by move=> *; rewrite /constant_length -mulrDr [y - x + _]addrC addrA subrK. Qed.

Let positive x y : lo <= x -> x < y -> y <= hi -> 0 < constant_length x y.
Proof. by move=> _ xy _; rewrite mulr_gt0 // subr_gt0. Qed.

Lemma arithmetic_step k : (0 < k)%N ->
  arithmetic k.+1 - arithmetic k = (hi - lo) / n%:R.
Proof.
case: k => // k _; rewrite /arithmetic !subn1 /= mulrS.
by to_field R; field; exact/eqP.
Qed.

Lemma arithmetic_ladder : ladder n lo hi arithmetic.
Proof.
split=> [||k /andP[k0 _]]; rewrite /arithmetic.
- by rewrite subnn !mul0r addr0.
- by rewrite subn1 mulfV // mul1r addrC subrK.
by rewrite -subr_gt0 -/(arithmetic _) -/(arithmetic _) arithmetic_step // divr_gt0 // subr_gt0.
Qed.

Lemma arithmetic_equal_division : equal_division n lo hi constant_length arithmetic.
Proof.
by move=> k /andP[k0 _]; rewrite /constant_length arithmetic_step // mulrA.
Qed.

(** Constant sigma: the arithmetic ladder is the unique optimum. *)
Corollary arithmetic_is_unique_optimum :
  [/\ ladder n lo hi arithmetic,
      forall k, (0 < k <= n)%N ->
        acceptance constant_length A arithmetic k = A (sigma0 * (hi - lo) / (K - 1)%:R),
      forall alpha, ladder n lo hi alpha ->
        weakest n constant_length A alpha <= weakest n constant_length A arithmetic
    & forall alpha, ladder n lo hi alpha ->
        weakest n constant_length A alpha = weakest n constant_length A arithmetic ->
        forall k, (0 < k <= K)%N -> alpha k = arithmetic k].
Proof.
have [acc best only] := equal_division_is_unique_optimum n_positive additive positive
  A_decreasing arithmetic_ladder arithmetic_equal_division.
split=> // [|k kn]; first exact: arithmetic_ladder.
by rewrite acc // subn1.
Qed.

End Arithmetic.

Section Geometric.
Variables (c : R) (ln : R -> R) (q : R).
Hypothesis c_positive : 0 < c.
Hypothesis lo_positive : 0 < lo.
Hypothesis ln_product : forall x y, 0 < x -> 0 < y -> ln (x * y) = ln x + ln y.
Hypothesis ln_increasing : forall x y, 0 < x -> x < y -> ln x < ln y.
Hypothesis q_positive : 0 < q.
(** q = (alpha_K / alpha_1)^(1/(K-1)). *)
Hypothesis q_root : q ^+ (K - 1) = hi / lo.

(** alpha_1 (alpha_K / alpha_1)^((k-1)/(K-1)). *)
Definition geometric (k : nat) : R := lo * q ^+ (k - 1).

(** The length of sigma(alpha) = sqrt(c) / alpha, its factor written c here. *)
Definition logarithmic_length (x y : R) : R := c * (ln y - ln x).

Let additive x y z : lo <= x -> x <= y -> y <= z -> z <= hi ->
  logarithmic_length x z = logarithmic_length x y + logarithmic_length y z.
Proof. by move=> *; rewrite /logarithmic_length -mulrDr [ln y - _ + _]addrC addrA subrK. Qed.

Let positive x y : lo <= x -> x < y -> y <= hi -> 0 < logarithmic_length x y.
Proof.
move=> lx xy _; rewrite mulr_gt0 // subr_gt0 ln_increasing //.
exact: lt_le_trans lx.
Qed.

Let q_gt1 : 1 < q.
Proof.
rewrite ltNge; apply/negP => q1.
have : q ^+ (K - 1) <= 1 by rewrite exprn_ile1 // ltW.
by rewrite q_root ler_pdivr_mulr // mul1r leNgt lo_lt_hi.
Qed.

Let geometric_positive k : 0 < geometric k.
Proof. by rewrite mulr_gt0 // exprn_gt0. Qed.

Lemma geometric_ratio k : (0 < k)%N -> geometric k.+1 = geometric k * q.
Proof. by case: k => // k _; rewrite /geometric !subn1 /= exprSr mulrA. Qed.

Lemma geometric_ladder : ladder n lo hi geometric.
Proof.
split=> [||k /andP[k0 _]].
- by rewrite /geometric expr0 mulr1.
- by rewrite /geometric q_root mulrC divfK // gt_eqF.
by rewrite geometric_ratio // ltr_pmulr.
Qed.

Lemma ln_power m : ln (q ^+ m) = m%:R * ln q.
Proof.
have ln1 : ln 1 = 0.
  by have /eqP := ln_product ltr01 ltr01; rewrite mulr1 -[X in X == _]addr0 (inj_eq (addrI _)) eq_sym => /eqP.
elim: m => [|m IH]; first by rewrite mul0r expr0 ln1.
by rewrite exprS ln_product ?exprn_gt0 // IH mulrS mulrDl mul1r.
Qed.

Lemma geometric_equal_division : equal_division n lo hi logarithmic_length geometric.
Proof.
move=> k /andP[k0 _]; rewrite /logarithmic_length geometric_ratio // ln_product //.
have -> : hi = lo * q ^+ n.
  by move: q_root; rewrite subn1 /= => ->; rewrite mulrC divfK // gt_eqF.
rewrite [ln (lo * _)]ln_product ?exprn_gt0 // ln_power ![_ + _ - _]addrAC !subrr !add0r.
by rewrite mulrCA mulrAC mulfV // mul1r.
Qed.

(** sigma proportional to 1/alpha: the geometric ladder is the unique optimum. *)
Corollary geometric_is_unique_optimum :
  [/\ ladder n lo hi geometric,
      forall k, (0 < k <= n)%N -> acceptance logarithmic_length A geometric k
        = A (c * (ln hi - ln lo) / (K - 1)%:R),
      forall alpha, ladder n lo hi alpha ->
        weakest n logarithmic_length A alpha <= weakest n logarithmic_length A geometric
    & forall alpha, ladder n lo hi alpha ->
        weakest n logarithmic_length A alpha = weakest n logarithmic_length A geometric ->
        forall k, (0 < k <= K)%N -> alpha k = geometric k].
Proof.
have [acc best only] := equal_division_is_unique_optimum n_positive additive positive
  A_decreasing geometric_ladder geometric_equal_division.
split=> // [|k kn]; first exact: geometric_ladder.
by rewrite acc // subn1.
Qed.

End Geometric.

(** Each template divides its own length equally. *)
Theorem templates_divide_equally (sigma0 c : R) (ln : R -> R) (q : R) : 0 < lo ->
  (forall x y, 0 < x -> 0 < y -> ln (x * y) = ln x + ln y) -> 0 < q -> q ^+ (K - 1) = hi / lo ->
  equal_division n lo hi (constant_length sigma0) arithmetic
  /\ equal_division n lo hi (logarithmic_length c ln) (geometric q).
Proof.
by move=> lo0 lnM q0 qn; split; [apply: arithmetic_equal_division | apply: geometric_equal_division].
Qed.

End Templates.

(** Over a real closed field the common ratio exists, and it is unique. *)
Section Root.
Variable R : rcfType.

Theorem geometric_ratio_exists (n : nat) (lo hi : R) : (0 < n)%N -> 0 < lo -> lo < hi ->
  exists q, [/\ 0 < q, q ^+ (n.+1 - 1) = hi / lo
    & forall q', 0 < q' -> q' ^+ (n.+1 - 1) = hi / lo -> q' = q].
Proof.
move=> n0 lo0 lohi; rewrite subn1 /=; pose s := hi / lo.
have s1 : 1 < s by rewrite ltr_pdivl_mulr // mul1r.
have s0 : 0 < s := lt_trans ltr01 s1.
have [q /andP[q0 _]] : exists2 q, 0 <= q <= s & root ('X^n - s%:P) q.
  apply: poly_ivt; first exact: ltW.
  rewrite !hornerE !hornerXn expr0n gtn_eqF //= sub0r oppr_le0 (ltW s0) subr_ge0 /=.
  by rewrite ler_eexpr ?ltW.
rewrite rootE !hornerE hornerXn subr_eq0 => /eqP qs.
have qp : 0 < q by rewrite lt_def q0 andbT; apply: contraTneq s0 => q_0; rewrite -qs q_0 expr0n gtn_eqF // ltxx.
exists q; split=> // q' q'0 q's; apply/eqP.
by rewrite -(eqr_expn2 n0) ?(ltW q'0) // qs q's.
Qed.

End Root.

(** The Gaussian surrogate's A(d) = 2 Phi(- d / sqrt 2) is strictly decreasing, Phi
    being strictly increasing: A is of the kind that the theorems above ask for. *)
Lemma surrogate_acceptance_decreasing (R : rcfType) (Phi : R -> R) :
  (forall s t, s < t -> Phi s < Phi t) ->
  forall s t, 0 <= s -> s < t ->
    2%:R * Phi (- t / Num.sqrt 2%:R) < 2%:R * Phi (- s / Num.sqrt 2%:R).
Proof.
move=> inc s t _ st; rewrite ltr_pmul2l ?ltr0n //; apply: inc.
by rewrite ltr_pmul2r ?invr_gt0 ?sqrtr_gt0 ?ltr0n // ltr_opp2.
Qed.
