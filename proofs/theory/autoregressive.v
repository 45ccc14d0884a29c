(** * Token-by-token laws of sequences

    [g h w] is the weight of the next token w after the history h.
    - [chain g h u]        the weight of continuing h by u, token by token
    - [suffix g r s]       prod_{t >= r} g(s_t | s_{<t})   (0-based positions)
    - [sum_chain]          continuations of a normalised g sum to one
    - [sum_prefix]         records with a given prefix are the prefix continued   *)

From mathcomp Require Import all_ssreflect all_algebra.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Autoregressive.
Variables (R : realFieldType) (W : finType) (w0 : W).
Implicit Types (g : seq W -> W -> R) (h s u : seq W).

Fixpoint chain g h u : R :=
  if u is w :: u' then g h w * chain g (rcons h w) u' else 1.

Definition suffix g (r : nat) s : R :=
  \prod_(r <= t < size s) g (take t s) (nth w0 s t).

Lemma suffix_cat g h u : suffix g (size h) (h ++ u) = chain g h u.
Proof.
elim: u h => [|w u IH] h /=; first by rewrite /suffix cats0 big_geq.
rewrite /suffix big_ltn ?size_cat ?addnS ?ltnS ?leq_addr //.
rewrite take_size_cat // nth_cat ltnn subnn /=; congr (_ * _).
by rewrite -[RHS]IH -cat_rcons /suffix size_cat size_rcons addSn.
Qed.

Lemma suffix_split g r s : (r <= size s)%N ->
  suffix g 0 s = suffix g 0 (take r s) * suffix g r s.
Proof.
move=> rs; rewrite /suffix (big_cat_nat _ (n := r)) //=; congr (_ * _).
rewrite size_takel //; apply: eq_big_nat => t /= tr.
by rewrite nth_take // take_take // ltnW.
Qed.

Lemma suffix_rcons g s w : suffix g 0 (rcons s w) = suffix g 0 s * g s w.
Proof.
rewrite (@suffix_split g (size s)) ?size_rcons //.
by rewrite -cats1 take_size_cat // suffix_cat /= mulr1.
Qed.

Lemma suffix_over g r s : (size s <= r)%N -> suffix g r s = 1.
Proof. by move=> sr; rewrite /suffix big_geq. Qed.

(** Sums over tuples, one token at a time. *)
Lemma sum_tupleS n (F : seq W -> R) :
  \sum_(y : n.+1.-tuple W) F y = \sum_w \sum_(u : n.-tuple W) F (w :: u).
Proof.
rewrite pair_bigA /=.
rewrite (reindex (fun p : W * n.-tuple W => [tuple of p.1 :: p.2])) //=.
exists (fun y : n.+1.-tuple W => (thead y, [tuple of behead y])) => [[w u] _|y _] /=.
  by congr (_, _); apply: val_inj.
by apply: val_inj; case/tupleP: y.
Qed.

Lemma sum_tuple0 (F : seq W -> R) : \sum_(y : 0.-tuple W) F y = F [::].
Proof.
rewrite (bigD1 [tuple]) //= big1 ?addr0 // => y /eqP[].
exact: tuple0.
Qed.

Lemma sum_prefix n h (F : seq W -> R) : (size h <= n)%N ->
  \sum_(y : n.-tuple W | take (size h) y == h) F y
    = \sum_(u : (n - size h).-tuple W) F (h ++ u).
Proof.
elim: h n F => [|v h IH] [|n] F //= hn.
- by apply: eq_bigl => y; rewrite take0.
- by apply: eq_bigl => y; rewrite take0.
rewrite big_mkcond.
rewrite (sum_tupleS n
  (fun y => if take (size h).+1 y == v :: h then F y else 0)).
rewrite (bigD1 v) //= [X in _ + X]big1 ?addr0 => [|w wv]; last first.
  by apply: big1 => u _; rewrite eqseq_cons (negPf wv).
rewrite -(IH n (fun s => F (v :: s))) // [RHS]big_mkcond.
by apply: eq_bigr => u _; rewrite eqseq_cons eqxx.
Qed.

(** When every history that can be reached is followed by a normalised g, so are
    all continuations of a given length. *)
Lemma sum_chain g (reach : pred (seq W)) n h :
  (forall h', reach h' -> \sum_w g h' w = 1) ->
  (forall h' w, reach h' -> g h' w != 0 -> reach (rcons h' w)) ->
  reach h -> \sum_(u : n.-tuple W) chain g h u = 1.
Proof.
move=> g1 gr; elim: n h => [|n IH] h rh; first exact: (sum_tuple0 (chain g h)).
rewrite (sum_tupleS n (chain g h)) /= -[RHS](g1 h rh); apply: eq_bigr => w _.
rewrite -mulr_sumr; have [->|gw] := eqVneq (g h w) 0; first by rewrite mul0r.
by rewrite IH ?mulr1 //; apply: gr.
Qed.

Lemma chain_neq0 g (reach : pred (seq W)) h u :
  (forall h' w, reach h' -> g h' w != 0 -> reach (rcons h' w)) ->
  reach h -> chain g h u != 0 -> reach (h ++ u).
Proof.
move=> gr; elim: u h => [|w u IH] h rh /=; first by rewrite cats0.
rewrite mulf_eq0 negb_or => /andP[gw cu]; rewrite -cat_rcons.
by apply: IH => //; apply: gr.
Qed.

Lemma chain_ge0 g h u : (forall h' w, 0 <= g h' w) -> 0 <= chain g h u.
Proof.
by move=> g0; elim: u h => [|w u IH] h //=; rewrite ?ler01 // mulr_ge0.
Qed.

Lemma suffix_ge0 g r s : (forall h' w, 0 <= g h' w) -> 0 <= suffix g r s.
Proof. by move=> g0; apply: prodr_ge0. Qed.

End Autoregressive.
