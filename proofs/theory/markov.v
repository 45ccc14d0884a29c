(** * Finite laws and Markov kernels over an ordered field

    Everything here is a plain function into a [realFieldType]; equality of laws
    is pointwise ([=1]), so no axiom is needed.  Kernels act on laws from the
    right, as in the paper.

    Interface
    - [law mu]                 mu is a probability law on the finType S
    - [kernel P]               every row of P : S -> T -> R is a law
    - [act mu P]               the law mu P
    - [compk P Q]              P then Q;  [idk] the identity;  [iterk n P] = P^n
    - [ordered s W]            W_{s_1} W_{s_2} ..., the first of s applied first
    - [run n mu P]             mu P^n
    - [invariant mu P]         mu P =1 mu;   [reversible mu P] detailed balance
    - [mixk w P]               the mixture sum_j w_j P_j
    - [prob mu A]              mu(A);  [tv mu nu] total variation, half the l1 norm
    - [accept pi q x y], [mh pi q]   Metropolis-Hastings with target pi, proposal q
    - [product pi], [prodk L]  product law and product kernel on {ffun I -> S}
    - [marginal i mu]          the marginal of a joint law at rung i            *)

From Tempera Require Export kernels total_variation metropolis_hastings rungs.
