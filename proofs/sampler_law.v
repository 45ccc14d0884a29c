(** * The law of the sampler under addressed words

    With an address for everything that one run can do: the law of the returned record is
    exactly that of the lottery kernel with acceptances t / grains, when the number of
    words is a common multiple of the tickets sold (there is one: [common_words]), and
    with any number of words it is within [run_bound] of the lottery's Algorithm 1.    *)

From mathcomp Require Import all_ssreflect all_algebra all_fingroup.
From Tempera Require Import markov record_space power power_target tempera_lottery.
From Tempera Require Import replica_exchange alternation program sampler_steps.
From Tempera Require Import record_tokens algorithm_law algorithm addressed_draws.
From Tempera Require Import program_distance word_grain lottery_sampler sampler_distance sampler_addresses.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

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
Notation ticket := (nat * R)%type.
Notation stage := (stage ticket n).

(** Addresses that keep apart what one run can do. *)
Variables (address : finType) (at_ : nat -> nat -> nat -> purpose -> address).
Variables (rounds_max tokens_max : nat).
Hypothesis at_injective : forall p p', in_reach n rounds_max tokens_max p ->
  in_reach n rounds_max tokens_max p' -> at_spot at_ p = at_spot at_ p' -> p = p'.
Variables (s : schedule) (per_rung : bool) (sts : seq stage) (output : 'I_n.+1).
Hypothesis horizons_fit : horizons_within tokens_max sts.
Hypothesis stages_fit : (size sts <= rounds_max)%N.
Hypothesis moves_fit : (local_count sts <= rounds_max)%N.
Hypothesis sweeps_fit : (sweep_count sts <= rounds_max)%N.

Definition sampler : program ticket address (seq V) :=
  algorithm E at_ (token_ticket R tickets) (local_ticket E lm alpha tickets grains local_t)
    (swap_ticket E lm alpha grains swap_t) s per_rung sts output.

Definition sampler_law (F : seq V -> R) : R :=
  addressed_law (winner_by_word (R := R) (N := N)) (@uniform_word R N) sampler F.

Lemma sampler_distinct : distinct sampler.
Proof. by apply: (algorithm_distinct E at_injective). Qed.

(** Exactly the lottery kernel, acceptances t / grains. *)
Theorem sampler_is_lottery_kernel F : proper (@by_share R) 0 sts -> common_multiple N sampler ->
  sampler_law F =
  \sum_Y stages_kernel (fun k => lottery R (tickets k))
           (fun T => @rounded_accept R V E lm n grains local_t T)
           (fun T => @rounded_swap R V E lm n grains swap_t T)
           (@by_share R) s 0 0 sts (start E lm n) Y * F (tokens (Y output)).
Proof.
move=> pr cm; rewrite /sampler_law.
rewrite (@distinct_addresses ticket address _ (winner_by_word (R := R) (N := N)) R _
  (uniform_word_law R N_positive) _ sampler F sampler_distinct).
rewrite -[LHS]/(expect (@by_word R N) sampler F) words_are_shares //.
exact: (sampler_by_share alpha lm_model tickets_allowed grains_positive).
Qed.

(** And within [run_bound] of what is meant, for any number of words. *)
Hypothesis local_slack : forall k r x y,
  `|(local_t k r x y)%:R / grains%:R - local_ratio E lm alpha tickets k r x y| <= slack.
Hypothesis swap_slack : forall e x y,
  `|(swap_t e x y)%:R / grains%:R - swap_ratio_tokens E lm alpha e x y| <= slack.

Theorem sampler_near_lottery F : proper (@meant R) 0 sts -> integer_restarts sts ->
  (forall x, 0 <= F x <= 1) ->
  `| sampler_law F
     - \sum_Y stages_kernel (fun k => lottery R (tickets k)) (lottery_accept alpha tickets)
         (@lottery_swap R V E lm n alpha) (@meant R) s 0 0 sts (start E lm n) Y
         * F (tokens (Y output)) |
  <= run_bound V N slack sts.
Proof.
move=> pr irs F01.
exact: (sampler_distance lm_model tickets_allowed N_positive grains_positive local_t_le
  swap_t_le local_slack swap_slack pr irs sampler_distinct F01).
Qed.

(** The two laws of the returned record, on the records of the last horizon. *)
Notation last := (last_horizon 0 sts).
Definition sampled (y : S_T E lm last) : R := sampler_law (fun x => (x == tokens y)%:R).
Definition intended : S_T E lm last -> R :=
  marginal output (stages_kernel (fun k => lottery R (tickets k)) (lottery_accept alpha tickets)
    (@lottery_swap R V E lm n alpha) (@meant R) s 0 0 sts (start E lm n)).

Theorem sampler_tv : proper (@meant R) 0 sts -> integer_restarts sts ->
  tv sampled intended <= run_bound V N slack sts.
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
    (lottery_accept alpha tickets) (@lottery_swap R V E lm n alpha) (@meant R) s 0 0 sts
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
