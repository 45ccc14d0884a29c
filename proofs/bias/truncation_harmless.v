(** Long mass alone does not move the target (after prop:fixed-stage-invariance).

    The paper infers Pi P~ != Pi from sum_k b_k > 0.  That needs records to be
    shortened: where no record ends before the horizon every record is long, b_k = 1
    at every rung, and the truncating kernel is the fixed-horizon one and preserves
    every target.

    - [truncation_harmless]     the complete truncating round then preserves Pi
    - [long_mass_does_not_suffice]   a model with sum_k b_k = K > 0 and Pi P~ = Pi
    - [truncating_long_mass_not_invariant]   with uniform accepted entry the paper's
      inference holds                                                            *)
From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov autoregressive record_space power power_target.
From Tempera Require Import replica_exchange truncating structural_bias_rearranging structural_bias.
From Tempera Require Import structural_bias_truncating.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section NothingEnds.
Variables (R : realFieldType) (V : finType) (E : {set V}).
Variable lm : seq V -> V -> R.
Variables (T n : nat).
Variable alpha : 'I_n.+1 -> power R.
Notation comparison := (comparison E lm T).
Notation record_prob := (record_prob E lm).
Implicit Types (x y : comparison) (h : seq (option V)).

Hypothesis lm_model : model E lm.
Hypothesis T_positive : (0 < T)%N.

(** No record ends before the horizon. *)
Hypothesis none_ends : forall h, supported E lm h -> (size h < T)%N -> ~~ terminated E h.

Lemma no_padding h : supported E lm h -> (size h < T)%N -> p0 E lm h bot = 0.
Proof. by move=> sh hT; rewrite /p0 sh /step (negPf (none_ends sh hT)). Qed.

Lemma cut_has_no_mass x : (tokens_of (val x) < T)%N -> record_prob (val x) = 0.
Proof.
move=> lt; rewrite record_probE (bigD1 (Ordinal lt)) //= (tnth_nth bot) /=.
have -> : nth bot (val x) (tokens_of (val x)) = bot.
  have := nth_find bot (s := val x) (a := fun o => o == bot).
  by rewrite has_find size_tuple => /(_ lt)/eqP.
rewrite no_padding ?mul0r //; last by rewrite size_takel ?size_tuple // ltnW.
exact: (comparable_take lm_model).
Qed.

Definition full x : bool := tokens_of (val x) == T.

Lemma fullPn x : ~~ full x -> (tokens_of (val x) < T)%N.
Proof. by move=> nf; rewrite ltn_neqAle nf (tokens_of_le x). Qed.

Lemma full_supported x : full x -> 0 < record_prob (val x).
Proof.
move=> /eqP fx; case/and3P: (valP x) => _ + _; rewrite fx take_oversize ?size_tuple //.
by rewrite supportedE.
Qed.

Section OneRung.
Variable k : 'I_n.+1.
Notation target := (target_on_comparison (E := E) (lm := lm) (T := T) alpha k).
Notation L := (truncating_at (E := E) (lm := lm) (T := T) alpha k).
Notation a := (alpha k).
Notation g := (g E lm a).
Notation powered := (powered E lm a).

Lemma cut_target0 x : ~~ full x -> target x = 0.
Proof. by move/fullPn => lt; rewrite /target_on_comparison cut_has_no_mass // pow0 mul0r. Qed.

(** A full record is never cut: padding has no weight before the horizon. *)
Lemma full_stays_full x y : full x -> ~~ full y -> L x y = 0.
Proof.
move=> fx nfy; have lt := fullPn nfy; rewrite /truncating_at /truncating.
case: eqP => [e|_]; first by rewrite e fx in nfy.
rewrite /truncated_move big1 // => r _; rewrite /capped_proposal.
case: eqP => [e|_]; rewrite ?mul0r ?mulr0 // mul1r.
have [ry|yr] := leqP r (tokens_of (val y)); last first.
  (* the kept prefix already holds y's padding, and x has none there *)
  have rT' : (tokens_of (val y) < size (take r (val x)))%N.
    rewrite -e size_take size_tuple; case: ifP => // _; exact: lt.
  have := congr1 (fun s => nth bot s (tokens_of (val y))) e.
  rewrite !nth_take //.
  have -> : nth bot (val y) (tokens_of (val y)) = bot.
    have := nth_find bot (s := val y) (a := fun o => o == bot).
    by rewrite has_find size_tuple => /(_ lt)/eqP.
  move=> /esym/eqP; have := before_find bot (a := fun o => o == bot) (s := val x) (i := tokens_of (val y)).
  by rewrite -/(tokens_of (val x)) (eqP fx) => /(_ lt) ->.
rewrite /suffix (bigD1_seq (tokens_of (val y))) ?iota_uniq //=; last first.
  by rewrite mem_index_iota ry size_tuple lt.
have sized : size (take (tokens_of (val y)) (val y)) = tokens_of (val y).
  by rewrite size_takel // size_tuple ltnW.
rewrite {1}/capped sized (eqP fx) lt.
have -> : nth bot (val y) (tokens_of (val y)) = bot.
  have := nth_find bot (s := val y) (a := fun o => o == bot).
  by rewrite has_find size_tuple => /(_ lt)/eqP.
rewrite /power_target.g no_padding ?sized //; first by rewrite pow0 !mul0r !mulr0 ?mul0r.
exact: (comparable_take lm_model).
Qed.

(** The powered law of a full record, cut at the restart position. *)
Lemma powered_split (x : record V T) r : (r <= T)%N ->
  a (record_prob x) = a (prefix_prob E lm (take r x)) * score powered r T x.
Proof.
move=> rT; rewrite /record_space.record_prob !prefix_probE.
rewrite (suffix_split _ _ (r := r)) ?size_tuple // powM; last first.
- by apply: suffix_ge0 => *; apply: p0_ge0.
- by apply: suffix_ge0 => *; apply: p0_ge0.
by congr (_ * _); rewrite /suffix pow_prod ?size_tuple // => t _; apply: p0_ge0.
Qed.

Lemma score_powered_gt0 x r : full x -> (r <= T)%N -> 0 < score powered r T (val x).
Proof.
move=> fx rT; have := pow_gt0 a (full_supported fx); rewrite (powered_split _ rT).
rewrite pmulr_rgt0 // pow_gt0 // -supportedE //.
exact: (supported_prefix lm_model (exist _ (val x) (full_supported fx))).
Qed.

Lemma score_g_gt0 x r : full x -> 0 < score g r T (val x).
Proof.
move=> fx; have := @q_gt0 R V E lm a lm_model T r (exist _ (val x) (full_supported fx)) _ erefl.
by rewrite /q eqxx mul1r /suffix size_tuple.
Qed.

Lemma full_reversible x y : full x -> full y -> target x * L x y = target y * L y x.
Proof.
move=> fx fy; have [->//|yx] := eqVneq y x.
rewrite /truncating_at /truncating (negPf yx) eq_sym (negPf yx) /truncated_move.
rewrite (eqP fx) (eqP fy) !mulr_sumr big_nat [RHS]big_nat; apply: eq_bigr => r /andP[_ rT].
rewrite ![_ * (T%:R^-1 * _)]mulrCA; congr (_ * _).
have proposed (u v : comparison) : full u ->
    capped_proposal a r u v = (take r (val v) == take r (val u))%:R * score g r T (val v).
  move=> fu; rewrite /capped_proposal (eqP fu) /suffix size_tuple; congr (_ * _).
  apply: eq_big_nat => t /andP[_ tT]; by rewrite /capped size_takel ?size_tuple ?tT // ltnW.
rewrite !proposed // eq_sym; case: eqP => [e|_]; last by rewrite !(mul0r, mulr0).
rewrite !mul1r /truncated_accept (eqP fx) (eqP fy) /target_on_comparison.
rewrite !(powered_split _ (ltnW rT)) e.
have px := score_powered_gt0 fx (ltnW rT); have py := score_powered_gt0 fy (ltnW rT).
have gx := score_g_gt0 r fx; have gy := score_g_gt0 r fy.
set A := a _; set Z := Z _ _ _ _.
have flow (u v w s : R) : 0 < u -> 0 < s -> u * (s * Num.min 1 (v * w / (u * s))) = Num.min (u * s) (v * w).
  move=> u0 s0; have us : 0 < u * s by rewrite mulr_gt0.
  by rewrite mulrA minr_pmulr ?(ltW us) // mulr1 [u * s * _]mulrC divfK // gt_eqF.
rewrite ![A * _ / Z]mulrAC -[LHS]mulrA -[RHS]mulrA; congr (_ * _).
by rewrite !flow // minC.
Qed.

Theorem truncating_reversible : reversible target L.
Proof.
move=> x y; have [fx|nx] := boolP (full x); have [fy|ny] := boolP (full y).
- exact: full_reversible.
- by rewrite (full_stays_full fx ny) (cut_target0 ny) mul0r mulr0.
- by rewrite (full_stays_full fy nx) (cut_target0 nx) mul0r mulr0.
by rewrite (cut_target0 nx) (cut_target0 ny) !mul0r.
Qed.

(** Every record is long: b_k = 1 at every threshold below the horizon. *)
Lemma all_mass_is_long m : (m < T)%N -> long_mass (@short R V E lm T m) (target_on_comparison (E := E) (lm := lm) (T := T) alpha) k = 1.
Proof.
move=> mT; have law_target := target_on_comparison_law alpha lm_model T_positive k.
rewrite /long_mass probC // [prob _ _]big1 ?subr0 // => x sx; apply: cut_target0.
by rewrite /full ltn_eqF // (leq_ltn_trans sx).
Qed.

End OneRung.

Local Notation state := {ffun 'I_n.+1 -> comparison}.
Local Notation targets := (target_on_comparison (E := E) (lm := lm) (T := T) alpha).
Local Notation Pi := (product targets).

(** Truncation is harmless here: with any exchanges that preserve Pi, in
    particular with the ordered sweep, so does the complete truncating round. *)
Theorem truncation_harmless (C : state -> state -> R) n_local n_sweep :
  invariant Pi C -> invariant Pi (truncated_round (truncating_at alpha) C n_local n_sweep).
Proof.
move=> iC; apply: invariant_compk; apply: invariant_iterk => //.
apply: invariant_prodk => k; apply: reversible_invariant; last exact: truncating_reversible.
exact: truncating_kernel.
Qed.

Corollary truncation_harmless_adj n_local n_sweep :
  invariant Pi (truncated_round (truncating_at alpha) (adj targets) n_local n_sweep).
Proof.
apply: truncation_harmless; apply: adj_invariant => k x.
by case: (target_on_comparison_law alpha lm_model T_positive k).
Qed.

End NothingEnds.

(** ** Such models *)
Section NeverTerminal.
Variables (R : realFieldType) (V : finType) (E : {set V}).
Variable lm : seq V -> V -> R.
Hypothesis lm_model : model E lm.
Hypothesis never : forall h v, v \in E -> lm h v = 0.

(** Where terminal tokens have no probability no record ends. *)
Lemma never_ends h : supported E lm h -> ~~ terminated E h.
Proof.
elim/last_ind: h => [//|h o IH]; rewrite supported_rcons // => /andP[sh].
rewrite terminated_rcons negb_or IH // andbT /p0 sh /step.
by case: o => [v|] //=; apply: contraTN => vE; rewrite never // if_same ltxx.
Qed.

End NeverTerminal.

(** Three tokens, the last of them terminal and never drawn. *)
Definition never_E : {set 'I_3} := [set ord_max].
Definition never_lm (h : seq 'I_3) (v : 'I_3) : rat := if v == ord_max then 0 else 1 / 2%:R.

Lemma never_model : model never_E never_lm.
Proof.
move=> h _ _; split=> [v|]; first by rewrite /never_lm; case: ifP.
by rewrite !big_ord_recl big_ord0; apply/eqP.
Qed.

Lemma never_never h v : v \in never_E -> never_lm h v = 0.
Proof. by rewrite inE /never_lm => ->. Qed.

(** sum_k b_k = K > 0, and the complete truncating round preserves Pi. *)
Theorem long_mass_does_not_suffice (T n h : nat) (alpha : 'I_n.+1 -> power rat_realFieldType)
    n_local n_sweep :
  (h < T)%N ->
  let target := target_on_comparison (E := never_E) (lm := never_lm) (T := T) alpha in
  \sum_k long_mass (@short _ _ never_E never_lm T h) target k = n.+1%:R
  /\ invariant (product target)
       (truncated_round (truncating_at alpha) (adj target) n_local n_sweep).
Proof.
move=> hT target; have T0 : (0 < T)%N by apply: leq_ltn_trans hT.
have none s : supported never_E never_lm s -> (size s < T)%N -> ~~ terminated never_E s.
  by move=> ss _; apply: never_ends never_model never_never s ss.
split; last exact: (truncation_harmless_adj alpha never_model T0 none).
rewrite (eq_bigr (fun=> 1)) => [|k _]; last exact: (all_mass_is_long alpha never_model T0 none k hT).
by rewrite sumr_const card_ord.
Qed.

(** The assumption under which the inference holds: every long record is made short
    with probability at least delta. *)
Theorem truncating_long_mass_not_invariant (R : realFieldType) (V : finType) (E : {set V})
    (lm : seq V -> V -> R) (T n h : nat) (alpha : 'I_n.+1 -> power R)
    (C : {ffun 'I_n.+1 -> comparison E lm T} -> {ffun 'I_n.+1 -> comparison E lm T} -> R)
    (n_local n_sweep : nat) (delta : R) :
  model E lm -> (0 < T)%N -> kernel C -> rearranges C -> (0 < n_local)%N -> 0 < delta ->
  let L := truncating_at (E := E) (lm := lm) (T := T) alpha in
  let target := target_on_comparison (E := E) (lm := lm) (T := T) alpha in
  (forall k x, ~~ short h x -> delta <= prob (L k x) (short h)) ->
  0 < \sum_k long_mass (short h) target k ->
  ~ invariant (product target) (truncated_round L C n_local n_sweep).
Proof.
move=> mod T0 kC rC nl d0 L target entry.
have kL k : kernel (L k) by apply: truncating_kernel.
have lpi k : law (target k) by apply: target_on_comparison_law.
have closed k x : short h x -> prob (L k x) (short h) = 1 by apply: truncating_closed.
exact: (long_mass_not_invariant kL kC rC lpi nl closed d0 entry).
Qed.
