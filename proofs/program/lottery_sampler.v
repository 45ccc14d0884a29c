(** * The sampler as it runs: integer tickets, addressed words, rounded acceptance

    The programs of sampler_steps.v as gpu/ runs them.  A ticket carries, beside its
    integer, the probability that it stands for: a token's share of its lottery, an
    acceptance 1 /\ R.  The integers decide, the probabilities are what is meant.

    - meant, the run is the lottery's Algorithm 1: tokens drawn and scored by tickets /
      total (tempera_lottery.v), accepted with the Metropolis-Hastings probability;
    - with integers and words it is within an explicit distance of that:
      [slack], t / 2^62 against 1 /\ R, and the word's grain 1 / N, for every draw.  *)

From mathcomp Require Import all_ssreflect all_algebra all_fingroup.
From Tempera Require Import markov autoregressive record_space power power_target.
From Tempera Require Import replica_exchange fixed_horizon tempera_lottery alternation program.
From Tempera Require Import sampler_steps record_tokens algorithm_law algorithm.
From Tempera Require Import addressed_draws program_distance word_grain.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** ** t = floor(grains * p) *)
Section Floor.
Variables (R : realFieldType) (grains : nat).
Hypothesis grains_positive : (0 < grains)%N.

Definition floor_ticket (p : R) : nat :=
  find (fun t => grains%:R * p < t.+1%:R) (iota 0 grains).

Lemma floor_ticket_le p : (floor_ticket p <= grains)%N.
Proof. by rewrite -[X in (_ <= X)%N](size_iota 0 grains) find_size. Qed.

(** Less than one grain is lost. *)
Theorem floor_ticket_slack p : 0 <= p <= 1 ->
  0 <= p - (floor_ticket p)%:R / grains%:R < grains%:R^-1.
Proof.
case/andP=> p0 p1; have gp : 0 < grains%:R :> R by rewrite ltr0n.
pose f (t : nat) := grains%:R * p < t.+1%:R; set t := floor_ticket p.
have tE : t = find f (iota 0 grains) by [].
have lo : t%:R <= grains%:R * p.
  case e : t => [|t']; first by rewrite mulr_ge0 ?ler0n.
  have lt : (t' < find f (iota 0 grains))%N by rewrite -tE e.
  have := before_find 0%N lt; rewrite nth_iota ?add0n => [/negbT|]; first by rewrite -leNgt.
  by apply: leq_trans lt _; rewrite -[X in (_ <= X)%N](size_iota 0 grains) find_size.
have hi : grains%:R * p < t.+1%:R.
  have [lt|ge] := ltnP t grains; last first.
    apply: (@le_lt_trans _ _ grains%:R); first by rewrite ler_pimulr ?ler0n.
    by rewrite ltr_nat ltnS.
  have hasf : has f (iota 0 grains) by rewrite has_find size_iota.
  by have := nth_find 0%N hasf; rewrite nth_iota // add0n.
rewrite subr_ge0 ler_pdivr_mulr // [p * _]mulrC lo /=.
rewrite ltr_subl_addl -(ltr_pmul2l gp) mulrDr mulfV ?gt_eqF //.
by rewrite [_ * (_ / _)]mulrC divfK ?gt_eqF // addrC -mulrS.
Qed.

End Floor.

Section Sampler.
Variables (R : realFieldType) (V : finType) (E : {set V}) (lm : seq V -> V -> R) (n : nat).
Variable alpha : 'I_n.+1 -> power R.
Hypothesis lm_model : model E lm.
Notation supported := (supported E lm).
Notation S_T := (S_T E lm).
Notation state T := {ffun 'I_n.+1 -> S_T T}.
Notation pi T := (fun k => @target R V E lm (alpha k) T).
Implicit Types (k : 'I_n.+1) (e : 'I_n) (x y : seq V) (T r c : nat).

Variable tickets : 'I_n.+1 -> seq (option V) -> option V -> nat.
Hypothesis tickets_allowed : forall k h o, supported h ->
  (0 < tickets k h o)%N = (0 < p0 E lm h o).
Let allowed k h o : supported h -> (0 < tickets k h o)%N = (0 < p0 E lm h o).
Proof. exact: tickets_allowed. Qed.

(** An integer, and the probability that it stands for. *)
Notation ticket := (nat * R)%type.

Definition with_share (I : finType) (w : I -> nat) (i : I) : ticket := (w i, share R w i).
Definition meant (I : finType) (w : I -> ticket) (i : I) : R := (w i).2.
Definition by_share (I : finType) (w : I -> ticket) (i : I) : R := share R (fun j => (w j).1) i.
Definition by_word (N : nat) (I : finType) (w : I -> ticket) (i : I) : R :=
  word_law R N (fun j => (w j).1) i.

Definition token_ticket k x : V -> ticket :=
  with_share (fun v => tickets k (map Some x) (Some v)).

(** What the record's cache holds: the sum of zeta over its tokens from r on. *)
Definition score_tokens k r x : R :=
  \prod_(r <= t < size x)
    zeta E lm (alpha k) (tickets k) (take t (map Some x)) (nth bot (map Some x) t).
Definition local_ratio k r x y : R := Num.min 1 (score_tokens k r y / score_tokens k r x).

(** The acceptance lottery: t of [grains] tickets, for any t that the arithmetic of
    the ratio yields. *)
Variable grains : nat.
Hypothesis grains_positive : (0 < grains)%N.
Variable local_t : 'I_n.+1 -> nat -> seq V -> seq V -> nat.
Variable swap_t : 'I_n -> seq V -> seq V -> nat.

Definition accept_ticket (t : nat) (a : R) (b : bool) : ticket :=
  if b then (t, a) else ((grains - t)%N, 1 - a).
Definition local_ticket k r x y := accept_ticket (local_t k r x y) (local_ratio k r x y).
Definition swap_ticket e x y := accept_ticket (swap_t e x y) (swap_ratio_tokens E lm alpha e x y).

Notation lottery := (fun k => lottery R (tickets k)).
Notation proposal := (proposal lottery).

Lemma lottery_support k h o : supported h -> lottery k h o != 0 -> p0 E lm h o != 0.
Proof.
move=> sh nz; have : 0 < lottery k h o by rewrite lt_def nz lottery_ge0.
by rewrite (lottery_gt0 lm_model (@allowed k)) // => /gt_eqF ->.
Qed.

Let lottery_normal k h : supported h -> law (lottery k h).
Proof. exact: (law_lottery lm_model (@allowed k)). Qed.

Let lottery_nonneg k h o : 0 <= lottery k h o.
Proof. exact: lottery_ge0. Qed.

Lemma token_share k x v : supported (map Some x) -> ~~ ended E x ->
  share R (fun v => tickets k (map Some x) (Some v)) v = lottery k (map Some x) (Some v).
Proof.
move=> sx nx; rewrite /share /tempera_lottery.lottery total_ofE /total; congr (_ / _%:R).
have b0 : tickets k (map Some x) bot = 0%N.
  apply/eqP; rewrite -leqn0 leqNgt tickets_allowed // /p0 sx /step.
  by rewrite -[terminated E _]negbK -(supported_open_or_terminated lm_model) //
    (supported_not_ended lm_model) // nx ltxx.
rewrite [RHS](bigD1 bot) //= b0 add0n (reindex_omap Some id) => [|[v'|] //].
by apply: eq_bigl => v'; rewrite eqxx.
Qed.

(** ** The lottery's Algorithm 1 *)

Definition lottery_accept T k r : S_T T -> S_T T -> R := accept (pi T k) (q_lottery (tickets k) r).

Lemma proposal_lottery T k r (x y : S_T T) : (r <= T)%N ->
  proposal k r x y = q_lottery (tickets k) r x y.
Proof. by move=> rT; rewrite /algorithm_law.proposal /continue size_takel ?size_tuple. Qed.

Lemma score_cached T k r (x : S_T T) :
  score_tokens k r (tokens x) = scored (alpha k) (tickets k) r x.
Proof.
have gs h o : supported h -> lottery k h o != 0 -> p0 E lm h o != 0 by apply: lottery_support.
apply: (product_over_tokens lm_model) => h sh th; rewrite /zeta p0_terminated // pow1.
by rewrite (g_terminated lm_model (@lottery_normal k) gs bot sh th) eqxx divr1.
Qed.

Lemma local_ratio_cached T k r (x y : S_T T) : (r <= T)%N -> proposal k r x y != 0 ->
  local_ratio k r (tokens x) (tokens y) = lottery_accept k r x y.
Proof.
move=> rT; rewrite proposal_lottery // => qn0.
rewrite /local_ratio !score_cached /lottery_accept /accept (negPf qn0); congr (Num.min 1 _).
rewrite (scored_ratio (alpha k) lm_model (@allowed k)) //.
by move: qn0; rewrite mulf_eq0 negb_or pnatr_eq0 eqb0 negbK => /andP[/eqP].
Qed.

Variable s : schedule.
Notation stage := (stage ticket n).
Notation meant_stages := (stages_kernel lottery lottery_accept (@accept_swap R V E lm n alpha) meant s).
Notation meant_refinement := (refinement lottery lottery_accept (@accept_swap R V E lm n alpha) meant s).

Lemma lottery_accept01 T k r (x y : S_T T) : 0 <= lottery_accept k r x y <= 1.
Proof.
rewrite accept_le1 andbT; apply: accept_ge0 => [u|u v]; first exact: target_ge0.
exact: q_lottery_ge0.
Qed.

(** Its rounds are those of tempera_lottery.v, which keep and reach the target. *)
Theorem meant_rounds (st : stage) c N : meant_refinement st c N =2
  rounds_from (W (pi (horizon st)))
    (fun k => @lottery_local R V E lm (alpha k) (tickets k) (horizon st) (omega meant st k))
    s c N (local_moves st) (sweeps st).
Proof.
apply: (refinement_rounds lottery_accept (@accept_swap R V E lm n alpha) meant s c N
  (q := fun k (r : 'I_(horizon st)) => q_lottery (tickets k) r)) => k r x y.
by apply: proposal_lottery; apply: ltnW.
Qed.

Variables (address : finType) (at_ : nat -> nat -> nat -> purpose -> address) (per_rung : bool).
Notation sampler := (algorithm E at_ token_ticket local_ticket swap_ticket s per_rung).

(** What is meant by the run is the lottery's Algorithm 1. *)
Theorem sampler_meant sts output F : proper meant 0 sts ->
  expect meant (sampler sts output) F =
  \sum_Y meant_stages 0 0 sts (start E lm n) Y * F (tokens (Y output)).
Proof.
move=> pr; rewrite /algorithm expect_bind -(show_start E lm).
have drawn_tokens k x v : supported (map Some x) -> ~~ ended E x ->
    meant (token_ticket k x) v = lottery k (map Some x) (Some v) by exact: token_share.
have drawn_local T k r (x y : S_T T) : (r <= T)%N -> proposal k r x y != 0 ->
    let a := lottery_accept k r x y in
    let w := local_ticket k r (tokens x) (tokens y) in
    meant w true = a /\ meant w false = 1 - a.
  by move=> rT qn0 /=; rewrite /meant /= local_ratio_cached.
have drawn_swap T e (X : state T) : let a := accept_swap alpha e X in
    let w := swap_ticket e (tokens (X (lower e))) (tokens (X (upper e))) in
    meant w true = a /\ meant w false = 1 - a.
  by rewrite /meant /= (swap_ratio_cached alpha lm_model).
rewrite (stages_yields lm_model lottery_nonneg lottery_normal lottery_support lottery_accept01
  at_ drawn_tokens drawn_local drawn_swap s per_rung 0 0 0 (start E lm n) pr).
by apply: eq_bigr => Y _; rewrite /= ffunE.
Qed.

(** With integer tickets and no grain it is the kernel whose acceptances are t / grains. *)
Hypothesis local_t_le : forall k r x y, (local_t k r x y <= grains)%N.
Hypothesis swap_t_le : forall e x y, (swap_t e x y <= grains)%N.

Definition rounded_accept T k (r : nat) (x y : S_T T) : R :=
  (local_t k r (tokens x) (tokens y))%:R / grains%:R.
Definition rounded_swap T e (X : state T) : R :=
  (swap_t e (tokens (X (lower e))) (tokens (X (upper e))))%:R / grains%:R.

Lemma accept_total t a : (t <= grains)%N ->
  total_of (fun b => (accept_ticket t a b).1) = grains.
Proof. by move=> tg; rewrite total_ofE big_bool /= subnKC. Qed.

Lemma accept_share t a : (t <= grains)%N ->
  by_share (accept_ticket t a) true = t%:R / grains%:R
  /\ by_share (accept_ticket t a) false = 1 - t%:R / grains%:R.
Proof.
move=> tg; rewrite /by_share /share accept_total //=; split=> //.
by rewrite natrB // mulrBl mulfV // pnatr_eq0 -lt0n.
Qed.

Lemma rounded01 t : (t <= grains)%N -> 0 <= (t%:R / grains%:R : R) <= 1.
Proof.
move=> tg; rewrite divr_ge0 ?ler0n //= ler_pdivr_mulr ?ltr0n // mul1r ler_nat.
by [].
Qed.

Theorem sampler_by_share sts output F : proper by_share 0 sts ->
  expect by_share (sampler sts output) F =
  \sum_Y stages_kernel lottery rounded_accept rounded_swap by_share s 0 0 sts (start E lm n) Y
         * F (tokens (Y output)).
Proof.
move=> pr; rewrite /algorithm expect_bind -(show_start E lm).
have drawn_tokens k x v : supported (map Some x) -> ~~ ended E x ->
    by_share (token_ticket k x) v = lottery k (map Some x) (Some v) by exact: token_share.
have drawn_local T k r (x y : S_T T) : (r <= T)%N -> proposal k r x y != 0 ->
    let a := rounded_accept k r x y in
    let w := local_ticket k r (tokens x) (tokens y) in
    by_share w true = a /\ by_share w false = 1 - a.
  by move=> _ _; apply: accept_share.
have drawn_swap T e (X : state T) : let a := rounded_swap e X in
    let w := swap_ticket e (tokens (X (lower e))) (tokens (X (upper e))) in
    by_share w true = a /\ by_share w false = 1 - a by apply: accept_share.
have acc01 T k r (x y : S_T T) : 0 <= rounded_accept k r x y <= 1 by apply: rounded01.
rewrite (stages_yields lm_model lottery_nonneg lottery_normal lottery_support acc01
  at_ drawn_tokens drawn_local drawn_swap s per_rung 0 0 0 (start E lm n) pr).
by apply: eq_bigr => Y _; rewrite /= ffunE.
Qed.

End Sampler.
