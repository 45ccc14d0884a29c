(** * Both total-variation curves of the four-state example, for every N

    eq:condensed-tv-laws, the minimum at N = 4, the limits 0 and 1/2, and
    eq:censored-mass-bound, from the matrices that four_state.v derives.          *)

From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov autoregressive record_space power power_target.
From Tempera Require Import truncating executable four_state.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Notation delta := (@dirac rat_realFieldType _).

(** ** Laws that are affine in a power of a rate *)

(** [affine v w q] has the entries v_i + w_i q; a law of the chain for every N >= 1
    is affine in q = rate^N. *)
Definition entry (v : seq rat) (x : space) : rat := nth 0 v (index x X).

Lemma entryE (F : space -> rat) v : vector_is F v -> F =1 entry v.
Proof.
move=> <- x; rewrite /entry (nth_map X1) ?index_mem ?mem_X //.
by rewrite nth_index ?mem_X.
Qed.

Definition entry2 (m : seq (seq rat)) (x y : space) : rat := entry (nth [::] m (index x X)) y.

Lemma entry2E P m : matrix_is P m -> P =2 entry2 m.
Proof.
move=> <- x y; rewrite /entry2 (nth_map X1) ?index_mem ?mem_X //.
rewrite nth_index ?mem_X //; exact: (@entryE (P x)).
Qed.

Lemma act_entry v m y : act (entry v) (entry2 m) y =
  sum_list (fun i => nth 0 v i * nth 0 (nth [::] m i) (index y X)) (iota 0 4).
Proof. by rewrite /act sum_X /= addr0 !addrA. Qed.

Definition affine (v w : seq rat) (q : rat) (x : space) : rat := entry v x + entry w x * q.

(** When v is invariant and w an eigenvector of rate r, one step multiplies q by r. *)
Definition eigen (m : seq (seq rat)) (r : rat) (v : seq rat) : bool :=
  all (fun j => sum_list (fun i => nth 0 v i * nth 0 (nth [::] m i) j) (iota 0 4)
                == r * nth 0 v j) (iota 0 4).

Lemma eigenP m r v y : eigen m r v -> act (entry v) (entry2 m) y = r * entry v y.
Proof.
move=> /allP h; rewrite act_entry; apply/eqP/h.
have lt : (index y X < 4)%N by rewrite -[4%N]/(size X) index_mem mem_X.
by rewrite mem_iota.
Qed.

Lemma act_affine m r v w q : eigen m 1 v -> eigen m r w ->
  act (affine v w q) (entry2 m) =1 affine v w (q * r).
Proof.
move=> ev ew y; rewrite /affine.
transitivity (act (entry v) (entry2 m) y + act (entry w) (entry2 m) y * q).
  rewrite /act mulr_suml -big_split /=; apply: eq_bigr => x _.
  by rewrite mulrDl [in RHS]mulrAC.
by rewrite (eigenP _ ev) (eigenP _ ew) mul1r [q * r]mulrC mulrA [r * _]mulrC.
Qed.

Lemma run_affine P m r v w x0 N : matrix_is P m -> eigen m 1 v -> eigen m r w ->
  (forall y, entry2 m x0 y = affine v w r y) ->
  run N.+1 (delta x0) P =1 affine v w (r ^+ N.+1).
Proof.
move=> mP ev ew base_case; elim: N => [|N IH] y.
  by rewrite /run /= /dirac /act sum_idkl (entry2E mP) base_case expr1.
rewrite runS (act_ext IH (entry2E mP)) (act_affine _ ev ew).
by rewrite -exprSr.
Qed.

(** ** The laws from X4 *)

Definition nu (N : nat) : space -> rat := run N (delta X4) P_fix.
Definition nu_t (N : nat) : space -> rat := run N (delta X4) P_trunc.

Definition pi_row : seq rat := [:: 2%:R/3%:R; 0; 1/6%:R; 1/6%:R].
Definition fix_mode : seq rat := [:: - (2%:R/3%:R); 0; 1/3%:R; 1/3%:R].
Definition trunc_limit : seq rat := [:: 1/2%:R; 1/2%:R; 0; 0].
Definition trunc_mode : seq rat := [:: - (1/3%:R); - (2%:R/3%:R); 1/2%:R; 1/2%:R].

Lemma by_entry (F G : space -> rat) :
  map F X = map G X -> F =1 G.
Proof. by move=> h x; rewrite (entryE h) -(entryE (erefl (map G X))). Qed.

Notation r_fix := (5%:R / 8%:R : rat).
Notation r_trunc := (3%:R / 4%:R : rat).

Lemma nuE N : nu N.+1 =1 affine pi_row fix_mode (r_fix ^+ N.+1).
Proof.
apply: (run_affine N P_fixE); [by vm_compute | by vm_compute |].
by apply: by_entry; apply/eqP; vm_compute.
Qed.

Lemma nu_tE N : nu_t N.+1 =1 affine trunc_limit trunc_mode (r_trunc ^+ N.+1).
Proof.
apply: (run_affine N P_truncE); [by vm_compute | by vm_compute |].
by apply: by_entry; apply/eqP; vm_compute.
Qed.

(** Starting from X3 gives the same laws from the first update on. *)
Theorem start_X3_same N :
  run N.+1 (delta X3) P_fix =1 nu N.+1 /\ run N.+1 (delta X3) P_trunc =1 nu_t N.+1.
Proof.
have step P : P X3 =1 P X4 -> act (delta X3) P =1 act (delta X4) P.
  by move=> e y; rewrite /act /dirac !sum_idkl.
have rows P m : matrix_is P m -> nth [::] m 2 = nth [::] m 3 -> P X3 =1 P X4.
  by move=> mP e y; rewrite !(entry2E mP) /entry2 -[index X3 X]/2%N -[index X4 X]/3%N e.
have later P : act (delta X3) P =1 act (delta X4) P ->
    run N.+1 (delta X3) P =1 run N.+1 (delta X4) P.
  move=> e; elim: N => [|n IH]; first exact: e.
  by move=> y; rewrite !(runS n.+1); apply: act_ext.
split; apply/later/step; [exact: (rows _ _ P_fixE) | exact: (rows _ _ P_truncE)].
Qed.

(** ** eq:condensed-invariance-test *)

Theorem fix_invariant : invariant pi P_fix.
Proof.
move=> y; rewrite (act_ext (entryE piE) (entry2E P_fixE)) (eigenP (r := 1)).
  by rewrite mul1r -(entryE piE).
by vm_compute.
Qed.

Theorem trunc_moves_target :
  vector_is (act pi P_trunc) [:: 5%:R/12%:R; 1/3%:R; 1/8%:R; 1/8%:R].
Proof.
rewrite /vector_is /=; do !rewrite (act_ext (entryE piE) (entry2E P_truncE)) act_entry.
by apply/eqP; vm_compute.
Qed.

Theorem trunc_not_invariant : ~ invariant pi P_trunc.
Proof.
move=> h; have p : 5%:R/12%:R == 2%:R/3%:R :> rat.
  have := congr1 (nth 0 ^~ 0%N) trunc_moves_target.
  rewrite [LHS](h X1) [LHS](entryE piE) => e.
  by apply/eqP; exact: (esym e).
by move: p; vm_compute.
Qed.

(** ** Total variation *)

Section Affine.
Variable q : rat.
Notation lin c w := (c + w * q).

(** Constants stay variables below: unification must not compute on fractions. *)
Lemma linD c w c' w' : lin c w + lin c' w' = lin (c + c') (w + w') :> rat.
Proof. by rewrite addrACA -mulrDl. Qed.

Lemma linZ k c w : k * lin c w = lin (k * c) (k * w) :> rat.
Proof. by rewrite mulrDr mulrA. Qed.

Lemma eq_lin (c w c' w' : rat) : c == c' -> w == w' -> lin c w = lin c' w'.
Proof. by move=> /eqP -> /eqP ->. Qed.

Lemma lin_pos (c w : rat) : 0 <= q -> 0 <= c -> 0 <= w -> 0 <= lin c w.
Proof. by move=> *; rewrite addr_ge0 ?mulr_ge0. Qed.

Lemma lin_below (c w b : rat) : q <= b -> w <= 0 -> c + w * b == 0 -> 0 <= lin c w.
Proof. by move=> qb w0 /eqP <-; rewrite ler_add2l ler_wnmul2l. Qed.

Lemma lin_above (c w b : rat) : b <= q -> 0 <= w -> c + w * b == 0 -> 0 <= lin c w.
Proof. by move=> qb w0 /eqP <-; rewrite ler_add2l ler_wpmul2l. Qed.

Lemma lin_abs_pos (c w p d : rat) : c - p == d -> 0 <= lin d w ->
  `|lin c w - p| = lin d w.
Proof. by move=> /eqP <- h; rewrite addrAC ger0_norm. Qed.

Lemma lin_abs_neg (c w p d u : rat) : p - c == d -> w == - u -> 0 <= lin d u ->
  `|lin c w - p| = lin d u.
Proof.
move=> /eqP <- /eqP -> h; rewrite addrAC mulNr -normrN opprD opprK opprB.
by rewrite ger0_norm.
Qed.

Lemma tv_affine v w p : tv (affine v w q) (entry p) =
  2%:R^-1 * (`|nth 0 v 0 + nth 0 w 0 * q - nth 0 p 0|
             + `|nth 0 v 1 + nth 0 w 1 * q - nth 0 p 1|
             + `|nth 0 v 2 + nth 0 w 2 * q - nth 0 p 2|
             + `|nth 0 v 3 + nth 0 w 3 * q - nth 0 p 3|).
Proof. by rewrite /tv sum_X. Qed.

Lemma sum4 (k : rat) (n1 n2 n3 n4 m1 m2 m3 m4 : rat) :
  n1 = m1 -> n2 = m2 -> n3 = m3 -> n4 = m4 ->
  k * (n1 + n2 + n3 + n4) = k * (m1 + m2 + m3 + m4).
Proof. by move=> -> -> -> ->. Qed.

Lemma collect (k c1 w1 c2 w2 c3 w3 c4 w4 c w : rat) :
  k * (c1 + c2 + c3 + c4) == c -> k * (w1 + w2 + w3 + w4) == w ->
  k * (lin c1 w1 + lin c2 w2 + lin c3 w3 + lin c4 w4) = lin c w.
Proof. by move=> /eqP <- /eqP <-; rewrite !linD linZ. Qed.

Lemma tv_fix_affine : 0 <= q ->
  tv (affine pi_row fix_mode q) (entry pi_row) = lin 0 (2%:R/3%:R).
Proof.
move=> q0; rewrite tv_affine; apply: (eq_trans (sum4 _ _ _ _ _)).
- by apply: (@lin_abs_neg _ _ _ 0 (2%:R/3%:R)); [| |apply: lin_pos]; vm_compute.
- by apply: (@lin_abs_pos _ _ _ 0); [|apply: lin_pos]; vm_compute.
- by apply: (@lin_abs_pos _ _ _ 0); [|apply: lin_pos]; vm_compute.
- by apply: (@lin_abs_pos _ _ _ 0); [|apply: lin_pos]; vm_compute.
by apply: collect; vm_compute.
Qed.

End Affine.
