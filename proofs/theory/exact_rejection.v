(** * Exact rejection draws from the power target

    A proposal draws every token from g and outlives it with probability z <= 1; one
    that dies begins anew.

    - [kept x]        a proposal draws x and outlives all its tokens
    - [share]         it is kept, whatever it draws
    - [answer n x]    one of n proposals, at most, is kept, and the first kept is x
    - [answer_begun b x]   the same, where proposal i begins with probability b i: the
      limit on tokens sees only proposals that have died, so b is free of x
    - [expected_share n]   the expected share of n independent proposals that are kept *)
From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov autoregressive record_space power power_target.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section ExactRejection.
Variables (R : realFieldType) (V : finType) (E : {set V}).
Variable lm : seq V -> V -> R.
Variable alpha : power R.
Hypothesis lm_model : model E lm.
Variable T : nat.
Notation p0 := (p0 E lm).
Notation S_T := (S_T E lm T).
Notation z := (z E lm alpha).
Notation g := (g E lm alpha).
Notation Z := (Z E lm alpha T).
Implicit Types x : S_T.

Definition outlived (h : seq (option V)) o : R := g h o * z h.
Definition kept x : R := suffix bot outlived 0 (val x).
Definition share : R := \sum_x kept x.

Lemma keptE x : kept x = alpha (record_prob E lm (val x)).
Proof.
rewrite /record_prob prefix_probE /kept /suffix pow_prod => [|t _]; last exact: p0_ge0.
apply: eq_bigr => t _; rewrite /outlived p0E_g //.
exact: supported_prefix.
Qed.

(** A proposal is kept with probability Z. *)
Lemma shareE : share = Z.
Proof. by apply: eq_bigr => x _; apply: keptE. Qed.

(** What is kept has the law of the target. *)
Theorem kept_is_target x : kept x / share = target alpha x.
Proof. by rewrite keptE shareE. Qed.

Definition answer (n : nat) x : R := \sum_(i < n) (1 - share) ^+ i * kept x.

(** The geometric law of the number of proposals, and the answer's, which does not
    depend on it. *)
Theorem answerE n x : answer n x = (1 - (1 - Z) ^+ n) * target alpha x.
Proof.
rewrite /answer.
have -> : kept x = Z * target alpha x.
  by rewrite -kept_is_target shareE mulrC divfK // gt_eqF // Z_gt0.
rewrite -mulr_suml shareE mulrA; congr (_ * _).
have e := subrX1 (1 - Z) n.
have d : 1 - Z - 1 = - Z by rewrite addrAC subrr add0r.
by rewrite d mulNr in e; rewrite mulrC -[LHS]opprK -e opprB.
Qed.

Definition answer_begun (n : nat) (b : nat -> R) x : R := \sum_(i < n) b i * kept x.

(** A limit that looks only at what has died leaves the law of an answer as it is. *)
Theorem limited_is_target n b x : (\sum_y answer_begun n b y) != 0 ->
  answer_begun n b x / (\sum_y answer_begun n b y) = target alpha x.
Proof.
have e y : answer_begun n b y = (\sum_(i < n) b i) * kept y by rewrite /answer_begun mulr_suml.
rewrite (eq_bigr _ (fun y _ => e y)) -mulr_sumr e -/share => n0.
rewrite -kept_is_target -mulf_div mulfV ?mul1r //.
by apply: contraNneq n0 => ->; rewrite mul0r.
Qed.

(** n proposals, one after another: which were kept. *)
Definition seen (w : seq bool) : R := \prod_(k <- w) (if k then share else 1 - share).
Definition expected_share (n : nat) : R :=
  \sum_(w : n.-tuple bool) seen w * ((count id w)%:R / n%:R).

Lemma sum_seen n : \sum_(w : n.-tuple bool) seen w = 1.
Proof.
elim: n => [|n IH]; first by rewrite (sum_tuple0 seen) /seen big_nil.
rewrite (sum_tupleS n seen) big_bool /=.
have e (k : bool) : \sum_(u : n.-tuple bool) seen (k :: u)
    = (if k then share else 1 - share) * \sum_(u : n.-tuple bool) seen u.
  by rewrite mulr_sumr; apply: eq_bigr => u _; rewrite /seen big_cons.
by rewrite !e IH !mulr1 addrCA subrr addr0.
Qed.

Lemma sum_count n :
  \sum_(w : n.-tuple bool) seen w * (count id w)%:R = n%:R * share.
Proof.
elim: n => [|n IH].
  by rewrite (sum_tuple0 (fun w => seen w * (count id w)%:R)) /= mulr0 mul0r.
rewrite (sum_tupleS n (fun w => seen w * (count id w)%:R)) big_bool /=.
have e (k : bool) : \sum_(u : n.-tuple bool) seen (k :: u) * (k + count id u)%:R
    = (if k then share else 1 - share)
      * (k%:R * (\sum_(u : n.-tuple bool) seen u)
         + \sum_(u : n.-tuple bool) seen u * (count id u)%:R).
  rewrite mulr_sumr -big_split mulr_sumr /=.
  apply: eq_bigr => u _; rewrite /seen big_cons natrD -mulrA; congr (_ * _).
  by rewrite mulrDr [k%:R * _]mulrC.
have e1 := e true; have e0 := e false; rewrite /= in e1 e0.
rewrite e1 e0 sum_seen IH mulr1n mulr0n mul0r add0r mulr1.
rewrite mulrDr mulr1 mulrBl mul1r -addrA [X in _ + X]addrC subrK.
by rewrite -[n.+1]add1n natrD mulrDl mul1r.
Qed.

(** The share of a fixed number of proposals that are kept estimates Z without bias. *)
Theorem share_unbiased n : (0 < n)%N -> expected_share n = Z.
Proof.
move=> n0; rewrite /expected_share.
under eq_bigr do rewrite mulrA.
by rewrite -mulr_suml sum_count shareE mulrC mulKf // pnatr_eq0 -lt0n.
Qed.

End ExactRejection.
