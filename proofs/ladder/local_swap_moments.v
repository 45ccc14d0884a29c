(** The local moments of the swap log ratio (eq:local-swap-moments).

    E[G] = - d^2 + O(delta^3) and Var(G) = 2 d^2 + O(delta^3) for powers alpha and
    alpha + delta, d the integral of sigma: with one constant for all gaps of an
    interval of powers.

    - [deviation_lipschitz]   sigma is Lipschitz on every interval of powers
    - [local_swap_moments]    both expansions                                       *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import boolp classical_sets reals topology normedtype sequences derive exp realfun.
From Tempera Require Import kernels ladder_integral ladder_lebesgue energy_derivative power_ladder.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory numFieldNormedType.Exports.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Lemma root_lipschitz (R : realType) (u v m B : R) : 0 < m -> m <= u -> 0 <= v ->
  `|v ^+ 2 - u ^+ 2| <= B -> `|v - u| <= B / m.
Proof.
move=> m0 mu v0 near; have u0 : 0 <= u by apply: le_trans mu; apply: ltW.
rewrite ler_pdivl_mulr //; apply: le_trans near; rewrite subr_sqr normrM ler_wpmul2l //.
by rewrite ger0_norm ?addr_ge0 // (le_trans mu) // ler_addr.
Qed.

(** What a Lipschitz sigma in [0, M] gives. *)
Section Expansion.
Variables (R : realType) (lo hi L M : R) (sigma : R -> R) (d e : R -> R -> R).
Hypothesis L_ge0 : 0 <= L.
Hypothesis sigma_in : forall s, lo <= s <= hi -> 0 <= sigma s <= M.
Hypothesis lipschitz : forall s t, lo <= s -> s <= t -> t <= hi ->
  `|sigma t - sigma s| <= L * (t - s).
Hypothesis d_integral : integral_of lo hi sigma d.
Hypothesis e_integral : integral_of lo hi (fun s => sigma s ^+ 2) e.

Variables (a delta : R).
Hypothesis lo_le : lo <= a.
Hypothesis delta_ge0 : 0 <= delta.
Hypothesis le_hi : a + delta <= hi.

Let a_in : lo <= a <= hi.
Proof. by rewrite lo_le /= (le_trans _ le_hi) // ler_addl. Qed.

Let M_ge0 : 0 <= M.
Proof. by have /andP[] := sigma_in a_in; apply: le_trans. Qed.

Let a_le : a <= a + delta. Proof. by rewrite ler_addl. Qed.

Let near s : a <= s <= a + delta -> `|sigma s - sigma a| <= L * delta.
Proof.
move=> /andP[as_ sb]; apply: le_trans (lipschitz lo_le as_ (le_trans sb le_hi)) _.
by rewrite ler_wpmul2l // ler_subl_addl.
Qed.

Let inside s : a <= s <= a + delta -> lo <= s <= hi.
Proof. by move=> /andP[as_ sb]; rewrite (le_trans lo_le) // (le_trans sb). Qed.

Let square_near s : a <= s <= a + delta -> `|sigma s ^+ 2 - sigma a ^+ 2| <= 2%:R * M * L * delta.
Proof.
move=> sI; rewrite subr_sqr normrM mulrC -mulrA; apply: ler_pmul => //; last exact: near.
have /andP[s0 sM] := sigma_in (inside sI); have /andP[a0 aM] := sigma_in a_in.
by rewrite ger0_norm ?addr_ge0 // mulr_natl mulr2n ler_add.
Qed.

Let width : a + delta - a = delta. Proof. by rewrite addrAC subrr add0r. Qed.

Lemma length_near : `|d a (a + delta) - delta * sigma a| <= L * delta ^+ 2.
Proof.
have between s : a <= s <= a + delta -> sigma a - L * delta <= sigma s <= sigma a + L * delta.
  by move=> sI; rewrite -ler_distl near.
have := d_integral.2 _ _ _ _ lo_le a_le le_hi between.
rewrite width mulrBl mulrDl -mulrA -expr2 [sigma a * _]mulrC.
by rewrite ler_distl.
Qed.

Lemma square_length_near :
  `|e a (a + delta) - delta * sigma a ^+ 2| <= 2%:R * M * L * delta ^+ 2.
Proof.
have between s : a <= s <= a + delta ->
    sigma a ^+ 2 - 2%:R * M * L * delta <= sigma s ^+ 2 <= sigma a ^+ 2 + 2%:R * M * L * delta.
  by move=> sI; rewrite -ler_distl square_near.
have := e_integral.2 _ _ _ _ lo_le a_le le_hi between.
set c := 2%:R * M * L; rewrite width mulrBl mulrDl -[c * delta * delta]mulrA -[delta * delta]expr2 [sigma a ^+ 2 * _]mulrC.
by rewrite ler_distl.
Qed.

Lemma squared_length_near :
  `|d a (a + delta) ^+ 2 - delta ^+ 2 * sigma a ^+ 2| <= 2%:R * M * L * delta ^+ 3.
Proof.
have bound s : a <= s <= a + delta -> 0 <= sigma s <= M by move=> /inside/sigma_in.
have := d_integral.2 _ _ _ _ lo_le a_le le_hi bound; rewrite width mul0r => /andP[d0 dM].
have /andP[a0 aM] := sigma_in a_in.
rewrite -exprMn subr_sqr normrM.
have -> : 2%:R * M * L * delta ^+ 3 = L * delta ^+ 2 * (2%:R * (M * delta)).
  by rewrite exprSr [LHS](AC (3*2) ((3*4)*(1*(2*5))))%AC.
apply: ler_pmul => //; first exact: length_near.
rewrite ger0_norm ?addr_ge0 ?mulr_ge0 // mulr_natl mulr2n ler_add //.
by rewrite mulrC ler_wpmul2r.
Qed.

Theorem expansion_of_mean :
  `|- delta * e a (a + delta) + d a (a + delta) ^+ 2| <= 4%:R * M * L * delta ^+ 3.
Proof.
have -> : - delta * e a (a + delta) + d a (a + delta) ^+ 2 =
    (d a (a + delta) ^+ 2 - delta ^+ 2 * sigma a ^+ 2)
    - delta * (e a (a + delta) - delta * sigma a ^+ 2).
  by rewrite mulrBr opprB [delta * (delta * _)]mulrA -expr2 addrA subrK mulNr addrC.
apply: le_trans (ler_norm_sub _ _) _.
have -> : 4%:R * M * L * delta ^+ 3 =
    2%:R * M * L * delta ^+ 3 + delta * (2%:R * M * L * delta ^+ 2).
  by rewrite [delta * _]mulrCA -exprS -!mulrA -mulrDl -natrD.
apply: ler_add; first exact: squared_length_near.
by rewrite normrM (ger0_norm delta_ge0) ler_wpmul2l // square_length_near.
Qed.

Theorem expansion_of_variance :
  `|delta ^+ 2 * (sigma a ^+ 2 + sigma (a + delta) ^+ 2) - 2%:R * d a (a + delta) ^+ 2|
    <= 6%:R * M * L * delta ^+ 3.
Proof.
have b_in : a <= a + delta <= a + delta by rewrite a_le lexx.
have -> : delta ^+ 2 * (sigma a ^+ 2 + sigma (a + delta) ^+ 2) - 2%:R * d a (a + delta) ^+ 2 =
    delta ^+ 2 * (sigma (a + delta) ^+ 2 - sigma a ^+ 2)
    - 2%:R * (d a (a + delta) ^+ 2 - delta ^+ 2 * sigma a ^+ 2).
  have combine (u v w : R) : u + v - 2%:R * w = (v - u) - 2%:R * (w - u).
    by rewrite mulrBr opprB addrA; congr (_ - _); rewrite mulr_natl mulr2n addrA subrK addrC.
  by rewrite mulrDr combine mulrBr.
apply: le_trans (ler_norm_sub _ _) _.
have -> : 6%:R * M * L * delta ^+ 3 =
    delta ^+ 2 * (2%:R * M * L * delta) + 2%:R * (2%:R * M * L * delta ^+ 3).
  rewrite [delta ^+ 2 * _]mulrCA -exprSr -!mulrA [2%:R * (2%:R * _)]mulrA -mulrDl.
  by rewrite -natrM -natrD.
apply: ler_add; rewrite normrM.
  by rewrite (ger0_norm (exprn_ge0 2 delta_ge0)) ler_wpmul2l ?exprn_ge0 // square_near.
by rewrite (@ger0_norm _ 2%:R) // ler_wpmul2l // squared_length_near.
Qed.

End Expansion.

Section Family.
Variables (R : realType) (S : finType) (U : S -> R) (x0 : S).
Implicit Types (s t : R) (f : S -> R).
Local Notation mean := (mean U).
Local Notation covariance := (covariance U).
Local Notation deviation := (deviation U).
Local Notation variance := (variance U).

Lemma covariance_continuous f : continuous (covariance f).
Proof.
move=> s; have c h : {for s, continuous (mean h)} := @mean_continuous _ _ U x0 h s.
exact: (cvgB (c (fun x => f x * U x)) (cvgM (c f) (c U))).
Qed.

Let square x := U x ^+ 2.
Let slope s : R := - covariance square s
  - (mean U s * - covariance U s + mean U s * - covariance U s).

Lemma variance_derivative s : is_derive s 1 variance (slope s).
Proof.
have -> : variance = mean square \- (mean U \* mean U).
  apply/funext => t; rewrite (varianceE U x0) expr2; by [].
have dm := mean_derivative U x0 U s.
have dp := @is_deriveM _ _ (mean U) (mean U) s 1 _ _ dm dm.
exact: (@is_deriveB _ _ _ (mean square) (mean U \* mean U) s 1 _ _ (mean_derivative U x0 square s) dp).
Qed.

Lemma slope_continuous : continuous slope.
Proof.
move=> s; have c f : {for s, continuous (covariance f)} := @covariance_continuous f s.
have m : {for s, continuous (mean U)} := @mean_continuous _ _ U x0 U s.
exact: (cvgB (cvgN (c square)) (cvgD (cvgM m (cvgN (c U))) (cvgM m (cvgN (c U))))).
Qed.

Hypothesis U_varies : exists x y, U x != U y.

Theorem deviation_lipschitz lo hi : lo <= hi -> exists2 L, 0 <= L &
  forall s t, lo <= s -> s <= t -> t <= hi -> `|deviation t - deviation s| <= L * (t - s).
Proof.
move=> lohi; have cs : continuous (fun s => `|slope s|).
  move=> s; have c : {for s, continuous slope} := @slope_continuous s.
  exact: (cvg_norm c).
have [top _ steep] := EVT_max lohi (continuous_subspaceT cs).
have cd : continuous deviation := deviation_continuous (U := U) x0.
have [c _ least] := EVT_min lohi (continuous_subspaceT cd).
have m0 : 0 < deviation c by apply: (deviation_positive x0 U_varies).
have cv : continuous variance.
  move=> s; have [+ _] := variance_derivative s.
  by move=> d; apply: differentiable_continuous; apply/derivable1_diffP.
exists (`|slope top| / deviation c); first by rewrite divr_ge0 // ltW.
move=> s t ls st th; have sm : deviation c <= deviation s.
  by apply: least; rewrite in_itv /= ls (le_trans st).
have d0 u : 0 <= deviation u by apply: sqrtr_ge0.
have sqE u : deviation u ^+ 2 = variance u by rewrite sqr_sqrtr // variance_ge0.
rewrite mulrAC; apply: (root_lipschitz m0 sm (d0 t)); rewrite !sqE.
have [w + ->] := MVT_segment st (fun u _ => variance_derivative u) (continuous_subspaceT cv).
rewrite in_itv /= => /andP[sw wt]; rewrite normrM [`|t - s|]ger0_norm ?subr_ge0 //.
rewrite ler_wpmul2r ?subr_ge0 // steep // in_itv /= (le_trans ls) //; exact: le_trans wt th.
Qed.

Theorem local_swap_moments lo hi : lo <= hi -> exists C, forall a delta,
  lo <= a -> 0 <= delta -> a + delta <= hi ->
  let b := a + delta in
  let G := log_ratio U a b in
  let d := length deviation a b in
  `|pair_mean U a b G - - d ^+ 2| <= C * delta ^+ 3
  /\ `|pair_mean U a b (fun x y => (G x y - pair_mean U a b G) ^+ 2) - 2%:R * d ^+ 2| <= C * delta ^+ 3.
Proof.
move=> lohi; have [L L0 lip] := deviation_lipschitz lohi.
have cd : continuous deviation := deviation_continuous (U := U) x0.
have [c cI above] := EVT_max lohi (continuous_subspaceT cd).
pose M := deviation c; have M0 : 0 <= M by apply: sqrtr_ge0.
have inM s : lo <= s <= hi -> 0 <= deviation s <= M.
  by move=> sI; rewrite sqrtr_ge0 above // in_itv.
have dI : integral_of lo hi deviation (length deviation).
  apply: lebesgue_integral_of; first exact: cd.
  by move=> s; apply: sqrtr_ge0.
have sqE : (fun s => deviation s ^+ 2) = variance.
  by apply/funext => s; rewrite sqr_sqrtr // variance_ge0.
have eI := energy_integral U x0 lo hi; rewrite -sqE in eI.
exists (6%:R * M * L) => a delta la d0 dh b G d.
have ab : b - a = delta by rewrite /b addrAC subrr add0r.
split; last first.
  rewrite (log_ratio_variance U x0) ab -!(congr1 (@^~ _) sqE).
  exact: (expansion_of_variance L0 inM lip dI la d0 dh).
rewrite opprK (log_ratio_mean U x0) ab.
apply: le_trans (expansion_of_mean L0 inM lip dI eI la d0 dh) _.
by rewrite ler_wpmul2r ?exprn_ge0 // ler_wpmul2r // ler_wpmul2r // ler_nat.
Qed.

End Family.
