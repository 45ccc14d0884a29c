(** * Total variation, and what kernels and events do to it *)

From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import kernels.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section TotalVariation.
Variable R : realFieldType.
Implicit Types S T U J : finType.

Definition prob S (mu : S -> R) (A : pred S) : R := \sum_(x | A x) mu x.

Definition tv S (mu nu : S -> R) : R := 2%:R^-1 * \sum_x `|mu x - nu x|.

Lemma tv_ge0 S (mu nu : S -> R) : 0 <= tv mu nu.
Proof. by rewrite mulr_ge0 ?invr_ge0 ?ler0n // sumr_ge0. Qed.

Lemma tv_sym S (mu nu : S -> R) : tv mu nu = tv nu mu.
Proof. by congr (_ * _); apply: eq_bigr => x _; rewrite distrC. Qed.

Lemma tv_ext S (mu mu' nu nu' : S -> R) :
  mu =1 mu' -> nu =1 nu' -> tv mu nu = tv mu' nu'.
Proof. by move=> e1 e2; congr (_ * _); apply: eq_bigr => x _; rewrite e1 e2. Qed.

Lemma tv_refl S (mu : S -> R) : tv mu mu = 0.
Proof. by rewrite /tv big1 ?mulr0 // => x _; rewrite subrr normr0. Qed.

Lemma tv_triangle S (mu nu xi : S -> R) : tv mu xi <= tv mu nu + tv nu xi.
Proof.
rewrite /tv -mulrDr ler_wpmul2l ?invr_ge0 ?ler0n // -big_split /=.
by apply: ler_sum => x _; apply: ler_dist_add.
Qed.

Lemma tv_eq0 S (mu nu : S -> R) : tv mu nu = 0 -> mu =1 nu.
Proof.
move/eqP; rewrite mulf_eq0 invr_eq0 pnatr_eq0 /= psumr_eq0 // => /allP h x.
by apply/eqP; rewrite -subr_eq0 -normr_eq0; apply: h; rewrite mem_index_enum.
Qed.

(** A kernel never increases total variation. *)
Lemma tv_act_le S T (mu nu : S -> R) (P : S -> T -> R) :
  kernel P -> tv (act mu P) (act nu P) <= tv mu nu.
Proof.
move=> kP; rewrite /tv ler_wpmul2l ?invr_ge0 ?ler0n //.
apply: (@le_trans _ _ (\sum_y \sum_x `|mu x - nu x| * P x y)).
  apply: ler_sum => y _; rewrite /act -sumrB.
  apply: le_trans (ler_norm_sum _ _ _) _; apply: ler_sum => x _.
  by rewrite -mulrBl normrM (ger0_norm (proj1 (kP x) y)).
rewrite exchange_big /=; apply: ler_sum => x _.
by rewrite -mulr_sumr; case: (kP x) => _ ->; rewrite mulr1.
Qed.

Lemma tv_run_le S n (mu nu : S -> R) (P : S -> S -> R) :
  kernel P -> tv (run n mu P) (run n nu P) <= tv mu nu.
Proof.
move=> kP; elim: n => [|n IH] //.
by rewrite !runS; apply: le_trans (tv_act_le _ _ kP) IH.
Qed.

Lemma probC S (mu : S -> R) (A : pred S) :
  law mu -> prob mu (predC A) = 1 - prob mu A.
Proof.
by case=> _ <-; rewrite /prob [\sum_x _](bigID A) /= addrAC subrr add0r.
Qed.

Lemma prob_ge0 S (mu : S -> R) (A : pred S) : law mu -> 0 <= prob mu A.
Proof. by case=> mu0 _; apply: sumr_ge0. Qed.

Lemma prob_le1 S (mu : S -> R) (A : pred S) : law mu -> prob mu A <= 1.
Proof. by move=> lmu; rewrite -subr_ge0 -probC // prob_ge0. Qed.

(** The difference of the masses of any event is at most the total variation. *)
Lemma tv_event S (mu nu : S -> R) (A : pred S) :
  law mu -> law nu -> `|prob mu A - prob nu A| <= tv mu nu.
Proof.
move=> lmu lnu; set d := prob mu A - prob nu A.
have dA : d = \sum_(x | A x) (mu x - nu x) by rewrite sumrB.
have dC : - d = \sum_(x | ~~ A x) (mu x - nu x).
  rewrite sumrB -!/(prob _ (predC A)) !probC // /d !opprB.
  by rewrite [RHS]addrC addrA subrK.
have h : `|d| + `|d| <= \sum_x `|mu x - nu x|.
  rewrite [\sum_x _](bigID A) /= -{2}normrN dC dA.
  by apply: ler_add; apply: ler_norm_sum.
rewrite /tv -(ler_pmul2l (_ : 0 < 2%:R :> R)) ?ltr0n //.
by rewrite mulrA mulfV ?pnatr_eq0 // mul1r mulr_natl mulr2n.
Qed.

(** ... and the event where mu exceeds nu attains it. *)
Lemma tv_attained S (mu nu : S -> R) :
  law mu -> law nu ->
  tv mu nu = prob mu (fun x => nu x <= mu x) - prob nu (fun x => nu x <= mu x).
Proof.
move=> lmu lnu; set A := fun x => nu x <= mu x.
set d := prob mu A - prob nu A.
have dA : \sum_(x | A x) `|mu x - nu x| = d.
  rewrite /d /prob -sumrB; apply: eq_bigr => x Ax.
  by rewrite ger0_norm // subr_ge0.
have dC : \sum_(x | ~~ A x) `|mu x - nu x| = d.
  have -> : d = prob nu (predC A) - prob mu (predC A).
    by rewrite !probC // opprB [RHS]addrC addrA subrK.
  rewrite /prob -sumrB; apply: eq_bigr => x /= nAx.
  by rewrite ltr0_norm ?opprB // subr_lt0 ltNge.
rewrite /tv (bigID A) /= dA dC (_ : d + d = 2%:R * d).
  by rewrite mulrA mulVf ?mul1r // pnatr_eq0.
by rewrite mulr_natl mulr2n.
Qed.

(** TV(mu, nu) = max_A |mu(A) - nu(A)|. *)
Theorem tv_is_supremum S (mu nu : S -> R) : law mu -> law nu ->
  (forall A : pred S, `|prob mu A - prob nu A| <= tv mu nu) /\
  (exists A : pred S, `|prob mu A - prob nu A| = tv mu nu).
Proof.
move=> lmu lnu; split=> [A|]; first exact: tv_event.
exists (fun x => nu x <= mu x); rewrite -tv_attained // ger0_norm //; exact: tv_ge0.
Qed.

End TotalVariation.
