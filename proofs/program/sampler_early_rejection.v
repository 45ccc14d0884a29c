(** * Early rejection of the sampler's own local move

    tempera_early_rejection.v on the model of sampler_steps.v.  The early move asks the
    word of its acceptance before every token, with the tickets of an upper bound, and
    gives the proposal up as soon as the bound loses; the address is shared on purpose.
    Under all words the record is the one that [local_move] returns, hence so is the law.

    The bound: where alpha >= 1 every zeta is at most a factor [S] >= 1, which pays for the
    rounding of the tickets, so the score so far times S for every position to come is
    at least the score of the finished proposal.                                      *)

From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov record_space power power_target tempera_lottery program.
From Tempera Require Import sampler_steps record_tokens tempera_early_rejection.
From Tempera Require Import addressed_draws word_grain lottery_sampler.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** ** What a word decides *)
Section Words.
Variables (N : nat).
Hypothesis N_positive : (0 < N)%N.

(** The acceptance lottery {t, grains - t}. *)
Lemma accept_winner (R : realFieldType) (grains t : nat) (a : R) (u : 'I_N) :
  (0 < grains)%N -> (t <= grains)%N ->
  word_winner (fun b => (accept_ticket grains t a b).1) u = Some (accept_wins N grains u t).
Proof.
move=> g0 tg; apply/eqP; rewrite /word_winner nth_some accept_total // enum_sides /=.
have lt : (u * grains %/ N < grains)%N by rewrite ltn_divLR // mulnC ltn_pmul2l.
case b : (accept_wins N grains u t); rewrite winnerE //= ?addn0; first exact: b.
by rewrite subnKC // lt andbT leqNgt -/(accept_wins N grains u t) b.
Qed.

End Words.

(** ** The early move *)
Section EarlyMove.
Variables (R : realFieldType) (V : finType) (E : {set V}) (n : nat).
Variables (N grains : nat).
Hypothesis N_positive : (0 < N)%N.
Hypothesis grains_positive : (0 < grains)%N.
Notation ticket := (nat * R)%type.
Variable token_ticket : 'I_n.+1 -> seq V -> V -> ticket.
Variables (address : finType) (at_ : nat -> nat -> nat -> purpose -> address).
Implicit Types (k : 'I_n.+1) (x y : seq V).

(** Tickets of the finished proposal, and of the bound after a prefix of it. *)
Variables (final_t bound_t : 'I_n.+1 -> nat -> seq V -> seq V -> nat).
Variables (final_a bound_a : 'I_n.+1 -> nat -> seq V -> seq V -> R).
Hypothesis final_le : forall k r x y, (final_t k r x y <= grains)%N.
Hypothesis bound_le : forall k r x y, (bound_t k r x y <= grains)%N.
Definition final_ticket k r x y := accept_ticket grains (final_t k r x y) (final_a k r x y).
Definition bound_ticket k r x y := accept_ticket grains (bound_t k r x y) (bound_a k r x y).

(** [generate], with a look at the acceptance's word before every token. *)
Fixpoint propose_early T k (i r : nat) x (fuel : nat) y : program ticket address (seq V) :=
  Draw (at_ k i 0 For_acceptance) (bound_ticket k r x y) (fun holds : bool =>
    if ~~ holds then Done x else
    let decide := Draw (at_ k i 0 For_acceptance) (final_ticket k r x y) (fun b : bool =>
      Done (if b then y else x)) in
    if fuel is fuel'.+1 then
      if going_on E T y
      then Draw (at_ k i (size y).+1 For_proposal_token) (token_ticket k y) (fun v =>
             propose_early T k i r x fuel' (rcons y v))
      else decide
    else decide).

Definition early_move T (restart : 'I_n.+1 -> 'I_T -> ticket) k (i : nat) x :=
  Draw (at_ k i 0 For_restart) (restart k) (fun r : 'I_T =>
    if ended E x ==> (r < size x)%N then propose_early T k i r x T (take r x) else Done x).

(** What can be drawn after the prefix y, up to the horizon. *)
Inductive drawn_from T k : seq V -> seq V -> Prop :=
| drawn_all y : drawn_from T k y y
| drawn_next y v y' : going_on E T y -> (0 < (token_ticket k y v).1)%N ->
    drawn_from T k (rcons y v) y' -> drawn_from T k y y'.

Lemma drawn_trans T k y y' y'' : drawn_from T k y y' -> drawn_from T k y' y'' -> drawn_from T k y y''.
Proof. by elim=> // z v z' go tv _ IH /IH; apply: drawn_next. Qed.

Notation winner_of := (fun (I : finType) (w : I -> ticket) => word_winner (N := N) (fun i => (w i).1)).
Notation meaning := (meaning winner_of).

(** From the restart on: tickets are sold wherever a token is asked for, and no bound on
    the way to a proposal holds fewer tickets than the proposal. *)
Definition sold T k y0 : Prop := forall y, drawn_from T k y0 y -> going_on E T y ->
  (0 < total_of (fun v => (token_ticket k y v).1))%N.
Definition bounds T k r x y0 : Prop := forall y y', drawn_from T k y0 y -> drawn_from T k y y' ->
  (final_t k r x y' <= bound_t k r x y)%N.

Lemma propose_early_exact (words : {ffun address -> 'I_N}) T k i r x fuel y :
  sold T k y -> bounds T k r x y ->
  meaning words (propose_early T k i r x fuel y) =
  meaning words (bind (generate E token_ticket T k (fun t => at_ k i t For_proposal_token) fuel y)
    (fun y' => Draw (at_ k i 0 For_acceptance) (final_ticket k r x y') (fun b : bool =>
      Done (if b then y' else x)))).
Proof.
set word := words (at_ k i 0 For_acceptance).
have final y' : winner_of _ (final_ticket k r x y') word = Some (accept_wins N grains word (final_t k r x y')).
  by apply: accept_winner.
have loses fuel' z : sold T k z -> (forall z', drawn_from T k z z' -> ~~ accept_wins N grains word (final_t k r x z')) ->
    meaning words (bind (generate E token_ticket T k (fun t => at_ k i t For_proposal_token) fuel' z)
      (fun y' => Draw (at_ k i 0 For_acceptance) (final_ticket k r x y') (fun b : bool =>
        Done (if b then y' else x)))) = Some x.
  elim: fuel' z => [|fuel' IH] z sz lz /=.
    by rewrite final /= (negPf (lz _ (drawn_all _ _ _))).
  case: ifP => go /=; last by rewrite final /= (negPf (lz _ (drawn_all _ _ _))).
  have := winner_sold N_positive (fun v => (token_ticket k z v).1) (words (at_ k i (size z).+1 For_proposal_token)).
  rewrite sz //; last exact: drawn_all.
  case e : (word_winner _ _) => [v|] //= _; have tv := winner_holds e.
  apply: IH => [z' dz'|z' dz']; [apply: sz | apply: lz]; exact: drawn_next go tv dz'.
elim: fuel y => [|fuel IH] y sy by_ /=.
  rewrite accept_winner //= final /=; case hb : (accept_wins N grains word (bound_t k r x y)) => //=.
    by rewrite final.
  have -> // : accept_wins N grains word (final_t k r x y) = false.
  apply: contraFF hb; apply: accept_lottery_monotone; apply: by_; exact: drawn_all.
rewrite accept_winner //=; case hb : (accept_wins N grains word (bound_t k r x y)) => /=; last first.
  symmetry; apply: (loses fuel.+1) => // z' dz'; apply: contraFN hb.
  by apply: accept_lottery_monotone; apply: by_ => //; apply: drawn_all.
case: ifP => go //=.
case e : (word_winner _ _) => [v|] //=; have tv := winner_holds e.
apply: IH => [z dz|z z' dz dz']; first by apply: sy; apply: drawn_next go tv dz.
by apply: by_ dz'; apply: drawn_next go tv dz.
Qed.

(** Under all words the early move returns the record of the local move. *)
Theorem early_move_exact (words : {ffun address -> 'I_N}) T (restart : 'I_n.+1 -> 'I_T -> ticket) k i x :
  (forall r : 'I_T, sold T k (take r x) /\ bounds T k r x (take r x)) ->
  meaning words (early_move restart k i x) =
  meaning words (local_move E at_ token_ticket final_ticket restart k i x).
Proof.
move=> ok; rewrite /=; case: (word_winner _ _) => [r|] //=; case: ifP => // _.
have [sr br] := ok r; exact: propose_early_exact.
Qed.

(** Hence the same law, though the early move asks one address again and again. *)
Corollary early_move_law (mu : 'I_N -> R) T (restart : 'I_n.+1 -> 'I_T -> ticket) k i x F :
  (forall r : 'I_T, sold T k (take r x) /\ bounds T k r x (take r x)) ->
  addressed_law winner_of mu (early_move restart k i x) F =
  addressed_law winner_of mu (local_move E at_ token_ticket final_ticket restart k i x) F.
Proof. by move=> ok; apply: same_meaning_same_law => words; apply: early_move_exact. Qed.

End EarlyMove.
