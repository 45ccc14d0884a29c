(** * The grain of the word (gpu/core/lottery/winner.hpp)

    A word uniform on N values sets the threshold floor(word W / N) in a lottery of W
    tickets; the winner is the first index whose prefix sum exceeds it.  Its law is
    tickets / W where W divides N, and everywhere within 1/N of it per index.  N is
    2^128 in the program; nothing here depends on that.

    - [word_winner w u]   the winner that the word u sets
    - [share w i]         w i / W
    - [word_law w i]      the probability that a uniform word lets i win            *)

From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov program addressed_draws tempera_lottery.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Grain.
Variables (R : realFieldType) (N : nat).
Hypothesis N_positive : (0 < N)%N.
Implicit Types I : finType.

Definition total_of I (w : I -> nat) : nat := sumn [seq w i | i <- enum I].

Definition share I (w : I -> nat) (i : I) : R := (w i)%:R / (total_of w)%:R.

Definition word_winner I (w : I -> nat) (u : 'I_N) : option I :=
  nth None [seq Some i | i <- enum I]
    (winner [seq w i | i <- enum I] (u * total_of w %/ N)).

Definition uniform_word (u : 'I_N) : R := N%:R^-1.

Definition word_law I (w : I -> nat) : I -> R := drawn word_winner uniform_word w.

Lemma uniform_word_law : law uniform_word.
Proof.
split=> [u|]; first by rewrite invr_ge0 ler0n.
by rewrite /uniform_word sumr_const card_ord -[LHS]mulr_natl mulfV // pnatr_eq0 -lt0n.
Qed.

Lemma total_ofE I (w : I -> nat) : total_of w = (\sum_i w i)%N.
Proof. by rewrite /total_of sumnE big_map big_enum. Qed.

Lemma nth_some I (i : I) m :
  (nth None [seq Some j | j <- enum I] m == Some i) = (m == index i (enum I)).
Proof.
have ie : (index i (enum I) < size (enum I))%N by rewrite index_mem mem_enum.
have [lt|ge] := ltnP m (size (enum I)).
  rewrite (nth_map i) //; apply/eqP/eqP => [[<-]|->]; last by rewrite nth_index ?mem_enum.
  by rewrite index_uniq ?enum_uniq.
rewrite nth_default; last by rewrite size_map.
transitivity false => //; symmetry; apply: negbTE.
by rewrite neq_ltn (leq_trans ie ge) orbT.
Qed.

(** The first word whose threshold is at least x: ceil(x N / W). *)
Definition first_word (W x : nat) : nat := (x * N + W.-1) %/ W.

Lemma below_first W x u : (0 < W)%N -> (u * W < x * N)%N = (u < first_word W x)%N.
Proof.
move=> W0; rewrite /first_word leq_divRL // mulSn -[X in (X + _ <= _)%N](prednK W0).
by rewrite addSn [(x * N + _)%N]addnC ltn_add2l.
Qed.

Lemma first_word_error W x : (0 < W)%N ->
  0 <= (first_word W x)%:R - x%:R * N%:R / W%:R :> R
  /\ (first_word W x)%:R - x%:R * N%:R / W%:R < 1 :> R.
Proof.
move=> W0; have Wp : 0 < W%:R :> R by rewrite ltr0n.
have lo : (x * N <= first_word W x * W)%N.
  have := ltn_ceil (x * N + W.-1) W0; rewrite -/(first_word W x) mulSn.
  by rewrite -[X in (_ < X + _)%N](prednK W0) addSn ltnS addnC leq_add2l.
have hi : (first_word W x * W < x * N + W)%N.
  apply: leq_ltn_trans (leq_trunc_div _ _) _.
  by rewrite -[X in (_ < _ + X)%N](prednK W0) addnS ltnS.
split.
  by rewrite subr_ge0 ler_pdivr_mulr // -!natrM ler_nat.
by rewrite ltr_subl_addl -(ltr_pmul2r Wp) mulrDl mul1r divfK ?gt_eqF // -!natrM -natrD ltr_nat.
Qed.

Lemma first_word_exact W x : (0 < W)%N -> (W %| N)%N ->
  (first_word W x)%:R = x%:R * N%:R / W%:R :> R.
Proof.
move=> W0 /dvdnP[m Nm]; rewrite /first_word Nm mulnA divnMDl //.
rewrite divn_small ?ltn_predL // addn0 !natrM mulrA mulfK //.
by rewrite pnatr_eq0 -lt0n.
Qed.

Lemma first_word_mono W x y : (x <= y)%N -> (first_word W x <= first_word W y)%N.
Proof. by move=> xy; rewrite leq_div2r // leq_add2r leq_mul2r xy orbT. Qed.

Lemma first_word_last W : (0 < W)%N -> first_word W W = N.
Proof. by move=> W0; rewrite /first_word mulnC divnMDl // divn_small ?ltn_predL // addn0. Qed.

Lemma count_words c : (c <= N)%N -> \sum_(u < N) (u < c)%:R = c%:R :> R.
Proof.
move=> cN; rewrite -natr_sum; congr _%:R.
rewrite (eq_bigr (fun u : 'I_N => if (u < c)%N then 1%N else 0%N)) => [|u _]; last by case: ltnP.
by rewrite -big_mkcond -(big_ord_widen N (fun=> 1%N) cN) sum_nat_const card_ord muln1.
Qed.

(** The words that let i win are those from ceil(lo N / W) to ceil(hi N / W). *)
Lemma word_lawE I (w : I -> nat) (i : I) : (0 < total_of w)%N ->
  let s := [seq w j | j <- enum I] in
  let lo := sumn (take (index i (enum I)) s) in
  word_law w i = ((first_word (total_of w) (lo + w i))%:R - (first_word (total_of w) lo)%:R) / N%:R
  /\ (lo + w i <= total_of w)%N.
Proof.
move=> W0 s lo; set W := total_of w in W0 *; set j := index i (enum I) in lo *.
have js : (j < size s)%N by rewrite size_map index_mem mem_enum.
have hiE : sumn (take j.+1 s) = (lo + w i)%N.
  rewrite (take_nth 0%N) // -cats1 sumn_cat /= addn0 (nth_map i) ?index_mem ?mem_enum //.
  by rewrite nth_index ?mem_enum.
have hiW : (lo + w i <= W)%N by rewrite -hiE -[W](congr1 sumn (take_size s)) prefix_sum_mono.
split=> //; rewrite /word_law /drawn -mulr_sumr mulrC; congr (_ / _).
rewrite (eq_bigr (fun u : 'I_N => (u < first_word W (lo + w i))%:R - (u < first_word W lo)%:R)) => [|u _].
  by rewrite sumrB !count_words // -(first_word_last W0) first_word_mono // (leq_trans (leq_addr _ _) hiW).
rewrite /word_winner -/s -/W nth_some -/j winnerE // hiE -/lo.
rewrite leq_divRL // ltn_divLR // leqNgt !below_first //.
have := first_word_mono W (leq_addr (w i) lo).
case: (ltnP u (first_word W lo)) => [lt|ge] /= le; last by rewrite subr0.
by rewrite (leq_trans lt le) subrr.
Qed.

(** The grain: at most one word per index. *)
Theorem word_grain I (w : I -> nat) (i : I) : (0 < total_of w)%N ->
  `|word_law w i - share w i| <= N%:R^-1.
Proof.
move=> W0; have [-> _] := word_lawE i W0; set lo := sumn _; set W := total_of w in W0 *.
have [a0 a1] := first_word_error (lo + w i) W0; have [b0 b1] := first_word_error lo W0.
have Np : 0 < N%:R :> R by rewrite ltr0n.
have -> : share w i = ((lo + w i)%:R * N%:R / W%:R - lo%:R * N%:R / W%:R) / N%:R.
  rewrite /share -/W -mulrBl -mulrBl natrD addrAC subrr add0r.
  by rewrite mulrAC mulfK ?gt_eqF.
move: a0 a1 b0 b1; set P := (lo + w i)%:R * _ / _; set Q := lo%:R * _ / _.
set c1 := (first_word _ _)%:R; set c0 := (first_word W lo)%:R => a0 a1 b0 b1.
rewrite -[X in `|X|]mulrBl normrM normfV [`|N%:R|]ger0_norm ?ler0n //.
rewrite ler_pimull ?invr_ge0 ?ler0n //.
have -> : c1 - c0 - (P - Q) = (c1 - P) - (c0 - Q).
  by rewrite !opprD !opprK !addrA [c1 - P - c0]addrAC.
rewrite ler_norml ler_subr_addr ler_subl_addr; apply/andP; split.
  by apply: le_trans a0; rewrite addrC subr_le0 ltW.
by apply: le_trans (ltW a1) _; rewrite ler_addl.
Qed.

(** No grain where the tickets divide the words. *)
Theorem word_exact I (w : I -> nat) (i : I) : (0 < total_of w)%N -> (total_of w %| N)%N ->
  word_law w i = share w i.
Proof.
move=> W0 dv; have [-> _] := word_lawE i W0; rewrite !first_word_exact //.
rewrite -mulrBl -mulrBl natrD addrAC subrr add0r.
by rewrite mulrAC mulfK // pnatr_eq0 -lt0n.
Qed.

Theorem word_grain_tv I (w : I -> nat) : (0 < total_of w)%N ->
  tv (word_law w) (share w) <= #|I|%:R / (2%:R * N%:R).
Proof.
move=> W0; rewrite /tv invfM mulrCA ler_wpmul2l ?invr_ge0 ?ler0n //.
apply: (@le_trans _ _ (\sum_(i : I) N%:R^-1)); first by apply: ler_sum => i _; apply: word_grain.
by rewrite sumr_const mulr_natl.
Qed.

(** Somebody wins exactly when a ticket was sold. *)
Lemma winner_sold I (w : I -> nat) u : isSome (word_winner w u) = (0 < total_of w)%N.
Proof.
set s := [seq w i | i <- enum I]; set v := winner s (u * total_of w %/ N).
transitivity (v < size s)%N.
  rewrite /word_winner -/s -/v; have [lt|ge] := ltnP v (size s); last first.
    by rewrite nth_default // size_map; move: ge; rewrite /s size_map.
  have lt' : (v < size (enum I))%N by move: lt; rewrite /s size_map.
  by case: (enum I) lt' => [//|i0 r] lt'; rewrite (nth_map i0).
rewrite /v /winner -[X in (_ < X)%N](size_iota 0) -has_find.
apply/hasP/idP => [[j js lt]|W0].
  apply: leq_ltn_trans (leq0n _) (leq_trans lt _).
  rewrite -[total_of w](congr1 sumn (take_size s)) prefix_sum_mono //.
  by move: js; rewrite mem_iota.
have s0 : (0 < size s)%N.
  by rewrite lt0n; apply: contraTneq W0 => /size0nil e; rewrite /total_of -/s e.
exists (size s).-1; first by rewrite mem_iota add0n /= ltn_predL.
by rewrite prednK // take_size ltn_divLR // -/(total_of w) mulnC ltn_pmul2l.
Qed.

(** ... and it is one who holds a ticket. *)
Lemma winner_holds I (w : I -> nat) u i : word_winner w u = Some i -> (0 < w i)%N.
Proof.
move=> /eqP; have js : (index i (enum I) < size [seq w j | j <- enum I])%N.
  by rewrite size_map index_mem mem_enum.
rewrite /word_winner nth_some winnerE // (take_nth 0%N) // -cats1 sumn_cat /= addn0.
rewrite (nth_map i) ?index_mem ?mem_enum // nth_index ?mem_enum // => /andP[lo hi].
by have := leq_ltn_trans lo hi; rewrite -{1}[sumn _]addn0 ltn_add2l.
Qed.

Lemma word_law_mass I (w : I -> nat) : \sum_i word_law w i = (0 < total_of w)%N%:R.
Proof.
have -> : (0 < total_of w)%N%:R = \sum_u uniform_word u * (0 < total_of w)%N%:R.
  by rewrite -mulr_suml; case: uniform_word_law => _ ->; rewrite mul1r.
rewrite exchange_big /=; apply: eq_bigr => u _; rewrite -mulr_sumr; congr (_ * _).
rewrite -(winner_sold w u); case: (word_winner w u) => [i|] /=; last by rewrite big1.
rewrite (bigD1 i) //= eqxx big1 ?addr0 // => j ji; rewrite (_ : (Some i == Some j) = false) //.
by apply: contraNF ji => /eqP[->].
Qed.

End Grain.
