(** * The laws of the four-state example after N updates, for every N

    From the matrices that four_state.v derives: the laws in closed form,
    eq:condensed-invariance-test, and the confinement of eq:ppt-local-confinement. *)

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

(** ** Recovery of the structural lower bound *)

Definition B (x : space) : bool := (tokens_of (val x) <= 1)%N.

(** B = {X1, X2} is closed, and is entered with probability 1/4 from either longer
    record: eq:ppt-local-confinement with delta = 1/4. *)
Theorem confinement :
  map (fun x => prob (P_trunc x) B) X = [:: 1; 1; 1/4%:R; 1/4%:R].
Proof.
have -> : map (fun x => prob (P_trunc x) B) X
    = map (fun x => prob (entry2 trunc_rows x) B) X.
  by apply: eq_map => x; apply: eq_bigr => y _; rewrite (entry2E P_truncE).
pose cut x y := if B y then entry2 trunc_rows x y else 0.
have -> : map (fun x => prob (entry2 trunc_rows x) B) X
    = map (fun x => cut x X1 + cut x X2 + cut x X3 + cut x X4) X.
  by apply: eq_map => x; rewrite /prob big_mkcond sum_X.
by apply/eqP; vm_compute.
Qed.

(** b_1 = pi(B^c) = 1/3. *)
Theorem excluded_mass : prob pi (predC B) = 1/3%:R.
Proof.
by rewrite /prob big_mkcond sum_X !(entryE piE); apply/eqP; vm_compute.
Qed.
