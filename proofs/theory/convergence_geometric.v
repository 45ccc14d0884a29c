(** Geometric decay in an archimedean ordered field, without logarithms. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import tempera_field.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Bernoulli.
Variable R : realFieldType.
Add Field bernoulli_field : (field_theory_of R).

Lemma bernoulli (d : R) n : 0 <= d -> 1 + n%:R * d <= (1 + d) ^+ n.
Proof.
move=> d0; elim: n => [|n IH]; first by rewrite mul0r addr0 expr0.
rewrite exprS; apply: (@le_trans _ _ ((1 + d) * (1 + n%:R * d))); last first.
  by apply: ler_wpmul2l => //; apply: addr_ge0; rewrite ?ler01.
rewrite -subr_ge0; have -> : (1 + d) * (1 + n%:R * d) - (1 + n.+1%:R * d) = n%:R * (d * d).
  by rewrite mulrS; to_field R; ring.
by rewrite mulr_ge0 ?mulr_ge0 ?ler0n.
Qed.

End Bernoulli.

(** Powers of a number below one become arbitrarily small. *)
Lemma power_vanishes (R : archiFieldType) (c eta : R) :
  0 <= c < 1 -> 0 < eta -> exists n, c ^+ n < eta.
Proof.
move=> /andP[c0 c1] eta0.
have [->|cn0] := eqVneq c 0; first by exists 1%N; rewrite expr1.
have cp : 0 < c by rewrite lt_def cn0.
pose d := c^-1 - 1.
have dp : 0 < d by rewrite subr_gt0 invf_gt1.
have [n hn] : exists n : nat, eta^-1 / d < n%:R.
  exists (Num.bound (eta^-1 / d)).
  by apply: archi_boundP; rewrite divr_ge0 // ltW // invr_gt0.
exists n; rewrite -[c]invrK exprVn -[eta]invrK ltf_pinv ?posrE ?invr_gt0 //; last first.
  by rewrite exprn_gt0 // invr_gt0.
have -> : c^-1 = 1 + d by rewrite /d addrC subrK.
apply: lt_le_trans (bernoulli n (ltW dp)).
by move: hn; rewrite ltr_pdivr_mulr // => hn; apply: lt_trans hn _; rewrite ltr_addr ltr01.
Qed.
