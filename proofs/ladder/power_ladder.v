(** The ladder of the paper's own length (thm:unique-maximin-ladder,
    eq:swap-log-ratio-moments).

    sigma(s) is the standard deviation of the energy under pi_s, and d its Lebesgue
    integral: nothing about sigma is assumed, all is proved of the power family.

    - [deviation s]           sigma(s); [deviation_continuous], [deviation_positive]
    - [power_family_ladder]   the unique optimum for d = int sigma, U not constant
    - [log_ratio_mean], [log_ratio_variance]   the two moments of the swap log ratio,
      the first as - (beta - alpha) int sigma^2                                    *)
From mathcomp Require Import all_ssreflect all_algebra.
From mathcomp Require Import boolp classical_sets reals topology normedtype sequences derive exp realfun.
From Tempera Require Import kernels ladder ladder_integral ladder_lebesgue energy_derivative.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory numFieldNormedType.Exports.
Local Open Scope classical_set_scope.
Local Open Scope ring_scope.

Section PowerLadder.
Variables (R : realType) (S : finType) (U : S -> R) (x0 : S).
Implicit Types (s t : R) (f : S -> R).

Notation family := (family U).
Notation mean_energy := (mean_energy U).
Notation variance := (variance U).

Lemma mean_continuous f : continuous (mean U f).
Proof.
by move=> s; apply/differentiable_continuous/derivable1_diffP; case: (mean_derivative U x0 f s).
Qed.

Definition deviation s : R := Num.sqrt (variance s).

Lemma variance_ge0 s : 0 <= variance s.
Proof. by apply: sumr_ge0 => x _; rewrite mulr_ge0 ?sqr_ge0 // ltW // family_gt0. Qed.

Theorem deviation_continuous : continuous deviation.
Proof.
have -> : deviation = Num.sqrt \o (fun s => mean U (fun x => U x ^+ 2) s - mean U U s * mean U U s).
  by apply/funext => s; rewrite /deviation (varianceE U x0) /= expr2.
move=> s; apply: continuous_comp; last exact: sqrt_continuous.
apply: cvgB; first exact: mean_continuous.
apply: cvgM; exact: mean_continuous.
Qed.

Hypothesis U_varies : exists x y, U x != U y.

Theorem deviation_positive s : 0 < deviation s.
Proof. by rewrite sqrtr_gt0 variance_positive. Qed.

Theorem power_family_ladder n lo hi (A : R -> R) :
  (0 < n)%N -> lo < hi -> (forall s t, 0 <= s -> s < t -> A t < A s) ->
  exists e, equal_division n lo hi (length deviation) e
    /\ unique_optimum n lo hi A (length deviation) e (A (length deviation lo hi / n%:R)).
Proof.
move=> n0 lohi A_dec; apply: unique_maximin_ladder_lebesgue => //.
- exact: deviation_continuous.
- by move=> s; apply: sqrtr_ge0.
by move=> s _; apply: deviation_positive.
Qed.

End PowerLadder.

(** ** eq:swap-log-ratio-moments *)
Section Moments.
Variables (R : realType) (S : finType) (U : S -> R) (x0 : S).
Implicit Types (a b : R).
Notation family := (energy_derivative.family U).

(** G = (b - a) (U(y) - U(x)), x from pi_a and y from pi_b. *)
Definition log_ratio a b (x y : S) : R := (b - a) * (U y - U x).

Definition pair_mean a b (F : S -> S -> R) : R := \sum_x \sum_y family a x * family b y * F x y.

Lemma pair_mean_left a b (f : S -> R) : pair_mean a b (fun x _ => f x) = \sum_x family a x * f x.
Proof.
apply: eq_bigr => x _; under eq_bigr do rewrite mulrAC.
by rewrite -mulr_sumr (proj2 (family_law U x0 b)) mulr1.
Qed.

Lemma pair_mean_right a b (f : S -> R) : pair_mean a b (fun _ y => f y) = \sum_y family b y * f y.
Proof.
rewrite /pair_mean exchange_big; apply: eq_bigr => y _ /=.
under eq_bigr do rewrite -mulrA; rewrite -mulr_suml.
by rewrite (proj2 (family_law U x0 a)) mul1r.
Qed.

(** The integral of sigma^2 is the fall of the mean energy. *)
Theorem energy_integral lo hi :
  integral_of lo hi (variance U) (fun a b => mean_energy U a - mean_energy U b).
Proof.
have d s : is_derive s 1 (fun s => - mean_energy U s) (variance U s).
  have := @is_deriveN _ _ _ _ s 1 _ (mean_energy_derivative U x0 s).
  by rewrite opprK.
have cont : continuous (fun s => - mean_energy U s).
  move=> s; have c : {for s, continuous (mean_energy U)} := @mean_continuous _ _ U x0 U s.
  exact: (continuousN c).
have := @antiderivative_integral _ lo hi (fun s => - mean_energy U s) (variance U)
  (continuous_subspaceT cont) (fun s _ => d s).
case=> _ bound; split=> [x y z _ _ _ _|x y m M lx xy yh mM].
  by rewrite addrA subrK.
by have := bound x y m M lx xy yh mM; rewrite opprK [- mean_energy U y + _]addrC.
Qed.

Theorem log_ratio_mean a b :
  pair_mean a b (log_ratio a b) = - (b - a) * (mean_energy U a - mean_energy U b).
Proof.
have -> : pair_mean a b (log_ratio a b) =
    (b - a) * (pair_mean a b (fun _ y => U y) - pair_mean a b (fun x _ => U x)).
  rewrite /pair_mean -sumrB mulr_sumr; apply: eq_bigr => x _.
  rewrite -sumrB mulr_sumr; apply: eq_bigr => y _.
  by rewrite /log_ratio -mulrBr mulrCA.
by rewrite pair_mean_left pair_mean_right mulNr -mulrN opprB.
Qed.

Theorem log_ratio_variance a b :
  pair_mean a b (fun x y => (log_ratio a b x y - pair_mean a b (log_ratio a b)) ^+ 2)
  = (b - a) ^+ 2 * (variance U a + variance U b).
Proof.
set ma := mean_energy U a; set mb := mean_energy U b.
have split x y : (log_ratio a b x y - pair_mean a b (log_ratio a b)) ^+ 2 =
    (b - a) ^+ 2 * ((U x - ma) ^+ 2 + (U y - mb) ^+ 2 - (U x - ma) * (U y - mb) *+ 2).
  rewrite log_ratio_mean /log_ratio mulNr opprK -mulrDr exprMn; congr (_ * _).
  have -> : U y - U x + (ma - mb) = (U y - mb) - (U x - ma).
    by rewrite opprB [LHS](AC (2*2) ((1*4)*(3*2)))%AC.
  by rewrite sqrrB [(U y - mb) * _]mulrC [LHS](AC 3 (3*1*2))%AC.
have cross : pair_mean a b (fun x y => (U x - ma) * (U y - mb)) = 0.
  have -> : pair_mean a b (fun x y => (U x - ma) * (U y - mb)) =
      (\sum_x family a x * (U x - ma)) * (\sum_y family b y * (U y - mb)).
    rewrite mulr_suml; apply: eq_bigr => x _; rewrite mulr_sumr; apply: eq_bigr => y _.
    by rewrite mulrACA.
  have -> : \sum_x family a x * (U x - ma) = 0; last by rewrite mul0r.
  under eq_bigr do rewrite mulrBr.
  by rewrite sumrB -mulr_suml (proj2 (family_law U x0 a)) mul1r subrr.
transitivity ((b - a) ^+ 2 * (pair_mean a b (fun x _ => (U x - ma) ^+ 2)
    + pair_mean a b (fun _ y => (U y - mb) ^+ 2)
    - pair_mean a b (fun x y => (U x - ma) * (U y - mb)) *+ 2)).
  rewrite /pair_mean -sumrMnl -big_split /= -sumrB mulr_sumr; apply: eq_bigr => x _.
  rewrite -sumrMnl -big_split /= -sumrB mulr_sumr; apply: eq_bigr => y _.
  rewrite split mulrCA; congr (_ * _).
  by rewrite mulrBr mulrDr mulrnAr.
by rewrite cross mul0rn subr0 pair_mean_left pair_mean_right.
Qed.

End Moments.
