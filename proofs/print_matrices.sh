#!/bin/sh
# Evaluates every case of join_cases.v and prints its matrices:
#   case NAME
#   matrix KERNEL ROWS COLUMNS      then one line of entries in lowest terms, with | between rows
# Rows and columns follow the order of states of `tempera exact`, joint states with rung 1 slowest.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
{
  echo 'From Coq Require Import ZArith.'
  echo 'From Tempera Require Import matrices join_cases.'
  echo 'Local Open Scope Z_scope. Set Printing Depth 10000000.'
  for name in $(sed -n 's/^Definition \([a-z_0-9]*\) : join_case.*/\1/p' cases/join_cases.v); do
    echo "Goal True. idtac \"case $name\". Abort. Eval vm_compute in printed $name."
  done
} >"$work/evaluated.v"
coqc -w none $(grep -v '^-arg' _CoqProject) "$work/evaluated.v" >"$work/out"

# [printed] gives one list per case: which matrix, its index, rows, columns, then numerators and
# denominators.  The list ends at its closing bracket.
awk '
  BEGIN { split("local- truncating- swap- ordered-sweep odd-layer even-layer transition progressive-law", kernel, " ") }
  function take(number) {
    if (head < 4) {
      header[++head] = number
      if (head < 4) return
      print "matrix " kernel[header[1] + 1] (header[1] < 3 ? header[2] + 1 : "") " " header[3] " " header[4]
      left = header[3] * header[4]
    } else if (!above) {
      above = 1
      numerator = number
      return
    } else {
      above = 0
      printf "%s", number == "1" ? numerator : numerator "/" number
      printf "%s", --left == 0 ? "\n" : left % header[4] == 0 ? " | " : " "
    }
    if (left == 0) head = 0
  }
  /^case / { print; head = above = 0; reading = 1; next }
  /^ *: / { reading = 0 }
  reading {
    gsub(/[^-0-9]+/, " ")
    for (i = 1; i <= split($0, numbers, " "); i++) take(numbers[i])
  }' "$work/out"
