(** * The law of Algorithm 1's steps, for any proposal and any acceptance

    Whatever the tickets, the programs of sampler_steps.v have the laws of kernels on
    S_{T_m}: a local move is a Metropolis kernel with the drawn proposal and the drawn
    acceptance, a sweep is a composition of swaps, and a whole run is one kernel from
    the empty records to the records of the last stage.

    - [metropolis q a]     propose by q, accept with probability a
    - [swap a e]           exchange along e with probability a
    - [extension T]        block extension to the horizon T
    - [stage_kernel], [stages_kernel]   one stage, and a run of them              *)

From mathcomp Require Import all_ssreflect all_algebra all_fingroup.
From Tempera Require Import markov autoregressive record_space replica_exchange.
From Tempera Require Import alternation program sampler_steps record_tokens.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** Proposals and rejections, for any acceptance probability. *)
Definition metropolis (R : realFieldType) (S : finType) (q a : S -> S -> R) (x y : S) : R :=
  if y == x then 1 - \sum_(z | z != x) q x z * a x z else q x y * a x y.

Lemma metropolis_sum (R : realFieldType) (S : finType) (q a : S -> S -> R) x (F : S -> R) :
  \sum_y q x y = 1 ->
  \sum_y metropolis q a x y * F y = \sum_y q x y * (a x y * F y + (1 - a x y) * F x).
Proof.
move=> q1; rewrite (bigD1 x) //= {1}/metropolis eqxx [RHS](bigD1 x) //=.
rewrite [X in _ + X = _](eq_bigr (fun y => q x y * a x y * F y)) => [|y yx]; last first.
  by rewrite /metropolis (negPf yx).
have -> : a x x * F x + (1 - a x x) * F x = F x by rewrite -mulrDl addrC subrK mul1r.
under [in RHS]eq_bigr do rewrite mulrDr mulrA mulrBl mul1r mulrBr mulrA.
rewrite [in RHS]big_split /= sumrB; set A := \sum_(i | i != x) q x i * a x i * F i.
have -> : \sum_(i | i != x) q x i * F x = (1 - q x x) * F x.
  by rewrite -mulr_suml -q1 [in RHS](bigD1 x) //= addrAC subrr add0r.
have -> : \sum_(i | i != x) q x i * a x i * F x = (\sum_(i | i != x) q x i * a x i) * F x.
  by rewrite mulr_suml.
set B := \sum_(z | _) _; rewrite !mulrBl !mul1r [RHS]addrCA [q x x * _ + _]addrC.
by rewrite [F x - _ - _ + _]addrAC subrK addrC.
Qed.

Lemma metropolis_kernel (R : realFieldType) (S : finType) (q a : S -> S -> R) :
  kernel q -> (forall x y, 0 <= a x y <= 1) -> kernel (metropolis q a).
Proof.
move=> kq a01 x; have [q0 q1] := kq x; split=> [y|].
  rewrite /metropolis; case: eqP => _; last by rewrite mulr_ge0 //; case/andP: (a01 x y).
  rewrite subr_ge0 -q1 [X in _ <= X](bigD1 x) //= ler_paddl //.
  by apply: ler_sum => z _; rewrite ler_pimulr //; case/andP: (a01 x z).
have := @metropolis_sum _ _ q a x (fun=> 1) q1.
under eq_bigr do rewrite mulr1.
move=> ->; rewrite -[RHS]q1; apply: eq_bigr => y _.
by rewrite !mulr1 addrC subrK mulr1.
Qed.

Definition swap (R : realFieldType) (S : finType) (n : nat)
    (a : {ffun 'I_n.+1 -> S} -> R) (e : 'I_n) (X Y : {ffun 'I_n.+1 -> S}) : R :=
  a X * (Y == exchange e X)%:R + (1 - a X) * (Y == X)%:R.

Lemma swap_sum (R : realFieldType) (S : finType) (n : nat)
    (a : {ffun 'I_n.+1 -> S} -> R) (e : 'I_n) X (F : {ffun 'I_n.+1 -> S} -> R) :
  \sum_Y swap a e X Y * F Y = a X * F (exchange e X) + (1 - a X) * F X.
Proof.
rewrite /swap; under eq_bigr do rewrite mulrDl.
rewrite big_split /=; congr (_ + _).
  by under eq_bigr do rewrite mulrAC; rewrite (sum_idk (exchange e X) (fun Y => a X * F Y)).
by under eq_bigr do rewrite mulrAC; rewrite (sum_idk X (fun Y => (1 - a X) * F Y)).
Qed.

Lemma swap_kernel (R : realFieldType) (S : finType) (n : nat)
    (a : {ffun 'I_n.+1 -> S} -> R) (e : 'I_n) :
  (forall X, 0 <= a X <= 1) -> kernel (swap a e).
Proof.
move=> a01 X; have /andP[a0 a1] := a01 X; split=> [Y|].
  by rewrite addr_ge0 // mulr_ge0 ?ler0n ?subr_ge0.
have := swap_sum a e X (fun=> 1); under eq_bigr do rewrite mulr1.
by move=> ->; rewrite !mulr1 addrC subrK.
Qed.

Section Law.
Variables (R : realFieldType) (V : finType) (E : {set V}) (lm : seq V -> V -> R) (n : nat).
Hypothesis lm_model : model E lm.
Notation supported := (supported E lm).
Notation S_T := (S_T E lm).
Notation state T := {ffun 'I_n.+1 -> S_T T}.
Implicit Types (k : 'I_n.+1) (e : 'I_n) (h : seq (option V)).

(** The law of the next token at each rung. *)
Variable g : 'I_n.+1 -> seq (option V) -> option V -> R.
Hypothesis g_ge0 : forall k h o, 0 <= g k h o.
Hypothesis g_law : forall k h, supported h -> law (g k h).
Hypothesis g_support : forall k h o, supported h -> g k h o != 0 -> p0 E lm h o != 0.

(** The probabilities of acceptance. *)
Variable accept_local : forall T, 'I_n.+1 -> nat -> S_T T -> S_T T -> R.
Variable accept_swap : forall T, 'I_n -> state T -> R.
Hypothesis accept_local01 : forall T k r (x y : S_T T), 0 <= accept_local k r x y <= 1.
Hypothesis accept_swap01 : forall T e (X : state T), 0 <= accept_swap e X <= 1.

(** ** The kernels *)

Definition extension T0 T k (x : S_T T0) (y : S_T T) : R := continue (g k) (val x) y.

Definition proposal T k r (x y : S_T T) : R := continue (g k) (take r (val x)) y.

Definition local_kernel T (omega : 'I_n.+1 -> 'I_T -> R) k : S_T T -> S_T T -> R :=
  mixk (omega k) (fun r : 'I_T => metropolis (proposal k r) (accept_local k r)).

Definition swap_at T e : state T -> state T -> R := swap (accept_swap e) e.

Lemma extension_kernel T0 T k : (T0 <= T)%N -> kernel (@extension T0 T k).
Proof.
move=> le x; apply: continue_law; rewrite ?size_tuple //; first exact: g_law.
- by move=> h o; apply: g_support.
exact: (supported_record lm_model).
Qed.

Lemma proposal_kernel T k r : (r <= T)%N -> kernel (@proposal T k r).
Proof.
move=> rT x; apply: continue_law => //; first exact: g_law.
- by move=> h o; apply: g_support.
- exact: supported_prefix.
by rewrite size_takel ?size_tuple.
Qed.

Lemma local_kernel_kernel T (omega : 'I_n.+1 -> 'I_T -> R) k :
  law (omega k) -> kernel (local_kernel omega k).
Proof.
move=> lo; apply: kernel_mixk => // r; apply: metropolis_kernel => //.
by apply: proposal_kernel; apply: ltnW.
Qed.

(** ** The programs *)
Variables (ticket address : Type).
Variable D : forall I : finType, (I -> ticket) -> I -> R.
Variable at_ : nat -> nat -> nat -> purpose -> address.
Variable token_tickets : 'I_n.+1 -> seq V -> V -> ticket.
Variable local_tickets : 'I_n.+1 -> nat -> seq V -> seq V -> bool -> ticket.
Variable swap_tickets : 'I_n -> seq V -> seq V -> bool -> ticket.

(** What the tickets say, wherever a draw can be asked for. *)
Hypothesis tokens_drawn : forall k x v, supported (map Some x) -> ~~ ended E x ->
  D (token_tickets k x) v = g k (map Some x) (Some v).
Hypothesis local_drawn : forall T k r (x y : S_T T), (r <= T)%N -> proposal k r x y != 0 ->
  let a := accept_local k r x y in
  let w := local_tickets k r (tokens x) (tokens y) in D w true = a /\ D w false = 1 - a.
Hypothesis swap_drawn : forall T e (X : state T),
  let a := accept_swap e X in
  let w := swap_tickets e (tokens (X (lower e))) (tokens (X (upper e))) in
  D w true = a /\ D w false = 1 - a.

Notation generate := (generate E token_tickets).

Lemma generate_yields T k (a : nat -> address) fuel x : supported (map Some x) -> (size x <= T)%N ->
  (T <= size x + fuel)%N ->
  yields D (generate T k a fuel x) (@continue R V E lm (g k) T (map Some x)) (@tokens R V E lm T).
Proof.
have gs h o : supported h -> g k h o != 0 -> p0 E lm h o != 0 by apply: g_support.
have gl h : supported h -> law (g k h) by apply: g_law.
move=> sx xT Tf F; rewrite (continue_sum lm_model gs (fun s => F (tokens_in s))) ?size_map //.
elim: fuel x sx xT Tf => [|fuel IH] x sx xT Tf /=.
  have e : size x = T by apply/eqP; rewrite eqn_leq xT -[size x]addn0.
  rewrite e subnn (sum_tuple0 (fun u => chain (g k) (map Some x) u * F (tokens_in (map Some x ++ u)))).
  by rewrite /= mul1r cats0 tokens_map.
rewrite /going_on; have [tx|ntx] := boolP (ended E x) => /=.
  by rewrite (chain_terminated lm_model gl gs) ?tokens_map // ended_tokens tokens_map.
case: ltnP => [lt|ge]; last first.
  have e : size x = T by apply/eqP; rewrite eqn_leq xT.
  rewrite e subnn (sum_tuple0 (fun u => chain (g k) (map Some x) u * F (tokens_in (map Some x ++ u)))).
  by rewrite /= mul1r cats0 tokens_map.
rewrite -(subnSK lt) (sum_tupleS _ (fun u => chain (g k) (map Some x) u * F (tokens_in (map Some x ++ u)))).
rewrite sum_option big1 ?add0r => [|u _]; last first.
  by rewrite /= (g_open gs) ?mul0r // (supported_not_ended lm_model).
apply: eq_bigr => v _; rewrite tokens_drawn //.
have [gv|gv] := eqVneq (g k (map Some x) (Some v)) 0.
  by rewrite gv mul0r big1 // => u _; rewrite /= gv !mul0r.
rewrite -/(expect D (generate T k a fuel (rcons x v)) F) IH ?size_rcons ?addSnnS //; last first.
  by rewrite map_rcons; apply: (continue_reach lm_model gs).
rewrite mulr_sumr; apply: eq_bigr => u _ /=.
by rewrite map_rcons cat_rcons mulrA.
Qed.

Lemma extend_yields T0 T m k (x : S_T T0) : (T0 <= T)%N ->
  yields D (extend E at_ token_tickets T m k (tokens x)) (@extension T0 T k x) (@tokens R V E lm T).
Proof.
have gs h o : supported h -> g k h o != 0 -> p0 E lm h o != 0 by apply: g_support.
have gl h : supported h -> law (g k h) by apply: g_law.
move=> le; have [op|nop] := boolP (open E (val x)).
  have e : map Some (tokens x) = val x by exact: (open_tokens op).
  have sz : size (tokens x) = T0 by rewrite -(size_map (Some : V -> _)) e size_tuple.
  rewrite /extension -e; apply: generate_yields; rewrite ?e ?sz ?leq_addl //.
  exact: (supported_record lm_model).
have th : terminated E (val x).
  by move: nop; rewrite (supported_open_or_terminated lm_model) ?negbK // (supported_record lm_model).
move=> F; rewrite /extend; have -> : generate T k (at_ k m ^~ For_extension_token) T (tokens x) = Done (tokens x).
  by case: T le => [|T] _ //=; rewrite /going_on -ended_tokens th.
rewrite /= /extension (continue_sum lm_model gs (fun s => F (tokens_in s))) ?size_tuple //; last exact: (supported_record lm_model).
by rewrite (chain_terminated lm_model gl gs) //; apply: (supported_record lm_model).
Qed.

(** A restart behind the terminal token stays where it is. *)
Lemma proposal_behind T k r (x : S_T T) : (r <= T)%N -> terminated E (take r (val x)) ->
  forall y, proposal k r x y = (y == x)%:R.
Proof.
have gs h o : supported h -> g k h o != 0 -> p0 E lm h o != 0 by apply: g_support.
have gl h : supported h -> law (g k h) by apply: g_law.
move=> rT th y; rewrite /proposal.
have sh : supported (take r (val x)) by apply: supported_prefix.
have hT : (size (take r (val x)) <= T)%N by rewrite size_takel ?size_tuple.
have := continue_sum lm_model gs (fun s => (tokens_in s == tokens y)%:R) sh hT.
rewrite (chain_terminated lm_model gl gs _ (fun s : seq V => (s == tokens y)%:R : R) sh th).
rewrite (eq_bigr (fun z => continue (g k) (take r (val x)) z * (z == y)%:R)) => [|z _]; last first.
  by rewrite -/(tokens z) (inj_eq (@tokens_inj R V E lm lm_model T)).
rewrite (sum_idk y (continue (g k) (take r (val x)))) => ->; congr (nat_of_bool _)%:R.
by rewrite (tokens_behind lm_model rT th) eq_sym (inj_eq (@tokens_inj R V E lm lm_model T)).
Qed.

Lemma local_yields T (restart : 'I_n.+1 -> 'I_T -> ticket) k i (x : S_T T) :
  yields D (local_move E at_ token_tickets local_tickets restart k i (tokens x))
    (local_kernel (fun k => D (restart k)) k x) (@tokens R V E lm T).
Proof.
move=> F; rewrite /local_kernel /mixk /=.
under [RHS]eq_bigr do rewrite mulr_suml.
rewrite exchange_big /=; apply: eq_bigr => r _.
under [RHS]eq_bigr do rewrite -mulrA.
rewrite -mulr_sumr; congr (_ * _).
have rT : (r <= T)%N by apply: ltnW.
have [_ q1] := proposal_kernel k rT x.
rewrite metropolis_sum // restart_test //; have [th|nth] := boolP (terminated E (take r (val x))) => /=.
  rewrite (bigD1 x) //= big1 ?addr0 => [|y /negPf yx]; last first.
    by rewrite proposal_behind // yx mul0r.
  by rewrite proposal_behind // eqxx mul1r -mulrDl addrC subrK mul1r.
have [e sz] := take_tokens lm_model rT nth.
have sh : supported (map Some (take r (tokens x))) by rewrite -e; apply: supported_prefix.
rewrite expect_bind (generate_yields k _ sh) ?sz ?leq_addl //.
apply: eq_bigr => y _; rewrite -e -/(proposal k r x y).
have [->|qy] := eqVneq (proposal k r x y) 0; first by rewrite !mul0r.
have [d1 d2] := local_drawn rT qy.
by rewrite /= big_bool /= d1 d2.
Qed.

Definition show T (X : state T) : {ffun 'I_n.+1 -> seq V} := [ffun k => tokens (X k)].

Lemma show_exchange T e (X : state T) : exchange_records e (show X) = show (exchange e X).
Proof. by apply/ffunP => k; rewrite !ffunE. Qed.

Lemma swap_yields T e c (X : state T) :
  yields D (attempt_swap at_ swap_tickets e c (show X)) (swap_at e X) (@show T).
Proof.
move=> F; rewrite /= /swap_at swap_sum big_bool /= !ffunE.
by have [-> ->] := swap_drawn e X; rewrite show_exchange.
Qed.

Variable s : schedule.
Variable per_rung : bool.

Lemma sweep_yields T c (X : state T) :
  yields D (sweep_once at_ swap_tickets s c (show X)) (sweep_number (@swap_at T) s c X) (@show T).
Proof.
rewrite /sweep_once /sweep_number; elim: (edges n s c) X => [|e es IH] X.
  exact: yields_done.
exact: (yields_bind (swap_yields e c X) IH).
Qed.

Lemma sweeps_yields T m c (X : state T) :
  yields D (repeat m (sweep_once at_ swap_tickets s) c (show X))
    (sweeps_from (@swap_at T) s c m X) (@show T).
Proof.
elim: m c X => [|m IH] c X; first exact: yields_done.
exact: (yields_bind (sweep_yields c X) (IH c.+1)).
Qed.

Notation stage := (stage ticket n).
(** The restart law of a stage, and the horizon at which a run of stages ends. *)
Definition omega (st : stage) k : 'I_(horizon st) -> R := D (@restart _ _ st k).
Arguments omega : clear implicits.
Definition fair (st : stage) : Prop := forall k, law (omega st k).

Definition local_at_stage (st : stage) := local_kernel (omega st).
Arguments local_at_stage : clear implicits.

Lemma local_at_stage_kernel (st : stage) k : fair st -> kernel (local_at_stage st k).
Proof. by move=> fst; apply: local_kernel_kernel. Qed.

Lemma refine_yields (st : stage) l (X : state (horizon st)) : fair st ->
  yields D (refine E at_ token_tickets local_tickets per_rung st l (show X))
    (iterk (local_moves st) (sweep (local_at_stage st)) X) (@show (horizon st)).
Proof.
move=> fst; rewrite /refine; case: per_rung.
  apply: (yields_ext (prodk_iterk (local_at_stage st) (local_moves st) X)).
  apply: (yields_each (mu := fun k => iterk (local_moves st) (local_at_stage st k) (X k))).
    by move=> k; apply: kernel_iterk; apply: local_at_stage_kernel.
  by move=> k; rewrite ffunE; apply: yields_repeat => j y; apply: local_yields.
apply: yields_repeat => j Y.
apply: (yields_each (mu := fun k => local_at_stage st k (Y k))).
  by move=> k; exact: local_at_stage_kernel.
by move=> k; rewrite ffunE; apply: local_yields.
Qed.

Definition refinement (st : stage) c N : state (horizon st) -> state (horizon st) -> R :=
  rounds_from (@swap_at (horizon st)) (local_at_stage st) s c N (local_moves st) (sweeps st).
Arguments refinement : clear implicits.

(** Its rounds are those of alternation.v, with the local kernel of the drawn proposal. *)
Lemma refinement_rounds (st : stage) c N
    (q : 'I_n.+1 -> 'I_(horizon st) -> S_T (horizon st) -> S_T (horizon st) -> R) :
  (forall k (r : 'I_(horizon st)) x y, proposal k r x y = q k r x y) ->
  refinement st c N =2 rounds_from (@swap_at (horizon st))
    (fun k => mixk (omega st k) (fun r : 'I_(horizon st) => metropolis (q k r) (accept_local k r)))
    s c N (local_moves st) (sweeps st).
Proof.
move=> qE; have localE k (x y : S_T (horizon st)) : local_at_stage st k x y =
    mixk (omega st k) (fun r : 'I_(horizon st) => metropolis (q k r) (accept_local k r)) x y.
  apply: eq_bigr => r _; congr (_ * _); rewrite /metropolis; case: eqP => _; last by rewrite qE.
  by congr (1 - _); apply: eq_bigr => u _; rewrite qE.
rewrite /refinement; elim: N c => [//|N IH] c; apply: compk_ext => //; apply: compk_ext => //.
elim: (local_moves st) => [//|m IHm]; apply: compk_ext => // X Y.
by apply: eq_bigr => k _; apply: localE.
Qed.

Lemma rounds_yields (st : stage) N l c (X : state (horizon st)) : fair st ->
  yields D (rounds_of E at_ token_tickets local_tickets swap_tickets s per_rung st N l c (show X))
    (refinement st c N X) (@show (horizon st)).
Proof.
move=> fst; elim: N l c X => [|N IH] l c X; first exact: yields_done.
apply: (yields_bind _ (IH _ _)).
exact: (yields_bind (refine_yields l X fst) (sweeps_yields _ c)).
Qed.

(** ** A stage, and a run of stages, as one kernel *)

Definition stage_kernel (st : stage) c T0 : state T0 -> state (horizon st) -> R :=
  compk (prodk (fun k => @extension T0 (horizon st) k)) (refinement st c (rounds st)).
Arguments stage_kernel : clear implicits.

Theorem stage_yields (st : stage) m l c T0 (X : state T0) :
  fair st -> (T0 <= horizon st)%N ->
  yields D (run_stage E at_ token_tickets local_tickets swap_tickets s per_rung st m l c (show X))
    (stage_kernel st c T0 X) (@show (horizon st)).
Proof.
move=> fst le; apply: (yields_bind _ (fun Y => rounds_yields (rounds st) l c Y fst)).
apply: (yields_each (mu := fun k => @extension T0 (horizon st) k (X k))).
  by move=> k; apply: extension_kernel.
by move=> k; rewrite ffunE; apply: extend_yields.
Qed.

Fixpoint last_horizon T0 (sts : seq stage) : nat :=
  if sts is st :: sts' then last_horizon (horizon st) sts' else T0.

Fixpoint stages_kernel (c T0 : nat) (sts : seq stage) : state T0 -> state (last_horizon T0 sts) -> R :=
  match sts return state T0 -> state (last_horizon T0 sts) -> R with
  | [::] => @idk R _
  | st :: sts' =>
      compk (stage_kernel st c T0) (@stages_kernel (c + rounds st * sweeps st) (horizon st) sts')
  end.
Arguments stages_kernel : clear implicits.

(** Restart laws are laws, and horizons never shrink: T_0 <= T_1 <= ... *)
Fixpoint proper T0 (sts : seq stage) : Prop :=
  if sts is st :: sts'
  then [/\ fair st, (T0 <= horizon st)%N & proper (horizon st) sts'] else True.

Theorem stages_yields sts m l c T0 (X : state T0) : proper T0 sts ->
  yields D (run_stages E at_ token_tickets local_tickets swap_tickets s per_rung sts m l c (show X))
    (stages_kernel c T0 sts X) (@show (last_horizon T0 sts)).
Proof.
elim: sts m l c T0 X => [|st sts IH] m l c T0 X; first by move=> _; apply: yields_done.
case=> fst le gr; apply: (yields_bind (stage_yields m l c X fst le)) => Y.
exact: IH.
Qed.

Lemma stage_kernel_kernel (st : stage) c T0 :
  fair st -> (T0 <= horizon st)%N -> kernel (stage_kernel st c T0).
Proof.
move=> fst le; apply: kernel_compk.
  by apply: kernel_prodk => k; apply: extension_kernel.
apply: rounds_from_kernel => [e|k]; first by apply: swap_kernel; apply: accept_swap01.
exact: local_at_stage_kernel.
Qed.

Theorem stages_kernel_kernel c T0 sts : proper T0 sts -> kernel (stages_kernel c T0 sts).
Proof.
elim: sts c T0 => [|st sts IH] c T0; first by move=> _; apply: kernel_idk.
by case=> fst le pr; apply: kernel_compk; [apply: stage_kernel_kernel | apply: IH].
Qed.

(** Stages after stages: the counts of local moves and of sweeps go on. *)
Definition local_count (sts : seq stage) : nat := sumn [seq rounds st * local_moves st | st <- sts]%N.
Definition sweep_count (sts : seq stage) : nat := sumn [seq rounds st * sweeps st | st <- sts]%N.

Lemma run_stages_rcons sts st m l c X (F : {ffun 'I_n.+1 -> seq V} -> R) :
  expect D (run_stages E at_ token_tickets local_tickets swap_tickets s per_rung
    (rcons sts st) m l c X) F =
  expect D (bind
    (run_stages E at_ token_tickets local_tickets swap_tickets s per_rung sts m l c X)
    (run_stage E at_ token_tickets local_tickets swap_tickets s per_rung st
       (m + size sts) (l + local_count sts) (c + sweep_count sts))) F.
Proof.
elim: sts m l c X => [|st' sts IH] m l c X.
  by rewrite /= expect_bind /local_count /sweep_count /= !addn0.
have cons st0 sts0 m0 l0 c0 Z : run_stages E at_ token_tickets local_tickets swap_tickets
    s per_rung (st0 :: sts0) m0 l0 c0 Z =
  bind (run_stage E at_ token_tickets local_tickets swap_tickets s per_rung st0 m0 l0 c0 Z)
    (run_stages E at_ token_tickets local_tickets swap_tickets s per_rung sts0
      m0.+1 (l0 + rounds st0 * local_moves st0) (c0 + rounds st0 * sweeps st0)) by [].
rewrite rcons_cons !cons [LHS]expect_bind (expect_ext D _ (fun Y => IH _ _ _ Y)).
rewrite [RHS]expect_bind [RHS]expect_bind (expect_ext D _ (fun Y => expect_bind D _ _ F)).
by rewrite /local_count /sweep_count /= !addnA addSnnS.
Qed.

End Law.

Arguments omega {R n ticket} D st k _.
Arguments local_at_stage {R V E lm n} g accept_local {ticket} D st k _ _.
Arguments refinement {R V E lm n} g accept_local accept_swap {ticket} D s st c N _ _.
Arguments stage_kernel {R V E lm n} g accept_local accept_swap {ticket} D s st c T0 _ _.
Arguments stages_kernel {R V E lm n} g accept_local accept_swap {ticket} D s c T0 sts _ _.
