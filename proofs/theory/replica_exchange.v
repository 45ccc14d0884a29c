(** * Replica exchange: swaps, ordered and even-odd sweeps, the complete transition

    Rungs are 'I_n.+1 (K = n+1 of them), edges are 'I_n: edge k joins rungs k and
    k+1.  The state space S and the rungs' targets pi are arbitrary.
    - [exchange k X]      sigma_k X, coordinates k and k+1 exchanged
    - [swap_accept pi k X], [W pi k]   eq:implementation-swap-general and its kernel
    - [adj pi]            the ordered sweep C = W_1 ... W_{K-1}
    - [deo_layer pi b]    all edges of one parity; [deo pi] odd edges, then even ones
    - [sweep L]           the synchronized local sweep R
    - [ppt L C nl ns]     P = R^nl C^ns                                          *)

From mathcomp Require Import all_ssreflect all_algebra all_fingroup.
From Tempera Require Import markov.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section ReplicaExchange.
Variables (R : realFieldType) (S : finType) (n : nat).
Variable pi : 'I_n.+1 -> S -> R.
Implicit Types (k : 'I_n) (X Y : {ffun 'I_n.+1 -> S}).

(** The two rungs that edge k joins. *)
Definition lower k : 'I_n.+1 := widen_ord (leqnSn n) k.
Definition upper k : 'I_n.+1 := lift ord0 k.

Definition exchange k X : {ffun 'I_n.+1 -> S} :=
  [ffun i => X (tperm (lower k) (upper k) i)].

Lemma exchangeK k : involutive (exchange k).
Proof. by move=> X; apply/ffunP => i; rewrite !ffunE tpermK. Qed.

Lemma exchange_lower k X : exchange k X (lower k) = X (upper k).
Proof. by rewrite ffunE tpermL. Qed.

Lemma exchange_upper k X : exchange k X (upper k) = X (lower k).
Proof. by rewrite ffunE tpermR. Qed.

Lemma exchange_other k X i : i != lower k -> i != upper k -> exchange k X i = X i.
Proof. by move=> il iu; rewrite ffunE tpermD // eq_sym. Qed.

Lemma lower_upper k : lower k != upper k.
Proof. by rewrite -(inj_eq val_inj) /= /bump /= add1n ltn_eqF. Qed.

Notation Pi := (product pi).

Definition swap_accept k X : R := Num.min 1 (Pi (exchange k X) / Pi X).

Definition W k X Y : R :=
  swap_accept k X * (Y == exchange k X)%:R + (1 - swap_accept k X) * (Y == X)%:R.

(** eq:swap-accept-llm: all other rungs cancel. *)
Lemma swap_ratio k X : (forall i x, 0 < pi i x) ->
  Pi (exchange k X) / Pi X =
  (pi (lower k) (X (upper k)) * pi (upper k) (X (lower k)))
  / (pi (lower k) (X (lower k)) * pi (upper k) (X (upper k))).
Proof.
move=> pi0.
have split Y : Pi Y = pi (lower k) (Y (lower k)) * pi (upper k) (Y (upper k))
    * \prod_(i | (i != lower k) && (i != upper k)) pi i (Y i).
  rewrite /product (bigD1 (lower k)) //= (bigD1 (upper k)) /=; last first.
    by rewrite eq_sym lower_upper.
  by rewrite mulrA.
rewrite !split exchange_lower exchange_upper.
rewrite (eq_bigr (fun i => pi i (X i))) => [|i /andP[il iu]]; last first.
  by rewrite exchange_other.
set D := \prod_(i | _) _; have D0 : D != 0 by rewrite gt_eqF // prodr_gt0.
by rewrite -mulf_div mulfV // mulr1.
Qed.

Hypothesis pi_ge0 : forall i x, 0 <= pi i x.

Lemma Pi_ge0 X : 0 <= Pi X.
Proof. by apply: prodr_ge0. Qed.

Lemma swap_accept_ge0 k X : 0 <= swap_accept k X.
Proof. by rewrite /swap_accept le_minr ler01 divr_ge0 ?Pi_ge0. Qed.

Lemma swap_accept_le1 k X : swap_accept k X <= 1.
Proof. by rewrite /swap_accept le_minl lexx. Qed.

Lemma W_kernel k : kernel (W k).
Proof.
move=> X; split=> [Y|].
  rewrite addr_ge0 // mulr_ge0 ?ler0n ?swap_accept_ge0 //.
  by rewrite subr_ge0 swap_accept_le1.
rewrite big_split /=.
have s c Z : \sum_Y c * (Y == Z)%:R = c := sum_idk Z (fun=> c).
by rewrite !s addrC subrK.
Qed.

(** The accepted flow along an exchange is the smaller of the two masses. *)
Lemma swap_flow k X : Pi X * swap_accept k X = Num.min (Pi X) (Pi (exchange k X)).
Proof.
rewrite /swap_accept; have [P0|Pn0] := eqVneq (Pi X) 0.
  by rewrite P0 mul0r min_l // Pi_ge0.
by rewrite minr_pmulr ?Pi_ge0 // mulr1 mulrCA mulfV // mulr1.
Qed.

Theorem W_reversible k : reversible Pi (W k).
Proof.
move=> X Y; rewrite /W.
have [->//|YX] := eqVneq Y X; rewrite !mulr0 !addr0.
have -> : (X == exchange k Y) = (Y == exchange k X).
  by apply/eqP/eqP => ->; rewrite exchangeK.
case: eqP => [->|_]; rewrite ?mulr0 // !mulr1 !swap_flow exchangeK minC.
by [].
Qed.

Theorem W_invariant k : invariant Pi (W k).
Proof. by apply: reversible_invariant; [apply: W_kernel | apply: W_reversible]. Qed.

(** ** Sweeps *)

(** Edges in increasing order, each exchange acting on what the last one left. *)
Definition adj := ordered (enum 'I_n) W.

(** The paper counts edges from 1: its odd edges are our even indices. *)
Definition deo_layer (b : bool) := ordered [seq k <- enum 'I_n | odd (val k) == b] W.
Definition deo := compk (deo_layer false) (deo_layer true).

Lemma enum_edges_increasing : [seq val k | k <- enum 'I_n] = iota 0 n.
Proof. exact: val_enum_ord. Qed.

Lemma adj_kernel : kernel adj.
Proof. by apply: kernel_ordered => k _; apply: W_kernel. Qed.

Lemma deo_layer_kernel b : kernel (deo_layer b).
Proof. by apply: kernel_ordered => k _; apply: W_kernel. Qed.

Lemma deo_kernel : kernel deo.
Proof. by apply: kernel_compk; apply: deo_layer_kernel. Qed.

Theorem adj_invariant : invariant Pi adj.
Proof. by apply: invariant_ordered => k _; apply: W_invariant. Qed.

Theorem deo_layer_invariant b : invariant Pi (deo_layer b).
Proof. by apply: invariant_ordered => k _; apply: W_invariant. Qed.

Theorem deo_invariant : invariant Pi deo.
Proof. by apply: invariant_compk; apply: deo_layer_invariant. Qed.

(** Any schedule at all: attempts along any sequence of edges preserve Pi. *)
Theorem any_schedule_invariant (s : seq 'I_n) : invariant Pi (ordered s W).
Proof. by apply: invariant_ordered => k _; apply: W_invariant. Qed.

(** ** The complete transition *)

Variable L : 'I_n.+1 -> S -> S -> R.

Definition sweep := prodk L.

Definition ppt (C : {ffun 'I_n.+1 -> S} -> {ffun 'I_n.+1 -> S} -> R)
    (n_local n_sweep : nat) :=
  compk (iterk n_local sweep) (iterk n_sweep C).

Lemma ppt_kernel C nl ns : (forall i, kernel (L i)) -> kernel C -> kernel (ppt C nl ns).
Proof.
move=> kL kC; apply: kernel_compk; apply: kernel_iterk => //.
exact: kernel_prodk.
Qed.

Theorem ppt_invariant C nl ns :
  (forall i, invariant (pi i) (L i)) -> invariant Pi C -> invariant Pi (ppt C nl ns).
Proof.
move=> iL iC; apply: invariant_compk; apply: invariant_iterk => //.
exact: invariant_prodk.
Qed.

End ReplicaExchange.
