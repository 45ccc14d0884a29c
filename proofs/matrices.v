(** * Matrices computed from the proved definitions

    [make -C proofs] evaluates [printed] and writes matrices.txt, which a test
    compares with `tempera exact` on the same models: four_state at horizon 2 and
    power 2, and proofs/joined.json at horizon 3 and power 3, both kernels each.
    [fixed_matrix_is_kernel] and [truncating_matrix_is_kernel] say, for every model,
    that the lists evaluated here are the entries of the kernels of the theorems.  *)

From Coq Require Import ZArith QArith Qcanon.
From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov autoregressive record_space power power_target.
From Tempera Require Import replica_exchange fixed_horizon truncating executable exact_rational.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Notation Q_field := Qc_realFieldType.

(** A finite model: its next-token law, how tokens are listed, which are terminal. *)
Record finite_model := FiniteModel {
  V : finType;
  lm : seq V -> V -> Qc;
  listed : seq V;
  ends : pred V;
  listed_uniq : uniq listed;
  listed_all : forall v, v \in listed
}.

Section Matrices.
Variables (M : finite_model) (T n : nat).
Notation alpha := (power_nat Q_field n).
Notation E := [set v : V M | ends v].

Definition uniform : Qc := (T%:R : Qc)^-1.

Definition fixed_matrix : seq (seq Qc) :=
  let s := states (R := Q_field) (@lm M) T (listed M) (@ends M) in
  [seq [seq x_local (@lm M) alpha T (listed M) (@ends M) (fun=> uniform) x y | y <- s] | x <- s].

Definition truncating_matrix : seq (seq Qc) :=
  let s := comparison_states (R := Q_field) (@lm M) T (listed M) (@ends M) in
  [seq [seq x_truncating (@lm M) alpha T (listed M) (@ends M) x y | y <- s] | x <- s].

Lemma endsE v : @ends M v = (v \in E).
Proof. by rewrite inE. Qed.

Theorem fixed_matrix_is_kernel (x y : S_T (R := Q_field) E (@lm M) T) :
  x_local (@lm M) alpha T (listed M) (@ends M) (fun=> uniform) (val x) (val y)
    = local (fun _ : 'I_1 => alpha) (fun (_ : 'I_1) (_ : 'I_T) => uniform) ord0 x y.
Proof.
exact: (x_localE alpha (listed_uniq M) (@listed_all M) endsE
  (omega := fun _ : 'I_T => uniform)).
Qed.

Theorem truncating_matrix_is_kernel (x y : comparison (R := Q_field) E (@lm M) T) :
  x_truncating (@lm M) alpha T (listed M) (@ends M) (val x) (val y) = truncating alpha x y.
Proof. exact: (x_truncatingE alpha (listed_uniq M) (@listed_all M) endsE). Qed.

(** The list of states names each record of the space once. *)
Theorem states_are_records (x : S_T (R := Q_field) E (@lm M) T) :
  (val x : seq (option (V M))) \in states (R := Q_field) (@lm M) T (listed M) (@ends M).
Proof. exact: (mem_states (@listed_all M) endsE). Qed.

End Matrices.

(** ** The models *)

Definition frac (p : BinNums.Z) (q : positive) : Qc := Q2Qc (p # q).

Definition four_state_model : finite_model.
Proof.
refine (@FiniteModel [finType of bool] (fun _ _ => frac 1 2) [:: false; true] id isT _).
by case.
Defined.

Definition tok0 : 'I_3 := @Ordinal 3 0 isT.
Definition tok1 : 'I_3 := @Ordinal 3 1 isT.
Definition tok2 : 'I_3 := @Ordinal 3 2 isT.

(** proofs/joined.json: a, b, e; e terminal. *)
Definition joined_row (h : seq nat) : Qc * Qc * Qc :=
  match h with
  | [::] => (frac 1 2, frac 1 3, frac 1 6)
  | [:: 0%nat] => (frac 1 4, frac 1 4, frac 1 2)
  | [:: 1%nat] => (frac 2 3, frac 0 1, frac 1 3)
  | _ => (frac 1 5, frac 3 10, frac 1 2)
  end.

Definition joined_lm (h : seq 'I_3) (v : 'I_3) : Qc :=
  let: (pa, pb, pe) := joined_row (map val h) in
  match val v with 0%nat => pa | 1%nat => pb | _ => pe end.

Definition joined_model : finite_model.
Proof.
refine (@FiniteModel [finType of 'I_3] joined_lm [:: tok0; tok1; tok2]
  (fun v => val v == 2%nat) isT _).
by move=> v; rewrite !inE -!(inj_eq val_inj) /=; case: v => -[|[|[|]]].
Defined.

(** row, column, numerator, denominator *)
Definition printed (m : seq (seq Qc)) : seq (nat * nat * BinNums.Z * positive) :=
  flatten [seq [seq (i, j, Qnum (nth (Q2Qc 0) (nth [::] m i) j), Qden (nth (Q2Qc 0) (nth [::] m i) j))
               | j <- iota 0 (size m)] | i <- iota 0 (size m)].
