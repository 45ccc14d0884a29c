(** * A record and its tokens

    The sampler stores the generated tokens and leaves the padding implicit
    (subsec:implementation-extension); S_T has the padding.  On S_T nothing is lost.

    - [tokens_in x]    the generated tokens of a record
    - [continue h y]   the law of continuing the history h to the horizon by g       *)

From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov autoregressive record_space sampler_steps.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Tokens.
Variables (R : realFieldType) (V : finType) (E : {set V}) (lm : seq V -> V -> R).
Hypothesis lm_model : model E lm.
Notation supported := (supported E lm).
Notation open := (open E).
Notation terminated := (terminated E).
Implicit Types (h : seq (option V)) (s : seq V) (T : nat).

Definition tokens_in h : seq V := pmap id h.

Lemma tokens_map s : tokens_in (map Some s) = s.
Proof. by elim: s => [//|v s /= ->]. Qed.

Lemma tokens_cat h h' : tokens_in (h ++ h') = tokens_in h ++ tokens_in h'.
Proof. exact: pmap_cat. Qed.

Lemma ended_tokens h : terminated h = ended E (tokens_in h).
Proof. by rewrite /terminated /ended; elim: h => [//|[v|] h] /= ->. Qed.

Lemma open_tokens h : open h -> map Some (tokens_in h) = h.
Proof. by elim: h => [//|[v|] h IH] //= /andP[_ /IH ->]. Qed.

Lemma size_tokens h : (size (tokens_in h) <= size h)%N.
Proof. by rewrite size_pmap count_size. Qed.

Lemma supported_not_ended s : supported (map Some s) -> open (map Some s) = ~~ ended E s.
Proof. by move=> sh; rewrite (supported_open_or_terminated lm_model) // ended_tokens tokens_map. Qed.

(** Tokens first, padding after them. *)
Lemma unpad h : supported h ->
  h = map Some (tokens_in h) ++ nseq (size h - size (tokens_in h)) bot.
Proof.
elim/last_ind: h => [//|h o IH]; rewrite supported_rcons // => /andP[sh].
rewrite /p0 sh /step -cats1 tokens_cat size_cat /=; case: o => [v|] /=.
  case: ifP => [oh _|_]; last by rewrite ltxx.
  have e := open_tokens oh; have sz : size (tokens_in h) = size h by rewrite -{2}e size_map.
  by rewrite map_cat e /= size_cat sz subnn cats0.
case: ifP => [th _|_]; last by rewrite ltxx.
rewrite cats0 {1}(IH sh) -catA; congr (_ ++ _).
by rewrite addn1 subSn ?size_tokens // -addn1 nseqD.
Qed.

Section Records.
Variable T : nat.
Notation S_T := (S_T E lm T).
Implicit Types x y : S_T.

Definition tokens x : seq V := tokens_in (val x).

Lemma supported_record x : supported (val x).
Proof. by have := supported_prefix lm_model x T; rewrite take_oversize ?size_tuple. Qed.

Lemma tokens_inj : injective tokens.
Proof.
move=> x y e; suff e' : tval (val x) = tval (val y) by apply/val_inj/val_inj.
rewrite (unpad (supported_record x)) (unpad (supported_record y)) !size_tuple.
by rewrite -/(tokens x) -/(tokens y) e.
Qed.

(** A prefix without a terminal token is a prefix of the tokens. *)
Lemma take_tokens r x : (r <= T)%N -> ~~ terminated (take r (val x)) ->
  take r (val x) = map Some (take r (tokens x)) /\ size (take r (tokens x)) = r.
Proof.
move=> rT nt; have op : open (take r (val x)).
  by rewrite (supported_open_or_terminated lm_model) // supported_prefix.
have e := open_tokens op.
have sz : size (tokens_in (take r (val x))) = r.
  by rewrite -(size_map (Some : V -> _)) e size_takel ?size_tuple.
have -> : take r (tokens x) = tokens_in (take r (val x)).
  by rewrite /tokens -{1}(cat_take_drop r (val x)) tokens_cat takel_cat ?sz // take_oversize ?sz.
by rewrite e.
Qed.

(** Behind the terminal token there is nothing to regenerate. *)
Lemma tokens_behind r x : (r <= T)%N -> terminated (take r (val x)) ->
  tokens_in (take r (val x)) = tokens x.
Proof.
move=> rT; rewrite terminated_take size_tuple (minn_idPl rT) => tr.
rewrite /tokens -{2}(cat_take_drop r (val x)) tokens_cat.
rewrite (_ : tokens_in (drop r (val x)) = [::]) ?cats0 //.
apply/eqP; rewrite /tokens_in -size_eq0 size_pmap -leqn0 leqNgt -has_count.
apply/negP => /hasP[o /(nthP bot)[i]]; rewrite size_drop size_tuple nth_drop => ir <-.
have lt : (r + i < T)%N by rewrite -ltn_subRL.
rewrite -(tnth_nth bot (val x) (Ordinal lt)) padding //=.
exact: leq_trans tr (leq_addr _ _).
Qed.

Lemma restart_behind r x : (r <= T)%N -> terminated (take r (val x)) ->
  (size (tokens x) <= r)%N.
Proof.
move=> rT th; rewrite -(tokens_behind rT th); apply: leq_trans (size_tokens _) _.
by rewrite size_takel ?size_tuple.
Qed.

(** The sampler's test, terminal position against restart, is the test on S_T. *)
Lemma restart_test (r : 'I_T) x :
  (ended E (tokens x) ==> (r < size (tokens x))%N) = ~~ terminated (take r (val x)).
Proof.
have rT : (r <= T)%N by apply: ltnW.
have [th|nth] := boolP (terminated (take r (val x))).
  have tx : terminated (val x).
    by rewrite -(cat_take_drop r (val x)) /terminated has_cat (th : has _ _).
  by rewrite -ended_tokens tx /= ltnNge restart_behind.
have [e sz] := take_tokens rT nth; apply/implyP => tx.
rewrite ltnNge; apply/negP => le.
move: nth; rewrite ended_tokens e tokens_map take_oversize //.
by rewrite /tokens in tx *; rewrite tx.
Qed.

(** A product over the positions may stop at the tokens' end, where padding counts 1. *)
Lemma product_over_tokens (f : seq (option V) -> option V -> R) r x :
  (forall h, supported h -> terminated h -> f h bot = 1) ->
  \prod_(r <= t < size (tokens x)) f (take t (map Some (tokens x))) (nth bot (map Some (tokens x)) t)
  = \prod_(r <= t < T) f (take t (val x)) (nth bot (val x) t).
Proof.
move=> f1; have unp := unpad (supported_record x); set s := tokens x.
have sT : (size s <= T)%N by rewrite -[X in (_ <= X)%N](size_tuple (val x)) size_tokens.
have one t : (size s <= t < T)%N -> f (take t (val x)) (nth bot (val x) t) = 1.
  case/andP=> st tT; have st1 := supported_prefix lm_model x t.+1.
  have nb : nth bot (val x) t = bot.
    by rewrite unp nth_cat size_map ltnNge st /= nth_nseq if_same.
  move: st1; rewrite (take_nth bot) ?size_tuple // nb.
  rewrite supported_rcons // => /andP[sh]; rewrite /p0 sh /step.
  by case: ifP => [th _|_]; [apply: f1 | rewrite ltxx].
have [rs|sr] := leqP r (size s).
  rewrite [RHS](big_cat_nat _ (n := size s)) //= [X in _ * X]big_nat [X in _ * X]big1 ?mulr1 //.
  rewrite big_nat [RHS]big_nat; apply: eq_bigr => t /andP[_ ts].
  by rewrite unp takel_cat ?size_map 1?ltnW // nth_cat size_map ts.
rewrite big_geq; last exact: ltnW.
rewrite big_nat big1 // => t /andP[rt tT]; apply: one.
by rewrite tT andbT; apply: leq_trans (ltnW sr) rt.
Qed.

End Records.

(** ** Continuing a history to the horizon *)
Section Continue.
Variable g : seq (option V) -> option V -> R.
Hypothesis g_law : forall h, supported h -> law (g h).
Hypothesis g_support : forall h o, supported h -> g h o != 0 -> p0 E lm h o != 0.

Lemma continue_reach h o : supported h -> g h o != 0 -> supported (rcons h o).
Proof. by move=> sh go; apply: p0_reach => //; apply: g_support. Qed.

Lemma g_open h : supported h -> open h -> g h bot = 0.
Proof.
move=> sh oh; apply/eqP; apply: contraT => /(g_support sh).
by rewrite /p0 sh /step (negPf (open_not_terminated oh)) eqxx.
Qed.

Lemma g_terminated h o : supported h -> terminated h -> g h o = (o == bot)%:R.
Proof.
move=> sh th; have some v : g h (Some v) = 0.
  apply/eqP; apply: contraT => /(g_support sh).
  by rewrite p0_padding //= eqxx.
case: o => [v|] //=; have [_] := g_law sh.
by rewrite sum_option big1 ?addr0.
Qed.

Variable T : nat.
Notation S_T := (S_T E lm T).

Definition continue h (y : S_T) : R :=
  (take (size h) (val y) == h)%:R * suffix bot g (size h) (val y).

Lemma continue_sum h (F : seq (option V) -> R) : supported h -> (size h <= T)%N ->
  \sum_(y : S_T) continue h y * F (val y) =
  \sum_(u : (T - size h).-tuple (option V)) chain g h u * F (h ++ u).
Proof.
move=> sh hT; pose P (s : seq (option V)) := suffix bot g (size h) s * F s.
rewrite (eq_bigr (fun y : S_T => (take (size h) (val y) == h)%:R * P (val y)));
  last by move=> y _; rewrite /continue mulrA.
rewrite (sum_S_T_vanish lm_model (F := fun y : record V T =>
  (take (size h) y == h)%:R * P y)) => [|y y0].
  rewrite (eq_bigr (fun y : record V T => if take (size h) y == h then P y else 0)).
    rewrite -big_mkcond (sum_prefix P) //.
    by apply: eq_bigr => u _; rewrite /P suffix_cat.
  by move=> y _; case: eqP => _; rewrite ?mul1r ?mul0r.
case: eqP => [e|_]; rewrite ?mul0r // mul1r /P.
suff -> : suffix bot g (size h) y = 0 by rewrite mul0r.
apply/eqP/negPn/negP => Fy.
have : supported y.
  rewrite -(cat_take_drop (size h) y) e; apply: (chain_neq0 (g := g)) => //.
    exact: continue_reach.
  by rewrite -(suffix_cat bot) -{2}e cat_take_drop.
by rewrite supportedE // -/(record_prob E lm y) y0 ltxx.
Qed.

Lemma continue_law h : supported h -> (size h <= T)%N ->
  (forall h' o, 0 <= g h' o) -> law (continue h).
Proof.
move=> sh hT g0; split=> [y|]; first by rewrite mulr_ge0 ?ler0n ?suffix_ge0.
have -> : \sum_y continue h y = \sum_y continue h y * (fun=> 1) (val y).
  by apply: eq_bigr => y _; rewrite mulr1.
rewrite (continue_sum (fun=> 1)) //; under eq_bigr do rewrite mulr1.
apply: (sum_chain (reach := supported)) => //; last exact: continue_reach.
by move=> h' /g_law[].
Qed.

(** Terminated histories are continued by padding alone. *)
Lemma chain_terminated h m (F : seq V -> R) : supported h -> terminated h ->
  \sum_(u : m.-tuple (option V)) chain g h u * F (tokens_in (h ++ u)) = F (tokens_in h).
Proof.
elim: m h => [|m IH] h sh th.
  by rewrite (sum_tuple0 (fun u => chain g h u * F (tokens_in (h ++ u)))) /= mul1r cats0.
rewrite (sum_tupleS m (fun u => chain g h u * F (tokens_in (h ++ u)))).
rewrite (bigD1 bot) //= [X in _ + X]big1 ?addr0 => [|o /negPf ob]; last first.
  by apply: big1 => u _; rewrite g_terminated // ob !mul0r.
under eq_bigr do rewrite g_terminated // eqxx mul1r -cat_rcons.
rewrite IH; first by rewrite -cats1 tokens_cat cats0.
  by apply: continue_reach; rewrite // g_terminated // eqxx oner_neq0.
by rewrite terminated_rcons th orbT.
Qed.

End Continue.

End Tokens.
