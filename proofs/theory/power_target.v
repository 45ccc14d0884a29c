(** * The power target, the tokenwise proposal, and why they differ

    - [z h]        eq:theory-token-normalizer
    - [g h o]      eq:theory-tokenwise-proposal
    - [target x]   eq:theory-power-target, pi(x) = p0(x)^alpha / Z on S_T
    - [q r x y]    eq:implementation-fixed-suffix-proposal, q_r(y|x), r from 0
    - [H t h o]    eq:theory-continuation-mass
    - [target_conditional]  eq:theory-power-conditional                          *)

From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov autoregressive record_space power.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section PowerTarget.
Variables (R : realFieldType) (V : finType) (E : {set V}).
Variable lm : seq V -> V -> R.
Variable alpha : power R.
Hypothesis lm_model : model E lm.
Implicit Types (h : seq (option V)) (o : option V).

Notation p0 := (p0 E lm).
Notation supported := (supported E lm).
Notation open := (open E).
Notation terminated := (terminated E).

(** ** Tokenwise *)

Definition z h : R := \sum_o alpha (p0 h o).
Definition g h o : R := alpha (p0 h o) / z h.

Lemma pow_p0_ge0 h o : 0 <= alpha (p0 h o).
Proof. by rewrite pow_ge0 ?p0_ge0. Qed.

Lemma z_ge0 h : 0 <= z h.
Proof. by apply: sumr_ge0 => o _; apply: pow_p0_ge0. Qed.

Lemma z_gt0 h : supported h -> 0 < z h.
Proof.
move=> sh; rewrite lt_def z_ge0 andbT; apply/eqP => z0.
have a0 o : p0 h o = 0.
  apply/eqP; rewrite -(pow_eq0 alpha) ?p0_ge0 //; apply/eqP.
  by apply: (psumr_eq0P _ z0) => // o' _; apply: pow_p0_ge0.
have [_] := law_p0 lm_model sh; rewrite big1 => [/eqP|o _]; last exact: a0.
by rewrite eq_sym oner_eq0.
Qed.

(** Padding positions have z = 1: their cached zeta is 0. *)
Lemma z_padding h : supported h -> terminated h -> z h = 1.
Proof.
move=> sh th; rewrite /z (bigD1 bot) //= p0_terminated // pow1.
by rewrite big1 ?addr0 // => o /negPf ob; rewrite p0_padding // ob pow0.
Qed.

Lemma g_ge0 h o : 0 <= g h o.
Proof. by rewrite divr_ge0 ?z_ge0 ?pow_p0_ge0. Qed.

Lemma law_g h : supported h -> law (g h).
Proof.
move=> sh; split=> [o|]; first exact: g_ge0.
by rewrite -mulr_suml mulfV // gt_eqF ?z_gt0.
Qed.

Lemma g_neq0 h o : supported h -> (g h o != 0) = (p0 h o != 0).
Proof.
move=> sh; rewrite mulf_eq0 invr_eq0 (gt_eqF (z_gt0 sh)) orbF.
by rewrite pow_eq0 ?p0_ge0.
Qed.

Lemma g_padding h o : supported h -> terminated h -> g h o = (o == bot)%:R.
Proof.
move=> sh th; rewrite /g z_padding // divr1 p0_padding //.
by case: (o == bot); rewrite ?pow1 ?pow0.
Qed.

Lemma g_reach h o : supported h -> g h o != 0 -> supported (rcons h o).
Proof. by move=> sh; rewrite g_neq0 // => /(p0_reach lm_model sh). Qed.

Lemma p0E_g h o : supported h -> alpha (p0 h o) = g h o * z h.
Proof. by move=> sh; rewrite /g divfK // gt_eqF ?z_gt0. Qed.

(** ** Sequence-level *)
Variable T : nat.
Notation record := (record V T).
Notation S_T := (S_T E lm T).
Notation record_prob := (record_prob E lm).
Implicit Types x y : S_T.

Definition Z : R := \sum_(x : S_T) alpha (record_prob (val x)).

Definition target x : R := alpha (record_prob (val x)) / Z.

Lemma Z_gt0 : 0 < Z.
Proof.
have pos (x : S_T) : 0 < alpha (record_prob (val x)) by rewrite pow_gt0 ?record_prob_gt0.
have Z0 : 0 <= Z by apply: sumr_ge0 => x _; apply: ltW.
rewrite lt_def Z0 andbT; apply/eqP => /psumr_eq0P e.
have [_] := p0_law_S_T lm_model T; rewrite big1 => [/eqP|x _].
  by rewrite eq_sym oner_eq0.
have := pos x; rewrite e ?ltxx // => y _; exact: ltW.
Qed.

Lemma target_gt0 x : 0 < target x.
Proof. by rewrite divr_gt0 ?Z_gt0 // pow_gt0 ?record_prob_gt0. Qed.

Lemma target_ge0 x : 0 <= target x.
Proof. exact/ltW/target_gt0. Qed.

Lemma target_law : law target.
Proof.
split=> [x|]; first exact: target_ge0.
by rewrite -mulr_suml mulfV // gt_eqF ?Z_gt0.
Qed.

Theorem target_law_positive : law target /\ forall x, 0 < target x.
Proof. by split; [exact: target_law | exact: target_gt0]. Qed.

(** ** The suffix proposal *)

(** [q r x y] is q_{r+1}(y | x): the first r tokens are kept. *)
Definition q (r : nat) x y : R :=
  (take r (val y) == take r (val x))%:R * suffix bot g r (val y).

Lemma q_ge0 r x y : 0 <= q r x y.
Proof. by rewrite mulr_ge0 ?ler0n // suffix_ge0 //; apply: g_ge0. Qed.

Lemma q_law r : (r <= T)%N -> kernel (q r).
Proof.
move=> rT x; split=> [y|]; first exact: q_ge0.
set h := take r (val x).
have sh : supported h by apply: supported_prefix.
have size_h : size h = r by rewrite size_takel ?size_tuple.
pose F (s : seq (option V)) := suffix bot g r s.
rewrite /q (sum_S_T_vanish lm_model
  (F := fun y : record => (take r y == h)%:R * F y)) => [|y y0].
  rewrite (eq_bigr (fun y : record => if take r y == h then F y else 0)).
    rewrite -big_mkcond -{1}size_h sum_prefix ?size_h //.
    rewrite (eq_bigr (fun u : (T - r).-tuple (option V) => chain g h u)).
      apply: (sum_chain (reach := supported)) => //; last exact: g_reach.
      by move=> h' /law_g[].
    by move=> u _; rewrite /F -{1}size_h suffix_cat.
  by move=> y _; case: eqP => _; rewrite ?mul1r ?mul0r.
case: eqP => [e|_]; rewrite ?mul0r // mul1r; apply/eqP; apply/negPn/negP => Fy.
have : supported y.
  rewrite -(cat_take_drop r y) e; apply: (chain_neq0 (g := g)) => //.
    exact: g_reach.
  by rewrite -(suffix_cat bot) size_h -e cat_take_drop.
by rewrite supportedE // -/(record_prob y) y0 ltxx.
Qed.

(** Every record with the kept prefix is proposed. *)
Lemma q_gt0 (r : nat) x y :
  take r (val y) = take r (val x) -> 0 < q r x y.
Proof.
move=> e; rewrite /q e eqxx mul1r /suffix big_nat_cond.
apply: (big_ind (fun u => 0 < u)) => [|u v|t]; [exact: ltr01 | exact: mulr_gt0 |].
case/andP=> /andP[_ tT] _.
rewrite lt_def g_ge0 andbT g_neq0; last exact: (supported_prefix lm_model).
have := supported_prefix lm_model y t.+1; rewrite (take_nth bot) //.
by rewrite supported_rcons // => /andP[_ p]; rewrite gt_eqF.
Qed.

(** ** Powering is a sequence-level operation *)

(** eq:theory-continuation-mass: [t] tokens, o included, have been fixed after
    the history h of t-1. *)
Definition H (t : nat) h o : R :=
  if 0 < p0 h o
  then \sum_(u : (T - t).-tuple (option V)) alpha (chain p0 (rcons h o) u)
  else 0.

(** The mass that the target gives to the records that start with h. *)
Definition target_prefix h : R :=
  \sum_(x : S_T | take (size h) (val x) == h) target x.

(** The target's law of the next token after h. *)
Definition target_next h o : R := target_prefix (rcons h o) / target_prefix h.

Lemma target_prefixE h : (size h <= T)%N ->
  target_prefix h =
  alpha (prefix_prob E lm h)
  * (\sum_(u : (T - size h).-tuple (option V)) alpha (chain p0 h u)) / Z.
Proof.
move=> hT; rewrite /target_prefix big_mkcond /=.
rewrite (sum_S_T_vanish lm_model
  (F := fun x : record => if take (size h) x == h then alpha (record_prob x) / Z else 0)); last first.
  by move=> x ->; rewrite pow0 mul0r if_same.
rewrite -big_mkcond (sum_prefix (fun s => alpha (prefix_prob E lm s) / Z)) //.
rewrite mulr_sumr mulr_suml; apply: eq_bigr => u _.
rewrite prefix_probE (suffix_split _ _ (r := size h)) ?size_cat ?leq_addr //.
rewrite take_size_cat // suffix_cat -prefix_probE powM ?prefix_prob_ge0 ?chain_ge0 //.
by move=> *; apply: p0_ge0.
Qed.

Lemma H_last h o : 0 < p0 h o -> H T h o = 1.
Proof. by rewrite /H => ->; rewrite subnn (sum_tuple0 (fun u => alpha (chain p0 (rcons h o) u))) /= pow1. Qed.

Lemma H_gt0 t h o : supported h -> 0 < p0 h o -> 0 < H t h o.
Proof.
move=> sh po; have c0 u : 0 <= chain p0 (rcons h o) u.
  by apply: chain_ge0 => *; apply: p0_ge0.
have a0 (u : (T - t).-tuple (option V)) : 0 <= alpha (chain p0 (rcons h o) u).
  by rewrite pow_ge0.
rewrite /H po lt_def sumr_ge0 ?andbT //; apply/eqP => /psumr_eq0P e.
have : \sum_(u : (T - t).-tuple (option V)) chain p0 (rcons h o) u = 1.
  apply: (sum_chain (reach := supported)); [by move=> h' /law_p0[] | exact: p0_reach |].
  by rewrite supported_rcons // sh.
rewrite big1 => [/eqP|u _]; first by rewrite eq_sym oner_eq0.
by apply/eqP; rewrite -(pow_eq0 alpha) // e.
Qed.

(** eq:theory-power-conditional *)
Theorem target_conditional h o :
  supported h -> (size h < T)%N ->
  target_next h o =
  alpha (p0 h o) * H (size h).+1 h o / \sum_u alpha (p0 h u) * H (size h).+1 h u.
Proof.
move=> sh hT; set t := (size h).+1.
pose c := alpha (prefix_prob E lm h) / Z.
have c0 : c != 0.
  by rewrite gt_eqF // divr_gt0 ?Z_gt0 // pow_gt0 // -supportedE.
have sumE u : \sum_(v : (T - t).-tuple (option V)) alpha (chain p0 h (u :: v))
    = alpha (p0 h u) * \sum_(v : (T - t).-tuple (option V)) alpha (chain p0 (rcons h u) v).
  rewrite mulr_sumr; apply: eq_bigr => v _ /=.
  by rewrite powM ?p0_ge0 // chain_ge0 // => *; apply: p0_ge0.
have split_H u : alpha (p0 h u) * H t h u =
    \sum_(v : (T - t).-tuple (option V)) alpha (chain p0 h (u :: v)).
  rewrite sumE /H; case: ifPn => // n0.
  have -> : p0 h u = 0 by apply/eqP; rewrite eq_le p0_ge0 // leNgt n0.
  by rewrite pow0 !mul0r.
have num u : target_prefix (rcons h u) = c * (alpha (p0 h u) * H t h u).
  rewrite target_prefixE size_rcons // prefix_prob_rcons powM ?prefix_prob_ge0 ?p0_ge0 //.
  by rewrite split_H sumE /c -!mulrA; congr (_ * _); rewrite [RHS]mulrC !mulrA.
have den : target_prefix h = c * \sum_u alpha (p0 h u) * H t h u.
  rewrite (eq_bigr _ (fun u _ => split_H u)) target_prefixE ?(ltnW hT) //.
  rewrite -(subnSK hT) (sum_tupleS _ (fun u => alpha (chain p0 h u))).
  by rewrite /c mulrAC.
by rewrite /target_next num den -mulf_div mulfV // mul1r.
Qed.

(** The proposal drops the continuation mass: it is the target's conditional
    exactly when that mass is the same for all supported next tokens. *)
Corollary g_is_target_conditional h :
  supported h -> (size h < T)%N ->
  target_next h =1 g h <->
  (exists c, forall u, 0 < p0 h u -> H (size h).+1 h u = c).
Proof.
move=> sh hT; set t := (size h).+1; split=> [e|[c Hc] o].
  exists ((\sum_u alpha (p0 h u) * H t h u) / z h) => u pu.
  have := e u; rewrite target_conditional // -/t /g.
  set D := \sum_u _ => eu; have z0 := z_gt0 sh; have a0 := pow_gt0 alpha pu.
  have D0 : D != 0.
    apply/eqP => D0; move/eqP: eu; rewrite D0 invr0 mulr0 eq_sym.
    by rewrite gt_eqF // divr_gt0.
  have : H t h u = (alpha (p0 h u) * H t h u / D) * D / alpha (p0 h u).
    by rewrite divfK // mulrAC mulfV ?mul1r // gt_eqF.
  by rewrite eu => ->; rewrite -!mulrA mulrC -!mulrA mulVf ?mulr1 ?gt_eqF // mulrC.
have [u pu] : exists u, 0 < p0 h u.
  apply/existsP; apply: contraT; rewrite negb_exists => /forallP n.
  have [_] := law_p0 lm_model sh; rewrite big1 => [/eqP|v _].
    by rewrite eq_sym oner_eq0.
  by apply/eqP; rewrite eq_le p0_ge0 // leNgt n.
have c0 : c != 0.
  by rewrite -(Hc _ pu) gt_eqF ?H_gt0.
have aH w : alpha (p0 h w) * H t h w = alpha (p0 h w) * c.
  have [p|le] := ltrP 0 (p0 h w); first by rewrite Hc.
  have -> : p0 h w = 0 by apply/eqP; rewrite eq_le p0_ge0 // le.
  by rewrite pow0 !mul0r.
rewrite target_conditional // aH (eq_bigr _ (fun w _ => aH w)) -mulr_suml.
by rewrite -mulf_div mulfV // mulr1.
Qed.

End PowerTarget.

Arguments target {R V E lm} alpha {T} x.
Arguments q {R V E lm} alpha {T} r x y.
