(** DEO: the lifted chain that the alternating layers induce, and the expected
    passage times of the tagged replica, for every ladder and acceptance vector. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov tempera_field round_trip_hitting round_trip_schedule.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Deo.
Variables (R : realFieldType) (n : nat) (a : nat -> R).
Add Field deo_field : (field_theory_of R).
Local Notation K := n.+1.
Local Notation rung := (@rung n).
Local Notation rho := (rejection_odds a).
Local Notation layer := (@deo_layer R n a).
Local Notation deo := (@deo R n a).
Hypothesis a_probability : forall k, (0 < k <= n)%N -> 0 < a k <= 1.

Let a_neq0 k : (0 < k <= n)%N -> a k <> 0.
Proof. by move/a_probability/andP=> [a0 _] e; rewrite e ltxx in a0. Qed.

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

Definition rank_top (x : 'I_K * bool) : nat :=
  if upward x then (K - x.1.+1)%N else (K + x.1.+1)%N.

Definition rank_bottom (x : 'I_K * bool) : nat :=
  if upward x then (K + (K - x.1.+1))%N else x.1 : nat.

Lemma rank_top_up k : (0 < k <= K)%N -> rank_top (going_up k) = (K - k)%N.
Proof. by move=> kK; rewrite /rank_top upward_going_up //= val_rung. Qed.

Lemma rank_top_down k : (0 < k <= K)%N -> rank_top (going_down k) = (K + k)%N.
Proof. by move=> kK; rewrite /rank_top upward_going_down //= val_rung. Qed.

Lemma rank_bottom_up k : (0 < k <= K)%N -> rank_bottom (going_up k) = (K + (K - k))%N.
Proof. by move=> kK; rewrite /rank_bottom upward_going_up //= val_rung. Qed.

Lemma rank_bottom_down k : (0 < k <= K)%N -> rank_bottom (going_down k) = k.-1.
Proof. 
move=> kK; rewrite /rank_bottom upward_going_down //=; apply: succn_inj.
by rewrite val_rung // prednK //; case/andP: kK.
Qed.

Lemma deo_up_positive k : (0 < k <= n)%N -> 0 < deo (going_up k) (going_up k.+1).
Proof.
move=> /facts[kn kl ku]; rewrite deo_entry deo_from_up // eqxx going_down_up // mulr1 mulr0 addr0.
by case/andP: (a_probability kn).
Qed.

Lemma deo_down_positive k : (0 < k <= n)%N -> 0 < deo (going_down k.+1) (going_down k).
Proof.
move=> /facts[kn kl ku]; rewrite deo_entry deo_from_down // eqxx going_up_down // mulr1 mulr0 addr0.
by case/andP: (a_probability kn).
Qed.

Lemma deo_approaches_top : approaches deo (pred1 (going_up K)) rank_top.
Proof.
move=> x /=; case: (deo_rows x) => [->|[k /facts[kn kl ku] ->]|->|[k /facts[kn kl ku] ->]]; first by rewrite eqxx.
- move=> _; exists (going_up k.+1); first exact: deo_up_positive.
  rewrite !rank_top_up //; case/andP: kn => k0 kn.
  by rewrite ltn_sub2l // ltnS.
- move=> _; exists (going_up 1); first by rewrite deo_entry deo_from_bottom eqxx ltr01.
  by rewrite rank_top_up // rank_top_down // (leq_ltn_trans (leq_subr _ _)) // addn1.
- move=> _; exists (going_down k); first exact: deo_down_positive.
  by rewrite !rank_top_down // ltn_add2l.
Qed.

Lemma deo_approaches_bottom : approaches deo (pred1 (going_down 1)) rank_bottom.
Proof.
move=> x /=; case: (deo_rows x) => [->|[k /facts[kn kl ku] ->]|->|[k /facts[kn kl ku] ->]].
- move=> _; exists (going_down K); first by rewrite deo_entry deo_from_top eqxx ltr01.
  by rewrite rank_bottom_up // rank_bottom_down // subnn addn0.
- move=> _; exists (going_up k.+1); first exact: deo_up_positive.
  rewrite !rank_bottom_up //; case/andP: kn => k0 kn.
  by rewrite ltn_add2l ltn_sub2l // ltnS.
- by rewrite eqxx.
- move=> _; exists (going_down k); first exact: deo_down_positive.
  by rewrite !rank_bottom_down //; case/andP: kn; case: (k).
Qed.

(** The expected passage times from every state. *)
Definition top_from (k : nat) : R :=
  (K%:R - k%:R) + 2%:R * \sum_(k <= j < K) j%:R * rho j.

Definition deo_to_top (x : 'I_K * bool) : R :=
  let k := x.1.+1 in top_from k + (if upward x then 0 else 2%:R * k%:R - 1).

Definition bottom_from (k : nat) : R :=
  (k%:R - 1) + 2%:R * \sum_(1 <= j < k) (K%:R - j%:R) * rho j.

Definition deo_to_bottom (x : 'I_K * bool) : R :=
  let k := x.1.+1 in bottom_from k + (if upward x then 2%:R * (K%:R - k%:R) + 1 else 0).

Lemma deo_to_top_up k : (0 < k <= K)%N -> deo_to_top (going_up k) = top_from k.
Proof. by move=> kK; rewrite /deo_to_top upward_going_up //= val_rung // addr0. Qed.

Lemma deo_to_top_down k : (0 < k <= K)%N ->
  deo_to_top (going_down k) = top_from k + (2%:R * k%:R - 1).
Proof. by move=> kK; rewrite /deo_to_top upward_going_down //= val_rung. Qed.

Lemma deo_to_bottom_up k : (0 < k <= K)%N ->
  deo_to_bottom (going_up k) = bottom_from k + (2%:R * (K%:R - k%:R) + 1).
Proof. by move=> kK; rewrite /deo_to_bottom upward_going_up //= val_rung. Qed.

Lemma deo_to_bottom_down k : (0 < k <= K)%N -> deo_to_bottom (going_down k) = bottom_from k.
Proof. by move=> kK; rewrite /deo_to_bottom upward_going_down //= val_rung // addr0. Qed.

Lemma top_from_step k : (0 < k <= n)%N ->
  top_from k = top_from k.+1 + 1 + 2%:R * k%:R * rho k.
Proof.
case/andP=> _ kn; rewrite /top_from big_ltn ?ltnS // [k.+1%:R]mulrS.
by move: (\sum_(_ <= _ < _) _) => s; to_field R; ring.
Qed.

Lemma bottom_from_step k : (0 < k <= n)%N ->
  bottom_from k.+1 = bottom_from k + 1 + 2%:R * (K%:R - k%:R) * rho k.
Proof.
case/andP=> k0 _; rewrite /bottom_from big_nat_recr //= [k.+1%:R]mulrS.
by move: (\sum_(_ <= _ < _) _) => s; to_field R; ring.
Qed.

Lemma deo_top_equations : hitting_equations deo (pred1 (going_up K)) deo_to_top.
Proof.
move=> x /=; case: (deo_rows x) => [->|[k /facts[kn kl ku] ->]|->|[k /facts[kn kl ku] ->]].
- by rewrite eqxx deo_to_top_up // /top_from big_geq // mulr0 addr0 subrr.
- have kK : k != K by case/andP: kn => _ kn; rewrite neq_ltn ltnS kn.
  rewrite going_up_eq // (negbTE kK) deo_from_up //.
  rewrite !deo_to_top_up // deo_to_top_down // (top_from_step kn).
  rewrite /rejection_odds; move: (top_from _) => s; move: (_%:R : R) => d.
  by to_field R; field; exact: a_neq0.
- rewrite going_down_up // deo_from_bottom deo_to_top_down // deo_to_top_up //.
  by rewrite mulr1n mulr1 [2%:R]mulrSr addrK addrC.
- rewrite going_down_up // deo_from_down //.
  rewrite !deo_to_top_down // deo_to_top_up // (top_from_step kn).
  rewrite /rejection_odds [k.+1%:R]mulrS; move: (top_from _) => s; move: (k%:R : R) => d.
  by rewrite -[2%:R]/(1 + 1); to_field R; field; exact: a_neq0.
Qed.

Lemma deo_bottom_equations : hitting_equations deo (pred1 (going_down 1)) deo_to_bottom.
Proof.
move=> x /=; case: (deo_rows x) => [->|[k /facts[kn kl ku] ->]|->|[k /facts[kn kl ku] ->]].
- rewrite going_up_down // deo_from_top deo_to_bottom_down // deo_to_bottom_up //.
  by move: (bottom_from _) => s; rewrite subrr mulr0 add0r addrC.
- rewrite going_up_down // deo_from_up //.
  rewrite !deo_to_bottom_up // deo_to_bottom_down // (bottom_from_step kn).
  rewrite /rejection_odds [k.+1%:R]mulrS; move: (bottom_from _) => s.
  move: (k%:R : R) (K%:R : R) => d e.
  by rewrite -[2%:R]/(1 + 1); to_field R; field; exact: a_neq0.
- by rewrite eqxx deo_to_bottom_down // /bottom_from big_geq // mulr0 addr0 subrr.
- have k1 : k.+1 != 1%N by case/andP: kn => k0 _; rewrite eqSS neq_ltn k0 orbT.
  rewrite going_down_eq // (negbTE k1) deo_from_down //.
  rewrite !deo_to_bottom_down // deo_to_bottom_up // (bottom_from_step kn).
  rewrite /rejection_odds [k.+1%:R]mulrS; move: (bottom_from _) => s.
  move: (k%:R : R) (K%:R : R) => d e.
  by rewrite -[2%:R]/(1 + 1); to_field R; field; exact: a_neq0.
Qed.

(** From arrival at rung 1 to arrival at rung K, the turnaround layer included. *)
Theorem deo_up_passage :
  exists h, [/\ hitting_equations deo (pred1 (going_up K)) h,
    forall h', hitting_equations deo (pred1 (going_up K)) h' -> h' =1 h
    & h (going_down 1) = K%:R + 2%:R * \sum_(1 <= k < K) k%:R * rho k].
Proof.
exists deo_to_top; split; first exact: deo_top_equations.
  move=> h hE; apply: (hitting_equations_unique kernel_deo deo_approaches_top hE).
  exact: deo_top_equations.
rewrite deo_to_top_down // /top_from mulr1n; move: (\sum_(_ <= _ < _) _) => s.
by rewrite -[2%:R]/(1 + 1); to_field R; ring.
Qed.

(** From arrival at rung K to arrival at rung 1, the turnaround layer included. *)
Theorem deo_down_passage :
  exists h, [/\ hitting_equations deo (pred1 (going_down 1)) h,
    forall h', hitting_equations deo (pred1 (going_down 1)) h' -> h' =1 h
    & h (going_up K) = K%:R + 2%:R * \sum_(1 <= k < K) (K - k)%:R * rho k].
Proof.
exists deo_to_bottom; split; first exact: deo_bottom_equations.
  move=> h hE; apply: (hitting_equations_unique kernel_deo deo_approaches_bottom hE).
  exact: deo_bottom_equations.
rewrite deo_to_bottom_up // /bottom_from.
rewrite (eq_big_nat _ _ (F2 := fun k => (K - k)%:R * rho k)) => [|k /andP[_ kK]]; last first.
  by rewrite natrB // ltnW.
move: (\sum_(_ <= _ < _) _) => s; rewrite subrr.
by to_field R; ring.
Qed.

End Deo.
