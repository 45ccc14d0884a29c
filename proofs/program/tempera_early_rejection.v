(** Exact early rejection.

    The word of the accept lottery is drawn first; the proposal is generated token
    by token; and it is given up as soon as an upper bound on its acceptance ratio
    loses the lottery.  The record is the one that completing the proposal and
    deciding at the end would have returned.

    [score] may be the ratio or its logarithm: any ordered type.  [wins s] says that
    the word at hand accepts at the score s; a word that accepts at a score accepts
    at every higher one, as [accept_lottery_monotone] shows for integer tickets. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov autoregressive record_space power power_target cached_ratio.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section EarlyRejection.
Variables (disp : unit) (score : orderType disp) (token : Type).

(** The next token of the proposal after a prefix: its draw is addressed, so it is
    the same whether or not the proposal is completed. *)
Variable next : seq token -> token.
Variable wins : score -> bool.
Hypothesis wins_monotone : forall s t, (s <= t)%O -> wins s -> wins t.

(** An upper bound known after each prefix, and the score of the whole proposal. *)
Variable bound : seq token -> score.
Variable final : seq token -> score.

Fixpoint complete (m : nat) (h : seq token) : seq token :=
  if m is m'.+1 then complete m' (rcons h (next h)) else h.

(** m tokens, then the decision. *)
Definition decide_at_end (m : nat) (h x : seq token) : seq token :=
  if wins (final (complete m h)) then complete m h else x.

(** The same with a look at the bound before every token. *)
Fixpoint decide_early (m : nat) (h x : seq token) : seq token :=
  if ~~ wins (bound h) then x else
  if m is m'.+1 then decide_early m' (rcons h (next h)) x
  else if wins (final h) then h else x.

(** The tokens that are generated. *)
Fixpoint early_cost (m : nat) (h : seq token) : nat :=
  if ~~ wins (bound h) then 0%N else
  if m is m'.+1 then (early_cost m' (rcons h (next h))).+1 else 0%N.

(** Every bound looked at along this proposal is at least its score. *)
Definition bounds_hold (m : nat) (h : seq token) : Prop :=
  forall i, (i <= m)%N -> (final (complete m h) <= bound (complete i h))%O.

Theorem early_rejection_exact m h x : bounds_hold m h ->
  decide_early m h x = decide_at_end m h x.
Proof.
rewrite /decide_at_end; elim: m h => [|m IH] h holds /=.
  case: (boolP (wins (bound h))) => //= lost; case: ifP => //.
  by move/(wins_monotone (holds 0%N isT)); rewrite (negbTE lost).
case: (boolP (wins (bound h))) => /= [_|lost].
  by apply: IH => i im; apply: (holds i.+1).
case: ifP => // /(wins_monotone (holds 0%N isT)).
by rewrite (negbTE lost).
Qed.

(** Bounds that never increase along the proposal, the last at least its score. *)
Lemma decreasing_bounds_hold m h :
  (forall i, (i < m)%N -> (bound (complete i.+1 h) <= bound (complete i h))%O) ->
  (final (complete m h) <= bound (complete m h))%O -> bounds_hold m h.
Proof.
move=> dec last i im; apply: le_trans last _; rewrite -{1}(subnKC im).
suff down j : (i + j <= m)%N -> (bound (complete (i + j) h) <= bound (complete i h))%O.
  by apply: down; rewrite subnKC.
elim: j => [|j IH] jm; first by rewrite addn0.
rewrite addnS in jm *; exact: le_trans (dec _ jm) (IH (ltnW jm)).
Qed.

Corollary early_rejection_decreasing m h x :
  (forall i, (i < m)%N -> (bound (complete i.+1 h) <= bound (complete i h))%O) ->
  (final (complete m h) <= bound (complete m h))%O ->
  decide_early m h x = decide_at_end m h x.
Proof. by move=> dec last; apply: early_rejection_exact; apply: decreasing_bounds_hold. Qed.

Theorem early_cost_le m h : (early_cost m h <= m)%N.
Proof. by elim: m h => [|m IH] h /=; case: ifP => _ //; rewrite ltnS. Qed.

End EarlyRejection.

(** The accept lottery {t, N - t}: ticket 0 wins when floor(word N / 2^b) < t, so a
    word that accepts keeps accepting as t grows. *)
Definition accept_wins (words N word t : nat) : bool := (word * N %/ words < t)%N.

Lemma accept_lottery_monotone words N word s t :
  (s <= t)%N -> accept_wins words N word s -> accept_wins words N word t.
Proof. by move=> st lt; apply: leq_trans lt st. Qed.

(** A bound that the sampler has for nothing: with powers that do not increase
    probabilities (alpha >= 1) every normalizer z is at most one, so the ratio's
    product over the tokens so far bounds the ratio of the whole proposal. *)
Section Normalizers.
Variables (R : realFieldType) (V : finType) (E : {set V}).
Variable lm : seq V -> V -> R.
Variables (alpha : power R) (T : nat).
Hypothesis lm_model : model E lm.
Hypothesis alpha_sharpens : forall p, 0 <= p -> p <= 1 -> alpha p <= p.
Notation z := (z E lm alpha).
Notation S_T := (S_T E lm T).

Lemma z_le1 h : supported E lm h -> z h <= 1.
Proof.
move=> sh; rewrite /power_target.z -(proj2 (law_p0 lm_model sh)); apply: ler_sum => o _.
by rewrite alpha_sharpens ?p0_ge0 // p0_le1.
Qed.

(** The ratio through the tokens before position m of the proposal y. *)
Definition partial_ratio (r m : nat) (x y : S_T) : R :=
  (\prod_(r <= t < m) z (take t (val y))) / cached_z alpha r x.

Theorem partial_ratio_decreases r m x y : (r <= m)%N -> (m < T)%N ->
  partial_ratio r m.+1 x y <= partial_ratio r m x y.
Proof.
move=> rm mT; rewrite /partial_ratio ler_wpmul2r ?invr_ge0 ?(ltW (cached_z_gt0 _ _ _ _)) //.
rewrite big_nat_recr //= ler_pimulr ?z_le1 ?supported_prefix //.
by apply: prodr_ge0 => t _; apply: ltW; apply: z_gt0 => //; apply: supported_prefix.
Qed.

Lemma partial_ratio_last r x y : partial_ratio r T x y = cached_z alpha r y / cached_z alpha r x.
Proof. by []. Qed.

End Normalizers.
