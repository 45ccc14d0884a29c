(** * Finite models as tables, and the lists of their records

    [finite_model] is what a model's JSON file says: how many tokens there are, which
    end a record, a row for each listed prefix and one for every other.  Tokens are
    'I_k.  [fixed_words] and [comparison_words] list the two record spaces in the
    order of `tempera exact`; [fixed_listing] and [comparison_listing] say that they
    name each record once.  [sound_is_model]: rows that are laws make a model.     *)

From Coq Require Import ZArith QArith Qcanon.
From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov autoregressive record_space truncating executable tables exact_rational.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Notation Q_field := Qc_realFieldType.

(** How a probability is written in a table. *)
Definition frac (p : BinNums.Z) (q : positive) : Qc := Q2Qc (p # q).
Arguments frac p%Z_scope q%positive_scope.

Record finite_model := FiniteModel {
  width : nat;
  ends : seq bool;
  listed_rows : seq (seq nat * seq Qc);
  default_row : seq Qc
}.

Fixpoint row_after (rows : seq (seq nat * seq Qc)) (default : seq Qc) (h : seq nat) : seq Qc :=
  if rows is (prefix, row) :: rows' then
    if prefix == h then row else row_after rows' default h
  else default.

(** enum does not reduce. *)
Fixpoint ordinals (k : nat) : seq 'I_k :=
  if k is k'.+1 then ord0 :: [seq lift ord0 i | i <- ordinals k'] else [::].

Lemma val_ordinals k : [seq val i | i <- ordinals k] = iota 0 k.
Proof.
elim: k => [//|k IH] /=; rewrite -map_comp -[X in iota X k](addn0 1%N) iotaDl -IH -!map_comp.
by congr (_ :: _).
Qed.

Lemma ordinals_uniq k : uniq (ordinals k).
Proof. by rewrite -(map_inj_uniq val_inj) val_ordinals iota_uniq. Qed.

Lemma ordinals_all k (i : 'I_k) : i \in ordinals k.
Proof. by rewrite -(mem_map val_inj) val_ordinals mem_iota /=. Qed.

(** A list of words without repetition whose members are exactly those of a space of
    records is the list of its records. *)
Lemma words_listing (V : finType) (T : nat) (P : pred (record V T)) (ws : seq (seq (option V))) :
  uniq ws -> (forall u, u \in ws -> exists2 x : record V T, P x & u = x) ->
  (forall x : record V T, P x -> (x : seq (option V)) \in ws) ->
  exists2 s : seq {x : record V T | P x},
    listing s & [seq (val (val x) : seq (option V)) | x <- s] = ws.
Proof.
move=> us sound complete; pose f (x : {x : record V T | P x}) : seq (option V) := val (val x).
have fI : injective f by move=> x y /val_inj/val_inj.
have [s es] : exists s, map f s = ws.
  elim: ws us sound {complete} => [|u ws IH] /=; first by exists [::].
  case/andP=> _ us sound; have [s es] := IH us (fun v vs => sound v (mem_behead (s := u :: ws) vs)).
  have [x Px ux] := sound u (mem_head u ws).
  by exists (exist _ x Px :: s); rewrite /= es ux.
exists s => //; split=> [|x]; first by rewrite -(map_inj_uniq fI) es.
by rewrite -(mem_map fI) es complete //; apply: (valP x).
Qed.

Section Spaces.
Variables (M : finite_model) (T : nat).
Notation V := (ordinal_finType (width M)).
Notation word := (seq (option V)).

Definition lm (h : seq V) (v : V) : Qc :=
  nth (0 : Qc) (row_after (listed_rows M) (default_row M) [seq val u | u <- h]) (val v).

Definition ends_at (v : V) : bool := nth false (ends M) (val v).
Definition E : {set V} := [set v | ends_at v].

Lemma ends_atE v : ends_at v = (v \in E).
Proof. by rewrite inE. Qed.

Definition fixed_words : seq word := states (R := Q_field) lm T (ordinals (width M)) ends_at.
Definition comparison_words : seq word :=
  comparison_states (R := Q_field) lm T (ordinals (width M)) ends_at.

Lemma words_uniq n : uniq (words (ordinals (width M)) n).
Proof.
elim: n => [//|n IH]; set t := ordinals _ in IH *.
rewrite -[words t n.+1]/[seq o :: u | o <- all_tokens t, u <- words t n].
apply: allpairs_uniq => //; last by move=> [o u] [o' u'] _ _ /= [-> ->].
rewrite /all_tokens /= map_inj_uniq ?ordinals_uniq ?andbT; last by move=> u v [].
by apply/mapP => -[].
Qed.

Lemma words_size n u : u \in words (ordinals (width M)) n -> size u = n.
Proof.
elim: n u => [u|n IH u]; first by rewrite inE => /eqP ->.
set t := ordinals _ in IH *.
rewrite -[words t n.+1]/(flatten [seq [seq o :: u | u <- words t n] | o <- all_tokens t]).
by case/flattenP => _ /mapP[o _ ->] /mapP[v vs ->]; rewrite /= (IH v vs).
Qed.

Lemma word_record u : u \in words (ordinals (width M)) T -> exists x : record V T, u = x.
Proof. by move/words_size => e; exists (tcast e (in_tuple u)); rewrite val_tcast. Qed.

Theorem fixed_listing : exists2 s : seq (S_T (R := Q_field) E lm T),
  listing s & [seq (val (val x) : word) | x <- s] = fixed_words.
Proof.
apply: words_listing => [|u|x px]; first by rewrite filter_uniq ?words_uniq.
  rewrite mem_filter => /andP[pu /word_record[x ux]]; exists x => //.
  by rewrite /record_prob -(x_probE lm ends_atE) -ux.
rewrite mem_filter (x_probE lm ends_atE) -[X in X && _]/(0 < record_prob E lm x) px.
by rewrite mem_words // => v; apply: ordinals_all.
Qed.

Theorem comparison_listing : exists2 s : seq (comparison (R := Q_field) E lm T),
  listing s & [seq (val (val x) : word) | x <- s] = comparison_words.
Proof.
apply: words_listing => [|u|x px]; first by rewrite filter_uniq ?words_uniq.
  rewrite mem_filter => /andP[pu /word_record[x ux]]; exists x => //.
  by rewrite -(x_comparableE lm ends_atE) -ux.
rewrite mem_filter (x_comparableE lm ends_atE) px.
by rewrite mem_words // => v; apply: ordinals_all.
Qed.

(** ** Rows that are laws *)
Definition sound_row (row : seq Qc) : bool :=
  [&& size row == width M, all (fun p => 0 <= (p : Q_field)) row & sum_list id row == (1 : Q_field)].

Definition sound : bool :=
  sound_row (default_row M) && all (fun r => sound_row r.2) (listed_rows M).

Theorem sound_is_model : sound -> model (R := Q_field) E lm.
Proof.
case/andP=> sd sl h _ _.
have : sound_row (row_after (listed_rows M) (default_row M) [seq val u | u <- pmap id h]).
  by elim: (listed_rows M) sl => [//|[p r] rows IH] /= /andP[sr sl]; case: ifP => // _; apply: IH.
rewrite /lm; set row := row_after _ _ _; case/and3P=> /eqP size_row /allP ge0 /eqP sum1.
split=> [v|].
  have vr : (val v < size row)%N by rewrite size_row; apply: (ltn_ord v).
  exact: (ge0 _ (mem_nth (0 : Qc) vr)).
rewrite -sum1 sum_listE (big_nth 0) size_row big_mkord.
by apply: eq_bigr.
Qed.

End Spaces.
