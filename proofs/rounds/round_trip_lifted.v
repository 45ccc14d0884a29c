(** DEO: the lifted chain (k, epsilon) that the alternating parity layers induce.

    The layers are those of round_trip_schedule.v; that acceptance preserves the
    direction, rejection reverses it and an outward direction at an endpoint takes
    one idle layer is derived from them ([deo_is_lifted]). *)
From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov round_trip_schedule.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Lifted.
Variables (R : realFieldType) (n : nat) (a : nat -> R).
Local Notation K := n.+1.
Local Notation rung := (@rung n).
Local Notation rho := (rejection_odds a).
Local Notation layer := (@deo_layer R n a).
Local Notation deo := (@deo R n a).
Hypothesis a_probability : forall k, (0 < k <= n)%N -> 0 < a k <= 1.

Let lower k : (0 < k <= n)%N -> (0 < k <= K)%N.
Proof. by case/andP=> -> /leqW. Qed.

Let upper k : (0 < k <= n)%N -> (0 < k.+1 <= K)%N.
Proof. by case/andP=> _; rewrite ltnS. Qed.

Let topmost : (0 < K <= K)%N.
Proof. by rewrite leqnn. Qed.

Let lowest : (0 < 1 <= K)%N.
Proof. by []. Qed.

Let facts k : (0 < k <= n)%N -> [/\ (0 < k <= n)%N, (0 < k <= K)%N & (0 < k.+1 <= K)%N].
Proof. by move=> kn; split; [| exact: lower | exact: upper]. Qed.

(** In a layer of its own parity the tag at rung k, or at k+1, attempts edge k
    and nothing else. *)
Lemma layer_split k : (0 < k <= n)%N ->
  [seq j <- iota 1 n | odd j == odd k] =
  [seq j <- iota 1 k.-1 | odd j == odd k] ++
    k :: [seq j <- iota k.+1 (n - k) | odd j == odd k].
Proof.
case/andP=> k0 kn.
have -> : iota 1 n = iota 1 k.-1 ++ k :: iota k.+1 (n - k).
  case: k k0 kn => // k _ kn; rewrite -[_ :: _]/(iota (1 + k) (n - k.+1).+1).
  by rewrite -iotaD -subSn // subSS subnKC // ltnW.
by rewrite filter_cat /= eqxx.
Qed.

Lemma exchange_of_parity j k i : (0 < j <= n)%N -> (0 < k <= n)%N ->
  odd j == odd k -> j != k -> i = k \/ i = k.+1 -> exchange j (rung i) = rung i.
Proof.
move=> jn kn jk_odd jk; have jk1 : j.+1 != k by apply: contraTneq jk_odd => <- /=; case: odd.
have jk1' : j != k.+1 by apply: contraTneq jk_odd => -> /=; case: odd.
by case=> ->; apply: exchange_away; rewrite ?eqSS ?[k == _]eq_sym ?[k.+1 == _]eq_sym; auto.
Qed.

Lemma layer_at k i h : (0 < k <= n)%N -> i = k \/ i = k.+1 ->
  mean (layer (odd k)) h (rung i) = a k * h (exchange k (rung i)) + (1 - a k) * h (rung i).
Proof.
move=> kn ik; rewrite /deo_layer layer_split //; have /andP[k0 kn'] := kn.
rewrite mean_ordered_cat => [|j]; last first.
  rewrite mem_filter mem_iota add1n prednK // => /and3P[jk j0 jlt].
  apply: exchange_of_parity ik => //; first by rewrite j0 (leq_trans (ltnW jlt)).
  by rewrite neq_ltn jlt.
rewrite [LHS]/= mean_compk mean_attempt.
have away i' : i' = k \/ i' = k.+1 ->
    mean (ordered [seq j <- iota k.+1 (n - k) | odd j == odd k] (@attempt R n a)) h (rung i')
    = h (rung i').
  move=> ik'; apply: mean_ordered_away => j.
  rewrite mem_filter mem_iota addSn subnKC // => /and3P[jk kj jn].
  apply: exchange_of_parity ik' => //; first by rewrite (ltn_trans k0 kj).
  by rewrite neq_ltn kj orbT.
by case: ik => ->; rewrite ?exchange_up ?exchange_down !away //; auto.
Qed.

Lemma layer_up k h : (0 < k <= n)%N ->
  mean (layer (odd k)) h (rung k) = a k * h (rung k.+1) + (1 - a k) * h (rung k).
Proof. by move=> kn; rewrite layer_at ?exchange_up //; left. Qed.

Lemma layer_down k h : (0 < k <= n)%N ->
  mean (layer (odd k)) h (rung k.+1) = a k * h (rung k) + (1 - a k) * h (rung k.+1).
Proof. by move=> kn; rewrite layer_at ?exchange_down //; right. Qed.

Lemma layer_top h : mean (layer (odd K)) h (rung K) = h (rung K).
Proof.
apply: mean_ordered_away => j; rewrite mem_filter mem_edges => /andP[jK jn].
apply: exchange_away => //.
  by case/andP: jn => _; rewrite -ltnS neq_ltn orbC => ->.
by apply: contraTneq jK => -> /=; case: odd.
Qed.

Lemma layer_bottom h : mean (layer false) h (rung 1) = h (rung 1).
Proof.
apply: mean_ordered_away => j; rewrite mem_filter mem_edges => /andP[jK jn].
apply: exchange_away => //; first by apply: contraTneq jK => <-.
by case/andP: jn => j0 _; rewrite eqSS neq_ltn j0.
Qed.

Lemma deo_mean (h : 'I_K * bool -> R) x :
  \sum_y deo x y * h y = mean (layer x.2) (fun j => h (j, ~~ x.2)) x.1.
Proof.
transitivity (\sum_j \sum_p deo x (j, p) * h (j, p)).
  by rewrite pair_bigA; apply: eq_bigr => -[].
apply: eq_bigr => j _; rewrite /deo (bigD1 (~~ x.2)) //= eqxx mulr1.
by rewrite big1 ?addr0 // => p /negbTE ->; rewrite mulr0 mul0r.
Qed.

Lemma kernel_deo : kernel deo.
Proof.
move=> x; have kL := kernel_deo_layer a_probability; split=> [y|].
  by rewrite mulr_ge0 ?ler0n //; case: (kL x.2 x.1).
have := deo_mean (fun=> 1) x; under eq_bigr do rewrite mulr1.
by move=> ->; rewrite /mean; under eq_bigr do rewrite mulr1; case: (kL x.2 x.1).
Qed.

(** The state of the tag at rung k whose next proposed direction is up, or down. *)
Definition going_up (k : nat) : 'I_K * bool := (rung k, odd k).
Definition going_down (k : nat) : 'I_K * bool := (rung k, ~~ odd k).

Lemma upward_going_up k : (0 < k <= K)%N -> upward (going_up k).
Proof. by move=> kK; rewrite /upward /going_up [X in odd X](val_rung kK). Qed.

Lemma upward_going_down k : (0 < k <= K)%N -> upward (going_down k) = false.
Proof. by move=> kK; rewrite /upward /going_down [X in odd X](val_rung kK) /=; case: odd. Qed.

Lemma deo_state_cases x : exists2 k, (0 < k <= K)%N & x = going_up k \/ x = going_down k.
Proof.
case: x => i p; exists i.+1; first by rewrite ltn_ord.
by rewrite /going_up /going_down rung_val; case: p; case: odd; [left | right | right | left].
Qed.

(** "Acceptance preserves the sign; rejection reverses it." *)
Lemma deo_from_up h k : (0 < k <= n)%N ->
  \sum_y deo (going_up k) y * h y
  = a k * h (going_up k.+1) + (1 - a k) * h (going_down k).
Proof. by move=> kn; rewrite deo_mean layer_up. Qed.

Lemma deo_from_down h k : (0 < k <= n)%N ->
  \sum_y deo (going_down k.+1) y * h y
  = a k * h (going_down k) + (1 - a k) * h (going_up k.+1).
Proof. by move=> kn; rewrite deo_mean /= negbK layer_down. Qed.

(** "An outward direction at an endpoint reverses in one idle layer." *)
Lemma deo_from_top h : \sum_y deo (going_up K) y * h y = h (going_down K).
Proof. by rewrite deo_mean layer_top. Qed.

Lemma deo_from_bottom h : \sum_y deo (going_down 1) y * h y = h (going_up 1).
Proof. by rewrite deo_mean layer_bottom. Qed.

(** The lifted chain in the words of the paper: the sign is the next proposed
    direction; acceptance preserves it, rejection reverses it, and an outward
    direction at an endpoint reverses in one idle layer. *)
Definition lifted (x y : 'I_K * bool) : R :=
  let: (i, up) := x in
  let k := (i : nat).+1 in
  if up then
    if k == K then (y == (i, false))%:R
    else a k * (y == (rung k.+1, true))%:R + (1 - a k) * (y == (i, false))%:R
  else
    if k == 1%N then (y == (i, true))%:R
    else a k.-1 * (y == (rung k.-1, false))%:R + (1 - a k.-1) * (y == (i, true))%:R.

Definition lift_state (x : 'I_K * bool) : 'I_K * bool := (x.1, upward x).

Lemma lift_state_inj : injective lift_state.
Proof.
move=> [i p] [j q] [<-]; rewrite /upward /=.
by case: p; case: q; case: odd.
Qed.

Lemma lift_going_up k : (0 < k <= K)%N -> lift_state (going_up k) = (rung k, true).
Proof. by move=> kK; rewrite /lift_state upward_going_up. Qed.

Lemma lift_going_down k : (0 < k <= K)%N -> lift_state (going_down k) = (rung k, false).
Proof. by move=> kK; rewrite /lift_state upward_going_down. Qed.

Theorem deo_is_lifted x y : deo x y = lifted (lift_state x) (lift_state y).
Proof.
rewrite -[LHS](sum_idk y (deo x)); under eq_bigr do rewrite /idk.
have [k kK [->|->]] := deo_state_cases x.
  rewrite lift_going_up // /lifted val_rung //; case: eqP => [->|/eqP kK'].
    by rewrite deo_from_top -lift_going_down // (inj_eq lift_state_inj) eq_sym.
  have kn : (0 < k <= n)%N by case/andP: kK => -> /=; rewrite leq_eqVlt (negbTE kK').
  rewrite deo_from_up // -lift_going_up ?upper // -lift_going_down //.
  by rewrite !(inj_eq lift_state_inj) ![y == _]eq_sym.
rewrite lift_going_down // /lifted val_rung //; case: eqP => [->|/eqP k1].
  by rewrite deo_from_bottom -lift_going_up // (inj_eq lift_state_inj) eq_sym.
have [j kE] : exists j, k = j.+1 by case/andP: kK => k0 _; exists k.-1; rewrite prednK.
have jn : (0 < j <= n)%N by move: k1 kK; rewrite kE eqSS ltnS -lt0n => -> /=.
rewrite kE deo_from_down //= -lift_going_down ?lower // -lift_going_up ?upper //.
by rewrite !(inj_eq lift_state_inj) ![y == _]eq_sym.
Qed.

Lemma going_up_eq j k : (0 < j <= K)%N -> (0 < k <= K)%N ->
  (going_up j == going_up k) = (j == k).
Proof.
move=> jK kK; rewrite -(inj_eq lift_state_inj) !lift_going_up //.
by rewrite xpair_eqE eqxx andbT rung_eq.
Qed.

Lemma going_down_eq j k : (0 < j <= K)%N -> (0 < k <= K)%N ->
  (going_down j == going_down k) = (j == k).
Proof.
move=> jK kK; rewrite -(inj_eq lift_state_inj) !lift_going_down //.
by rewrite xpair_eqE eqxx andbT rung_eq.
Qed.

Lemma going_up_down j k : (0 < j <= K)%N -> (0 < k <= K)%N ->
  (going_up j == going_down k) = false.
Proof.
move=> jK kK; apply/eqP => /(congr1 (@upward n)).
by rewrite upward_going_up // upward_going_down.
Qed.

Lemma going_down_up j k : (0 < j <= K)%N -> (0 < k <= K)%N ->
  (going_down j == going_up k) = false.
Proof. by move=> jK kK; rewrite eq_sym going_up_down. Qed.

(** All states, by the row of the chain that they have. *)
Lemma deo_rows x : [\/ x = going_up K, exists2 k, (0 < k <= n)%N & x = going_up k,
  x = going_down 1 | exists2 k, (0 < k <= n)%N & x = going_down k.+1].
Proof.
have [k kK [->|->]] := deo_state_cases x.
  have [->|kK'] := eqVneq k K; first by constructor 1.
  constructor 2; exists k => //.
  by case/andP: kK => -> /=; rewrite leq_eqVlt (negbTE kK').
case: k kK => [//|k]; rewrite ltnS /= => kn; case: k kn => [|k] kn; first by constructor 3.
by constructor 4; exists k.+1.
Qed.

Lemma deo_entry x y : deo x y = \sum_z deo x z * (z == y)%:R.
Proof. exact/esym/sum_idk. Qed.

(** The endpoint arrivals: the tag enters the top rung with direction up and the
    bottom rung with direction down. *)
Lemma deo_arrival_top x : x.1 != rung K -> deo x (going_down K) = 0.
Proof.
rewrite deo_entry; case: (deo_rows x) => [->|[k /facts[kn kl ku] ->]|->|[k /facts[kn kl ku] ->]] /=; first by rewrite eqxx.
- move=> kK; rewrite deo_from_up // going_up_down // going_down_eq //.
  by move: kK; rewrite rung_eq // => /negbTE ->; rewrite !mulr0 addr0.
- by move=> _; rewrite deo_from_bottom going_up_down.
- move=> kK; rewrite deo_from_down // going_up_down // going_down_eq //.
  by case/andP: kn => _ kn; rewrite ltn_eqF // !mulr0 addr0.
Qed.

Lemma deo_arrival_bottom x : x.1 != rung 1 -> deo x (going_up 1) = 0.
Proof.
rewrite deo_entry; case: (deo_rows x) => [->|[k /facts[kn kl ku] ->]|->|[k /facts[kn kl ku] ->]] /=; last 2 first.
- by rewrite eqxx.
- move=> _; rewrite deo_from_down // going_down_up // going_up_eq //.
  by rewrite eqSS; case/andP: kn => k0 _; rewrite gtn_eqF // !mulr0 addr0.
- by move=> _; rewrite deo_from_top going_down_up.
- move=> k1; rewrite deo_from_up // going_down_up // going_up_eq //.
  by rewrite eqSS; case/andP: kn => k0 _; rewrite gtn_eqF // !mulr0 addr0.
Qed.

End Lifted.
