(** The exact equilibrium acceptance of a swap falls as its gap widens
    (subsec:thermodynamic-coordinate).

    For two rungs at equilibrium it is  sum_{x,y} min(p(x) q(y), p(y) q(x)).  Nothing
    Gaussian is assumed: it is monotone on every finite state space.

    - [overlap p q]             the acceptance, E[1 /\ ratio] ([overlapE]); of the
      sampler's own swap, at any edge of any ladder ([swap_overlap])
    - [tilts U p q]             q is p tilted towards low energy U
    - [overlap_decreasing]      tilting one rung further never raises it;
      [overlap_strictly_decreasing] lowers it, when U is not constant            *)
From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov replica_exchange.
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

(** The sampler's swap along edge k, its whole state drawn from the product target. *)
Section Swap.
Variables (R : realFieldType) (S : finType) (n : nat).
Variable pi : 'I_n.+1 -> S -> R.
Hypothesis pi_law : forall i, law (pi i).
Hypothesis pi_gt0 : forall i x, 0 < pi i x.
Local Notation state := {ffun 'I_n.+1 -> S}.

(** Two coordinates of a product law are independent. *)
Lemma product_pair (i j : 'I_n.+1) (F : S -> S -> R) : i != j ->
  \sum_(X : state) product pi X * F (X i) (X j) = \sum_x \sum_y pi i x * pi j y * F x y.
Proof.
move=> ij; have ji : j != i by rewrite eq_sym.
pose at_ x y k z := pi k z *
  (if k == i then (z == x)%:R else if k == j then (z == y)%:R else 1).
have mass x y : \sum_(X : state) product pi X * ((X i == x)%:R * (X j == y)%:R) = pi i x * pi j y.
  rewrite (eq_bigr (fun X : state => \prod_k at_ x y k (X k))) => [|X _]; last first.
    rewrite /at_ big_split /=; congr (_ * _).
    rewrite (bigD1 i) //= eqxx (bigD1 j) //= (negPf ji) eqxx.
    rewrite big1 ?mulr1 // => k /andP[/negPf -> /negPf ->]; by [].
  rewrite -(bigA_distr_bigA (at_ x y)) (bigD1 i) //= (bigD1 j) //= [X in _ * (_ * X)]big1 => [|k /andP[ki kj]].
    rewrite mulr1 /at_; congr (_ * _).
      by rewrite -(sum_idk x (pi i)); apply: eq_bigr => z _; rewrite eqxx.
    by rewrite -(sum_idk y (pi j)); apply: eq_bigr => z _; rewrite (negPf ji) eqxx.
  rewrite /at_ (negPf ki) (negPf kj); under eq_bigr do rewrite mulr1.
  by case: (pi_law k).
under [RHS]eq_bigr do under eq_bigr do rewrite -mass mulr_suml.
under [RHS]eq_bigr do rewrite exchange_big.
rewrite [RHS]exchange_big /=; apply: eq_bigr => X _.
rewrite (bigD1 (X i)) //= (bigD1 (X j)) //= !eqxx !mulr1.
rewrite big1 => [|y /negPf yn]; last by rewrite eq_sym yn mulr0 mulr0 mul0r.
rewrite addr0 big1 ?addr0 // => x /negPf xn; rewrite big1 // => y _.
by rewrite eq_sym xn mul0r mulr0 mul0r.
Qed.

Theorem swap_overlap (k : 'I_n) :
  \sum_(X : state) product pi X * swap_accept pi k X = overlap (pi (lower k)) (pi (upper k)).
Proof.
rewrite overlapE // -(product_pair _ (lower_upper k)); apply: eq_bigr => X _; congr (_ * _).
by rewrite /swap_accept swap_ratio // [pi (lower k) (X (upper k)) * _]mulrC mulrC.
Qed.

End Swap.
