(** Uniform accepted entry with an explicit delta (eq:ppt-local-confinement).

    The paper assumes that a long record becomes short with probability at least
    delta.  A truncating restart at one of the first h positions that draws a
    terminal token at once ends within the threshold, and the token scores through
    that endpoint cancel, so it is always accepted.  Hence, where the proposal ends an
    open record with probability at least eta at every history of fewer than h
    tokens, delta = eta h / T.

    - [accepted_entry]            the entry condition, with that delta
    - [terminal_probability_enough]   a terminal token of base probability at least c
      is enough: eta = c^(m+1) for the power m+1
    - [structural_bias_of_family]     both bounds of thm:ppt-structural-bias       *)
From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov autoregressive record_space power power_target.
From Tempera Require Import truncating structural_bias_rearranging structural_bias.
From Tempera Require Import structural_bias_truncating.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Entry.
Variables (R : realFieldType) (V : finType) (E : {set V}).
Variable lm : seq V -> V -> R.
Variable alpha : power R.
Variable T : nat.
Hypothesis lm_model : model E lm.
Notation comparison := (comparison E lm T).
Notation g := (g E lm alpha).
Notation powered := (powered E lm alpha).
Notation p0 := (p0 E lm).
Notation supported := (supported E lm).
Implicit Types (x y : comparison) (v : V).

Section OneEnding.
Variables (x : comparison) (r : nat) (v : V).
Hypothesis r_inside : (r < tokens_of (val x))%N.
Hypothesis v_terminal : v \in E.
Let h := take r (val x).
Hypothesis v_drawn : 0 < g h (Some v).

Let rT : (r < T)%N.
Proof. by apply: leq_trans r_inside (tokens_of_le x). Qed.

Let sized : size h = r.
Proof. by rewrite size_takel ?size_tuple // ltnW. Qed.

(** x cut before position r, then v, then padding. *)
Definition ending_word : seq (option V) := h ++ Some v :: nseq (T - r.+1) bot.

Let size_ending : size ending_word == T.
Proof. by rewrite size_cat sized /= size_nseq addnS -addSn subnKC. Qed.

Definition ending : record V T := Tuple size_ending.

Let h_supported : supported h.
Proof. by apply: (comparable_take lm_model); rewrite ltnW. Qed.

Let kept_tokens : all (fun o => o != bot) h.
Proof.
apply/(all_nthP bot) => i; rewrite sized => ir; rewrite nth_take //.
by rewrite (before_find bot (a := fun o => o == bot)) // (ltn_trans ir).
Qed.

Let ended_supported : supported (rcons h (Some v)).
Proof.
rewrite supported_rcons // h_supported lt_def (p0_ge0 lm_model) andbT.
by rewrite -(g_neq0 alpha lm_model) // gt_eqF.
Qed.

Lemma tokens_of_ending : tokens_of ending = r.+1.
Proof.
rewrite /tokens_of /= /ending_word find_cat.
have /negPf -> : ~~ has (fun o => o == bot) h.
  by rewrite -all_predC; apply: sub_all kept_tokens.
rewrite sized /=; case: (T - r.+1)%N => [|m] /=; by rewrite ?addn1.
Qed.

Let take_ending i : (r < i)%N -> (i <= T)%N ->
  take i ending_word = rcons h (Some v) ++ nseq (i - r.+1) bot.
Proof.
move=> ri iT; rewrite /ending_word -cat_rcons take_cat size_rcons sized ltnNge ri /=.
by congr (_ ++ _); rewrite take_nseq // leq_sub2r.
Qed.

Lemma ending_comparable : comparable E lm ending.
Proof.
rewrite /comparable tokens_of_ending /= take_ending // subnn cats0 ended_supported /=.
rewrite /ending_word -cat_rcons drop_size_cat ?size_rcons ?sized //.
by rewrite all_nseq eqxx orbT.
Qed.

Definition ended : comparison := Sub ending ending_comparable.

(** After the terminal token everything is padding, with probability one. *)
Lemma capped_ended : capped_proposal alpha r x ended = g h (Some v).
Proof.
rewrite /capped_proposal /= {1}/ending_word take_size_cat // eqxx mul1r.
rewrite /suffix (eqP size_ending) big_ltn //.
have -> : take r ending_word = h by rewrite /ending_word take_size_cat.
have -> : nth bot ending_word r = Some v by rewrite /ending_word nth_cat sized ltnn subnn.
rewrite {1}/capped sized r_inside big_nat big1 ?mulr1 // => t /andP[rt tT].
have -> : nth bot ending_word t = bot.
  rewrite /ending_word nth_cat sized ltnNge (ltnW rt) /= -(subnSK rt) /= nth_nseq.
  by rewrite if_same.
have take_t := take_ending rt (ltnW tT).
rewrite /capped; case: ifP => // _; rewrite g_padding // take_t.
  elim: (t - r.+1)%N => [|m IH]; first by rewrite cats0.
  rewrite -addn1 nseqD catA cats1 supported_rcons // IH /=.
  by rewrite p0_padding ?ltr01 // /terminated has_cat has_rcons /= v_terminal.
by rewrite /terminated has_cat has_rcons /= v_terminal.
Qed.

(** The scores through the endpoint of the candidate cancel. *)
Lemma accepted_ended : truncated_accept alpha r x ended = 1.
Proof.
rewrite /truncated_accept tokens_of_ending /score !big_nat1 /=.
have -> : take r ending_word = h by rewrite /ending_word take_size_cat.
have -> : nth bot ending_word r = Some v by rewrite /ending_word nth_cat sized ltnn subnn.
rewrite -/h; set o := nth bot (val x) r.
have po : 0 < p0 h o.
  have : supported (take r.+1 (val x)) by apply: (comparable_take lm_model).
  by rewrite (take_nth bot) ?size_tuple // supported_rcons // => /andP[].
have z0 := z_gt0 alpha lm_model h_supported.
have pv : powered h (Some v) != 0.
  by move: v_drawn; rewrite /power_target.g /truncating.powered pmulr_lgt0 ?invr_gt0 // => /gt_eqF ->.
rewrite /power_target.g -!/(powered _ _) mulrA [powered h o * _]mulrA.
rewrite [powered h o * _]mulrC mulfV ?minxx //.
by rewrite !mulf_neq0 ?invr_eq0 ?(gt_eqF z0) ?(gt_eqF (pow_gt0 _ po)).
Qed.

End OneEnding.

Section Threshold.
Variable h : nat.
Notation short := (@short R V E lm T h).

(** The restart at position r alone enters with the proposal's terminal probability. *)
Lemma entry_at x r : (h < tokens_of (val x))%N -> (r < h)%N ->
  \sum_(v in E) g (take r (val x)) (Some v)
    <= \sum_(y | short y) capped_proposal alpha r x y * truncated_accept alpha r x y.
Proof.
move=> long rh; have rn : (r < tokens_of (val x))%N by apply: ltn_trans rh long.
have F0 y : 0 <= capped_proposal alpha r x y * truncated_accept alpha r x y.
  by rewrite mulr_ge0 ?capped_proposal_ge0 ?truncated_accept_ge0.
rewrite (partition_big (fun y => nth bot (val y) r) xpredT) //= sum_option.
rewrite ler_paddl ?sumr_ge0 // big_mkcond; apply: ler_sum => v _.
case: ifP => vE; last by rewrite sumr_ge0.
have [g0|gv] := ltrP 0 (g (take r (val x)) (Some v)); last first.
  by apply: le_trans gv _; rewrite sumr_ge0.
rewrite (bigD1 (ended rn g0)) /=; last first.
  rewrite /structural_bias_truncating.short /= tokens_of_ending // rh /ending_word.
  rewrite nth_cat size_takel ?size_tuple ?ltnn ?subnn ?eqxx //.
  by apply: leq_trans (ltnW rn) (tokens_of_le x).
by rewrite capped_ended // accepted_ended // mulr1 ler_addl sumr_ge0.
Qed.

(** Positions that hold a token are reached by open histories. *)
Lemma open_before x r : (r < tokens_of (val x))%N -> open E (take r (val x)).
Proof.
move=> rn; have := comparable_take lm_model rn.
rewrite (take_nth bot) ?size_tuple ?(leq_trans rn) ?tokens_of_le //.
rewrite supported_rcons // => /andP[sh]; rewrite /record_space.p0 sh /step.
have := before_find bot (a := fun o => o == bot) rn.
by case: (nth bot (val x) r) => [v|] // _; case: ifP; rewrite ?ltxx.
Qed.

Theorem accepted_entry (eta : R) x :
  (forall s, supported s -> open E s -> (size s < h)%N -> eta <= \sum_(v in E) g s (Some v)) ->
  0 <= eta -> ~~ short x ->
  h%:R / T%:R * eta <= prob (truncating alpha x) short.
Proof.
move=> ends eta0; rewrite /structural_bias_truncating.short -ltnNge => long.
set n := tokens_of (val x) in long.
have n0 : (0 < n)%N by apply: leq_ltn_trans long.
have nT : (n <= T)%N by apply: tokens_of_le.
have moved y : short y -> truncating alpha x y = truncated_move alpha x y.
  move=> sy; rewrite /truncating; case: eqP => // e; move: sy.
  by rewrite /structural_bias_truncating.short e leqNgt long.
rewrite /prob (eq_bigr _ moved) exchange_big /= (big_cat_nat _ (n := h)) ?(ltnW long) //=.
rewrite ler_paddr //.
  apply: sumr_ge0 => r _; apply: sumr_ge0 => y _.
  apply: mulr_ge0; first by rewrite invr_ge0 ler0n.
  by apply: mulr_ge0; [apply: capped_proposal_ge0 | apply: truncated_accept_ge0].
apply: (@le_trans _ _ (\sum_(0 <= r < h) n%:R^-1 * eta)); last first.
  rewrite big_nat [X in _ <= X]big_nat; apply: ler_sum => r /andP[_ rh].
  rewrite -mulr_sumr ler_wpmul2l ?invr_ge0 ?ler0n //; apply: le_trans (entry_at long rh).
  have rn : (r < n)%N by apply: ltn_trans rh long.
  apply: ends; last by rewrite size_takel ?size_tuple // (leq_trans (ltnW rn)).
    by apply: (comparable_take lm_model); apply: ltnW.
  exact: open_before.
rewrite sumr_const_nat subn0 -[(_ * _) *+ h]mulr_natl mulrA ler_wpmul2r // ler_wpmul2l ?ler0n //.
by rewrite lef_pinv ?posrE ?ltr0n ?ler_nat // (leq_trans n0).
Qed.

End Threshold.

(** A power that raises no probability and keeps their order: alpha >= 1. *)
Definition sharpens : Prop :=
  (forall u : R, 0 <= u <= 1 -> alpha u <= u) /\ (forall u w : R, 0 <= u <= w -> alpha u <= alpha w).

(** One terminal token of base probability at least c, at every open history. *)
Lemma terminal_probability_enough (c : R) s : sharpens -> 0 <= c -> supported s ->
  (exists2 v, v \in E & c <= p0 s (Some v)) -> alpha c <= \sum_(v in E) g s (Some v).
Proof.
case=> below mono c0 ss [v vE cv]; rewrite (bigD1 v) //= ler_paddr //.
  by apply: sumr_ge0 => w _; apply: g_ge0.
have z0 := z_gt0 alpha lm_model ss.
rewrite /power_target.g ler_pdivl_mulr //; apply: (@le_trans _ _ (alpha c)).
  rewrite ler_pimulr ?pow_ge0 // /z -(proj2 (law_p0 lm_model ss)).
  by apply: ler_sum => o _; apply: below; rewrite p0_ge0 ?p0_le1.
by apply: mono; rewrite c0.
Qed.

End Entry.

Lemma power_nat_sharpens (R : realFieldType) m : sharpens (power_nat R m).
Proof.
split=> [u /andP[u0 u1]|u v /andP[u0 uv]]; rewrite !power_natE.
  by rewrite exprS ler_pimulr // exprn_ile1.
by rewrite ler_expn2r ?nnegrE // (le_trans u0).
Qed.

(** thm:ppt-structural-bias for the truncating kernel of a whole family of models,
    with nothing left to assume about the kernel. *)
Section Family.
Variables (R : realFieldType) (V : finType) (E : {set V}) (lm : seq V -> V -> R).
Variables (T n h : nat) (alpha : 'I_n.+1 -> power R).
Notation state := {ffun 'I_n.+1 -> comparison E lm T}.
Variables (C : state -> state -> R) (n_local n_sweep : nat) (mu : state -> R).
Hypothesis lm_model : model E lm.
Hypothesis C_kernel : kernel C.
Hypothesis C_rearranges : rearranges C.
Hypothesis n_local_positive : (0 < n_local)%N.
Hypothesis mu_law : law mu.
Hypothesis h_inside : (0 < h < T)%N.

Local Notation target := (target_on_comparison (E := E) (lm := lm) (T := T) alpha).
Local Notation b := (long_mass (@short R V E lm T h) target).
Local Notation mu_ N :=
  (run N mu (truncated_round (truncating_at (E := E) (lm := lm) (T := T) alpha) C n_local n_sweep)).

Theorem structural_bias_of_family (eta : R) N : 0 < eta <= 1 ->
  (forall k s, supported E lm s -> open E s -> (size s < h)%N ->
     eta <= \sum_(v in E) g E lm (alpha k) s (Some v)) ->
  let delta := h%:R / T%:R * eta in
  Num.max (1 - \prod_k (1 - b k) - n.+1%:R * (1 - delta) ^+ N) 0 <= tv (mu_ N) (product target)
  /\ forall k, Num.max (b k - n.+1%:R * (1 - delta) ^+ N) 0
       <= tv (marginal k (mu_ N)) (target k).
Proof.
move=> /andP[e0 e1] ends delta; case/andP: h_inside => h0 hT.
have T0 : (0 < T)%N by apply: ltn_trans hT.
apply: truncating_structural_bias => //.
  rewrite mulr_gt0 ?divr_gt0 ?ltr0n //=; apply: (@le_trans _ _ (h%:R / T%:R)).
    by rewrite ler_pimulr ?divr_ge0 ?ler0n.
  by rewrite ler_pdivr_mulr ?ltr0n // mul1r ler_nat ltnW.
by move=> k x long; apply: accepted_entry => //; [apply: ends | apply: ltW].
Qed.

(** In terms of the model alone: after every open history of fewer than h tokens
    some terminal token has probability at least c; powers 1, 2, 3, ... up to M+1. *)
Corollary structural_bias_of_terminal_probability (c : R) (m : 'I_n.+1 -> nat) M N :
  0 < c <= 1 -> alpha = (fun k => power_nat R (m k)) -> (forall k, m k <= M)%N ->
  (forall s, supported E lm s -> open E s -> (size s < h)%N ->
     exists2 v, v \in E & c <= lm (pmap id s) v) ->
  let delta := h%:R / T%:R * c ^+ M.+1 in
  Num.max (1 - \prod_k (1 - b k) - n.+1%:R * (1 - delta) ^+ N) 0 <= tv (mu_ N) (product target)
  /\ forall k, Num.max (b k - n.+1%:R * (1 - delta) ^+ N) 0
       <= tv (marginal k (mu_ N)) (target k).
Proof.
move=> /andP[c0 c1] alphaE mM ends delta; apply: structural_bias_of_family.
  by rewrite exprn_gt0 //= exprn_ile1 // ltW.
move=> k s ss os sh; rewrite alphaE; have c0' := ltW c0.
apply: (@le_trans _ _ (power_nat R (m k) c)).
  by rewrite power_natE -(subnKC (mM k)) -addSn exprD ler_pimulr ?exprn_ge0 ?exprn_ile1.
apply: (terminal_probability_enough lm_model (power_nat_sharpens R (m k)) c0' ss).
by have [v vE cv] := ends s ss os sh; exists v; rewrite ?p0_open.
Qed.

End Family.
