(** * Algorithm 1 as one kernel, and the limit of the record that it returns (alg:PPT)

    The programs of sampler_steps.v with the printed probabilities: tokens from
    g_{alpha_k}, restarts from omega, acceptances from the cached sums.  Their law is
    one kernel, composed of block extensions, of R^n_local and of sweeps, the count of
    sweeps going on from round to round and from stage to stage.  As N_M grows the law
    of the returned record tends to pi_{k*}, under ADJ and under DEO, whatever the
    earlier stages did.                                                              *)

From mathcomp Require Import all_ssreflect all_algebra all_fingroup.
From Tempera Require Import markov autoregressive record_space power power_target.
From Tempera Require Import cached_ratio replica_exchange fixed_horizon convergence.
From Tempera Require Import alternation program sampler_steps record_tokens algorithm_law.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** The printed draws: an outcome wins with the probability that is stated. *)
Definition stated (R : realFieldType) (I : finType) (w : I -> R) (i : I) : R := w i.

Definition coin (R : realFieldType) (a : R) (b : bool) : R := if b then a else 1 - a.

Section Algorithm.
Variables (R : realFieldType) (V : finType) (E : {set V}) (lm : seq V -> V -> R) (n : nat).
Variable alpha : 'I_n.+1 -> power R.
Hypothesis lm_model : model E lm.
Notation supported := (supported E lm).
Notation S_T := (S_T E lm).
Notation state T := {ffun 'I_n.+1 -> S_T T}.
Notation pi T := (@pi R V E lm T n alpha).
Implicit Types (k : 'I_n.+1) (e : 'I_n) (x y : seq V) (T r c N : nat).

Definition g_tickets k x v : R := g E lm (alpha k) (map Some x) (Some v).

(** eq:implementation-local-cached-ratio: the sums of zeta stop at the tokens' end. *)
Definition zeta_sum k r x : R := \prod_(r <= t < size x) z E lm (alpha k) (take t (map Some x)).
Definition local_coin k r x y : bool -> R :=
  coin (Num.min 1 (zeta_sum k r y / zeta_sum k r x)).

(** eq:swap-acceptance-theory, from the cached log p0 of the two records. *)
Definition swap_ratio_tokens e x y : R :=
  let p u := prefix_prob E lm (map Some u) in
  Num.min 1 ((alpha (lower e) (p y) / alpha (lower e) (p x))
             * (alpha (upper e) (p x) / alpha (upper e) (p y))).
Definition swap_coin e x y : bool -> R := coin (swap_ratio_tokens e x y).

Definition accept_local T k r : S_T T -> S_T T -> R := accept (pi T k) (q (alpha k) r).
Definition accept_swap T e : state T -> R := swap_accept (pi T) e.

(** ** What the caches hold is what the definitions ask for *)

Lemma prob_tokens T (x : S_T T) :
  prefix_prob E lm (map Some (tokens x)) = record_prob E lm (val x).
Proof.
have sx := supported_record lm_model x.
have [m unp] : exists m, tval (val x) = map Some (tokens x) ++ nseq m bot.
  by exists (size (val x) - size (tokens x))%N; apply: (unpad lm_model sx).
rewrite /record_prob [in RHS]unp !prefix_probE.
rewrite [RHS](suffix_split _ _ (r := size (map Some (tokens x)))); last first.
  by rewrite size_cat leq_addr.
rewrite take_size_cat // suffix_cat.
suff -> : chain (p0 E lm) (map Some (tokens x)) (nseq m bot) = 1 by rewrite mulr1.
have : supported (map Some (tokens x) ++ nseq m bot) by rewrite -unp.
elim: m (map _ _) {unp} => [//|m IH] h /=; rewrite -cat_rcons => sup; rewrite IH ?mulr1 //.
have := supported_take lm_model (size h).+1 sup.
rewrite -{1}(size_rcons h bot) take_size_cat ?size_rcons //.
rewrite supported_rcons // => /andP[sh].
by rewrite /p0 sh /step; case: ifP => //; rewrite ltxx.
Qed.

Lemma zeta_sum_cached T k r (x : S_T T) :
  zeta_sum k r (tokens x) = cached_z (alpha k) r x.
Proof.
apply: (product_over_tokens lm_model (f := fun h _ => z E lm (alpha k) h)) => h.
exact: z_padding.
Qed.

Notation proposal := (proposal (fun k => g E lm (alpha k))).

Lemma proposal_q T k r (x y : S_T T) : (r <= T)%N -> proposal k r x y = q (alpha k) r x y.
Proof. by move=> rT; rewrite /algorithm_law.proposal /continue size_takel ?size_tuple. Qed.

Lemma local_coin_drawn T k r (x y : S_T T) : (r <= T)%N -> proposal k r x y != 0 ->
  let a := accept_local k r x y in
  let w := local_coin k r (tokens x) (tokens y) in
  stated w true = a /\ stated w false = 1 - a.
Proof.
move=> rT; rewrite proposal_q // => qn0 a w.
have -> : a = Num.min 1 (zeta_sum k r (tokens y) / zeta_sum k r (tokens x)) => //.
by rewrite !zeta_sum_cached /a /accept_local cached_accept.
Qed.

Lemma swap_ratio_cached T e (X : state T) :
  swap_ratio_tokens e (tokens (X (lower e))) (tokens (X (upper e))) = accept_swap e X.
Proof.
rewrite /swap_ratio_tokens /accept_swap /swap_accept /= !prob_tokens; congr (Num.min 1 _).
by rewrite (swap_ratio_p0 alpha lm_model).
Qed.

Lemma swap_coin_drawn T e (X : state T) :
  let a := accept_swap e X in
  let w := swap_coin e (tokens (X (lower e))) (tokens (X (upper e))) in
  stated w true = a /\ stated w false = 1 - a.
Proof. by rewrite /stated /= swap_ratio_cached. Qed.

Lemma g_tickets_drawn k x v : supported (map Some x) -> ~~ ended E x ->
  stated (g_tickets k x) v = g E lm (alpha k) (map Some x) (Some v).
Proof. by []. Qed.

Lemma g_support k h o : supported h -> g E lm (alpha k) h o != 0 -> p0 E lm h o != 0.
Proof. by move=> sh; rewrite g_neq0. Qed.

Lemma accept_local01 T k r (x y : S_T T) : 0 <= accept_local k r x y <= 1.
Proof.
rewrite accept_le1 andbT; apply: accept_ge0 => [u|u v]; first exact: pi_ge0.
exact: q_ge0.
Qed.

Lemma accept_swap01 T e (X : state T) : 0 <= accept_swap e X <= 1.
Proof. by rewrite swap_accept_le1 andbT; apply: swap_accept_ge0 => k u; apply: pi_ge0. Qed.

(** ** The kernels of the algorithm *)

Variable s : schedule.
Notation stage := (stage R n).
Notation omega := (omega (@stated R)).

(** Block extension, then N_m rounds of R^n_local and n_sweep sweeps. *)
Notation stage_kernel :=
  (stage_kernel (fun k => g E lm (alpha k)) accept_local accept_swap (@stated R) s).
Notation stages_kernel :=
  (stages_kernel (fun k => g E lm (alpha k)) accept_local accept_swap (@stated R) s).
Notation refinement :=
  (refinement (fun k => g E lm (alpha k)) accept_local accept_swap (@stated R) s).
Notation proper := (proper (@stated R)).
Notation fair := (fair (@stated R)).

(** The rounds are those of fixed_horizon.v and alternation.v: L_k, W_k, R, C. *)
Lemma refinement_exact (st : stage) c N : refinement st c N =2
  rounds_from (W (pi (horizon st))) (@local R V E lm (horizon st) n alpha (omega st)) s c N
    (local_moves st) (sweeps st).
Proof.
apply: (refinement_rounds accept_local accept_swap (@stated R) s c N
  (q := fun k (r : 'I_(horizon st)) => q (alpha k) r)) => k r x y.
by apply: proposal_q; apply: ltnW.
Qed.

Variables (address : Type) (at_ : nat -> nat -> nat -> purpose -> address) (per_rung : bool).

Notation run_stages :=
  (run_stages E at_ g_tickets local_coin swap_coin s per_rung).
Notation run_stage :=
  (run_stage E at_ g_tickets local_coin swap_coin s per_rung).
Notation algorithm :=
  (algorithm E at_ g_tickets local_coin swap_coin s per_rung).

(** The one record of horizon 0. *)
Definition empty_record : S_T 0 :=
  exist _ [tuple] (eq_ind_r (fun u : R => 0 < u) ltr01 (prefix_prob0 E lm)).

Definition start : state 0 := [ffun => empty_record].

Lemma show_start : show start = no_tokens V n.
Proof. by apply/ffunP => k; rewrite !ffunE. Qed.

(** Algorithm 1 is one kernel. *)
Theorem algorithm_is_one_kernel sts output F : proper 0 sts ->
  expect (@stated R) (algorithm sts output) F =
  \sum_Y stages_kernel 0 0 sts start Y * F (tokens (Y output)).
Proof.
move=> pr; rewrite /algorithm expect_bind -show_start.
rewrite (@stages_yields R V E lm n lm_model (fun k => g E lm (alpha k)) _ _ _
  accept_local accept_swap accept_local01 _ _ (@stated R) at_ g_tickets local_coin swap_coin
  g_tickets_drawn local_coin_drawn swap_coin_drawn s per_rung) //.
- by apply: eq_bigr => Y _; rewrite /= ffunE.
- by move=> k h o; apply: g_ge0.
- by move=> k h; apply: law_g.
- exact: g_support.
Qed.

End Algorithm.

(** ** The limit of the returned record *)
Section Limit.
Variables (R : archiFieldType) (V : finType) (E : {set V}) (lm : seq V -> V -> R) (n : nat).
Variable alpha : 'I_n.+1 -> power R.
Hypothesis lm_model : model E lm.
Notation S_T := (S_T E lm).
Notation state T := {ffun 'I_n.+1 -> S_T T}.
Notation pi T := (@pi R V E lm T n alpha).
Notation Pi T := (@Pi R V E lm T n alpha).
Notation stage := (stage R n).
Variables (s : schedule) (address : Type) (at_ : nat -> nat -> nat -> purpose -> address).
Variable per_rung : bool.

(** Any earlier stages, and the last one, M, at the horizon T+1. *)
Variables (earlier : seq stage) (T : nat) (omega : 'I_n.+1 -> 'I_T.+1 -> R).
Variables (n_local n_sweep : nat) (output : 'I_n.+1).
Hypothesis earlier_proper : proper (@stated R) 0 earlier.
Hypothesis horizon_grows : (last_horizon 0 earlier <= T.+1)%N.
Hypothesis omega_law : forall k, law (omega k).
Hypothesis omega_full : forall k, 0 < omega k ord0.
Hypothesis n_local_positive : (0 < n_local)%N.

Definition last_stage (N : nat) : stage := Stage omega N n_local n_sweep.

(** The law of the record that Algorithm 1 returns when N_M = N. *)
Definition returned (N : nat) (y : S_T T.+1) : R :=
  expect (@stated R)
    (algorithm E at_ (@g_tickets R V E lm n alpha) (@local_coin R V E lm n alpha)
      (@swap_coin R V E lm n alpha) s per_rung
       (rcons earlier (last_stage N)) output)
    (fun x => (x == tokens y)%:R).

Notation eps := (@eps R V E lm T n alpha omega).
Notation g := (fun k => g E lm (alpha k)).

(** The initializer of the last stage's refinement: what the earlier stages and its
    block extension leave. *)
Definition initializer : state T.+1 -> R :=
  act (stages_kernel g (@accept_local R V E lm n alpha) (@accept_swap R V E lm n alpha)
         (@stated R) s 0 0 earlier (start E lm n))
      (prodk (fun k => @extension R V E lm n g (last_horizon 0 earlier) T.+1 k)).

Let g_nonneg k h o : 0 <= g k h o. Proof. exact: g_ge0. Qed.
Let g_normal k h : supported E lm h -> law (g k h). Proof. exact: law_g. Qed.
Let g_sup k h o : supported E lm h -> g k h o != 0 -> p0 E lm h o != 0.
Proof. by move=> sh; rewrite g_neq0. Qed.
Let acc01 U k r (x y : S_T U) : 0 <= accept_local alpha k r x y <= 1.
Proof. exact: accept_local01. Qed.

Lemma initializer_law : law initializer.
Proof.
apply: law_act; last by apply: kernel_prodk => k; apply: (extension_kernel lm_model g_nonneg g_normal g_sup).
apply: (stages_kernel_kernel lm_model g_nonneg g_normal g_sup acc01) => //.
by move=> U e X; apply: accept_swap01.
Qed.

Lemma returned_is_marginal N : returned N =1
  marginal output (act initializer
    (rounds_from (W (pi T.+1)) (@local R V E lm T.+1 n alpha omega) s
      (sweep_count earlier) N n_local n_sweep)).
Proof.
move=> y; rewrite /returned /algorithm expect_bind run_stages_rcons -(show_start E lm).
have stp := stages_yields lm_model g_nonneg g_normal g_sup acc01 at_
  (@g_tickets_drawn R V E lm n alpha) (@local_coin_drawn R V E lm n alpha lm_model) (@swap_coin_drawn R V E lm n alpha lm_model)
  s per_rung 0 0 0 (start E lm n) earlier_proper.
have lst := stage_yields lm_model g_nonneg g_normal g_sup acc01 at_
  (@g_tickets_drawn R V E lm n alpha) (@local_coin_drawn R V E lm n alpha lm_model) (@swap_coin_drawn R V E lm n alpha lm_model)
  s per_rung (0 + size earlier) (0 + local_count earlier) (0 + sweep_count earlier) _ (omega_law : fair (@stated R) (last_stage N)) horizon_grows.
rewrite (yields_bind stp lst).
rewrite /marginal [RHS]big_mkcond /=; apply: eq_bigr => Y _.
rewrite /= ffunE (inj_eq (@tokens_inj R V E lm lm_model T.+1)).
rewrite act_compk -/initializer.
rewrite (act_ext (fun _ => erefl) (@refinement_exact R V E lm n alpha s (last_stage N) (sweep_count earlier) N)).
by case: eqP; rewrite ?mulr1 ?mulr0.
Qed.

(** thm:fixed-horizon-convergence for the algorithm: the returned record. *)
Theorem returned_bound N : tv (returned N) (pi T.+1 output) <= (1 - eps) ^+ N.
Proof.
have [/andP[e0 e1] _ bound _] :=
  @schedule_convergence R V E lm T n alpha omega lm_model omega_law s (sweep_count earlier)
    n_local n_sweep omega_full n_local_positive.
have [le1 le2] := bound _ output N initializer_law.
rewrite (tv_ext (returned_is_marginal N) (fun _ => erefl)).
apply: le_trans le1 (le_trans le2 _); apply: ler_pimulr; first by rewrite exprn_ge0 // subr_ge0.
have lPi : law (Pi T.+1) by apply: Pi_law.
rewrite tv_attained //; last exact: initializer_law.
apply: (@le_trans _ _ (prob initializer (fun x => Pi T.+1 x <= initializer x))).
  by rewrite ler_subl_addl ler_addr prob_ge0.
by apply: prob_le1; apply: initializer_law.
Qed.

Theorem returned_limit eta : 0 < eta ->
  exists N0, forall N, (N0 <= N)%N -> tv (returned N) (pi T.+1 output) < eta.
Proof.
move=> eta0.
have [_ _ _ lim] :=
  @schedule_convergence R V E lm T n alpha omega lm_model omega_law s (sweep_count earlier)
    n_local n_sweep omega_full n_local_positive.
have [N0 small] := lim _ _ initializer_law eta0; exists N0 => N le.
rewrite (tv_ext (returned_is_marginal N) (fun _ => erefl)).
apply: le_lt_trans (small N le).
by rewrite -(tv_ext (fun _ => erefl) (output_marginal alpha lm_model output)) tv_marginal_le.
Qed.

End Limit.

(** ** The printed schedule meets the hypotheses *)
Section PrintedSchedule.
Variables (R : realFieldType) (n : nat) (B T M : nat) (N n_local n_sweep : nat -> nat).
Hypothesis B_positive : (0 < B)%N.
Hypothesis T_positive : (0 < T)%N.

Definition uniform (U : nat) (k : 'I_n.+1) (r : 'I_U) : R := U%:R^-1.

Lemma uniform_law U k : (0 < U)%N -> law (@uniform U k).
Proof.
move=> U0; split=> [r|]; first by rewrite invr_ge0 ler0n.
by rewrite sumr_const card_ord -[X in X *+ _]mul1r -mulrnAr -mulr_natl mul1r mulfV // pnatr_eq0 -lt0n.
Qed.

(** T_m = min(mB, T), omega uniform on it. *)
Definition block_stage (m : nat) : stage R n :=
  Stage (@uniform (minn (m.+1 * B) T)) (N m) (n_local m) (n_sweep m).

Theorem printed_stages_proper : proper (@stated R) 0 (mkseq block_stage M).
Proof.
suff go m i T0 : (T0 <= minn (i * B) T)%N ->
    proper (@stated R) T0 [seq block_stage j | j <- iota i m] by exact: go.
elim: m i T0 => [//|m IH] i T0 le /=; split.
- have h0 : (0 < minn (i.+1 * B) T)%N by rewrite leq_min T_positive muln_gt0 B_positive.
  by move=> k; apply: (uniform_law k h0).
- apply: leq_trans le _; change (minn (i * B) T <= minn (i.+1 * B) T)%N.
  by rewrite leq_min geq_minr andbT (leq_trans (geq_minl _ _)) // leq_mul2r leqnSn orbT.
exact: IH.
Qed.

Lemma printed_last_horizon : (T <= M * B)%N -> (0 < M)%N ->
  last_horizon 0 (mkseq block_stage M) = T.
Proof.
move=> MB M0; rewrite /mkseq; suff go T0 i m : (0 < m)%N ->
    last_horizon T0 [seq block_stage j | j <- iota i m] = minn ((i + m) * B) T.
  by rewrite go // add0n; apply/minn_idPr.
elim: m T0 i => [//|[|m] IH] T0 i _; first by rewrite /= addn1.
transitivity (last_horizon (horizon (block_stage i)) [seq block_stage j | j <- iota i.+1 m.+1]) => //.
by rewrite IH // addSnnS.
Qed.

End PrintedSchedule.
