(** * The checker as a program

    Writes checker/kernel_check.ml, what kernel_checker.v proves right, in OCaml.
    checker/main.ml reads the two JSON files and asks it.  What is trusted beyond the
    proof is Coq's extraction, OCaml and that reading.  Lists, pairs, options and
    booleans become OCaml's own; numbers stay the ones that the proof is about.     *)

From Coq Require Import ZArith Extraction ExtrOcamlBasic.
From Tempera Require Import finite_models kernel_checker.

(* That proofs of decidability, opaque to Coq, are extracted too is what is meant. *)
Set Warnings "-extraction-opaque-accessed,-extraction-reserved-identifier".
Extraction Language OCaml.
Extraction "checker/kernel_check.ml" check_fixed check_truncating FiniteModel frac Z.add Z.mul.
