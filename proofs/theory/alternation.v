(** * The exchange schedule as it runs: sweeps are counted through the whole run

    The paper's communication schedules (sec:chain-communication).  Under DEO one
    sweep is one parity layer, odd edges first, and the sampler counts its layers
    from the start of the run: a round of an odd number of sweeps leaves the next
    round, and the next stage, with the other parity.  The rounds are then not the
    powers of one kernel, so invariance and convergence are stated for the sequence.

    - [edges s c]            the edges that sweep number c attempts, c counted from 0
    - [sweep_number c]       its kernel
    - [sweeps_from c m]      the m sweeps from number c on
    - [round_from c nl ns]   R^nl, then the ns sweeps from number c on
    - [rounds_from c N nl ns]   N such rounds, the count going on                 *)

From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov record_space power power_target.
From Tempera Require Import replica_exchange fixed_horizon convergence_minorization.
From Tempera Require Import convergence_geometric convergence.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Inductive schedule := ADJ | DEO.

(** The paper counts edges from 1, so its odd edges, which come first, are our even
    ones. *)
Definition edges (n : nat) (s : schedule) (c : nat) : seq 'I_n :=
  if s is ADJ then enum 'I_n else [seq k <- enum 'I_n | odd (val k) == odd c].

Section Alternation.
Variables (R : realFieldType) (S : finType) (n : nat).
Notation state := {ffun 'I_n.+1 -> S}.
(** The swap kernels, one for each edge, and the local ones, one for each rung. *)
Variables (W : 'I_n -> state -> state -> R) (L : 'I_n.+1 -> S -> S -> R).
Variable s : schedule.
Implicit Types (c m N : nat).

Definition sweep_number c : state -> state -> R := ordered (edges n s c) W.

Fixpoint sweeps_from c m : state -> state -> R :=
  if m is m'.+1 then compk (sweep_number c) (sweeps_from c.+1 m') else @idk R _.

Definition round_from c n_local n_sweep : state -> state -> R :=
  compk (iterk n_local (sweep L)) (sweeps_from c n_sweep).

Fixpoint rounds_from c N n_local n_sweep : state -> state -> R :=
  if N is N'.+1
  then compk (round_from c n_local n_sweep) (rounds_from (c + n_sweep) N' n_local n_sweep)
  else @idk R _.

Hypothesis W_kernel : forall e, kernel (W e).
Hypothesis L_kernel : forall k, kernel (L k).

Lemma sweep_number_kernel c : kernel (sweep_number c).
Proof. by apply: kernel_ordered => e _; apply: W_kernel. Qed.

Lemma sweeps_kernel c m : kernel (sweeps_from c m).
Proof.
elim: m c => [|m IH] c; first exact: kernel_idk.
by apply: kernel_compk; [apply: sweep_number_kernel | apply: IH].
Qed.

Lemma round_from_kernel c nl ns : kernel (round_from c nl ns).
Proof.
apply: kernel_compk; last exact: sweeps_kernel.
by apply: kernel_iterk; apply: kernel_prodk.
Qed.

Lemma rounds_from_kernel c N nl ns : kernel (rounds_from c N nl ns).
Proof.
elim: N c => [|N IH] c; first exact: kernel_idk.
by apply: kernel_compk; [apply: round_from_kernel | apply: IH].
Qed.

(** ** Invariance, whatever the number of sweeps in a round *)

Variable pi : 'I_n.+1 -> S -> R.
Notation Pi := (product pi).
Hypothesis W_invariant : forall e, invariant Pi (W e).
Hypothesis L_invariant : forall k, invariant (pi k) (L k).

Lemma sweeps_invariant c m : invariant Pi (sweeps_from c m).
Proof.
elim: m c => [|m IH] c; first exact: invariant_idk.
apply: invariant_compk; last exact: IH.
by apply: invariant_ordered => e _; apply: W_invariant.
Qed.

Theorem round_from_invariant c nl ns : invariant Pi (round_from c nl ns).
Proof.
apply: invariant_compk; last exact: sweeps_invariant.
by apply: invariant_iterk; apply: invariant_prodk.
Qed.

Theorem rounds_from_invariant c N nl ns : invariant Pi (rounds_from c N nl ns).
Proof.
elim: N c => [|N IH] c; first exact: invariant_idk.
by apply: invariant_compk; [apply: round_from_invariant | apply: IH].
Qed.

(** ** What the count does *)

(** Only its parity matters. *)
Lemma sweeps_parity c d m : odd c = odd d -> sweeps_from c m =2 sweeps_from d m.
Proof.
elim: m c d => [//|m IH] c d e; apply: compk_ext; last by apply: IH; rewrite /= e.
by rewrite /sweep_number /edges e.
Qed.

Lemma round_parity c d nl ns : odd c = odd d -> round_from c nl ns =2 round_from d nl ns.
Proof. by move=> e; apply: compk_ext => //; apply: sweeps_parity. Qed.

(** An even number of sweeps a round: the rounds are the powers of one kernel ... *)
Theorem even_rounds_repeat c N nl ns : ~~ odd ns ->
  rounds_from c N nl ns =2 iterk N (round_from c nl ns).
Proof.
move=> ev; suff go d : odd d = odd c -> rounds_from d N nl ns =2 iterk N (round_from c nl ns).
  exact: go.
elim: N d => [//|N IH] d e; apply: compk_ext; first exact: round_parity.
by apply: IH; rewrite oddD (negPf ev) addbF.
Qed.

(** ... an odd number: two rounds are, each with its own parity. *)
Theorem odd_rounds_alternate c N nl ns : odd ns ->
  rounds_from c N.*2 nl ns =2
  iterk N (compk (round_from c nl ns) (round_from c.+1 nl ns)).
Proof.
move=> od; suff go d : odd d = odd c -> rounds_from d N.*2 nl ns =2
    iterk N (compk (round_from c nl ns) (round_from c.+1 nl ns)) by exact: go.
elim: N d => [//|N IH] d e X Z.
have -> : rounds_from d N.+1.*2 nl ns X Z =
  compk (compk (round_from d nl ns) (round_from (d + ns) nl ns))
        (rounds_from (d + ns + ns) N.*2 nl ns) X Z.
  exact: (act_compk (round_from d nl ns X)).
move: X Z; apply: compk_ext; last by apply: IH; rewrite -addnA addnn oddD odd_double addbF.
by apply: compk_ext; apply: round_parity; rewrite ?oddD ?od /= ?e ?addbT.
Qed.

(** ** Convergence under alternation *)

Variable eps : R.
Hypothesis pi_law : forall k, law (pi k).
Hypothesis eps_positive : 0 < eps.
Hypothesis minorized : forall X Y : state, eps * Pi Y <= sweep L X Y.
Variables n_local n_sweep : nat.
Hypothesis n_local_positive : (0 < n_local)%N.

Let sweep_kernel : kernel (sweep L).
Proof. exact: kernel_prodk. Qed.

Lemma alternation_eps_le1 : eps <= 1.
Proof.
by apply: (@minorization_le1 R _ Pi (sweep L)); [apply: law_product | | apply: minorized].
Qed.

Theorem alternation_converges c N mu : law mu ->
  tv (act mu (rounds_from c N n_local n_sweep)) Pi <= (1 - eps) ^+ N * tv mu Pi.
Proof.
have c0 : 0 <= 1 - eps by rewrite subr_ge0 alternation_eps_le1.
elim: N c mu => [|N IH] c mu lmu.
  by rewrite expr0 mul1r (tv_ext (act_idk mu) (fun _ => erefl)).
rewrite (tv_ext (act_compk _ _ _) (fun _ => erefl)).
apply: le_trans (IH _ _ (law_act lmu (round_from_kernel c n_local n_sweep))) _.
rewrite exprSr -mulrA ler_wpmul2l ?exprn_ge0 //.
apply: (@round_contracts R _ Pi (sweep L)) => //.
- exact: law_product.
- exact: invariant_prodk.
- exact: sweeps_kernel.
exact: sweeps_invariant.
Qed.

(** Pi is the only law that comes back after some number of rounds: in particular
    the only one that the period of two rounds keeps. *)
Theorem alternation_unique c N nu : law nu -> (0 < N)%N ->
  invariant nu (rounds_from c N n_local n_sweep) -> nu =1 Pi.
Proof.
move=> lnu N0 inu; apply: tv_eq0; apply/eqP; rewrite eq_le tv_ge0 andbT.
have := alternation_converges c N lnu; rewrite (tv_ext inu (fun _ => erefl)) => le.
have c0 : 0 <= 1 - eps by rewrite subr_ge0 alternation_eps_le1.
have lt : (1 - eps) ^+ N < 1.
  by rewrite exprn_ilt1 // -?lt0n // ltr_subl_addl ltr_addr.
have : (1 - (1 - eps) ^+ N) * tv nu Pi <= 0 by rewrite mulrBl mul1r subr_le0.
by rewrite pmulr_rle0 // subr_gt0.
Qed.

End Alternation.

(** The ordered schedule has no parity: its rounds are the powers of P. *)
Theorem ordered_rounds (R : realFieldType) (S : finType) (n : nat)
    (pi : 'I_n.+1 -> S -> R) (L : 'I_n.+1 -> S -> S -> R) c N nl ns :
  rounds_from (W pi) L ADJ c N nl ns =2 iterk N (ppt L (adj pi) nl ns).
Proof.
have sweeps m d : sweeps_from (W pi) ADJ d m =2 iterk m (adj pi).
  by elim: m d => [//|m IH] d; apply: compk_ext.
by elim: N c => [//|N IH] c; apply: (compk_ext) => //; apply: compk_ext.
Qed.

(** A geometric bound becomes a limit, whatever the sequence of kernels. *)
Lemma bound_vanishes (R : archiFieldType) (S : finType) (Pi : S -> R)
    (P : nat -> S -> S -> R) (eps eta : R) mu :
  0 < eps -> eps <= 1 -> 0 < eta -> law mu -> law Pi ->
  (forall N, tv (act mu (P N)) Pi <= (1 - eps) ^+ N * tv mu Pi) ->
  exists N0, forall N, (N0 <= N)%N -> tv (act mu (P N)) Pi < eta.
Proof.
move=> eps0 eps1 eta0 mu_law Pi_law bound.
have c0 : 0 <= 1 - eps by rewrite subr_ge0.
have c1 : 1 - eps < 1 by rewrite ltr_subl_addl ltr_addr.
have [N0 small] := power_vanishes (introT andP (conj c0 c1)) eta0.
have tv1 : tv mu Pi <= 1.
  rewrite tv_attained //; apply: (@le_trans _ _ (prob mu (fun x => Pi x <= mu x))).
    by rewrite ler_subl_addl ler_addr prob_ge0.
  exact: prob_le1.
exists N0 => N leN; apply: le_lt_trans (bound N) (le_lt_trans _ small).
rewrite -(subnK leN) exprD -mulrA.
apply: (@le_trans _ _ ((1 - eps) ^+ N0 * tv mu Pi)).
  apply: ler_pimull; first by rewrite mulr_ge0 ?exprn_ge0 ?tv_ge0.
  by apply: exprn_ile1 => //; apply: ltW.
by apply: ler_pimulr; rewrite ?exprn_ge0.
Qed.

(** ** The theorems for Parallel Power Tempering *)
Section FixedHorizonAlternation.
Variables (R : archiFieldType) (V : finType) (E : {set V}) (lm : seq V -> V -> R).
Variables (T n : nat) (alpha : 'I_n.+1 -> power R) (omega : 'I_n.+1 -> 'I_T.+1 -> R).
Notation state := {ffun 'I_n.+1 -> S_T E lm T.+1}.
Notation pi := (@pi R V E lm T.+1 n alpha).
Notation Pi := (@Pi R V E lm T.+1 n alpha).
Notation rounds := (rounds_from (W pi) (@local R V E lm T.+1 n alpha omega)).
Notation eps := (@eps R V E lm T n alpha omega).

Hypothesis lm_model : model E lm.
Hypothesis omega_law : forall k, law (omega k).

(** prop:fixed-stage-invariance for the schedule as it runs: any number of sweeps a
    round, from any count on. *)
Theorem schedule_invariant s c N n_local n_sweep :
  invariant Pi (rounds s c N n_local n_sweep).
Proof.
apply: rounds_from_invariant => k; first exact: swap_invariant.
exact: local_invariant.
Qed.

(** thm:fixed-horizon-convergence for it. *)
Theorem schedule_convergence s c n_local n_sweep : (forall k, 0 < omega k ord0) ->
  (0 < n_local)%N ->
  [/\ 0 < eps <= 1,
      forall nu N, law nu -> (0 < N)%N ->
        invariant nu (rounds s c N n_local n_sweep) -> nu =1 Pi,
      forall mu k N, law mu -> let mu_N := act mu (rounds s c N n_local n_sweep) in
        tv (marginal k mu_N) (pi k) <= tv mu_N Pi
        /\ tv mu_N Pi <= (1 - eps) ^+ N * tv mu Pi
    & forall mu eta, law mu -> 0 < eta -> exists N0, forall N, (N0 <= N)%N ->
        tv (act mu (rounds s c N n_local n_sweep)) Pi < eta].
Proof.
move=> omega_full nl0.
have kW e : kernel (W pi e) by apply: W_kernel => k x; apply: pi_ge0.
have iW e : invariant Pi (W pi e) by apply: swap_invariant.
have kL k : kernel (@local R V E lm T.+1 n alpha omega k) by apply: local_kernel.
have iL k : invariant (pi k) (@local R V E lm T.+1 n alpha omega k) by apply: local_invariant.
have lpi k : law (pi k) by apply: pi_law.
have e0 : 0 < eps by apply: eps_positive.
have min X Y : eps * Pi Y <= sweep (@local R V E lm T.+1 n alpha omega) X Y.
  exact: sweep_minorization.
have e1 : eps <= 1 by apply: eps_le1.
split; first by rewrite e0.
- by move=> nu N; apply: (@alternation_unique _ _ _ _ _ s kW kL pi iW iL eps lpi e0 min).
- move=> mu k N lmu mu_N; split; last exact: (@alternation_converges _ _ _ _ _ s kW kL pi iW iL eps lpi e0 min).
  by rewrite -(tv_ext (fun _ => erefl) (output_marginal alpha lm_model k)) tv_marginal_le.
move=> mu eta lmu eta0; apply: (bound_vanishes e0 e1 eta0 lmu); first exact: Pi_law.
by move=> N; apply: (@alternation_converges _ _ _ _ _ s kW kL pi iW iL eps lpi e0 min).
Qed.

End FixedHorizonAlternation.
