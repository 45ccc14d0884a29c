(** * The sampler asks no address twice

    Where an address is an injection over what one run can do (rungs, rounds below
    2^32, positions up to the horizon), no path of Algorithm 1 asks one address twice:
    positions grow along a proposal, moves and sweeps are counted through the whole run,
    and purposes keep the kinds of draws apart.  So [distinct_addresses] applies.      *)

From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import replica_exchange alternation program sampler_steps.
From Tempera Require Import algorithm_law addressed_draws.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(** rung, round, position, purpose *)
Definition spot := (nat * nat * nat * purpose)%type.
Definition rung_of (p : spot) : nat := p.1.1.1.
Definition round_of (p : spot) : nat := p.1.1.2.
Definition position_of (p : spot) : nat := p.1.2.
Definition purpose_of (p : spot) : purpose := p.2.

Section Addresses.
Variables (ticket : Type) (address : finType) (V : finType) (E : {set V}) (n : nat).
Notation program := (program ticket address).
Variable at_ : nat -> nat -> nat -> purpose -> address.
Definition at_spot (p : spot) : address := at_ (rung_of p) (round_of p) (position_of p) (purpose_of p).

(** What an address can tell apart. *)
Variables (rounds_max tokens_max : nat).
Definition in_reach (p : spot) : Prop :=
  [/\ (rung_of p <= n)%N, (round_of p < rounds_max)%N & (position_of p <= tokens_max)%N].
Hypothesis at_injective : forall p p', in_reach p -> in_reach p' ->
  at_spot p = at_spot p' -> p = p'.

(** p asks within P, and no address twice. *)
Definition image (P : spot -> Prop) (a : address) : Prop := exists2 p, P p & a = at_spot p.
Definition clean A (P : spot -> Prop) (p : program A) : Prop := uses (image P) p /\ distinct p.
Definition reaches (P : spot -> Prop) : Prop := forall p, P p -> in_reach p.

Lemma clean_weaker A (P P' : spot -> Prop) (p : program A) :
  (forall q, P q -> P' q) -> clean P p -> clean P' p.
Proof.
move=> sub [up dp]; split=> //; apply: uses_weaker up => a [q Pq ->].
by exists q => //; apply: sub.
Qed.

Lemma clean_done A (P : spot -> Prop) (x : A) : clean P (Done x : program A).
Proof. by []. Qed.

Lemma clean_draw A (P : spot -> Prop) (p : spot) (I : finType) (w : I -> ticket) (k : I -> program A) :
  reaches P -> P p -> (forall i, clean (fun q => P q /\ q <> p) (k i)) ->
  clean P (Draw (at_spot p) w k).
Proof.
move=> rP Pp ck; split=> /=.
  split; first by exists p.
  by move=> i; case: (ck i) => u _; apply: uses_weaker u => a [q [Pq _] ->]; exists q.
move=> i; case: (ck i) => u d; split=> //; apply: uses_avoids u _ => -[q [Pq qp] e].
by apply: qp; apply: at_injective; [apply: rP | apply: rP | rewrite -e].
Qed.

Lemma clean_bind A B (P P' Q : spot -> Prop) (p : program A) (f : A -> program B) :
  reaches Q -> (forall q, P q -> Q q) -> (forall q, P' q -> Q q) ->
  (forall q, P q -> P' q -> False) ->
  clean P p -> (forall x, clean P' (f x)) -> clean Q (bind p f).
Proof.
move=> rQ PQ PQ' dis cp cf; split.
  apply: uses_bind; first by case: (clean_weaker PQ cp).
  by move=> x; case: (clean_weaker PQ' (cf x)).
case: cp => up dp; apply: (distinct_bind dp up (fun x => proj2 (cf x)) (fun x => proj1 (cf x))).
move=> a [q Pq ->] [q' Pq' e]; apply: (dis q Pq).
by rewrite (at_injective _ _ e) //; apply: rQ; [apply: PQ | apply: PQ'].
Qed.

Lemma clean_repeat A (Q : spot -> Prop) m (f : nat -> A -> program A) i x :
  reaches (fun q => Q q /\ (i <= round_of q < i + m)%N) ->
  (forall j y, (i <= j < i + m)%N -> clean (fun q => Q q /\ round_of q = j) (f j y)) ->
  clean (fun q => Q q /\ (i <= round_of q < i + m)%N) (repeat m f i x).
Proof.
elim: m i x => [|m IH] i x rQ cf; first exact: clean_done.
apply: (clean_bind (P := fun q => Q q /\ round_of q = i)
  (P' := fun q => Q q /\ (i.+1 <= round_of q < i.+1 + m)%N)) => //.
- by move=> q [Qq ->]; rewrite leqnn addnS ltnS leq_addr.
- by move=> q [Qq /andP[lo hi]]; rewrite (ltnW lo) addnS -addSn.
- by move=> q [_ ->] [_]; rewrite ltnn.
- by apply: cf; rewrite leqnn addnS ltnS leq_addr.
move=> y; apply: IH => [q [Qq /andP[lo hi]]|j z /andP[lo hi]].
  by apply: rQ; rewrite (ltnW lo) addnS -addSn.
by apply: cf; rewrite (ltnW lo) addnS -addSn.
Qed.

Lemma clean_each A (Q : spot -> Prop) (f : 'I_n.+1 -> A -> program A) X :
  reaches Q -> (forall (k : 'I_n.+1) y, clean (fun q => Q q /\ rung_of q = k) (f k y)) ->
  clean Q (each_rung f X).
Proof.
move=> rQ cf; rewrite /each_rung; apply: (@clean_weaker _ (fun q => Q q /\
    exists2 k : 'I_n.+1, k \in enum 'I_n.+1 & rung_of q = k)); first by move=> q [].
elim: (enum _) (enum_uniq 'I_n.+1) X => [|k ks IH] /=; first by move=> _ X; apply: clean_done.
case/andP=> kks us X; apply: (clean_bind (P := fun q => Q q /\ rung_of q = k)
  (P' := fun q => Q q /\ exists2 j : 'I_n.+1, j \in ks & rung_of q = j)).
- by move=> q [Qq _]; apply: rQ.
- by move=> q [Qq e]; split=> //; exists k => //; rewrite mem_head.
- by move=> q [Qq [j jk e]]; split=> //; exists j => //; rewrite inE jk orbT.
- by move=> q [_ e] [_ [j jk e']]; move: kks; rewrite (_ : k = j) ?jk //; apply: val_inj; rewrite /= -e.
- exact: cf.
by move=> y; apply: IH.
Qed.

(** ** The sampler's steps *)
Variable token_tickets : 'I_n.+1 -> seq V -> V -> ticket.
Variable local_tickets : 'I_n.+1 -> nat -> seq V -> seq V -> bool -> ticket.
Variable swap_tickets : 'I_n -> seq V -> seq V -> bool -> ticket.

Lemma clean_generate T (k : 'I_n.+1) i w fuel x : (i < rounds_max)%N -> (T <= tokens_max)%N ->
  clean (fun q => exists2 t, (size x < t <= T)%N & q = (k : nat, i, t, w))
    (generate E token_tickets T k (fun t => at_ k i t w) fuel x).
Proof.
move=> iM TM; elim: fuel x => [|fuel IH] x /=; first exact: clean_done.
case: ifP => go; last exact: clean_done.
apply: (@clean_draw _ _ (k : nat, i, (size x).+1, w)).
- move=> q [t /andP[_ tT] ->]; split=> //=; first by rewrite -ltnS ltn_ord.
  exact: leq_trans tT TM.
- by exists (size x).+1 => //; rewrite leqnn; case/andP: go.
move=> v; apply: clean_weaker (IH (rcons x v)) => q [t]; rewrite size_rcons => /andP[lo hi] ->.
split; first by exists t => //; rewrite (ltnW lo).
by case=> e; rewrite e ltnn in lo.
Qed.

Definition is_local (w : purpose) : bool :=
  match w with For_restart | For_proposal_token | For_acceptance => true | _ => false end.
Definition is_swap (w : purpose) : bool := if w is For_swap then true else false.
Definition is_extension (w : purpose) : bool := if w is For_extension_token then true else false.

(** The draws of one kind, in reach. *)
Definition of_kind (kind : purpose -> bool) (q : spot) : Prop :=
  kind (purpose_of q) /\ (rung_of q <= n)%N /\ (position_of q <= tokens_max)%N.

Lemma reach_kind kind i m : (i + m <= rounds_max)%N ->
  reaches (fun q => of_kind kind q /\ (i <= round_of q < i + m)%N).
Proof. by move=> iM q [[_ [kn tM]] /andP[_ hi]]; split=> //; apply: leq_trans hi iM. Qed.

Lemma clean_local T (restart : 'I_n.+1 -> 'I_T -> ticket) (k : 'I_n.+1) i x :
  (i < rounds_max)%N -> (T <= tokens_max)%N ->
  clean (fun q => (of_kind is_local q /\ round_of q = i) /\ rung_of q = k)
    (local_move E at_ token_tickets local_tickets restart k i x).
Proof.
move=> iM TM; have kn : (k <= n)%N by rewrite -ltnS ltn_ord.
pose Q q := (of_kind is_local q /\ round_of q = i) /\ rung_of q = k.
have rQ (q0 : spot) : reaches (fun q => Q q /\ q <> q0).
  by move=> q [[[[_ [kq tq]] ri] _] _]; split=> //; rewrite ri.
apply: (@clean_draw _ Q (k : nat, i, 0%N, For_restart)) => //.
  by move=> q [[[_ [kq tq]] ri] _]; split=> //; rewrite ri.
move=> r; case: ifP => _; last exact: clean_done.
apply: (clean_bind (P := fun q => exists2 t, (size (take r x) < t <= T)%N & q = (k : nat, i, t, For_proposal_token))
  (P' := fun q => q = (k : nat, i, 0%N, For_acceptance))).
- exact: rQ.
- by move=> q [t /andP[_ tT] ->]; do ![split=> //]; apply: leq_trans tT TM.
- by move=> q ->.
- by move=> q [t _ ->].
- exact: clean_generate.
move=> y; apply: (@clean_draw _ _ (k : nat, i, 0%N, For_acceptance)) => //.
by move=> q ->; split.
Qed.

Lemma clean_sweep s c X : (c < rounds_max)%N ->
  clean (fun q => of_kind is_swap q /\ round_of q = c) (sweep_once at_ swap_tickets s c X).
Proof.
move=> cM; have ue : uniq (edges n s c).
  by rewrite /edges; case: s; [apply: enum_uniq | apply: filter_uniq; apply: enum_uniq].
rewrite /sweep_once; apply: (@clean_weaker _ (fun q => (of_kind is_swap q /\ round_of q = c)
  /\ exists2 e : 'I_n, e \in edges n s c & rung_of q = e)); first by move=> q [].
elim: (edges n s c) ue X => [|e es IH] ue X; first exact: clean_done.
have /andP[ees us] : (e \notin es) && uniq es := ue; have en : (e <= n)%N by apply: ltnW.
pose Q (es' : seq 'I_n) (q : spot) := (of_kind is_swap q /\ round_of q = c)
  /\ exists2 e : 'I_n, e \in es' & rung_of q = e.
have rQ es' : reaches (Q es') by move=> q [[[_ [kq tq]] ri] _]; split=> //; rewrite ri.
apply: (clean_bind (P := fun q => q = (e : nat, c, 0%N, For_swap)) (P' := Q es)).
- exact: (rQ (e :: es)).
- by move=> q ->; do ![split=> //]; exists e; rewrite ?mem_head.
- by move=> q [h [j je ej]]; split=> //; exists j; rewrite ?inE ?je ?orbT.
- move=> q -> [_ [j je /= ej]]; move: ees; rewrite (_ : e = j) ?je //; exact: val_inj.
- by apply: (@clean_draw _ _ (e : nat, c, 0%N, For_swap)) => // q ->; split.
by move=> Y; apply: IH.
Qed.

Variables (s : schedule) (per_rung : bool).
Notation stage := (stage ticket n).

Lemma clean_refine (st : stage) l X : (horizon st <= tokens_max)%N ->
  (l + local_moves st <= rounds_max)%N ->
  clean (fun q => of_kind is_local q /\ (l <= round_of q < l + local_moves st)%N)
    (refine E at_ token_tickets local_tickets per_rung st l X).
Proof.
move=> TM lM; rewrite /refine; case: per_rung.
  apply: clean_each; first exact: reach_kind.
  move=> k y; apply: (@clean_weaker _ (fun q => (of_kind is_local q /\ rung_of q = k) /\
    (l <= round_of q < l + local_moves st)%N)); first by move=> q [[h1 h2] h3].
  apply: clean_repeat; first by move=> q [[h1 _] h3]; apply: (reach_kind lM (conj h1 h3)).
  move=> j z /andP[_ hi]; apply: clean_weaker (clean_local _ k z (leq_trans hi lM) TM).
  by move=> q [[h1 h2] h3].
apply: clean_repeat; first exact: reach_kind.
move=> j Y /andP[lo hi]; apply: clean_each.
  by move=> q [h1 h2]; apply: (reach_kind lM); split; [exact: h1 | rewrite h2 lo].
by move=> k y; apply: clean_local => //; apply: leq_trans hi lM.
Qed.

Definition of_rounds (l l' c c' : nat) (q : spot) : Prop :=
  (of_kind is_local q /\ (l <= round_of q < l')%N) \/ (of_kind is_swap q /\ (c <= round_of q < c')%N).

Lemma reach_rounds l l' c c' : (l' <= rounds_max)%N -> (c' <= rounds_max)%N ->
  reaches (of_rounds l l' c c').
Proof.
move=> lM cM q [] [[_ [kn tM]] /andP[_ hi]]; split=> //.
  exact: leq_trans hi lM.
exact: leq_trans hi cM.
Qed.

Lemma local_not_swap q : of_kind is_local q -> of_kind is_swap q -> False.
Proof. by rewrite /of_kind; case: (purpose_of q) => -[] // _ _ []. Qed.

Lemma clean_round (st : stage) l c X : (horizon st <= tokens_max)%N ->
  (l + local_moves st <= rounds_max)%N -> (c + sweeps st <= rounds_max)%N ->
  clean (of_rounds l (l + local_moves st) c (c + sweeps st))
    (round E at_ token_tickets local_tickets swap_tickets s per_rung st l c X).
Proof.
move=> TM lM cM; apply: (clean_bind
  (P := fun q => of_kind is_local q /\ (l <= round_of q < l + local_moves st)%N)
  (P' := fun q => of_kind is_swap q /\ (c <= round_of q < c + sweeps st)%N)).
- exact: reach_rounds.
- by move=> q; left.
- by move=> q; right.
- by move=> q [h _] [h' _]; apply: local_not_swap h h'.
- exact: clean_refine.
move=> Y; apply: clean_repeat; first exact: reach_kind.
by move=> j Z /andP[_ hi]; apply: clean_sweep; apply: leq_trans hi cM.
Qed.

Lemma clean_rounds (st : stage) N l c X : (horizon st <= tokens_max)%N ->
  (l + N * local_moves st <= rounds_max)%N -> (c + N * sweeps st <= rounds_max)%N ->
  clean (of_rounds l (l + N * local_moves st) c (c + N * sweeps st))
    (rounds_of E at_ token_tickets local_tickets swap_tickets s per_rung st N l c X).
Proof.
move=> TM; elim: N l c X => [|N IH] l c X lM cM; first exact: clean_done.
have eqs u v : (u + N.+1 * v = u + v + N * v)%N by rewrite mulSn addnA.
rewrite !eqs in lM cM *; set nl := local_moves st in lM *; set ns := sweeps st in cM *.
have l1 : (l + nl <= rounds_max)%N by apply: leq_trans lM; apply: leq_addr.
have c1 : (c + ns <= rounds_max)%N by apply: leq_trans cM; apply: leq_addr.
apply: (clean_bind (P := of_rounds l (l + nl) c (c + ns))
  (P' := of_rounds (l + nl) (l + nl + N * nl) (c + ns) (c + ns + N * ns))).
- exact: reach_rounds.
- move=> q [] [h /andP[lo hi]]; [left | right]; split=> //; rewrite lo /=;
  by apply: leq_trans hi _; apply: leq_addr.
- move=> q [] [h /andP[lo hi]]; [left | right]; split=> //; rewrite hi andbT;
  by apply: leq_trans lo; apply: leq_addr.
- move=> q [] [h /andP[lo hi]] [] [h' /andP[lo' hi']].
  + by move: hi; rewrite ltnNge lo'.
  + exact: local_not_swap h h'.
  + exact: local_not_swap h' h.
  by move: hi; rewrite ltnNge lo'.
- exact: clean_round.
by move=> Y; apply: IH.
Qed.

Definition of_run (m m' l l' c c' : nat) (q : spot) : Prop :=
  (of_kind is_extension q /\ (m <= round_of q < m')%N) \/ of_rounds l l' c c' q.

Lemma reach_run m m' l l' c c' : (m' <= rounds_max)%N -> (l' <= rounds_max)%N ->
  (c' <= rounds_max)%N -> reaches (of_run m m' l l' c c').
Proof.
move=> mM lM cM q [[[_ [kn tM]] /andP[_ hi]]|]; last exact: reach_rounds.
by split=> //; apply: leq_trans hi mM.
Qed.

Lemma extension_not_rounds q l l' c c' : of_kind is_extension q -> of_rounds l l' c c' q -> False.
Proof. by case=> e _ [] [[]]; move: e; rewrite /is_extension; case: (purpose_of q). Qed.

Lemma clean_stage (st : stage) m l c X : (horizon st <= tokens_max)%N -> (m < rounds_max)%N ->
  (l + rounds st * local_moves st <= rounds_max)%N -> (c + rounds st * sweeps st <= rounds_max)%N ->
  clean (of_run m m.+1 l (l + rounds st * local_moves st) c (c + rounds st * sweeps st))
    (run_stage E at_ token_tickets local_tickets swap_tickets s per_rung st m l c X).
Proof.
move=> TM mM lM cM; pose P q := of_kind is_extension q /\ round_of q = m.
have rP : reaches P by move=> q [[_ [kn tM]] rm]; split=> //; rewrite rm.
apply: (clean_bind (P := P) (P' := of_rounds l (l + rounds st * local_moves st) c (c + rounds st * sweeps st))).
- exact: reach_run.
- by move=> q [h e]; left; split=> //; rewrite e leqnn ltnSn.
- by move=> q; right.
- by move=> q [h _]; apply: extension_not_rounds h.
- apply: clean_each => // k y; apply: clean_weaker (clean_generate k _ _ y mM TM) => q [t /andP[_ tT] ->].
  by do ![split=> //]; [rewrite /= -ltnS ltn_ord | apply: leq_trans tT TM].
by move=> Y; apply: clean_rounds.
Qed.

Fixpoint horizons_within (sts : seq stage) : bool :=
  if sts is st :: sts' then (horizon st <= tokens_max)%N && horizons_within sts' else true.

Lemma clean_stages sts m l c X : horizons_within sts ->
  (m + size sts <= rounds_max)%N -> (l + local_count sts <= rounds_max)%N ->
  (c + sweep_count sts <= rounds_max)%N ->
  clean (of_run m (m + size sts) l (l + local_count sts) c (c + sweep_count sts))
    (run_stages E at_ token_tickets local_tickets swap_tickets s per_rung sts m l c X).
Proof.
elim: sts m l c X => [|st sts IH] m l c X; first by move=> *; apply: clean_done.
have lE : local_count (st :: sts) = (rounds st * local_moves st + local_count sts)%N by [].
have cE : sweep_count (st :: sts) = (rounds st * sweeps st + sweep_count sts)%N by [].
rewrite /horizons_within -/horizons_within /= lE cE !addnA addnS -addSn => /andP[TM hs] mM lM cM.
set l1 := (l + rounds st * local_moves st)%N in lM *; set c1 := (c + rounds st * sweeps st)%N in cM *.
apply: (clean_bind (P := of_run m m.+1 l l1 c c1)
  (P' := of_run m.+1 (m.+1 + size sts) l1 (l1 + local_count sts) c1 (c1 + sweep_count sts))).
- exact: reach_run.
- move=> q [[h /andP[lo hi]]|[] [h /andP[lo hi]]]; [left | right; left | right; right];
  by split=> //; rewrite lo /=; apply: leq_trans hi _; apply: leq_addr.
- move=> q [[h /andP[lo hi]]|[] [h /andP[lo hi]]]; [left | right; left | right; right];
  split=> //; rewrite hi andbT; apply: leq_trans lo => //; exact: leq_addr.
- move=> q [[h /andP[lo hi]]|h] [[h' /andP[lo' hi']]|h'].
  + by move: hi; rewrite ltnNge lo'.
  + exact: extension_not_rounds h h'.
  + exact: extension_not_rounds h' h.
  case: h h' => -[h /andP[lo hi]] [] [h' /andP[lo' hi']].
  + by move: hi; rewrite ltnNge lo'.
  + exact: local_not_swap h h'.
  + exact: local_not_swap h' h.
  by move: hi; rewrite ltnNge lo'.
- apply: clean_stage => //.
  + by apply: leq_trans mM; apply: leq_addr.
  + by apply: leq_trans lM; apply: leq_addr.
  by apply: leq_trans cM; apply: leq_addr.
by move=> Y; apply: IH.
Qed.

(** No path of Algorithm 1 asks an address twice. *)
Theorem algorithm_distinct sts output : horizons_within sts ->
  (size sts <= rounds_max)%N -> (local_count sts <= rounds_max)%N ->
  (sweep_count sts <= rounds_max)%N ->
  distinct (algorithm E at_ token_tickets local_tickets swap_tickets s per_rung sts output).
Proof.
move=> hs mM lM cM; case: (clean_stages (m := 0) (l := 0) (c := 0) (no_tokens V n) hs mM lM cM).
by move=> u d; apply: (distinct_bind (S' := fun=> False) d u) => // a _ [].
Qed.

End Addresses.

(** Fields side by side are such an address: the shape of gpu/core/lottery/draw_address.hpp. *)
Section Fields.
Variables (n rounds_max tokens_max : nat).

Definition purpose_number (w : purpose) : 'I_5 :=
  match w with
  | For_extension_token => inord 0 | For_restart => inord 1 | For_proposal_token => inord 2
  | For_acceptance => inord 3 | For_swap => inord 4
  end.

Definition fields (k i t : nat) (w : purpose) : 'I_n.+1 * 'I_rounds_max.+1 * 'I_tokens_max.+1 * 'I_5 :=
  (inord k, inord i, inord t, purpose_number w).

Theorem fields_injective p p' : in_reach n rounds_max tokens_max p ->
  in_reach n rounds_max tokens_max p' -> at_spot fields p = at_spot fields p' -> p = p'.
Proof.
have num (w w' : purpose) : purpose_number w = purpose_number w' -> w = w'.
  by move/(congr1 val); case: w; case: w' => //=; rewrite !inordK.
case: p => [[[k i] t] w]; case: p' => [[[k' i'] t'] w'].
rewrite /in_reach /at_spot /rung_of /round_of /position_of /purpose_of /=.
case=> kn iM tM [kn' iM' tM'] [] /(congr1 val) ek /(congr1 val) ei /(congr1 val) et /num ->.
move: ek ei et; rewrite /= !inordK ?ltnS ?(ltnW iM) ?(ltnW iM') //.
by move=> -> -> ->.
Qed.

End Fields.
