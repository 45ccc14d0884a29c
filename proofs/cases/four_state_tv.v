(** * Both total-variation curves of the four-state example, for every N

    eq:condensed-tv-laws, the minimum at N = 4, the limits 0 and 1/2, and
    eq:censored-mass-bound.                                                      *)

From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov autoregressive record_space power power_target.
From Tempera Require Import truncating executable four_state four_state_laws.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

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

Lemma trunc_abs1 : 0 <= q ->
  `|lin (1/2%:R) (- (1/3%:R)) - 2%:R/3%:R| = lin (1/6%:R) (1/3%:R).
Proof. by move=> q0; apply: lin_abs_neg; [| |apply: lin_pos]; vm_compute. Qed.

Lemma trunc_abs2 : q <= 3%:R/4%:R ->
  `|lin (1/2%:R) (- (2%:R/3%:R)) - 0| = lin (1/2%:R) (- (2%:R/3%:R)).
Proof.
move=> qb; apply: lin_abs_pos; first by vm_compute.
by apply: (lin_below qb); vm_compute.
Qed.

Lemma trunc_high : 0 <= q -> q <= 3%:R/4%:R -> 1/3%:R <= q ->
  tv (affine trunc_limit trunc_mode q) (entry pi_row) = lin (1/6%:R) (1/3%:R).
Proof.
move=> q0 q1 q2; have h : `|lin 0 (1/2%:R) - 1/6%:R| = lin (- (1/6%:R)) (1/2%:R).
  by apply: lin_abs_pos; [|apply: (lin_above q2)]; vm_compute.
rewrite tv_affine.
apply: (eq_trans (sum4 _ (trunc_abs1 q0) (trunc_abs2 q1) h h)).
by apply: collect; vm_compute.
Qed.

Lemma trunc_low : 0 <= q -> q <= 3%:R/4%:R -> q <= 1/3%:R ->
  tv (affine trunc_limit trunc_mode q) (entry pi_row)
    = lin (1/2%:R) (- (2%:R/3%:R)).
Proof.
move=> q0 q1 q2; have h : `|lin 0 (1/2%:R) - 1/6%:R| = lin (1/6%:R) (- (1/2%:R)).
  by apply: lin_abs_neg; [| |apply: (lin_below q2)]; vm_compute.
rewrite tv_affine.
apply: (eq_trans (sum4 _ (trunc_abs1 q0) (trunc_abs2 q1) h h)).
by apply: collect; vm_compute.
Qed.

(** The second branch of the maximum is the larger one exactly when q <= 1/3. *)
Lemma branches (c w c' w' b : rat) : c' - c == b -> w - w' == 1 ->
  (lin c w <= lin c' w') = (q <= b).
Proof.
move=> /eqP <- /eqP e1.
by rewrite -subr_ge0 opprD addrACA -mulrBl -[w' - w]opprB e1 mulN1r subr_ge0.
Qed.

Lemma tv_trunc_affine : 0 <= q -> q <= 3%:R/4%:R ->
  tv (affine trunc_limit trunc_mode q) (entry pi_row)
    = Num.max (lin (1/6%:R) (1/3%:R)) (lin (1/2%:R) (- (2%:R/3%:R))).
Proof.
move=> q0 q1; have le : (lin (1/6%:R) (1/3%:R) <= lin (1/2%:R) (- (2%:R/3%:R))) = (q <= 1/3%:R).
  by apply: branches; vm_compute.
have [ql|qh] := lerP q (1/3%:R).
  by rewrite trunc_low // max_r // le.
rewrite trunc_high // ?ltW // max_l //.
by apply: ltW; rewrite ltNge le -ltNge.
Qed.

End Affine.

(** ** eq:condensed-tv-laws *)

Lemma rate_bounds (r : rat) N : 0 < r -> r <= 1 -> 0 < r ^+ N.+1 <= r.
Proof.
move=> r0 r1; rewrite exprn_gt0 //= exprS ler_pimulr ?(ltW r0) //.
by rewrite exprn_ile1 // ltW.
Qed.

Theorem tv_fix N : tv (nu N.+1) pi = 2%:R/3%:R * r_fix ^+ N.+1.
Proof.
rewrite (tv_ext (nuE N) (entryE piE)) tv_fix_affine ?add0r //.
by rewrite exprn_ge0.
Qed.

Theorem tv_trunc N : tv (nu_t N.+1) pi =
  Num.max (1/6%:R + 1/3%:R * r_trunc ^+ N.+1) (1/2%:R - 2%:R/3%:R * r_trunc ^+ N.+1).
Proof.
rewrite (tv_ext (nu_tE N) (entryE piE)) tv_trunc_affine ?mulNr //.
  by rewrite exprn_ge0.
by case/andP: (@rate_bounds r_trunc N isT isT).
Qed.

(** Starting from X3 instead of X4 the total variations are the same from the first update on. *)
Theorem tv_from_X3 N :
  tv (run N.+1 (delta X3) P_fix) pi = 2%:R/3%:R * r_fix ^+ N.+1 /\
  tv (run N.+1 (delta X3) P_trunc) pi =
    Num.max (1/6%:R + 1/3%:R * r_trunc ^+ N.+1) (1/2%:R - 2%:R/3%:R * r_trunc ^+ N.+1).
Proof.
have [same_fix same_trunc] := start_X3_same N.
rewrite (tv_ext same_fix (fun=> erefl)) (tv_ext same_trunc (fun=> erefl)).
by split; [exact: tv_fix | exact: tv_trunc].
Qed.

(** Both curves start at 5/6. *)
Theorem tv_start : tv (nu 0) pi = 5%:R/6%:R /\ tv (nu_t 0) pi = 5%:R/6%:R.
Proof.
have d : nu 0 =1 entry [:: 0; 0; 0; 1] by apply: by_entry; apply/eqP; vm_compute.
by split; rewrite (tv_ext d (entryE piE)) /tv sum_X; apply/eqP; vm_compute.
Qed.

(** The table of fig:condensed-tv-summary. *)
Theorem tv_fix_table :
  [/\ tv (nu 1) pi = 5%:R/12%:R, tv (nu 2) pi = 25%:R/96%:R,
      tv (nu 3) pi = 125%:R/768%:R & tv (nu 4) pi = 625%:R/(48%:R * 128%:R)].
Proof. by split; rewrite tv_fix; apply/eqP; vm_compute. Qed.

Theorem tv_trunc_table :
  [/\ tv (nu_t 1) pi = 5%:R/12%:R, tv (nu_t 2) pi = 17%:R/48%:R,
      tv (nu_t 3) pi = 59%:R/192%:R, tv (nu_t 4) pi = 37%:R/128%:R
    & tv (nu_t 5) pi = 175%:R/512%:R].
Proof. by split; rewrite tv_trunc; apply/eqP; vm_compute. Qed.

(** At N = 2 the unbalanced error is 17/48, the corrected one 25/96. *)
Theorem tv_at_two : tv (nu_t 2) pi = 17%:R/48%:R /\ tv (nu 2) pi = 25%:R/96%:R.
Proof. by case: tv_trunc_table => _ -> _ _ _; case: tv_fix_table => _ -> _ _. Qed.

(** From N = 4 on the second branch holds ... *)
Lemma late_rate N : r_trunc ^+ (N + 4) <= 81%:R/256%:R.
Proof.
rewrite addnC exprD; have -> : r_trunc ^+ 4 = 81%:R/256%:R by apply/eqP; vm_compute.
by rewrite ler_pimulr // exprn_ile1.
Qed.

Theorem tv_trunc_late N :
  tv (nu_t (N + 4)) pi = 1/2%:R - 2%:R/3%:R * r_trunc ^+ (N + 4).
Proof.
have e : (N + 4)%N = (N + 3).+1 by rewrite addnS.
rewrite e tv_trunc -e max_r // -mulNr (branches _ (b := 1/3%:R)) //.
by apply: le_trans (late_rate N) _; vm_compute.
Qed.

(** ... so the minimum over all N is 37/128, attained at N = 4 only. *)
Theorem tv_trunc_minimum N : N != 4%N -> 37%:R/128%:R < tv (nu_t N) pi.
Proof.
have [lt|ge] := ltnP N 4.
  move=> _; case: N lt => [|[|[|[|//]]]] _.
  - by case: tv_start => _ ->.
  - by case: tv_trunc_table => -> _ _ _ _.
  - by case: tv_trunc_table => _ -> _ _ _.
  - by case: tv_trunc_table => _ _ -> _ _.
rewrite -(subnK ge); case: (N - 4)%N => [|n] // _; rewrite tv_trunc_late.
have lt : r_trunc ^+ (n.+1 + 4) < 81%:R/256%:R.
  rewrite addSn exprS; apply: (@le_lt_trans _ _ (r_trunc * (81%:R/256%:R))).
    by rewrite ler_wpmul2l // late_rate.
  by vm_compute.
rewrite ltr_subr_addr addrC -ltr_subr_addr.
have -> : 1/2%:R - 37%:R/128%:R = 2%:R/3%:R * (81%:R/256%:R) :> rat by apply/eqP; vm_compute.
by rewrite ltr_pmul2l.
Qed.

Theorem tv_trunc_at_minimum : tv (nu_t 4) pi = 37%:R/128%:R.
Proof. by case: tv_trunc_table. Qed.

(** ** eq:censored-mass-bound *)

Theorem censored_mass N : nu_t N.+1 X2 = 1/2%:R - 2%:R/3%:R * r_trunc ^+ N.+1.
Proof. by rewrite nu_tE /affine mulNr. Qed.

Theorem censored_mass_bound N :
  nu_t N.+1 X2 = 1/2%:R - 2%:R/3%:R * r_trunc ^+ N.+1 /\ nu_t N.+1 X2 <= tv (nu_t N.+1) pi.
Proof. by rewrite censored_mass; split=> //; rewrite tv_trunc le_maxr lexx orbT. Qed.

Theorem censored_mass_equality N : (4 <= N)%N -> tv (nu_t N) pi = nu_t N X2.
Proof.
move=> ge; rewrite -(subnK ge) tv_trunc_late.
by rewrite -[in RHS](addn1 3) [in RHS]addnA addn1 censored_mass addnS.
Qed.

(** ** The limits *)

Lemma rate_small N : (N%:R + 3%:R) * r_trunc ^+ N <= 3%:R.
Proof.
elim: N => [|N IH]; first by vm_compute.
apply: le_trans IH; rewrite exprS mulrA ler_wpmul2r ?exprn_ge0 //.
rewrite -addn1 natrD -addrA mulrDl; have -> : (1 + 3%:R) * r_trunc = 3%:R by apply/eqP; vm_compute.
by rewrite ler_add2r ler_pimulr ?ler0n.
Qed.

(** r^N goes to zero for both rates. *)
Lemma rate_vanishes (eps : rat) : 0 < eps ->
  exists N0, forall N, (N0 <= N)%N -> r_trunc ^+ N < eps.
Proof.
move=> e0; have b0 : 0 <= 3%:R / eps by rewrite divr_ge0 // ltW.
exists (Num.bound (3%:R / eps)) => N ge.
have big : 3%:R / eps < N%:R + 3%:R.
  apply: (lt_le_trans (archi_boundP b0)); apply: (@le_trans _ _ N%:R).
    by rewrite ler_nat.
  by rewrite ler_addl.
have p : 0 < N%:R + 3%:R :> rat by apply: le_lt_trans big.
rewrite -(ltr_pmul2l p); apply: (le_lt_trans (rate_small N)).
by move: big; rewrite ltr_pdivr_mulr.
Qed.

Lemma rates_ordered N : r_fix ^+ N <= r_trunc ^+ N.
Proof. by apply: ler_expn2r => //; rewrite nnegrE. Qed.

(** The fixed-horizon law converges to pi ... *)
Theorem tv_fix_vanishes (eps : rat) : 0 < eps ->
  exists N0, forall N, (N0 <= N)%N -> tv (nu N) pi < eps.
Proof.
move=> /rate_vanishes[N0 h]; exists N0.+1 => -[//|N] ge; rewrite tv_fix.
apply: le_lt_trans (h N.+1 (leq_trans (leqnSn _) ge)).
apply: le_trans (rates_ordered N.+1); rewrite ler_pimull ?exprn_ge0 //.
Qed.

(** ... and the truncating one stays at the floor 1/2, from below. *)
Theorem tv_trunc_floor (eps : rat) : 0 < eps ->
  exists N0, forall N, (N0 <= N)%N -> 1/2%:R - eps < tv (nu_t N) pi < 1/2%:R.
Proof.
move=> /rate_vanishes[N0 h]; exists (N0 + 4)%N => N ge.
have ge4 : (4 <= N)%N by apply: leq_trans ge; rewrite leq_addl.
rewrite -(subnK ge4) tv_trunc_late subnK //; set q := r_trunc ^+ N.
have q0 : 0 < q by rewrite exprn_gt0.
have qe : q < eps by apply: h; apply: leq_trans ge; rewrite leq_addr.
rewrite ltr_add2l ltr_opp2 ltr_subl_addr ltr_addl mulr_gt0 // andbT.
by apply: le_lt_trans qe; rewrite ler_pimull // ltW.
Qed.

(** The chain itself converges to half X1, half X2. *)
Theorem trunc_limit_law (eps : rat) : 0 < eps ->
  exists N0, forall N, (N0 <= N)%N -> forall x, `|nu_t N x - entry trunc_limit x| < eps.
Proof.
move=> /rate_vanishes[N0 h]; exists N0.+1 => -[//|N] ge x.
rewrite nu_tE /affine addrAC subrr add0r normrM (ger0_norm (exprn_ge0 _ _)) //.
apply: le_lt_trans (h N.+1 (leq_trans (leqnSn _) ge)).
rewrite ler_pimull ?exprn_ge0 //; move: (mem_X x).
by rewrite !inE => /or4P[] /eqP ->; vm_compute.
Qed.
