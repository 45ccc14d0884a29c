(** * The law of the progressive algorithm, stage by stage (alg:PPT)

    - [extension alpha]   block extension at one rung, eq:implementation-extension:
                          the record is kept and continued by g; a record that has
                          terminated is padded, since there g is padding
    - [stage_law]         extension at every rung, then N rounds of R^n_local C^n_sweep
    - [progressive_law]   the stages one after another, restarts uniform over the
                          stage's horizon, from the empty records                 *)

From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov autoregressive record_space power power_target.
From Tempera Require Import replica_exchange fixed_horizon.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** What one stage does: up to which horizon it extends, and its schedule. *)
Record stage := Stage { horizon : nat; rounds : nat; n_local : nat; n_sweep : nat }.

Section Progressive.
Variables (R : realFieldType) (V : finType) (E : {set V}).
Variable lm : seq V -> V -> R.

Definition extension (alpha : power R) (T T' : nat) (x : S_T E lm T) (y : S_T E lm T') : R :=
  (take T (val y) == val x :> seq (option V))%:R * suffix bot (g E lm alpha) T (val y).

(** Extension never leaves the records: its rows are laws. *)
Theorem extension_kernel (alpha : power R) (T T' : nat) :
  model E lm -> (T <= T')%N -> kernel (@extension alpha T T').
Proof.
move=> lm_model TT x; split=> [y|].
  by rewrite mulr_ge0 ?ler0n // suffix_ge0 // => h o; apply: g_ge0.
have sx : supported E lm (val x) by rewrite supportedE //; apply: (valP x).
have size_x : size (val x) = T by rewrite size_tuple.
pose F (s : seq (option V)) := if take T s == val x then suffix bot (g E lm alpha) T s else 0.
transitivity (\sum_(y : record V T') F y).
  rewrite -(@sum_S_T_vanish R V E lm lm_model T' (fun y => F y)) => [|y y0].
    by apply: eq_bigr => y _; rewrite /F /extension; case: eqP; rewrite ?mul1r ?mul0r.
  rewrite /F; case: eqP => // e; apply/eqP; apply: contraT => n0.
  have : supported E lm y.
    rewrite -(cat_take_drop T y) e; apply: (chain_neq0 (g := g E lm alpha)) => //.
      by move=> h o sh; apply: g_reach.
    by rewrite -(suffix_cat bot) size_x -e cat_take_drop.
  by rewrite supportedE // -/(record_prob E lm y) y0 ltxx.
rewrite -big_mkcond -{1}size_x sum_prefix ?size_x //.
rewrite (eq_bigr (fun u : (T' - T).-tuple (option V) => chain (g E lm alpha) (val x) u)).
  apply: (sum_chain (reach := supported E lm)) => //.
    by move=> h sh; case: (law_g alpha lm_model sh).
  by move=> h o sh; apply: g_reach.
by move=> u _; rewrite -{1}size_x suffix_cat.
Qed.

Variables (n : nat) (alpha : 'I_n.+1 -> power R).
Notation state T := {ffun 'I_n.+1 -> S_T E lm T}.

(** A round of a stage with horizon T. *)
Definition stage_round (T n_local n_sweep : nat) : state T -> state T -> R :=
  transition alpha (fun (_ : 'I_n.+1) (_ : 'I_T) => T%:R^-1) (adj (pi alpha)) n_local n_sweep.

Definition stage_law (T : nat) (mu : state T -> R) (m : stage) : state (horizon m) -> R :=
  run (rounds m) (act mu (prodk (fun k => @extension (alpha k) T (horizon m))))
    (stage_round (n_local m) (n_sweep m)).

Fixpoint last_horizon (T : nat) (ms : seq stage) : nat :=
  if ms is m :: ms' then last_horizon (horizon m) ms' else T.

Fixpoint progressive_from (T : nat) (mu : state T -> R) (ms : seq stage) :
    state (last_horizon T ms) -> R :=
  match ms return state (last_horizon T ms) -> R with
  | m :: ms' => @progressive_from (horizon m) (@stage_law T mu m) ms'
  | [::] => mu
  end.

(** There is one record of horizon 0, the empty one. *)
Definition progressive_law (ms : seq stage) : state (last_horizon 0 ms) -> R :=
  @progressive_from 0 (fun=> 1) ms.

End Progressive.

Arguments extension {R V E lm} alpha {T T'} x y.
