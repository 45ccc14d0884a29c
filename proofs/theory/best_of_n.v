(** The law of Best-of-N's output (the baseline of tab:compute-matched-app).

    N independent records are drawn and the first of the highest score is returned.
    With below(x) and upto(x) the probabilities that one draw scores less than x and
    at most as much,
      Pr(output = x) = mu(x) sum_{i < N} below(x)^i upto(x)^(N-1-i),
    and the output's score is x's with probability upto(x)^N - below(x)^N.

    - [best x s]            the first of highest score among x :: s
    - [best_of n]           its law over n+1 independent draws from mu
    - [best_of_law], [best_of_score]   the two formulas
    - [best_of_two_four_state]   (3/4, 1/8, 1/8) in the four-state example, where the
      target of power 2 is (2/3, 1/6, 1/6)                                         *)
From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov autoregressive record_space power power_target.
From Tempera Require Import executable four_state.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section BestOfN.
Variables (R : realFieldType) (S : finType).
Variables (mu : S -> R) (score : S -> R).
Hypothesis mu_law : law mu.
Implicit Types (x y b : S) (s : seq S).

(** Draws come one after another; a later one wins only by a strictly higher score. *)
Definition better b y : S := if score b < score y then y else b.
Definition best x s : S := foldl better x s.

Definition drawn s : R := \prod_(y <- s) mu y.

Definition best_of (n : nat) x : R :=
  \sum_b mu b * \sum_(s : n.-tuple S) drawn s * (best b s == x)%:R.

Definition below x : R := \sum_(y | score y < score x) mu y.
Definition upto x : R := \sum_(y | score y <= score x) mu y.

(** One more draw, from the record held. *)
Definition one_more b y : R := \sum_w mu w * (better b w == y)%:R.

Lemma sum_drawn n b x :
  \sum_(s : n.+1.-tuple S) drawn s * (best b s == x)%:R =
  \sum_w mu w * \sum_(s : n.-tuple S) drawn s * (best (better b w) s == x)%:R.
Proof.
rewrite (sum_tupleS n (fun s => drawn s * (best b s == x)%:R)); apply: eq_bigr => w _.
by rewrite mulr_sumr; apply: eq_bigr => s _; rewrite /drawn big_cons mulrA.
Qed.

Lemma best_ofE n : best_of n =1 run n mu one_more.
Proof.
suff gen (nu : S -> R) x : \sum_b nu b * (\sum_(s : n.-tuple S) drawn s * (best b s == x)%:R)
    = run n nu one_more x by move=> x; apply: gen.
elim: n nu => [|n IH] nu.
  rewrite -[RHS](sum_idk x nu); apply: eq_bigr => b _; congr (_ * _).
  by rewrite (sum_tuple0 (fun s => drawn s * (best b s == x)%:R)) /drawn big_nil mul1r.
have -> : run n.+1 nu one_more x = run n (act nu one_more) one_more x by rewrite /run iterSr.
rewrite -IH; under eq_bigr do rewrite sum_drawn.
set F := fun b => \sum_(s : n.-tuple S) drawn s * (best b s == x)%:R.
have push b : \sum_w mu w * F (better b w) = \sum_y one_more b y * F y.
  rewrite /one_more; under [RHS]eq_bigr do rewrite mulr_suml.
  rewrite [RHS]exchange_big; apply: eq_bigr => w _ /=.
  under [RHS]eq_bigr do rewrite -mulrA.
  by rewrite -mulr_sumr (sum_idkl (better b w) F).
under eq_bigr do rewrite push.
rewrite /act; under [RHS]eq_bigr do rewrite mulr_suml.
rewrite exchange_big; apply: eq_bigr => b _ /=; rewrite mulr_sumr.
by apply: eq_bigr => y _; rewrite mulrA.
Qed.

Lemma best_of_is_law n : law (best_of n).
Proof.
apply: law_ext (fun x => esym (best_ofE n x)) _; apply: law_run => // b.
split=> [y|]; first by apply: sumr_ge0 => w _; rewrite mulr_ge0 ?ler0n //; case: mu_law.
rewrite exchange_big /= -[RHS](proj2 mu_law); apply: eq_bigr => w _.
have one : \sum_y (better b w == y)%:R = 1 :> R := proj2 (@kernel_idk R S (better b w)).
by rewrite -mulr_sumr one mulr1.
Qed.

(** A set that holds every record of lower score: the best is in it when all are. *)
Definition lower_set (A : pred S) : Prop := forall y z, A z -> score y <= score z -> A y.

Lemma better_in A b w : lower_set A -> A (better b w) = A b && A w.
Proof.
move=> lowA; rewrite /better; case: ltrP => [lt|le].
  by case: (boolP (A w)) => [Aw|_]; rewrite ?andbF // (lowA b w Aw (ltW lt)).
by case: (boolP (A b)) => [Ab|_] //=; rewrite (lowA w b Ab le).
Qed.

Lemma best_of_lower A n : lower_set A -> prob (best_of n) A = prob mu A ^+ n.+1.
Proof.
move=> lowA; have -> : prob (best_of n) A = prob (run n mu one_more) A.
  by apply: eq_bigr => x _; apply: best_ofE.
elim: n => [|n IH]; first by rewrite expr1.
rewrite runS [RHS]exprSr -IH /prob /act mulr_suml [RHS]big_mkcond exchange_big /=.
apply: eq_bigr => b _; rewrite -mulr_sumr.
have inA : \sum_(y | A y) one_more b y = \sum_w mu w * (A b && A w)%:R.
  rewrite /one_more exchange_big /=; apply: eq_bigr => w _; rewrite -mulr_sumr; congr (_ * _).
  rewrite -better_in // big_mkcond -[RHS](sum_idkl (better b w) (fun y => (A y)%:R)).
  by apply: eq_bigr => y _; rewrite /idk; case: (A y); rewrite ?mulr1 ?mulr0.
rewrite inA; case: (A b) => /=; last by rewrite big1 ?mulr0 // => w _; rewrite mulr0.
congr (_ * _); rewrite [RHS]big_mkcond; apply: eq_bigr => w _.
by case: (A w); rewrite ?mulr1 ?mulr0.
Qed.

Lemma lower_below x : lower_set (fun y => score y < score x).
Proof. by move=> y w wx yw; apply: le_lt_trans wx. Qed.

Lemma lower_upto x : lower_set (fun y => score y <= score x).
Proof. by move=> y w wx yw; apply: le_trans wx. Qed.

Lemma one_moreE b x : one_more b x =
  (if score b < score x then mu x else 0) + (b == x)%:R * upto x.
Proof.
rewrite /one_more /upto.
rewrite (bigID (fun w => score b < score w)) /=; congr (_ + _).
  rewrite (eq_bigr (fun w => mu w * (w == x)%:R)) => [|w lt]; last by rewrite /better lt.
  rewrite big_mkcond -(sum_idk x (fun w => if score b < score w then mu w else 0)).
  by apply: eq_bigr => w _; case: ifP => _; rewrite ?mul0r.
rewrite (eq_bigr (fun w => mu w * (b == x)%:R)) => [|w /negPf nlt]; last by rewrite /better nlt.
rewrite -mulr_suml mulrC; case: eqP => [->|_]; rewrite ?mul0r //; congr (_ * _).
by apply: eq_bigl => w; rewrite leNgt.
Qed.

Theorem best_of_law n x :
  best_of n x = mu x * \sum_(i < n.+1) below x ^+ i * upto x ^+ (n - i).
Proof.
rewrite best_ofE; elim: n => [|n IH]; first by rewrite big_ord1 subnn !expr0 !mulr1.
rewrite runS /act; under eq_bigr do rewrite one_moreE mulrDr.
rewrite big_split /=.
have -> : \sum_b run n mu one_more b * (if score b < score x then mu x else 0)
    = below x ^+ n.+1 * mu x.
  have := best_of_lower n (lower_below (x := x)); rewrite /below => <-.
  rewrite /prob mulr_suml [RHS]big_mkcond; apply: eq_bigr => b _.
  by rewrite best_ofE; case: ifP => _; rewrite ?mulr0.
have -> : \sum_b run n mu one_more b * ((b == x)%:R * upto x) = run n mu one_more x * upto x.
  by under eq_bigr do rewrite mulrA; rewrite -mulr_suml (sum_idk x (run n mu one_more)).
rewrite IH [in RHS]big_ord_recr /= subnn expr0 mulr1 mulrDr addrC [below x ^+ _ * _]mulrC.
congr (_ + _); rewrite -mulrA; congr (_ * _); rewrite mulr_suml; apply: eq_bigr => i _.
by rewrite -mulrA -exprSr subSn // -ltnS.
Qed.

Theorem best_of_score n x :
  \sum_(y | score y == score x) best_of n y = upto x ^+ n.+1 - below x ^+ n.+1.
Proof.
rewrite -(best_of_lower n (lower_upto (x := x))) -(best_of_lower n (lower_below (x := x))).
rewrite /prob (bigID (fun y => score y < score x) (fun y => score y <= score x)) /=.
rewrite [X in _ = X + _ - _](eq_bigl (fun y => score y < score x)); last first.
  by move=> y; rewrite andb_idl // => /ltW.
rewrite addrAC subrr add0r; apply: eq_bigl => y.
by rewrite -leNgt -eq_le.
Qed.

(** More draws never lower the score: the law of its score falls below every other. *)
Corollary best_of_score_grows n x : \sum_(y | score y <= score x) best_of n.+1 y
  <= \sum_(y | score y <= score x) best_of n y.
Proof.
rewrite -!/(prob _ _) !(best_of_lower _ (lower_upto (x := x))) exprSr.
have u0 : 0 <= prob mu (fun y => score y <= score x) by apply: prob_ge0.
by rewrite ler_pimulr ?exprn_ge0 // prob_le1.
Qed.

End BestOfN.

(** ** The four-state example: two draws from p0, ranked by p0 *)
Theorem best_of_two_four_state :
  let p0 (x : S_2) := record_prob E lm (val x) in
  [seq best_of p0 p0 1 x | x <- Y] = [:: 3%:R/4%:R; 1/8%:R; 1/8%:R]
  /\ [seq target square x | x <- Y] = [:: 2%:R/3%:R; 1/6%:R; 1/6%:R].
Proof.
move=> p0; have p0E x : p0 x = x_prob lm id (val x) by rewrite /p0 /record_prob (x_probE lm terminalE).
have v1 : p0 Y1 = 1/2%:R by rewrite p0E; apply/eqP; vm_compute.
have v3 : p0 Y3 = 1/4%:R by rewrite p0E; apply/eqP; vm_compute.
have v4 : p0 Y4 = 1/4%:R by rewrite p0E; apply/eqP; vm_compute.
split; last first.
  by rewrite /Y /= -!(x_targetE square tokens_uniq tokens_all terminalE); apply/eqP; vm_compute.
have pl : law p0 := p0_law_S_T lm_model 2.
have two x : best_of p0 p0 1 x = p0 x * (upto p0 p0 x + below p0 p0 x).
  by rewrite best_of_law // !big_ord_recr big_ord0 /= add0r !expr0 !expr1 mul1r mulr1.
have up x : upto p0 p0 x = (if p0 Y1 <= p0 x then p0 Y1 else 0)
    + (if p0 Y3 <= p0 x then p0 Y3 else 0) + (if p0 Y4 <= p0 x then p0 Y4 else 0).
  by rewrite /upto big_mkcond sum_Y.
have down x : below p0 p0 x = (if p0 Y1 < p0 x then p0 Y1 else 0)
    + (if p0 Y3 < p0 x then p0 Y3 else 0) + (if p0 Y4 < p0 x then p0 Y4 else 0).
  by rewrite /below big_mkcond sum_Y.
by rewrite /Y /= !two !up !down v1 v3 v4; apply/eqP; vm_compute.
Qed.
