(** * The kernels of one rung as lists, over any listing of their states

    executable.v spells the definitions of one entry; here a whole table is computed
    with every weight, normalizer and suffix score found once.  Each is proved to be
    the table of the definition, whatever the model, power, restart law and horizon.
    - [x_targets s]          pi along s
    - [x_local_table s w]    L_k with restart weights w
    - [x_extension s s']     block extension from horizon T to T'
    - [x_truncating_table s] the truncating kernel                               *)

From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov autoregressive record_space power power_target.
From Tempera Require Import truncating executable tables progressive_law.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section LocalTables.
Variables (R : realFieldType) (V : finType) (E : {set V}).
Variable lm : seq V -> V -> R.
Variable alpha : power R.
Variables (tokens : seq V) (is_terminal : pred V).
Notation word := (seq (option V)).
Notation x_prob := (x_prob lm is_terminal).
Notation x_g := (x_g lm alpha tokens is_terminal).
Notation x_truncated_move := (x_truncated_move lm alpha tokens is_terminal).

Definition x_weight (x : word) : R := alpha (x_prob x).

Definition x_targets (s : seq word) : seq R :=
  let w := [seq x_weight x | x <- s] in
  let total := sum_list id w in [seq v / total | v <- w].

(** A record with its weight and, for each restart position, the score of its suffix. *)
Definition scored : Type := word * (R * seq R).
Definition x_scored (T : nat) (x : word) : scored :=
  (x, (x_weight x, [seq x_suffix x_g r x | r <- iota 0 T])).

(** All moves from the first record to the second, over the restart positions. *)
Definition x_local_move (T : nat) (omega : nat -> R) (p q : scored) : R :=
  sum_list (fun r =>
    if take r q.1 == take r p.1 then
      let b := nth 0 q.2.2 r in
      if b == 0 then 0
      else omega r * (b * Num.min 1 ((q.2.1 * nth 0 p.2.2 r) / (p.2.1 * b)))
    else 0) (iota 0 T).

(** What is not moved elsewhere stays. *)
Definition x_rest (total : R) (x : word) (row : seq (word * R)) : seq R :=
  let stays := total - sum_list (fun q => if q.1 == x then 0 else q.2) row in
  [seq if q.1 == x then stays else q.2 | q <- row].

Definition x_local_table (T : nat) (omega : nat -> R) (s : seq word) : seq (seq R) :=
  let d := [seq x_scored T x | x <- s] in
  let total := sum_list omega (iota 0 T) in
  [seq x_rest total p.1 [seq (q.1, if q.1 == p.1 then 0 else x_local_move T omega p q) | q <- d]
  | p <- d].

Definition x_extension (T : nat) (s s' : seq word) : seq (seq R) :=
  [seq [seq if take T y == x then x_suffix x_g T y else 0 | y <- s'] | x <- s].

Definition x_truncating_table (s : seq word) : seq (seq R) :=
  [seq x_rest 1 x [seq (y, if y == x then 0 else x_truncated_move x y) | y <- s] | x <- s].

(** ** They are the tables of the definitions *)
Hypothesis tokens_uniq : uniq tokens.
Hypothesis tokens_all : forall v, v \in tokens.
Hypothesis is_terminalE : forall v, is_terminal v = (v \in E).

Variable T : nat.
Notation S_T := (S_T E lm T).
Notation x_gE := (x_gE lm alpha tokens_uniq tokens_all is_terminalE).

Lemma x_weightE (x : S_T) : x_weight (val x) = alpha (record_prob E lm (val x)).
Proof. by rewrite /x_weight (x_probE lm is_terminalE). Qed.

Lemma x_targetsE (s : seq S_T) : listing s ->
  x_targets [seq (val (val x) : word) | x <- s] = values s (target alpha).
Proof.
move=> ls; rewrite /x_targets -!map_comp.
have -> : sum_list id [seq (x_weight \o (fun x : S_T => val (val x) : word)) x | x <- s] = Z E lm alpha T.
  rewrite sum_listE big_map sum_listing //.
  by apply: eq_bigr => x _; rewrite /= x_weightE.
by apply: eq_map => x /=; rewrite x_weightE.
Qed.

Lemma x_suffix_gE r (y : S_T) : (r <= T)%N ->
  x_suffix x_g r (val y) = suffix bot (g E lm alpha) r (val y).
Proof.
move=> rT; rewrite x_suffixE ?size_tuple //.
by apply: eq_suffix => h o; apply: x_gE.
Qed.

(** The common normalizer of the target cancels in the acceptance. *)
Lemma target_ratio (x y : S_T) a b :
  (target alpha y * a) / (target alpha x * b)
  = (alpha (record_prob E lm (val y)) * a) / (alpha (record_prob E lm (val x)) * b).
Proof.
have Z0 : (Z E lm alpha T)^-1 != 0.
  have w0 (z : S_T) : 0 < alpha (record_prob E lm (val z)) by rewrite pow_gt0 ?record_prob_gt0.
  rewrite invr_eq0 gt_eqF // /Z (bigD1 x) //= ltr_paddr ?w0 // sumr_ge0 // => z _.
  exact/ltW/w0.
by rewrite /target !(mulrAC (alpha _) (Z E lm alpha T)^-1) -mulf_div mulfV ?mulr1.
Qed.

Lemma x_local_moveE (omega : nat -> R) (x y : S_T) :
  x_local_move T omega (x_scored T (val x)) (x_scored T (val y))
  = \sum_(r < T) omega r * (q alpha r x y * accept (target alpha) (q alpha r) x y).
Proof.
rewrite /x_local_move sum_list_ord; apply: eq_bigr => r _ /=.
have rT : (r <= T)%N by apply: ltnW.
rewrite !(nth_map 0%N) ?size_iota // nth_iota // add0n !x_suffix_gE // !x_weightE.
rewrite /accept target_ratio /q [take r (val x) == _]eq_sym.
case: eqP => _; rewrite ?mul1r ?mul0r ?mulr0 //.
by case: eqP => [->|//]; rewrite mul0r mulr0.
Qed.

Lemma x_restE (S : finType) (f : S -> word) (s : seq S) (total : R) (x : S) (move : S -> R) :
  injective f -> listing s ->
  x_rest total (f x) [seq (f y, if f y == f x then 0 else move y) | y <- s]
  = values s (fun y => if y == x then total - \sum_(w | w != x) move w else move y).
Proof.
move=> fI ls; rewrite /x_rest sum_listE big_map /=.
have -> : \sum_(y <- s) (if f y == f x then 0 else if f y == f x then 0 else move y)
        = \sum_(w | w != x) move w.
  rewrite sum_listing // [RHS]big_mkcond; apply: eq_bigr => y _.
  by rewrite (inj_eq fI); case: eqP.
by rewrite -map_comp; apply: eq_map => y /=; rewrite (inj_eq fI); case: eqP.
Qed.

Theorem x_local_tableE (omega : 'I_T -> R) (x_omega : nat -> R) (s : seq S_T) :
  listing s -> (forall r : 'I_T, x_omega r = omega r) ->
  x_local_table T x_omega [seq (val (val x) : word) | x <- s]
  = table s s (mixk omega (fun r : 'I_T => mh (target alpha) (q alpha r))).
Proof.
move=> ls e; have inj : injective (fun x : S_T => val (val x) : word).
  by move=> x y /val_inj/val_inj.
rewrite /x_local_table /table -!map_comp; apply: eq_map => x /=.
rewrite -map_comp /=.
rewrite (x_restE (S := [finType of S_T]) _ x (fun y => x_local_move T x_omega (x_scored T (val x)) (x_scored T (val y))) inj ls).
apply: eq_values => y; rewrite /mixk /mh; case: eqP => [yx|_].
  rewrite sum_list_ord (eq_bigr _ (fun w _ => x_local_moveE x_omega x w)) exchange_big -sumrB /=.
  by apply: eq_bigr => r _; rewrite e mulrBr mulr1 mulr_sumr.
by rewrite x_local_moveE; apply: eq_bigr => r _; rewrite e.
Qed.

Theorem x_extensionE (T' : nat) (s : seq S_T) (s' : seq (record_space.S_T E lm T')) :
  (T <= T')%N ->
  x_extension T [seq (val (val x) : word) | x <- s] [seq (val (val y) : word) | y <- s']
  = table s s' (extension alpha).
Proof.
move=> TT; rewrite /x_extension /table -map_comp; apply: eq_map => x /=.
rewrite /values -map_comp; apply: eq_map => y /=.
rewrite /extension x_suffixE ?size_tuple // (eq_suffix _ _ x_gE).
by case: eqP; rewrite ?mul1r ?mul0r.
Qed.

Theorem x_truncating_tableE (s : seq (comparison E lm T)) : listing s ->
  x_truncating_table [seq (val (val x) : word) | x <- s] = table s s (truncating alpha).
Proof.
move=> ls; have inj : injective (fun x : comparison E lm T => val (val x) : word).
  by move=> x y /val_inj/val_inj.
rewrite /x_truncating_table /table -!map_comp; apply: eq_map => x /=.
rewrite -map_comp /=.
rewrite (x_restE (S := [finType of comparison E lm T]) _ x (fun y => x_truncated_move (val (val x)) (val (val y))) inj ls).
have e := x_truncated_moveE alpha tokens_uniq tokens_all is_terminalE.
apply: eq_values => y; rewrite /truncating -e; case: eqP => // _.
by congr (1 - _); apply: eq_bigr => w _; rewrite -e.
Qed.

End LocalTables.
