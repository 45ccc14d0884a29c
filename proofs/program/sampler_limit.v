(** * The returned record of the compiled sampler, and its target

    The lottery's Algorithm 1 returns a record within (1 - eps)^N of its rung's target,
    N the rounds of the last stage; the sampler with addressed words is within
    [run_bound] of it.  The second bound grows with N, the first vanishes.           *)

From mathcomp Require Import all_ssreflect all_algebra all_fingroup.
From Tempera Require Import markov record_space power power_target tempera_lottery.
From Tempera Require Import convergence_minorization replica_exchange alternation program.
From Tempera Require Import sampler_steps record_tokens algorithm_law algorithm.
From Tempera Require Import addressed_draws program_distance word_grain lottery_sampler.
From Tempera Require Import word_draws sampler_law.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Lemma expect_sum (R : realFieldType) (ticket address : Type)
    (D : forall I : finType, (I -> ticket) -> I -> R) A (S : finType)
    (p : program ticket address A) (F : S -> A -> R) (c : S -> R) :
  \sum_y expect D p (F y) * c y = expect D p (fun x => \sum_y F y x * c y).
Proof.
elim: p => [//|a I w k IH] /=; under eq_bigr do rewrite mulr_suml.
rewrite exchange_big /=; apply: eq_bigr => i _; rewrite -IH mulr_sumr.
by apply: eq_bigr => y _; rewrite mulrA.
Qed.

Section Limit.
Variables (R : realFieldType) (V : finType) (E : {set V}) (lm : seq V -> V -> R) (n : nat).
Variable alpha : 'I_n.+1 -> power R.
Hypothesis lm_model : model E lm.
Variable tickets : 'I_n.+1 -> seq (option V) -> option V -> nat.
Hypothesis tickets_allowed : forall k h o, supported E lm h ->
  (0 < tickets k h o)%N = (0 < p0 E lm h o).
Let allowed k h o : supported E lm h -> (0 < tickets k h o)%N = (0 < p0 E lm h o).
Proof. exact: tickets_allowed. Qed.
Variables (grains : nat).
Variable local_t : 'I_n.+1 -> nat -> seq V -> seq V -> nat.
Variable swap_t : 'I_n -> seq V -> seq V -> nat.
Notation ticket := (nat * R)%type.
Notation stage := (stage ticket n).
Notation S_T := (S_T E lm).
Notation state T := {ffun 'I_n.+1 -> S_T T}.
Notation pi T := (fun k => @target R V E lm (alpha k) T).
Notation meant := (@meant R).
Notation g := (fun k => lottery R (tickets k)).
Variables (address : finType) (at_ : nat -> nat -> nat -> purpose -> address).
Variables (s : schedule) (per_rung : bool).

Variables (earlier : seq stage) (T : nat) (last_restart : 'I_n.+1 -> 'I_T.+1 -> nat).
Variables (n_local n_sweep : nat) (output : 'I_n.+1).
Hypothesis earlier_proper : proper meant 0 earlier.
Hypothesis horizon_grows : (last_horizon 0 earlier <= T.+1)%N.
Hypothesis restart_full : forall k, (0 < last_restart k ord0)%N.
Hypothesis n_local_positive : (0 < n_local)%N.

Definition last_lottery_stage (N : nat) : stage :=
  @Stage ticket n T.+1 (fun k => with_share R (last_restart k)) N n_local n_sweep.

Definition run_of (N : nat) : program ticket address (seq V) :=
  algorithm E at_ (token_ticket R tickets) (local_ticket E lm alpha tickets grains local_t)
    (swap_ticket E lm alpha grains swap_t) s per_rung (rcons earlier (last_lottery_stage N)) output.

Definition returned_meant (N : nat) (y : S_T T.+1) : R :=
  expect meant (run_of N) (fun x => (x == tokens y)%:R).

Let om k : 'I_T.+1 -> R := share R (last_restart k).

Lemma om_law k : law (om k).
Proof.
split=> [r|]; first exact: share_ge0.
rewrite share_mass total_ofE (_ : (0 < _)%N) //.
by rewrite (bigD1 ord0) //= addn_gt0 restart_full.
Qed.

Lemma om_full k : 0 < om k ord0.
Proof.
rewrite divr_gt0 ?ltr0n // total_ofE (bigD1 ord0) //= addn_gt0 restart_full.
by [].
Qed.

Notation local := (fun k => @lottery_local R V E lm (alpha k) (tickets k) T.+1 (om k)).
Notation eps := (@eps_lottery R V E lm T n alpha tickets om).

Let g_nonneg k h o : 0 <= g k h o. Proof. exact: lottery_ge0. Qed.
Let g_normal k h : supported E lm h -> law (g k h).
Proof. exact: (law_lottery lm_model (@allowed k)). Qed.
Let g_sup k h o : supported E lm h -> g k h o != 0 -> p0 E lm h o != 0.
Proof. exact: (lottery_support lm_model tickets_allowed). Qed.
Let acc01 U k r (x y : S_T U) : 0 <= lottery_accept alpha tickets k r x y <= 1.
Proof. exact: lottery_accept01. Qed.

Definition lottery_initializer : state T.+1 -> R :=
  act (stages_kernel g (lottery_accept alpha tickets) (@accept_swap R V E lm n alpha)
         meant s 0 0 earlier (start E lm n))
      (prodk (fun k => @extension R V E lm n g (last_horizon 0 earlier) T.+1 k)).

Lemma lottery_initializer_law : law lottery_initializer.
Proof.
apply: law_act; last first.
  by apply: kernel_prodk => k; apply: (extension_kernel lm_model g_nonneg g_normal g_sup).
apply: (stages_kernel_kernel lm_model g_nonneg g_normal g_sup acc01) => //.
move=> U e X; rewrite swap_accept_le1 andbT; apply: swap_accept_ge0 => k u; exact: target_ge0.
Qed.

Lemma returned_meant_marginal N : returned_meant N =1
  marginal output (act lottery_initializer
    (rounds_from (W (pi T.+1)) local s (sweep_count earlier) N n_local n_sweep)).
Proof.
move=> y; rewrite /returned_meant /run_of /algorithm expect_bind run_stages_rcons -(show_start E lm).
have drawn_tokens k x v : supported E lm (map Some x) -> ~~ ended E x ->
    meant (token_ticket R tickets k x) v = g k (map Some x) (Some v).
  exact: (token_share lm_model tickets_allowed).
have drawn_local U k r (x z : S_T U) : (r <= U)%N -> proposal g k r x z != 0 ->
    let a := lottery_accept alpha tickets k r x z in
    let w := local_ticket E lm alpha tickets grains local_t k r (tokens x) (tokens z) in
    meant w true = a /\ meant w false = 1 - a.
  move=> rT qn0 /=; rewrite /lottery_sampler.meant /=.
  by rewrite (local_ratio_cached alpha lm_model tickets_allowed).
have drawn_swap U e (X : state U) : let a := accept_swap alpha e X in
    let w := swap_ticket E lm alpha grains swap_t e (tokens (X (lower e))) (tokens (X (upper e))) in
    meant w true = a /\ meant w false = 1 - a.
  by rewrite /lottery_sampler.meant /= (swap_ratio_cached alpha lm_model).
have stp := stages_yields lm_model g_nonneg g_normal g_sup acc01 at_
  drawn_tokens drawn_local drawn_swap s per_rung 0 0 0 (start E lm n) earlier_proper.
have lst := stage_yields lm_model g_nonneg g_normal g_sup acc01 at_
  drawn_tokens drawn_local drawn_swap s per_rung (0 + size earlier) (0 + local_count earlier)
  (0 + sweep_count earlier) _ (om_law : fair meant (last_lottery_stage N)) horizon_grows.
rewrite (yields_bind stp lst).
rewrite /marginal [RHS]big_mkcond /=; apply: eq_bigr => Y _.
rewrite /= ffunE (inj_eq (@tokens_inj R V E lm lm_model T.+1)).
rewrite act_compk -/lottery_initializer.
rewrite (act_ext (fun _ => erefl) (@meant_rounds R V E lm n alpha tickets s
  (last_lottery_stage N) (sweep_count earlier) N)).
by case: eqP; rewrite ?mulr1 ?mulr0.
Qed.

(** The lottery's Algorithm 1 reaches the target. *)
Theorem returned_meant_bound N :
  tv (returned_meant N) (pi T.+1 output) <= (1 - eps) ^+ N.
Proof.
have pi_law k : law (pi T.+1 k) by apply: target_law.
have kW e : kernel (W (pi T.+1) e) by apply: W_kernel => k x; apply: target_ge0.
have iW e : invariant (product (pi T.+1)) (W (pi T.+1) e) by apply: W_invariant => k x; apply: target_ge0.
have kL k : kernel (local k) by apply: (lottery_local_kernel (alpha k) lm_model (@allowed k)); apply: om_law.
have iL k : invariant (pi T.+1 k) (local k).
  by apply: (lottery_leaves_target_invariant (alpha k) lm_model (@allowed k)); apply: om_law.
have positive k : 0 < restart_weight (pi T.+1 k) (@q_full_lottery R V E lm T n tickets k) (om k) ord0.
  apply: restart_weight_positive => // [y|y|]; first exact: target_gt0.
    exact: (suffix_lottery_gt0 lm_model (@allowed k)).
  exact: om_full.
have e0 : 0 < eps by apply: prodr_gt0 => k _.
have minorized X Y : eps * product (pi T.+1) Y <= sweep local X Y.
  apply: product_minorizes => [k|k y|k x y]; first exact: ltW.
    exact: target_ge0.
  apply: (full_restart_minorizes (q := fun r : 'I_T.+1 => q_lottery (tickets k) r)) => //.
  - by move=> z; apply: target_gt0.
  - exact: om_law.
  - by move=> r; apply: (q_lottery_kernel lm_model (@allowed k)); apply: ltnW.
  - by move=> u v; rewrite /q_lottery /= !take0 eqxx mul1r.
  exact: om_full.
have conv := alternation_converges s kW kL iW iL pi_law e0 minorized n_sweep n_local_positive
  (sweep_count earlier) N lottery_initializer_law.
have e1 := alternation_eps_le1 kL pi_law minorized.
rewrite (tv_ext (returned_meant_marginal N) (fun x => esym (marginal_product output pi_law x))).
apply: le_trans (tv_marginal_le _ _ _) (le_trans conv _).
apply: ler_pimulr; first by rewrite exprn_ge0 // subr_ge0.
have lPi : law (product (pi T.+1)) by apply: law_product.
rewrite tv_attained //; last exact: lottery_initializer_law.
apply: (@le_trans _ _ (prob lottery_initializer (fun x => product (pi T.+1) x <= lottery_initializer x))).
  by rewrite ler_subl_addl ler_addr prob_ge0.
by apply: prob_le1; apply: lottery_initializer_law.
Qed.

(** And so does, but for [run_bound], the sampler that runs. *)
Variables (words : nat) (slack : R).
Hypothesis words_positive : (0 < words)%N.
Hypothesis grains_positive : (0 < grains)%N.
Hypothesis local_t_le : forall k r x y, (local_t k r x y <= grains)%N.
Hypothesis swap_t_le : forall e x y, (swap_t e x y <= grains)%N.
Hypothesis local_slack : forall k r x y,
  `|(local_t k r x y)%:R / grains%:R - local_ratio E lm alpha tickets k r x y| <= slack.
Hypothesis swap_slack : forall e x y,
  `|(swap_t e x y)%:R / grains%:R - swap_ratio_tokens E lm alpha e x y| <= slack.
Hypothesis earlier_integers : integer_restarts earlier.

Definition returned_compiled (N : nat) (y : S_T T.+1) : R :=
  addressed_law (winner_by_word (R := R) (N := words)) (@uniform_word R words) (run_of N)
    (fun x => (x == tokens y)%:R).

Theorem returned_compiled_bound N : distinct (run_of N) ->
  tv (returned_compiled N) (pi T.+1 output) <=
  run_bound V words slack (rcons earlier (last_lottery_stage N)) + (1 - eps) ^+ N.
Proof.
move=> dist; apply: le_trans (tv_triangle _ (returned_meant N) _) _.
apply: ler_add (returned_meant_bound N); apply: tv_by_events => F F01.
have irs : integer_restarts (rcons earlier (last_lottery_stage N)).
  by elim: (earlier) earlier_integers => [_|st sts IH] /=; [split | case=> ir /IH].
rewrite (eq_bigr (fun y => expect (@by_word R words) (run_of N) (fun x => (x == tokens y)%:R) * F y)).
  rewrite !expect_sum; apply: (program_distance (D := @by_word R words) (D' := meant)).
    by rewrite /run_of; apply: within_sampler.
  move=> x; have [/existsP[y /eqP->]|] := boolP [exists y : S_T T.+1, x == tokens y].
    rewrite (eq_bigr (fun z => F z * idk R z y)) => [|z _]; first by rewrite sum_idk.
    by rewrite mulrC /idk (inj_eq (@tokens_inj R V E lm lm_model T.+1)) eq_sym.
  rewrite negb_exists => /forallP no; rewrite big1 ?lexx ?ler01 // => y _.
  by rewrite (negPf (no y)) mul0r.
move=> y _; rewrite /returned_compiled; congr (_ * _).
exact: (@distinct_addresses ticket address _ (winner_by_word (R := R) (N := words)) R _
  (uniform_word_law R words_positive) _ (run_of N) _ dist).
Qed.

End Limit.
