(** The integer-lottery proposal with its scored weights leaves p0^alpha invariant.

    [tickets h o] is the number of tickets of the token o after the prefix h: any
    natural numbers, positive exactly for the tokens that the model allows, in any
    dependence on the prefix (rounded powers, top-heavy, wrong powers: the theorem
    does not care).  The proposal draws each token with probability tickets / total,
    and the acceptance ratio is computed from those same weights.

    - [lottery h o]      the proposal law g = w / W
    - [q_lottery r]      the suffix proposal from position r on
    - [zeta h o]         exp of the cached zeta = alpha log p0 - log g
    - [winner s u]       the drawn index: first whose prefix sum exceeds u          *)
From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov autoregressive record_space power power_target.
From Tempera Require Import replica_exchange convergence_minorization.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** ** The draw *)
Section Draw.
Implicit Types (s : seq nat) (u i : nat).

Definition winner s u : nat := find (fun i => u < sumn (take i.+1 s))%N (iota 0 (size s)).

Lemma prefix_sum_mono s i j : (i <= j)%N -> (sumn (take i s) <= sumn (take j s))%N.
Proof.
move=> ij; rewrite -(cat_take_drop i (take j s)) take_take // sumn_cat; exact: leq_addr.
Qed.

Lemma winnerE s u i : (i < size s)%N ->
  (winner s u == i) = (sumn (take i s) <= u < sumn (take i.+1 s))%N.
Proof.
move=> is_; have at_ j : (j < size s)%N -> nth 0%N (iota 0 (size s)) j = j.
  by move=> js; rewrite nth_iota.
apply/eqP/andP => [wi|[lo hi]].
  split; last first.
    have := @nth_find _ 0%N (fun i => u < sumn (take i.+1 s))%N (iota 0 (size s)).
    by rewrite -/(winner s u) wi at_ //; apply; rewrite has_find size_iota -/(winner s u) wi.
  case: i is_ wi => [|i] is_ wi; first by rewrite take0.
  have lt : (i < winner s u)%N by rewrite wi.
  by have := before_find 0%N lt; rewrite (at_ _ (ltnW is_)) => /negbT; rewrite -leqNgt.
apply/eqP; rewrite eqn_leq; apply/andP; split.
  rewrite leqNgt; apply/negP => lt.
  by have := before_find 0%N lt; rewrite at_ // hi.
rewrite leqNgt; apply/negP => lt.
have ws : (winner s u < size s)%N by apply: ltn_trans is_.
have := @nth_find _ 0%N (fun i => u < sumn (take i.+1 s))%N (iota 0 (size s)).
rewrite -/(winner s u) at_ // => /(_ _); rewrite has_find size_iota -/(winner s u) => /(_ ws).
by rewrite ltnNge (leq_trans _ lo) // prefix_sum_mono.
Qed.

(** Of the total's equally likely integers, exactly tickets_i draw the index i. *)
Theorem winner_count s i : (i < size s)%N ->
  (\sum_(0 <= u < sumn s) (winner s u == i))%N = nth 0%N s i.
Proof.
move=> is_; under eq_bigr do rewrite winnerE //.
set lo := sumn (take i s); set hi := sumn (take i.+1 s).
have hiE : hi = (lo + nth 0%N s i)%N by rewrite /hi (take_nth 0%N) // -cats1 sumn_cat /= addn0.
have hi_le : (hi <= sumn s)%N by rewrite -{1}(take_size s) prefix_sum_mono.
have lo_le : (lo <= hi)%N by rewrite hiE leq_addr.
rewrite (big_cat_nat _ (n := lo)) ?(leq_trans lo_le) //= big_nat big1 ?add0n => [|u /andP[_ ul]]; last first.
  by rewrite leqNgt ul.
rewrite (big_cat_nat _ (n := hi)) //= [X in (_ + X)%N]big_nat [X in (_ + X)%N]big1 ?addn0; last first.
  by move=> u /andP[hu _]; rewrite [X in _ && X]ltnNge hu andbF.
rewrite big_nat (eq_bigr (fun=> 1%N)) => [|u ->] //.
by rewrite -big_nat sum_nat_const_nat muln1 hiE addKn.
Qed.

End Draw.

(** ** The proposal *)
Section Lottery.
Variables (R : realFieldType) (V : finType) (E : {set V}).
Variable lm : seq V -> V -> R.
Variable alpha : power R.
Variable tickets : seq (option V) -> option V -> nat.
Implicit Types (h s : seq (option V)) (o : option V).
Notation supported := (supported E lm).
Notation p0 := (p0 E lm).

Hypothesis lm_model : model E lm.
(** Tickets for every allowed token and for no other: [max(1, .)] keeps the first. *)
Hypothesis tickets_allowed : forall h o, supported h ->
  (0 < tickets h o)%N = (0 < p0 h o).

Definition total h : nat := (\sum_o tickets h o)%N.
Definition lottery h o : R := (tickets h o)%:R / (total h)%:R.

Lemma total_gt0 h : supported h -> (0 < total h)%N.
Proof.
move=> sh; rewrite lt0n; apply/negP => /eqP t0.
have [_] := law_p0 lm_model sh; rewrite big1 => [/eqP|o _]; first by rewrite eq_sym oner_eq0.
apply/eqP; rewrite eq_le (p0_ge0 lm_model) andbT leNgt -tickets_allowed // -leqNgt leqn0.
by move/eqP: t0; rewrite sum_nat_eq0 => /forallP/(_ o).
Qed.

Lemma lottery_ge0 h o : 0 <= lottery h o.
Proof. by rewrite divr_ge0 ?ler0n. Qed.

Lemma law_lottery h : supported h -> law (lottery h).
Proof.
move=> sh; split=> [o|]; first exact: lottery_ge0.
by rewrite -mulr_suml -natr_sum mulfV // pnatr_eq0 -lt0n total_gt0.
Qed.

Lemma lottery_gt0 h o : supported h -> (0 < lottery h o) = (0 < p0 h o).
Proof.
move=> sh; rewrite -tickets_allowed // /lottery pmulr_lgt0 ?invr_gt0 ?ltr0n //.
exact: total_gt0.
Qed.

Lemma lottery_reach h o : supported h -> lottery h o != 0 -> supported (rcons h o).
Proof.
move=> sh nz; apply: (p0_reach lm_model sh); rewrite gt_eqF // -lottery_gt0 //.
by rewrite lt_def nz lottery_ge0.
Qed.

Variable T : nat.
Notation record := (record V T).
Notation S_T := (S_T E lm T).
Notation target := (@target R V E lm alpha T).
Implicit Types x y : S_T.

(** Keep the first r tokens, draw the rest. *)
Definition q_lottery (r : nat) x y : R :=
  (take r (val y) == take r (val x))%:R * suffix bot lottery r (val y).

Lemma q_lottery_ge0 r x y : 0 <= q_lottery r x y.
Proof. by rewrite mulr_ge0 ?ler0n // suffix_ge0 //; apply: lottery_ge0. Qed.

Lemma q_lottery_kernel r : (r <= T)%N -> kernel (q_lottery r).
Proof.
move=> rT x; split=> [y|]; first exact: q_lottery_ge0.
set h := take r (val x).
have sh : supported h by apply: supported_prefix.
have size_h : size h = r by rewrite size_takel ?size_tuple.
pose F (s : seq (option V)) := suffix bot lottery r s.
rewrite /q_lottery (sum_S_T_vanish lm_model
  (F := fun y : record => (take r y == h)%:R * F y)) => [|y y0].
  rewrite (eq_bigr (fun y : record => if take r y == h then F y else 0)).
    rewrite -big_mkcond -{1}size_h sum_prefix ?size_h //.
    rewrite (eq_bigr (fun u : (T - r).-tuple (option V) => chain lottery h u)).
      apply: (sum_chain (reach := supported)) => //; last exact: lottery_reach.
      by move=> h' /law_lottery[].
    by move=> u _; rewrite /F -{1}size_h suffix_cat.
  by move=> y _; case: eqP => _; rewrite ?mul1r ?mul0r.
case: eqP => [e|_]; rewrite ?mul0r // mul1r; apply/eqP; apply/negPn/negP => Fy.
have : supported y.
  rewrite -(cat_take_drop r y) e; apply: (chain_neq0 (g := lottery)) => //.
    exact: lottery_reach.
  by rewrite -(suffix_cat bot) size_h -e cat_take_drop.
by rewrite supportedE // -/(record_prob E lm y) y0 ltxx.
Qed.

Lemma lottery_at x (t : nat) : (t < T)%N -> 0 < lottery (take t (val x)) (nth bot (val x) t).
Proof.
move=> tT; rewrite lottery_gt0; last exact: (supported_prefix lm_model).
have := supported_prefix lm_model x t.+1; rewrite (take_nth bot) ?size_tuple //.
by rewrite supported_rcons // => /andP[].
Qed.

Lemma suffix_lottery_gt0 r x : 0 < suffix bot lottery r (val x).
Proof.
rewrite /suffix size_tuple big_nat_cond.
apply: (big_ind (fun u => 0 < u)) => [|u v|t]; [exact: ltr01 | exact: mulr_gt0 |].
by case/andP=> /andP[_ tT] _; apply: lottery_at.
Qed.

(** ** What the sampler scores *)

(** zeta_t = alpha log p0(x_t) - log g(x_t), exponentiated, g the law that was used. *)
Definition zeta h o : R := alpha (p0 h o) / lottery h o.

Definition scored (r : nat) x : R := \prod_(r <= t < T) zeta (take t (val x)) (nth bot (val x) t).

Lemma powered_scored r x : (r <= T)%N ->
  alpha (record_prob E lm (val x)) =
  alpha (prefix_prob E lm (take r (val x))) * (suffix bot lottery r (val x) * scored r x).
Proof.
move=> rT; rewrite /record_prob !prefix_probE (suffix_split _ _ (r := r)) ?size_tuple // powM.
- congr (_ * _); rewrite /suffix pow_prod => [|t _]; last exact: p0_ge0.
  rewrite /scored size_tuple -big_split /= big_nat [RHS]big_nat.
  apply: eq_bigr => t /andP[_ tT]; rewrite /zeta mulrC divfK //.
  by rewrite gt_eqF ?lottery_at.
- by apply: suffix_ge0 => *; apply: p0_ge0.
by apply: suffix_ge0 => *; apply: p0_ge0.
Qed.

(** The Metropolis-Hastings ratio is the quotient of the cached scores: the rounding
    of the tickets is inside it, and all else cancels. *)
Theorem scored_ratio r x y : (r <= T)%N -> take r (val y) = take r (val x) ->
  (target y * q_lottery r y x) / (target x * q_lottery r x y) = scored r y / scored r x.
Proof.
move=> rT e; rewrite /target /q_lottery e eqxx !mul1r !(powered_scored _ rT) e.
set c := alpha _; set gx := suffix bot lottery r (val x); set gy := suffix bot lottery r (val y).
have c0 : c != 0.
  rewrite gt_eqF // pow_gt0 // -supportedE //; exact: supported_prefix.
have gx0 : gx != 0 by rewrite gt_eqF ?suffix_lottery_gt0.
have gy0 : gy != 0 by rewrite gt_eqF ?suffix_lottery_gt0.
have Z0 : Z E lm alpha T != 0 by rewrite gt_eqF // Z_gt0.
have s0 : scored r x != 0.
  rewrite gt_eqF // /scored big_nat_cond.
  apply: (big_ind (fun u => 0 < u)) => [|u v|t]; [exact: ltr01 | exact: mulr_gt0 |].
  case/andP=> /andP[_ tT] _; rewrite divr_gt0 ?lottery_at // pow_gt0 //.
  by rewrite -lottery_gt0 ?lottery_at //; apply: supported_prefix.
apply/eqP; rewrite eqr_div //; last by rewrite !mulf_neq0 ?invr_eq0.
apply/eqP; rewrite !mulrA.
by rewrite [LHS](ACl (3*1*5*6*4*2)%AC).
Qed.

(** ** Invariance *)

(** The local move: restart position from omega, tokens from the lottery, accepted
    with the Metropolis-Hastings probability of the lottery's own weights. *)
Variable omega : 'I_T -> R.
Hypothesis omega_law : law omega.

Definition lottery_local : S_T -> S_T -> R :=
  mixk omega (fun r : 'I_T => mh target (q_lottery r)).

Lemma lottery_local_kernel : kernel lottery_local.
Proof.
apply: kernel_mixk => // r; apply: mh_kernel => [x|]; first exact: target_ge0.
by apply: q_lottery_kernel; apply: ltnW.
Qed.

Theorem lottery_local_reversible : reversible target lottery_local.
Proof.
apply: reversible_mixk => r; apply: mh_reversible => [x|x y]; first exact: target_ge0.
exact: q_lottery_ge0.
Qed.

(** p0^alpha is invariant, for any positive integer tickets. *)
Theorem lottery_leaves_target_invariant : invariant target lottery_local.
Proof.
by apply: reversible_invariant; [exact: lottery_local_kernel | exact: lottery_local_reversible].
Qed.

End Lottery.

(** ** The complete transition with lotteries at every rung *)
Section Ensemble.
Variables (R : realFieldType) (V : finType) (E : {set V}).
Variable lm : seq V -> V -> R.
Variables (T n : nat).
Variable alpha : 'I_n.+1 -> power R.
Variable tickets : 'I_n.+1 -> seq (option V) -> option V -> nat.
Variable omega : 'I_n.+1 -> 'I_T.+1 -> R.
Notation state := {ffun 'I_n.+1 -> S_T E lm T.+1}.
Notation pi := (fun k => @target R V E lm (alpha k) T.+1).
Notation local := (fun k => @lottery_local R V E lm (alpha k) (tickets k) T.+1 (omega k)).
Variables (n_local n_sweep : nat).

Hypothesis lm_model : model E lm.
Hypothesis tickets_allowed : forall k h o, supported E lm h ->
  (0 < tickets k h o)%N = (0 < p0 E lm h o).
Hypothesis omega_law : forall k, law (omega k).

Let allowed k : forall h o, supported E lm h -> (0 < tickets k h o)%N = (0 < p0 E lm h o).
Proof. exact: tickets_allowed. Qed.

Let local_invariant k : invariant (pi k) (local k).
Proof. exact: (lottery_leaves_target_invariant (alpha k) lm_model (@allowed k)). Qed.

Let local_kernel k : kernel (local k).
Proof. exact: (lottery_local_kernel (alpha k) lm_model (@allowed k)). Qed.

Theorem lottery_ensemble_invariant (C : state -> state -> R) :
  invariant (product pi) C -> invariant (product pi) (ppt local C n_local n_sweep).
Proof. exact: ppt_invariant. Qed.

(** With the ordered or the even-odd exchange schedule. *)
Corollary lottery_ensemble_invariant_adj :
  invariant (product pi) (ppt local (adj pi) n_local n_sweep).
Proof.
by apply: lottery_ensemble_invariant; apply: adj_invariant => k x; apply: target_ge0.
Qed.

Corollary lottery_ensemble_invariant_deo :
  invariant (product pi) (ppt local (deo pi) n_local n_sweep).
Proof.
by apply: lottery_ensemble_invariant; apply: deo_invariant => k x; apply: target_ge0.
Qed.

(** And it converges: positive tickets are all that a full restart needs. *)
Hypothesis omega_full : forall k, 0 < omega k ord0.
Hypothesis n_local_positive : (0 < n_local)%N.

Definition q_full_lottery k (y : S_T E lm T.+1) : R :=
  suffix bot (lottery R (tickets k)) 0 (val y).

Definition eps_lottery : R :=
  \prod_k restart_weight (pi k) (q_full_lottery k) (omega k) ord0.

Theorem lottery_ensemble_converges (mu : state -> R) N : law mu ->
  tv (run N mu (ppt local (adj pi) n_local n_sweep)) (product pi)
    <= (1 - eps_lottery) ^+ N * tv mu (product pi).
Proof.
have pi_law k : law (pi k) by apply: target_law.
have adj_k : kernel (adj pi) by apply: adj_kernel => k x; apply: target_ge0.
have adj_i : invariant (product pi) (adj pi) by apply: adj_invariant => k x; apply: target_ge0.
have positive k : 0 < restart_weight (pi k) (q_full_lottery k) (omega k) ord0.
  apply: restart_weight_positive => // y; first exact: target_gt0.
  exact: (suffix_lottery_gt0 lm_model (@allowed k)).
apply: (@rounds_contract R _ (product pi) (sweep local)) => //.
- exact: law_product.
- exact: kernel_prodk.
- exact: invariant_prodk.
- move=> X Y; apply: product_minorizes => [k|k y|k x y]; first exact: ltW.
    exact: target_ge0.
  apply: (full_restart_minorizes (q := fun r : 'I_T.+1 => q_lottery (tickets k) r)) => //.
  - by move=> z; apply: target_gt0.
  - by move=> r; apply: (q_lottery_kernel lm_model (@allowed k)); apply: ltnW.
  by move=> u v; rewrite /q_lottery /= !take0 eqxx mul1r.
- exact: kernel_iterk.
- exact: invariant_iterk.
by apply: prodr_gt0 => k _.
Qed.

End Ensemble.
