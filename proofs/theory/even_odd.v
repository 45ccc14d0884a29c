(** * The edges of one parity layer do not interfere

    They share no rung, so their exchanges commute: composing a layer edge by edge,
    in any order, is attempting all its edges at once.                           *)

From mathcomp Require Import all_ssreflect all_algebra all_fingroup.
From Tempera Require Import markov replica_exchange.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section EvenOdd.
Variables (R : realFieldType) (S : finType) (n : nat).
Variable pi : 'I_n.+1 -> S -> R.
Hypothesis pi_gt0 : forall i x, 0 < pi i x.
Implicit Types (j k : 'I_n) (X Z : {ffun 'I_n.+1 -> S}).

Definition disjoint_edges j k : bool :=
  [&& lower j != lower k, lower j != upper k, upper j != lower k & upper j != upper k].

(** Two edges of one layer share no rung. *)
Lemma layer_disjoint j k : odd j = odd k -> j != k -> disjoint_edges j k.
Proof.
move=> par jk; have jk' : (j : nat) != k by rewrite (inj_eq val_inj).
have ne a b : odd a = odd b -> a != b.+1.
  by move=> e; apply/eqP => h; move: e; rewrite h /=; case: (odd b).
rewrite /disjoint_edges -!(inj_eq val_inj) /= /bump /= !add1n eqSS jk' ne //=.
by rewrite eq_sym ne.
Qed.

Lemma exchange_commute j k X : disjoint_edges j k ->
  exchange k (exchange j X) = exchange j (exchange k X).
Proof.
case/and4P=> ll lu ul uu; apply/ffunP => i.
have [->|il] := eqVneq i (lower j).
  by rewrite exchange_other // !exchange_lower exchange_other.
have [->|iu] := eqVneq i (upper j).
  by rewrite exchange_other // !exchange_upper exchange_other.
rewrite [RHS]exchange_other // !ffunE.
have [->|il'] := eqVneq i (lower k).
  by rewrite tpermL tpermD // eq_sym.
have [->|iu'] := eqVneq i (upper k).
  by rewrite tpermR tpermD // eq_sym.
by rewrite [tperm (lower k) _ i]tpermD 1?eq_sym // tpermD // eq_sym.
Qed.

Lemma accept_unmoved j k X : disjoint_edges j k ->
  swap_accept pi k (exchange j X) = swap_accept pi k X.
Proof.
case/and4P=> ll lu ul uu; rewrite /swap_accept !swap_ratio //.
by rewrite !(@exchange_other _ _ j) // eq_sym.
Qed.

Lemma compW j k X Z : compk (W pi j) (W pi k) X Z =
  swap_accept pi j X * W pi k (exchange j X) Z + (1 - swap_accept pi j X) * W pi k X Z.
Proof.
rewrite /compk /act {1}/W.
under eq_bigr do rewrite mulrDl.
rewrite big_split /=.
have s c Y0 (F : {ffun 'I_n.+1 -> S} -> R) :
    \sum_Y c * (Y == Y0)%:R * F Y = c * F Y0.
  by under eq_bigr do rewrite mulrAC; apply: (sum_idk Y0 (fun Y => c * F Y)).
by rewrite !s.
Qed.

Theorem W_commute j k : disjoint_edges j k ->
  compk (W pi j) (W pi k) =2 compk (W pi k) (W pi j).
Proof.
move=> d; have d' : disjoint_edges k j.
  by case/and4P: d => *; apply/and4P; split; rewrite eq_sym.
move=> X Z; rewrite !compW {1 2}/W [in RHS]/W.
rewrite (accept_unmoved _ d) (accept_unmoved _ d') (exchange_commute _ d).
set A := swap_accept pi j X; set B := swap_accept pi k X.
rewrite !mulrDr !mulrA [B * A]mulrC [B * (1 - A)]mulrC [(1 - B) * A]mulrC.
rewrite [(1 - B) * (1 - A)]mulrC -!addrA; congr (_ + _).
by rewrite addrCA.
Qed.

(** Any two edges of one layer may be attempted in either order. *)
Corollary layer_commute j k : odd j = odd k ->
  compk (W pi j) (W pi k) =2 compk (W pi k) (W pi j).
Proof.
by move=> par; have [->|jk] := eqVneq j k; [|apply/W_commute/layer_disjoint].
Qed.

(** Attempting a layer in any other order gives the same kernel. *)
Theorem layer_order_irrelevant (s t : seq 'I_n) (b : bool) :
  perm_eq s t -> all (fun k => odd (val k) == b) s ->
  ordered s (W pi) =2 ordered t (W pi).
Proof.
have ext (P Q Q' : {ffun 'I_n.+1 -> S} -> {ffun 'I_n.+1 -> S} -> R) :
    Q =2 Q' -> compk P Q =2 compk P Q'.
  by move=> e X Z; apply: eq_bigr => Y _; rewrite e.
have extl (P P' Q : {ffun 'I_n.+1 -> S} -> {ffun 'I_n.+1 -> S} -> R) :
    P =2 P' -> compk P Q =2 compk P' Q.
  by move=> e X Z; apply: eq_bigr => Y _; rewrite e.
(* An edge of the layer may be pulled to the front. *)
have pull k (u v : seq 'I_n) : all (fun i => odd (val i) == b) (k :: u) ->
    ordered (u ++ k :: v) (W pi) =2 ordered (k :: u ++ v) (W pi).
  elim: u => [//|i u IH] /= /and3P[pk pi' pu] X Z.
  rewrite (ext _ _ _ (IH _)) /= ?pk //.
  apply: etrans (act_compk (W pi i X) (W pi k) _ Z) _.
  apply: etrans (esym (act_compk (W pi k X) (W pi i) _ Z)).
  apply: eq_bigr => Y _; congr (_ * _).
  by apply: layer_commute; rewrite (eqP pk) (eqP pi').
elim: s t => [|k s IH] t; first by rewrite perm_sym => /perm_nilP ->.
move=> st all_s; have kt : k \in t by rewrite -(perm_mem st) mem_head.
case/splitPr: kt st => u v st X Z.
have all_t : all (fun i => odd (val i) == b) (u ++ k :: v) by rewrite -(perm_all _ st).
rewrite pull; last first.
  by move: all_t; rewrite all_cat /= => /and3P[-> -> _].
apply: ext => {X Z} X Z; apply: IH; last by case/andP: all_s.
by rewrite -(perm_cons k); apply: perm_trans st _; rewrite perm_catC /= perm_cons perm_catC.
Qed.

End EvenOdd.
