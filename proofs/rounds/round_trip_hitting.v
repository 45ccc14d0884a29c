(** Expected hitting times of a finite Markov chain, from the first-step equations.

    For a chain with transition probabilities [P] and a set of target states, the
    expected number of steps to the target satisfies h = 0 on the target and
    h x = 1 + sum_y P x y * h y elsewhere ([hitting_equations]).  Where the target
    can be approached from every state the equations have at most one solution
    ([hitting_equations_unique]), and that solution is the expected hitting time
    itself: the partial sums of sum_m Pr(T > m) are below it and come within every
    positive distance of it ([hitting_mean_upper], [hitting_mean_limit]). *)
From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov convergence_geometric.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Hitting.
Variables (R : realFieldType) (S : finType).
Implicit Types (P : S -> S -> R) (target : pred S) (h : S -> R).

(** First-step equations of the expected hitting time. *)
Definition hitting_equations P target h :=
  forall x, h x = if target x then 0 else 1 + \sum_y P x y * h y.

(** Every state off the target has a positive step to a state of lower rank. *)
Definition approaches P target (rank : S -> nat) :=
  forall x, ~~ target x -> exists2 y, 0 < P x y & (rank y < rank x)%N.

(** Pr(T > m), T the first time at which the chain is in the target. *)
Fixpoint survival P target (m : nat) (x : S) : R :=
  if target x then 0 else
  if m is m'.+1 then \sum_y P x y * survival P target m' y else 1.

(** [h x] is the expectation of T: the sum over m of Pr(T > m). *)
Definition expected_hitting_time P target (x : S) (value : R) :=
  (forall N, \sum_(m < N) survival P target m x <= value) /\
  (forall eta, 0 < eta -> exists N0, forall N, (N0 <= N)%N ->
     value - eta <= \sum_(m < N) survival P target m x).

Section Chain.
Variables (P : S -> S -> R) (target : pred S) (rank : S -> nat).
Hypothesis P_kernel : kernel P.
Hypothesis P_approaches : approaches P target rank.

Let P0 x y : 0 <= P x y. Proof. by case: (P_kernel x). Qed.
Let P1 x : \sum_y P x y = 1. Proof. by case: (P_kernel x). Qed.

(** The mean of a function below M is M only if all successors attain M. *)
Lemma mean_attains (f : S -> R) M x y :
  (forall z, f z <= M) -> M <= \sum_z P x z * f z -> 0 < P x y -> f y = M.
Proof.
move=> fM Mle Pxy.
have gap0 z : 0 <= P x z * (M - f z) by rewrite mulr_ge0 ?P0 // subr_ge0.
have : \sum_z P x z * (M - f z) <= 0.
  have -> : \sum_z P x z * (M - f z) = M - \sum_z P x z * f z.
    rewrite -[in RHS](mul1r M) -(P1 x) mulr_suml -sumrB.
    by apply: eq_bigr => z _; rewrite mulrBr.
  by rewrite subr_le0.
rewrite (bigD1 y) //= => sum0.
have le0 : P x y * (M - f y) <= 0.
  by apply: le_trans sum0; rewrite ler_addl sumr_ge0.
have /eqP : P x y * (M - f y) = 0 by apply/eqP; rewrite eq_le le0 gap0.
by rewrite mulf_eq0 (gt_eqF Pxy) /= subr_eq0 => /eqP.
Qed.

(** A function that is zero on the target and its own mean elsewhere is zero. *)
Lemma harmonic_zero (d : S -> R) :
  (forall x, d x = if target x then 0 else \sum_y P x y * d y) -> forall x, d x = 0.
Proof.
move=> dE x.
have [xm _ xmax] := arg_maxP (fun z => `|d z|) (erefl true : xpredT x).
set M := `|d xm| in xmax.
have M0 z : `|d z| = M -> M = 0.
  elim: {z}(rank z).+1 {-2}z (leqnn (rank z).+1) => // k IH z; rewrite ltnS => kz dz.
  case: (boolP (target z)) => [tz|ntz]; first by rewrite -dz dE tz normr0.
  have [y Pzy ry] := P_approaches ntz.
  apply: (IH y); first exact: leq_trans ry kz.
  apply: (@mean_attains (fun z => `|d z|) M z) => //; first by move=> w; exact: xmax.
  rewrite -dz dE (negbTE ntz); apply: le_trans (ler_norm_sum _ _ _) _.
  by apply: ler_sum => w _; rewrite normrM (ger0_norm (P0 _ _)).
by apply/eqP; rewrite -normr_le0; apply: le_trans (xmax x isT) _; rewrite (M0 xm).
Qed.

Theorem hitting_equations_unique h h' :
  hitting_equations P target h -> hitting_equations P target h' -> h =1 h'.
Proof.
move=> hE h'E x; apply/eqP; rewrite -subr_eq0; apply/eqP.
apply: (harmonic_zero (d := fun z => h z - h' z)) => z.
rewrite hE h'E; case: ifP => _; first by rewrite subrr.
rewrite opprD addrACA subrr add0r -sumrB.
by apply: eq_bigr => y _; rewrite mulrBr.
Qed.

Lemma hitting_equations_ge0 h : hitting_equations P target h -> forall x, 0 <= h x.
Proof.
move=> hE x.
have [xm _ xmin] := arg_minP h (erefl true : xpredT x).
apply: le_trans (xmin x isT); rewrite hE; case: ifP => // ntxm.
rewrite leNgt; apply/negP => neg.
have : h xm >= 1 + h xm.
  rewrite [in X in _ <= X]hE ntxm ler_add2l -[h xm]mul1r -(P1 xm) mulr_suml.
  by apply: ler_sum => y _; rewrite ler_wpmul2l ?P0 ?xmin.
by rewrite -subr_ge0 opprD addrCA subrr addr0 oppr_ge0 ler10.
Qed.

Lemma survival_ge0 m x : 0 <= survival P target m x.
Proof.
elim: m x => [|m IH] x /=; case: ifP => _; rewrite ?ler01 //.
by apply: sumr_ge0 => y _; rewrite mulr_ge0.
Qed.

Lemma survival_le1 m x : survival P target m x <= 1.
Proof.
elim: m x => [|m IH] x /=; case: ifP => _; rewrite ?ler01 //.
rewrite -(P1 x); apply: ler_sum => y _.
by rewrite -[X in _ <= X]mulr1 ler_wpmul2l.
Qed.

Lemma survival_lt1 m x : (rank x <= m)%N -> survival P target m x < 1.
Proof.
elim: m x => [|m IH] x /= rx; case: ifP => [_|/negbT ntx]; rewrite ?ltr01 //.
  by have [y _] := P_approaches ntx; rewrite (eqP (_ : rank x == 0)%N) -?leqn0.
have [y Pxy ry] := P_approaches ntx.
rewrite -(P1 x) (bigD1 y) //= [X in _ < X](bigD1 y) //=.
apply: ltr_le_add.
  by rewrite -[X in _ < X]mulr1 ltr_pmul2l // IH // -ltnS (leq_trans ry).
by apply: ler_sum => z _; rewrite -[X in _ <= X]mulr1 ler_wpmul2l ?survival_le1.
Qed.

Lemma survival_add c k m x : (forall y, survival P target k y <= c) ->
  survival P target (m + k) x <= c * survival P target m x.
Proof.
move=> kc; elim: m x => [|m IH] x.
  rewrite add0n /=; case: ifP => tx; last by rewrite mulr1.
  by rewrite mulr0; case: k {kc} => [|k] /=; rewrite tx.
rewrite addSn /=; case: ifP => _; first by rewrite mulr0.
rewrite mulr_sumr; apply: ler_sum => y _.
by rewrite mulrCA ler_wpmul2l.
Qed.

(** What is left of h after N terms of the sum of Pr(T > m). *)
Lemma hitting_rest h N x : hitting_equations P target h ->
  h x - \sum_(m < N) survival P target m x =
  (if target x then 0 else
   if N is N'.+1 then \sum_y P x y * (h y - \sum_(m < N') survival P target m y) else h x).
Proof.
move=> hE; case: N => [|N].
  by rewrite big_ord0 subr0; case: ifP => // tx; rewrite hE tx.
rewrite hE; case: ifP => tx.
  by rewrite big1 ?subrr // => -[[|m] _] _ /=; rewrite tx.
rewrite big_ord_recl /= tx opprD addrACA subrr add0r.
rewrite exchange_big /= -sumrB; apply: eq_bigr => y _.
by rewrite mulrBr mulr_sumr.
Qed.

Theorem hitting_mean_upper h N x : hitting_equations P target h ->
  \sum_(m < N) survival P target m x <= h x.
Proof.
move=> hE; rewrite -subr_ge0.
elim: N x => [|N IH] x; rewrite hitting_rest //; case: ifP => // _.
  exact: hitting_equations_ge0.
by apply: sumr_ge0 => y _; rewrite mulr_ge0.
Qed.

Lemma hitting_rest_le h c N x : hitting_equations P target h -> (forall y, h y <= c) ->
  h x - \sum_(m < N) survival P target m x <= c * survival P target N x.
Proof.
move=> hE hc; elim: N x => [|N IH] x; rewrite hitting_rest //=.
  by case: ifP => // _; rewrite ?mulr0 ?mulr1.
case: ifP => _; first by rewrite mulr0.
rewrite mulr_sumr; apply: ler_sum => y _.
by rewrite mulrCA ler_wpmul2l.
Qed.

End Chain.
End Hitting.

Section Limit.
Variables (R : archiFieldType) (S : finType).
Variables (P : S -> S -> R) (target : pred S) (rank : S -> nat).
Hypothesis P_kernel : kernel P.
Hypothesis P_approaches : approaches P target rank.

Lemma survival_vanishes eta : 0 < eta ->
  exists N, forall x, survival P target N x < eta.
Proof.
move=> eta0; pose M := \max_x rank x.
have [x0|S0] := pickP S; last by exists 0%N => x; have := S0 x.
have [xm _ xmax] := arg_maxP (survival P target M) (erefl true : xpredT x0).
set c := survival P target M xm in xmax.
have c01 : 0 <= c < 1.
  by rewrite survival_ge0 //= (survival_lt1 P_kernel P_approaches) // leq_bigmax.
have [n cn] := power_vanishes c01 eta0.
exists (n * M)%N => x; apply: le_lt_trans cn.
elim: n x => [|n IH] x; first by rewrite expr0 survival_le1.
rewrite mulSn addnC exprS.
apply: le_trans (survival_add P_kernel _ _ (fun y => xmax y isT)) _.
by rewrite ler_wpmul2l //; case/andP: c01.
Qed.

(** The solution of the first-step equations is the expected hitting time. *)
Theorem hitting_mean_limit h x : hitting_equations P target h ->
  expected_hitting_time P target x (h x).
Proof.
move=> hE; split=> [N|eta eta0]; first exact: hitting_mean_upper.
have [xm _ xmax] := arg_maxP h (erefl true : xpredT x).
pose c := 1 + h xm.
have c0 : 0 < c.
  by apply: ltr_paddr; [exact: (hitting_equations_ge0 P_kernel hE) | exact: ltr01].
have hc y : h y <= c by apply: le_trans (xmax y isT) _; rewrite ler_addr ler01.
have [N0 small] := survival_vanishes (divr_gt0 eta0 c0).
exists N0 => N leN; rewrite ler_subl_addr -ler_subl_addl.
apply: le_trans (_ : h x - \sum_(m < N0) survival P target m x <= _).
  rewrite ler_add2l ler_opp2 -(subnK leN) addnC big_split_ord /= ler_addl.
  by apply: sumr_ge0 => m _; exact: survival_ge0.
apply: le_trans (hitting_rest_le P_kernel N0 x hE hc) _.
by rewrite mulrC -ler_pdivl_mulr // ltW.
Qed.

End Limit.
