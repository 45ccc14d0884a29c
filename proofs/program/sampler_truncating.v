(** * The truncating move as the sampler makes it

    gpu/core/sampler/truncating_move.hpp as a program: the record's own length is the budget,
    the restart is uniform on it, scores are cut at the candidate's endpoint.  With the
    printed probabilities its law is the kernel of truncating.v.                       *)

From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov autoregressive record_space power power_target truncating.
From Tempera Require Import program sampler_steps record_tokens algorithm_law algorithm.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Move.
Variables (ticket address : Type) (V : finType) (E : {set V}) (n : nat).
Variable at_ : nat -> nat -> nat -> purpose -> address.
Variable token_tickets : 'I_n.+1 -> seq V -> V -> ticket.
Variable length_tickets : forall m : nat, 'I_m -> ticket.
Variable truncated_tickets : nat -> seq V -> seq V -> bool -> ticket.

Definition truncating_move (k : 'I_n.+1) (i : nat) (x : seq V) : program ticket address (seq V) :=
  Draw (at_ k i 0 For_restart) (@length_tickets (size x)) (fun r : 'I_(size x) =>
    bind (generate E token_tickets (size x) k (fun t => at_ k i t For_proposal_token) (size x) (take r x))
      (fun y => Draw (at_ k i 0 For_acceptance) (truncated_tickets r x y) (fun b : bool =>
        Done (if b then y else x)))).

End Move.

Section Law.
Variables (R : realFieldType) (V : finType) (E : {set V}) (lm : seq V -> V -> R) (T : nat).
Variable alpha : power R.
Hypothesis lm_model : model E lm.
Notation supported := (supported E lm).
Notation g := (g E lm alpha).
Notation comparison := (comparison E lm T).
Implicit Types (x y : comparison) (h s : seq (option V)).

Definition tokens_of_record x : seq V := tokens_in (val x).

Lemma tokens_of_cat s s' : all (fun o => o != bot) s -> tokens_of (s ++ s') = (size s + tokens_of s')%N.
Proof. by elim: s => [//|[v|] s IH] //= /IH ->. Qed.

Lemma take_tokens_of s : map Some (tokens_in (take (tokens_of s) s)) = take (tokens_of s) s.
Proof. by elim: s => [//|[v|] s IH] //=; rewrite IH. Qed.

Lemma all_bot_tokens s : all (fun o => o == bot) s -> tokens_in s = [::].
Proof. by elim: s => [//|[v|] s IH] //= /IH. Qed.

Lemma tokens_comparison x :
  map Some (tokens_of_record x) = take (tokens_of (val x)) (val x)
  /\ size (tokens_of_record x) = tokens_of (val x).
Proof.
have [/and3P[_ _ b]] : comparable E lm (val x) /\ True by split=> //; apply: (valP x).
have e : tokens_of_record x = tokens_in (take (tokens_of (val x)) (val x)).
  rewrite /tokens_of_record -{1}(cat_take_drop (tokens_of (val x)) (val x)) tokens_cat.
  by rewrite (all_bot_tokens b) cats0.
rewrite e take_tokens_of; split=> //.
rewrite -(size_map (Some : V -> _)) take_tokens_of size_takel //.
exact: find_size.
Qed.

Lemma comparison_positive x : (0 < T)%N.
Proof. by apply: leq_trans (tokens_of_gt0 x) (tokens_of_le x). Qed.

(** What a capped proposal can reach: tokens, then padding. *)
Definition reached s : Prop := exists t j,
  [/\ s = map Some t ++ nseq j bot, supported (map Some t) & (0 < j)%N -> (0 < size t)%N].

Notation capped := (capped E lm alpha).

Lemma reached_rcons m s o : (0 < m)%N -> reached s -> capped m s o != 0 -> reached (rcons s o).
Proof.
move=> m0 [t [j [e sup pos]]]; rewrite /truncating.capped; case: ltnP => [sm|ms].
  move=> go; have po : p0 E lm s o != 0.
    by apply: contraNneq go => z; rewrite /power_target.g z pow0 mul0r.
  move: (po); rewrite /p0; case: ifP => [ss|_]; last by rewrite eqxx.
  rewrite /step; case: o po {go} => [v|] po.
    case: ifP => [os _|_]; last by rewrite eqxx.
    have j0 : j = 0%N.
      by case: j e os {pos} => [//|j] ->; rewrite /open all_cat /= andbF.
    exists (rcons t v), 0%N; rewrite e j0 !cats0 map_rcons; split=> //.
    by apply: (p0_reach lm_model) => //; rewrite -[map _ _]cats0 -[X in _ ++ X]/(nseq 0 bot) -j0 -e.
  case: ifP => [th _|_]; last by rewrite eqxx.
  exists t, j.+1; rewrite e -cats1 -catA -[[:: bot]]/(nseq 1 bot) -nseqD addn1; split=> // _.
  move: th; rewrite e ended_tokens tokens_cat tokens_map (all_bot_tokens (s := nseq j bot)) ?cats0.
    by case: (t).
  by rewrite all_nseq eqxx orbT.
case: (o =P bot) => [-> _|_]; last by rewrite eqxx.
exists t, j.+1; rewrite e -cats1 -catA -[[:: bot]]/(nseq 1 bot) -nseqD addn1; split=> // _.
case: j e pos ms => [|j] e pos ms; last exact: pos.
by move: ms; rewrite e size_cat size_map addn0; apply: leq_trans.
Qed.

Lemma chain_reached m s u : (0 < m)%N -> reached s -> chain (capped m) s u != 0 -> reached (s ++ u).
Proof.
move=> m0; elim: u s => [|o u IH] s rs /=; first by rewrite cats0.
rewrite mulf_eq0 negb_or => /andP[co cu]; rewrite -cat_rcons.
by apply: IH => //; apply: reached_rcons co.
Qed.

Lemma reached_comparable (y : record V T) : (0 < T)%N -> reached y -> comparable E lm y.
Proof.
move=> T0 [t [j [e sup pos]]].
have nb : all (fun o => o != bot) (map Some t) by rewrite all_map; apply/allP.
have tk : tokens_of y = size t.
  rewrite e tokens_of_cat // size_map; case: j e pos => [|j] _ _ /=; by rewrite addn0.
have st : (0 < size t)%N.
  case: (posnP j) => [j0|]; last exact: pos.
  by move: (size_tuple y); rewrite e j0 cats0 size_map => ->.
rewrite /comparable tk st e take_size_cat ?size_map // sup drop_size_cat ?size_map //=.
by rewrite all_nseq eqxx orbT.
Qed.

Lemma capped_sum (F : seq V -> R) r x : (r < tokens_of (val x))%N ->
  \sum_y capped_proposal alpha r x y * F (tokens_of_record y) =
  \sum_(u : (T - r).-tuple (option V))
     chain (capped (tokens_of (val x))) (take r (val x)) u * F (tokens_in (take r (val x) ++ u)).
Proof.
move=> rn; set n := tokens_of (val x) in rn *; set h := take r (val x).
have T0 := comparison_positive x; have n0 : (0 < n)%N by apply: leq_ltn_trans rn.
have rT : (r <= T)%N by apply: ltnW; apply: leq_trans rn (tokens_of_le x).
have size_h : size h = r by rewrite size_takel ?size_tuple.
have rh : reached h.
  have [e sz] := tokens_comparison x.
  exists (take r (tokens_of_record x)), 0%N; rewrite cats0 map_take e take_take; last exact: ltnW.
  by split=> //; apply: (comparable_take lm_model); apply: ltnW.
pose P (s : seq (option V)) := suffix bot (capped n) r s * F (tokens_in s).
transitivity (\sum_(y : record V T) (take r y == h)%:R * P y).
  rewrite [RHS](bigID (fun y : record V T => comparable E lm y)) /= [X in _ = _ + X]big1 ?addr0 => [|y nc].
    rewrite [RHS](reindex_omap (val : comparison -> record V T) insub) /=.
      apply: eq_big => [y|y _]; first by rewrite (valP y) valK eqxx.
      by rewrite /P mulrA.
    by move=> y cy; rewrite insubT.
  case: eqP => [ey|_]; rewrite ?mul0r // mul1r /P.
  suff -> : suffix bot (capped n) r y = 0 by rewrite mul0r.
  apply/eqP; apply: contraR nc => nz; apply: reached_comparable => //.
  rewrite -(cat_take_drop r y) ey; apply: (chain_reached n0 rh).
  by rewrite -(suffix_cat bot) size_h -ey cat_take_drop.
rewrite (eq_bigr (fun y : record V T => if take r y == h then P y else 0)); last first.
  by move=> y _; case: eqP => _; rewrite ?mul1r ?mul0r.
rewrite -big_mkcond -{1}size_h (sum_prefix P) ?size_h //.
by apply: eq_bigr => u _; rewrite /P -{1}size_h suffix_cat.
Qed.

(** Padding to the horizon adds no token. *)
Lemma chain_full n m h (F : seq V -> R) : (n <= size h)%N ->
  \sum_(u : m.-tuple (option V)) chain (capped n) h u * F (tokens_in (h ++ u)) = F (tokens_in h).
Proof.
elim: m h => [|m IH] h nh.
  by rewrite (sum_tuple0 (fun u => chain (capped n) h u * F (tokens_in (h ++ u)))) /= mul1r cats0.
rewrite (sum_tupleS m (fun u => chain (capped n) h u * F (tokens_in (h ++ u)))).
have c o : capped n h o = (o == bot)%:R by rewrite /truncating.capped ltnNge nh.
rewrite (bigD1 bot) //= [X in _ + X]big1 ?addr0 => [|o /negPf ob]; last first.
  by apply: big1 => u _; rewrite c ob !mul0r.
under eq_bigr do rewrite c eqxx mul1r -cat_rcons.
rewrite IH; first by rewrite -cats1 tokens_cat cats0.
by rewrite size_rcons; apply: leqW.
Qed.

Lemma chain_ended n m h (F : seq V -> R) : supported h -> terminated E h ->
  \sum_(u : m.-tuple (option V)) chain (capped n) h u * F (tokens_in (h ++ u)) = F (tokens_in h).
Proof.
elim: m h => [|m IH] h sh th.
  by rewrite (sum_tuple0 (fun u => chain (capped n) h u * F (tokens_in (h ++ u)))) /= mul1r cats0.
rewrite (sum_tupleS m (fun u => chain (capped n) h u * F (tokens_in (h ++ u)))).
have c o : capped n h o = (o == bot)%:R.
  by rewrite /truncating.capped; case: ifP => // _; apply: g_padding.
rewrite (bigD1 bot) //= [X in _ + X]big1 ?addr0 => [|o /negPf ob]; last first.
  by apply: big1 => u _; rewrite c ob !mul0r.
under eq_bigr do rewrite c eqxx mul1r -cat_rcons.
rewrite IH; first by rewrite -cats1 tokens_cat cats0.
  by rewrite (supported_rcons lm_model) sh p0_terminated // ltr01.
by rewrite terminated_rcons th orbT.
Qed.

Variables (address : Type) (at_ : nat -> nat -> nat -> purpose -> address).
Notation token_tickets := (fun (k : 'I_1) (x : seq V) v => g (map Some x) (Some v)).

Lemma generate_capped n k (a : nat -> address) fuel (x : seq V) F :
  supported (map Some x) -> (size x <= n)%N -> (n <= T)%N -> (n <= size x + fuel)%N ->
  expect (@stated R) (generate E token_tickets n k a fuel x) F =
  \sum_(u : (T - size x).-tuple (option V))
    chain (capped n) (map Some x) u * F (tokens_in (map Some x ++ u)).
Proof.
move=> sx xn nT; elim: fuel x sx xn => [|fuel IH] x sx xn nf /=.
  by rewrite chain_full ?tokens_map // size_map -[size x]addn0.
rewrite /going_on; have [tx|ntx] := boolP (ended E x) => /=.
  by rewrite chain_ended ?tokens_map // ended_tokens tokens_map.
case: ltnP => [lt|ge]; last by rewrite chain_full ?tokens_map // size_map.
have xT : (size x < T)%N by apply: leq_trans lt nT.
rewrite -(subnSK xT) (sum_tupleS _ (fun u => chain (capped n) (map Some x) u * F (tokens_in (map Some x ++ u)))).
have c o : capped n (map Some x) o = g (map Some x) o by rewrite /truncating.capped size_map lt.
rewrite sum_option big1 ?add0r => [|u _]; last first.
  have ox : open E (map Some x) by rewrite (supported_not_ended lm_model).
  rewrite /= c /power_target.g /p0 sx /step (negPf (open_not_terminated ox)) pow0 !mul0r.
  by [].
apply: eq_bigr => v _; rewrite /stated.
have [gv|gv] := eqVneq (g (map Some x) (Some v)) 0.
  by rewrite gv mul0r big1 // => u _; rewrite /= c gv !mul0r.
rewrite -/(expect (@stated R) (generate E token_tickets n k a fuel (rcons x v)) F).
rewrite IH ?size_rcons ?addSnnS //; last by rewrite map_rcons; apply: (g_reach lm_model sx gv).
rewrite mulr_sumr; apply: eq_bigr => u _ /=.
by rewrite map_rcons cat_rcons c mulrA.
Qed.

(** Token scores through the candidate's endpoint. *)
Definition truncated_ratio (r : nat) (x y : seq V) : R :=
  let m := size y in
  let u := map Some x in let v := map Some y in
  Num.min 1 ((score (powered E lm alpha) r m v * score g r m u)
             / (score (powered E lm alpha) r m u * score g r m v)).

Lemma score_tokens_comparison f r m x : (m <= tokens_of (val x))%N ->
  score (R := R) f r m (map Some (tokens_of_record x)) = score f r m (val x).
Proof.
move=> mx; have [e sz] := tokens_comparison x.
rewrite /score big_nat [RHS]big_nat; apply: eq_bigr => t /andP[_ tm].
have tx : (t < tokens_of (val x))%N by apply: leq_trans tm mx.
by rewrite e take_take ?(ltnW tx) // nth_take.
Qed.

Lemma capped_zero r x y : (r < tokens_of (val x))%N ->
  (tokens_of (val x) < tokens_of (val y))%N -> capped_proposal alpha r x y = 0.
Proof.
move=> rn lt; rewrite /capped_proposal /suffix; set n := tokens_of (val x) in rn lt *.
have nT : (n < size (val y))%N by rewrite (leq_trans lt) // find_size.
rewrite (big_cat_nat _ (n := n)) ?(ltnW nT) ?(ltnW rn) //= [X in _ * (_ * X)]big_ltn //.
rewrite /truncating.capped size_takel ?(ltnW nT) // ltnn.
have /negPf -> : nth bot (val y) n != bot by rewrite (before_find _ lt).
by rewrite !(mul0r, mulr0).
Qed.

Definition uniform_length (m : nat) (r : 'I_m) : R := m%:R^-1.

(** The program's law is the kernel of truncating.v. *)
Theorem truncating_move_law i x F :
  expect (@stated R)
    (truncating_move E at_ token_tickets uniform_length
      (fun r u v => coin (truncated_ratio r u v)) ord0 i (tokens_of_record x)) F =
  \sum_y truncating alpha x y * F (tokens_of_record y).
Proof.
have [e sz] := tokens_comparison x; set n := tokens_of (val x) in e sz.
have n0 : (0 < n)%N := tokens_of_gt0 x; have nT : (n <= T)%N := tokens_of_le x.
transitivity (\sum_(0 <= r < n) n%:R^-1 * \sum_y capped_proposal alpha r x y *
    (truncated_accept alpha r x y * F (tokens_of_record y)
     + (1 - truncated_accept alpha r x y) * F (tokens_of_record x))).
  rewrite big_mkord /= sz; apply: eq_bigr => r _; congr (_ * _).
  have sr : size (take r (tokens_of_record x)) = r by rewrite size_takel ?sz // ltnW.
  have hr : map Some (take r (tokens_of_record x)) = take r (val x).
    by rewrite map_take e take_take // ltnW.
  have sh : supported (map Some (take r (tokens_of_record x))).
    by rewrite hr; apply: (comparable_take lm_model); apply: ltnW.
  rewrite expect_bind generate_capped ?sr ?leq_addl //; last exact: ltnW.
  rewrite hr.
  rewrite -(capped_sum (fun y : seq V => expect (@stated R) (Draw (at_ (ord0 : 'I_1) i 0 For_acceptance)
    (coin (truncated_ratio r (tokens_of_record x) y)) (fun b : bool => Done (if b then y else tokens_of_record x))) F)) //.
  apply: eq_bigr => y _; have [lt|ge] := ltnP n (tokens_of (val y)).
    by rewrite capped_zero // !mul0r.
  congr (_ * _); rewrite /= big_bool /= /stated /=.
  have [ey sy] := tokens_comparison y.
  have -> : truncated_ratio r (tokens_of_record x) (tokens_of_record y) = truncated_accept alpha r x y.
    by rewrite /truncated_ratio sy !score_tokens_comparison.
  by [].
pose M y := truncated_move alpha x y; pose f (y : comparison) := F (tokens_of_record y).
have q1 r : (r < n)%N -> \sum_y capped_proposal alpha r x y = 1.
  move=> rn; have := capped_sum (fun=> 1) rn.
  under eq_bigr do rewrite mulr1.
  move=> ->; under eq_bigr do rewrite mulr1.
  have sh : supported (take r (val x)) by apply: (comparable_take lm_model); apply: ltnW.
  apply: (sum_chain (reach := fun h' => (n <= size h')%N || supported h')); last by rewrite sh orbT.
    move=> h' rh'; rewrite /truncating.capped; case: ltnP => [lt|ge].
      move: rh'; rewrite leqNgt lt /= => sh'.
      by case: (law_g alpha lm_model sh').
    by rewrite sum_option /= big1 ?addr0.
  move=> h' o rh'; rewrite /truncating.capped size_rcons; case: ltnP => [lt|ge] go.
    apply/orP; right; move: rh'; rewrite leqNgt lt /= => sh'.
    exact: (g_reach lm_model sh' go).
  by rewrite (leq_trans ge).
have nn : n%:R != 0 :> R by rewrite pnatr_eq0 -lt0n.
transitivity (f x + \sum_y M y * (f y - f x)).
  have -> : \sum_y M y * (f y - f x) = \sum_(0 <= r < n) n%:R^-1 *
      \sum_y capped_proposal alpha r x y * (truncated_accept alpha r x y * (f y - f x)).
    rewrite /M /truncated_move; under eq_bigr do rewrite mulr_suml.
    rewrite exchange_big /=; apply: eq_bigr => r _; rewrite mulr_sumr.
    by apply: eq_bigr => y _; rewrite !mulrA.
  have fxE : f x = \sum_(0 <= r < n) n%:R^-1 * f x.
    by rewrite sumr_const_nat subn0 -mulr_natl mulrA mulfV // mul1r.
  rewrite [X in _ = X + _]fxE.
  rewrite -big_split /= big_nat [RHS]big_nat; apply: eq_bigr => r /andP[_ rn].
  rewrite -mulrDr; congr (_ * _).
  have fxq : f x = \sum_y capped_proposal alpha r x y * f x by rewrite -mulr_suml q1 ?mul1r.
  rewrite [X in _ = X + _]fxq -big_split /=; apply: eq_bigr => y _; rewrite -mulrDr.
  congr (_ * _); rewrite -/(f x) -/(f y); set a := truncated_accept _ _ _ _.
  by rewrite mulrBl mul1r mulrBr addrCA.
rewrite [in RHS](bigD1 x) //= {1}/truncating eqxx -/(f x).
rewrite (bigD1 x) //= subrr mulr0 add0r mulrBl mul1r.
under [X in _ = _ + X]eq_bigr => y yx do rewrite /truncating (negPf yx) -/(M y) -/(f y).
rewrite mulr_suml -addrA addrC -sumrN -big_split /= addrC; congr (_ + _).
by apply: eq_bigr => y _; rewrite mulrBr addrC.
Qed.

End Law.
