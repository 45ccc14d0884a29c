#!/bin/sh
# check_claims.sh must pass on a sound development and fail on each planted defect:
# a missing theorem, an admitted one, an unlisted axiom, a variable standing in for a proof.
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
failures=0

# expect STATUS NAME THEOREM: compiles $work/toy.v, runs the check on a claim naming THEOREM.
expect() {
  cp "$here/check_claims.sh" "$work/"
  echo "-R . Tempera" >"$work/_CoqProject"
  : >"$work/allowed_axioms.txt"
  echo "[{\"id\": \"toy\", \"theorem\": \"$3\"}]" >"$work/claims.json"
  (cd "$work" && coqc -w none -R . Tempera toy.v) >/dev/null 2>&1
  if "$work/check_claims.sh" >"$work/log" 2>&1; then status=passes; else status=fails; fi
  if [ "$status" = "$1" ]; then
    echo "ok: $2: the check $status"
  else
    echo "WRONG: $2: the check $status"
    cat "$work/log"
    failures=$((failures + 1))
  fi
}

echo 'Theorem sound : 1 + 1 = 2. Proof. reflexivity. Qed.' >"$work/toy.v"
expect passes "a closed theorem" toy.sound
expect fails "a theorem that does not exist" toy.missing
expect fails "a file that does not exist" nowhere.sound

echo 'Theorem hole : 1 + 1 = 2. Proof. Admitted.' >"$work/toy.v"
expect fails "an admitted theorem" toy.hole

echo 'Axiom oracle : 1 + 1 = 3. Theorem cheat : 1 + 1 = 3. Proof. exact oracle. Qed.' >"$work/toy.v"
expect fails "an axiom in the source" toy.cheat

# An assumption that the source does not spell: it comes from a library.
echo 'Require Import Classical. Theorem middle : forall P : Prop, P \/ ~ P. Proof. exact classic. Qed.' \
  >"$work/toy.v"
expect fails "an unlisted axiom of a library" toy.middle

echo 'Variable claim : 1 + 1 = 3. Theorem borrowed : 1 + 1 = 3. Proof. exact claim. Qed.' >"$work/toy.v"
expect fails "a variable outside any section" toy.borrowed

[ "$failures" -eq 0 ]
