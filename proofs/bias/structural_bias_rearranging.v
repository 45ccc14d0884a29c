(** Sweeps that only exchange or keep records: all that thm:ppt-structural-bias asks
    of the exchanges.  They need not preserve any target. *)
From mathcomp Require Import all_ssreflect all_algebra all_fingroup.
From Tempera Require Import markov replica_exchange.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Rearranging.
Variables (R : realFieldType) (S : finType) (n : nat).
Local Notation state := {ffun 'I_n.+1 -> S}.
Implicit Types (C D : state -> state -> R).

(** Wherever C goes with positive weight, the records are those that were there. *)
Definition rearranges C : Prop :=
  forall X Y, C X Y != 0 -> exists s : {perm 'I_n.+1}, Y = [ffun i => X (s i)].

Lemma rearranges_idk : rearranges (@idk R [finType of state]).
Proof.
move=> X Y; rewrite /idk pnatr_eq0 eqb0 negbK => /eqP <-; exists 1%g.
by apply/ffunP => i; rewrite ffunE perm1.
Qed.

Lemma rearranges_compk C D : rearranges C -> rearranges D -> rearranges (compk C D).
Proof.
move=> rC rD X Z; rewrite /compk /act => nz.
have [Y /andP[/rC[s ->] /rD[t ->]]] : exists Y, (C X Y != 0) && (D Y Z != 0).
  apply/existsP; apply: contraR nz; rewrite negb_exists => /forallP none.
  rewrite big1 // => Y _; apply/eqP; rewrite mulf_eq0.
  by have := none Y; rewrite negb_and !negbK.
by exists (t * s)%g; apply/ffunP => i; rewrite !ffunE permM.
Qed.

Lemma rearranges_iterk m C : rearranges C -> rearranges (iterk m C).
Proof.
by move=> rC; elim: m => [|m IH]; [exact: rearranges_idk | exact: rearranges_compk].
Qed.

Lemma rearranges_ordered (J : Type) (s : seq J) (W : J -> state -> state -> R) :
  (forall j, rearranges (W j)) -> rearranges (ordered s W).
Proof.
by move=> rW; elim: s => [|j s IH]; [exact: rearranges_idk | exact: rearranges_compk].
Qed.

(** Every swap does, whatever targets its acceptance is computed from. *)
Lemma rearranges_swap (pi : 'I_n.+1 -> S -> R) k : rearranges (W pi k).
Proof.
move=> X Y; rewrite /W; have [->|YX] := eqVneq Y X.
  by move=> _; exists 1%g; apply/ffunP => i; rewrite ffunE perm1.
rewrite mulr0 addr0; case: (Y =P exchange k X) => [-> _|_]; last by rewrite mulr0 eqxx.
by exists (tperm (lower k) (upper k)).
Qed.

Lemma rearranges_adj (pi : 'I_n.+1 -> S -> R) : rearranges (adj pi).
Proof. by apply: rearranges_ordered => k; apply: rearranges_swap. Qed.

Lemma rearranges_deo (pi : 'I_n.+1 -> S -> R) : rearranges (deo pi).
Proof.
by apply: rearranges_compk; apply: rearranges_ordered => k; apply: rearranges_swap.
Qed.

End Rearranging.
