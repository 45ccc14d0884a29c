(** Systematic resampling is unbiased (PowerSMC, sec. experiments).

    The comb of N teeth: one word u, equally likely among the W integers below the
    total of the tickets, sets all teeth u, u + W, u + 2W, ..., and tooth j copies the
    particle whose share of the N W places holds it.  The draws are integers, as all
    of tempera's are, so nothing is rounded.

    - [ancestor s N u j]     the particle that tooth j copies
    - [copies_total]         over all W words particle i is copied N tickets_i times
    - [expected_copies]      hence N tickets_i / W times on average: E N_i = N w_i
    - [resampling_unbiased]  the mean of any function over the resampled particles has
      the weighted mean as its expectation  *)
From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import kernels tempera_lottery.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Comb.
Variables (s : seq nat) (N : nat).
Implicit Types (u i j : nat).
Local Notation W := (sumn s).

(** Each particle's share of the N W places. *)
Definition shares : seq nat := [seq (N * t)%N | t <- s].

Definition ancestor u j : nat := winner shares (j * W + u).

Definition copies u i : nat := (\sum_(0 <= j < N) (ancestor u j == i))%N.

Lemma sumn_shares : sumn shares = (N * W)%N.
Proof. by rewrite /shares; elim: s => [|t s' IH] /=; rewrite ?muln0 // IH mulnDr. Qed.

(** The teeth of all the words are all the places, each once. *)
Lemma teeth (F : nat -> nat) m :
  (\sum_(0 <= u < W) \sum_(0 <= j < m) F (j * W + u) = \sum_(0 <= p < m * W) F p)%N.
Proof.
rewrite exchange_big_nat /=; elim: m => [|m IH]; first by rewrite mul0n !big_geq.
rewrite big_nat_recr //= IH mulSn [(W + _)%N]addnC [RHS](big_cat_nat _ (n := m * W)) ?leq_addr //=; congr (_ + _)%N.
by rewrite -{2}[(m * W)%N]add0n big_addn addKn; apply: eq_bigr => u _; rewrite addnC.
Qed.

Theorem copies_total i : (i < size s)%N ->
  (\sum_(0 <= u < W) copies u i = N * nth 0%N s i)%N.
Proof.
move=> is_; rewrite (teeth (fun p => (winner shares p == i) : nat)) -sumn_shares.
by rewrite winner_count ?size_map // (nth_map 0%N).
Qed.

Variable R : realFieldType.

(** The mean over the word, equally likely below the total. *)
Definition mean (f : nat -> R) : R := W%:R^-1 * \sum_(0 <= u < W) f u.

Definition weight i : R := (nth 0%N s i)%:R / W%:R.

Hypothesis W_positive : (0 < W)%N.
Hypothesis N_positive : (0 < N)%N.

Theorem expected_copies i : (i < size s)%N ->
  mean (fun u => (copies u i)%:R) = N%:R * weight i.
Proof.
move=> is_; rewrite /mean -natr_sum copies_total // natrM /weight.
by rewrite mulrC mulrA.
Qed.

(** The mean of f over the N resampled particles. *)
Definition resampled (f : nat -> R) u : R := N%:R^-1 * \sum_(0 <= j < N) f (ancestor u j).

Lemma ancestor_inside u j : (u < W)%N -> (j < N)%N -> (ancestor u j < size s)%N.
Proof.
move=> uW jN; have place : (j * W + u < sumn shares)%N.
  rewrite sumn_shares; apply: (@leq_trans (j.+1 * W)); first by rewrite mulSn addnC ltn_add2r.
  by rewrite leq_mul2r jN orbT.
rewrite /ancestor -(size_map (muln N) s) -/shares /winner -[X in (_ < X)%N](size_iota 0) -has_find.
have n0 : (0 < size shares)%N by move: place; case: shares.
apply/hasP; exists (size shares).-1; first by rewrite mem_iota add0n prednK ?leqnn.
by rewrite prednK // take_size.
Qed.

(** What is averaged over the particles is the copies' weighted sum. *)
Lemma resampledE f u : (u < W)%N ->
  resampled f u = N%:R^-1 * \sum_(0 <= i < size s) (copies u i)%:R * f i.
Proof.
move=> uW; congr (_ * _); rewrite /copies.
under [RHS]eq_bigr do rewrite natr_sum mulr_suml.
rewrite exchange_big_nat /= big_nat [RHS]big_nat; apply: eq_bigr => j /andP[_ jN].
have inside := ancestor_inside uW jN.
rewrite (bigD1_seq (ancestor u j)) ?iota_uniq ?mem_index_iota //= eqxx mul1r.
by rewrite big1 ?addr0 // => i ne; rewrite eq_sym (negPf ne) mul0r.
Qed.

Theorem resampling_unbiased f :
  mean (resampled f) = \sum_(0 <= i < size s) weight i * f i.
Proof.
rewrite /mean; have -> : \sum_(0 <= u < W) resampled f u
    = N%:R^-1 * \sum_(0 <= i < size s) (N * nth 0%N s i)%:R * f i.
  rewrite big_nat (eq_bigr (fun u => N%:R^-1 * \sum_(0 <= i < size s) (copies u i)%:R * f i)).
    rewrite -mulr_sumr -big_nat exchange_big_nat /=; congr (_ * _).
    rewrite big_nat [RHS]big_nat; apply: eq_bigr => i /andP[_ is_].
    by rewrite -mulr_suml -natr_sum copies_total.
  by move=> u /andP[_ uW]; apply: resampledE.
rewrite !mulr_sumr; apply: eq_bigr => i _; rewrite natrM /weight -[N%:R * _ * _]mulrA.
rewrite mulKf; first by rewrite mulrA [W%:R^-1 * _]mulrC.
by rewrite pnatr_eq0 -lt0n.
Qed.

End Comb.
