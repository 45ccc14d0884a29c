#!/bin/sh
# Evaluates the matrices of matrices.v and prints them:
#   matrix MODEL horizon T power A kernel K     one header per matrix
#   ROW COLUMN NUMERATOR/DENOMINATOR            lowest terms, "0" and "1" without a bar
# Rows and columns follow the order of states of `tempera exact`.
set -eu
cd "$(dirname "$0")"

one() {
  echo "matrix $1 horizon $2 power $3 kernel $4"
  work=$(mktemp -d)
  cat >"$work/evaluated.v" <<END
From mathcomp Require Import all_ssreflect.
From Tempera Require Import matrices.
Eval vm_compute in printed ($4_matrix ${1%.json}_model $2 $(($3 - 1))).
END
  coqc -w none -R . Tempera "$work/evaluated.v" >"$work/out"
  # (0, 1, BinNums.Zpos 3%AC, 8%AC) becomes "0 1 3/8"; a negative entry would be left as Zneg.
  tr '\n' ' ' <"$work/out" |
    sed 's/%[A-Za-z]*//g; s/BinNums\.//g; s/Zpos //g; s/Z0/0/g; s/^[^[]*\[:: *//; s/\].*//; s/; */\n/g' |
    sed 's/[() ]//g; s/^\([0-9]*\),\([0-9]*\),\([^,]*\),\([0-9]*\)$/\1 \2 \3\/\4/; s/\/1$//'
  echo
  rm -r "$work"
}

one four_state.json 2 2 fixed
one four_state.json 2 2 truncating
one joined.json 3 3 fixed
one joined.json 3 3 truncating
