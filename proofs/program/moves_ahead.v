(** * Local moves that begin ahead of their turns, beyond a round

    gpu/core/sampler/refine.hpp begins local moves of a stage ahead on the record that stands at
    their rung, as if nothing before them changed it; a step that leaves another record
    there, a move or a swap, ends them.  A proposal that is used is then the one that its
    turn would have drawn: a function of the record and of the words at its addresses.

    - [steps_program]     moves of single rungs and steps between them, one after another
    - [ahead_run]         the same with proposals begun and ended at any moment
    - [ahead_run_exact]   which returns what the steps return
    - [stage_steps]       the rounds of a stage of sampler_steps.v as such steps
    - [stage_ahead_law]   so the law of a stage is the program's                          *)

From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov alternation program addressed_draws sampler_steps.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section MovesAhead.
Variables (ticket : Type) (address word : finType).
Variable winner_of : forall I : finType, (I -> ticket) -> word -> option I.
Notation program := (program ticket address).
Notation meaning := (addressed_draws.meaning winner_of).
Variables (J : finType) (A : eqType) (B : Type).
Notation records := {ffun J -> A}.
Implicit Types (words : {ffun address -> word}) (X Y : records) (j : J) (i : nat).

(** A move draws a proposal from its record and decides between the two. *)
Variable propose : J -> nat -> A -> program B.
Variable decide : J -> nat -> A -> B -> program A.

Inductive step : Type :=
| Move of J & nat
| Between of (records -> program records).
Implicit Types ss : seq step.

Definition step_program (s : step) X : program records :=
  match s with
  | Move j i => bind (propose j i (X j)) (fun y => bind (decide j i (X j) y) (fun x => Done (put X j x)))
  | Between f => f X
  end.

Fixpoint steps_program ss X : program records :=
  if ss is s :: ss' then bind (step_program s X) (steps_program ss') else Done X.

(** Of each move, whether its proposal is begun, and which it comes to (None: no ticket
    was sold on the way). *)
Definition begun := J -> nat -> option (option B).

Definition set_begun (c : begun) j i (o : option (option B)) : begun :=
  fun j' i' => if (j' == j) && (i' == i) then o else c j' i'.

(** A record that another has taken the place of ends what stood on it. *)
Definition kept X Y (c : begun) : begun := fun j i => if Y j == X j then c j i else None.

Definition proposal words X j i : option B := meaning words (propose j i (X j)).

(** What a sampler may do: begin a move of any rung and number, end one, or take the step
    whose turn it is, a move with the proposal that is begun where there is one. *)
Inductive ahead_run words : records -> begun -> seq step -> option records -> Prop :=
| run_ends X c : ahead_run words X c [::] (Some X)
| run_begins X c j i ss Z :
    ahead_run words X (set_begun c j i (Some (proposal words X j i))) ss Z ->
    ahead_run words X c ss Z
| run_forgets X c j i ss Z :
    ahead_run words X (set_begun c j i None) ss Z -> ahead_run words X c ss Z
| run_moves X c j i ss x Z :
    obind (fun y => meaning words (decide j i (X j) y)) (odflt (proposal words X j i) (c j i)) = Some x ->
    ahead_run words (put X j x) (kept X (put X j x) c) ss Z ->
    ahead_run words X c (Move j i :: ss) Z
| run_no_move X c j i ss :
    obind (fun y => meaning words (decide j i (X j) y)) (odflt (proposal words X j i) (c j i)) = None ->
    ahead_run words X c (Move j i :: ss) None
| run_between X c f ss Y Z :
    meaning words (f X) = Some Y -> ahead_run words Y (kept X Y c) ss Z ->
    ahead_run words X c (Between f :: ss) Z
| run_no_step X c f ss :
    meaning words (f X) = None -> ahead_run words X c (Between f :: ss) None.

(** Every proposal that is begun is its rung's record's own. *)
Definition stands words X (c : begun) : Prop :=
  forall j i o, c j i = Some o -> o = proposal words X j i.

Lemma kept_stands words X Y c : stands words X c -> stands words Y (kept X Y c).
Proof.
move=> sc j i o; rewrite /kept /proposal; case: eqP => // -> co.
exact: sc.
Qed.

Lemma begun_proposal words X c j i :
  stands words X c -> odflt (proposal words X j i) (c j i) = proposal words X j i.
Proof. by move=> sc; case co : (c j i) => [o|] //=; apply: sc. Qed.

Lemma meaning_move words X j i :
  meaning words (step_program (Move j i) X) =
  omap (put X j) (obind (fun y => meaning words (decide j i (X j) y)) (proposal words X j i)).
Proof.
rewrite /= meaning_bind /proposal; case: (meaning words (propose _ _ _)) => [y|] //=.
by rewrite meaning_bind; case: (meaning words (decide _ _ _ _)).
Qed.

Theorem ahead_run_exact words X c ss Z :
  stands words X c -> ahead_run words X c ss Z -> Z = meaning words (steps_program ss X).
Proof.
move=> + run; elim: run => {X c ss Z}
    [X c|X c j i ss Z _ IH|X c j i ss Z _ IH|X c j i ss x Z dx _ IH|X c j i ss dx|X c f ss Y Z fX _ IH|X c f ss fX]
    sc.
- by [].
- apply: IH => j' i' o; rewrite /set_begun; case: andP => [[/eqP-> /eqP->]|_]; last exact: sc.
  by case.
- by apply: IH => j' i' o; rewrite /set_begun; case: andP => // _; apply: sc.
- rewrite [steps_program _ _]/= meaning_bind meaning_move.
  rewrite (begun_proposal _ _ sc) in dx; rewrite dx /=.
  by apply: IH; apply: kept_stands.
- rewrite [steps_program _ _]/= meaning_bind meaning_move.
  by rewrite (begun_proposal _ _ sc) in dx; rewrite dx.
- by rewrite /= meaning_bind fX /=; apply: IH; apply: kept_stands.
- by rewrite /= meaning_bind fX.
Qed.

Lemma meaning_steps_cons words s ss X :
  meaning words (steps_program (s :: ss) X) =
  obind (fun Y => meaning words (steps_program ss Y)) (meaning words (step_program s X)).
Proof. exact: meaning_bind. Qed.

Lemma meaning_steps_cat words ss ss' X :
  meaning words (steps_program (ss ++ ss') X) =
  obind (fun Y => meaning words (steps_program ss' Y)) (meaning words (steps_program ss X)).
Proof.
elim: ss X => [//|s ss IH] X; rewrite /= !meaning_bind.
by case: (meaning words (step_program s X)) => [Y|] /=.
Qed.

End MovesAhead.

(** ** The rounds of a stage *)
Section Stage.
Variables (ticket : Type) (address word : finType) (V : finType) (E : {set V}) (n : nat).
Variable winner_of : forall I : finType, (I -> ticket) -> word -> option I.
Notation program := (program ticket address).
Notation meaning := (addressed_draws.meaning winner_of).
Notation replicas := {ffun 'I_n.+1 -> seq V}.
Variable at_ : nat -> nat -> nat -> purpose -> address.
Variable token_tickets : 'I_n.+1 -> seq V -> V -> ticket.
Variable local_tickets : 'I_n.+1 -> nat -> seq V -> seq V -> bool -> ticket.
Variable swap_tickets : 'I_n -> seq V -> seq V -> bool -> ticket.
Variable s : schedule.
Variable st : stage ticket n.
Implicit Types (words : {ffun address -> word}) (k : 'I_n.+1) (X : replicas).
Notation move := (local_move E at_ token_tickets local_tickets (@restart _ _ st)).

(** The restart position and what is drawn behind it; nothing behind the terminal token. *)
Definition propose_suffix k (i : nat) x : program (option ('I_(horizon st) * seq V)) :=
  Draw (at_ k i 0 For_restart) (@restart _ _ st k) (fun r : 'I_(horizon st) =>
    if ended E x ==> (r < size x)%N then
      bind (generate E token_tickets (horizon st) k (fun t => at_ k i t For_proposal_token)
              (horizon st) (take r x)) (fun y => Done (Some (r, y)))
    else Done None).

Definition decide_suffix k (i : nat) x (proposed : option ('I_(horizon st) * seq V)) :
    program (seq V) :=
  if proposed is Some (r, y) then
    Draw (at_ k i 0 For_acceptance) (local_tickets k r x y) (fun b : bool =>
      Done (if b then y else x))
  else Done x.

Lemma move_decides words k i x :
  meaning words (move k i x) =
  obind (fun y => meaning words (decide_suffix k i x y)) (meaning words (propose_suffix k i x)).
Proof.
rewrite /=; case: (winner_of _ _) => [r|] //=; case: ifP => // _.
by rewrite !meaning_bind; case: (meaning words (generate _ _ _ _ _ _ _)).
Qed.

Notation step := (step ticket address [finType of 'I_n.+1] (seq_eqType V)).
Notation steps_program := (steps_program propose_suffix decide_suffix).

Definition moves_of_rung (l : nat) k : seq step :=
  [seq Move _ _ _ k i | i <- iota l (local_moves st)].
Definition sweeps_of_round (c : nat) : seq step :=
  [seq Between (sweep_once at_ swap_tickets s i) | i <- iota c (sweeps st)].

(** N rounds from local move l and sweep c on. *)
Fixpoint stage_steps (N l c : nat) : seq step :=
  if N is N'.+1 then
    flatten [seq moves_of_rung l k | k <- enum 'I_n.+1] ++ sweeps_of_round c ++
    stage_steps N' (l + local_moves st) (c + sweeps st)
  else [::].

Lemma meaning_repeat A words m (f : nat -> A -> program A) i x :
  meaning words (repeat m.+1 f i x) =
  obind (fun y => meaning words (repeat m f i.+1 y)) (meaning words (f i x)).
Proof. exact: meaning_bind. Qed.

Lemma moves_of_rung_meaning words l k X :
  meaning words (steps_program (moves_of_rung l k) X) =
  omap (put X k) (meaning words (repeat (local_moves st) (move k) l (X k))).
Proof.
rewrite /moves_of_rung; elim: (local_moves st) l X => [|m IH] l X; first by rewrite /= put_same.
rewrite [map _ _]/= meaning_steps_cons meaning_move.
rewrite meaning_repeat move_decides /proposal.
case: (obind (fun y => meaning words (decide_suffix k l (X k) y)) _) => [x|] //=.
rewrite IH putE.
by case: (meaning words (repeat _ _ _ _)) => [y|] //=; rewrite put_put.
Qed.

Lemma sweeps_of_round_meaning words c X :
  meaning words (steps_program (sweeps_of_round c) X) =
  meaning words (repeat (sweeps st) (sweep_once at_ swap_tickets s) c X).
Proof.
rewrite /sweeps_of_round; elim: (sweeps st) c X => [//|m IH] c X.
rewrite [map _ _]/= meaning_steps_cons meaning_repeat [step_program _ _ _ _]/=.
by case: (meaning words (sweep_once _ _ _ _ _)) => [Y|] /=.
Qed.

Lemma stage_steps_meaning words N l c X :
  meaning words (steps_program (stage_steps N l c) X) =
  meaning words (rounds_of E at_ token_tickets local_tickets swap_tickets s true st N l c X).
Proof.
have rungs l' (ks : seq 'I_n.+1) Y :
    meaning words (steps_program (flatten [seq moves_of_rung l' k | k <- ks]) Y) =
    meaning words (each_of (fun k => repeat (local_moves st) (move k) l') ks Y).
  elim: ks Y => [//|k ks IH] Y; rewrite [flatten _]/= meaning_steps_cat moves_of_rung_meaning.
  by rewrite [each_of _ _ _]/= meaning_bind; case: (meaning words (repeat _ _ _ _)) => [x|] /=.
elim: N l c X => [//|N IH] l c X.
rewrite [stage_steps _ _ _]/= meaning_steps_cat rungs [rounds_of _ _ _ _ _ _ _ _ _ _ _ _]/=.
rewrite meaning_bind /round meaning_bind /refine /each_rung.
case: (meaning words (each_of _ _ _)) => [Y|] //=; rewrite meaning_steps_cat sweeps_of_round_meaning.
by case: (meaning words (repeat _ _ _ _)) => [Z|] /=.
Qed.

(** Whatever moves of the stage begin ahead, and whatever of them is ended besides what a
    changed record ends: the replicas are the program's, and so is their law. *)
Theorem stage_ahead words N l c X Z :
  ahead_run winner_of propose_suffix decide_suffix words X (fun _ _ => None) (stage_steps N l c) Z ->
  Z = meaning words (rounds_of E at_ token_tickets local_tickets swap_tickets s true st N l c X).
Proof. by move=> run; rewrite -stage_steps_meaning; apply: ahead_run_exact run. Qed.

Theorem stage_ahead_law (R : realFieldType) (mu : word -> R) N l c X
    (left : {ffun address -> word} -> option replicas) (F : replicas -> R) :
  (forall words, ahead_run winner_of propose_suffix decide_suffix words X (fun _ _ => None)
     (stage_steps N l c) (left words)) ->
  \sum_(words : {ffun address -> word}) product (fun=> mu) words * oapp F 0 (left words) =
  addressed_law winner_of mu
    (rounds_of E at_ token_tickets local_tickets swap_tickets s true st N l c X) F.
Proof. by move=> run; apply: eq_bigr => words _; rewrite (stage_ahead (run words)). Qed.

End Stage.
