(** * Matrices and laws computed from the proved definitions

    [make -C proofs] evaluates [printed] on the cases of join_cases.v and writes
    matrices.txt, which a test compares, entry by entry, with reference/.  The
    theorems say, for every finite model, ladder, restart law and schedule, that the
    lists evaluated here are the kernels and the law that the theorems are about:
    [matrices_are_kernels], [truncating_matrix_is_kernel], [progressive_list_is_law]. *)

From Coq Require Import ZArith QArith Qcanon.
From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov autoregressive record_space power power_target.
From Tempera Require Import replica_exchange fixed_horizon truncating progressive_law.
From Tempera Require Import executable exact_rational tables joint_tables local_tables finite_models.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** The power p of a ladder of whole numbers. *)
Definition whole_power (p : nat) : power Q_field := power_nat Q_field p.-1.

Section OneRung.
Variables (M : finite_model) (T : nat).
Notation space := (S_T (R := Q_field) (E M) (lm (M := M)) T).
Notation words_of s := [seq (val (val x) : seq (option (ordinal_finType (width M)))) | x <- s].
Notation tokens := (ordinals (width M)).
Notation terminal := (@ends_at M).

Definition local_matrix (p : nat) (w : seq Qc) : seq (seq Qc) :=
  x_local_table (R := Q_field) (lm (M := M)) (whole_power p) tokens terminal T
    (fun r => nth (0 : Qc) w r) (fixed_words M T).

Definition target_list (p : nat) : seq Qc :=
  x_targets (R := Q_field) (lm (M := M)) (whole_power p) terminal (fixed_words M T).

Definition truncating_matrix (p : nat) : seq (seq Qc) :=
  x_truncating_table (R := Q_field) (lm (M := M)) (whole_power p) tokens terminal
    (comparison_words M T).

Definition extension_matrix (p T' : nat) : seq (seq Qc) :=
  x_extension (R := Q_field) (lm (M := M)) (whole_power p) tokens terminal T
    (fixed_words M T) (fixed_words M T').

Theorem truncating_matrix_is_kernel (p : nat)
    (s : seq (comparison (R := Q_field) (E M) (lm (M := M)) T)) :
  listing s -> words_of s = comparison_words M T ->
  truncating_matrix p = table s s (truncating (whole_power p)).
Proof.
move=> ls e; rewrite /truncating_matrix -e.
by apply: x_truncating_tableE => //; [apply: ordinals_uniq | apply: ordinals_all | apply: ends_atE].
Qed.

End OneRung.

Section Joint.
Variables (M : finite_model) (n : nat) (powers : seq nat).
Notation K := n.+1.
Notation space T := (S_T (R := Q_field) (E M) (lm (M := M)) T).
Notation words_of s := [seq (val (val x) : seq (option (ordinal_finType (width M)))) | x <- s].

Definition ladder (k : 'I_K) : power Q_field := whole_power (nth 1%N powers k).

Section Horizon.
Variables (T : nat) (w : seq Qc).
Notation N := (size (fixed_words M T)).

Definition targets : seq (seq Qc) := [seq target_list M T (nth 1%N powers k) | k <- iota 0 K].

Definition swap_matrix (e : nat) : seq (seq Qc) := x_W (R := Q_field) n N targets e.
Definition adj_matrix : seq (seq Qc) := x_adj (R := Q_field) n N targets.
Definition layer_matrix (b : bool) : seq (seq Qc) := x_layer (R := Q_field) n N targets b.

Definition sweep_matrix : seq (seq Qc) :=
  x_prodk (R := Q_field) n N N [seq local_matrix M T (nth 1%N powers k) w | k <- iota 0 K].

(** R^n_local is computed rung by rung, as the product of the L_k^n_local. *)
Definition transition_matrix (n_local n_sweep : nat) : seq (seq Qc) :=
  x_comp (R := Q_field) (x_width n N)
    (x_prodk (R := Q_field) n N N
      [seq x_power (R := Q_field) N n_local (local_matrix M T (nth 1%N powers k) w) | k <- iota 0 K])
    (x_power (R := Q_field) (x_width n N) n_sweep adj_matrix).

(** w lists the weights of a restart law, the same at every rung. *)
Variable omega : 'I_K -> 'I_T -> Q_field.
Hypothesis omegaE : forall k r, nth (0 : Qc) w (val r) = omega k r.

Variable s : seq (space T).
Hypothesis listed : listing s.
Hypothesis words_s : words_of s = fixed_words M T.

Lemma size_s : size s = N.
Proof. by rewrite -words_s size_map. Qed.

Lemma local_matrixE (k : 'I_K) :
  local_matrix M T (nth 1%N powers k) w = table s s (local ladder omega k).
Proof.
rewrite /local_matrix -words_s.
by apply: x_local_tableE => //; [apply: ordinals_uniq | apply: ordinals_all | apply: ends_atE | apply: omegaE].
Qed.

Lemma targetsE (k : 'I_K) : nth [::] targets k = values s (pi ladder k).
Proof.
rewrite (nth_map 0%N) ?size_iota // nth_iota // add0n /target_list -words_s.
by apply: x_targetsE => //; apply: ends_atE.
Qed.

Variable x0 : space T.
Notation J := (joint n x0 s).

Lemma sweep_matrixE : sweep_matrix = table J J (sweep (local ladder omega)).
Proof.
rewrite /sweep_matrix -size_s; apply: x_prodkE => k.
by rewrite (nth_map 0%N) ?size_iota // nth_iota // add0n local_matrixE.
Qed.

Lemma adj_matrixE : adj_matrix = table J J (adj (pi ladder)).
Proof. by rewrite /adj_matrix -size_s; apply: x_adjE => //; apply: targetsE. Qed.

Lemma transition_matrixE n_local n_sweep : transition_matrix n_local n_sweep =
  table J J (transition ladder omega (adj (pi ladder)) n_local n_sweep).
Proof.
have lJ := listing_joint n x0 listed; rewrite /transition_matrix /x_width -size_s -(size_joint n x0).
rewrite (x_prodkE x0 x0 (L := fun k => iterk n_local (local ladder omega k))) => [|k].
  by rewrite (eq_table _ _ (prodk_iterk _ _)) adj_matrixE x_powerE //; exact: x_compE.
by rewrite (nth_map 0%N) ?size_iota // nth_iota // add0n local_matrixE x_powerE.
Qed.

(** Every list is the table of the kernel of its name, rows and columns along the
    records s and the joint states J. *)
Theorem matrices_are_kernels :
  [/\ forall k : 'I_K, local_matrix M T (nth 1%N powers k) w
        = table s s (local ladder omega k),
      forall e : 'I_n, swap_matrix e = table J J (W (pi ladder) e),
      adj_matrix = table J J (adj (pi ladder)),
      forall b, layer_matrix b = table J J (deo_layer (pi ladder) b)
    & forall n_local n_sweep, transition_matrix n_local n_sweep
        = table J J (transition ladder omega (adj (pi ladder)) n_local n_sweep)].
Proof.
split=> [k|e||b|n_local n_sweep].
- exact: local_matrixE.
- by rewrite /swap_matrix -size_s; apply: x_WE => //; apply: targetsE.
- exact: adj_matrixE.
- by rewrite /layer_matrix -size_s; apply: x_layerE => //; apply: targetsE.
- exact: transition_matrixE.
Qed.

End Horizon.

(** ** The law of the progressive algorithm *)
Definition uniform_restart (T : nat) : seq Qc := nseq T ((T%:R : Q_field)^-1 : Qc).

Definition x_stage (T : nat) (m : seq Qc) (g : stage) : seq Qc :=
  let T' := horizon g in
  let wide := x_width n (size (fixed_words M T')) in
  let extended := x_act wide m (x_prodk (R := Q_field) n (size (fixed_words M T)) (size (fixed_words M T'))
    [seq extension_matrix M T (nth 1%N powers k) T' | k <- iota 0 K]) in
  let R := sweep_matrix T' (uniform_restart T') in
  let C := adj_matrix T' in
  iter (rounds g) (fun law => iter (n_sweep g) (fun law => x_act wide law C)
    (iter (n_local g) (fun law => x_act wide law R) law)) extended.

Fixpoint x_progressive (T : nat) (m : seq Qc) (gs : seq stage) : seq Qc :=
  if gs is g :: gs' then x_progressive (horizon g) (x_stage T m g) gs' else m.

Definition progressive_list (gs : seq stage) : seq Qc := x_progressive 0 [:: (1 : Qc)] gs.

Fixpoint increasing (T : nat) (gs : seq stage) : bool :=
  if gs is g :: gs' then (T <= horizon g)%N && increasing (horizon g) gs' else true.

Section Stages.
Hypothesis lm_model : model (E M) (lm (M := M) : _ -> _ -> Q_field).

Lemma some_record T : exists x : space T, true.
Proof.
have [_ sum1] := p0_law_S_T lm_model T.
case: (pickP [pred x : space T | true]) => [x _|none]; first by exists x.
by move: sum1; rewrite big_pred0 // => /eqP; rewrite eq_sym oner_eq0.
Qed.

Lemma x_stageE (T : nat) (s : seq (space T)) (x0 : space T) (g : stage) (mu : {ffun 'I_K -> space T} -> Q_field)
    (s' : seq (space (horizon g))) (y0 : space (horizon g)) :
  (T <= horizon g)%N ->
  listing s -> words_of s = fixed_words M T ->
  listing s' -> words_of s' = fixed_words M (horizon g) ->
  x_stage T (values (joint n x0 s) mu) g
  = values (joint n y0 s') (@stage_law Q_field _ (E M) _ n ladder T mu g).
Proof.
move=> Tg ls es ls' es'; rewrite /x_stage /stage_law.
have -> : x_prodk (R := Q_field) n (size (fixed_words M T)) (size (fixed_words M (horizon g)))
    [seq extension_matrix M T (nth 1%N powers k) (horizon g) | k <- iota 0 K]
  = table (joint n x0 s) (joint n y0 s') (prodk (fun k => extension (ladder k))).
  rewrite -(size_s es) -(size_s es'); apply: x_prodkE => k.
  rewrite (nth_map 0%N) ?size_iota // nth_iota // add0n /extension_matrix -es -es'.
  by apply: x_extensionE => //; [apply: ordinals_uniq | apply: ordinals_all | apply: ends_atE].
rewrite -(size_s es') /x_width -(size_joint n y0) x_actE; last exact: listing_joint.
elim: (rounds g) => [//|N IH]; rewrite iterS IH runS.
have uniform (k : 'I_K) (r : 'I_(horizon g)) :
    nth (0 : Qc) (uniform_restart (horizon g)) r = ((horizon g)%:R : Q_field)^-1.
  by rewrite nth_nseq ltn_ord.
rewrite (sweep_matrixE uniform ls' es' y0) (adj_matrixE ls' es' y0).
set J := joint n y0 s'; have lJ : listing J by apply: listing_joint.
have acts (Q : {ffun 'I_K -> space (horizon g)} -> {ffun 'I_K -> space (horizon g)} -> Q_field) m law :
    iter m (fun law => x_act (size J) law (table J J Q)) (values J law) = values J (run m law Q).
  by elim: m => [//|m IHm]; rewrite iterS IHm x_actE.
rewrite !acts; apply: eq_values => Y.
rewrite /stage_round /transition /ppt act_compk -act_iterk.
by apply: act_ext => // X; rewrite act_iterk.
Qed.

Lemma x_progressiveE (T : nat) (gs : seq stage) (s : seq (space T)) (x0 : space T)
    (mu : {ffun 'I_K -> space T} -> Q_field)
    (s' : seq (space (last_horizon T gs))) (y0 : space (last_horizon T gs)) :
  increasing T gs -> listing s -> words_of s = fixed_words M T ->
  listing s' -> words_of s' = fixed_words M (last_horizon T gs) ->
  x_progressive T (values (joint n x0 s) mu) gs
  = values (joint n y0 s') (@progressive_from Q_field _ (E M) _ n ladder T mu gs).
Proof.
elim: gs T s x0 mu s' y0 => [|g gs IH] T s x0 mu s' y0 /=.
  move=> _ ls es ls' es'; have <- : s = s'.
    have inj : injective (fun x : space T => val (val x) : seq (option (ordinal_finType (width M)))).
      by move=> x y /val_inj/val_inj.
    by apply: (inj_map inj); rewrite es es'.
  apply: (@eq_from_nth _ 0) => [|i]; rewrite !size_map // => iJ.
  rewrite !(nth_map [ffun=> x0]) ?size_map // !(nth_map [::]) //; congr (mu _).
  apply/ffunP => k; rewrite !ffunE; apply: set_nth_default.
  have /code_lt : nth [::] (codes K (size s)) i \in codes K (size s) by rewrite mem_nth.
  by apply.
case/andP=> Tg inc ls es ls' es'.
have [t lt et] := fixed_listing M (horizon g); have [z0 _] := some_record (horizon g).
by rewrite (x_stageE x0 mu z0 Tg ls es lt et); apply: IH.
Qed.

(** The list is the law with which the algorithm ends. *)
Theorem progressive_list_is_law (gs : seq stage)
    (s : seq (space (last_horizon 0 gs))) (x0 : space (last_horizon 0 gs)) :
  increasing 0 gs -> listing s -> words_of s = fixed_words M (last_horizon 0 gs) ->
  progressive_list gs
  = values (joint n x0 s) (@progressive_law Q_field _ (E M) _ n ladder gs).
Proof.
move=> inc ls es; have [t lt et] := fixed_listing M 0; have [z0 _] := some_record 0.
rewrite /progressive_list -(x_progressiveE z0 (fun=> 1) x0 inc lt et ls es); congr x_progressive.
have : size t = 1%N.
  apply/eqP; rewrite -(size_map (fun x : space 0 => val (val x))) et.
  rewrite eqn_leq; apply/andP; split.
    by rewrite /fixed_words /states size_filter; apply: leq_trans (count_size _ _) _.
  by rewrite lt0n size_eq0 -et; case: (t) lt => // -[_ /(_ z0)].
case: t {lt et} => // x [|//] _; rewrite /values /joint /=.
by have -> : forall k, codes k 1 = [:: nseq k 0%N] by elim=> // k /= ->.
Qed.

End Stages.
End Joint.

(** ** What is printed of one case of the join *)
Record join_case := JoinCase {
  case_model : finite_model;
  case_horizon : nat;
  case_powers : seq nat;
  case_restart : seq Qc;
  case_n_local : nat;
  case_n_sweep : nat;
  case_stages : seq stage
}.

(** The rows of a case's model are laws and its stages end at its horizon: what
    [progressive_list_is_law] asks for. *)
Definition case_is_sound (c : join_case) : bool :=
  [&& sound (case_model c), increasing 0 (case_stages c)
    & last_horizon 0 (case_stages c) == case_horizon c].

Definition numbered (i : nat) : BinNums.Z := Z.of_nat i.

(** What is printed: which matrix, its index, its size, then numerators and denominators. *)
Definition printed_matrix (what index : nat) (m : seq (seq Qc)) : seq BinNums.Z :=
  [:: numbered what; numbered index; numbered (size m); numbered (size (head [::] m))]
  ++ flatten [seq flatten (map (fun v : Qc => [:: Qnum v; Zpos (Qden v)]) r) | r <- m].

Definition printed (c : join_case) : seq BinNums.Z :=
  let M := case_model c in let T := case_horizon c in let ps := case_powers c in
  let n := (size ps).-1 in
  flatten [seq printed_matrix 0 k (local_matrix M T (nth 1%N ps k) (case_restart c)) | k <- iota 0 n.+1]
  ++ flatten [seq printed_matrix 1 k (truncating_matrix M T (nth 1%N ps k)) | k <- iota 0 n.+1]
  ++ flatten [seq printed_matrix 2 e (swap_matrix M n ps T e) | e <- iota 0 n]
  ++ printed_matrix 3 0 (adj_matrix M n ps T)
  ++ printed_matrix 4 0 (layer_matrix M n ps T false)
  ++ printed_matrix 5 0 (layer_matrix M n ps T true)
  ++ printed_matrix 6 0 (transition_matrix M n ps T (case_restart c) (case_n_local c) (case_n_sweep c))
  ++ printed_matrix 7 0 [:: progressive_list M n ps (case_stages c)].
