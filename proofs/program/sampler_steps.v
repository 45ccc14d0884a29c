(** * Algorithm 1, step by step (alg:PPT)

    The text of gpu/core/sampler as programs: records are the tokens generated so far, the
    padding behind a terminal token is implicit, and every draw is asked for at its
    address (rung, round, position, purpose).  The tickets are left open: with
    probabilities it is the printed algorithm, with integers the sampler.

    - [generate], [extend]      block extension, and the tokens of a proposal
    - [local_move], [attempt_swap], [sweep_once]   one update of each kind
    - [round], [run_stage], [run_stages], [algorithm]   the whole run

    [per_rung] tells the two orders of the local moves of a round apart: the printed
    one (all rungs once, n_local times) and the sampler's (each rung n_local times). *)

From mathcomp Require Import all_ssreflect all_algebra all_fingroup.
From Tempera Require Import record_space replica_exchange alternation program.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Inductive purpose :=
  For_extension_token | For_restart | For_proposal_token | For_acceptance | For_swap.

Section Steps.
Variables (ticket address : Type) (V : finType) (E : {set V}) (n : nat).
Notation program := (program ticket address).
Notation replicas := {ffun 'I_n.+1 -> seq V}.
Implicit Types (T r t : nat) (k : 'I_n.+1) (e : 'I_n) (x y : seq V) (X : replicas).

(** rung (the edge, for a swap), round, position from 1 (0 for other draws), purpose *)
Variable at_ : nat -> nat -> nat -> purpose -> address.
Variable token_tickets : 'I_n.+1 -> seq V -> V -> ticket.
Variable local_tickets : 'I_n.+1 -> nat -> seq V -> seq V -> bool -> ticket.
Variable swap_tickets : 'I_n -> seq V -> seq V -> bool -> ticket.

Definition ended x : bool := has (mem E) x.
Definition going_on T x : bool := ~~ ended x && (size x < T)%N.

(** [fuel] only bounds the recursion: T tokens are always enough. *)
Fixpoint generate T k (a : nat -> address) (fuel : nat) x : program (seq V) :=
  if fuel is fuel'.+1 then
    if going_on T x
    then Draw (a (size x).+1) (token_tickets k x) (fun v => generate T k a fuel' (rcons x v))
    else Done x
  else Done x.

Definition extend T (stage : nat) k x : program (seq V) :=
  generate T k (fun t => at_ k stage t For_extension_token) T x.

(** Restart positions count from 0 here.  Behind the terminal token the proposal is
    the record itself, and no draw but the restart's is made. *)
Definition local_move T (restart : 'I_n.+1 -> 'I_T -> ticket) k (i : nat) x :
    program (seq V) :=
  Draw (at_ k i 0 For_restart) (restart k) (fun r : 'I_T =>
    if ended x ==> (r < size x)%N then
      bind (generate T k (fun t => at_ k i t For_proposal_token) T (take r x)) (fun y =>
        Draw (at_ k i 0 For_acceptance) (local_tickets k r x y) (fun b : bool =>
          Done (if b then y else x)))
    else Done x).

Definition exchange_records e X : replicas := [ffun i => X (tperm (lower e) (upper e) i)].

Definition attempt_swap e (c : nat) X : program replicas :=
  Draw (at_ e c 0 For_swap) (swap_tickets e (X (lower e)) (X (upper e))) (fun b : bool =>
    Done (if b then exchange_records e X else X)).

Fixpoint attempts (es : seq 'I_n) (c : nat) X : program replicas :=
  if es is e :: es' then bind (attempt_swap e c X) (attempts es' c) else Done X.

Variable s : schedule.
Variable per_rung : bool.

Definition sweep_once (c : nat) X : program replicas := attempts (edges n s c) c X.

(** One stage m: T_m, omega_m, N_m, n_local, n_sweep. *)
Record stage := Stage {
  horizon : nat;
  restart : 'I_n.+1 -> 'I_horizon -> ticket;
  rounds : nat;
  local_moves : nat;
  sweeps : nat
}.
Implicit Types st : stage.

(** [l] local moves and [c] sweeps have been made since the start of the run. *)
Definition refine st (l : nat) X : program replicas :=
  if per_rung
  then each_rung (fun k => repeat (local_moves st) (local_move (@restart st) k) l) X
  else repeat (local_moves st) (fun i => each_rung (fun k => local_move (@restart st) k i)) l X.

Definition round st (l c : nat) X : program replicas :=
  bind (refine st l X) (repeat (sweeps st) sweep_once c).

Fixpoint rounds_of st (N l c : nat) X : program replicas :=
  if N is N'.+1
  then bind (round st l c X) (rounds_of st N' (l + local_moves st) (c + sweeps st))
  else Done X.

Definition run_stage st (m l c : nat) X : program replicas :=
  bind (each_rung (extend (horizon st) m) X) (rounds_of st (rounds st) l c).

Fixpoint run_stages (sts : seq stage) (m l c : nat) X : program replicas :=
  if sts is st :: sts' then
    bind (run_stage st m l c X)
      (run_stages sts' m.+1 (l + rounds st * local_moves st) (c + rounds st * sweeps st))
  else Done X.

Definition no_tokens : replicas := [ffun => [::]].

(** The record at rung k*, through its first terminal token or all of it. *)
Definition algorithm (sts : seq stage) (output : 'I_n.+1) : program (seq V) :=
  bind (run_stages sts 0 0 0 no_tokens) (fun X => Done (X output)).

End Steps.

Arguments local_move {ticket address V} E {n} at_ token_tickets local_tickets {T} restart k i x.
