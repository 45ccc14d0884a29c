(** * The same objects, computed

    mathcomp's sums over finite types do not reduce.  This file spells the model,
    the proposal, the target and both local kernels over lists, for a vocabulary
    given as a list of tokens, and proves them equal to the definitions that the
    theorems are about, for every model, power, restart law and horizon.  Matrices
    computed from the lists are therefore the matrices of the theorems.

    - [states], [comparison_states]   S_T and the comparison space, depth first
    - [x_target x], [x_q r x y]       pi(x), q_{r+1}(y|x)
    - [x_local x y]                   L_k(x,y)         ([x_localE])
    - [x_truncating x y]              the truncating kernel ([x_truncatingE])     *)

From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov autoregressive record_space power power_target.
From Tempera Require Import truncating.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** ** Sums over lists *)
Section SumList.
Variable R : realFieldType.

Fixpoint sum_list (A : Type) (F : A -> R) (s : seq A) : R :=
  if s is a :: s' then F a + sum_list F s' else 0.

Lemma sum_listE (A : Type) (F : A -> R) (s : seq A) :
  sum_list F s = \sum_(a <- s) F a.
Proof. by elim: s => [|a s /= ->]; rewrite ?big_nil ?big_cons. Qed.

Lemma sum_list_all (A : finType) (F : A -> R) (s : seq A) :
  uniq s -> (forall a, a \in s) -> sum_list F s = \sum_a F a.
Proof.
move=> us ms; rewrite sum_listE -[RHS]big_enum; apply: perm_big.
apply: uniq_perm; rewrite ?enum_uniq // => a.
by rewrite ms mem_enum.
Qed.

Lemma sum_list_ord (n : nat) (F : nat -> R) :
  sum_list F (iota 0 n) = \sum_(r < n) F r.
Proof. by rewrite sum_listE -(big_mkord xpredT) /index_iota subn0. Qed.

Lemma eq_sum_list (A : eqType) (F G : A -> R) s :
  {in s, F =1 G} -> sum_list F s = sum_list G s.
Proof.
elim: s => //= a s IH FG; rewrite FG ?mem_head // IH // => b bs.
by rewrite FG // inE bs orbT.
Qed.

End SumList.

Section Executable.
Variables (R : realFieldType) (V : finType) (E : {set V}).
Variable lm : seq V -> V -> R.
Variable alpha : power R.
Variable T : nat.
Variables (tokens : seq V) (is_terminal : pred V).
Notation word := (seq (option V)).
Implicit Types (h s x y : word) (o : option V).

Definition all_tokens : seq (option V) := bot :: [seq Some v | v <- tokens].

Definition x_terminal o : bool := if o is Some v then is_terminal v else false.
Definition x_generated o : bool := if o is Some v then ~~ is_terminal v else false.

Definition x_step h o : R :=
  match o with
  | Some v => if all x_generated h then lm (pmap id h) v else 0
  | bot => if has x_terminal h then 1 else 0
  end.

Definition x_supported h : bool := 0 < chain x_step [::] h.
Definition x_p0 h o : R := if x_supported h then x_step h o else 0.
Definition x_prob x : R := chain x_p0 [::] x.
Definition x_z h : R := sum_list (fun o => alpha (x_p0 h o)) all_tokens.
Definition x_g h o : R := alpha (x_p0 h o) / x_z h.

Fixpoint words (n : nat) : seq word :=
  if n is n'.+1
  then flatten [seq [seq o :: u | u <- words n'] | o <- all_tokens] else [:: [::]].

(** ** The fixed horizon *)
Definition states : seq word := [seq x <- words T | 0 < x_prob x].
Definition x_Z : R := sum_list (fun x => alpha (x_prob x)) states.
Definition x_target x : R := alpha (x_prob x) / x_Z.

Definition x_suffix (f : word -> option V -> R) (r : nat) s : R :=
  chain f (take r s) (drop r s).

Definition x_q (r : nat) x y : R :=
  if take r y == take r x then x_suffix x_g r y else 0.

Definition x_accept (r : nat) x y : R :=
  if x_q r x y == 0 then 0
  else Num.min 1 ((x_target y * x_q r y x) / (x_target x * x_q r x y)).

Definition x_local_at (r : nat) x y : R :=
  if y == x
  then 1 - sum_list (fun w => if w != x then x_q r x w * x_accept r x w else 0) states
  else x_q r x y * x_accept r x y.

Definition x_local (omega : nat -> R) x y : R :=
  sum_list (fun r => omega r * x_local_at r x y) (iota 0 T).

(** ** The truncating kernel *)
Definition x_comparable x : bool :=
  let n := tokens_of x in
  [&& (0 < n)%N, x_supported (take n x) & all (fun o => o == bot) (drop n x)].

Definition comparison_states : seq word := [seq x <- words T | x_comparable x].

Definition x_capped (n : nat) h o : R :=
  if (size h < n)%N then x_g h o else if o == bot then 1 else 0.

Definition x_score (f : word -> option V -> R) (r m : nat) s : R :=
  chain f (take r s) (drop r (take m s)).

Definition x_powered h o : R := alpha (x_p0 h o).

Definition x_truncated_accept (r : nat) x y : R :=
  let m := tokens_of y in
  Num.min 1 ((x_score x_powered r m y * x_score x_g r m x)
             / (x_score x_powered r m x * x_score x_g r m y)).

Definition x_truncated_move x y : R :=
  let n := tokens_of x in
  sum_list (fun r => n%:R^-1 *
    ((if take r y == take r x then x_suffix (x_capped n) r y else 0)
     * x_truncated_accept r x y)) (iota 0 n).

Definition x_truncating x y : R :=
  if y == x
  then 1 - sum_list (fun w => if w != x then x_truncated_move x w else 0) comparison_states
  else x_truncated_move x y.

(** ** They are the definitions that the theorems are about *)
Hypothesis tokens_uniq : uniq tokens.
Hypothesis tokens_all : forall v, v \in tokens.
Hypothesis is_terminalE : forall v, is_terminal v = (v \in E).

Lemma sum_tokens (F : option V -> R) : sum_list F all_tokens = \sum_o F o.
Proof.
apply: sum_list_all => [|[v|]]; rewrite /all_tokens ?mem_head //=.
  rewrite map_inj_uniq ?tokens_uniq ?andbT => [|u v [] //].
  by apply/negP => /mapP[].
by rewrite inE /= map_f.
Qed.

Lemma x_stepE h o : x_step h o = step E lm h o.
Proof.
rewrite /x_step /step /open /terminated.
have -> : all x_generated h = all (generated E) h.
  by apply: eq_all => -[v|] //=; rewrite is_terminalE.
by have -> : has x_terminal h = has (terminal E) h by apply: eq_has => -[v|] /=.
Qed.

Lemma eq_chain (f f' : word -> option V -> R) h u :
  (forall h o, f h o = f' h o) -> chain f h u = chain f' h u.
Proof. by move=> e; elim: u h => //= w u IH h; rewrite e IH. Qed.

Lemma x_supportedE h : x_supported h = supported E lm h.
Proof.
by rewrite /x_supported /supported /history_prob (eq_chain _ _ x_stepE) -(suffix_cat bot).
Qed.

Lemma x_p0E h o : x_p0 h o = p0 E lm h o.
Proof. by rewrite /x_p0 /p0 x_supportedE x_stepE. Qed.

Lemma x_probE x : x_prob x = prefix_prob E lm x.
Proof. by rewrite /x_prob prefix_probE (eq_chain _ _ x_p0E) -(suffix_cat bot). Qed.

Lemma x_zE h : x_z h = z E lm alpha h.
Proof. by rewrite /x_z sum_tokens; apply: eq_bigr => o _; rewrite x_p0E. Qed.

Lemma x_gE h o : x_g h o = g E lm alpha h o.
Proof. by rewrite /x_g /g x_p0E x_zE. Qed.

Lemma sum_words n (F : word -> R) : sum_list F (words n) = \sum_(x : n.-tuple (option V)) F x.
Proof.
elim: n F => [|n IH] F; first by rewrite (sum_tuple0 F) /= addr0.
rewrite sum_tupleS -sum_tokens !sum_listE.
rewrite -[words n.+1]/(flatten [seq [seq o :: u | u <- words n] | o <- all_tokens]).
rewrite big_flatten big_map.
by apply: eq_bigr => o _; rewrite big_map -(IH (fun u => F (o :: u))) sum_listE.
Qed.

Lemma mem_words n (x : n.-tuple (option V)) : (x : word) \in words n.
Proof.
elim: n x => [|n IH] x; first by rewrite (tuple0 x).
case/tupleP: x => o x; apply/flatten_mapP; exists o; last exact: map_f.
case: o => [v|]; last exact: mem_head.
by rewrite inE /= map_f.
Qed.

Lemma mem_states (x : S_T E lm T) : (val x : word) \in states.
Proof. by rewrite mem_filter mem_words andbT x_probE; apply: (valP x). Qed.

Lemma sum_states (F : word -> R) :
  sum_list F states = \sum_(x : S_T E lm T) F (val x).
Proof.
rewrite (@sum_S_T R V E lm T (fun x : record V T => F x)) [RHS]big_mkcond.
rewrite -(sum_words T (fun x => if 0 < prefix_prob E lm x then F x else 0)).
rewrite !sum_listE /states big_filter big_mkcond.
by apply: eq_bigr => x _; rewrite x_probE.
Qed.

Lemma x_ZE : x_Z = Z E lm alpha T.
Proof. by rewrite /x_Z sum_states; apply: eq_bigr => x _; rewrite x_probE. Qed.

Theorem x_targetE (x : S_T E lm T) : x_target (val x) = target alpha x.
Proof. by rewrite /x_target x_probE x_ZE. Qed.

Lemma x_suffixE f r s : (r <= size s)%N -> x_suffix f r s = suffix bot f r s.
Proof.
move=> rs; rewrite -{2}(cat_take_drop r s) -{2}(size_takel rs).
by rewrite suffix_cat.
Qed.

Lemma eq_suffix (f f' : word -> option V -> R) r s :
  (forall h o, f h o = f' h o) -> suffix bot f r s = suffix bot f' r s.
Proof. by move=> e; apply: eq_bigr. Qed.

Theorem x_qE r (x y : S_T E lm T) : (r <= T)%N ->
  x_q r (val x) (val y) = q alpha r x y.
Proof.
move=> rT; rewrite /x_q /q x_suffixE ?size_tuple //.
by rewrite (eq_suffix _ _ x_gE); case: eqP; rewrite ?mul1r ?mul0r.
Qed.

Lemma x_acceptE r (x y : S_T E lm T) : (r <= T)%N ->
  x_accept r (val x) (val y) = accept (target alpha) (q alpha r) x y.
Proof. by move=> rT; rewrite /x_accept /accept !x_qE // !x_targetE. Qed.

Lemma x_local_atE r (x y : S_T E lm T) : (r <= T)%N ->
  x_local_at r (val x) (val y) = mh (target alpha) (q alpha r) x y.
Proof.
move=> rT; rewrite /x_local_at /mh x_qE // x_acceptE //; congr (if _ then 1 - _ else _).
rewrite sum_states [RHS]big_mkcond; apply: eq_bigr => w _.
by rewrite x_qE // x_acceptE.
Qed.

Theorem x_localE (omega : 'I_T -> R) (x_omega : nat -> R) (x y : S_T E lm T) :
  (forall r, x_omega (val r) = omega r) ->
  x_local x_omega (val x) (val y)
    = mixk omega (fun r : 'I_T => mh (target alpha) (q alpha r)) x y.
Proof.
move=> e; rewrite /x_local sum_list_ord; apply: eq_bigr => r _.
by rewrite e x_local_atE // ltnW.
Qed.

Lemma x_comparableE (x : record V T) : x_comparable x = comparable E lm x.
Proof. by rewrite /x_comparable /comparable x_supportedE. Qed.

Lemma mem_comparison_states (x : comparison E lm T) :
  (val x : word) \in comparison_states.
Proof. by rewrite mem_filter mem_words andbT x_comparableE; apply: (valP x). Qed.

Lemma sum_comparison_states (F : word -> R) :
  sum_list F comparison_states = \sum_(x : comparison E lm T) F (val x).
Proof.
have -> : \sum_(x : comparison E lm T) F (val x)
        = \sum_(x : record V T | comparable E lm x) F x.
  rewrite [RHS](reindex_omap (val : comparison E lm T -> record V T) insub) /=.
    by apply: eq_bigl => y; rewrite (valP y) valK eqxx.
  by move=> y cy; rewrite insubT.
rewrite [RHS]big_mkcond.
rewrite (eq_bigr (fun x : record V T => if x_comparable x then F x else 0)); last first.
  by move=> x _; rewrite x_comparableE.
rewrite -(sum_words T (fun x => if x_comparable x then F x else 0)).
by rewrite !sum_listE /comparison_states big_filter big_mkcond.
Qed.

Lemma x_scoreE f r m s : (m <= size s)%N -> x_score f r m s = score f r m s.
Proof.
move=> ms; have size_m : size (take m s) = m by rewrite size_takel.
have [rm|mr] := leqP r m; last first.
  by rewrite /x_score /score drop_oversize ?size_m ?big_geq // ltnW.
transitivity (suffix bot f r (take m s)).
  rewrite -x_suffixE ?size_m // /x_suffix take_take //.
rewrite /suffix /score size_m; apply: eq_big_nat => t /andP[_ tm].
by rewrite nth_take // take_take // ltnW.
Qed.

Lemma eq_score (f f' : word -> option V -> R) r m s :
  (forall h o, f h o = f' h o) -> score f r m s = score f' r m s.
Proof. by move=> e; apply: eq_bigr. Qed.

Lemma x_cappedE n h o : x_capped n h o = capped E lm alpha n h o.
Proof. by rewrite /x_capped /capped x_gE; case: ifP => // _; case: eqP. Qed.

Lemma x_powered_E h o : x_powered h o = powered E lm alpha h o.
Proof. by rewrite /x_powered /powered x_p0E. Qed.

Lemma x_truncated_moveE (x y : comparison E lm T) :
  x_truncated_move (val x) (val y) = truncated_move alpha x y.
Proof.
rewrite /x_truncated_move sum_listE /truncated_move /index_iota subn0.
rewrite big_seq [RHS]big_seq; apply: eq_bigr => r; rewrite mem_iota add0n /= => rn.
have nT w : (tokens_of (val w : record V T) <= size (val w : record V T))%N by apply: find_size.
congr (_ * (_ * _)).
  rewrite /capped_proposal x_suffixE.
    by rewrite (eq_suffix _ _ (x_cappedE _)); case: eqP; rewrite ?mul1r ?mul0r.
  by rewrite size_tuple (leq_trans (ltnW rn)) // tokens_of_le.
rewrite /x_truncated_accept /truncated_accept.
have my : (tokens_of (val y) <= T)%N by apply: tokens_of_le.
rewrite !x_scoreE ?size_tuple //.
by rewrite !(eq_score _ _ _ x_gE) !(eq_score _ _ _ x_powered_E).
Qed.

Theorem x_truncatingE (x y : comparison E lm T) :
  x_truncating (val x) (val y) = truncating alpha x y.
Proof.
rewrite /x_truncating /truncating x_truncated_moveE; congr (if _ then 1 - _ else _).
rewrite sum_comparison_states [RHS]big_mkcond; apply: eq_bigr => w _.
by rewrite x_truncated_moveE.
Qed.

End Executable.
