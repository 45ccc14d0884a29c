(** * The bound that early rejection looks at

    zeta_t = alpha log p0 - log g is at most 0 for exact tickets and alpha >= 1
    (tempera_early_rejection.z_le1).  Integer tickets carry their rounding: [zeta_slack]
    bounds exp zeta by (1 + 1/2w)(1 + m/M), with M = 2^44 and m allowed tokens.  With any
    such bound S the score so far, times S for every position to come, never loses a
    proposal that the finished score would have accepted.                              *)

From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov record_space power power_target tempera_lottery program.
From Tempera Require Import replica_exchange sampler_steps record_tokens.
From Tempera Require Import tempera_early_rejection addressed_draws word_grain.
From Tempera Require Import lottery_sampler word_draws sampler_early_rejection.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Slack.
Variables (R : realFieldType) (V : finType) (E : {set V}) (lm : seq V -> V -> R).
Hypothesis lm_model : model E lm.
Variable alpha : power R.
Hypothesis alpha_sharpens : forall p, 0 <= p -> p <= 1 -> alpha p <= p.
Variable tickets : seq (option V) -> option V -> nat.
Hypothesis tickets_allowed : forall h o, supported E lm h ->
  (0 < tickets h o)%N = (0 < p0 E lm h o).

(** Tickets are powers times [scale], rounded: half a ticket down at most, and one up,
    which is what max(1, round) does.  [scale] is M over the largest power, so at least M. *)
Theorem zeta_slack (M scale : R) h o : supported E lm h -> 0 < p0 E lm h o ->
  0 < M -> M <= scale ->
  (forall u, 0 < p0 E lm h u -> scale * alpha (p0 E lm h u) <= (tickets h u)%:R + 2%:R^-1) ->
  (forall u, 0 < p0 E lm h u -> (tickets h u)%:R <= scale * alpha (p0 E lm h u) + 1) ->
  zeta E lm alpha tickets h o <=
  (1 + (2%:R * (tickets h o)%:R)^-1) * (1 + #|[set u | 0 < p0 E lm h u]|%:R / M).
Proof.
move=> sh po M0 Ms down up; set m := #|_|; set w := tickets h.
have s0 : 0 < scale by apply: lt_le_trans Ms.
have w0 : 0 < (w o)%:R :> R by rewrite ltr0n tickets_allowed.
have W0 : 0 < (total tickets h)%:R :> R by rewrite ltr0n; apply: (total_gt0 lm_model tickets_allowed).
have totalW : (total tickets h)%:R <= scale * (1 + m%:R / M).
  apply: (@le_trans _ _ (\sum_(u | 0 < p0 E lm h u) (scale * alpha (p0 E lm h u) + 1))).
    rewrite /total natr_sum (bigID (fun u => 0 < p0 E lm h u)) /= [X in _ + X]big1 ?addr0.
      by apply: ler_sum => u pu; apply: up.
    by move=> u; rewrite -tickets_allowed // -eqn0Ngt => /eqP->.
  rewrite big_split /= -mulr_sumr mulrDr mulr1; apply: ler_add.
    rewrite ler_pimulr ?(ltW s0) //; apply: le_trans (z_le1 lm_model alpha_sharpens sh).
    rewrite /z [X in _ <= X](bigID (fun u => 0 < p0 E lm h u)) /= ler_addl.
    by apply: sumr_ge0 => u _; apply: pow_p0_ge0.
  rewrite sumr_const -cardsE -/m mulrA [scale * _]mulrC -mulrA ler_pemulr ?ler0n //.
  by rewrite ler_pdivl_mulr // mul1r.
rewrite /zeta /lottery invf_div mulrA ler_pdivr_mulr //.
have a_le : scale * alpha (p0 E lm h o) <= (1 + (2%:R * (w o)%:R)^-1) * (w o)%:R.
  apply: le_trans (down o po) _; rewrite mulrDl mul1r invfM -mulrA mulVf ?mulr1 //.
  by rewrite gt_eqF.
have a0 : 0 <= alpha (p0 E lm h o) by apply: pow_p0_ge0.
apply: (@le_trans _ _ (alpha (p0 E lm h o) * (scale * (1 + m%:R / M)))).
  by rewrite ler_wpmul2l.
rewrite mulrA [alpha _ * scale]mulrC [X in _ <= X]mulrAC ler_wpmul2r //.
by rewrite addr_ge0 ?ler01 // divr_ge0 ?ler0n // ltW.
Qed.

End Slack.

Section Bound.
Variables (R : realFieldType) (V : finType) (E : {set V}) (lm : seq V -> V -> R) (n : nat).
Hypothesis lm_model : model E lm.
Variable alpha : 'I_n.+1 -> power R.
Variable tickets : 'I_n.+1 -> seq (option V) -> option V -> nat.
Hypothesis tickets_allowed : forall k h o, supported E lm h ->
  (0 < tickets k h o)%N = (0 < p0 E lm h o).
Variable S : R.
Hypothesis S_ge1 : 1 <= S.
(** Every zeta is at most log S: [zeta_slack] gives such an S. *)
Hypothesis zeta_le : forall k h o, supported E lm h -> 0 < p0 E lm h o ->
  zeta E lm (alpha k) (tickets k) h o <= S.

Variables (N grains T : nat).
Hypothesis N_positive : (0 < N)%N.
Hypothesis grains_positive : (0 < grains)%N.
Notation score := (score_tokens E lm alpha tickets).
Notation token_ticket := (token_ticket R tickets).
Implicit Types (k : 'I_n.+1) (x y : seq V).

Lemma floor_ticket_mono (p q : R) : p <= q -> (floor_ticket grains p <= floor_ticket grains q)%N.
Proof.
move=> pq; apply: sub_find => t; apply: le_lt_trans.
by rewrite ler_wpmul2l ?ler0n.
Qed.

Definition final_t k r x y : nat := floor_ticket grains (Num.min 1 (score k r y / score k r x)).
(** The bound after the prefix y: S for every position from here to the horizon. *)
Definition bound_t k r x y : nat :=
  floor_ticket grains (Num.min 1 (score k r y * S ^+ (T - size y) / score k r x)).

Lemma score_ge0 k r y : 0 <= score k r y.
Proof.
apply: prodr_ge0 => t _; rewrite divr_ge0 ?lottery_ge0 // pow_ge0 //; exact: p0_ge0.
Qed.

Lemma score_rcons k r y v : supported E lm (map Some y) -> 0 < p0 E lm (map Some y) (Some v) ->
  score k r (rcons y v) <= score k r y * S.
Proof.
move=> sy pv; have same t : (t < size y)%N ->
    zeta E lm (alpha k) (tickets k) (take t (map Some (rcons y v))) (nth bot (map Some (rcons y v)) t)
    = zeta E lm (alpha k) (tickets k) (take t (map Some y)) (nth bot (map Some y) t).
  move=> ty; rewrite map_rcons -cats1 takel_cat ?size_map 1?ltnW // nth_cat size_map ty.
  by [].
have S0 : 0 <= S by apply: le_trans S_ge1; apply: ler01.
have [ry|yr] := leqP r (size y); last first.
  rewrite /score_tokens !big_geq ?size_rcons ?mul1r //; first exact: ltnW.
rewrite /score_tokens size_rcons big_nat_recr //=.
rewrite (eq_big_nat _ _ (F2 := fun t => zeta E lm (alpha k) (tickets k) (take t (map Some y)) (nth bot (map Some y) t))).
  rewrite ler_wpmul2l ?score_ge0 //.
  rewrite map_rcons -cats1 take_size_cat ?size_map // nth_cat size_map ltnn subnn /=.
  exact: zeta_le.
by move=> t /andP[_ ty]; apply: same.
Qed.

Lemma going_on_open y : supported E lm (map Some y) -> going_on E T y -> open E (map Some y).
Proof. by move=> sy /andP[ny _]; rewrite (supported_not_ended lm_model). Qed.

Lemma drawn_supported k y y' : drawn_from E token_ticket T k y y' ->
  supported E lm (map Some y) -> (size y <= T)%N ->
  [/\ supported E lm (map Some y'), (size y' <= T)%N
    & forall r, score k r y' * S ^+ (T - size y') <= score k r y * S ^+ (T - size y)].
Proof.
elim=> [z sz zT|z v z' go tv _ IH sz zT]; first by split.
have pv : 0 < p0 E lm (map Some z) (Some v) by rewrite -(tickets_allowed k).
have zT' : (size z < T)%N by case/andP: go.
have [||sz' zT'' le] := IH; first by rewrite map_rcons supported_rcons // sz.
  by rewrite size_rcons.
split=> // r; apply: le_trans (le r) _; rewrite size_rcons.
have S0 : 0 <= S by apply: le_trans S_ge1; apply: ler01.
rewrite -(subnSK zT') exprS mulrA ler_wpmul2r ?exprn_ge0 //.
exact: score_rcons.
Qed.

(** No bound on the way to a proposal holds fewer tickets than the proposal. *)
Theorem early_bounds k r x y : supported E lm (map Some y) -> (size y <= T)%N ->
  bounds E token_ticket final_t bound_t T k r x y.
Proof.
move=> sy yT z z' dz dz'; have [sz zT _] := drawn_supported dz sy yT.
have [sz' zT' le] := drawn_supported dz' sz zT.
have S0 : 0 <= S by apply: le_trans S_ge1; apply: ler01.
apply: floor_ticket_mono; rewrite le_minr !le_minl lexx /=; apply/orP; right.
rewrite ler_wpmul2r ?invr_ge0 ?score_ge0 //; apply: le_trans (le r).
by rewrite ler_pemulr ?score_ge0 // exprn_ege1.
Qed.

Theorem tokens_sold k y : supported E lm (map Some y) -> (size y <= T)%N ->
  sold E token_ticket T k y.
Proof.
move=> sy yT z dz go; have [sz _ _] := drawn_supported dz sy yT.
have nz : ~~ ended E z by case/andP: go.
have mass : \sum_v share R (fun v => tickets k (map Some z) (Some v)) v = 1.
  rewrite (eq_bigr (fun v => lottery R (tickets k) (map Some z) (Some v))) => [|v _]; last first.
    exact: (token_share lm_model tickets_allowed).
  have [_ <-] := law_lottery lm_model (tickets_allowed k) sz.
  rewrite sum_option (g_open (fun h o => @lottery_support R V E lm n lm_model tickets tickets_allowed k h o) sz).
    by rewrite add0r.
  exact: going_on_open.
rewrite share_mass in mass.
by case: ltnP mass => // _ /eqP; rewrite eq_sym oner_eq0.
Qed.

(** On records of S_T the early move is the local move, word for word. *)
Theorem sampler_early_rejection_exact (address : finType)
    (at_ : nat -> nat -> nat -> purpose -> address) (words : {ffun address -> 'I_N})
    (restart : 'I_n.+1 -> 'I_T -> nat * R) (final_a bound_a : 'I_n.+1 -> nat -> seq V -> seq V -> R)
    k i (x : S_T E lm T) :
  meaning (fun I w => word_winner (N := N) (fun j => (w j).1)) words
    (early_move E grains token_ticket at_ final_t bound_t final_a bound_a restart k i (tokens x)) =
  meaning (fun I w => word_winner (N := N) (fun j => (w j).1)) words
    (local_move E at_ token_ticket (final_ticket grains final_t final_a) restart k i (tokens x)).
Proof.
have le r u v : (final_t k r u v <= grains)%N by apply: floor_ticket_le.
apply: early_move_exact => // [k' r u v|k' r u v|r]; try exact: floor_ticket_le.
have sup : supported E lm (map Some (take r (tokens x))).
  rewrite map_take; apply: (supported_take lm_model).
  have e := unpad lm_model (supported_record lm_model x).
  have := supported_take lm_model (size (map Some (tokens x))) (supported_record lm_model x).
  by rewrite e take_size_cat.
have sz : (size (take r (tokens x)) <= T)%N.
  by rewrite size_take; case: ltnP => [_|le']; [apply: ltnW | apply: leq_trans le' (ltnW (ltn_ord r))].
by split; [apply: tokens_sold | apply: early_bounds].
Qed.

End Bound.
