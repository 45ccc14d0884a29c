(** * A checker of kernels, proved right

    [check_fixed] and [check_truncating] are given a finite model, a horizon, a power,
    the names of the states (tokens without padding) and a matrix, and say whether the
    states are the records of the space, each once and in any order, and the matrix is
    the kernel on them.  [check_fixed_right] and [check_truncating_right] say that they
    answer true exactly then.  kernel_checker_program.v extracts them.             *)

From Coq Require Import ZArith QArith Qcanon.
From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov autoregressive record_space power power_target truncating.
From Tempera Require Import fixed_horizon executable exact_rational tables local_tables finite_models matrices.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Checker.
Variables (M : finite_model) (T p : nat).
Notation V := (ordinal_finType (width M)).
Notation word := (seq (option V)).
Implicit Types (names : seq (seq nat)) (m : seq (seq Qc)) (u : word).

(** The tokens of a record before its padding, and back. *)
Definition name_of u : seq nat := [seq val v | v <- pmap id u].

Definition token_of (i : nat) : option V := ohead [seq v <- ordinals (width M) | val v == i].

Definition padded (name : seq nat) : word :=
  [seq token_of i | i <- name] ++ nseq (T - size name) None.

(** [names] lists exactly the records [ws], each once. *)
Definition names_all (ws : seq word) names : bool :=
  ([seq name_of (padded nm) | nm <- names] == names) && perm_eq [seq padded nm | nm <- names] ws.

Definition check_fixed (w : seq Qc) names m : bool :=
  names_all (fixed_words M T) names
  && (m == x_local_table (R := Q_field) (lm (M := M)) (whole_power p) (ordinals (width M)) (@ends_at M) T
             (fun r => nth (0 : Qc) w r) [seq padded nm | nm <- names]).

Definition check_truncating names m : bool :=
  names_all (comparison_words M T) names
  && (m == x_truncating_table (R := Q_field) (lm (M := M)) (whole_power p) (ordinals (width M)) (@ends_at M)
             [seq padded nm | nm <- names]).

(** ** Names and records *)

Lemma token_ofK (v : V) : token_of (val v) = Some v.
Proof.
rewrite /token_of; have: v \in ordinals (width M) by apply: ordinals_all.
elim: (ordinals _) => //= u s IH; rewrite inE (inj_eq val_inj) eq_sym.
by case: eqP => [->|_] //=; apply: IH.
Qed.

Lemma paddedK (vs : seq V) k : (size vs + k)%N = T ->
  padded (name_of ([seq Some v | v <- vs] ++ nseq k None)) = [seq Some v | v <- vs] ++ nseq k None.
Proof.
move=> size_T; rewrite /name_of pmap_cat.
have -> : pmap id (nseq k (@None V)) = [::] by elim: k {size_T} => //= k ->.
have -> : pmap id [seq Some v | v <- vs] = vs by elim: vs {size_T} => //= v vs ->.
rewrite cats0 /padded size_map -map_comp -size_T addKn; congr (_ ++ _).
by apply: eq_map => v /=; rewrite token_ofK.
Qed.

(** In a record tokens come first and padding last. *)
Lemma padded_shape u : 0 < prefix_prob (R := Q_field) (E M) (lm (M := M)) u ->
  exists vs k, u = [seq Some v | v <- vs] ++ nseq k None.
Proof.
elim/last_ind: u => [|u o IH]; first by exists [::], 0%N.
rewrite prefix_prob_rcons /p0; case: ifP => [_|_]; last by rewrite mulr0 ltxx.
case: o => [v|] /=; case: ifP => [oh|_]; rewrite ?mulr0 ?ltxx // => pos.
  have [vs ->] : exists vs, u = [seq Some v | v <- vs].
    elim: u oh {IH pos} => [|[a|] u IH] //=; first by exists [::].
    by case/andP=> _ /IH[vs ->]; exists (a :: vs).
  by exists (rcons vs v), 0%N; rewrite cats0 map_rcons.
case: IH => [|vs [k ->]]; first by rewrite mulr1 in pos.
by exists vs, k.+1; rewrite rcons_cat -[rcons _ _]cats1 -(addn1 k) nseqD.
Qed.

Lemma padded_name (x : record (ordinal_finType (width M)) T) vs k :
  val x = [seq Some v | v <- vs] ++ nseq k None -> padded (name_of (val x)) = val x.
Proof.
move=> e; rewrite e paddedK //.
by rewrite -(size_tuple x) -[size x]/(size (val x)) e size_cat size_map size_nseq.
Qed.

Lemma padded_record (x : S_T (R := Q_field) (E M) (lm (M := M)) T) :
  padded (name_of (val (val x))) = val (val x).
Proof. by have [vs [k e]] := padded_shape (valP x); apply: padded_name e. Qed.

Lemma padded_comparable (x : comparison (R := Q_field) (E M) (lm (M := M)) T) :
  padded (name_of (val (val x))) = val (val x).
Proof.
set u : word := val (val x); have [_ _ pad] := and3P (valP x).
have [vs [k e]] : exists vs k, u = [seq Some v | v <- vs] ++ nseq k None.
  rewrite -(cat_take_drop (tokens_of u) u).
  have [vs ->] : exists vs, take (tokens_of u) u = [seq Some v | v <- vs].
    rewrite /tokens_of; elim: (u) => [|[a|] v IH] /=; try by exists [::].
    by case: IH => vs ->; exists (a :: vs).
  exists vs, (size (drop (tokens_of u) u)); congr (_ ++ _).
  by apply/all_pred1P; apply: sub_all pad => o /eqP ->.
exact: padded_name e.
Qed.

(** ** The answers *)

Lemma names_allP (P : pred (record V T)) (ws : seq word) names :
  (forall x : {x : record V T | P x}, padded (name_of (val (val x))) = val (val x)) ->
  (exists2 s : seq {x : record V T | P x}, listing s & [seq (val (val x) : word) | x <- s] = ws) ->
  names_all ws names <->
  exists s : seq {x : record V T | P x},
    [/\ listing s, [seq name_of (val (val x)) | x <- s] = names
      & [seq (val (val x) : word) | x <- s] = [seq padded nm | nm <- names]].
Proof.
move=> shape [t [ut mt] et]; pose f (x : {x : record V T | P x}) : word := val (val x).
have fI : injective f by move=> x y /val_inj/val_inj.
split=> [/andP[/eqP round perm]|[s [[us ms] es ws_s]]].
  have [||x Px|s ls es] := @words_listing V T P [seq padded nm | nm <- names].
  - by rewrite (perm_uniq perm) -et (map_inj_uniq fI).
  - move=> u; rewrite (perm_mem perm) -et => /mapP[x _ ->].
    by exists (val x) => //; apply: (valP x).
  - by rewrite (perm_mem perm) -et; apply/mapP; exists (exist _ x Px).
  exists s; split=> //; rewrite -round (map_comp name_of padded) -es -map_comp.
  exact: eq_map.
apply/andP; split; first by rewrite -es -map_comp; apply/eqP/eq_map => x /=; rewrite shape.
rewrite -ws_s -et; apply: perm_map; apply: uniq_perm => // x.
by rewrite ms mt.
Qed.

(** True exactly for the records of S_T, each named once, and L_k on them, with the
    restart weights w. *)
Theorem check_fixed_right (w : seq Qc) names m :
  check_fixed w names m <->
  exists s : seq (S_T (R := Q_field) (E M) (lm (M := M)) T),
    [/\ listing s, [seq name_of (val (val x)) | x <- s] = names
      & m = table s s (local (fun _ : 'I_1 => whole_power p)
                             (fun (_ : 'I_1) (r : 'I_T) => nth (0 : Qc) w r) ord0)].
Proof.
have tableE (s : seq (S_T (R := Q_field) (E M) (lm (M := M)) T)) : listing s ->
    [seq (val (val x) : word) | x <- s] = [seq padded nm | nm <- names] -> _ = table s s _ :=
  fun ls es => etrans (congr1 _ (esym es)) (x_local_tableE (whole_power p) (ordinals_uniq _)
    (@ordinals_all _) (@ends_atE M) (omega := fun r : 'I_T => nth (0 : Qc) w r) ls (fun=> erefl)).
have all_names := names_allP names padded_record (fixed_listing M T).
split=> [/andP[/all_names[s [ls es ws]] /eqP ->]|[s [ls es ->]]].
  by exists s; split=> //; apply: tableE.
have ws : [seq (val (val x) : word) | x <- s] = [seq padded nm | nm <- names].
  by rewrite -es -map_comp; apply: eq_map => x /=; rewrite padded_record.
apply/andP; split; first by apply/all_names; exists s.
by apply/eqP; rewrite -(tableE s ls ws).
Qed.

(** The same for the truncating kernel on the comparison space. *)
Theorem check_truncating_right names m :
  check_truncating names m <->
  exists s : seq (comparison (R := Q_field) (E M) (lm (M := M)) T),
    [/\ listing s, [seq name_of (val (val x)) | x <- s] = names
      & m = table s s (truncating (whole_power p))].
Proof.
have tableE (s : seq (comparison (R := Q_field) (E M) (lm (M := M)) T)) : listing s ->
    [seq (val (val x) : word) | x <- s] = [seq padded nm | nm <- names] -> _ = table s s _ :=
  fun ls es => etrans (congr1 _ (esym es)) (x_truncating_tableE (whole_power p) (ordinals_uniq _)
    (@ordinals_all _) (@ends_atE M) ls).
have all_names := names_allP names padded_comparable (comparison_listing M T).
split=> [/andP[/all_names[s [ls es ws]] /eqP ->]|[s [ls es ->]]].
  by exists s; split=> //; apply: tableE.
have ws : [seq (val (val x) : word) | x <- s] = [seq padded nm | nm <- names].
  by rewrite -es -map_comp; apply: eq_map => x /=; rewrite padded_comparable.
apply/andP; split; first by apply/all_names; exists s.
by apply/eqP; rewrite -(tableE s ls ws).
Qed.

End Checker.
