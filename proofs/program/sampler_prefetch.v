(** * Prefetching the sampler's own draws

    tempera_prefetch.v on the model of sampler_steps.v: the answer at an address is its
    word.  Whatever an engine answers ahead of time, forgets or advances first, also with
    the rungs of a local sweep side by side, the record is the program's; so over
    independent words its law is the program's.                                        *)

From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov program sampler_steps addressed_draws tempera_prefetch.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section SamplerPrefetch.
Variables (ticket : Type) (address word : finType).
Variable winner_of : forall I : finType, (I -> ticket) -> word -> option I.
Notation program := (program ticket address).
Notation meaning := (addressed_draws.meaning winner_of).
Implicit Types words : {ffun address -> word}.

(** The engine's view: ask for the word, let it decide, go on. *)
Fixpoint requests A (p : program A) : sampler address word (option A) :=
  match p with
  | Done x => Return _ _ (Some x)
  | Draw a _ w k => Ask a (fun u =>
      if winner_of w u is Some i then requests (k i) else Return _ _ None)
  end.

Lemma requests_meaning A words (p : program A) :
  tempera_prefetch.meaning words (requests p) = meaning words p.
Proof.
by elim: p => [//|a I w k IH] /=; case: winner_of => //= i; apply: IH.
Qed.

(** Every engine returns the program's record. *)
Theorem prefetched_program A words (p : program A) c c' x :
  sound words c -> engine_run words (c, requests p) (c', Return _ _ x) -> x = meaning words p.
Proof. by move=> sc er; rewrite -requests_meaning; apply: prefetch_changes_no_record sc er. Qed.

(** What it returns has the program's law: [record words] is what the engine made of
    the words, by any caches and in any order. *)
Theorem prefetched_law (R : realFieldType) (mu : word -> R) A (p : program A)
    (record : {ffun address -> word} -> option A) (F : A -> R) :
  (forall words, exists c c', sound words c /\
     engine_run words (c, requests p) (c', Return _ _ (record words))) ->
  \sum_(words : {ffun address -> word}) product (fun=> mu) words * oapp F 0 (record words) =
  addressed_law winner_of mu p F.
Proof.
move=> run; apply: eq_bigr => words _; have [c [c' [sc er]]] := run words.
by rewrite (prefetched_program sc er).
Qed.

(** ** Rungs side by side *)
Section SideBySide.
Variables (J : finType) (A : Type) (f : J -> A -> program A).
Implicit Types X : {ffun J -> A}.

Definition one_rung X (j : J) : program {ffun J -> A} :=
  bind (f j (X j)) (fun x => Done (put X j x)).

(** All parts wait at once; the results are put together when all have ended. *)
Fixpoint side_by_side X (js : seq J) : sampler address word (option {ffun J -> A}) :=
  if js is j :: js' then
    Join (requests (one_rung X j)) (side_by_side X js') (fun one rest =>
      Return _ _ (if one is Some Y then omap (fun Z => put Z j (Y j)) rest else None))
  else Return _ _ (Some X).

Lemma side_by_side_meaning words X :
  tempera_prefetch.meaning words (side_by_side X (enum J)) = meaning words (each_rung f X).
Proof.
rewrite /each_rung.
have side js : tempera_prefetch.meaning words (side_by_side X js) =
    foldr (fun j r => if meaning words (f j (X j)) is Some x then omap (fun Z => put Z j x) r else None)
      (Some X) js.
  elim: js => [//|j js IH] /=; rewrite requests_meaning IH meaning_bind.
  by case: (meaning words (f j (X j))) => [x|] //=; rewrite putE.
have pull j x js (Z : {ffun J -> A}) : j \notin js ->
    foldr (fun i r => if meaning words (f i (X i)) is Some y then omap (fun Z => put Z i y) r else None)
      (Some (put Z j x)) js
  = omap (fun Z => put Z j x) (foldr (fun i r => if meaning words (f i (X i)) is Some y
      then omap (fun Z => put Z i y) r else None) (Some Z) js).
  elim: js => [//|i js IH] /=; rewrite inE negb_or => /andP[ji jjs]; rewrite IH //.
  case: (meaning words (f i (X i))) => [y|] //=; case: foldr => //= Y; congr Some.
  apply/ffunP => l; rewrite !ffunE; case: (l =P i) => [->|//].
  by rewrite eq_sym (negPf ji).
rewrite side; suff go js (Z : {ffun J -> A}) : uniq js -> (forall j, j \in js -> Z j = X j) ->
    meaning words (each_of f js Z) =
    foldr (fun j r => if meaning words (f j (X j)) is Some x then omap (fun Z => put Z j x) r else None)
      (Some Z) js.
  by rewrite go ?enum_uniq.
elim: js Z => [//|j js IH] Z /= /andP[jjs us] same.
rewrite meaning_bind same ?mem_head //; case: (meaning words (f j (X j))) => [x|] //=.
rewrite IH // => [|i si]; first exact: pull.
rewrite put_other ?same ?inE ?si ?orbT //.
by apply: contraNneq jjs => <-.
Qed.

Theorem prefetched_sweep words X c c' x :
  sound words c -> engine_run words (c, side_by_side X (enum J)) (c', Return _ _ x) ->
  x = meaning words (each_rung f X).
Proof.
by move=> sc er; rewrite -side_by_side_meaning; apply: prefetch_changes_no_record sc er.
Qed.

End SideBySide.

End SamplerPrefetch.
