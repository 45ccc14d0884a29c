(** Minorization and contraction in total variation.

    A kernel M that leaves Pi invariant and satisfies M x y >= eps * Pi y for all
    x and y brings every law closer to Pi by the factor 1 - eps.  The local MH
    kernels with a full restart satisfy this with eps_k = omega_k(1) min q / pi. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov convergence_geometric.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Contraction.
Variables (R : realFieldType) (S : finType) (Pi : S -> R) (M : S -> S -> R) (eps : R).
Hypothesis Pi_law : law Pi.
Hypothesis M_kernel : kernel M.
Hypothesis M_invariant : invariant Pi M.
Hypothesis minorized : forall x y, eps * Pi y <= M x y.

Lemma minorization_le1 : eps <= 1.
Proof.
have [x _|S0] := pickP S; last first.
  by have [_] := Pi_law; rewrite big_pred0 // => /eqP; rewrite eq_sym oner_eq0.
apply: (@le_trans _ _ (\sum_y eps * Pi y)).
  by rewrite -mulr_sumr (proj2 Pi_law) mulr1.
by rewrite -(proj2 (M_kernel x)); apply: ler_sum.
Qed.

(** One step contracts by 1 - eps: the component eps * Pi is common to all rows. *)
Theorem minorization_contracts nu : law nu -> tv (act nu M) Pi <= (1 - eps) * tv nu Pi.
Proof.
move=> nu_law; rewrite /tv mulrCA ler_wpmul2l ?invr_ge0 ?ler0n //.
apply: (@le_trans _ _ (\sum_y \sum_x `|nu x - Pi x| * (M x y - eps * Pi y))).
  apply: ler_sum => y _.
  have -> : act nu M y - Pi y = \sum_x (nu x - Pi x) * (M x y - eps * Pi y).
    under eq_bigr do rewrite mulrBr mulrBl.
    rewrite sumrB sumrB -mulr_suml sumrB (proj2 nu_law) (proj2 Pi_law) subrr mul0r subr0.
    by rewrite -[X in _ - X](M_invariant y).
  apply: le_trans (ler_norm_sum _ _ _) _; apply: ler_sum => x _.
  by rewrite normrM [X in _ * X]ger0_norm // subr_ge0.
rewrite exchange_big /= mulr_sumr; apply: ler_sum => x _.
by rewrite -mulr_sumr sumrB -mulr_sumr (proj2 (M_kernel x)) (proj2 Pi_law) mulr1 mulrC.
Qed.

(** Rounds of at least one such step, followed by anything that keeps Pi. *)
Variables (C : S -> S -> R) (n_local : nat).
Hypothesis C_kernel : kernel C.
Hypothesis C_invariant : invariant Pi C.
Hypothesis n_local_positive : (0 < n_local)%N.
Hypothesis eps_positive : 0 < eps.

Let P := compk (iterk n_local M) C.

Lemma round_kernel : kernel P.
Proof. by apply: kernel_compk => //; apply: kernel_iterk. Qed.

Lemma round_invariant : invariant Pi P.
Proof. by apply: invariant_compk => //; apply: invariant_iterk. Qed.

Lemma sweeps_contract n nu : law nu -> tv (run n nu M) Pi <= (1 - eps) ^+ n * tv nu Pi.
Proof.
move=> nu_law; elim: n => [|n IH]; first by rewrite expr0 mul1r.
rewrite runS exprS -mulrA.
apply: le_trans (minorization_contracts (law_run n nu_law M_kernel)) _.
by rewrite ler_wpmul2l // subr_ge0 minorization_le1.
Qed.

Lemma round_contracts nu : law nu -> tv (act nu P) Pi <= (1 - eps) * tv nu Pi.
Proof.
move=> nu_law; rewrite (tv_ext (act_compk _ _ _) (fun y => esym (C_invariant y))).
apply: le_trans (tv_act_le _ _ C_kernel) _.
rewrite (tv_ext (act_iterk _ _ _) (fun _ => erefl)).
case: n_local n_local_positive => // m _; apply: le_trans (sweeps_contract _ nu_law) _.
have c0 : 0 <= 1 - eps by rewrite subr_ge0 minorization_le1.
rewrite exprSr -mulrA; apply: ler_pimull; first by rewrite mulr_ge0 ?tv_ge0.
by apply: exprn_ile1 => //; rewrite ler_subl_addl ler_addr ltW.
Qed.

(** TV(mu_N, Pi) <= (1 - eps)^N TV(mu_0, Pi). *)
Theorem rounds_contract N mu : law mu -> tv (run N mu P) Pi <= (1 - eps) ^+ N * tv mu Pi.
Proof.
move=> mu_law; elim: N => [|N IH]; first by rewrite expr0 mul1r.
rewrite runS exprS -mulrA.
apply: le_trans (round_contracts (law_run N mu_law round_kernel)) _.
by rewrite ler_wpmul2l // subr_ge0 minorization_le1.
Qed.

(** Pi is the only invariant law of P. *)
Theorem round_unique_invariant nu : law nu -> invariant nu P -> nu =1 Pi.
Proof.
move=> nu_law nuP; apply: tv_eq0; apply/eqP; rewrite eq_le tv_ge0 andbT.
have := round_contracts nu_law; rewrite (tv_ext nuP (fun _ => erefl)).
by rewrite mulrBl mul1r -subr_ge0 addrAC subrr add0r oppr_ge0 pmulr_rle0.
Qed.

End Contraction.

(** Convergence from every initial law. *)
Theorem rounds_converge (R : archiFieldType) (S : finType) (Pi : S -> R)
    (P : S -> S -> R) (eps eta : R) mu :
  0 < eps -> eps <= 1 -> 0 < eta -> law mu -> law Pi ->
  (forall N, tv (run N mu P) Pi <= (1 - eps) ^+ N * tv mu Pi) ->
  exists N0, forall N, (N0 <= N)%N -> tv (run N mu P) Pi < eta.
Proof.
move=> eps0 eps1 eta0 mu_law Pi_law bound.
have c0 : 0 <= 1 - eps by rewrite subr_ge0.
have c1 : 1 - eps < 1 by rewrite ltr_subl_addl ltr_addr.
have [N0 small] := power_vanishes (introT andP (conj c0 c1)) eta0.
exists N0 => N leN; apply: le_lt_trans (bound N) _.
apply: le_lt_trans small; rewrite -(subnK leN) exprD -mulrA.
have tv1 : tv mu Pi <= 1.
  rewrite tv_attained //; apply: (@le_trans _ _ (prob mu (fun x => Pi x <= mu x))).
    by rewrite ler_subl_addl ler_addr prob_ge0.
  exact: prob_le1.
apply: (@le_trans _ _ ((1 - eps) ^+ N0 * tv mu Pi)).
  apply: ler_pimull; first by rewrite mulr_ge0 ?exprn_ge0 ?tv_ge0.
  by apply: exprn_ile1 => //; apply: ltW.
by apply: ler_pimulr; rewrite ?exprn_ge0.
Qed.

(** ** The local kernels *)
Section FullRestart.
Variables (R : realFieldType) (S J : finType) (pi q_full : S -> R).
Variables (omega : J -> R) (q : J -> S -> S -> R) (full : J).

(** min_y q_full(y) / pi(y); it is at most one, as both are laws. *)
Definition coverage : R := \big[Num.min/1]_y (q_full y / pi y).

(** eps_k = omega_k(1) min_y q_full(y) / pi(y) *)
Definition restart_weight : R := omega full * coverage.

Lemma coverage_le y : coverage <= q_full y / pi y.
Proof.
rewrite /coverage; elim: (index_enum S) (mem_index_enum y) => [//|x s IH].
rewrite inE big_cons le_minl => /predU1P[->|/IH ->]; by rewrite ?lexx ?orbT.
Qed.

Hypothesis pi_law : law pi.
Hypothesis pi_positive : forall y, 0 < pi y.
Hypothesis omega_law : law omega.
Hypothesis q_kernel : forall r, kernel (q r).
(** A full restart proposes the same law from every record. *)
Hypothesis q_full_restart : forall x y, q full x y = q_full y.
Hypothesis q_full_positive : forall y, 0 < q_full y.
Hypothesis omega_full : 0 < omega full.

Lemma coverage_positive : 0 < coverage.
Proof.
rewrite /coverage; apply: (big_ind (fun u => 0 < u)) => [|u v u0 v0|y _].
- exact: ltr01.
- by rewrite lt_minr u0.
exact: divr_gt0.
Qed.

(** The minimum is attained, so [coverage] is the paper's minimum ratio. *)
Lemma coverage_attained : exists y, coverage = q_full y / pi y.
Proof.
have [x0 _|S0] := pickP S; last first.
  by have [_] := pi_law; rewrite big_pred0 // => /eqP; rewrite eq_sym oner_eq0.
have [y _ ymin] := arg_minP (fun y => q_full y / pi y) (erefl true : xpredT x0).
exists y; apply/eqP; rewrite eq_le coverage_le /=.
have below1 : q_full y / pi y <= 1.
  rewrite leNgt; apply/negP => above.
  have : \sum_x pi x < \sum_x q_full x.
    have ge x : pi x < q_full x.
      rewrite -[pi x]mul1r -ltr_pdivl_mulr //; exact: lt_le_trans (ymin x isT).
    rewrite (bigD1 x0) //= [X in _ < X](bigD1 x0) //=; apply: ltr_le_add => //.
    by apply: ler_sum => x _; apply: ltW.
  have -> : \sum_x q_full x = 1.
    by rewrite -(proj2 (q_kernel full x0)); apply: eq_bigr => x _; rewrite q_full_restart.
  by rewrite (proj2 pi_law) ltxx.
rewrite /coverage; elim: (index_enum S) => [|x s IH]; first by rewrite big_nil.
by rewrite big_cons le_minr ymin.
Qed.

Lemma restart_weight_positive : 0 < restart_weight.
Proof. by rewrite mulr_gt0 ?coverage_positive. Qed.

Lemma mh_full_ge x y : coverage * pi y <= mh pi (q full) x y.
Proof.
have pi_ge0 z : 0 <= pi z by apply: ltW.
have cover z : coverage * pi z <= q_full z.
  by rewrite -ler_pdivl_mulr // coverage_le.
have [->|yx] := eqVneq y x.
  apply: le_trans (mh_diag x pi_ge0 (q_kernel full)).
  by rewrite q_full_restart cover.
rewrite -(ler_pmul2l (pi_positive x)) mh_flow //; last by move=> z t; case: (q_kernel full z).
rewrite !q_full_restart le_minr ler_pmul2l // cover /=.
rewrite mulrCA [pi x * _]mulrC mulrCA.
by rewrite ler_pmul2l // cover.
Qed.

(** L_k(x, y) >= eps_k pi_k(y) *)
Theorem full_restart_minorizes x y :
  restart_weight * pi y <= mixk omega (fun r => mh pi (q r)) x y.
Proof.
have pi_ge0 z : 0 <= pi z by apply: ltW.
rewrite /mixk (bigD1 full) //= /restart_weight -mulrA.
apply: (@le_trans _ _ (omega full * mh pi (q full) x y)).
  by rewrite ler_pmul2l // mh_full_ge.
rewrite ler_addl; apply: sumr_ge0 => r _; rewrite mulr_ge0 //; first by case: omega_law.
by case: (mh_kernel pi_ge0 (q_kernel r) x).
Qed.

End FullRestart.

(** Independence across rungs multiplies the weights. *)
Theorem product_minorizes (R : realFieldType) (I S : finType) (pi : I -> S -> R)
    (L : I -> S -> S -> R) (eps : I -> R) (X Y : {ffun I -> S}) :
  (forall i, 0 <= eps i) -> (forall i y, 0 <= pi i y) ->
  (forall i x y, eps i * pi i y <= L i x y) ->
  (\prod_i eps i) * product pi Y <= prodk L X Y.
Proof.
move=> eps0 pi0 le; rewrite /product /prodk -big_split /=.
by apply: ler_prod => i _; rewrite le mulr_ge0.
Qed.
