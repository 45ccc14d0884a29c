(** The max-min ladder (thm:unique-maximin-ladder,
    cor:arithmetic-geometric-ladders).

    Rungs are numbered 1..K, K = n+1, as in the paper.  [d] is any length on
    [lo, hi] that is additive along the interval and positive on every proper
    piece, and the predicted acceptance of an interface is A (d alpha beta) for any
    strictly decreasing A.  The paper's d is the integral of sigma and its A is
    2 Phi (- d / sqrt 2); nothing but these two properties is used. *)
From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Ladder.
Variables (R : realFieldType) (n : nat) (lo hi : R) (d : R -> R -> R) (A : R -> R).
Local Notation K := n.+1.

(** Feasible ladders: fixed endpoints, strictly increasing powers. *)
Definition ladder (alpha : nat -> R) : Prop :=
  [/\ alpha 1%N = lo, alpha K = hi & forall k, (0 < k <= n)%N -> alpha k < alpha k.+1].

(** The acceptance of interface k and the weakest of the K-1 interfaces. *)
Definition acceptance (alpha : nat -> R) (k : nat) : R := A (d (alpha k) (alpha k.+1)).

Definition weakest (alpha : nat -> R) : R :=
  \big[Num.min/acceptance alpha 1]_(1 <= k < K) acceptance alpha k.

(** Eq. eq:equal-thermodynamic-distance. *)
Definition equal_division (alpha : nat -> R) : Prop :=
  forall k, (0 < k <= n)%N -> d (alpha k) (alpha k.+1) = d lo hi / n%:R.

Hypothesis n_positive : (0 < n)%N.
Hypothesis additive : forall x y z, lo <= x -> x <= y -> y <= z -> z <= hi ->
  d x z = d x y + d y z.
Hypothesis positive : forall x y, lo <= x -> x < y -> y <= hi -> 0 < d x y.
Hypothesis A_decreasing : forall s t, 0 <= s -> s < t -> A t < A s.

Lemma length_diag x : lo <= x -> x <= hi -> d x x = 0.
Proof.
move=> lx xh; have /eqP := additive lx (lexx x) (lexx x) xh.
by rewrite -[X in X == _]addr0 (inj_eq (addrI _)) eq_sym => /eqP.
Qed.

Lemma length_inj x y : lo <= x -> x <= hi -> lo <= y -> y <= hi ->
  d lo x = d lo y -> x = y.
Proof.
move=> lx xh ly yh e; apply/eqP; rewrite eq_le !leNgt; apply/andP; split; apply/negP => xy.
  have := positive ly xy xh.
  by rewrite -(ltr_add2l (d lo y)) addr0 -(additive (lexx lo) ly (ltW xy) xh) e ltxx.
have := positive lx xy yh.
by rewrite -(ltr_add2l (d lo x)) addr0 -(additive (lexx lo) lx (ltW xy) yh) e ltxx.
Qed.

Lemma interfaceE (P : nat -> Prop) :
  (forall k, k \in index_iota 1 K -> P k) <-> (forall k, (0 < k <= n)%N -> P k).
Proof. by split=> h k kn; apply: h; move: kn; rewrite mem_index_iota ltnS. Qed.

Lemma weakest_le alpha k : (0 < k <= n)%N -> weakest alpha <= acceptance alpha k.
Proof.
move: k; apply/interfaceE; rewrite /weakest.
elim: (index_iota _ _) => [//|j s IH] k; rewrite inE big_cons le_minl.
by case/predU1P=> [->|/IH ->]; rewrite ?lexx ?orbT.
Qed.

Lemma le_weakest alpha c :
  (forall k, (0 < k <= n)%N -> c <= acceptance alpha k) -> c <= weakest alpha.
Proof.
move=> h; have h1 : c <= acceptance alpha 1 by apply: h; rewrite n_positive.
move/interfaceE: h; rewrite /weakest; elim: (index_iota _ _) => [|j s IH] h.
  by rewrite big_nil.
rewrite big_cons le_minr h ?mem_head //= IH // => k ks.
by apply: h; rewrite inE ks orbT.
Qed.

Section OneLadder.
Variable alpha : nat -> R.
Hypothesis alpha_ladder : ladder alpha.

Lemma ladder_le j k : (0 < j)%N -> (j <= k)%N -> (k <= K)%N -> alpha j <= alpha k.
Proof.
case: alpha_ladder => _ _ inc j0; elim: k => [|k IH]; first by rewrite leqn0 => /eqP ->.
rewrite leq_eqVlt => /predU1P[-> //|jk kK].
apply: le_trans (IH jk (ltnW kK)) (ltW (inc k _)).
by rewrite (leq_trans j0 jk).
Qed.

Lemma ladder_ge_lo k : (0 < k <= K)%N -> lo <= alpha k.
Proof. by case: alpha_ladder => <- _ _ /andP[k0 kK]; exact: ladder_le. Qed.

Lemma ladder_le_hi k : (0 < k <= K)%N -> alpha k <= hi.
Proof. by case: alpha_ladder => _ <- _ /andP[k0 kK]; exact: ladder_le. Qed.

Lemma gap_positive k : (0 < k <= n)%N -> 0 < d (alpha k) (alpha k.+1).
Proof.
move=> kn; have /andP[k0 kn'] := kn; have [_ _ inc] := alpha_ladder.
have kK : (0 < k <= K)%N by rewrite k0 leqW.
exact: positive (ladder_ge_lo kK) (inc k kn) (@ladder_le_hi k.+1 kn').
Qed.

(** Lengths add up along the ladder. *)
Lemma length_to k : (0 < k <= K)%N ->
  d lo (alpha k) = \sum_(1 <= j < k) d (alpha j) (alpha j.+1).
Proof.
case: k => // k; rewrite ltnS /= => kn; elim: k kn => [|k IH] kn.
  have [a1 _ _] := alpha_ladder; rewrite big_geq // -{1}a1 length_diag //.
    by rewrite ladder_ge_lo.
  by rewrite ladder_le_hi.
rewrite big_nat_recr //= -IH 1?ltnW //; apply: additive => //.
- exact: (@ladder_ge_lo k.+1 (leqW kn)).
- exact: ladder_le.
- exact: (@ladder_le_hi k.+2).
Qed.

Lemma total_length : \sum_(1 <= j < K) d (alpha j) (alpha j.+1) = d lo hi.
Proof. by rewrite -length_to ?ltnS ?leqnn //; case: alpha_ladder => _ ->. Qed.

(** Gaps that do not exceed their average are equal to it. *)
Lemma gaps_below_average :
  (forall k, (0 < k <= n)%N -> d (alpha k) (alpha k.+1) <= d lo hi / n%:R) ->
  equal_division alpha.
Proof.
move=> below k kn; apply/eqP; rewrite eq_sym -subr_eq0; apply/eqP; move: k kn.
have slack : \sum_(1 <= j < K) (d lo hi / n%:R - d (alpha j) (alpha j.+1)) == 0.
  rewrite sumrB total_length sumr_const_nat subSS subn0 -[_ *+ n]mulr_natr.
  by rewrite mulfVK ?subrr // pnatr_eq0 -lt0n.
move: slack; rewrite big_nat_cond psumr_eq0 => [/allP zero k kn|k]; last first.
  by rewrite andbT ltnS => kn; rewrite subr_ge0 below.
by apply/eqP/(implyP (zero k _)); rewrite ?mem_index_iota ?andbT ltnS.
Qed.

Lemma equal_division_acceptance k : equal_division alpha -> (0 < k <= n)%N ->
  acceptance alpha k = A (d lo hi / n%:R).
Proof. by move=> eqd kn; rewrite /acceptance eqd. Qed.

Lemma equal_division_weakest : equal_division alpha -> weakest alpha = A (d lo hi / n%:R).
Proof.
move=> eqd; apply/eqP; rewrite eq_le; apply/andP; split.
  by rewrite -(@equal_division_acceptance 1 eqd) ?weakest_le ?n_positive.
by apply: le_weakest => k kn; rewrite equal_division_acceptance.
Qed.

Lemma average_ge0 : 0 <= d lo hi / n%:R.
Proof.
rewrite -total_length divr_ge0 ?ler0n // big_nat_cond sumr_ge0 // => k.
by rewrite andbT ltnS => kn; rewrite ltW // gap_positive.
Qed.

(** The only way to reach A (D / (K-1)) at every interface is equal division. *)
Lemma weakest_reaches : A (d lo hi / n%:R) <= weakest alpha -> equal_division alpha.
Proof.
move=> reach; apply: gaps_below_average => k kn; rewrite leNgt; apply/negP => large.
have := A_decreasing average_ge0 large.
by rewrite ltNge (le_trans reach) ?weakest_le.
Qed.

Theorem weakest_bound : weakest alpha <= A (d lo hi / n%:R).
Proof.
rewrite leNgt; apply/negP => above.
by have := equal_division_weakest (weakest_reaches (ltW above)); move/eqP; rewrite gt_eqF.
Qed.

(** Equal division is the same as equal acceptances (eq:equi-accepting-ladder). *)
Theorem equi_accepting :
  equal_division alpha <-> forall k, (0 < k <= n)%N -> acceptance alpha k = acceptance alpha 1.
Proof.
split=> [eqd k kn|equi]; first by rewrite !equal_division_acceptance // n_positive.
have same k : (0 < k <= n)%N -> d (alpha k) (alpha k.+1) = d (alpha 1%N) (alpha 2%N).
  move=> kn; have := equi k kn; rewrite /acceptance => e.
  have one : (0 < 1 <= n)%N by rewrite n_positive.
  apply/eqP; rewrite eq_le !leNgt; apply/andP; split; apply/negP.
    by move/(A_decreasing (ltW (gap_positive one))); rewrite e ltxx.
  by move/(A_decreasing (ltW (gap_positive kn))); rewrite e ltxx.
move=> k kn; rewrite same // -total_length.
rewrite (eq_big_nat _ _ (F2 := fun=> d (alpha 1%N) (alpha 2%N))) => [|j jn]; last first.
  by apply: same; move: jn; rewrite ltnS.
by rewrite sumr_const_nat subSS subn0 -[_ *+ n]mulr_natr mulfK // pnatr_eq0 -lt0n.
Qed.

Lemma equal_division_length k : equal_division alpha -> (0 < k <= K)%N ->
  d lo (alpha k) = (k - 1)%:R * (d lo hi / n%:R).
Proof.
move=> eqd kK; rewrite length_to //.
rewrite (eq_big_nat _ _ (F2 := fun=> d lo hi / n%:R)) => [|j /andP[j0 jk]]; last first.
  by apply: eqd; rewrite j0 -ltnS; case/andP: kK => _; apply: leq_trans.
by rewrite sumr_const_nat mulr_natl.
Qed.

End OneLadder.

(** Equal division determines the powers. *)
Lemma equal_division_unique alpha beta :
  ladder alpha -> ladder beta -> equal_division alpha -> equal_division beta ->
  forall k, (0 < k <= K)%N -> alpha k = beta k.
Proof.
move=> la lb ea eb k kK; apply: length_inj.
- exact: (ladder_ge_lo la).
- exact: (ladder_le_hi la).
- exact: (ladder_ge_lo lb).
- exact: (ladder_le_hi lb).
by rewrite !equal_division_length.
Qed.

(** An equal division is max-min optimal, and no other ladder is. *)
Theorem equal_division_is_unique_optimum e : ladder e -> equal_division e ->
  [/\ forall k, (0 < k <= n)%N -> acceptance e k = A (d lo hi / n%:R),
      forall alpha, ladder alpha -> weakest alpha <= weakest e
    & forall alpha, ladder alpha -> weakest alpha = weakest e ->
        forall k, (0 < k <= K)%N -> alpha k = e k].
Proof.
move=> le ee; split=> [k kn|alpha la|alpha la same].
- exact: equal_division_acceptance.
- by rewrite (equal_division_weakest ee) weakest_bound.
apply: equal_division_unique => //; apply: weakest_reaches => //.
by rewrite same equal_division_weakest.
Qed.

(** Finitely many choices need no axiom. *)
Lemma choose_rungs (Q : nat -> R -> Prop) m :
  (forall k, (k <= m)%N -> exists x, Q k x) ->
  exists e, forall k, (k <= m)%N -> Q k (e k).
Proof.
elim: m => [|m IH] ex.
  by have [x Qx] := ex 0%N (leqnn _); exists (fun=> x) => k; rewrite leqn0 => /eqP ->.
have [e Qe] := IH (fun k km => ex k (leqW km)).
have [x Qx] := ex m.+1 (leqnn _).
exists (fun k => if k == m.+1 then x else e k) => k; rewrite leq_eqVlt.
case: eqP => [-> //|_] /=; exact: Qe.
Qed.

Hypothesis lo_lt_hi : lo < hi.
Hypothesis onto : forall s, 0 <= s <= d lo hi -> exists x, lo <= x <= hi /\ d lo x = s.

Lemma equal_division_exists : exists e, ladder e /\ equal_division e.
Proof.
have D0 : 0 < d lo hi by apply: positive.
have n0 : 0 < n%:R :> R by rewrite ltr0n.
pose c := d lo hi / n%:R.
have c0 : 0 < c by rewrite divr_gt0.
have [e he] : exists e, forall k, (k <= n)%N -> lo <= e k <= hi /\ d lo (e k) = k%:R * c.
  apply: (@choose_rungs (fun k x => lo <= x <= hi /\ d lo x = k%:R * c)) => k kn.
  apply: onto; rewrite mulr_ge0 ?ler0n ?(ltW c0) //=.
  by rewrite /c mulrCA ger_pmulr // ler_pdivr_mulr // mul1r ler_nat.
have inside k : (k <= n)%N -> lo <= e k <= hi by case/he.
have at_k k : (k <= n)%N -> d lo (e k) = k%:R * c by case/he.
have inc k : (k < n)%N -> e k < e k.+1.
  move=> kn; rewrite ltNge; apply/negP => back.
  have /andP[_ kh] := inside k (ltnW kn); have /andP[kl _] := inside k.+1 kn.
  have : d lo (e k.+1) <= d lo (e k).
    rewrite (additive (lexx _) kl back kh) ler_addl.
    case: (eqVneq (e k.+1) (e k)) => [->|ne]; first by rewrite length_diag ?(le_trans kl back).
    by rewrite ltW // positive // lt_neqAle ne.
  by rewrite !at_k // 1?ltnW // ler_pmul2r // ler_nat ltnn.
exists (fun k => e k.-1); split.
  split=> [||[//|k] kn]; last by apply: inc.
    have /andP[l h] := inside 0%N isT.
    by apply: (length_inj l h); rewrite ?lexx ?ltW // at_k // mul0r length_diag // ltW.
  have /andP[l h] := inside n (leqnn n).
  apply: (length_inj l h); rewrite ?lexx ?ltW //.
  by rewrite at_k // /c mulrCA mulfV ?mulr1 // gt_eqF.
move=> [//|k] kn /=; have /andP[_ kh] := inside k.+1 kn; have /andP[kl _] := inside k (ltnW kn).
have := additive (lexx lo) kl (ltW (inc k kn)) kh.
by rewrite !at_k ?(ltnW kn) // mulrS mulrDl mul1r addrC => /addrI <-.
Qed.

(** thm:unique-maximin-ladder: the problem has exactly one solution, the ladder
    that divides the length equally. *)
Theorem unique_maximin_ladder :
  exists e, [/\ ladder e, equal_division e,
      forall k, (0 < k <= n)%N -> acceptance e k = A (d lo hi / n%:R),
      forall alpha, ladder alpha -> weakest alpha <= weakest e
    & forall alpha, ladder alpha -> weakest alpha = weakest e ->
        forall k, (0 < k <= K)%N -> alpha k = e k].
Proof.
have [e [le ee]] := equal_division_exists; exists e.
by have [] := equal_division_is_unique_optimum le ee.
Qed.

End Ladder.
