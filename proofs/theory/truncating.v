(** * The truncating local kernel on the enlarged comparison space

    sec:truncation-lower-bound.  The comparison space holds every supported record
    of 1 to T tokens, terminated or not, padded to the horizon.  The kernel
    restarts uniformly on the current record, regenerates no further than its
    current length, and compares token scores through the candidate's endpoint.

    - [tokens_of x]      len(x) on the comparison space: tokens before the padding
    - [capped n]         the proposal g up to n tokens, padding from there on
    - [truncating x y]   the kernel, rejections on the diagonal                   *)

From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov autoregressive record_space power power_target.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Truncating.
Variables (R : realFieldType) (V : finType) (E : {set V}).
Variable lm : seq V -> V -> R.
Variable alpha : power R.
Variable T : nat.

Notation record := (record V T).
Notation p0 := (p0 E lm).
Notation g := (g E lm alpha).
Notation supported := (supported E lm).
Implicit Types (h s : seq (option V)) (o : option V).

Definition tokens_of s : nat := find (fun o => o == bot) s.

Definition comparable (x : record) : bool :=
  [&& (0 < tokens_of x)%N, supported (take (tokens_of x) x)
    & all (fun o => o == bot) (drop (tokens_of x) x)].

Definition comparison := {x : record | comparable x}.
Implicit Types x y : comparison.

Definition capped (n : nat) h o : R := if (size h < n)%N then g h o else (o == bot)%:R.

(** Keep r tokens, regenerate up to the current length. *)
Definition capped_proposal (r : nat) x y : R :=
  (take r (val y) == take r (val x))%:R * suffix bot (capped (tokens_of (val x))) r (val y).

(** prod_{r <= t < m} f(s_t | s_{<t}) *)
Definition score (f : seq (option V) -> option V -> R) (r m : nat) s : R :=
  \prod_(r <= t < m) f (take t s) (nth bot s t).

Definition powered h o : R := alpha (p0 h o).

(** Token scores through the candidate's endpoint; no check of reverse support. *)
Definition truncated_accept (r : nat) x y : R :=
  let m := tokens_of (val y) in
  Num.min 1 ((score powered r m (val y) * score g r m (val x))
             / (score powered r m (val x) * score g r m (val y))).

Definition truncated_move x y : R :=
  let n := tokens_of (val x) in
  \sum_(0 <= r < n) n%:R^-1 * (capped_proposal r x y * truncated_accept r x y).

Definition truncating x y : R :=
  if y == x then 1 - \sum_(w | w != x) truncated_move x w else truncated_move x y.

Hypothesis lm_model : model E lm.

Lemma capped_ge0 n h o : 0 <= capped n h o.
Proof. by rewrite /capped; case: ifP => _; rewrite ?g_ge0 ?ler0n. Qed.

Lemma tokens_of_gt0 x : (0 < tokens_of (val x))%N.
Proof. by case/and3P: (valP x). Qed.

Lemma tokens_of_le x : (tokens_of (val x) <= T)%N.
Proof. by rewrite -[X in (_ <= X)%N](size_tuple (val x)) find_size. Qed.

Lemma comparable_take x r : (r <= tokens_of (val x))%N -> supported (take r (val x)).
Proof.
move=> le; case/and3P: (valP x) => _ s _.
by rewrite -(take_take le); apply: supported_take.
Qed.

Lemma capped_proposal_ge0 r x y : 0 <= capped_proposal r x y.
Proof. by rewrite mulr_ge0 ?ler0n // suffix_ge0 //; apply: capped_ge0. Qed.

Lemma capped_proposal_sum r x : (r <= tokens_of (val x))%N ->
  \sum_y capped_proposal r x y <= 1.
Proof.
move=> rn; set n := tokens_of (val x); set h := take r (val x).
have rT : (r <= T)%N by apply: leq_trans rn (tokens_of_le x).
have sh : supported h by apply: comparable_take.
have size_h : size h = r by rewrite size_takel ?size_tuple.
pose F (s : seq (option V)) := suffix bot (capped n) r s.
apply: (@le_trans _ _ (\sum_(y : record) (take r y == h)%:R * F y)).
  have -> : \sum_y capped_proposal r x y =
            \sum_(y : record | comparable y) (take r y == h)%:R * F y.
    rewrite [RHS](reindex_omap (val : comparison -> record) insub) /=.
      by apply: eq_bigl => y; rewrite (valP y) valK eqxx.
    by move=> y cy; rewrite insubT.
  rewrite [X in _ <= X](bigID comparable) /= ler_addl sumr_ge0 // => y _.
  by rewrite mulr_ge0 ?ler0n // /F suffix_ge0 // => h' o; apply: capped_ge0.
rewrite (eq_bigr (fun y : record => if take r y == h then F y else 0)); last first.
  by move=> y _; case: eqP => _; rewrite ?mul1r ?mul0r.
rewrite -big_mkcond -{1}size_h sum_prefix ?size_h //.
rewrite (eq_bigr (fun u : (T - r).-tuple (option V) => chain (capped n) h u)).
  rewrite (sum_chain (reach := fun h' => (n <= size h')%N || supported h')) ?sh ?orbT //.
  - move=> h' rh'; rewrite /capped; case: ltnP => [lt|ge].
      move: rh'; rewrite leqNgt lt /= => sh'.
      by case: (law_g alpha lm_model sh').
    by rewrite sum_option /= big1 ?addr0.
  - move=> h' o rh'; rewrite /capped size_rcons; case: ltnP => [lt|ge] go.
      apply/orP; right; move: rh'; rewrite leqNgt lt /= => sh'.
      exact: (g_reach lm_model sh' go).
    by rewrite (leq_trans ge).
by move=> u _; rewrite /F -{1}size_h suffix_cat.
Qed.

Lemma score_ge0 f r m s : (forall h o, 0 <= f h o) -> 0 <= score f r m s.
Proof. by move=> f0; apply: prodr_ge0. Qed.

Lemma truncated_accept_ge0 r x y : 0 <= truncated_accept r x y.
Proof.
have p h o : 0 <= powered h o by apply: pow_ge0; apply: p0_ge0.
rewrite /truncated_accept le_minr ler01 divr_ge0 // mulr_ge0 // score_ge0 //;
  by move=> *; apply: g_ge0.
Qed.

Lemma truncated_accept_le1 r x y : truncated_accept r x y <= 1.
Proof. by rewrite /truncated_accept le_minl lexx. Qed.

Lemma truncated_move_ge0 x y : 0 <= truncated_move x y.
Proof.
apply: sumr_ge0 => r _; apply: mulr_ge0; first by rewrite invr_ge0 ler0n.
by apply: mulr_ge0; [apply: capped_proposal_ge0 | apply: truncated_accept_ge0].
Qed.

Theorem truncating_kernel : kernel truncating.
Proof.
move=> x; have le : \sum_(w | w != x) truncated_move x w <= 1.
  apply: (@le_trans _ _ (\sum_w truncated_move x w)).
    by rewrite [X in _ <= X](bigD1 x) //= ler_addr truncated_move_ge0.
  rewrite exchange_big /=; set n := tokens_of (val x).
  apply: (@le_trans _ _ (\sum_(0 <= r < n) n%:R^-1)).
    rewrite big_nat [X in _ <= X]big_nat; apply: ler_sum => r /andP[_ rn].
    rewrite -mulr_sumr ler_pimulr ?invr_ge0 ?ler0n //.
    apply: le_trans (capped_proposal_sum (ltnW rn)); apply: ler_sum => y _.
    by rewrite ler_pimulr ?capped_proposal_ge0 ?truncated_accept_le1.
  rewrite big_const_nat subn0 iter_addr_0 -[X in X <= _]mulr_natl mulfV //.
  by rewrite pnatr_eq0 -lt0n tokens_of_gt0.
split=> [y|].
  rewrite /truncating; case: ifP => _; first by rewrite subr_ge0.
  exact: truncated_move_ge0.
rewrite (bigD1 x) //= {1}/truncating eqxx.
rewrite [X in _ + X](eq_bigr (truncated_move x)) ?subrK //.
by move=> y yx; rewrite /truncating (negPf yx).
Qed.

(** A truncating update never lengthens a record. *)
Theorem truncating_never_lengthens x y :
  (tokens_of (val x) < tokens_of (val y))%N -> truncating x y = 0.
Proof.
move=> lt; rewrite /truncating; case: eqP => [e|_]; first by rewrite e ltnn in lt.
rewrite /truncated_move big_nat big1 // => r /andP[_ rn].
rewrite /capped_proposal /suffix; set n := tokens_of (val x).
have nT : (n < size (val y))%N by rewrite (leq_trans lt) // find_size.
rewrite (big_cat_nat _ (n := n)) ?(ltnW nT) ?(ltnW rn) //= [X in _ * (_ * X)]big_ltn //.
rewrite /capped size_takel ?(ltnW nT) // ltnn.
have /negPf -> : nth bot (val y) n != bot by rewrite (before_find _ lt).
by rewrite !(mul0r, mulr0).
Qed.

End Truncating.

Arguments truncating {R V E lm} alpha {T} x y.
Arguments truncated_move {R V E lm} alpha {T} x y.
