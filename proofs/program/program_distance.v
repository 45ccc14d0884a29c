(** * How far two laws of one program can be apart

    Two laws of the draw (the lottery as compiled and the one intended) give a program
    two laws.  Their distance is at most the sum, along the worst path, of the total
    variations of its draws.

    - [close D D' w d]    the draw of the tickets w: total variation at most d
    - [within p b]        along every path of p the draws' distances add up to at most b *)

From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov program.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Distance.
Variables (R : realFieldType) (ticket address : Type).
Notation program := (program ticket address).
Variables D D' : forall I : finType, (I -> ticket) -> I -> R.

(** Both may have mass 0, where no ticket was sold. *)
Definition close (I : finType) (w : I -> ticket) (d : R) : Prop :=
  [/\ forall i, 0 <= D w i, forall i, 0 <= D' w i, \sum_i D w i = \sum_i D' w i,
      \sum_i D w i <= 1 & tv (D w) (D' w) <= d].

Fixpoint within A (p : program A) (b : R) : Prop :=
  match p with
  | Done _ => 0 <= b
  | Draw _ _ w k => exists d b', [/\ close w d, forall i, within (k i) b', 0 <= b' & d + b' <= b]
  end.

Lemma within_ge0 A (p : program A) b : within p b -> 0 <= b.
Proof.
case: p => [x|a I w k] //= [d [b' [[_ _ _ _ c] _ b0 le]]].
by apply: le_trans le; rewrite addr_ge0 // (le_trans (tv_ge0 _ _) c).
Qed.

Lemma within_weaker A (p : program A) b c : b <= c -> within p b -> within p c.
Proof.
case: p => [x|a I w k] /= bc; first by move=> b0; apply: le_trans bc.
by case=> d [b' [cl wk b0 le]]; exists d, b'; split=> //; apply: le_trans bc.
Qed.

Lemma within_bind A B (p : program A) (f : A -> program B) b c : 0 <= c ->
  within p b -> (forall x, within (f x) c) -> within (bind p f) (b + c).
Proof.
move=> c0 + wf; elim: p b => [x|a I w k IH] b /=.
  by move=> b0; apply: within_weaker (wf x); rewrite ler_addr.
case=> d [b' [cl wk b0 le]]; exists d, (b' + c); split=> //.
- by move=> i; apply: IH.
- exact: addr_ge0.
by rewrite addrA ler_add2r.
Qed.

Lemma within_repeat A (f : nat -> A -> program A) b m i x : 0 <= b ->
  (forall j y, within (f j y) b) -> within (repeat m f i x) (m%:R * b).
Proof.
move=> b0 wf; elim: m i x => [|m IH] i x; first by rewrite /= mul0r.
rewrite mulrS mulrDl mul1r; by apply: within_bind => //; rewrite mulr_ge0 ?ler0n.
Qed.

Lemma within_each (J : finType) A (f : J -> A -> program A) b X : 0 <= b ->
  (forall j y, within (f j y) b) -> within (each_rung f X) (#|J|%:R * b).
Proof.
move=> b0 wf; rewrite /each_rung cardE; elim: (enum J) X => [|j s IH] X; first by rewrite /= mul0r.
rewrite mulrS mulrDl mul1r; by apply: within_bind => //; rewrite mulr_ge0 ?ler0n.
Qed.

Lemma expect01 (Q : forall I : finType, (I -> ticket) -> I -> R) A (p : program A) b F :
  (Q = D \/ Q = D') -> within p b -> (forall x, 0 <= F x <= 1) -> 0 <= expect Q p F <= 1.
Proof.
move=> QD + F01; elim: p b => [x|a I w k IH] b /=; first by move=> _; apply: F01.
case=> d [b' [[D0 D0' m le1 _] wk _ _]].
have [Q0 Q1] : (forall i, 0 <= Q I w i) /\ \sum_i Q I w i <= 1.
  by case: QD => ->; split=> //; rewrite -m.
have e01 i := IH i b' (wk i); apply/andP; split.
  by apply: sumr_ge0 => i _; rewrite mulr_ge0 //; case/andP: (e01 i).
apply: le_trans Q1; apply: ler_sum => i _; rewrite ler_pimulr //.
by case/andP: (e01 i).
Qed.

Theorem program_distance A (p : program A) b F : within p b -> (forall x, 0 <= F x <= 1) ->
  `|expect D p F - expect D' p F| <= b.
Proof.
move=> + F01; elim: p b => [x|a I w k IH] b /=; first by rewrite subrr normr0.
case=> d [b' [[D0 D0' m le1 c] wk b0 le]]; apply: le_trans le.
have e01 i : 0 <= expect D (k i) F <= 1 by apply: (expect01 _ (wk i)) => //; left.
have -> : \sum_i D w i * expect D (k i) F - \sum_i D' w i * expect D' (k i) F =
    \sum_i (D w i - D' w i) * (expect D (k i) F - 2%:R^-1)
    + \sum_i D' w i * (expect D (k i) F - expect D' (k i) F).
  under [in RHS]eq_bigr do rewrite mulrBr.
  rewrite sumrB -mulr_suml sumrB m subrr mul0r subr0.
  rewrite -big_split -sumrB /=; apply: eq_bigr => i _.
  by rewrite mulrBl mulrBr addrA subrK.
apply: le_trans (ler_norm_add _ _) _; apply: ler_add.
  apply: le_trans c; rewrite /tv mulr_sumr; apply: le_trans (ler_norm_sum _ _ _) _.
  apply: ler_sum => i _; rewrite normrM mulrC ler_wpmul2r //.
  have /andP[lo hi] := e01 i; rewrite ler_distl; apply/andP; split.
    by rewrite subrr.
  by apply: le_trans hi _; rewrite [X in X <= _]splitr !mul1r.
apply: le_trans (ler_norm_sum _ _ _) _.
apply: (@le_trans _ _ (\sum_i D' w i * b')).
  by apply: ler_sum => i _; rewrite normrM (ger0_norm (D0' i)) ler_wpmul2l // IH.
by rewrite -mulr_suml -m ler_pimull.
Qed.

End Distance.

(** A bound for every event is a bound in total variation. *)
Lemma tv_by_events (R : realFieldType) (S : finType) (mu nu : S -> R) b :
  (forall F : S -> R, (forall x, 0 <= F x <= 1) ->
    `|\sum_x mu x * F x - \sum_x nu x * F x| <= b) -> tv mu nu <= b.
Proof.
move=> le; set A := fun x => nu x <= mu x.
have ind (B : pred S) : forall x, 0 <= ((B x)%:R : R) <= 1.
  by move=> x; case: (B x); rewrite ?ler01 lexx.
have both : \sum_x `|mu x - nu x| =
    (\sum_x mu x * (A x)%:R - \sum_x nu x * (A x)%:R)
    - (\sum_x mu x * (~~ A x)%:R - \sum_x nu x * (~~ A x)%:R).
  rewrite -!sumrB; apply: eq_bigr => x _; rewrite /A; case: leP => h /=.
    by rewrite !mulr1 !mulr0 !subr0 ger0_norm // subr_ge0.
  by rewrite !mulr1 !mulr0 subrr sub0r ltr0_norm // subr_lt0.
rewrite /tv both -(ler_pmul2l (_ : 0 < 2%:R :> R)) ?ltr0n // mulrA mulfV ?pnatr_eq0 // mul1r.
rewrite mulr_natl mulr2n; apply: ler_add.
  exact: le_trans (ler_norm _) (le _ (ind A)).
by apply: le_trans (ler_norm _) _; rewrite normrN; apply: (le _ (ind (predC A))).
Qed.
