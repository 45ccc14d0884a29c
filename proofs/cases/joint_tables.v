(** * The joint chain as lists

    A joint state is coded by the positions of its records in a listing of S, rung 1
    first and slowest, as in `tempera exact`.
    - [codes K N], [decode]     the codes of K records out of N, and their states
    - [x_prodk]                 the product kernel (local sweep, block extension)
    - [x_W], [x_adj], [x_layer]   swaps, ordered sweep, a parity layer  *)

From mathcomp Require Import all_ssreflect all_algebra all_fingroup.
From Tempera Require Import markov replica_exchange tables.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** ** Codes *)
Fixpoint codes (K N : nat) : seq (seq nat) :=
  if K is K'.+1 then [seq i :: c | i <- iota 0 N, c <- codes K' N] else [:: [::]].

Lemma mem_codes K N c : (c \in codes K N) = (size c == K) && all (fun i => (i < N)%N) c.
Proof.
elim: K c => [|K IH] [|i c] //=; first by apply/allpairsP => -[[j d] [_ _]].
apply/allpairsP/idP => [[[j d] /= [jN dK [-> ->]]]|/andP[/eqP[size_c] /andP[iN cN]]].
  by move: jN dK; rewrite mem_iota add0n IH eqSS /= => -> /andP[-> ->].
by exists (i, c); rewrite mem_iota add0n IH size_c eqxx iN cN.
Qed.

Lemma uniq_codes K N : uniq (codes K N).
Proof.
elim: K => [//|K IH] /=; apply: allpairs_uniq; rewrite ?iota_uniq //.
by move=> [i c] [j d] _ _ /= [-> ->].
Qed.

Section Joint.
Variables (R : realFieldType) (n : nat).
Notation K := n.+1.

Fixpoint prod_list (A : Type) (F : A -> R) (s : seq A) : R :=
  if s is a :: s' then F a * prod_list F s' else 1.

Lemma prod_list_ord (F : nat -> R) : prod_list F (iota 0 K) = \prod_(i < K) F i.
Proof.
rewrite -(big_mkord xpredT F) /index_iota subn0.
by elim: (iota 0 K) => [|i s /= ->]; rewrite ?big_nil ?big_cons.
Qed.

Definition decode (S : finType) (x0 : S) (s : seq S) (c : seq nat) : {ffun 'I_K -> S} :=
  [ffun i : 'I_K => nth x0 s (nth 0%N c i)].

Definition joint (S : finType) (x0 : S) (s : seq S) : seq {ffun 'I_K -> S} :=
  [seq decode x0 s c | c <- codes K (size s)].

Lemma code_lt N c (i : 'I_K) : c \in codes K N -> (nth 0%N c i < N)%N.
Proof.
rewrite mem_codes => /andP[/eqP size_c /allP lt]; apply: lt.
by rewrite mem_nth // size_c.
Qed.

Lemma decode_inj (S : finType) (x0 : S) (s : seq S) : uniq s ->
  {in codes K (size s) &, injective (decode x0 s)}.
Proof.
move=> us c d cK dK /ffunP e.
have size_ c' : c' \in codes K (size s) -> size c' = K by rewrite mem_codes => /andP[/eqP].
apply: (@eq_from_nth _ 0%N); first by rewrite !size_.
move=> i; rewrite size_ // => iK; have := e (Ordinal iK); rewrite !ffunE /= => /eqP.
by rewrite nth_uniq ?(code_lt (Ordinal iK)) // => /eqP.
Qed.

Lemma listing_joint (S : finType) (x0 : S) (s : seq S) : listing s -> listing (joint x0 s).
Proof.
case=> us ms; split=> [|X].
  by rewrite map_inj_in_uniq ?uniq_codes //; apply: decode_inj.
apply/mapP; exists [seq index (X i) s | i <- enum 'I_K].
  rewrite mem_codes size_map size_enum_ord eqxx; apply/allP => _ /mapP[i _ ->].
  by rewrite index_mem.
apply/ffunP => i; rewrite ffunE (nth_map i) ?size_enum_ord //.
by rewrite nth_ord_enum nth_index.
Qed.

Lemma size_joint (S : finType) (x0 : S) (s : seq S) : size (joint x0 s) = size (codes K (size s)).
Proof. exact: size_map. Qed.

Lemma nth_table (S U : finType) (x0 : S) (y0 : U) (s : seq S) (u : seq U) (P : S -> U -> R) i j :
  (i < size s)%N -> (j < size u)%N ->
  nth 0 (nth [::] (table s u P) i) j = P (nth x0 s i) (nth y0 u j).
Proof. by move=> it jt; rewrite (nth_map x0) // (nth_map y0). Qed.

(** ** One kernel per rung *)
Definition x_prodk (N N' : nat) (Ls : seq (seq (seq R))) : seq (seq R) :=
  [seq [seq prod_list (fun i => nth 0 (nth [::] (nth [::] Ls i) (nth 0%N c i)) (nth 0%N d i)) (iota 0 K)
       | d <- codes K N'] | c <- codes K N].

Theorem x_prodkE (S U : finType) (x0 : S) (y0 : U) (s : seq S) (u : seq U)
    (L : 'I_K -> S -> U -> R) (Ls : seq (seq (seq R))) :
  (forall i : 'I_K, nth [::] Ls i = table s u (L i)) ->
  x_prodk (size s) (size u) Ls = table (joint x0 s) (joint y0 u) (prodk L).
Proof.
move=> e; rewrite /table /joint -map_comp; apply/eq_in_map => c cK.
rewrite [RHS]/= /values -map_comp; apply/eq_in_map => d dK.
rewrite prod_list_ord [RHS]/=; apply: eq_bigr => i _.
by rewrite e (nth_table x0 y0) ?code_lt // !ffunE.
Qed.

(** ** Exchanges *)
Section Swaps.
Variables (N : nat) (targets : seq (seq R)).

Definition x_Pi (c : seq nat) : R :=
  prod_list (fun i => nth 0 (nth [::] targets i) (nth 0%N c i)) (iota 0 K).

Definition x_exchange (e : nat) (c : seq nat) : seq nat :=
  [seq nth 0%N c (if i == e then e.+1 else if i == e.+1 then e else i) | i <- iota 0 K].

Definition x_swap_accept (e : nat) (c : seq nat) : R :=
  Num.min 1 (x_Pi (x_exchange e c) / x_Pi c).

Definition x_W (e : nat) : seq (seq R) :=
  [seq let a := x_swap_accept e c in let c' := x_exchange e c in
       [seq (if d == c' then a else 0) + (if d == c then 1 - a else 0) | d <- codes K N]
  | c <- codes K N].

Definition x_width : nat := size (codes K N).

Definition x_adj : seq (seq R) := x_ordered x_width [seq x_W e | e <- iota 0 n].

Definition x_layer (b : bool) : seq (seq R) :=
  x_ordered x_width [seq x_W e | e <- iota 0 n & odd e == b].

End Swaps.

Variables (S : finType) (x0 : S) (s : seq S).
Hypothesis listed : listing s.
Variables (pi : 'I_K -> S -> R) (targets : seq (seq R)).
Hypothesis targetsE : forall i : 'I_K, nth [::] targets i = values s (pi i).
Notation J := (joint x0 s).
Notation N := (size s).
Notation state_of := (decode x0 s).

Lemma x_PiE c : c \in codes K N -> x_Pi targets c = product pi (state_of c).
Proof.
move=> cK; rewrite /x_Pi prod_list_ord; apply: eq_bigr => i _.
by rewrite targetsE (nth_map x0) ?code_lt // ffunE.
Qed.

Lemma nth_x_exchange (e : 'I_n) c (i : 'I_K) :
  nth 0%N (x_exchange e c) i = nth 0%N c (tperm (lower e) (upper e) i).
Proof.
rewrite /x_exchange (nth_map 0%N) ?size_iota // nth_iota // add0n; congr nth.
case: tpermP => [->|->|/eqP il /eqP iu] /=; rewrite /bump /= ?add1n ?eqxx //.
  by rewrite gtn_eqF.
move: il iu; rewrite -!(inj_eq val_inj) /= /bump /= add1n.
by move=> /negPf -> /negPf ->.
Qed.

Lemma x_exchangeE (e : 'I_n) c : state_of (x_exchange e c) = exchange e (state_of c).
Proof. by apply/ffunP => i; rewrite !ffunE nth_x_exchange. Qed.

Lemma x_exchange_codes (e : 'I_n) c : c \in codes K N -> x_exchange e c \in codes K N.
Proof.
move=> cK; rewrite mem_codes size_map size_iota eqxx; apply/(all_nthP 0%N) => i.
rewrite size_map size_iota => iK.
by rewrite (nth_x_exchange e c (Ordinal iK)) code_lt.
Qed.

Lemma x_swap_acceptE (e : 'I_n) c : c \in codes K N ->
  x_swap_accept targets e c = swap_accept pi e (state_of c).
Proof. by move=> cK; rewrite /x_swap_accept !x_PiE ?x_exchange_codes // x_exchangeE. Qed.

Theorem x_WE (e : 'I_n) : x_W N targets e = table J J (W pi e).
Proof.
have us : uniq s by case: listed.
rewrite /table /joint -map_comp; apply/eq_in_map => c cK /=.
rewrite /= /values -map_comp; apply/eq_in_map => d dK /=.
rewrite /W x_swap_acceptE // -x_exchangeE !(inj_in_eq (decode_inj (x0 := x0) us)) ?x_exchange_codes //.
by case: (d == x_exchange e c); case: (d == c); rewrite ?mulr1 ?mulr0.
Qed.

Lemma x_orderedWE (es : seq 'I_n) :
  x_ordered (x_width N) [seq x_W N targets e | e <- [seq val e | e <- es]] = table J J (ordered es (W pi)).
Proof.
rewrite -map_comp.
have -> : [seq (x_W N targets \o val) e | e <- es] = [seq table J J (W pi e) | e <- es].
  by apply: eq_map => e; apply: x_WE.
rewrite /x_width -(size_joint x0); apply: x_orderedE; exact: listing_joint.
Qed.

Theorem x_adjE : x_adj N targets = table J J (adj pi).
Proof. by rewrite /adj -x_orderedWE val_enum_ord. Qed.

Theorem x_layerE b : x_layer N targets b = table J J (deo_layer pi b).
Proof.
rewrite /deo_layer -x_orderedWE /x_layer -val_enum_ord filter_map.
by congr (x_ordered _ (map _ _)).
Qed.

End Joint.
