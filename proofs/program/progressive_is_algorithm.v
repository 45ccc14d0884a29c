(** * The law that is joined to the program is the law of Algorithm 1

    progressive_law.v states the law of the stages as matrices.v computes it for the
    join.  It is the law of the replicas that the programs of sampler_steps.v hold when
    they end, under the ordered sweep and with restarts uniform over each horizon.  *)

From mathcomp Require Import all_ssreflect all_algebra all_fingroup.
From Tempera Require Import markov autoregressive record_space power power_target.
From Tempera Require Import replica_exchange fixed_horizon alternation program record_tokens.
From Tempera Require sampler_steps.
From Tempera Require Import algorithm_law algorithm progressive_law.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Bridge.
Variables (R : realFieldType) (V : finType) (E : {set V}) (lm : seq V -> V -> R) (n : nat).
Variable alpha : 'I_n.+1 -> power R.
Hypothesis lm_model : model E lm.
Variables (address : Type) (at_ : nat -> nat -> nat -> sampler_steps.purpose -> address) (per_rung : bool).
Notation state T := {ffun 'I_n.+1 -> S_T E lm T}.
Notation g := (fun k => power_target.g E lm (alpha k)).

(** A stage as the program is given it. *)
Definition as_program (m : progressive_law.stage) : sampler_steps.stage R n :=
  sampler_steps.Stage (@uniform R n (progressive_law.horizon m))
    (progressive_law.rounds m) (progressive_law.n_local m) (progressive_law.n_sweep m).

(** Horizons never shrink and are positive. *)
Fixpoint growing (T : nat) (ms : seq progressive_law.stage) : bool :=
  if ms is m :: ms' then [&& (0 < progressive_law.horizon m)%N, (T <= progressive_law.horizon m)%N
                           & growing (progressive_law.horizon m) ms'] else true.

Notation run_stages := (sampler_steps.run_stages E at_ (@g_tickets R V E lm n alpha)
  (@local_coin R V E lm n alpha) (@swap_coin R V E lm n alpha) ADJ per_rung).
Notation show := (@show R V E lm n).

Lemma sweeps_adj T (W : 'I_n -> state T -> state T -> R) c m :
  sweeps_from W ADJ c m =2 iterk m (ordered (enum 'I_n) W).
Proof.
elim: m c => [//|m IH] c X Y; apply: (act_ext (fun _ => erefl)) => X' Y'.
exact: IH.
Qed.

Lemma rounds_adj T (W : 'I_n -> state T -> state T -> R) (L : 'I_n.+1 -> S_T E lm T -> S_T E lm T -> R) c N nl ns :
  rounds_from W L ADJ c N nl ns =2 iterk N (ppt L (ordered (enum 'I_n) W) nl ns).
Proof.
elim: N c => [//|N IH] c X Y; apply: (@act_ext R) => [Z|Z Y']; last exact: IH.
by apply: (act_ext (fun _ => erefl)) => X' Z'; apply: sweeps_adj.
Qed.

Lemma act_stage T (mu : state T -> R) (m : progressive_law.stage) c :
  act mu (stage_kernel g (@accept_local R V E lm n alpha) (@accept_swap R V E lm n alpha)
            (@stated R) ADJ (as_program m) c T)
  =1 @stage_law R V E lm n alpha T mu m.
Proof.
move=> Y; rewrite /stage_kernel act_compk /stage_law -act_iterk.
apply: act_ext => [X|X Z].
  apply: (act_ext (fun _ => erefl)) => X' Z'; apply: eq_bigr => k _.
  by rewrite /algorithm_law.extension /extension /continue size_tuple.
rewrite (@refinement_exact R V E lm n alpha ADJ (as_program m) c _) rounds_adj.
by [].
Qed.

(** The replicas with which the run of the stages ends have the law that is joined. *)
Theorem progressive_is_algorithm (ms : seq progressive_law.stage) (F : {ffun 'I_n.+1 -> seq V} -> R) : growing 0 ms ->
  \sum_Y @progressive_law R V E lm n alpha ms Y * F (show Y)
  = expect (@stated R) (run_stages (map as_program ms) 0 0 0 (sampler_steps.no_tokens V n)) F.
Proof.
have go T (mu : state T -> R) l s c : growing T ms ->
    \sum_Y @progressive_from R V E lm n alpha T mu ms Y * F (show Y)
    = \sum_X mu X * expect (@stated R) (run_stages (map as_program ms) l s c (show X)) F.
  elim: ms T mu l s c => [//|m ms IH] T mu l s c /= /and3P[pos le inc].
  rewrite (IH _ _ l.+1 (s + progressive_law.rounds m * progressive_law.n_local m)%N
             (c + progressive_law.rounds m * progressive_law.n_sweep m)%N inc).
  have stp X := @stage_yields R V E lm n lm_model g (fun k h o => g_ge0 (alpha k) lm_model h o)
    (fun k h => @law_g _ _ _ _ (alpha k) lm_model h) (@g_support R V E lm n alpha lm_model)
    (@accept_local R V E lm n alpha) (@accept_swap R V E lm n alpha)
    (fun T k r x y => accept_local01 alpha lm_model k r x y) R address (@stated R) at_
    (@g_tickets R V E lm n alpha) (@local_coin R V E lm n alpha) (@swap_coin R V E lm n alpha)
    (@g_tickets_drawn R V E lm n alpha) (@local_coin_drawn R V E lm n alpha lm_model)
    (@swap_coin_drawn R V E lm n alpha lm_model) ADJ per_rung (as_program m) l s c T X
    (fun k => @uniform_law R n (progressive_law.horizon m) k pos) le.
  under eq_bigr do rewrite -(@act_stage T mu m c) mulr_suml.
  rewrite exchange_big /=; apply: eq_bigr => X _.
  rewrite expect_bind stp mulr_sumr; apply: eq_bigr => Y _.
  by rewrite mulrA.
move=> gr; rewrite /progressive_law (go 0%N (fun=> 1) 0%N 0%N 0%N gr).
have one (X : state 0) : X = start E lm n.
  by apply/ffunP => k; rewrite ffunE; apply: val_inj; rewrite /= [LHS]tuple0.
rewrite (bigD1 (start E lm n)) //= big1 ?addr0 ?mul1r ?show_start // => X.
by rewrite (one X) eqxx.
Qed.

End Bridge.
