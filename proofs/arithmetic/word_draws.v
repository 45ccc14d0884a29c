(** * Draws by words

    N equally likely words, integer tickets, [grains] tickets of an acceptance: how far
    a draw is from what is meant by it, and with how many words it is exact.

    - [close_share]      a token or a restart: within m / 2N of its share, m outcomes
    - [close_accept]     an acceptance: within slack + 1/N of 1 /\ R
    - [words_are_shares] no distance at all when N is a common multiple of the tickets
                         sold; [common_words]: there is such an N                    *)

From mathcomp Require Import all_ssreflect all_algebra all_fingroup.
From Tempera Require Import markov.
From Tempera Require Import tempera_lottery program algorithm program_distance word_grain.
From Tempera Require Import lottery_sampler.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Definition winner_by_word (R : realFieldType) (N : nat) (I : finType) (w : I -> nat * R) :
  'I_N -> option I := word_winner (fun i => (w i).1).

Section Close.
Variables (R : realFieldType) (N : nat).
Hypothesis N_positive : (0 < N)%N.
Notation ticket := (nat * R)%type.
Notation by_word := (@by_word R N).
Notation meant := (@meant R).

Lemma word_law_ge0 (I : finType) (w : I -> nat) i : 0 <= word_law R N w i.
Proof. by apply: sumr_ge0 => u _; rewrite mulr_ge0 ?ler0n ?invr_ge0 ?ler0n. Qed.

Lemma share_ge0 (I : finType) (w : I -> nat) i : 0 <= share R w i.
Proof. by rewrite divr_ge0 ?ler0n. Qed.

Lemma share_mass (I : finType) (w : I -> nat) : \sum_i share R w i = (0 < total_of w)%N%:R.
Proof.
rewrite -mulr_suml -natr_sum -total_ofE; case: (total_of w) => [|m]; first by rewrite mul0r.
by rewrite mulfV // pnatr_eq0.
Qed.

(** A draw whose meaning is the share of its tickets. *)
Lemma close_share (I : finType) (w : I -> ticket) :
  (forall i, (w i).2 = share R (fun j => (w j).1) i) ->
  close by_word meant w (#|I|%:R / (2%:R * N%:R)).
Proof.
move=> ws; set v := fun j => (w j).1.
have mE : meant w =1 share R v by [].
split=> [i|i|||].
- exact: word_law_ge0.
- by rewrite mE share_ge0.
- by rewrite word_law_mass // (eq_bigr _ (fun i _ => mE i)) share_mass.
- by rewrite word_law_mass // lern1; case: (0 < _)%N.
rewrite (tv_ext (fun _ => erefl) mE); have [W0|] := ltnP 0 (total_of v); first exact: word_grain_tv.
rewrite leqn0 => /eqP W0; rewrite /tv big1 ?mulr0 => [|i _].
  by rewrite divr_ge0 ?mulr_ge0 ?ler0n.
have m : \sum_j word_law R N v j = 0 by rewrite word_law_mass // W0.
rewrite (_ : by_word w i = 0); last by apply: (psumr_eq0P (fun j _ => word_law_ge0 v j) m).
by rewrite /share W0 invr0 mulr0 subrr normr0.
Qed.

Variable grains : nat.
Hypothesis grains_positive : (0 < grains)%N.

Lemma close_accept (t : nat) (a slack : R) : (t <= grains)%N -> 0 <= a <= 1 ->
  `|t%:R / grains%:R - a| <= slack ->
  close by_word meant (accept_ticket grains t a) (slack + N%:R^-1).
Proof.
move=> tg /andP[a0 a1] sl; set w := accept_ticket grains t a.
have tot : total_of (fun b => (w b).1) = grains by apply: accept_total.
have [st sf] := accept_share grains_positive a tg.
have W0 : (0 < total_of (fun b => (w b).1))%N by rewrite tot.
split=> [i|i|||].
- exact: word_law_ge0.
- by case: i; rewrite /meant /= ?subr_ge0.
- by rewrite word_law_mass // W0 big_bool /= /meant /= addrC subrK.
- by rewrite word_law_mass // W0.
apply: le_trans (tv_triangle _ (share R (fun b => (w b).1)) _) _.
rewrite addrC; apply: ler_add.
  rewrite /tv big_bool /= -!/(by_share _ _) st sf /meant /=.
  have -> : 1 - t%:R / grains%:R - (1 - a) = - (t%:R / grains%:R - a).
    by rewrite [RHS]opprB opprD opprK addrA [1 - _ - 1]addrAC subrr add0r addrC.
  rewrite normrN -mulr2n -[X in 2%:R^-1 * X]mulr_natl mulrA mulVf ?mul1r //.
  by rewrite pnatr_eq0.
apply: le_trans (word_grain_tv R N_positive W0) _; rewrite card_bool invfM mulrA mulfV ?mul1r //.
by rewrite pnatr_eq0.
Qed.

End Close.

Section CommonWords.
Variables (R : realFieldType) (address : finType).
Notation ticket := (nat * R)%type.
Notation program := (program ticket address).

(** N is a multiple of the tickets sold in every draw. *)
Fixpoint common_multiple (N : nat) A (p : program A) : Prop :=
  match p with
  | Done _ => True
  | Draw _ _ w k =>
      (total_of (fun i => (w i).1) = 0%N \/ (total_of (fun i => (w i).1) %| N)%N)
      /\ forall i, common_multiple N (k i)
  end.

Lemma common_multiple_dvd N N' A (p : program A) :
  (N %| N')%N -> common_multiple N p -> common_multiple N' p.
Proof.
move=> dv; elim: p => [//|a I w k IH] /= [t tk]; split=> [|i]; last exact: IH.
by case: t => [->|d]; [left | right; apply: dvdn_trans d dv].
Qed.

Theorem common_words A (p : program A) : exists2 N, (0 < N)%N & common_multiple N p.
Proof.
elim: p => [x|a I w k IH]; first by exists 1%N.
have [M MP] : exists M : I -> nat, forall i, (0 < M i)%N /\ common_multiple (M i) (k i).
  by apply: (@fin_all_exists _ _ (fun i m => (0 < m)%N /\ common_multiple m (k i))) => i;
    have [m m0 mc] := IH i; exists m.
set W := total_of (fun i => (w i).1).
exists (maxn W 1 * \prod_i M i)%N.
  by rewrite muln_gt0 leq_max orbT /= prodn_gt0 // => i; case: (MP i).
split=> [|i].
  rewrite -/W; case: W => [|m]; [by left | right].
  by rewrite (maxn_idPl _) // dvdn_mulr.
case: (MP i) => _; apply: common_multiple_dvd; apply: dvdn_mull.
by rewrite (bigD1 i) //= dvdn_mulr.
Qed.

Lemma words_are_shares N A (p : program A) F : (0 < N)%N -> common_multiple N p ->
  expect (@by_word R N) p F = expect (@by_share R) p F.
Proof.
move=> N0; elim: p => [//|a I w k IH] /= [t tk]; apply: eq_bigr => i _.
rewrite IH //; congr (_ * _); rewrite /by_word /by_share.
have [W0|W0] := posnP (total_of (fun i => (w i).1)); last first.
  by apply: word_exact => //; case: t => // e; rewrite e in W0.
have m : \sum_j word_law R N (fun i => (w i).1) j = 0 by rewrite word_law_mass // W0.
rewrite (psumr_eq0P (fun j _ => word_law_ge0 R N (fun i => (w i).1) j) m) //.
by rewrite /share W0 invr0 mulr0.
Qed.

End CommonWords.
