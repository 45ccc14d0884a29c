(** * Powering is not tokenwise: a witness

    In the four-state model the target starts with e with probability 2/3, the
    tokenwise-powered proposal with probability 1/2.                             *)

From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov autoregressive record_space power power_target.
From Tempera Require Import executable four_state.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Theorem target_first_token :
  target_next E lm square 2 [::] (Some true) = 2%:R/3%:R.
Proof.
have prefix h : target_prefix E lm square 2 h =
    sum_list (fun x => if take (size h) x == h then x_target lm square 2 [:: false; true] id x else 0)
             (states lm 2 [:: false; true] id).
  rewrite /target_prefix big_mkcond (sum_states lm 2 tokens_uniq tokens_all terminalE).
  by apply: eq_bigr => x _; rewrite (x_targetE square tokens_uniq tokens_all terminalE).
by rewrite /target_next !prefix; apply/eqP; vm_compute.
Qed.

Theorem proposal_first_token : g E lm square [::] (Some true) = 1/2%:R.
Proof.
by rewrite -(x_gE lm square tokens_uniq tokens_all terminalE); apply/eqP; vm_compute.
Qed.

Theorem powering_is_not_tokenwise :
  [/\ target_next E lm square 2 [::] (Some true) = 2%:R/3%:R,
      g E lm square [::] (Some true) = 1/2%:R
    & exists o, target_next E lm square 2 [::] o <> g E lm square [::] o].
Proof.
split; [exact: target_first_token | exact: proposal_first_token | exists (Some true)].
by rewrite target_first_token proposal_first_token => /eqP; vm_compute.
Qed.

(** The mass of each first token under the target; tokenwise both are 1/2. *)
Theorem continuation_masses :
  target_prefix E lm square 2 [:: Some false] = 1/3%:R /\
  target_prefix E lm square 2 [:: Some true] = 2%:R/3%:R.
Proof.
have prefix h : target_prefix E lm square 2 h =
    sum_list (fun x => if take (size h) x == h then x_target lm square 2 [:: false; true] id x else 0)
             (states lm 2 [:: false; true] id).
  rewrite /target_prefix big_mkcond (sum_states lm 2 tokens_uniq tokens_all terminalE).
  by apply: eq_bigr => x _; rewrite (x_targetE square tokens_uniq tokens_all terminalE).
by split; rewrite prefix; apply/eqP; vm_compute.
Qed.
