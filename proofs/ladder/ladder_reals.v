(** The ladder over the real numbers: the paper's formulas with its own logarithm
    and real powers, and the existence of the optimum for every continuous strictly
    increasing thermodynamic coordinate.

    This file alone uses mathcomp-analysis, hence the classical axioms that
    [Print Assumptions] lists for it. *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import boolp classical_sets reals topology normedtype exp realfun.
From Tempera Require Import ladder ladder_templates.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory numFieldNormedType.Exports.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section Reals.
Variables (R : realType) (n : nat) (lo hi : R) (A : R -> R).
Local Notation K := n.+1.
Hypothesis n_positive : (0 < n)%N.
Hypothesis lo_lt_hi : lo < hi.
Hypothesis A_decreasing : forall s t, 0 <= s -> s < t -> A t < A s.

(** d(x, y) = F(y) - F(x), F continuous and strictly increasing on [lo, hi]: the
    thermodynamic coordinate of any continuous positive sigma. *)
Theorem unique_maximin_ladder_reals (F : R -> R) :
  {within `[lo, hi], continuous F} ->
  (forall x y, lo <= x -> x < y -> y <= hi -> F x < F y) ->
  let d x y := F y - F x in
  exists e, [/\ ladder n lo hi e, equal_division n lo hi d e,
      forall k, (0 < k <= n)%N -> acceptance d A e k = A (d lo hi / n%:R),
      forall alpha, ladder n lo hi alpha -> weakest n d A alpha <= weakest n d A e
    & forall alpha, ladder n lo hi alpha -> weakest n d A alpha = weakest n d A e ->
        forall k, (0 < k <= K)%N -> alpha k = e k].
Proof.
move=> F_continuous F_increasing d; apply: unique_maximin_ladder => //.
- by move=> x y z *; rewrite /d [F y - F x + _]addrC addrA subrK.
- by move=> x y lx xy yh; rewrite subr_gt0 F_increasing.
move=> s /andP[s0 sD]; have lohi : F lo < F hi by apply: F_increasing.
have between : Num.min (F lo) (F hi) <= F lo + s <= Num.max (F lo) (F hi).
  by rewrite min_l ?max_r ?(ltW lohi) // ler_addl s0 /= -ler_subr_addl.
have [x] := IVT (ltW lo_lt_hi) F_continuous between.
rewrite in_itv /= => xI Fx; exists x; split=> //.
by rewrite /d Fx addrC addKr.
Qed.

Hypothesis lo_positive : 0 < lo.

(** alpha_1 (alpha_K / alpha_1)^((k-1)/(K-1)), with real powers. *)
Definition geometric_reals (k : nat) : R :=
  lo * ((hi / lo) `^ ((k - 1)%:R / (K - 1)%:R)).

Let ratio_positive : 0 < hi / lo.
Proof. by rewrite divr_gt0 // (lt_trans lo_positive). Qed.

Let root := (hi / lo) `^ ((K - 1)%:R)^-1.

Let root_power m : root ^+ m = (hi / lo) `^ (m%:R / (K - 1)%:R).
Proof. by rewrite /root /exp_fun -expRMm mulrA. Qed.

Lemma geometric_realsE k : geometric_reals k = geometric lo root k.
Proof. by rewrite /geometric_reals /geometric root_power. Qed.

(** sigma(alpha) = s / alpha: the paper's geometric ladder is the unique optimum. *)
Theorem geometric_reals_is_unique_optimum (s : R) : 0 < s ->
  let d x y := s * (ln y - ln x) in
  [/\ ladder n lo hi geometric_reals,
      forall k, (0 < k <= n)%N ->
        acceptance d A geometric_reals k = A (s * (ln hi - ln lo) / (K - 1)%:R),
      forall alpha, ladder n lo hi alpha -> weakest n d A alpha <= weakest n d A geometric_reals
    & forall alpha, ladder n lo hi alpha ->
        weakest n d A alpha = weakest n d A geometric_reals ->
        forall k, (0 < k <= K)%N -> alpha k = geometric_reals k].
Proof.
move=> s0 d; have -> : geometric_reals = geometric lo root.
  by apply: functional_extensionality_dep => k; exact: geometric_realsE.
apply: geometric_is_unique_optimum => //.
- by move=> x y x0 y0; rewrite lnM.
- by move=> x y x0 xy; rewrite ltr_ln // posrE (lt_trans x0).
- exact: exp_fun_gt0.
rewrite root_power mulfV ?exp_funr1 //.
by rewrite subn1 pnatr_eq0 -lt0n.
Qed.

End Reals.
