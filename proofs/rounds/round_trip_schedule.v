(** The tagged replica under the two exchange schedules, step by step.

    Section "Chain Communication Protocol" of the paper.  There are K = n+1 rungs.
    Edge k joins rungs k and k+1; an attempt on it is accepted with probability
    [a k], independently of everything else.  A sweep is a sequence of attempts,
    each accepted exchange applied before the next attempt. *)
From mathcomp Require Import all_ssreflect all_fingroup all_algebra.
From Tempera Require Import markov.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Schedule.
Variables (R : realFieldType) (n : nat) (a : nat -> R).
Local Notation K := n.+1.

(** Rung k of the paper, k in 1..K. *)
Definition rung (k : nat) : 'I_K := inord k.-1.

(** An exchange across edge k moves the record at rung k to rung k+1 and back. *)
Definition exchange (k : nat) (i : 'I_K) : 'I_K := tperm (rung k) (rung k.+1) i.

(** One attempt on edge k, seen from the tagged replica. *)
Definition attempt (k : nat) (i j : 'I_K) : R :=
  a k * (exchange k i == j)%:R + (1 - a k) * (i == j)%:R.

(** Ordered ADJ: one sweep attempts edges 1, 2, ..., K-1 in order. *)
Definition adj_sweep : 'I_K -> 'I_K -> R := ordered (iota 1 n) attempt.

(** DEO: one layer attempts all edges of one parity. *)
Definition deo_layer (parity : bool) : 'I_K -> 'I_K -> R :=
  ordered [seq k <- iota 1 n | odd k == parity] attempt.

(** The state of the DEO chain is the rung and the parity of the next layer; the
    parities alternate. *)
Definition deo (x y : 'I_K * bool) : R :=
  deo_layer x.2 x.1 y.1 * (y.2 == ~~ x.2)%:R.

(** The lifted coordinate: the next proposed direction is up (epsilon = +1) when
    the upward edge k of rung k has the parity of the next layer. *)
Definition upward (x : 'I_K * bool) : bool := odd x.1.+1 == x.2.

(** rho_k = (1 - a_k) / a_k and R, their sum over the edges. *)
Definition rejection_odds (k : nat) : R := (1 - a k) / a k.
Definition total_rejection_odds : R := \sum_(1 <= k < K) rejection_odds k.

(** Means under a kernel. *)
Definition mean (P : 'I_K -> 'I_K -> R) (h : 'I_K -> R) (i : 'I_K) : R :=
  \sum_j P i j * h j.

Lemma mean_idk h i : mean (@idk R _) h i = h i.
Proof. exact: sum_idkl. Qed.

Lemma mean_compk P Q h i : mean (compk P Q) h i = mean P (mean Q h) i.
Proof.
rewrite /mean /compk /act; under eq_bigr do rewrite mulr_suml.
rewrite exchange_big /=; apply: eq_bigr => j _; rewrite mulr_sumr.
by apply: eq_bigr => l _; rewrite mulrA.
Qed.

Lemma mean_attempt k h i : mean (attempt k) h i = a k * h (exchange k i) + (1 - a k) * h i.
Proof.
rewrite /mean /attempt; under eq_bigr do rewrite mulrDl -!mulrA.
by rewrite big_split /= -!mulr_sumr !sum_idkl.
Qed.

Lemma mean_entry P i j : mean P (fun l => (l == j)%:R) i = P i j.
Proof. exact: sum_idk. Qed.

Lemma mean_ext P h h' i : h =1 h' -> mean P h i = mean P h' i.
Proof. by move=> e; apply: eq_bigr => j _; rewrite e. Qed.

Lemma mean_ge0 P h i : kernel P -> (forall j, 0 <= h j) -> 0 <= mean P h i.
Proof.
by move=> kP h0; apply: sumr_ge0 => j _; rewrite mulr_ge0 //; case: (kP i).
Qed.

Lemma val_rung k : (0 < k <= K)%N -> (rung k).+1 = k.
Proof. by case: k => // k /= kK; rewrite inordK. Qed.

Lemma rung_val (i : 'I_K) : rung i.+1 = i.
Proof. exact: inord_val. Qed.

Lemma rung_eq j k : (0 < j <= K)%N -> (0 < k <= K)%N -> (rung j == rung k) = (j == k).
Proof. by move=> jK kK; rewrite -val_eqE -eqSS !val_rung. Qed.

Lemma rung1 : rung 1 = ord0.
Proof. by apply: val_inj; rewrite /= inordK. Qed.

Lemma rungK : rung K = ord_max.
Proof. by apply: val_inj; rewrite /= inordK. Qed.

Lemma exchange_up k : exchange k (rung k) = rung k.+1.
Proof. exact: tpermL. Qed.

Lemma exchange_down k : exchange k (rung k.+1) = rung k.
Proof. exact: tpermR. Qed.

Lemma exchange_away j k : (0 < j <= n)%N -> (0 < k <= K)%N -> k != j -> k != j.+1 ->
  exchange j (rung k) = rung k.
Proof.
case/andP=> j0 jn kK kj kj1; rewrite /exchange tpermD // rung_eq // ?j0 ?ltnS ?(leqW jn) //.
  by rewrite eq_sym.
by rewrite eq_sym.
Qed.

(** Attempts on edges that do not touch the tag do not move it. *)
Lemma mean_ordered_cat s1 s2 h i : (forall j, j \in s1 -> exchange j i = i) ->
  mean (ordered (s1 ++ s2) attempt) h i = mean (ordered s2 attempt) h i.
Proof.
elim: s1 => [|j s IH] //= away.
have step k : k \in s -> exchange k i = i by move=> ks; apply: away; rewrite inE ks orbT.
rewrite mean_compk mean_attempt away ?mem_head // IH //.
by rewrite -mulrDl addrC subrK mul1r.
Qed.

Lemma mean_ordered_away s h i : (forall j, j \in s -> exchange j i = i) ->
  mean (ordered s attempt) h i = h i.
Proof. by move=> away; rewrite -[s]cats0 mean_ordered_cat // mean_idk. Qed.

Hypothesis a_probability : forall k, (0 < k <= n)%N -> 0 < a k <= 1.

Lemma kernel_attempt k : (0 < k <= n)%N -> kernel (attempt k).
Proof.
move=> kn i; have /andP[a0 a1] := a_probability kn; split=> [j|].
  by rewrite addr_ge0 ?mulr_ge0 ?ler0n ?subr_ge0 // ltW.
have := mean_attempt k (fun=> 1) i; rewrite /mean; under eq_bigr do rewrite mulr1.
by move=> ->; rewrite !mulr1 addrC subrK.
Qed.

Lemma mem_edges k : (k \in iota 1 n) = (0 < k <= n)%N.
Proof. by rewrite mem_iota add1n ltnS. Qed.

Lemma kernel_adj_sweep : kernel adj_sweep.
Proof. by apply: kernel_ordered => k; rewrite mem_edges; exact: kernel_attempt. Qed.

Lemma kernel_deo_layer p : kernel (deo_layer p).
Proof.
apply: kernel_ordered => k; rewrite mem_filter mem_edges => /andP[_].
exact: kernel_attempt.
Qed.

Lemma rejection_odds_ge0 k : (0 < k <= n)%N -> 0 <= rejection_odds k.
Proof. by move/a_probability/andP=> [a0 a1]; rewrite divr_ge0 ?subr_ge0 // ltW. Qed.

End Schedule.
