(** Structural bias of truncating PPT (thm:ppt-structural-bias).

    [S] is the finite comparison space, [short] the set B of records of length at
    most h, [L k] any local kernel at rung k (the truncating one), [C] any exchange
    sweep that only exchanges or keeps records, K = n+1 rungs, n_local >= 1,
    n_sweep >= 0.  [pi k] is the target at rung k, extended by zero to S.

    - [long_count X]      V(X), the number of long records
    - [crossing k nu]     D_k(nu)
    - [long_mass k]       b_k                                                    *)
From mathcomp Require Import all_ssreflect all_algebra all_fingroup.
From Tempera Require Import markov convergence_geometric structural_bias_rearranging.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section StructuralBias.
Variables (R : realFieldType) (S : finType) (n : nat) (short : pred S).
Local Notation K := n.+1.
Local Notation state := {ffun 'I_n.+1 -> S}.
Implicit Types (mu nu : state -> R) (X Y : state) (k : 'I_n.+1).

Definition long_count X : R := \sum_k (~~ short (X k))%:R.

Definition expect (T : finType) (mu : T -> R) (f : T -> R) : R := \sum_x mu x * f x.

(** At least one long record. *)
Definition some_long : pred state := fun X => [exists k, ~~ short (X k)].

Variables (L : 'I_n.+1 -> S -> S -> R) (pi : 'I_n.+1 -> S -> R).
Variables (C : state -> state -> R) (n_local n_sweep : nat).

Definition long_mass k : R := prob (pi k) (predC short).
Definition crossing k (nu : S -> R) : R := \sum_(x | ~~ short x) nu x * prob (L k x) short.
Definition target_flow k : R := crossing k (pi k).
Definition truncated_round := compk (iterk n_local (prodk L)) (iterk n_sweep C).

Local Notation Pi := (product pi).
Local Notation P := truncated_round.
Local Notation V := long_count.

Hypothesis L_kernel : forall k, kernel (L k).
Hypothesis C_kernel : kernel C.
Hypothesis C_rearranges : rearranges C.
Hypothesis pi_law : forall k, law (pi k).
Hypothesis n_local_positive : (0 < n_local)%N.

(** Local updates never lengthen a record past the threshold. *)
Hypothesis closed : forall k x, short x -> prob (L k x) short = 1.

(** *** Expectations *)

Lemma expect_act (T : finType) (mu : T -> R) (Q : T -> T -> R) f :
  expect (act mu Q) f = expect mu (fun x => expect (Q x) f).
Proof.
rewrite /expect /act; under eq_bigr do rewrite mulr_suml.
rewrite exchange_big /=; apply: eq_bigr => x _; rewrite mulr_sumr.
by apply: eq_bigr => y _; rewrite mulrA.
Qed.

Lemma expect_ext (T : finType) (mu nu : T -> R) f : mu =1 nu -> expect mu f = expect nu f.
Proof. by move=> e; apply: eq_bigr => x _; rewrite e. Qed.

Lemma expect_le (T : finType) (mu : T -> R) f g :
  (forall x, 0 <= mu x) -> (forall x, f x <= g x) -> expect mu f <= expect mu g.
Proof. by move=> mu0 fg; apply: ler_sum => x _; rewrite ler_wpmul2l. Qed.

Lemma expect_coordinate mu k (f : S -> R) :
  expect mu (fun X => f (X k)) = expect (marginal k mu) f.
Proof.
rewrite /expect (partition_big (fun X : state => X k) xpredT) //=.
apply: eq_bigr => x _; rewrite /marginal mulr_suml.
by apply: eq_bigr => X /eqP ->.
Qed.

Lemma expect_indicator (T : finType) (mu : T -> R) (A : pred T) :
  expect mu (fun x => (A x)%:R) = prob mu A.
Proof.
rewrite /expect /prob [RHS]big_mkcond; apply: eq_bigr => x _.
by case: (A x); rewrite ?mulr1 ?mulr0.
Qed.

Lemma expect_long mu : expect mu V = \sum_k prob (marginal k mu) (predC short).
Proof.
rewrite /expect /long_count; under eq_bigr do rewrite mulr_sumr.
rewrite exchange_big /=; apply: eq_bigr => k _.
by rewrite -expect_indicator -(expect_coordinate mu k (fun x => (~~ short x)%:R)).
Qed.

Lemma long_count_ge0 X : 0 <= V X.
Proof. by apply: sumr_ge0 => k _; rewrite ler0n. Qed.

Lemma long_count_leK X : V X <= K%:R.
Proof.
rewrite -[X in _ <= X%:R](card_ord K) -sum1_card natr_sum; apply: ler_sum => k _.
by rewrite lern1 leq_b1.
Qed.

Lemma expect_long_leK mu : law mu -> expect mu V <= K%:R.
Proof.
case=> mu0 mu1; have -> : K%:R = \sum_X mu X * K%:R by rewrite -mulr_suml mu1 mul1r.
by apply: ler_sum => X _; rewrite ler_wpmul2l // long_count_leK.
Qed.

(** Pr(some long record) <= E V, and each rung's long mass <= E V. *)
Lemma some_long_le mu : (forall X, 0 <= mu X) -> prob mu some_long <= expect mu V.
Proof.
move=> mu0; rewrite -expect_indicator; apply: expect_le => // X.
rewrite /some_long /=; case: existsP => [[k long]|_]; last exact: long_count_ge0.
by rewrite /long_count (bigD1 k) //= long ler_addl sumr_ge0 // => j _; rewrite ler0n.
Qed.

Lemma rung_long_le mu k : (forall X, 0 <= mu X) ->
  prob (marginal k mu) (predC short) <= expect mu V.
Proof.
move=> mu0; rewrite expect_long (bigD1 k) //= ler_addl sumr_ge0 // => j _.
by apply: sumr_ge0 => x _; apply: sumr_ge0.
Qed.

(** *** Swaps preserve V *)

Lemma long_count_rearranged X (s : {perm 'I_n.+1}) : V [ffun i => X (s i)] = V X.
Proof.
rewrite /long_count [RHS](reindex_inj (@perm_inj _ s)) /=.
by apply: eq_bigr => i _; rewrite ffunE.
Qed.

Lemma swaps_preserve_count mu Q : kernel Q -> rearranges Q ->
  expect (act mu Q) V = expect mu V.
Proof.
move=> Q_kernel rQ; rewrite expect_act; apply: eq_bigr => X _; congr (_ * _).
rewrite -[RHS]mul1r -(proj2 (Q_kernel X)) mulr_suml; apply: eq_bigr => Y _.
have [->|/rQ[s ->]] := eqVneq (Q X Y) 0; first by rewrite !mul0r.
by rewrite long_count_rearranged.
Qed.

(** *** One local sweep *)

Lemma expect_sweep X : expect (prodk L X) V = \sum_k prob (L k (X k)) (predC short).
Proof.
rewrite expect_long; apply: eq_bigr => k _; apply: eq_bigr => x _.
exact: (marginal_product k (fun j => L_kernel j (X j)) x).
Qed.

Lemma long_after k x : prob (L k x) (predC short) = 1 - prob (L k x) short.
Proof. by apply: probC; apply: L_kernel. Qed.

(** (nu L_k)(B^c) = nu(B^c) - D_k(nu) *)
Theorem crossing_identity k (nu : S -> R) :
  prob (act nu (L k)) (predC short) = prob nu (predC short) - crossing k nu.
Proof.
have after x : expect (L k x) (fun y => (~~ short y)%:R) = 1 - prob (L k x) short.
  by rewrite -long_after -expect_indicator.
rewrite -expect_indicator expect_act /crossing /prob -sumrB /expect.
rewrite (bigID short) /= big1 => [|x sx]; last first.
  by rewrite [X in _ * X]after closed // subrr mulr0.
rewrite add0r; apply: eq_bigr => x nsx.
by rewrite [X in _ * X]after mulrBr mulr1.
Qed.

Lemma sweep_never_adds mu : (forall X, 0 <= mu X) ->
  expect (act mu (prodk L)) V <= expect mu V.
Proof.
move=> mu0; rewrite expect_act; apply: expect_le => // X.
rewrite expect_sweep; apply: ler_sum => k _; rewrite long_after.
have [sx|_] := boolP (short (X k)); first by rewrite closed // subrr.
by rewrite ler_subl_addl ler_addr; apply: prob_ge0; apply: L_kernel.
Qed.

Let sweep_kernel : kernel (prodk L).
Proof. exact: kernel_prodk. Qed.

Let P_kernel : kernel P.
Proof. by apply: kernel_compk; apply: kernel_iterk. Qed.

Lemma round_count mu : expect (act mu P) V = expect (run n_local mu (prodk L)) V.
Proof.
rewrite (expect_ext _ (act_compk _ _ _)) swaps_preserve_count.
- by rewrite (expect_ext _ (act_iterk _ _ _)).
- exact: kernel_iterk.
exact: rearranges_iterk.
Qed.

Lemma sweeps_never_add mu m : law mu -> expect (run m mu (prodk L)) V <= expect mu V.
Proof.
move=> mu_law; elim: m => [//|m IH]; rewrite runS; apply: le_trans IH.
by apply: sweep_never_adds; case: (law_run m mu_law sweep_kernel).
Qed.

Lemma run_split mu m : run m.+1 mu (prodk L) = run m (act mu (prodk L)) (prodk L).
Proof. by rewrite /run iterSr. Qed.

(** A round is at least as good as its first sweep. *)
Lemma round_first_sweep mu : law mu ->
  expect (act mu P) V <= expect (act mu (prodk L)) V.
Proof.
move=> mu_law; rewrite round_count; case: n_local n_local_positive => // m _.
by rewrite run_split; apply: sweeps_never_add; apply: law_act.
Qed.

(** *** The target's flow *)

Lemma Pi_law : law Pi.
Proof. exact: law_product. Qed.

Lemma expect_Pi : expect Pi V = \sum_k long_mass k.
Proof.
rewrite expect_long; apply: eq_bigr => k _; apply: eq_bigr => x _.
exact: marginal_product.
Qed.

(** E_Pi V - E_{Pi P} V >= sum_k phi_k *)
Theorem expected_count_drop : \sum_k target_flow k <= expect Pi V - expect (act Pi P) V.
Proof.
rewrite ler_subr_addl -ler_subr_addr; apply: le_trans (round_first_sweep Pi_law) _.
rewrite (expect_ext _ (act_prodk pi L)) expect_long expect_Pi -sumrB.
apply: ler_sum => k _; rewrite -crossing_identity le_eqVlt; apply/orP; left; apply/eqP.
by apply: eq_bigr => x _; apply: marginal_product => j; apply: law_act.
Qed.

(** V lies in [0, K], so its means differ by at most K TV. *)
Lemma expect_long_tv mu nu : law mu -> law nu ->
  expect mu V - expect nu V <= K%:R * tv mu nu.
Proof.
move=> [mu0 mu1] [nu0 nu1]; pose h : R := K%:R / 2%:R.
have -> : expect mu V - expect nu V = \sum_X (mu X - nu X) * (V X - h).
  under eq_bigr do rewrite mulrBr mulrBl.
  by rewrite !sumrB -mulr_suml sumrB mu1 nu1 subrr mul0r subr0.
apply: le_trans (ler_norm _) _; apply: le_trans (ler_norm_sum _ _ _) _.
have -> : K%:R * tv mu nu = \sum_X `|mu X - nu X| * h.
  by rewrite /tv mulrCA mulrA -mulr_suml mulrC [_ * K%:R]mulrC.
apply: ler_sum => X _; rewrite normrM ler_wpmul2l // ler_norml.
have halves : h + h = K%:R by rewrite /h -mulrDl -mulr2n -[_ *+ 2]mulr_natr mulfK ?pnatr_eq0.
rewrite ler_subr_addl subrr long_count_ge0 ler_subl_addr halves.
exact: long_count_leK.
Qed.

(** TV(Pi P, Pi) >= (1/K) sum_k phi_k *)
Theorem flow_bound : K%:R^-1 * (\sum_k target_flow k) <= tv (act Pi P) Pi.
Proof.
rewrite mulrC ler_pdivr_mulr ?ltr0n // mulrC.
apply: le_trans expected_count_drop _; rewrite tv_sym.
by apply: expect_long_tv; [exact: Pi_law | exact: law_act Pi_law P_kernel].
Qed.

(** Positive shortening flow at the target violates invariance. *)
Corollary positive_flow_not_invariant : 0 < \sum_k target_flow k -> ~ invariant Pi P.
Proof.
move=> flow inv; have := flow_bound; rewrite (tv_ext inv (fun _ => erefl)) tv_refl.
by rewrite leNgt pmulr_rgt0 ?invr_gt0 ?ltr0n // flow.
Qed.

(** *** Uniform accepted entry *)
Variable delta : R.
Hypothesis delta_le1 : delta <= 1.
Hypothesis delta_positive : 0 < delta.
(** eq:ppt-local-confinement, with [closed]. *)
Hypothesis entry : forall k x, ~~ short x -> delta <= prob (L k x) short.

Let rate_ge0 : 0 <= 1 - delta. Proof. by rewrite subr_ge0. Qed.

Lemma sweep_contracts mu : (forall X, 0 <= mu X) ->
  expect (act mu (prodk L)) V <= (1 - delta) * expect mu V.
Proof.
move=> mu0; rewrite expect_act [X in _ <= _ * X]/expect mulr_sumr; apply: ler_sum => X _.
rewrite mulrCA ler_wpmul2l // expect_sweep mulr_sumr; apply: ler_sum => k _.
rewrite long_after; have [sx|nsx] := boolP (short (X k)).
  by rewrite closed // subrr mulr0.
by rewrite mulr1 ler_add2l ler_opp2 entry.
Qed.

Lemma round_contracts_count mu : law mu ->
  expect (act mu P) V <= (1 - delta) * expect mu V.
Proof.
move=> mu_law; apply: le_trans (round_first_sweep mu_law) _.
by apply: sweep_contracts; case: mu_law.
Qed.

(** E_{mu_N} V <= K (1 - delta)^N *)
Theorem expected_count_bound mu N : law mu ->
  expect (run N mu P) V <= K%:R * (1 - delta) ^+ N.
Proof.
move=> mu_law; elim: N => [|N IH]; first by rewrite expr0 mulr1 expect_long_leK.
rewrite runS; apply: le_trans (round_contracts_count (law_run N mu_law P_kernel)) _.
by rewrite exprS mulrCA ler_wpmul2l.
Qed.

(** A record at one rung is long less often than some record is, and that no more often than the
    number of long records counts on average, which the bound above drives to zero. *)
Theorem long_record_argument mu N k : law mu ->
  [/\ prob (marginal k (run N mu P)) (predC short) <= prob (run N mu P) some_long,
      prob (run N mu P) some_long <= expect (run N mu P) V
    & expect (run N mu P) V <= K%:R * (1 - delta) ^+ N].
Proof.
move=> mu_law; have [run_ge0 _] := law_run N mu_law P_kernel.
split; [|exact: some_long_le | exact: expected_count_bound].
rewrite -!expect_indicator -expect_coordinate; apply: expect_le => // X.
rewrite ler_nat; case: (boolP (predC short (X k))) => //= long.
by rewrite lt0b; apply/existsP; exists k.
Qed.

(** Pi((B^K)^c) = 1 - prod_k (1 - b_k) *)
Lemma target_some_long : prob Pi some_long = 1 - \prod_k (1 - long_mass k).
Proof.
have -> : \prod_k (1 - long_mass k) = prob Pi (predC some_long).
  under eq_bigr do rewrite /long_mass probC // opprB addrC subrK.
  rewrite /prob; under eq_bigr do rewrite big_mkcond.
  rewrite (bigA_distr_bigA (fun k x => if short x then pi k x else 0)) [RHS]big_mkcond /=.
  apply: eq_bigr => X _; rewrite /product; case: (boolP (some_long X)) => [/existsP[k long]|/existsP none] /=.
    by rewrite (bigD1 k) //= (negbTE long) mul0r.
  apply: eq_bigr => k _; case: ifP => // /negbT long; case: none; exists k; exact: long.
by rewrite (probC some_long Pi_law) opprB [RHS]addrC subrK.
Qed.

(** eq:ppt-joint-bias-lower *)
Theorem joint_bias mu N : law mu ->
  Num.max (1 - \prod_k (1 - long_mass k) - K%:R * (1 - delta) ^+ N) 0
    <= tv (run N mu P) Pi.
Proof.
move=> mu_law; have run_law := law_run N mu_law P_kernel.
rewrite le_maxl tv_ge0 andbT; apply: le_trans (tv_event some_long run_law Pi_law).
rewrite distrC; apply: le_trans (ler_norm _); rewrite -target_some_long ler_add2l ler_opp2.
apply: le_trans (expected_count_bound N mu_law); apply: some_long_le.
by case: run_law.
Qed.

(** eq:ppt-output-bias-lower *)
Theorem output_bias mu N k : law mu ->
  Num.max (long_mass k - K%:R * (1 - delta) ^+ N) 0
    <= tv (marginal k (run N mu P)) (pi k).
Proof.
move=> mu_law; have run_law := law_run N mu_law P_kernel.
rewrite le_maxl tv_ge0 andbT.
apply: le_trans (tv_event (predC short) (law_marginal k run_law) (pi_law k)).
rewrite distrC; apply: le_trans (ler_norm _); rewrite ler_add2l ler_opp2.
apply: le_trans (expected_count_bound N mu_law); apply: rung_long_le.
by case: run_law.
Qed.

(** A positive long mass at any rung is enough: one round from Pi leaves Pi. *)
Theorem long_mass_not_invariant : 0 < \sum_k long_mass k -> ~ invariant Pi P.
Proof.
move=> mass; apply: positive_flow_not_invariant.
apply: lt_le_trans (mulr_gt0 delta_positive mass) _; rewrite mulr_sumr.
apply: ler_sum => k _; rewrite /long_mass /target_flow /crossing /prob mulr_sumr.
by apply: ler_sum => x nsx; rewrite mulrC ler_wpmul2l ?entry //; case: (pi_law k).
Qed.

End StructuralBias.

(** thm:ppt-structural-bias, both finite-N bounds. *)
Theorem ppt_structural_bias (R : realFieldType) (S : finType) (n : nat) (short : pred S)
    (L : 'I_n.+1 -> S -> S -> R) (pi : 'I_n.+1 -> S -> R)
    (C : {ffun 'I_n.+1 -> S} -> {ffun 'I_n.+1 -> S} -> R) (n_local n_sweep : nat)
    (delta : R) (mu : {ffun 'I_n.+1 -> S} -> R) (N : nat) :
  (forall k, kernel (L k)) -> kernel C -> rearranges C -> (forall k, law (pi k)) ->
  (0 < n_local)%N -> 0 < delta <= 1 ->
  (forall k x, short x -> prob (L k x) short = 1) ->
  (forall k x, ~~ short x -> delta <= prob (L k x) short) ->
  law mu ->
  let b := long_mass short pi in
  let mu_N := run N mu (truncated_round L C n_local n_sweep) in
  Num.max (1 - \prod_k (1 - b k) - n.+1%:R * (1 - delta) ^+ N) 0 <= tv mu_N (product pi)
  /\ forall k, Num.max (b k - n.+1%:R * (1 - delta) ^+ N) 0 <= tv (marginal k mu_N) (pi k).
Proof.
move=> kL kC rC lpi nl /andP[d0 d1] closed entry lmu b mu_N.
by split=> [|k]; [apply: joint_bias | apply: output_bias].
Qed.

(** The asymptotic floors: eventually above every smaller number. *)
Theorem structural_bias_floors (R : archiFieldType) (S : finType) (n : nat) (short : pred S)
    (L : 'I_n.+1 -> S -> S -> R) (pi : 'I_n.+1 -> S -> R)
    (C : {ffun 'I_n.+1 -> S} -> {ffun 'I_n.+1 -> S} -> R) (n_local n_sweep : nat)
    (delta : R) (mu : {ffun 'I_n.+1 -> S} -> R) (eta : R) :
  (forall k, kernel (L k)) -> kernel C -> rearranges C -> (forall k, law (pi k)) ->
  (0 < n_local)%N -> 0 < delta <= 1 ->
  (forall k x, short x -> prob (L k x) short = 1) ->
  (forall k x, ~~ short x -> delta <= prob (L k x) short) ->
  law mu -> 0 < eta ->
  let b := long_mass short pi in
  let mu_ N := run N mu (truncated_round L C n_local n_sweep) in
  exists N0, forall N, (N0 <= N)%N ->
    1 - \prod_k (1 - b k) - eta <= tv (mu_ N) (product pi)
    /\ forall k, b k - eta <= tv (marginal k (mu_ N)) (pi k).
Proof.
move=> kL kC rC lpi nl d01 closed entry lmu eta0 b mu_.
have /andP[d0 d1] := d01.
have c0 : 0 <= 1 - delta by rewrite subr_ge0.
have c1 : 1 - delta < 1 by rewrite ltr_subl_addl ltr_addr.
have [N0 small] := power_vanishes (introT andP (conj c0 c1)) (divr_gt0 eta0 (ltr0Sn R n)).
exists N0 => N leN; have below : n.+1%:R * (1 - delta) ^+ N <= eta.
  rewrite mulrC -ler_pdivl_mulr ?ltr0n //; apply: le_trans (ltW small).
  by rewrite -(subnK leN) exprD ler_pimull ?exprn_ge0 // exprn_ile1 // ltW.
have [joint output] := @ppt_structural_bias _ _ _ short L pi C n_local n_sweep delta mu N
  kL kC rC lpi nl d01 closed entry lmu.
split=> [|k].
  apply: le_trans joint; rewrite le_maxr; apply/orP; left.
  by rewrite ler_add2l ler_opp2.
apply: le_trans (output k); rewrite le_maxr; apply/orP; left.
by rewrite ler_add2l ler_opp2.
Qed.
