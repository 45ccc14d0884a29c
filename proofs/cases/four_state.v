(** * The four-state example

    sec:endpoint-bias-example-condensed.  Vocabulary {a, e}, e terminal, horizon 2,
    power 2, every next token with probability 1/2.  Both matrices are computed
    from the general definitions of the two kernels, not typed in.

    - [X1 .. X4]               (e,_|_), (a), (a,e), (a,a)
    - [P_fix], [P_trunc]       eq:condensed-fixed-kernel ([P_fixE], [P_truncE])
    - [pi]                     eq:condensed-finite-summary ([piE])               *)

From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov autoregressive record_space power power_target.
From Tempera Require Import replica_exchange fixed_horizon truncating executable.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

(** ** The model *)

Notation a := false (only parsing).
Notation e := true (only parsing).
Definition E : {set bool} := [set e].
Definition lm (h : seq bool) (v : bool) : rat := 1 / 2%:R.
Definition square : power rat_realFieldType := power_nat rat_realFieldType 1.
Definition powers (k : 'I_1) : power rat_realFieldType := square.
Definition omega (k : 'I_1) (r : 'I_2) : rat := 1 / 2%:R.

Lemma lm_model : model E lm.
Proof.
move=> h _ _; split=> [v|]; first by [].
by rewrite -(@sum_list_all rat_realFieldType _ _ [:: a; e]) // => -[].
Qed.

Lemma omega_law k : law (omega k).
Proof. by split=> [r|]; rewrite /omega // !big_ord_recl big_ord0; apply/eqP. Qed.

(** ** The states *)

Lemma tokens_uniq : uniq [:: a; e]. Proof. by []. Qed.
Lemma tokens_all v : v \in [:: a; e]. Proof. by case: v. Qed.
Lemma terminalE v : id v = (v \in E). Proof. by rewrite inE; case: v. Qed.

Notation S_2 := (S_T E lm 2).
Notation space := (comparison E lm 2).

Definition w1 : record bool_finType 2 := [tuple Some e; bot].
Definition w2 : record bool_finType 2 := [tuple Some a; bot].
Definition w3 : record bool_finType 2 := [tuple Some a; Some e].
Definition w4 : record bool_finType 2 := [tuple Some a; Some a].

Lemma comparable_word (w : record bool_finType 2) :
  x_comparable lm id w -> comparable E lm w.
Proof. by rewrite (x_comparableE lm terminalE). Qed.

Definition X1 : space := Sub w1 (@comparable_word w1 isT).
Definition X2 : space := Sub w2 (@comparable_word w2 isT).
Definition X3 : space := Sub w3 (@comparable_word w3 isT).
Definition X4 : space := Sub w4 (@comparable_word w4 isT).
Definition X : seq space := [:: X1; X2; X3; X4].

Lemma mem_X (x : space) : x \in X.
Proof.
pose word_of (x : space) : seq (option bool) := val (val x).
have inj : injective word_of by apply: inj_comp val_inj val_inj.
rewrite -(mem_map inj).
have -> : map word_of X = [seq word_of x | x <- X] by [].
have : word_of x \in comparison_states lm 2 [:: a; e] id.
  exact: mem_comparison_states tokens_all terminalE x.
suff -> : comparison_states lm 2 [:: a; e] id = map word_of [:: X2; X4; X3; X1].
  by rewrite !inE => /or4P[] ->; rewrite ?orbT.
by vm_compute.
Qed.

Lemma uniq_X : uniq X.
Proof. by vm_compute. Qed.

Lemma sum_X (F : space -> rat) : \sum_x F x = F X1 + F X2 + F X3 + F X4.
Proof.
rewrite -(sum_list_all F uniq_X mem_X) /= addr0.
by rewrite !addrA.
Qed.

(** S_2 is {X1, X3, X4}; X2 has no probability. *)
Lemma record_word (w : record bool_finType 2) :
  0 < x_prob lm id w -> 0 < record_prob E lm w.
Proof. by rewrite (x_probE lm terminalE). Qed.

Definition Y1 : S_2 := Sub w1 (@record_word w1 isT).
Definition Y3 : S_2 := Sub w3 (@record_word w3 isT).
Definition Y4 : S_2 := Sub w4 (@record_word w4 isT).

Definition valid (x : space) : option S_2 := insub (val x).

Lemma valid1 : valid X1 = Some Y1. Proof. exact: (valK Y1). Qed.
Lemma valid3 : valid X3 = Some Y3. Proof. exact: (valK Y3). Qed.
Lemma valid4 : valid X4 = Some Y4. Proof. exact: (valK Y4). Qed.
Lemma valid2 : valid X2 = None.
Proof.
rewrite /valid insubF // /record_prob -(x_probE lm terminalE).
by vm_compute.
Qed.

(** ** Base law and target *)

(** Laws on S_2 are extended by zero to the comparison space. *)
Definition extended (F : S_2 -> rat) (x : space) : rat := oapp F 0 (valid x).

Definition base : space -> rat := extended (fun x => record_prob E lm (val x)).
Definition pi : space -> rat := extended (target square).

(** A vector or a matrix, row by row, against its entries on X1 .. X4. *)
Definition vector_is (F : space -> rat) (v : seq rat) := map F X = v.
Definition matrix_is (P : space -> space -> rat) (m : seq (seq rat)) :=
  map (fun x => map (P x) X) X = m.

(** eq:condensed-finite-summary *)
Theorem baseE : vector_is base [:: 1/2%:R; 0; 1/4%:R; 1/4%:R].
Proof.
rewrite /vector_is /base /extended /= valid1 valid2 valid3 valid4 /=.
by rewrite /record_prob -!(x_probE lm terminalE); apply/eqP; vm_compute.
Qed.

Theorem partitionE : Z E lm square 2 = 3%:R / 8%:R.
Proof.
by rewrite -(x_ZE lm square 2 tokens_uniq tokens_all terminalE); apply/eqP; vm_compute.
Qed.

Theorem piE : vector_is pi [:: 2%:R/3%:R; 0; 1/6%:R; 1/6%:R].
Proof.
rewrite /vector_is /pi /extended /= valid1 valid2 valid3 valid4 /=.
rewrite -!(x_targetE square tokens_uniq tokens_all terminalE).
by apply/eqP; vm_compute.
Qed.

Definition Y : seq S_2 := [:: Y1; Y3; Y4].

Lemma mem_Y (y : S_2) : y \in Y.
Proof.
pose word_of (w : S_2) : seq (option bool) := val (val w).
have inj : injective word_of by apply: inj_comp val_inj val_inj.
rewrite -(mem_map inj); have : word_of y \in states lm 2 [:: a; e] id.
  exact: (mem_states tokens_all terminalE y).
suff -> : states lm 2 [:: a; e] id = map word_of [:: Y4; Y3; Y1].
  by rewrite !inE => /or3P[] ->; rewrite ?orbT.
by vm_compute.
Qed.

Lemma uniq_Y : uniq Y.
Proof. by vm_compute. Qed.

Lemma sum_Y (F : S_2 -> rat) : \sum_y F y = F Y1 + F Y3 + F Y4.
Proof. by rewrite -(sum_list_all F uniq_Y mem_Y) /= addr0 !addrA. Qed.

(** The full restart proposes from p0, which is not the target. *)
Theorem full_restart_is_base (x y : S_2) : q square 0 x y = record_prob E lm (val y).
Proof.
rewrite -(x_qE square tokens_uniq tokens_all terminalE) // /record_prob.
rewrite -(x_probE lm terminalE); move: (mem_Y x) (mem_Y y).
by rewrite !inE => /or3P[] /eqP -> /or3P[] /eqP ->; apply/eqP; vm_compute.
Qed.

Theorem base_is_not_target : base X1 = 1/2%:R /\ pi X1 = 2%:R/3%:R.
Proof.
have := congr1 (nth 0 ^~ 0%N) baseE; have := congr1 (nth 0 ^~ 0%N) piE.
by split.
Qed.

(** ** The two kernels *)

(** The fixed-horizon kernel, with a self-loop on the invalid state. *)
Definition P_fix (x y : space) : rat :=
  if valid x is Some x' then
    if valid y is Some y' then local powers omega ord0 x' y' else 0
  else (x == y)%:R.

Definition P_trunc : space -> space -> rat := truncating square.

Definition fix_rows : seq (seq rat) :=
  [:: [:: 7%:R/8%:R; 0; 1/16%:R; 1/16%:R];
      [:: 0;         1; 0;       0];
      [:: 1/4%:R;    0; 3%:R/8%:R; 3%:R/8%:R];
      [:: 1/4%:R;    0; 3%:R/8%:R; 3%:R/8%:R]].

Definition trunc_rows : seq (seq rat) :=
  [:: [:: 1/2%:R; 1/2%:R; 0; 0];
      [:: 1/2%:R; 1/2%:R; 0; 0];
      [:: 1/4%:R; 0; 3%:R/8%:R; 3%:R/8%:R];
      [:: 1/4%:R; 0; 3%:R/8%:R; 3%:R/8%:R]].

(** eq:condensed-fixed-kernel *)
Theorem P_fixE : matrix_is P_fix fix_rows.
Proof.
rewrite /matrix_is /P_fix /= valid1 valid2 valid3 valid4.
have L (x y : S_2) : local powers omega ord0 x y =
    x_local lm square 2 [:: a; e] id (fun=> 1/2%:R) (val x) (val y).
  by rewrite (x_localE square tokens_uniq tokens_all terminalE (omega := omega ord0)).
by rewrite !L; apply/eqP; vm_compute.
Qed.

Theorem P_truncE : matrix_is P_trunc trunc_rows.
Proof.
rewrite /matrix_is /P_trunc /=.
rewrite -!(x_truncatingE square tokens_uniq tokens_all terminalE).
by apply/eqP; vm_compute.
Qed.
