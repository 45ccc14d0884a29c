(** Convergence of the fixed-horizon PPT ensemble and of its returned rung
    (thm:fixed-horizon-convergence), for any vocabulary, terminal set, horizon
    T+1, model, ladder of K = n+1 powers and restart laws that select a full restart
    with positive probability.

    The restart index [ord0] is the paper's r = 1.  That q_full is positive on S_T,
    which the paper assumes, is proved here for the tokenwise-powered proposal. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Tempera Require Import markov autoregressive record_space power power_target.
From Tempera Require Import replica_exchange fixed_horizon.
From Tempera Require Import convergence_geometric convergence_minorization.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import Order.TTheory GRing.Theory Num.Theory.
Local Open Scope ring_scope.

Section Convergence.
Variables (R : realFieldType) (V : finType) (E : {set V}).
Variable lm : seq V -> V -> R.
Variables (T n : nat).
Variable alpha : 'I_n.+1 -> power R.
Variable omega : 'I_n.+1 -> 'I_T.+1 -> R.

Notation S_T := (S_T E lm T.+1).
Notation state := {ffun 'I_n.+1 -> S_T}.
Notation pi := (@pi R V E lm T.+1 n alpha).
Notation Pi := (@Pi R V E lm T.+1 n alpha).
Notation local := (@local R V E lm T.+1 n alpha omega).
Implicit Types (x y : S_T) (k : 'I_n.+1).

Hypothesis lm_model : model E lm.
Hypothesis omega_law : forall k, law (omega k).
Hypothesis omega_full : forall k, 0 < omega k ord0.

(** q_k^full(y) = prod_t g_{alpha_k}(y_t | y_<t) *)
Definition q_full k y : R := suffix bot (g E lm (alpha k)) 0 (val y).

Lemma q_fullE k x y : q (alpha k) (ord0 : 'I_T.+1) x y = q_full k y.
Proof. by rewrite /q /= !take0 eqxx mul1r. Qed.

Lemma q_full_positive k y : 0 < q_full k y.
Proof. by rewrite -(q_fullE k y) q_gt0. Qed.

(** eps_k = omega_k(1) min_y q_k^full(y) / pi_k(y), and eps their product. *)
Definition eps_rung k : R := restart_weight (pi k) (q_full k) (omega k) ord0.
Definition eps : R := \prod_k eps_rung k.

Let q_kernel k (r : 'I_T.+1) : kernel (q (alpha k) r : S_T -> S_T -> R).
Proof. by apply: q_law => //; apply: ltnW. Qed.

Let pi_positive k y : 0 < pi k y.
Proof. exact: pi_gt0. Qed.

Lemma eps_rung_positive k : 0 < eps_rung k.
Proof. by apply: restart_weight_positive => //; apply: q_full_positive. Qed.

Lemma eps_positive : 0 < eps.
Proof. by apply: prodr_gt0 => k _; apply: eps_rung_positive. Qed.

(** L_k(x, y) >= eps_k pi_k(y) *)
Theorem local_minorization k x y : eps_rung k * pi k y <= local k x y.
Proof.
apply: (full_restart_minorizes (q := fun r : 'I_T.+1 => q (alpha k) r)) => //.
by move=> u v; apply: q_fullE.
Qed.

(** R(X, Y) >= eps Pi(Y) *)
Theorem sweep_minorization (X Y : state) : eps * Pi Y <= sweep local X Y.
Proof.
apply: product_minorizes => [k|k y|k x y].
- exact/ltW/eps_rung_positive.
- exact/ltW/pi_positive.
exact: local_minorization.
Qed.

Let sweep_kernel : kernel (sweep local).
Proof. by apply: kernel_prodk => k; apply: local_kernel. Qed.

Lemma eps_le1 : eps <= 1.
Proof.
apply: (@minorization_le1 R _ Pi (sweep local)); last exact: sweep_minorization.
  exact: Pi_law.
exact: sweep_kernel.
Qed.

(** One round: at least one local sweep, then any exchanges that preserve Pi
    (ordered sweeps, even-odd layers, none). *)
Variables (C : state -> state -> R) (n_local n_sweep : nat).
Hypothesis C_kernel : kernel C.
Hypothesis C_invariant : invariant Pi C.
Hypothesis n_local_positive : (0 < n_local)%N.

Let P := @transition R V E lm T.+1 n alpha omega C n_local n_sweep.

Theorem convergence_any_exchange mu N : law mu ->
  tv (run N mu P) Pi <= (1 - eps) ^+ N * tv mu Pi.
Proof.
apply: (@rounds_contract R _ Pi (sweep local)) => //.
- exact: Pi_law.
- exact: sweep_invariant.
- exact: sweep_minorization.
- exact: kernel_iterk.
- exact: invariant_iterk.
exact: eps_positive.
Qed.

Theorem unique_any_exchange nu : law nu -> invariant nu P -> nu =1 Pi.
Proof.
apply: (@round_unique_invariant R _ Pi (sweep local) eps) => //.
- exact: Pi_law.
- exact: sweep_invariant.
- exact: sweep_minorization.
- exact: kernel_iterk.
- exact: invariant_iterk.
exact: eps_positive.
Qed.

End Convergence.

Section MainTheorem.
Variables (R : realFieldType) (V : finType) (E : {set V}).
Variable lm : seq V -> V -> R.
Variables (T n : nat).
Variable alpha : 'I_n.+1 -> power R.
Variable omega : 'I_n.+1 -> 'I_T.+1 -> R.
Variables (n_local n_sweep : nat).

Notation state := {ffun 'I_n.+1 -> S_T E lm T.+1}.
Notation pi := (@pi R V E lm T.+1 n alpha).
Notation Pi := (@Pi R V E lm T.+1 n alpha).
Notation P := (@transition R V E lm T.+1 n alpha omega (adj pi) n_local n_sweep).
Notation eps := (@eps R V E lm T n alpha omega).

(** thm:fixed-horizon-convergence, eq:theory-fixed-horizon-convergence: Pi is the
    unique invariant law of P; the bound on the ensemble and on every rung. *)
Theorem fixed_horizon_convergence : model E lm -> (forall k, law (omega k)) ->
  (forall k, 0 < omega k ord0) -> (0 < n_local)%N ->
  [/\ 0 < eps <= 1,
      invariant Pi P,
      forall nu, law nu -> invariant nu P -> nu =1 Pi
    & forall mu k N, law mu ->
        tv (marginal k (run N mu P)) (pi k) <= tv (run N mu P) Pi
        /\ tv (run N mu P) Pi <= (1 - eps) ^+ N * tv mu Pi].
Proof.
move=> lm_model omega_law omega_full n_local0.
have adj_k : kernel (adj pi) by apply: adj_kernel => k x; apply: pi_ge0.
have adj_i : invariant Pi (adj pi) by apply: ordered_sweep_invariant.
split.
- by rewrite (eps_positive alpha lm_model omega_full) eps_le1.
- exact: transition_invariant_adj.
- by move=> nu; apply: unique_any_exchange.
move=> mu k N mu_law; split; last exact: convergence_any_exchange.
by rewrite -(tv_ext (fun _ => erefl) (output_marginal alpha lm_model k)) tv_marginal_le.
Qed.

End MainTheorem.

(** The limit: from every initial law, within every positive distance. *)
Theorem fixed_horizon_limit (R : archiFieldType) (V : finType) (E : {set V})
    (lm : seq V -> V -> R) (T n : nat) (alpha : 'I_n.+1 -> power R)
    (omega : 'I_n.+1 -> 'I_T.+1 -> R) (n_local n_sweep : nat)
    (mu : {ffun 'I_n.+1 -> S_T E lm T.+1} -> R) (eta : R) :
  model E lm -> (forall k, law (omega k)) -> (forall k, 0 < omega k ord0) ->
  (0 < n_local)%N -> law mu -> 0 < eta ->
  let P := @transition R V E lm T.+1 n alpha omega
    (adj (@pi R V E lm T.+1 n alpha)) n_local n_sweep in
  exists N0, forall N, (N0 <= N)%N ->
    tv (run N mu P) (@Pi R V E lm T.+1 n alpha) < eta
    /\ forall k, tv (marginal k (run N mu P)) (@pi R V E lm T.+1 n alpha k) < eta.
Proof.
move=> lm_model omega_law omega_full n_local0 mu_law eta0 P.
have [/andP[eps0 eps1] _ _ bound] :=
  @fixed_horizon_convergence R V E lm T n alpha omega n_local n_sweep lm_model omega_law omega_full n_local0.
have [N0 small] : exists N0, forall N, (N0 <= N)%N ->
    tv (run N mu P) (@Pi R V E lm T.+1 n alpha) < eta.
  apply: (rounds_converge eps0 eps1) => // [|N]; first exact: Pi_law.
  by case: (bound mu ord0 N mu_law).
exists N0 => N leN; split=> [|k]; first exact: small.
by case: (bound mu k N mu_law) => le _; apply: le_lt_trans le (small N leN).
Qed.
