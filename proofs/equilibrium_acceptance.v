(** The exact equilibrium acceptance of a swap falls as its gap widens
    (subsec:thermodynamic-coordinate).

    For two rungs at equilibrium it is  sum_{x,y} min(p(x) q(y), p(y) q(x)).  Nothing
    Gaussian is assumed: it is monotone on every finite state space.

    - [overlap p q]             the acceptance, E[1 /\ ratio] ([overlapE])
    - [tilts U p q]             q is p tilted towards low energy U
    - [overlap_decreasing]      tilting one rung further never raises it;
      [overlap_strictly_decreasing] lowers it, when U is not constant            *)
From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Acceptance.
Variables (R : realFieldType) (S : finType).
Implicit Types (p q : S -> R) (U : S -> R) (x y : S).

Definition overlap p q : R := \sum_x \sum_y Num.min (p x * q y) (p y * q x).

(** E[1 /\ p(y) q(x) / (p(x) q(y))], x from p and y from q. *)
Lemma overlapE p q : (forall x, 0 < p x) -> (forall x, 0 < q x) ->
  overlap p q = \sum_x \sum_y p x * q y * Num.min 1 ((p y * q x) / (p x * q y)).
Proof.
move=> p0 q0; apply: eq_bigr => x _; apply: eq_bigr => y _.
have pq : 0 < p x * q y by rewrite mulr_gt0.
by rewrite minr_pmulr ?(ltW pq) // mulr1 [p x * q y * _]mulrC divfK // gt_eqF.
Qed.

Lemma overlap_sym p q : overlap p q = overlap q p.
Proof.
rewrite /overlap exchange_big; apply: eq_bigr => x _; apply: eq_bigr => y _.
by rewrite [p y * _]mulrC [p x * _]mulrC.
Qed.

(** The likelihood ratio q/p does not increase with the energy. *)
Definition tilts U p q : Prop := forall x y, U x <= U y -> q y * p x <= q x * p y.
Definition strictly_tilts U p q : Prop := forall x y, U x < U y -> q y * p x < q x * p y.

Section OneTilt.
Variables (U : S -> R) (p q : S -> R).
Hypothesis p_law : law p.
Hypothesis q_law : law q.
Hypothesis p_to_q : tilts U p q.

(** p(U < U(y)) + p(U <= U(y)): the share of p below y, ties by half, twice. *)
Definition height y : R := prob p (fun x => U x < U y) + prob p (fun x => U x <= U y).

Lemma height_mono x y : U x <= U y -> height x <= height y.
Proof.
move=> xy; have p0 z : 0 <= p z by case: p_law.
rewrite /height /prob; apply: ler_add; rewrite big_mkcond [X in _ <= X]big_mkcond.
  apply: ler_sum => z _; case: ifP => [zx|_]; last by case: ifP.
  by rewrite (lt_le_trans zx).
apply: ler_sum => z _; case: ifP => [zx|_]; last by case: ifP.
by rewrite (le_trans zx).
Qed.

Lemma overlap_height : overlap p q = \sum_y q y * height y.
Proof.
have cell x y : Num.min (p x * q y) (p y * q x) =
    (if U x <= U y then p x * q y else 0) + (if U y < U x then p y * q x else 0).
  have [xy|yx] := lerP (U x) (U y).
    by rewrite addr0 min_l // mulrC [p y * _]mulrC p_to_q.
  by rewrite add0r min_r // mulrC [p x * _]mulrC p_to_q // ltW.
rewrite /overlap; under eq_bigr do under eq_bigr do rewrite cell.
under eq_bigr do rewrite big_split /=.
rewrite big_split /= exchange_big /= -big_split /=; apply: eq_bigr => y _.
rewrite mulrDr addrC /prob !mulr_sumr; congr (_ + _).
  by rewrite [RHS]big_mkcond; apply: eq_bigr => x _; rewrite mulrC.
by rewrite [RHS]big_mkcond; apply: eq_bigr => x _; rewrite mulrC.
Qed.

End OneTilt.

(** Chebyshev: a further tilt lowers the mean of what rises with the energy. *)
Lemma tilt_mean U q q' (f : S -> R) : law q -> law q' -> tilts U q q' ->
  (forall x y, U x <= U y -> f x <= f y) ->
  (\sum_y q y * f y) - (\sum_y q' y * f y) =
  2%:R^-1 * (\sum_x \sum_y (q x * q' y - q y * q' x) * (f x - f y))
  /\ forall x y, 0 <= (q x * q' y - q y * q' x) * (f x - f y).
Proof.
move=> [_ q1] [_ q'1] tilt mono; split=> [|x y]; last first.
  have [xy|/ltW yx] := lerP (U x) (U y).
    apply: mulr_le0; rewrite subr_le0 ?mono //.
    by rewrite mulrC [q y * _]mulrC tilt.
  apply: mulr_ge0; rewrite subr_ge0 ?mono //.
  by rewrite mulrC [q x * _]mulrC tilt.
pose D := (\sum_y q y * f y) - (\sum_y q' y * f y).
have one : \sum_x \sum_y q x * q' y * (f x - f y) = D.
  rewrite /D -[\sum_y q y * f y]mulr1 -[in RHS]q'1 mulr_suml.
  rewrite -[\sum_y q' y * f y]mul1r -q1 mulr_suml -sumrB; apply: eq_bigr => x _.
  rewrite !mulr_sumr -sumrB; apply: eq_bigr => y _.
  by rewrite mulrBr [q x * q' y * f x]mulrAC -[q x * q' y * f y]mulrA.
have two : \sum_x \sum_y q y * q' x * (f x - f y) = - D.
  rewrite exchange_big -one -sumrN; apply: eq_bigr => x _; rewrite -sumrN.
  by apply: eq_bigr => y _; rewrite -mulrN opprB.
rewrite -/D (eq_bigr (fun x => (\sum_y q x * q' y * (f x - f y)) - (\sum_y q y * q' x * (f x - f y)))).
  by rewrite sumrB one two opprK -[D + D]mulr2n -[D *+ 2]mulr_natl mulKf // pnatr_eq0.
by move=> x _; rewrite -sumrB; apply: eq_bigr => y _; rewrite mulrBl.
Qed.

Section Widen.
Variables (U : S -> R) (p q q' : S -> R).
Hypothesis p_law : law p.
Hypothesis q_law : law q.
Hypothesis q'_law : law q'.
Hypothesis p_to_q : tilts U p q.
Hypothesis p_to_q' : tilts U p q'.
Hypothesis q_to_q' : tilts U q q'.

Theorem overlap_decreasing : overlap p q' <= overlap p q.
Proof.
rewrite (overlap_height p_to_q) (overlap_height p_to_q') -subr_ge0.
have [-> pos] := tilt_mean q_law q'_law q_to_q' (height_mono p_law).
by rewrite mulr_ge0 ?invr_ge0 ?ler0n // sumr_ge0 // => x _; apply: sumr_ge0.
Qed.

Hypothesis p_positive : forall x, 0 < p x.
Hypothesis q_to_q'_strictly : strictly_tilts U q q'.

Lemma height_strict x y : U x < U y -> height U p x < height U p y.
Proof.
move=> xy; have p0 z : 0 <= p z by apply: ltW.
rewrite /height; apply: ler_lt_add; rewrite /prob.
  rewrite big_mkcond [X in _ <= X]big_mkcond; apply: ler_sum => z _.
  by case: ifP => [zx|_]; [rewrite (lt_trans zx) | case: ifP].
rewrite [X in _ < X](bigD1 y) //= big_mkcond [X in _ < _ + X]big_mkcond.
rewrite ltr_spaddl ?p_positive //; apply: ler_sum => z _; case: ifP => [zx|_]; last by case: ifP.
have lt := le_lt_trans zx xy; rewrite (ltW lt) /=.
by case: eqP => // e; rewrite e ltxx in lt.
Qed.

Theorem overlap_strictly_decreasing : (exists x y, U x != U y) -> overlap p q' < overlap p q.
Proof.
case=> a [b ab]; have [x [y xy]] : exists x y, U x < U y.
  by move: ab; rewrite neq_lt => /orP[lt|lt]; [exists a, b | exists b, a].
rewrite (overlap_height p_to_q) (overlap_height p_to_q') -subr_gt0.
have [-> pos] := tilt_mean q_law q'_law q_to_q' (height_mono p_law).
rewrite mulr_gt0 ?invr_gt0 ?ltr0n // (bigD1 x) //= (bigD1 y) //= -addrA ltr_spaddl //.
  rewrite nmulr_rgt0 subr_lt0 ?height_strict //.
  by rewrite mulrC [q y * _]mulrC q_to_q'_strictly.
by rewrite addr_ge0 //; apply: sumr_ge0 => // z _; apply: sumr_ge0.
Qed.

End Widen.

(** The lower rung may move as well: the gap widens downwards. *)
Theorem overlap_decreasing_below U p p' q : law p -> law p' -> law q ->
  tilts U p q -> tilts U p' q -> tilts U p' p -> overlap p' q <= overlap p q.
Proof.
move=> lp lp' lq pq p'q p'p; rewrite overlap_sym [X in _ <= X]overlap_sym.
have flip a b : tilts U a b -> tilts (fun x => - U x) b a.
  by move=> t x y; rewrite ler_opp2 => /t; rewrite [b x * _]mulrC [b y * _]mulrC.
exact: (overlap_decreasing lq lp lp' (flip _ _ pq) (flip _ _ p'q) (flip _ _ p'p)).
Qed.

End Acceptance.
