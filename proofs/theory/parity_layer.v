(** A parity layer as one simultaneous kernel (sec:chain-communication, DEO).

    "One layer attempts all even or all odd edges": every edge of the layer flips its
    own coin, with the acceptance of the state before the layer, and the accepted
    edges exchange at once.  The product of the layer's swaps, in any order, is that
    kernel.

    - [exchange_all A X]       the edges of A, which share no rung, exchange together
    - [simultaneous b X Y]     the sum over accepted sets A of the layer's edges
    - [layer_is_simultaneous]  any order of attempts is the simultaneous kernel     *)
From mathcomp Require Import all_ssreflect all_algebra all_fingroup.
From Tempera Require Import markov replica_exchange even_odd.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section ParityLayer.
Variables (R : realFieldType) (S : finType) (n : nat).
Variable pi : 'I_n.+1 -> S -> R.
Hypothesis pi_gt0 : forall i x, 0 < pi i x.
Local Notation state := {ffun 'I_n.+1 -> S}.
Implicit Types (j k : 'I_n) (i : 'I_n.+1) (X Y : state) (A B : {set 'I_n}).

(** The rung that rung i exchanges with, itself where no edge of A touches it. *)
Definition across A i : 'I_n.+1 :=
  if [pick k in A | (i == lower k) || (i == upper k)] is Some k
  then tperm (lower k) (upper k) i else i.

Definition exchange_all A X : state := [ffun i => X (across A i)].

(** The probability that exactly the edges A of B accept, each seeing X. *)
Definition coins B A X : R :=
  \prod_(k in B) (if k \in A then swap_accept pi k X else 1 - swap_accept pi k X).

Definition at_once B X Y : R :=
  \sum_(A : {set 'I_n} | A \subset B) coins B A X * (Y == exchange_all A X)%:R.

Definition layer (b : bool) : {set 'I_n} := [set k | odd (val k) == b].

(** All edges of one parity at once. *)
Definition simultaneous (b : bool) : state -> state -> R := at_once (layer b).

Definition one_parity A : Prop := forall j k, j \in A -> k \in A -> odd j = odd k.

Lemma touching_once A j k i : one_parity A -> j \in A -> k \in A ->
  (i == lower j) || (i == upper j) -> (i == lower k) || (i == upper k) -> j = k.
Proof.
move=> par jA kA ij ik; apply/eqP; apply/negPn/negP => jk.
have /and4P[ll lu ul uu] := layer_disjoint (par _ _ jA kA) jk.
case/orP: ij ik => /eqP -> /orP[] /eqP e;
  [move: ll | move: lu | move: ul | move: uu]; by rewrite e eqxx.
Qed.

Lemma across_touched A k i : one_parity A -> k \in A ->
  (i == lower k) || (i == upper k) -> across A i = tperm (lower k) (upper k) i.
Proof.
move=> par kA ik; rewrite /across; case: pickP => [j /andP[jA ij]|/(_ k)]; last by rewrite kA ik.
by rewrite (touching_once par jA kA ij ik).
Qed.

Lemma across_untouched A i :
  (forall k, k \in A -> ~~ ((i == lower k) || (i == upper k))) -> across A i = i.
Proof.
by move=> none; rewrite /across; case: pickP => // k /andP[/none/negPf ->].
Qed.

Lemma exchange_all0 X : exchange_all set0 X = X.
Proof. by apply/ffunP => i; rewrite ffunE across_untouched // => k; rewrite inE. Qed.

(** Exchanging one more edge of the layer first. *)
Lemma exchange_allU1 A k X : k \notin A -> one_parity (k |: A) ->
  exchange_all A (exchange k X) = exchange_all (k |: A) X.
Proof.
move=> kA par; have parA : one_parity A.
  by move=> a b aA bA; apply: par; rewrite inE ?aA ?bA orbT.
have kU : k \in k |: A by rewrite setU11.
apply/ffunP => i; rewrite !ffunE.
have [ik|nik] := boolP ((i == lower k) || (i == upper k)).
  rewrite (across_touched par kU ik) across_untouched // => j jA.
  apply/negP => ij; move: kA; rewrite -(touching_once par _ kU ij ik) ?jA //.
  by rewrite inE jA orbT.
have [/existsP[j /andP[jA ij]]|none] := boolP [exists j in A, (i == lower j) || (i == upper j)].
  rewrite (across_touched parA jA ij) (across_touched par _ ij) ?inE ?jA ?orbT //.
  have jk : j != k by apply: contraNneq kA => <-.
  have /and4P[ll lu ul uu] := layer_disjoint (par j k (setU1r k jA) kU) jk.
  by case/orP: ij => /eqP ->; rewrite ?tpermL ?tpermR tpermD // eq_sym.
have untouched a : a \in A -> ~~ ((i == lower a) || (i == upper a)).
  by move=> aA; apply: contra none => ia; apply/existsP; exists a; rewrite aA.
rewrite !across_untouched // => [|a].
  by move: nik; rewrite negb_or => /andP[il iu]; rewrite tpermD // eq_sym.
by rewrite inE => /orP[/set1P ->|/untouched].
Qed.

(** Sets of edges, with and without one more. *)
Lemma sum_subsetU1 B k (F : {set 'I_n} -> R) : k \notin B ->
  \sum_(A : {set 'I_n} | A \subset k |: B) F A =
  \sum_(A : {set 'I_n} | A \subset B) (F (k |: A) + F A).
Proof.
move=> kB; rewrite (bigID (fun A : {set 'I_n} => k \in A)) big_split /=; congr (_ + _).
  rewrite (reindex_onto (fun A => k |: A) (fun A => A :\ k)) /=.
    apply: eq_bigl => A; apply/andP/idP => [[/andP[sub _] /eqP <-]|AB].
      by rewrite -(setU1K kB) setSD.
    have kA : k \notin A by apply: contra kB; apply: (subsetP AB).
    by rewrite setUS // setU11 setU1K.
  by move=> A /andP[_ kA]; rewrite setD1K.
by apply: eq_bigl => A; rewrite -subsetD1 setU1K.
Qed.

Lemma coins_accepted B A k X : k \notin B ->
  coins (k |: B) (k |: A) X = swap_accept pi k X * coins B A X.
Proof.
move=> kB; rewrite /coins big_setU1 //= setU11; congr (_ * _).
apply: eq_bigr => j jB; have /negPf jk : j != k by apply: contraNneq kB => <-.
by rewrite !inE jk.
Qed.

Lemma coins_rejected B A k X : k \notin B -> A \subset B ->
  coins (k |: B) A X = (1 - swap_accept pi k X) * coins B A X.
Proof.
move=> kB AB; have /negPf kA : k \notin A by apply: contra kB; apply: (subsetP AB).
by rewrite /coins big_setU1 //= kA.
Qed.

(** Coins see the same acceptances before and after an exchange of the layer. *)
Lemma coins_unmoved B A k X : k \notin B -> one_parity (k |: B) ->
  coins B A (exchange k X) = coins B A X.
Proof.
move=> kB par; apply: eq_bigr => j jB.
have kj : k != j by apply: contraNneq kB => ->.
rewrite accept_unmoved //; apply: layer_disjoint kj.
by apply: par; rewrite !inE ?eqxx ?jB ?orbT.
Qed.

Lemma after_swap k (Q : state -> state -> R) X Y : compk (W pi k) Q X Y =
  swap_accept pi k X * Q (exchange k X) Y + (1 - swap_accept pi k X) * Q X Y.
Proof.
have at_ (c : R) Z (F : state -> R) : \sum_U c * (U == Z)%:R * F U = c * F Z.
  by under eq_bigr do rewrite mulrAC; apply: (sum_idk Z (fun U => c * F U)).
rewrite /compk /act {1}/W; under eq_bigr do rewrite mulrDl.
by rewrite big_split /= !at_.
Qed.

Lemma ordered_at_once (s : seq 'I_n) X Y : uniq s -> one_parity [set k in s] ->
  ordered s (W pi) X Y = at_once [set k in s] X Y.
Proof.
elim: s X => [|k s IH] X /=.
  have -> : [set j in [::]] = set0 :> {set 'I_n} by apply/setP => j; rewrite !inE.
  move=> _ _; rewrite /at_once (big_pred1 set0) => [|A]; last exact: subset0.
  by rewrite exchange_all0 /coins big_set0 mul1r /idk eq_sym.
move=> /andP[ks us] par; rewrite set_cons in par *; set B := [set j in s] in IH par *.
have kB : k \notin B by rewrite inE.
have parB : one_parity B by move=> a c aB cB; apply: par; rewrite inE ?aB ?cB orbT.
rewrite after_swap !IH // /at_once sum_subsetU1 // big_split /= !mulr_sumr.
congr (_ + _); apply: eq_bigr => A AB; last by rewrite coins_rejected // mulrA.
have kA : k \notin A by apply: contra kB; apply: (subsetP AB).
rewrite coins_accepted // coins_unmoved // mulrA exchange_allU1 //.
move=> a c; rewrite !in_setU1 => aA cA; apply: par; rewrite in_setU1.
  by case/orP: aA => [->//|/(subsetP AB) ->]; rewrite orbT.
by case/orP: cA => [->//|/(subsetP AB) ->]; rewrite orbT.
Qed.

Theorem layer_is_simultaneous (b : bool) (s : seq 'I_n) :
  uniq s -> (forall k, (k \in s) = (odd (val k) == b)) ->
  ordered s (W pi) =2 simultaneous b.
Proof.
move=> us ms X Y; have e : [set k in s] = layer b by apply/setP => k; rewrite !inE ms.
rewrite ordered_at_once // e // => j k.
by rewrite !inE => /eqP <- /eqP ->.
Qed.

(** The layer as the schedule composes it, edge by edge in increasing order. *)
Corollary deo_layer_is_simultaneous (b : bool) : deo_layer pi b =2 simultaneous b.
Proof.
apply: layer_is_simultaneous => [|k]; first by rewrite filter_uniq ?enum_uniq.
by rewrite mem_filter mem_enum andbT.
Qed.

(** A law, and reversible: all coins are those of one Metropolis step. *)
Corollary simultaneous_kernel (b : bool) : kernel (simultaneous b).
Proof.
move=> X; apply: law_ext (deo_layer_is_simultaneous b X) _.
by apply: deo_layer_kernel => i x; apply: ltW.
Qed.

Corollary simultaneous_invariant (b : bool) : invariant (product pi) (simultaneous b).
Proof.
apply: invariant_ext (deo_layer_is_simultaneous b) _.
by apply: deo_layer_invariant => i x; apply: ltW.
Qed.

End ParityLayer.
