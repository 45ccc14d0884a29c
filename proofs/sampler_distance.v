(** * The distance of the compiled sampler from the one that is meant

    With N words, [grains] acceptance tickets and an acceptance within [slack] of
    1 /\ R, the record that a run returns under addressed words has a law within
    [run_bound] of the lottery's Algorithm 1: |V| / 2N for every token, T / 2N for every
    restart, slack + 1/N for every acceptance.  In the program N = 2^128, grains = 2^62
    and, but for the floating error in the ratio, slack = 2^-62.                     *)

From mathcomp Require Import all_ssreflect all_algebra all_fingroup.
From Tempera Require Import markov autoregressive record_space power power_target.
From Tempera Require Import replica_exchange fixed_horizon tempera_lottery alternation program.
From Tempera Require Import sampler_steps record_tokens algorithm_law algorithm.
From Tempera Require Import addressed_draws program_distance word_grain lottery_sampler.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Close.
Variables (R : realFieldType) (N : nat).
Hypothesis N_positive : (0 < N)%N.
Notation ticket := (nat * R)%type.
Notation by_word := (@by_word R N).
Notation meant := (@meant R).

Lemma word_law_ge0 (I : finType) (w : I -> nat) i : 0 <= word_law R N w i.
Proof. by apply: sumr_ge0 => u _; rewrite mulr_ge0 ?ler0n ?invr_ge0 ?ler0n. Qed.

Lemma share_ge0 (I : finType) (w : I -> nat) i : 0 <= share R w i.
Proof. by rewrite divr_ge0 ?ler0n. Qed.

Lemma share_mass (I : finType) (w : I -> nat) : \sum_i share R w i = (0 < total_of w)%N%:R.
Proof.
rewrite -mulr_suml -natr_sum -total_ofE; case: (total_of w) => [|m]; first by rewrite mul0r.
by rewrite mulfV // pnatr_eq0.
Qed.

(** A draw whose meaning is the share of its tickets. *)
Lemma close_share (I : finType) (w : I -> ticket) :
  (forall i, (w i).2 = share R (fun j => (w j).1) i) ->
  close by_word meant w (#|I|%:R / (2%:R * N%:R)).
Proof.
move=> ws; set v := fun j => (w j).1.
have mE : meant w =1 share R v by [].
split=> [i|i|||].
- exact: word_law_ge0.
- by rewrite mE share_ge0.
- by rewrite word_law_mass // (eq_bigr _ (fun i _ => mE i)) share_mass.
- by rewrite word_law_mass // lern1; case: (0 < _)%N.
rewrite (tv_ext (fun _ => erefl) mE); have [W0|] := ltnP 0 (total_of v); first exact: word_grain_tv.
rewrite leqn0 => /eqP W0; rewrite /tv big1 ?mulr0 => [|i _].
  by rewrite divr_ge0 ?mulr_ge0 ?ler0n.
have m : \sum_j word_law R N v j = 0 by rewrite word_law_mass // W0.
rewrite (_ : by_word w i = 0); last by apply: (psumr_eq0P (fun j _ => word_law_ge0 v j) m).
by rewrite /share W0 invr0 mulr0 subrr normr0.
Qed.

Variable grains : nat.
Hypothesis grains_positive : (0 < grains)%N.

Lemma close_accept (t : nat) (a slack : R) : (t <= grains)%N -> 0 <= a <= 1 ->
  `|t%:R / grains%:R - a| <= slack ->
  close by_word meant (accept_ticket grains t a) (slack + N%:R^-1).
Proof.
move=> tg /andP[a0 a1] sl; set w := accept_ticket grains t a.
have tot : total_of (fun b => (w b).1) = grains by apply: accept_total.
have [st sf] := accept_share grains_positive a tg.
have W0 : (0 < total_of (fun b => (w b).1))%N by rewrite tot.
split=> [i|i|||].
- exact: word_law_ge0.
- by case: i; rewrite /meant /= ?subr_ge0.
- by rewrite word_law_mass // W0 big_bool /= /meant /= addrC subrK.
- by rewrite word_law_mass // W0.
apply: le_trans (tv_triangle _ (share R (fun b => (w b).1)) _) _.
rewrite addrC; apply: ler_add.
  rewrite /tv big_bool /= -!/(by_share _ _) st sf /meant /=.
  have -> : 1 - t%:R / grains%:R - (1 - a) = - (t%:R / grains%:R - a).
    by rewrite [RHS]opprB opprD opprK addrA [1 - _ - 1]addrAC subrr add0r addrC.
  rewrite normrN -mulr2n -[X in 2%:R^-1 * X]mulr_natl mulrA mulVf ?mul1r //.
  by rewrite pnatr_eq0.
apply: le_trans (word_grain_tv R N_positive W0) _; rewrite card_bool invfM mulrA mulfV ?mul1r //.
by rewrite pnatr_eq0.
Qed.

End Close.

Section SamplerDistance.
Variables (R : realFieldType) (V : finType) (E : {set V}) (lm : seq V -> V -> R) (n : nat).
Variable alpha : 'I_n.+1 -> power R.
Hypothesis lm_model : model E lm.
Variable tickets : 'I_n.+1 -> seq (option V) -> option V -> nat.
Hypothesis tickets_allowed : forall k h o, supported E lm h ->
  (0 < tickets k h o)%N = (0 < p0 E lm h o).
Variables (N grains : nat) (slack : R).
Hypothesis N_positive : (0 < N)%N.
Hypothesis grains_positive : (0 < grains)%N.
Variable local_t : 'I_n.+1 -> nat -> seq V -> seq V -> nat.
Variable swap_t : 'I_n -> seq V -> seq V -> nat.
Hypothesis local_t_le : forall k r x y, (local_t k r x y <= grains)%N.
Hypothesis swap_t_le : forall e x y, (swap_t e x y <= grains)%N.
Hypothesis local_slack : forall k r x y,
  `|(local_t k r x y)%:R / grains%:R - local_ratio E lm alpha tickets k r x y| <= slack.
Hypothesis swap_slack : forall e x y,
  `|(swap_t e x y)%:R / grains%:R - swap_ratio_tokens E lm alpha e x y| <= slack.

Notation ticket := (nat * R)%type.
Notation stage := (stage ticket n).
Notation by_word := (@by_word R N).
Notation meant := (@meant R).
Notation token_ticket := (token_ticket R tickets).
Notation local_ticket := (local_ticket E lm alpha tickets grains local_t).
Notation swap_ticket := (swap_ticket E lm alpha grains swap_t).

Lemma ratio01 (u v : R) : 0 <= u -> 0 <= v -> 0 <= Num.min 1 (u / v) <= 1.
Proof. by move=> u0 v0; rewrite le_minl lexx /= andbT le_minr ler01 divr_ge0. Qed.

Lemma local_ratio01 k r x y : 0 <= local_ratio E lm alpha tickets k r x y <= 1.
Proof.
have s0 z : 0 <= score_tokens E lm alpha tickets k r z.
  apply: prodr_ge0 => t _; rewrite divr_ge0 ?lottery_ge0 // pow_ge0 //; exact: p0_ge0.
exact: ratio01.
Qed.

Lemma swap_ratio01 e x y : 0 <= swap_ratio_tokens E lm alpha e x y <= 1.
Proof.
have a0 k z : 0 <= alpha k (prefix_prob E lm (map Some z)) by rewrite pow_ge0 // prefix_prob_ge0.
by rewrite le_minl lexx /= andbT le_minr ler01 mulr_ge0 // divr_ge0.
Qed.

Definition grain_of (m : nat) : R := m%:R / (2%:R * N%:R).
Lemma grain_ge0 m : 0 <= grain_of m.
Proof. by rewrite divr_ge0 ?mulr_ge0 ?ler0n. Qed.

Lemma token_error_ge0 m k : 0 <= m%:R * grain_of k.
Proof. by rewrite mulr_ge0 ?ler0n // grain_ge0. Qed.

Definition accept_error : R := slack + N%:R^-1.

Lemma close_local k r x y : close by_word meant (local_ticket k r x y) accept_error.
Proof. by apply: close_accept => //; apply: local_ratio01. Qed.

Lemma close_swap e x y : close by_word meant (swap_ticket e x y) accept_error.
Proof. by apply: close_accept => //; apply: swap_ratio01. Qed.

Lemma accept_error_ge0 : 0 <= accept_error.
Proof.
have [_ _ _ _ c] := close_local ord0 0 [::] [::]; exact: le_trans (tv_ge0 _ _) c.
Qed.

Variables (address : finType) (at_ : nat -> nat -> nat -> purpose -> address).
Variables (s : schedule) (per_rung : bool).
Notation within := (@within R ticket address by_word meant).

Lemma within_generate T k a fuel x :
  within (generate E token_ticket T k a fuel x) (fuel%:R * grain_of #|V|).
Proof.
elim: fuel x => [|fuel IH] x /=; first by rewrite mul0r.
case: ifP => _ /=; last exact: token_error_ge0.
exists (grain_of #|V|), (fuel%:R * grain_of #|V|); split=> //.
- exact: close_share.
- exact: token_error_ge0.
by rewrite mulrS mulrDl mul1r.
Qed.

(** A stage's restart tickets are integers with their shares. *)
Definition integer_restart (st : stage) : Prop := forall k r,
  (@restart _ _ st k r).2 = share R (fun i => (@restart _ _ st k i).1) r.

Definition local_bound (T : nat) : R := grain_of T + (T%:R * grain_of #|V| + accept_error).

Lemma local_bound_ge0 T : 0 <= local_bound T.
Proof.
apply: addr_ge0; first exact: grain_ge0.
by apply: addr_ge0; [apply: token_error_ge0 | apply: accept_error_ge0].
Qed.

Lemma within_local (st : stage) k i x : integer_restart st ->
  within (local_move E at_ token_ticket local_ticket (@restart _ _ st) k i x)
    (local_bound (horizon st)).
Proof.
move=> ir; set T := horizon st.
have rest0 : 0 <= T%:R * grain_of #|V| + accept_error.
  by apply: addr_ge0; [apply: token_error_ge0 | apply: accept_error_ge0].
exists (grain_of T), (T%:R * grain_of #|V| + accept_error); split=> // [|r].
  by have c := close_share N_positive (ir k); rewrite card_ord in c; exact: c.
case: ifP => _; last exact: rest0.
apply: within_bind; [exact: accept_error_ge0 | exact: within_generate | move=> y].
exists accept_error, 0; split; [exact: close_local | move=> b; exact: lexx | by [] |].
by rewrite addr0.
Qed.

Lemma within_sweep c X : within (sweep_once at_ swap_ticket s c X) (n%:R * accept_error).
Proof.
have le : (size (edges n s c) <= n)%N.
  rewrite /edges; case: s; first by rewrite size_enum_ord.
  by rewrite size_filter (leq_trans (count_size _ _)) // size_enum_ord.
have go es Y : within (attempts at_ swap_ticket es c Y) ((size es)%:R * accept_error).
  elim: es Y => [|e es IH] Y; first by rewrite /= mul0r.
  rewrite /= mulrS mulrDl mul1r.
  exists accept_error, ((size es)%:R * accept_error).
  split=> [|b||//]; [exact: close_swap | exact: IH |].
  by rewrite mulr_ge0 ?ler0n ?accept_error_ge0.
apply: within_weaker (go _ _).
by rewrite ler_wpmul2r ?accept_error_ge0 // ler_nat.
Qed.

Definition round_bound (st : stage) : R :=
  (local_moves st)%:R * (n.+1%:R * local_bound (horizon st))
  + (sweeps st)%:R * (n%:R * accept_error).

Definition stage_bound (st : stage) : R :=
  n.+1%:R * ((horizon st)%:R * grain_of #|V|) + (rounds st)%:R * round_bound st.

Definition run_bound (sts : seq stage) : R := \sum_(st <- sts) stage_bound st.

Lemma round_bound_ge0 st : 0 <= round_bound st.
Proof.
by apply: addr_ge0; rewrite !mulr_ge0 ?ler0n ?local_bound_ge0 ?accept_error_ge0.
Qed.

Lemma within_rungs (f : 'I_n.+1 -> seq V -> program ticket address (seq V)) b X : 0 <= b ->
  (forall k x, within (f k x) b) -> within (each_rung f X) (n.+1%:R * b).
Proof. by move=> b0 wf; have c := within_each X b0 wf; rewrite card_ord in c. Qed.

Lemma within_refine (st : stage) l X : integer_restart st ->
  within (refine E at_ token_ticket local_ticket per_rung st l X)
    ((local_moves st)%:R * (n.+1%:R * local_bound (horizon st))).
Proof.
move=> ir; rewrite /refine; case: per_rung.
  rewrite mulrCA; apply: within_rungs.
    by rewrite mulr_ge0 ?ler0n ?local_bound_ge0.
  by move=> k x; apply: within_repeat; [apply: local_bound_ge0 | move=> j y; apply: within_local].
apply: within_repeat; first by rewrite mulr_ge0 ?ler0n ?local_bound_ge0.
move=> j Y; apply: within_rungs; first exact: local_bound_ge0.
by move=> k x; apply: within_local.
Qed.

Lemma within_rounds (st : stage) M l c X : integer_restart st ->
  within (rounds_of E at_ token_ticket local_ticket swap_ticket s per_rung st M l c X)
    (M%:R * round_bound st).
Proof.
move=> ir; elim: M l c X => [|M IH] l c X; first by rewrite /= mul0r.
rewrite mulrS mulrDl mul1r; apply: within_bind; last by move=> Y; apply: IH.
  by rewrite mulr_ge0 ?ler0n ?round_bound_ge0.
apply: within_bind; first by rewrite !mulr_ge0 ?ler0n ?accept_error_ge0.
  exact: within_refine.
move=> Y; apply: within_repeat; first by rewrite mulr_ge0 ?ler0n ?accept_error_ge0.
by move=> j Z; apply: within_sweep.
Qed.

Fixpoint integer_restarts (sts : seq stage) : Prop :=
  if sts is st :: sts' then integer_restart st /\ integer_restarts sts' else True.

Lemma stage_bound_ge0 st : 0 <= stage_bound st.
Proof.
apply: addr_ge0; first by apply: mulr_ge0; [apply: ler0n | apply: token_error_ge0].
by apply: mulr_ge0; [apply: ler0n | apply: round_bound_ge0].
Qed.

Lemma run_bound_ge0 sts : 0 <= run_bound sts.
Proof. by apply: sumr_ge0 => st _; apply: stage_bound_ge0. Qed.

Notation sampler := (algorithm E at_ token_ticket local_ticket swap_ticket s per_rung).

Theorem within_sampler sts output : integer_restarts sts ->
  within (sampler sts output) (run_bound sts).
Proof.
move=> irs; rewrite -[run_bound sts]addr0 /algorithm; apply: within_bind => //; last first.
  by move=> X /=; rewrite lexx.
suff go ss m l c X : integer_restarts ss ->
    within (run_stages E at_ token_ticket local_ticket swap_ticket s per_rung ss m l c X) (run_bound ss).
  exact: go.
elim: ss m l c X => [|st ss IH] m l c X.
  by rewrite /run_bound big_nil /= lexx.
case=> ir irs'; rewrite /run_bound big_cons; apply: within_bind; first exact: run_bound_ge0.
  apply: within_bind; first by rewrite mulr_ge0 ?ler0n ?round_bound_ge0.
    apply: within_rungs; first exact: token_error_ge0.
    by move=> k x; apply: within_generate.
  by move=> Y; apply: within_rounds.
by move=> Y; apply: IH.
Qed.

Definition winner_by_word (I : finType) (w : I -> ticket) : 'I_N -> option I :=
  word_winner (fun i => (w i).1).

(** Addressed words, integer tickets, rounded acceptances against the lottery's
    Algorithm 1: every event of the returned record. *)
Theorem sampler_distance sts output F : proper meant 0 sts -> integer_restarts sts ->
  distinct (sampler sts output) -> (forall x, 0 <= F x <= 1) ->
  `| addressed_law winner_by_word (@uniform_word R N) (sampler sts output) F
     - \sum_Y stages_kernel (fun k => lottery R (tickets k)) (lottery_accept alpha tickets)
         (@lottery_swap R V E lm n alpha) meant s 0 0 sts (start E lm n) Y * F (tokens (Y output)) |
  <= run_bound sts.
Proof.
move=> pr irs dist F01.
rewrite (@distinct_addresses ticket address _ winner_by_word R _ (uniform_word_law R N_positive) _
  (sampler sts output) F dist).
rewrite -(sampler_meant alpha lm_model tickets_allowed grains local_t swap_t s at_ per_rung output F pr).
exact: (program_distance (D := by_word) (within_sampler output irs) F01).
Qed.

End SamplerDistance.
