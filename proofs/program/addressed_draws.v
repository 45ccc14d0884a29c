(** * What a program does when every address holds one word

    The lottery of gpu/core/lottery gives every address one word, and a draw is the winner
    that the word sets among the tickets it is asked with.  If no program path asks an
    address twice, the words at the addresses are as good as new ones: the law of the
    result is that of independent draws.  If two draws share an address it is not.

    - [meaning words p]     the result under given words; None where no ticket was sold
    - [addressed_law p F]   the expectation of F of the result, the words independent
    - [drawn w i]           the probability that one word lets i win
    - [distinct p]          no path asks an address twice                           *)

From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov program.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Meaning.
Variables (ticket : Type) (address word : finType).
Notation program := (program ticket address).
Implicit Types (words : {ffun address -> word}) (used : pred address).

(** The winner among the tickets, as the word decides. *)
Variable winner_of : forall I : finType, (I -> ticket) -> word -> option I.

Fixpoint meaning A words (p : program A) : option A :=
  match p with
  | Done x => Some x
  | Draw a _ w k => obind (fun i => meaning words (k i)) (winner_of w (words a))
  end.

Lemma meaning_bind A B words (p : program A) (f : A -> program B) :
  meaning words (bind p f) = obind (fun x => meaning words (f x)) (meaning words p).
Proof. by elim: p => [//|a I w k IH] /=; case: winner_of. Qed.

(** No address of p is [a]. *)
Fixpoint avoids A (a : address) (p : program A) : Prop :=
  match p with
  | Done _ => True
  | Draw b _ _ k => b != a /\ forall i, avoids a (k i)
  end.

Fixpoint distinct A (p : program A) : Prop :=
  match p with
  | Done _ => True
  | Draw a _ _ k => forall i, avoids a (k i) /\ distinct (k i)
  end.

Lemma meaning_avoids A words a u (p : program A) :
  avoids a p -> meaning (put words a u) p = meaning words p.
Proof.
elim: p => [//|b I w k IH] /= [ba av]; rewrite put_other //.
by case: winner_of => //= i; apply: IH.
Qed.

Variable R : realFieldType.
Variable mu : word -> R.
Hypothesis mu_law : law mu.

Definition drawn (I : finType) (w : I -> ticket) (i : I) : R :=
  \sum_u mu u * (winner_of w u == Some i)%:R.

Definition addressed_law A (p : program A) (F : A -> R) : R :=
  \sum_(words : {ffun address -> word}) product (fun=> mu) words * oapp F 0 (meaning words p).

(** Distinct addresses: independent draws. *)
Theorem distinct_addresses A (p : program A) F :
  distinct p -> addressed_law p F = expect drawn p F.
Proof.
elim: p => [x|a I w k IH] /= dp; rewrite /addressed_law /=.
  by rewrite -mulr_suml; have [_ ->] := law_product (fun a : address => mu_law); rewrite mul1r.
pose G u (words : {ffun address -> word}) : R :=
  oapp F 0 (obind (fun i => meaning words (k i)) (winner_of w u)).
have blind u words v : G u (put words a v) = G u words.
  rewrite /G; case: winner_of => //= i.
  by rewrite meaning_avoids //; case: (dp i).
rewrite -(resample (mu := fun=> mu) (G := G) mu_law blind) /drawn.
under [RHS]eq_bigr do rewrite mulr_suml.
rewrite [RHS]exchange_big /=; apply: eq_bigr => u _.
under [RHS]eq_bigr do rewrite -mulrA.
rewrite -mulr_sumr; congr (_ * _); rewrite /G; case: winner_of => [i|] /=.
  rewrite [RHS](bigD1 i) //= eqxx mul1r [X in _ = _ + X]big1 ?addr0 => [|j /negPf ji].
    by have [_ di] := dp i; exact: (IH i di).
  by rewrite (_ : (Some i == Some j) = false) ?mul0r // eq_sym; apply: contraFF ji => /eqP[->].
rewrite big1 => [|words _]; last by rewrite mulr0.
by rewrite big1 // => j _; rewrite mul0r.
Qed.

(** Nothing but the words matters: programs that agree under all of them have the
    same law, distinct addresses or not. *)
Lemma same_meaning_same_law A (p p' : program A) F :
  (forall words, meaning words p = meaning words p') -> addressed_law p F = addressed_law p' F.
Proof. by move=> e; apply: eq_bigr => words _; rewrite e. Qed.

End Meaning.

(** ** Distinctness, piece by piece *)
Section Distinct.
Variables (ticket : Type) (address : finType).
Notation program := (program ticket address).

(** Every address of p lies in S. *)
Fixpoint uses A (S : address -> Prop) (p : program A) : Prop :=
  match p with
  | Done _ => True
  | Draw a _ _ k => S a /\ forall i, uses S (k i)
  end.

Lemma uses_weaker A (S S' : address -> Prop) (p : program A) :
  (forall a, S a -> S' a) -> uses S p -> uses S' p.
Proof. by move=> sub; elim: p => [//|a I w k IH] /= [Sa Sk]; split; [apply: sub | move=> i; apply: IH]. Qed.

Lemma uses_bind A B S (p : program A) (f : A -> program B) :
  uses S p -> (forall x, uses S (f x)) -> uses S (bind p f).
Proof. by move=> + uf; elim: p => [x _|a I w k IH] //= [Sa Sk]; split=> // i; apply: IH. Qed.

Lemma uses_avoids A S a (p : program A) : uses S p -> ~ S a -> avoids a p.
Proof.
move=> + na; elim: p => [//|b I w k IH] /= [Sb Sk]; split=> [|i]; last exact: IH.
by apply/eqP => ba; apply: na; rewrite -ba.
Qed.

Lemma avoids_bind A B a (p : program A) (f : A -> program B) :
  avoids a p -> (forall x, avoids a (f x)) -> avoids a (bind p f).
Proof. by move=> + af; elim: p => [x _|b I w k IH] //= [ba Sk]; split=> // i; apply: IH. Qed.

Lemma distinct_bind A B S S' (p : program A) (f : A -> program B) :
  distinct p -> uses S p -> (forall x, distinct (f x)) -> (forall x, uses S' (f x)) ->
  (forall a, S a -> ~ S' a) -> distinct (bind p f).
Proof.
move=> + + df uf dis; elim: p => [x _ _|a I w k IH] //= dk [Sa uk] i.
have [av di] := dk i; split; last exact: IH.
apply: avoids_bind => // x; apply: uses_avoids (uf x) _; exact: dis.
Qed.

End Distinct.

(** ** Two draws at one address *)

(** Two tosses of a coin with one ticket for each side. *)
Definition tosses (a b : bool) : program nat bool (bool * bool) :=
  Draw a (fun=> 1%N) (fun x : bool => Draw b (fun=> 1%N) (fun y : bool => Done (x, y))).

(** The word is the side that wins. *)
Definition side (I : finType) (w : I -> nat) (u : bool) : option I :=
  nth None [seq Some i | i <- enum I] u.

Section Shared.
Variable R : realFieldType.
Notation half := (fun=> 2%:R^-1 : R).

Lemma enum_sides : enum bool_finType = [:: true; false].
Proof. by rewrite enumT unlock. Qed.

Lemma half_law : law (half : bool -> R).
Proof.
split=> [u|]; first by rewrite invr_ge0 ler0n.
by rewrite big_bool /= [RHS]splitr !mul1r.
Qed.

(** Both tosses at one address always fall alike: the law that independent draws have
    gives two different sides the probability 1/2, this one none. *)
Theorem shared_address_differs :
  let unlike (r : bool * bool) : R := (r.1 != r.2)%:R in
  addressed_law side half (tosses true true) unlike = 0
  /\ addressed_law side half (tosses true false) unlike = 2%:R^-1.
Proof.
move=> unlike; split.
  rewrite /addressed_law big1 // => words _ /=.
  by rewrite /side enum_sides; case: (words true); rewrite /= /unlike eqxx mulr0.
rewrite (@distinct_addresses nat _ _ side R half half_law); last by move=> x; split=> //=; split.
have d (w : bool -> nat) b : drawn side half w b = 2%:R^-1.
  rewrite /drawn /side enum_sides big_bool /=.
  by case: b => /=; rewrite mulr1 mulr0 ?addr0 ?add0r.
rewrite /= !big_bool /= !d /unlike /= !mulr0 !mulr1 addr0 add0r -mulrDl.
by rewrite -{1}[2%:R^-1]mul1r -{2}[2%:R^-1]mul1r -splitr mul1r.
Qed.

End Shared.
