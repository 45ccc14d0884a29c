(** The ordered compositions need not be reversible (prop:fixed-stage-invariance,
    the last sentence of its proof).

    - [ordered_sweep_not_reversible]  from three rungs and two records on, the ordered
      sweep is never reversible, whatever the rungs' positive targets: it carries a
      record from the first rung to the last in one sweep, and back by one rung only
    - [four_state_round_not_reversible]  with two rungs the complete transition is
      not, in the paper's own example at powers 1 and 2: 7/384 against 6/384       *)
From mathcomp Require Import all_ssreflect all_algebra all_fingroup.
From Tempera Require Import markov autoregressive record_space power power_target.
From Tempera Require Import replica_exchange fixed_horizon executable four_state.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section OrderedSweep.
Variables (R : realFieldType) (S : finType) (n : nat).
Variable pi : 'I_n.+1 -> S -> R.
Hypothesis pi_gt0 : forall i x, 0 < pi i x.
Variables (x y : S).
Hypothesis x_neq_y : x != y.
Local Notation state := {ffun 'I_n.+1 -> S}.
Implicit Types (k : 'I_n) (i j : 'I_n.+1).

(** The record x at rung i, y at every other rung. *)
Definition tagged i : state := [ffun j => if j == i then x else y].

Lemma tagged_inj : injective tagged.
Proof.
move=> i j /ffunP/(_ i); rewrite !ffunE eqxx; case: eqP => // _ e.
by move: x_neq_y; rewrite e eqxx.
Qed.

Lemma exchange_tagged k i :
  exchange k (tagged i) = tagged (tperm (lower k) (upper k) i).
Proof.
apply/ffunP => j; rewrite !ffunE; congr (if _ then _ else _).
by apply/eqP/eqP => [<-|->]; rewrite tpermK.
Qed.

Lemma exchange_far k i : i != lower k -> i != upper k -> exchange k (tagged i) = tagged i.
Proof. by move=> il iu; rewrite exchange_tagged tpermD // eq_sym. Qed.

Let Pi_gt0 (X : state) : 0 < product pi X.
Proof. by apply: prodr_gt0. Qed.

Let pi_ge0 i s : 0 <= pi i s.
Proof. exact/ltW. Qed.

Lemma swap_accept_gt0 k X : 0 < swap_accept pi k X.
Proof. by rewrite /swap_accept lt_minr ltr01 divr_gt0. Qed.

Lemma W_exchange_gt0 k X : 0 < W pi k X (exchange k X).
Proof.
rewrite /W eqxx mulr1 ltr_spaddl ?swap_accept_gt0 // mulr_ge0 ?ler0n //.
by rewrite subr_ge0 swap_accept_le1.
Qed.

Lemma W_still k (X Y : state) : exchange k X = X -> W pi k X Y = (X == Y)%:R.
Proof. by move=> e; rewrite /W e -mulrDl addrC subrK mul1r eq_sym. Qed.

(** Up: one sweep carries x from the first rung to the last. *)
Lemma sweep_up m : (m <= n)%N ->
  0 < ordered (drop (n - m) (enum 'I_n)) (W pi) (tagged (inord (n - m))) (tagged ord_max).
Proof.
elim: m => [|m IH] mn.
  rewrite subn0 drop_oversize ?size_enum_ord //= /idk.
  by rewrite (_ : inord n = ord_max) ?eqxx ?ltr01 //; apply: val_inj; rewrite /= inordK.
have lt : (n - m.+1 < n)%N by rewrite ltn_subrL (leq_trans _ mn).
have -> : drop (n - m.+1) (enum 'I_n) = Ordinal lt :: drop (n - m) (enum 'I_n).
  rewrite (drop_nth (Ordinal lt)) ?size_enum_ord // -(subnSK mn); congr (_ :: _).
  by apply: val_inj; rewrite /= nth_enum_ord.
set k := Ordinal lt; rewrite /= /compk /act.
have moved : exchange k (tagged (inord (n - m.+1))) = tagged (inord (n - m)).
  rewrite exchange_tagged; congr tagged.
  have -> : inord (n - m.+1) = lower k by apply: val_inj; rewrite /= inordK // leqW.
  rewrite tpermL; apply: val_inj; rewrite /= /bump leq0n add1n inordK ?subnSK //.
  by rewrite ltnS leq_subr.
rewrite (bigD1 (tagged (inord (n - m)))) //= ltr_spaddl //.
  by rewrite mulr_gt0 ?IH ?(ltnW mn) // -moved W_exchange_gt0.
apply: sumr_ge0 => Z _; rewrite mulr_ge0 //.
  by case: (W_kernel pi_ge0 k (tagged (inord (n - m.+1)))).
suff kernel_rest : kernel (ordered (drop (n - m) (enum 'I_n)) (W pi)).
  by case: (kernel_rest Z).
by apply: kernel_ordered => j _; apply: W_kernel.
Qed.

(** Edges below the record's rung leave it alone. *)
Lemma sweep_below (s t : seq 'I_n) Z : all (fun k => (upper k : nat) < n)%N s ->
  ordered (s ++ t) (W pi) (tagged ord_max) Z = ordered t (W pi) (tagged ord_max) Z.
Proof.
elim: s => [//|k s IH] /= /andP[kn sn]; rewrite /compk /act.
have far : exchange k (tagged ord_max) = tagged ord_max.
  apply: exchange_far; rewrite -(inj_eq val_inj) /= gtn_eqF //.
rewrite (eq_bigr (fun Y => idk R (tagged ord_max) Y * ordered (s ++ t) (W pi) Y Z)).
  by rewrite sum_idkl IH.
by move=> Y _; rewrite W_still.
Qed.

Hypothesis three_rungs : (1 < n)%N.

(** Down: one sweep carries it one rung at most. *)
Lemma sweep_down : adj pi (tagged ord_max) (tagged ord0) = 0.
Proof.
have n0 : (0 < n)%N := ltnW three_rungs.
have lt : (n.-1 < n)%N by rewrite prednK.
have -> : adj pi = ordered (take n.-1 (enum 'I_n) ++ [:: Ordinal lt]) (W pi).
  congr ordered; rewrite -{1}(cat_take_drop n.-1 (enum 'I_n)); congr (_ ++ _).
  rewrite (drop_nth (Ordinal lt)) ?size_enum_ord // prednK // drop_oversize ?size_enum_ord //.
  by congr [:: _]; apply: val_inj; rewrite /= nth_enum_ord.
rewrite sweep_below; last first.
  apply/allP => k; rewrite /= /bump leq0n add1n.
  move/(map_f val); rewrite map_take val_enum_ord take_iota mem_iota /= => kn.
  by move: kn; rewrite add0n leq_min => /andP[kn _]; rewrite -ltn_predRL.
rewrite /= /compk /act (eq_bigr (fun Y => W pi (Ordinal lt) (tagged ord_max) Y * idk R Y (tagged ord0))) //.
rewrite sum_idk /W exchange_tagged.
have -> : tperm (lower (Ordinal lt)) (upper (Ordinal lt)) ord_max = lower (Ordinal lt).
  have -> : ord_max = upper (Ordinal lt) by apply: val_inj; rewrite /= /bump add1n prednK.
  by rewrite tpermR.
rewrite !(inj_eq tagged_inj) -!(inj_eq val_inj) /=.
by rewrite ltn_eqF ?ltn_predRL // ltn_eqF // !mulr0 addr0.
Qed.

Theorem ordered_sweep_not_reversible : ~ reversible (product pi) (adj pi).
Proof.
move=> /(_ (tagged ord0) (tagged ord_max)); rewrite sweep_down mulr0 => /eqP.
have := sweep_up (leqnn n); rewrite subnn drop0.
rewrite (_ : inord 0 = ord0) => [up|]; last by apply: val_inj; rewrite /= inordK.
by rewrite gt_eqF // mulr_gt0.
Qed.

End OrderedSweep.

(** ** The complete transition with two rungs, in the four-state example *)

Definition two_powers (k : 'I_2) : power rat_realFieldType := power_nat rat_realFieldType k.
Definition uniform_restart (k r : 'I_2) : rat := 1 / 2%:R.

Definition four_state_round : {ffun 'I_2 -> S_2} -> {ffun 'I_2 -> S_2} -> rat :=
  transition two_powers uniform_restart (adj (fixed_horizon.pi two_powers)) 1 1.

Local Notation Pi := (fixed_horizon.Pi (E := E) (lm := lm) (T := 2) two_powers).
Local Notation targets := (fixed_horizon.pi (E := E) (lm := lm) (T := 2) two_powers).
Local Notation L := (local (E := E) (lm := lm) (T := 2) two_powers uniform_restart).

Definition pair_of (x y : S_2) : {ffun 'I_2 -> S_2} := [ffun k => if k == ord0 then x else y].

Lemma pair_exchange x y : exchange ord0 (pair_of x y) = pair_of y x.
Proof.
apply/ffunP => i; rewrite !ffunE; case: (tpermP (lower ord0) (upper ord0) i) => [->|->|] //.
by case: i => -[|[|]] // h /eqP; rewrite -(inj_eq val_inj) /= => // _ /eqP; rewrite -(inj_eq val_inj).
Qed.

(** A local sweep and a swap: the pair comes exchanged, or as it is. *)
Lemma four_state_roundE X x y : four_state_round X (pair_of x y) =
  prodk L X (pair_of y x) * swap_accept targets ord0 (pair_of y x)
  + prodk L X (pair_of x y) * (1 - swap_accept targets ord0 (pair_of x y)).
Proof.
have then_nothing (P Q : {ffun 'I_2 -> S_2} -> {ffun 'I_2 -> S_2} -> rat) : P =2 Q ->
    compk P (@idk _ _) =2 Q by move=> e U Z; rewrite /compk act_idk e.
have swapE : iterk 1 (adj targets) =2 W targets ord0.
  apply: (then_nothing); rewrite /adj /ordered enum_ordSl enum_ord0 => U Z.
  exact: (then_nothing (W targets ord0) (W targets ord0) (fun _ _ => erefl)).
have sweepE : iterk 1 (sweep L) =2 prodk L by move=> U Z; rewrite /iterk /= /compk act_idk.
rewrite /four_state_round /transition /ppt {1}/compk /act.
rewrite (eq_bigr (fun Z => prodk L X Z * W targets ord0 Z (pair_of x y))); last first.
  by move=> Z _; rewrite swapE; congr (_ * _); exact: sweepE.
rewrite -(sum_idk (pair_of y x) (fun Z => prodk L X Z * swap_accept targets ord0 Z)).
rewrite -(sum_idk (pair_of x y) (fun Z => prodk L X Z * (1 - swap_accept targets ord0 Z))).
rewrite -big_split; apply: eq_bigr => Z _; rewrite /W mulrDr !mulrA /idk.
congr (_ * _%:R + _ * _%:R); last by rewrite eq_sym.
rewrite -(pair_exchange x y); congr (nat_of_bool _).
by apply/eqP/eqP => ->; rewrite exchangeK.
Qed.

Lemma prodk_pair x y x' y' :
  prodk L (pair_of x y) (pair_of x' y') = L ord0 x x' * L (lift ord0 ord0) y y'.
Proof. by rewrite /prodk !big_ord_recl big_ord0 !ffunE /= mulr1. Qed.

Lemma Pi_pair x y : Pi (pair_of x y) = targets ord0 x * targets (lift ord0 ord0) y.
Proof. by rewrite /fixed_horizon.Pi /product !big_ord_recl big_ord0 !ffunE /= mulr1. Qed.

Lemma LE (k : 'I_2) (x y : S_2) : L k x y =
  x_local lm (two_powers k) 2 [:: false; true] id (fun=> 1/2%:R) (val x) (val y).
Proof.
by rewrite (x_localE (two_powers k) tokens_uniq tokens_all terminalE (omega := uniform_restart k)).
Qed.

Lemma targetsE (k : 'I_2) (x : S_2) :
  targets k x = x_target lm (two_powers k) 2 [:: false; true] id (val x).
Proof. by rewrite (x_targetE (two_powers k) tokens_uniq tokens_all terminalE). Qed.

Theorem four_state_round_flows :
  Pi (pair_of Y1 Y1) * four_state_round (pair_of Y1 Y1) (pair_of Y1 Y3) = 7%:R / 384%:R /\
  Pi (pair_of Y1 Y3) * four_state_round (pair_of Y1 Y3) (pair_of Y1 Y1) = 6%:R / 384%:R.
Proof.
rewrite !four_state_roundE /swap_accept !pair_exchange.
rewrite -![product _ _]/(Pi _) !Pi_pair !prodk_pair !LE !targetsE.
by split; apply/eqP; vm_compute.
Qed.

Theorem four_state_round_not_reversible : ~ reversible Pi four_state_round.
Proof.
move=> rev; case: four_state_round_flows; rewrite rev => -> /eqP.
by vm_compute.
Qed.

(** It preserves the target all the same. *)
Theorem four_state_round_invariant : invariant Pi four_state_round.
Proof.
apply: transition_invariant_adj; first exact: lm_model.
by move=> k; split=> [r|]; rewrite /uniform_restart // !big_ord_recl big_ord0; apply/eqP.
Qed.
