(** * The law of the sampler under addressed words

    With N words, [grains] acceptance tickets and an acceptance within [slack] of
    1 /\ R: the record that a run returns has exactly the law of the lottery kernel
    with acceptances t / grains, when the number of words is a common multiple of the
    tickets sold, and with any number of words a law within [run_bound] of the lottery's
    Algorithm 1: |V| / 2N for every token, T / 2N for every restart, slack + 1/N for
    every acceptance.  In the program N = 2^128, grains = 2^62 and, but for the floating
    error in the ratio, slack = 2^-62.                                               *)

From mathcomp Require Import all_ssreflect all_algebra all_fingroup.
From Tempera Require Import markov autoregressive record_space power power_target.
From Tempera Require Import replica_exchange fixed_horizon tempera_lottery alternation program.
From Tempera Require Import sampler_steps record_tokens algorithm_law algorithm.
From Tempera Require Import addressed_draws program_distance word_grain lottery_sampler word_draws sampler_addresses.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section SamplerLaw.
Variables (R : realFieldType) (V : finType) (E : {set V}) (lm : seq V -> V -> R) (n : nat).
Variable alpha : 'I_n.+1 -> power R.
Hypothesis lm_model : model E lm.
Variable tickets : 'I_n.+1 -> seq (option V) -> option V -> nat.
Hypothesis tickets_allowed : forall k h o, supported E lm h ->
  (0 < tickets k h o)%N = (0 < p0 E lm h o).
Variables (N grains : nat) (slack : R).
Hypothesis N_positive : (0 < N)%N.
Hypothesis grains_positive : (0 < grains)%N.
Variable local_t : 'I_n.+1 -> nat -> seq V -> seq V -> nat.
Variable swap_t : 'I_n -> seq V -> seq V -> nat.
Hypothesis local_t_le : forall k r x y, (local_t k r x y <= grains)%N.
Hypothesis swap_t_le : forall e x y, (swap_t e x y <= grains)%N.
Hypothesis local_slack : forall k r x y,
  `|(local_t k r x y)%:R / grains%:R - local_ratio E lm alpha tickets k r x y| <= slack.
Hypothesis swap_slack : forall e x y,
  `|(swap_t e x y)%:R / grains%:R - swap_ratio_tokens E lm alpha e x y| <= slack.

Notation ticket := (nat * R)%type.
Notation stage := (stage ticket n).
Notation by_word := (@by_word R N).
Notation meant := (@meant R).
Notation token_ticket := (token_ticket R tickets).
Notation local_ticket := (local_ticket E lm alpha tickets grains local_t).
Notation swap_ticket := (swap_ticket E lm alpha grains swap_t).

Lemma ratio01 (u v : R) : 0 <= u -> 0 <= v -> 0 <= Num.min 1 (u / v) <= 1.
Proof. by move=> u0 v0; rewrite le_minl lexx /= andbT le_minr ler01 divr_ge0. Qed.

Lemma local_ratio01 k r x y : 0 <= local_ratio E lm alpha tickets k r x y <= 1.
Proof.
have s0 z : 0 <= score_tokens E lm alpha tickets k r z.
  apply: prodr_ge0 => t _; rewrite divr_ge0 ?lottery_ge0 // pow_ge0 //; exact: p0_ge0.
exact: ratio01.
Qed.

Lemma swap_ratio01 e x y : 0 <= swap_ratio_tokens E lm alpha e x y <= 1.
Proof.
have a0 k z : 0 <= alpha k (prefix_prob E lm (map Some z)) by rewrite pow_ge0 // prefix_prob_ge0.
by rewrite le_minl lexx /= andbT le_minr ler01 mulr_ge0 // divr_ge0.
Qed.

Definition grain_of (m : nat) : R := m%:R / (2%:R * N%:R).
Lemma grain_ge0 m : 0 <= grain_of m.
Proof. by rewrite divr_ge0 ?mulr_ge0 ?ler0n. Qed.

Lemma token_error_ge0 m k : 0 <= m%:R * grain_of k.
Proof. by rewrite mulr_ge0 ?ler0n // grain_ge0. Qed.

Definition accept_error : R := slack + N%:R^-1.

Lemma close_local k r x y : close by_word meant (local_ticket k r x y) accept_error.
Proof. by apply: close_accept => //; apply: local_ratio01. Qed.

Lemma close_swap e x y : close by_word meant (swap_ticket e x y) accept_error.
Proof. by apply: close_accept => //; apply: swap_ratio01. Qed.

Lemma accept_error_ge0 : 0 <= accept_error.
Proof.
have [_ _ _ _ c] := close_local ord0 0 [::] [::]; exact: le_trans (tv_ge0 _ _) c.
Qed.

Variables (address : finType) (at_ : nat -> nat -> nat -> purpose -> address).
Variables (s : schedule) (per_rung : bool).
Notation within := (@within R ticket address by_word meant).

Lemma within_generate T k a fuel x :
  within (generate E token_ticket T k a fuel x) (fuel%:R * grain_of #|V|).
Proof.
elim: fuel x => [|fuel IH] x /=; first by rewrite mul0r.
case: ifP => _ /=; last exact: token_error_ge0.
exists (grain_of #|V|), (fuel%:R * grain_of #|V|); split=> //.
- exact: close_share.
- exact: token_error_ge0.
by rewrite mulrS mulrDl mul1r.
Qed.

(** A stage's restart tickets are integers with their shares. *)
Definition integer_restart (st : stage) : Prop := forall k r,
  (@restart _ _ st k r).2 = share R (fun i => (@restart _ _ st k i).1) r.

Definition local_bound (T : nat) : R := grain_of T + (T%:R * grain_of #|V| + accept_error).

Lemma local_bound_ge0 T : 0 <= local_bound T.
Proof.
apply: addr_ge0; first exact: grain_ge0.
by apply: addr_ge0; [apply: token_error_ge0 | apply: accept_error_ge0].
Qed.

Lemma within_local (st : stage) k i x : integer_restart st ->
  within (local_move E at_ token_ticket local_ticket (@restart _ _ st) k i x)
    (local_bound (horizon st)).
Proof.
move=> ir; set T := horizon st.
have rest0 : 0 <= T%:R * grain_of #|V| + accept_error.
  by apply: addr_ge0; [apply: token_error_ge0 | apply: accept_error_ge0].
exists (grain_of T), (T%:R * grain_of #|V| + accept_error); split=> // [|r].
  by have c := close_share N_positive (ir k); rewrite card_ord in c; exact: c.
case: ifP => _; last exact: rest0.
apply: within_bind; [exact: accept_error_ge0 | exact: within_generate | move=> y].
exists accept_error, 0; split; [exact: close_local | move=> b; exact: lexx | by [] |].
by rewrite addr0.
Qed.

Lemma within_sweep c X : within (sweep_once at_ swap_ticket s c X) (n%:R * accept_error).
Proof.
have le : (size (edges n s c) <= n)%N.
  rewrite /edges; case: s; first by rewrite size_enum_ord.
  by rewrite size_filter (leq_trans (count_size _ _)) // size_enum_ord.
have go es Y : within (attempts at_ swap_ticket es c Y) ((size es)%:R * accept_error).
  elim: es Y => [|e es IH] Y; first by rewrite /= mul0r.
  rewrite /= mulrS mulrDl mul1r.
  exists accept_error, ((size es)%:R * accept_error).
  split=> [|b||//]; [exact: close_swap | exact: IH |].
  by rewrite mulr_ge0 ?ler0n ?accept_error_ge0.
apply: within_weaker (go _ _).
by rewrite ler_wpmul2r ?accept_error_ge0 // ler_nat.
Qed.

Definition round_bound (st : stage) : R :=
  (local_moves st)%:R * (n.+1%:R * local_bound (horizon st))
  + (sweeps st)%:R * (n%:R * accept_error).

Definition stage_bound (st : stage) : R :=
  n.+1%:R * ((horizon st)%:R * grain_of #|V|) + (rounds st)%:R * round_bound st.

Definition run_bound (sts : seq stage) : R := \sum_(st <- sts) stage_bound st.

Lemma round_bound_ge0 st : 0 <= round_bound st.
Proof.
by apply: addr_ge0; rewrite !mulr_ge0 ?ler0n ?local_bound_ge0 ?accept_error_ge0.
Qed.

Lemma within_rungs (f : 'I_n.+1 -> seq V -> program ticket address (seq V)) b X : 0 <= b ->
  (forall k x, within (f k x) b) -> within (each_rung f X) (n.+1%:R * b).
Proof. by move=> b0 wf; have c := within_each X b0 wf; rewrite card_ord in c. Qed.

Lemma within_refine (st : stage) l X : integer_restart st ->
  within (refine E at_ token_ticket local_ticket per_rung st l X)
    ((local_moves st)%:R * (n.+1%:R * local_bound (horizon st))).
Proof.
move=> ir; rewrite /refine; case: per_rung.
  rewrite mulrCA; apply: within_rungs.
    by rewrite mulr_ge0 ?ler0n ?local_bound_ge0.
  by move=> k x; apply: within_repeat; [apply: local_bound_ge0 | move=> j y; apply: within_local].
apply: within_repeat; first by rewrite mulr_ge0 ?ler0n ?local_bound_ge0.
move=> j Y; apply: within_rungs; first exact: local_bound_ge0.
by move=> k x; apply: within_local.
Qed.

Lemma within_rounds (st : stage) M l c X : integer_restart st ->
  within (rounds_of E at_ token_ticket local_ticket swap_ticket s per_rung st M l c X)
    (M%:R * round_bound st).
Proof.
move=> ir; elim: M l c X => [|M IH] l c X; first by rewrite /= mul0r.
rewrite mulrS mulrDl mul1r; apply: within_bind; last by move=> Y; apply: IH.
  by rewrite mulr_ge0 ?ler0n ?round_bound_ge0.
apply: within_bind; first by rewrite !mulr_ge0 ?ler0n ?accept_error_ge0.
  exact: within_refine.
move=> Y; apply: within_repeat; first by rewrite mulr_ge0 ?ler0n ?accept_error_ge0.
by move=> j Z; apply: within_sweep.
Qed.

Fixpoint integer_restarts (sts : seq stage) : Prop :=
  if sts is st :: sts' then integer_restart st /\ integer_restarts sts' else True.

Lemma stage_bound_ge0 st : 0 <= stage_bound st.
Proof.
apply: addr_ge0; first by apply: mulr_ge0; [apply: ler0n | apply: token_error_ge0].
by apply: mulr_ge0; [apply: ler0n | apply: round_bound_ge0].
Qed.

Lemma run_bound_ge0 sts : 0 <= run_bound sts.
Proof. by apply: sumr_ge0 => st _; apply: stage_bound_ge0. Qed.

Notation program_of := (algorithm E at_ token_ticket local_ticket swap_ticket s per_rung).

Theorem within_sampler sts output : integer_restarts sts ->
  within (program_of sts output) (run_bound sts).
Proof.
move=> irs; rewrite -[run_bound sts]addr0 /algorithm; apply: within_bind => //; last first.
  by move=> X /=; rewrite lexx.
suff go ss m l c X : integer_restarts ss ->
    within (run_stages E at_ token_ticket local_ticket swap_ticket s per_rung ss m l c X) (run_bound ss).
  exact: go.
elim: ss m l c X => [|st ss IH] m l c X.
  by rewrite /run_bound big_nil /= lexx.
case=> ir irs'; rewrite /run_bound big_cons; apply: within_bind; first exact: run_bound_ge0.
  apply: within_bind; first by rewrite mulr_ge0 ?ler0n ?round_bound_ge0.
    apply: within_rungs; first exact: token_error_ge0.
    by move=> k x; apply: within_generate.
  by move=> Y; apply: within_rounds.
by move=> Y; apply: IH.
Qed.

(** Addresses that keep apart what one run can do. *)
Variables (rounds_max tokens_max : nat).
Hypothesis at_injective : forall p p', in_reach n rounds_max tokens_max p ->
  in_reach n rounds_max tokens_max p' -> at_spot at_ p = at_spot at_ p' -> p = p'.
Variables (sts : seq stage) (output : 'I_n.+1).
Hypothesis horizons_fit : horizons_within tokens_max sts.
Hypothesis stages_fit : (size sts <= rounds_max)%N.
Hypothesis moves_fit : (local_count sts <= rounds_max)%N.
Hypothesis sweeps_fit : (sweep_count sts <= rounds_max)%N.

Definition sampler : program ticket address (seq V) := program_of sts output.

Definition sampler_law (F : seq V -> R) : R :=
  addressed_law (winner_by_word (R := R) (N := N)) (@uniform_word R N) sampler F.

Lemma sampler_distinct : distinct sampler.
Proof. by apply: (algorithm_distinct E at_injective). Qed.

Lemma sampler_law_drawn F : sampler_law F = expect by_word sampler F.
Proof.
exact: (@distinct_addresses ticket address _ (winner_by_word (R := R) (N := N)) R _
  (uniform_word_law R N_positive) _ sampler F sampler_distinct).
Qed.

(** Exactly the lottery kernel, acceptances t / grains. *)
Theorem sampler_is_lottery_kernel F : proper (@by_share R) 0 sts -> common_multiple N sampler ->
  sampler_law F =
  \sum_Y stages_kernel (fun k => lottery R (tickets k))
           (fun T => @rounded_accept R V E lm n grains local_t T)
           (fun T => @rounded_swap R V E lm n grains swap_t T)
           (@by_share R) s 0 0 sts (start E lm n) Y * F (tokens (Y output)).
Proof.
move=> pr cm; rewrite sampler_law_drawn words_are_shares //.
exact: (sampler_by_share alpha lm_model tickets_allowed grains_positive).
Qed.

(** And within [run_bound] of what is meant, for any number of words. *)
Theorem sampler_near_lottery F : proper meant 0 sts -> integer_restarts sts ->
  (forall x, 0 <= F x <= 1) ->
  `| sampler_law F
     - \sum_Y stages_kernel (fun k => lottery R (tickets k)) (lottery_accept alpha tickets)
         (@accept_swap R V E lm n alpha) meant s 0 0 sts (start E lm n) Y
         * F (tokens (Y output)) |
  <= run_bound sts.
Proof.
move=> pr irs F01; rewrite sampler_law_drawn.
rewrite -(sampler_meant alpha lm_model tickets_allowed grains local_t swap_t s at_ per_rung output F pr).
exact: (program_distance (D := by_word) (within_sampler output irs) F01).
Qed.

(** The two laws of the returned record, on the records of the last horizon. *)
Notation last := (last_horizon 0 sts).
Definition sampled (y : S_T E lm last) : R := sampler_law (fun x => (x == tokens y)%:R).
Definition intended : S_T E lm last -> R :=
  marginal output (stages_kernel (fun k => lottery R (tickets k)) (lottery_accept alpha tickets)
    (@accept_swap R V E lm n alpha) meant s 0 0 sts (start E lm n)).

Theorem sampler_tv : proper meant 0 sts -> integer_restarts sts ->
  tv sampled intended <= run_bound sts.
Proof.
move=> pr irs; apply: tv_by_events => F F01.
pose G (x : seq V) : R := \sum_(y : S_T E lm last) F y * (x == tokens y)%:R.
have Gtokens y : G (tokens y) = F y.
  rewrite /G (eq_bigr (fun z => F z * idk R z y)); first exact: sum_idk.
  by move=> z _; rewrite /idk (inj_eq (@tokens_inj R V E lm lm_model last)) eq_sym.
have G01 x : 0 <= G x <= 1.
  have [/existsP[y /eqP->]|] := boolP [exists y : S_T E lm last, x == tokens y].
    by rewrite Gtokens.
  rewrite negb_exists => /forallP no; rewrite /G big1 ?lexx ?ler01 // => y _.
  by rewrite (negPf (no y)) mulr0.
have -> : \sum_y sampled y * F y = sampler_law G.
  rewrite /sampled /sampler_law /addressed_law; under eq_bigr do rewrite mulr_suml.
  rewrite exchange_big /=; apply: eq_bigr => words _; under eq_bigr do rewrite -mulrA.
  rewrite -mulr_sumr; congr (_ * _); case: meaning => [x|] /=.
    by apply: eq_bigr => y _; rewrite mulrC.
  by rewrite big1 // => y _; rewrite mul0r.
have -> : \sum_y intended y * F y = \sum_Y stages_kernel (fun k => lottery R (tickets k))
    (lottery_accept alpha tickets) (@accept_swap R V E lm n alpha) meant s 0 0 sts
    (start E lm n) Y * G (tokens (Y output)).
  rewrite /intended; under eq_bigr do rewrite marginal_act mulr_suml.
  rewrite exchange_big /=; apply: eq_bigr => Y _; under eq_bigr do rewrite -mulrA.
  rewrite -mulr_sumr Gtokens; congr (_ * _).
  exact: (sum_idkl (Y output) F).
exact: sampler_near_lottery.
Qed.

End SamplerLaw.

(** t = floor(grains * (1 /\ R)) meets the hypotheses, with a slack of one grain. *)
Theorem floor_tickets_slack (R : realFieldType) (V : finType) (E : {set V})
    (lm : seq V -> V -> R) (n grains : nat) (alpha : 'I_n.+1 -> power R)
    (tickets : 'I_n.+1 -> seq (option V) -> option V -> nat) :
  model E lm -> (0 < grains)%N ->
  (forall k r x y, let a := local_ratio E lm alpha tickets k r x y in
     `|(floor_ticket grains a)%:R / grains%:R - a| <= grains%:R^-1)
  /\ (forall e x y, let a := swap_ratio_tokens E lm alpha e x y in
     `|(floor_ticket grains a)%:R / grains%:R - a| <= grains%:R^-1).
Proof.
move=> lm_model g0; have near (a : R) : 0 <= a <= 1 ->
    `|(floor_ticket grains a)%:R / grains%:R - a| <= grains%:R^-1.
  by move=> a01; have /andP[lo hi] := floor_ticket_slack g0 a01; rewrite distrC ger0_norm // ltW.
by split=> [k r x y|e x y] /=; apply: near; [apply: local_ratio01 | apply: swap_ratio01].
Qed.
