(** The ladder from the integral of sigma (thm:unique-maximin-ladder,
    eq:arithmetic-geometric-ladders): the length d(x, y) is the integral of sigma from
    x to y, and no length is typed in.

    - [integral_of sigma d]     d is additive and lies between the bounds of sigma times
      the length of the interval, on every interval (Darboux)
    - [antiderivative_integral]  F(y) - F(x) is the integral of F'
    - [integral_unique]         a uniformly continuous sigma has no other integral
    - [unique_maximin_ladder_integral]   the unique optimum, for continuous sigma > 0
    - [arithmetic_from_integral], [geometric_from_integral]   sigma = sigma_0 and
      alpha^2 sigma^2 = c                                                          *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import boolp classical_sets reals topology normedtype derive exp realfun.
From Tempera Require Import ladder ladder_templates ladder_reals.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory numFieldNormedType.Exports.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section Integral.
Variables (R : realType) (lo hi : R).
Implicit Types (sigma F : R -> R) (d : R -> R -> R).

Definition integral_of sigma d : Prop :=
  (forall x y z, lo <= x -> x <= y -> y <= z -> z <= hi -> d x z = d x y + d y z) /\
  (forall x y m M, lo <= x -> x <= y -> y <= hi ->
     (forall s, x <= s <= y -> m <= sigma s <= M) -> m * (y - x) <= d x y <= M * (y - x)).

(** The fundamental theorem, in the direction that the ladders need. *)
Theorem antiderivative_integral F sigma : {within `[lo, hi], continuous F} ->
  (forall x, x \in `]lo, hi[%R -> is_derive x 1 F (sigma x)) ->
  integral_of sigma (fun x y => F y - F x).
Proof.
move=> cF dF; split=> [x y z _ _ _ _|x y m M lx xy yh bound].
  by rewrite [F y - F x + _]addrC addrA subrK.
have sub : `[x, y] `<=` `[lo, hi].
  by move=> s; rewrite /= !in_itv /= => /andP[xs sy]; rewrite (le_trans lx) // (le_trans sy).
have dF' s : s \in `]x, y[%R -> is_derive s 1 F (sigma s).
  rewrite in_itv /= => /andP[xs sy]; apply: dF; rewrite in_itv /=.
  by rewrite (le_lt_trans lx) // (lt_le_trans sy).
have [c + ->] := MVT_segment xy dF' (continuous_subspaceW sub cF).
rewrite in_itv /= => /bound/andP[mc cM].
by rewrite !ler_wpmul2r // subr_ge0.
Qed.

(** Uniform continuity, as continuity on a compact interval gives it. *)
Definition uniformly_continuous sigma : Prop :=
  forall eps, 0 < eps -> exists2 step, 0 < step &
    forall s t, lo <= s -> s <= t -> t <= hi -> t - s <= step -> `|sigma t - sigma s| <= eps.

Theorem integral_unique sigma d d' : uniformly_continuous sigma ->
  integral_of sigma d -> integral_of sigma d' ->
  forall x y, lo <= x -> x <= y -> y <= hi -> d x y = d' x y.
Proof.
move=> uc [add_d bound_d] [add_d' bound_d'].
have near eps : 0 < eps -> forall x y, lo <= x -> x <= y -> y <= hi ->
    `|d x y - d' x y| <= eps * (y - x).
  move=> eps0; have half0 : 0 < eps / 2%:R by rewrite divr_gt0 // ltr0n.
  have [step step0 close] := uc _ half0.
  have small x y : lo <= x -> x <= y -> y <= hi -> y - x <= step ->
      `|d x y - d' x y| <= eps * (y - x).
    move=> lx xy yh xys; pose m := sigma x - eps / 2%:R; pose M := sigma x + eps / 2%:R.
    have mM s : x <= s <= y -> m <= sigma s <= M.
      move=> /andP[xs sy]; rewrite /m /M -ler_distl; apply: close => //.
        exact: le_trans sy yh.
      by apply: le_trans xys; rewrite ler_add2r.
    have /andP[a b] := bound_d _ _ _ _ lx xy yh mM.
    have /andP[a' b'] := bound_d' _ _ _ _ lx xy yh mM.
    have width : M - m = eps.
      by rewrite /M /m opprB addrC addrA subrK -mulrDl -mulr2n -mulr_natr mulfK ?pnatr_eq0.
    have slack : M * (y - x) - m * (y - x) = eps * (y - x) by rewrite -mulrBl width.
    rewrite ler_norml -slack opprB; apply/andP; split; exact: ler_sub.
  (* as many steps as are needed *)
  move=> x y lx xy yh; have [count] : exists count, y - x <= step *+ count.
    exists (Num.bound ((y - x) / step)).
    rewrite -mulr_natr mulrC -ler_pdivr_mulr // ltW // archi_boundP //.
    by rewrite divr_ge0 ?subr_ge0 // ltW.
  elim: count x lx xy => [|n IH] x lx xy.
    rewrite mulr0n subr_le0 => yx; have -> : y = x by apply/le_anti; rewrite yx xy.
    apply: small => //; first exact: le_trans xy yh.
    by rewrite subrr ltW.
  rewrite mulrSr => far; have [close_enough|xsy] := lerP (y - x) step; first exact: small.
  have mid : x + step <= y by rewrite -ler_subr_addl ltW.
  have xmid : x <= x + step by rewrite ler_addl ltW.
  have lmid := le_trans lx xmid.
  rewrite (add_d _ _ _ lx xmid mid yh) (add_d' _ _ _ lx xmid mid yh) opprD addrACA.
  apply: le_trans (ler_norm_add _ _) _.
  have -> : eps * (y - x) = eps * (x + step - x) + eps * (y - (x + step)).
    by rewrite -mulrDr [in RHS]addrC addrA subrK.
  apply: ler_add; first by apply: small => //; [exact: le_trans mid yh | rewrite addrAC subrr add0r].
  by apply: IH => //; rewrite opprD addrA ler_subl_addr.
move=> x y lx xy yh; apply/eqP; rewrite -subr_eq0 -normr_le0; apply/ler_addgt0Pr => eps eps0.
have len0 : 0 <= y - x by rewrite subr_ge0.
have [->|ne] := eqVneq x y.
  have := near 1 ltr01 y y (le_trans lx xy) (lexx y) yh.
  by rewrite subrr mulr0 => /le_trans -> //; rewrite add0r ltW.
have pos : 0 < y - x by rewrite subr_gt0 lt_neqAle ne.
rewrite add0r; have := near (eps / (y - x)) (divr_gt0 eps0 pos) x y lx xy yh.
by rewrite divfK // gt_eqF.
Qed.

End Integral.

Section Ladders.
Variables (R : realType) (n : nat) (lo hi : R) (A : R -> R) (d : R -> R -> R).
Local Notation K := n.+1.
Hypothesis n_positive : (0 < n)%N.
Hypothesis lo_lt_hi : lo < hi.
Hypothesis A_decreasing : forall s t, 0 <= s -> s < t -> A t < A s.

(** e is the one solution of the max-min problem, and all its interfaces accept
    with the probability a. *)
Definition unique_optimum (e : nat -> R) (a : R) : Prop :=
  [/\ ladder n lo hi e, forall k, (0 < k <= n)%N -> acceptance d A e k = a,
      forall alpha, ladder n lo hi alpha -> weakest n d A alpha <= weakest n d A e
    & forall alpha, ladder n lo hi alpha -> weakest n d A alpha = weakest n d A e ->
        forall k, (0 < k <= K)%N -> alpha k = e k].

Section Continuous.
Variable sigma : R -> R.
Hypothesis sigma_continuous : {within `[lo, hi], continuous sigma}.
Hypothesis sigma_positive : forall s, lo <= s <= hi -> 0 < sigma s.
Hypothesis d_integral : integral_of lo hi sigma d.

Let additive := d_integral.1.

Let positive x y : lo <= x -> x < y -> y <= hi -> 0 < d x y.
Proof.
move=> lx xy yh; have sub : `[x, y] `<=` `[lo, hi].
  by move=> s; rewrite /= !in_itv /= => /andP[xs sy]; rewrite (le_trans lx) // (le_trans sy).
have [c] := EVT_min (ltW xy) (continuous_subspaceW sub sigma_continuous).
have [M] := EVT_max (ltW xy) (continuous_subspaceW sub sigma_continuous).
rewrite !in_itv /= => _ above /andP[xc cy] least.
have c0 : 0 < sigma c by apply: sigma_positive; rewrite (le_trans lx) // (le_trans cy).
have between s : x <= s <= y -> sigma c <= sigma s <= sigma M.
  by move=> sxy; rewrite least ?above // in_itv.
have /andP[+ _] := d_integral.2 x y _ _ lx (ltW xy) yh between.
by apply: lt_le_trans; rewrite mulr_gt0 // subr_gt0.
Qed.

(** The thermodynamic coordinate d(lo, .) is Lipschitz, hence continuous. *)
Let onto s : 0 <= s <= d lo hi -> exists x, lo <= x <= hi /\ d lo x = s.
Proof.
have [top] := EVT_max (ltW lo_lt_hi) sigma_continuous.
rewrite in_itv /= => top_in above; pose M := sigma top.
have M0 : 0 < M by apply: sigma_positive.
have step x y : lo <= x -> x <= y -> y <= hi -> 0 <= d lo y - d lo x <= M * (y - x).
  move=> lx xy yh; rewrite (additive (lexx lo) lx xy yh) addrAC subrr add0r.
  have between t : x <= t <= y -> 0 <= sigma t <= M.
    move=> /andP[xt ty]; have lt := le_trans lx xt; have th := le_trans ty yh.
    by rewrite ltW ?sigma_positive ?lt //= above // in_itv /= lt.
  by have := d_integral.2 x y 0 M lx xy yh between; rewrite mul0r.
have near_each x y : lo <= x <= hi -> lo <= y <= hi -> `|d lo x - d lo y| <= M * `|x - y|.
  move=> /andP[lx xh] /andP[ly yh]; case: (lerP x y) => [xy|/ltW yx].
    have /andP[a b] := step _ _ lx xy yh.
    by rewrite distrC ger0_norm // distrC ger0_norm // subr_ge0.
  have /andP[a b] := step _ _ ly yx xh.
  by rewrite ger0_norm // ger0_norm // subr_ge0.
have cd : {within `[lo, hi], continuous (d lo)}.
  apply/subspace_continuousP => x /=; rewrite in_itv /= => xI.
  apply/cvgrPdist_le => eps eps0; rewrite near_withinE; near=> t.
  rewrite /= in_itv /= => tI; apply: le_trans (near_each x t xI tI) _.
  rewrite mulrC -ler_pdivl_mulr //; apply: ltW; near: t.
  by apply/nbhs_ballP; exists (eps / M) => //=; rewrite divr_gt0.
move=> /andP[s0 sD].
have dlo : d lo lo = 0.
  have /eqP := additive (lexx lo) (lexx lo) (lexx lo) (ltW lo_lt_hi).
  by rewrite -[X in X == _]addr0 (inj_eq (addrI _)) eq_sym => /eqP.
have D0 : 0 < d lo hi by apply: positive.
have between : Num.min (d lo lo) (d lo hi) <= s <= Num.max (d lo lo) (d lo hi).
  by rewrite dlo min_l ?max_r ?(ltW D0) // s0.
have [x xI dx] := IVT (ltW lo_lt_hi) cd between.
by exists x; move: xI; rewrite in_itv.
Unshelve. all: by end_near. Qed.

(** thm:unique-maximin-ladder with d the integral of sigma: exactly one optimum, which
    divides the total length equally. *)
Theorem unique_maximin_ladder_integral :
  exists e, equal_division n lo hi d e /\ unique_optimum e (A (d lo hi / n%:R)).
Proof.
have [e [le ee acc best only]] :=
  unique_maximin_ladder n_positive additive positive A_decreasing lo_lt_hi onto.
by exists e.
Qed.

End Continuous.

(** sigma constant: the arithmetic ladder, with A(sigma_0 (alpha_K - alpha_1)/(K-1)). *)
Theorem arithmetic_from_integral (sigma0 : R) : 0 < sigma0 ->
  integral_of lo hi (fun=> sigma0) d ->
  unique_optimum (arithmetic n lo hi) (A (sigma0 * (hi - lo) / n%:R)).
Proof.
move=> s0 [additive bound].
have dE x y : lo <= x -> x <= y -> y <= hi -> d x y = sigma0 * (y - x).
  move=> lx xy yh; apply/eqP; rewrite eq_le andbC; apply: (bound x y) => // s _.
  by rewrite !lexx.
have lad := arithmetic_ladder n_positive lo_lt_hi.
have pos x y : lo <= x -> x < y -> y <= hi -> 0 < d x y.
  by move=> lx xy yh; rewrite dE // ?ltW // mulr_gt0 // subr_gt0.
have total : d lo hi = sigma0 * (hi - lo) by rewrite dE ?lexx ?ltW.
have eqd : equal_division n lo hi d (arithmetic n lo hi).
  move=> k kn; have /andP[k0 kn'] := kn; have [_ _ inc] := lad.
  have kK : (0 < k <= K)%N by rewrite k0 leqW.
  rewrite dE; [|exact: ladder_ge_lo lad _ kK|exact/ltW/inc|exact: (ladder_le_hi lad (k := k.+1))].
  by rewrite arithmetic_step // total mulrA.
have [acc best only] := equal_division_is_unique_optimum n_positive additive pos A_decreasing lad eqd.
by split=> // k kn; rewrite acc // total.
Qed.

(** alpha^2 sigma^2 = c: the geometric ladder, with A(sqrt c ln(alpha_K/alpha_1)/(K-1)). *)
Theorem geometric_from_integral (c : R) (sigma : R -> R) : 0 < lo -> 0 < c ->
  (forall a, lo <= a <= hi -> 0 <= sigma a /\ a ^+ 2 * sigma a ^+ 2 = c) ->
  integral_of lo hi sigma d ->
  unique_optimum (geometric_reals n lo hi) (A (Num.sqrt c * (ln hi - ln lo) / n%:R)).
Proof.
move=> lo0 c0 curve dI; pose r := Num.sqrt c.
have r0 : 0 < r by rewrite sqrtr_gt0.
have sigmaE a : lo <= a <= hi -> sigma a = r / a.
  move=> aI; have /andP[la _] := aI; have a0 : 0 < a := lt_le_trans lo0 la.
  have [sa e] := curve a aI; apply: (canRL (mulfK (lt0r_neq0 a0))).
  apply/eqP; rewrite -(eqr_expn2 (n := 2)) ?mulr_ge0 ?(ltW a0) ?(ltW r0) //.
  by rewrite exprMn mulrC e sqr_sqrtr // ltW.
have inside x y s : lo <= x -> y <= hi -> x <= s <= y -> lo <= s <= hi.
  by move=> lx yh /andP[xs sy]; rewrite (le_trans lx) // (le_trans sy).
have dI' : integral_of lo hi (fun a => r / a) d.
  split=> [|x y m M lx xy yh mM]; first exact: dI.1.
  by apply: dI.2 => // s sxy; rewrite sigmaE ?mM // (inside x y).
have hi0 : 0 < hi := lt_trans lo0 lo_lt_hi.
have logI : integral_of lo hi (fun a => r / a) (fun x y => r * ln y - r * ln x).
  apply: (@antiderivative_integral _ _ _ (fun x => r * ln x)).
    apply: continuous_in_subspaceT => x; rewrite inE /= in_itv /= => /andP[lx _].
    have x0 : 0 < x by apply: lt_le_trans lx.
    exact: (cvgMr (a := r) (continuous_ln x0)).
  move=> x; rewrite in_itv /= => /andP[lx _]; have x0 : 0 < x by apply: lt_trans lx.
  exact: (@is_deriveZ _ _ _ (@ln R) r x 1 _ (is_derive1_ln x0)).
have uc : uniformly_continuous lo hi (fun a => r / a).
  move=> eps eps0; exists (eps * lo ^+ 2 / r); first by rewrite divr_gt0 // mulr_gt0 // exprn_gt0.
  move=> s t ls st th close; have s0 : 0 < s := lt_le_trans lo0 ls; have t0 := lt_le_trans s0 st.
  have -> : r / t - r / s = - (r * (t - s) / (s * t)).
    rewrite -mulrBr -mulrA -mulrN; congr (r * _).
    have s_neq0 : s != 0 by rewrite gt_eqF.
    have t_neq0 : t != 0 by rewrite gt_eqF.
    by rewrite mulrBl invfM mulrCA mulfV // mulr1 mulVKf // opprB.
  rewrite normrN ger0_norm; last first.
    by rewrite divr_ge0 // mulr_ge0 ?subr_ge0 // ltW.
  rewrite ler_pdivr_mulr ?mulr_gt0 //; apply: (@le_trans _ _ (eps * lo ^+ 2)).
    by rewrite mulrC -ler_pdivl_mulr.
  by rewrite (ler_wpmul2l (ltW eps0)) // expr2 ler_pmul ?(ltW lo0) // (le_trans ls).
have dE x y : lo <= x -> x <= y -> y <= hi -> d x y = r * (ln y - ln x).
  by move=> lx xy yh; rewrite (integral_unique uc dI' logI) // mulrBr.
have pos x y : lo <= x -> x < y -> y <= hi -> 0 < d x y.
  move=> lx xy yh; have x0 := lt_le_trans lo0 lx.
  by rewrite dE ?(ltW xy) // mulr_gt0 // subr_gt0 ltr_ln ?posrE // (lt_trans x0).
have [lad _ _ _] := geometric_reals_is_unique_optimum n_positive lo_lt_hi A_decreasing lo0 r0.
have total : d lo hi = r * (ln hi - ln lo) by rewrite dE ?lexx ?ltW.
have lnE k : ln (geometric_reals n lo hi k) = ln lo + (k - 1)%:R / n%:R * (ln hi - ln lo).
  rewrite /geometric_reals lnM ?posrE ?exp_fun_gt0 //; congr (_ + _).
  by rewrite /exp_fun expK ln_div ?posrE // subSS subn0.
have n0 : n%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
have eqd : equal_division n lo hi d (geometric_reals n lo hi).
  move=> k kn; have /andP[k0 kn'] := kn; have [_ _ inc] := lad.
  have kK : (0 < k <= K)%N by rewrite k0 leqW.
  rewrite dE; [|exact: ladder_ge_lo lad _ kK|exact/ltW/inc|exact: (ladder_le_hi lad (k := k.+1))].
  have one : (k.+1 - 1)%:R - (k - 1)%:R = 1 :> R.
    by case: (k) k0 => // j _; rewrite !subn1 /= -natrB // subSnn.
  by rewrite !lnE total opprD addrACA subrr add0r -mulrBl -mulrBl one mul1r mulrCA mulrC.
have [acc best only] := equal_division_is_unique_optimum n_positive dI.1 pos A_decreasing lad eqd.
by split=> // k kn; rewrite acc // total.
Qed.

End Ladders.
