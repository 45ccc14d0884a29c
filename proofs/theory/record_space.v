(** * Fixed-horizon records, and the base law on them

    The vocabulary of the language model is any finType V, the terminal tokens any
    set E of it, the horizon any T.  The prompt is fixed inside [lm], which gives
    the next-token probabilities after a history of generated tokens.  A token of
    a record is an [option V]; [None] is the padding symbol.  Positions are counted
    from 0 here and from 1 in the paper.

    - [p0 h o]         eq:theory-absorbing-law, the next-token law with padding
    - [record_prob x]  eq:record-prob, prod_t p0(x_t | x_<t)
    - [S_T]            eq:theory-positive-support, the records of positive probability
    - [len x], [tau x] generated tokens, and the (0-based) first terminal position  *)

From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov autoregressive.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Notation bot := (@None _).

Lemma sum_option (R : realFieldType) (V : finType) (F : option V -> R) :
  \sum_o F o = F bot + \sum_v F (Some v).
Proof.
rewrite (bigD1 bot) //=; congr (_ + _).
rewrite (reindex_omap Some id) => [|[v|] //].
by apply: eq_bigl => v; rewrite eqxx.
Qed.

(** ** Open and terminated histories *)
Section Histories.
Variables (V : finType) (E : {set V}).
Implicit Types (h : seq (option V)) (o : option V).

Definition terminal o : bool := if o is Some v then v \in E else false.
Definition generated o : bool := if o is Some v then v \notin E else false.

(** No terminal token so far, and no padding. *)
Definition open h : bool := all generated h.

(** "terminated from that token onward". *)
Definition terminated h : bool := has terminal h.

Lemma open_not_terminated h : open h -> ~~ terminated h.
Proof.
rewrite -all_predC; apply: sub_all => o /=.
by case: o => //= v /negPf ->.
Qed.

Lemma open_rcons h o : open (rcons h o) = generated o && open h.
Proof. exact: all_rcons. Qed.

Lemma terminated_rcons h o : terminated (rcons h o) = terminal o || terminated h.
Proof. exact: has_rcons. Qed.

Lemma open_take r h : open h -> open (take r h).
Proof. by rewrite -{1}(cat_take_drop r h) /open all_cat => /andP[]. Qed.

End Histories.

Section RecordSpace.
Variables (R : realFieldType) (V : finType) (E : {set V}).
Variable lm : seq V -> V -> R.
Implicit Types (h : seq (option V)) (o : option V).

Notation open := (open E).
Notation terminated := (terminated E).

(** The three cases, before "supported" is asked for. *)
Definition step h o : R :=
  match o with
  | Some v => if open h then lm (pmap id h) v else 0
  | bot => if terminated h then 1 else 0
  end.

Definition history_prob h : R := suffix bot step 0 h.

Definition supported h : bool := 0 < history_prob h.

(** eq:theory-absorbing-law *)
Definition p0 h o : R := if supported h then step h o else 0.

(** eq:record-prob: defined on every record of any length *)
Definition prefix_prob (x : seq (option V)) : R :=
  \prod_(t < size x) p0 (take t x) (nth bot x t).

(** A language model: normalised at every supported open history. *)
Definition model : Prop :=
  forall h, supported h -> open h -> law (lm (pmap id h)).

Lemma prefix_probE x : prefix_prob x = suffix bot p0 0 x.
Proof. by rewrite /prefix_prob /suffix big_mkord. Qed.

Lemma history_prob_rcons h o : history_prob (rcons h o) = history_prob h * step h o.
Proof. exact: suffix_rcons. Qed.

Lemma prefix_prob_rcons h o : prefix_prob (rcons h o) = prefix_prob h * p0 h o.
Proof. by rewrite !prefix_probE; apply: suffix_rcons. Qed.

Lemma prefix_prob0 : prefix_prob [::] = 1.
Proof. by rewrite /prefix_prob big_ord0. Qed.

Lemma supported0 : supported [::].
Proof. by rewrite /supported /history_prob /suffix big_geq // ltr01. Qed.

(** In words: the three cases of the paper. *)
Lemma p0_open h v : supported h -> open h -> p0 h (Some v) = lm (pmap id h) v.
Proof. by rewrite /p0 /step => -> ->. Qed.

Lemma p0_terminated h : supported h -> terminated h -> p0 h bot = 1.
Proof. by rewrite /p0 /step => -> ->. Qed.

Lemma p0_otherwise h o :
  ~~ [&& supported h, open h & o != bot] ->
  ~~ [&& supported h, terminated h & o == bot] -> p0 h o = 0.
Proof.
by rewrite /p0 /step; case: (supported h); case: o => [v|] //=;
   rewrite ?andbT; case: ifP.
Qed.

Hypothesis lm_model : model.

Lemma step_ge0 h o : supported h -> 0 <= step h o.
Proof.
move=> sh; rewrite /step; case: o => [v|]; case: ifP; rewrite ?ler01 // => oh.
by case: (lm_model sh oh).
Qed.

Lemma p0_ge0 h o : 0 <= p0 h o.
Proof. by rewrite /p0; case: ifP => // sh; apply: step_ge0. Qed.

Lemma prefix_prob_ge0 x : 0 <= prefix_prob x.
Proof. by apply: prodr_ge0 => t _; apply: p0_ge0. Qed.

Lemma history_probE h : history_prob h = prefix_prob h.
Proof.
elim/last_ind: h => [|h o IH].
  by rewrite prefix_prob0 /history_prob /suffix big_geq.
rewrite history_prob_rcons prefix_prob_rcons IH /p0 /supported IH.
case: ifPn => // /negPf n0.
have : prefix_prob h = 0 by apply/eqP; rewrite eq_le prefix_prob_ge0 leNgt n0.
by move=> ->; rewrite !mul0r.
Qed.

Lemma supportedE h : supported h = (0 < prefix_prob h).
Proof. by rewrite /supported history_probE. Qed.

Lemma supported_rcons h o : supported (rcons h o) = supported h && (0 < p0 h o).
Proof.
rewrite !supportedE prefix_prob_rcons; case: (ltrP 0 (prefix_prob h)) => h0 /=.
  by rewrite pmulr_rgt0.
have -> : prefix_prob h = 0 by apply/eqP; rewrite eq_le h0 prefix_prob_ge0.
by rewrite mul0r ltxx.
Qed.

Lemma supported_take r h : supported h -> supported (take r h).
Proof.
elim/last_ind: h => [//|h o IH]; have [rh|rh sho] := leqP r (size h); last by rewrite take_oversize ?size_rcons.
rewrite supported_rcons => /andP[sh _].
by rewrite -cats1 takel_cat //; apply: IH.
Qed.

(** A supported history is open or terminated, and not both. *)
Lemma supported_open_or_terminated h : supported h -> open h = ~~ terminated h.
Proof.
elim/last_ind: h => [//|h o IH]; rewrite supported_rcons => /andP[sh p].
rewrite open_rcons terminated_rcons IH //; move: p; rewrite /p0 sh /step.
case: o => [v|] /=; rewrite ?negb_or //.
by case: ifP; rewrite ?ltxx.
Qed.

Lemma law_p0 h : supported h -> law (p0 h).
Proof.
move=> sh; split=> [o|]; first exact: p0_ge0.
rewrite sum_option {1}/p0 sh /=.
have [oh|noh] := boolP (open h).
  rewrite (negPf (open_not_terminated oh)) add0r.
  by under eq_bigr do rewrite p0_open //; case: (lm_model sh oh).
have -> : terminated h by rewrite -[terminated h]negbK -supported_open_or_terminated.
rewrite big1 ?addr0 // => v _.
by rewrite /p0 sh /step (negPf noh).
Qed.

Lemma p0_le1 h o : p0 h o <= 1.
Proof.
have [sh|nsh] := boolP (supported h); first exact: (law_le1 o (law_p0 sh)).
by rewrite /p0 (negPf nsh) ler01.
Qed.

Lemma p0_reach h o : supported h -> p0 h o != 0 -> supported (rcons h o).
Proof. by move=> sh po; rewrite supported_rcons sh lt_def po p0_ge0. Qed.

(** After a terminal token only padding follows, with probability one. *)
Lemma p0_padding h o : supported h -> terminated h -> p0 h o = (o == bot)%:R.
Proof.
move=> sh th; rewrite /p0 sh /step th; case: o => [v|] //=.
by rewrite supported_open_or_terminated ?th.
Qed.

(** ** Records at horizon T *)
Variable T : nat.

Definition record := T.-tuple (option V).
Definition record_prob (x : record) : R := prefix_prob x.

Lemma record_probE (x : record) :
  record_prob x = \prod_(t < T) p0 (take t x) (tnth x t).
Proof.
rewrite /record_prob prefix_probE /suffix size_tuple big_mkord.
by apply: eq_bigr => t _; rewrite (tnth_nth bot).
Qed.

(** eq:theory-positive-support *)
Definition S_T := {x : record | 0 < record_prob x}.

Lemma record_prob_law : law record_prob.
Proof.
split=> [x|]; first exact: prefix_prob_ge0.
rewrite -[RHS](@sum_chain R _ p0 supported T [::]) //.
- by apply: eq_bigr => x _; rewrite /record_prob prefix_probE -(suffix_cat bot).
- by move=> h /law_p0[].
- exact: p0_reach.
- exact: supported0.
Qed.

(** Sums over the support are sums over all records of what vanishes off it. *)
Lemma sum_S_T (F : record -> R) :
  \sum_(x : S_T) F (val x) = \sum_(x : record | 0 < record_prob x) F x.
Proof.
rewrite [RHS](reindex_omap (val : S_T -> record) insub) /=.
  apply: eq_bigl => x; rewrite (valP x) /=.
  by rewrite valK eqxx.
by move=> x sx; rewrite insubT.
Qed.

Lemma sum_S_T_vanish (F : record -> R) :
  (forall x, record_prob x = 0 -> F x = 0) -> \sum_(x : S_T) F (val x) = \sum_x F x.
Proof.
move=> F0; rewrite sum_S_T big_mkcond; apply: eq_bigr => x _.
case: ifPn => // n0; rewrite F0 //.
by apply/eqP; rewrite eq_le prefix_prob_ge0 leNgt n0.
Qed.

(** p0 is a law on S_T. *)
Lemma p0_law_S_T : law (fun x : S_T => record_prob (val x)).
Proof.
split=> [x|]; first exact: ltW (valP x).
by rewrite sum_S_T_vanish //; case: record_prob_law.
Qed.

Lemma record_prob_gt0 (x : S_T) : 0 < record_prob (val x).
Proof. exact: (valP x). Qed.

Lemma supported_prefix (x : S_T) r : supported (take r (val x)).
Proof. by apply: supported_take; rewrite supportedE; apply: (valP x). Qed.

(** ** The first terminal position, and lengths *)

(** 0-based; T when the record has no terminal token. *)
Definition tau (x : seq (option V)) : nat := find (terminal E) x.

Definition len (x : seq (option V)) : nat := minn (tau x).+1 (size x).

Lemma terminated_take r (x : seq (option V)) :
  terminated (take r x) = (tau x < minn r (size x))%N.
Proof.
rewrite /terminated /tau.
elim: x r => [|o x IH] [|r]; rewrite ?minn0 ?min0n ?ltn0 //= minnSS.
by case: (terminal E o) => //=; rewrite IH ltnS.
Qed.

(** Past the first terminal token a supported record is padding ... *)
Lemma padding (x : S_T) (t : 'I_T) :
  (tau (val x) < t)%N -> tnth (val x) t = bot.
Proof.
move=> lt; have th : terminated (take t (val x)).
  by rewrite terminated_take size_tuple (minn_idPl (ltnW (ltn_ord t))).
have := valP x; rewrite record_probE (bigD1 t) //= p0_padding ?supported_prefix //.
by case: eqP => // _; rewrite mul0r ltxx.
Qed.

(** ... and every padding position contributes a factor of one
    (eq:theory-terminated-sequence-law). *)
Lemma terminated_sequence_law (x : S_T) :
  record_prob (val x) =
  \prod_(t < T | (t < len (val x))%N)
     oapp (lm (pmap id (take t (val x)))) 0 (tnth (val x) t).
Proof.
rewrite record_probE [RHS]big_mkcond; apply: eq_bigr => t _.
have [lt|ge] := ltnP t (len (val x)); last first.
  have tau_lt : (tau (val x) < t)%N.
    by move: ge; rewrite /len size_tuple geq_min [(T <= t)%N]leqNgt ltn_ord orbF.
  rewrite padding // p0_terminated ?supported_prefix //.
  by rewrite terminated_take size_tuple (minn_idPl (ltnW (ltn_ord t))).
have op : open (take t (val x)).
  rewrite supported_open_or_terminated ?supported_prefix // terminated_take.
  rewrite size_tuple (minn_idPl (ltnW (ltn_ord t))) -leqNgt.
  by move: lt; rewrite /len leq_min ltnS => /andP[].
rewrite /p0 supported_prefix /step op (negPf (open_not_terminated op)).
by case: (tnth (val x) t).
Qed.

End RecordSpace.
