(** * The cases of the join

    Written by `build/release/tests/test_lab "[write-join-cases]"`, which draws them by the
    generator of the property tests; join.json says the same to reference/.        *)

From Coq Require Import ZArith.
From mathcomp Require Import all_ssreflect.
From Tempera Require Import finite_models progressive_law matrices.

Definition four_state : join_case := JoinCase
  (FiniteModel 2 [:: false; true]
    [::]
    [:: frac 1 2; frac 1 2])
  2 [:: 1; 2; 4] [:: frac 1 2; frac 1 2] 1 1
  [:: Stage 1 1 1 1; Stage 2 1 1 1].

Definition two_rungs_1 : join_case := JoinCase
  (FiniteModel 3 [:: true; true; false]
    [::
       ([::], [:: frac 1 7; frac 2 7; frac 4 7]);
       ([:: 2], [:: frac 1 1; frac 0 1; frac 0 1]);
       ([:: 2; 2], [:: frac 2 9; frac 1 3; frac 4 9])]
    [:: frac 1 2; frac 1 2; frac 0 1])
  2 [:: 1; 2] [:: frac 1 3; frac 2 3] 1 2
  [:: Stage 1 2 2 2; Stage 2 2 1 1].

Definition two_rungs_2 : join_case := JoinCase
  (FiniteModel 2 [:: false; true]
    [::
       ([::], [:: frac 1 2; frac 1 2]);
       ([:: 0], [:: frac 1 3; frac 2 3]);
       ([:: 0; 0], [:: frac 1 2; frac 1 2])]
    [:: frac 1 1; frac 0 1])
  3 [:: 2; 3] [:: frac 0 1; frac 0 1; frac 1 1] 1 1
  [:: Stage 1 0 1 2; Stage 2 1 2 2; Stage 3 2 1 1].

Definition two_rungs_3 : join_case := JoinCase
  (FiniteModel 3 [:: true; false; false]
    [::
       ([::], [:: frac 2 7; frac 4 7; frac 1 7]);
       ([:: 1], [:: frac 1 1; frac 0 1; frac 0 1]);
       ([:: 1; 1], [:: frac 1 5; frac 4 5; frac 0 1]);
       ([:: 1; 2], [:: frac 3 7; frac 2 7; frac 2 7]);
       ([:: 2], [:: frac 1 2; frac 0 1; frac 1 2]);
       ([:: 2; 1], [:: frac 2 9; frac 4 9; frac 1 3]);
       ([:: 2; 2], [:: frac 1 1; frac 0 1; frac 0 1])]
    [:: frac 1 1; frac 0 1; frac 0 1])
  3 [:: 2; 3] [:: frac 2 5; frac 2 5; frac 1 5] 2 2
  [:: Stage 3 2 2 2].

Definition two_rungs_4 : join_case := JoinCase
  (FiniteModel 2 [:: true; false]
    [::
       ([::], [:: frac 2 5; frac 3 5]);
       ([:: 1], [:: frac 1 2; frac 1 2]);
       ([:: 1; 1], [:: frac 1 3; frac 2 3])]
    [:: frac 1 1; frac 0 1])
  2 [:: 2; 3] [:: frac 1 1; frac 0 1] 2 1
  [:: Stage 1 1 1 1; Stage 2 1 2 2].

Definition three_rungs_1 : join_case := JoinCase
  (FiniteModel 2 [:: false; true]
    [::
       ([::], [:: frac 4 7; frac 3 7]);
       ([:: 0], [:: frac 1 4; frac 3 4]);
       ([:: 0; 0], [:: frac 0 1; frac 1 1])]
    [:: frac 0 1; frac 1 1])
  3 [:: 1; 3; 5] [:: frac 2 3; frac 0 1; frac 1 3] 2 2
  [:: Stage 1 0 2 1; Stage 2 0 2 1; Stage 3 2 2 1].

Definition three_rungs_2 : join_case := JoinCase
  (FiniteModel 2 [:: true; false]
    [::
       ([::], [:: frac 1 2; frac 1 2]);
       ([:: 1], [:: frac 4 5; frac 1 5]);
       ([:: 1; 1], [:: frac 2 3; frac 1 3])]
    [:: frac 0 1; frac 1 1])
  2 [:: 2; 4; 6] [:: frac 1 2; frac 1 2] 2 1
  [:: Stage 1 0 2 2; Stage 2 2 2 1].

Definition three_rungs_3 : join_case := JoinCase
  (FiniteModel 2 [:: true; false]
    [::
       ([::], [:: frac 3 5; frac 2 5]);
       ([:: 1], [:: frac 4 7; frac 3 7]);
       ([:: 1; 1], [:: frac 1 2; frac 1 2])]
    [:: frac 1 1; frac 0 1])
  2 [:: 2; 4; 5] [:: frac 4 5; frac 1 5] 1 2
  [:: Stage 2 1 1 1].

(** Their models are models and their stages end at their horizons. *)
Theorem cases_are_sound : all case_is_sound [::
  four_state;
  two_rungs_1;
  two_rungs_2;
  two_rungs_3;
  two_rungs_4;
  three_rungs_1;
  three_rungs_2;
  three_rungs_3].
Proof. by vm_compute. Qed.
