(** The Lebesgue integral of sigma is the length that the ladders divide.

    [integral_of] of ladder_integral.v is met by Lebesgue's integral over ]x, y], for
    every continuous nonnegative sigma: its hypothesis is never empty.

    - [length sigma x y]        the Lebesgue integral of sigma from x to y
    - [lebesgue_integral_of]    it is the integral in Darboux's sense
    - [unique_maximin_ladder_lebesgue]   thm:unique-maximin-ladder with that length *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import boolp classical_sets functions reals ereal topology normedtype derive.
From mathcomp Require Import measure lebesgue_measure lebesgue_integral.
From Tempera Require Import ladder ladder_integral.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory numFieldNormedType.Exports.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section Lebesgue.
Variables (R : realType) (sigma : R -> R).
Hypothesis sigma_continuous : continuous sigma.
Hypothesis sigma_ge0 : forall s, 0 <= sigma s.

Local Notation mu := (@lebesgue_measure R).

Definition mass (x y : R) : \bar R := (\int[mu]_(s in `]x, y]) (sigma s)%:E)%E.
Definition length (x y : R) : R := fine (mass x y).

Let measurable_sigma (D : set R) : measurable_fun D (EFin \o sigma).
Proof.
apply/EFin_measurable_fun; apply: measurable_funTS.
exact: continuous_measurable_fun.
Qed.

Let mass_ge0 x y : (0 <= mass x y)%E.
Proof. by apply: integral_ge0 => s _; rewrite lee_fin. Qed.

Let mass_cst (c x y : R) : x <= y -> (\int[mu]_(s in `]x, y]) c%:E)%E = (c * (y - x))%:E.
Proof.
move=> xy; rewrite integral_cst //=; last exact: measurable_itv.
rewrite lebesgue_measure_itv hlength_itv /= lte_fin; move: xy; rewrite le_eqVlt.
by case/predU1P => [->|->]; rewrite ?ltxx ?subrr ?mulr0 ?mule0 // EFinM.
Qed.

Lemma mass_bounds (m M x y : R) : x <= y -> (forall s, x <= s <= y -> m <= sigma s <= M) ->
  ((m * (y - x))%:E <= mass x y <= (M * (y - x))%:E)%E.
Proof.
move=> xy mM; have inside s : `]x, y]%classic s -> x <= s <= y.
  by rewrite /= in_itv /= => /andP[/ltW -> ->].
have M0 : 0 <= M by have /andP[_] := mM x (introT andP (conj (lexx x) xy)); apply: le_trans.
apply/andP; split; last first.
  rewrite -mass_cst //; apply: ge0_le_integral.
  - exact: measurable_itv.
  - by move=> s _; rewrite lee_fin.
  - exact: measurable_sigma.
  - by move=> s _; rewrite lee_fin.
  - exact: measurable_fun_cst.
  by move=> s /inside/mM/andP[_]; rewrite lee_fin.
have [m0|m0] := lerP 0 m.
  rewrite -mass_cst //; apply: ge0_le_integral.
  - exact: measurable_itv.
  - by move=> s _; rewrite lee_fin.
  - exact: measurable_fun_cst.
  - by move=> s _; rewrite lee_fin.
  - exact: measurable_sigma.
  by move=> s /inside/mM/andP[]; rewrite lee_fin.
apply: le_trans (mass_ge0 x y); rewrite lee_fin mulr_le0_ge0 // ?subr_ge0 //; exact: ltW.
Qed.

Lemma mass_fin x y : x <= y -> mass x y \is a fin_num.
Proof.
move=> xy; have [c _ above] := EVT_max xy (continuous_subspaceT sigma_continuous).
have bound s : x <= s <= y -> 0 <= sigma s <= sigma c.
  by move=> sI; rewrite sigma_ge0 above // in_itv.
have /andP[_ le] := mass_bounds xy bound.
by rewrite ge0_fin_numE //; apply: le_lt_trans le _; rewrite ltry.
Qed.

Theorem lebesgue_integral_of lo hi : integral_of lo hi sigma length.
Proof.
split=> [x y z _ xy yz _|x y m M _ xy _ mM]; last first.
  by have := mass_bounds xy mM; rewrite -[mass x y]fineK ?mass_fin // !lee_fin.
rewrite /length -fineD ?mass_fin //; congr fine; rewrite /mass.
have -> : `]x, z]%classic = `]x, y] `|` `]y, z].
  apply/seteqP; split=> s /=; rewrite !in_itv /=.
    by move=> /andP[xs sz]; case: (lerP s y) => sy; [left|right]; rewrite ?xs.
  by case=> /andP[a b]; rewrite ?a ?b ?(le_trans b) ?(le_lt_trans xy).
apply: integral_setU.
- exact: measurable_itv.
- exact: measurable_itv.
- exact: measurable_sigma.
- by move=> s _; rewrite lee_fin.
apply/disj_setPS => s [] /=; rewrite !in_itv /= => /andP[_ sy] /andP[ys _].
by rewrite ltNge sy in ys.
Qed.

(** thm:unique-maximin-ladder, d the Lebesgue integral of sigma. *)
Theorem unique_maximin_ladder_lebesgue n lo hi (A : R -> R) :
  (0 < n)%N -> lo < hi -> (forall s t, 0 <= s -> s < t -> A t < A s) ->
  (forall s, lo <= s <= hi -> 0 < sigma s) ->
  exists e, equal_division n lo hi length e
    /\ unique_optimum n lo hi A length e (A (length lo hi / n%:R)).
Proof.
move=> n0 lohi A_dec pos; apply: (@unique_maximin_ladder_integral _ _ _ _ _ _ n0 lohi A_dec sigma) => //.
  exact: continuous_subspaceT.
exact: lebesgue_integral_of.
Qed.

End Lebesgue.
