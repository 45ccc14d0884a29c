(** Prefetching changes no record.

    A sampler is a tree of requests: it asks for the answer at an address (a draw,
    addressed by prompt, rung, round, position and purpose; or the next-token row
    after a prefix at a rung) and goes on with it, or runs two parts side by side
    and goes on with both results (the rungs of a local sweep, before a swap).  The
    oracle gives every address its one answer.  The engine may at any moment answer
    any address ahead of time, whether or not anybody will ask for it, forget
    answers, and advance any waiting part in any order.  Whatever it does, the
    record that comes out is the one that the tree denotes. *)
From mathcomp Require Import all_ssreflect.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Section Prefetch.
Variables (address : eqType) (answer record : Type).

Inductive sampler : Type :=
| Return of record
| Ask of address & (answer -> sampler)
| Join of sampler & sampler & (record -> record -> sampler).

(** Every address has one answer, whenever and however often it is asked. *)
Variable oracle : address -> answer.

(** The sampler's meaning: one request after another, nothing ahead of time. *)
Fixpoint meaning (p : sampler) : record :=
  match p with
  | Return x => x
  | Ask q k => meaning (k (oracle q))
  | Join p1 p2 k => meaning (k (meaning p1) (meaning p2))
  end.

Definition cache := address -> option answer.

(** No answer in the cache differs from the oracle's. *)
Definition sound (c : cache) : Prop := forall q a, c q = Some a -> a = oracle q.

(** One advance of one waiting part: an answer comes from the cache where it is
    there, else from the oracle. *)
Inductive advance (c : cache) : sampler -> sampler -> Prop :=
| answer_cached q k a : c q = Some a -> advance c (Ask q k) (k a)
| answer_asked q k : c q = None -> advance c (Ask q k) (k (oracle q))
| join_left p1 p1' p2 k : advance c p1 p1' -> advance c (Join p1 p2 k) (Join p1' p2 k)
| join_right p1 p2 p2' k : advance c p2 p2' -> advance c (Join p1 p2 k) (Join p1 p2' k)
| join_done x1 x2 k : advance c (Join (Return x1) (Return x2) k) (k x1 x2).

(** What an engine may do: advance a part, answer ahead of time, forget. *)
Inductive engine_step : cache * sampler -> cache * sampler -> Prop :=
| advanced c p p' : advance c p p' -> engine_step (c, p) (c, p')
| prefetched c p q :
    engine_step (c, p) (fun q' => if q' == q then Some (oracle q) else c q', p)
| forgotten c p q : engine_step (c, p) (fun q' => if q' == q then None else c q', p).

Inductive engine_run : cache * sampler -> cache * sampler -> Prop :=
| engine_stop s : engine_run s s
| engine_more s s' s'' : engine_step s s' -> engine_run s' s'' -> engine_run s s''.

Lemma advance_meaning c p p' : sound c -> advance c p p' -> meaning p' = meaning p.
Proof.
move=> sc; elim=> {p p'} [q k a qa|q k _|p1 p1' p2 k _ IH|p1 p2 p2' k _ IH|x1 x2 k] //=.
- by rewrite (sc _ _ qa).
- by rewrite IH.
- by rewrite IH.
Qed.

Lemma engine_step_sound s s' : sound s.1 -> engine_step s s' -> sound s'.1.
Proof.
move=> + st; case: st => //= c p q sc q' a; case: eqP => [->|_] //.
- by case=> <-.
- exact: sc.
- exact: sc.
Qed.

Lemma engine_step_meaning s s' :
  sound s.1 -> engine_step s s' -> meaning s'.2 = meaning s.2.
Proof. by move=> + st; case: st => //= c p p' adv sc; apply: advance_meaning adv. Qed.

(** Every record that any engine ends with is the sampler's meaning. *)
Theorem prefetch_changes_no_record c p c' x :
  sound c -> engine_run (c, p) (c', Return x) -> x = meaning p.
Proof.
move=> sc er; suff go s s' : engine_run s s' -> sound s.1 -> meaning s'.2 = meaning s.2.
  by rewrite -[RHS](go _ _ er).
elim=> {s s'} [//|s s' s'' st _ IH ss]; rewrite IH.
  exact: engine_step_meaning.
exact: engine_step_sound st.
Qed.

(** Two engines, whatever each prefetches, forgets and advances first, agree. *)
Corollary any_two_engines_agree p c1 c2 c1' c2' x1 x2 : sound c1 -> sound c2 ->
  engine_run (c1, p) (c1', Return x1) -> engine_run (c2, p) (c2', Return x2) -> x1 = x2.
Proof.
move=> s1 s2 r1 r2.
by rewrite (prefetch_changes_no_record s1 r1) (prefetch_changes_no_record s2 r2).
Qed.

(** An empty cache is sound, and no engine is ever stuck before the end. *)
Lemma empty_cache_sound : sound (fun=> None).
Proof. by []. Qed.

Theorem engine_never_stuck c p :
  (exists x, p = Return x) \/ exists p', advance c p p'.
Proof.
elim: p => [x|q k _|p1 IH1 p2 IH2 k _]; first by left; exists x.
  right; case qa : (c q) => [a|]; first by exists (k a); apply: answer_cached.
  by exists (k (oracle q)); apply: answer_asked.
right; case: IH1 => [[x1 ->]|[p1' a1]]; last by exists (Join p1' p2 k); apply: join_left.
case: IH2 => [[x2 ->]|[p2' a2]]; first by exists (k x1 x2); apply: join_done.
by exists (Join (Return x1) p2' k); apply: join_right.
Qed.

(** Nor can it advance for ever, whatever the caches on the way: every engine that
    keeps advancing ends, and by the theorem above with the one record. *)
Lemma join_ends k : (forall x1 x2, Acc (fun p' p => exists c, advance c p p') (k x1 x2)) ->
  forall p1, Acc (fun p' p => exists c, advance c p p') p1 ->
  forall p2, Acc (fun p' p => exists c, advance c p p') p2 ->
  Acc (fun p' p => exists c, advance c p p') (Join p1 p2 k).
Proof.
move=> endk p10; elim=> p1 end1 IH1 p20; elim=> p2 end2 IH2.
constructor=> p' [c adv]; inversion adv as [| |? p1' ? ? adv1|? ? p2' ? adv2|]; subst.
- by apply: IH1; [exists c | constructor].
- by apply: IH2; exists c.
- exact: endk.
Qed.

Theorem advancing_ends p : Acc (fun p' p => exists c, advance c p p') p.
Proof.
elim: p => [x|q k IH|p1 IH1 p2 IH2 k IHk].
- by constructor=> p' [c adv]; inversion adv.
- by constructor=> p' [c adv]; inversion adv; subst; apply: IH.
exact: join_ends.
Qed.

End Prefetch.
