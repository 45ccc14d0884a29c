#!/bin/sh
# check_claims.sh must pass on a sound development and fail on each planted defect, for its own
# reason: a missing theorem, an admitted one, an unlisted axiom, a variable standing in for a proof,
# and statements that have eroded since they were pinned.  check_reading.sh must refuse a reading
# that names what is not there.
set -u
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
failures=0

cp "$here/check_claims.sh" "$here/check_reading.sh" "$here/print_statements.sh" "$work/"
echo "-R . Tempera" >"$work/_CoqProject"
: >"$work/allowed_axioms.txt"

# written THEOREM SOURCE: $work/toy.v compiled, and a claim that names THEOREM.
written() {
  echo "[{\"id\": \"toy\", \"theorem\": \"$1\"}]" >"$work/claims.json"
  printf '%s\n' "$2" >"$work/toy.v"
  rm -f "$work/toy.vo"
  (cd "$work" && coqc -w none -R . Tempera toy.v) >/dev/null 2>&1
}

# expect STATUS NAME THEOREM SOURCE REASON: the check ends so, and REASON is among what it prints.
expect() {
  written "$3" "$4"
  if "$work/check_claims.sh" >"$work/log" 2>&1; then status=passes; else status=fails; fi
  if [ "$status" = "$1" ] && grep -q -- "$5" "$work/log"; then
    echo "ok: $2: the check $status"
  else
    echo "WRONG: $2: the check $status"
    cat "$work/log"
    failures=$((failures + 1))
  fi
}

sound='Definition two := 2. Theorem sound : 1 + 1 = two. Proof. reflexivity. Qed.'
written toy.sound "$sound"
"$work/print_statements.sh" --digests >"$work/statements.txt" || failures=$((failures + 1))
expect passes "a closed theorem" toy.sound "$sound" 'coqchk accepts 1 files'
expect fails "a theorem that does not exist" toy.missing "$sound" 'does not exist'
expect fails "a file that does not exist" nowhere.sound "$sound" 'does not exist'

expect fails "an admitted theorem" toy.sound \
  'Definition two := 2. Theorem sound : 1 + 1 = two. Proof. Admitted.' 'leave something unproved'
expect fails "an axiom in the source" toy.sound \
  'Axiom oracle : 1 + 1 = 3. Theorem sound : 1 + 1 = 3. Proof. exact oracle. Qed.' 'leave something unproved'

# An assumption that the source does not spell: it comes from a library.
expect fails "an unlisted axiom of a library" toy.sound \
  'Require Import Classical. Theorem sound : forall P : Prop, P \/ ~ P. Proof. exact classic. Qed.' \
  'unlisted assumption Classical_Prop.classic'
expect fails "a variable outside any section" toy.sound \
  'Definition two := 2. Variable claim : 1 + 1 = two. Theorem sound : 1 + 1 = two. Proof. exact claim. Qed.' \
  'unlisted assumption'
# Not under a name that a claim mentions: only coqchk reads it.
expect fails "a variable that no named theorem uses" toy.sound "$sound Variable claim : 1 = 2." \
  'coqchk finds an axiom'

# Statements that have eroded: each of these is proved and rests on nothing.
pinned='run: make -C proofs statements'
expect fails "a theorem that has become True" toy.sound \
  'Theorem sound : True. Proof. exact I. Qed.' "$pinned"
expect fails "a section whose hypothesis is false" toy.sound \
  'Definition two := 2. Section S. Hypothesis absurd : 1 = 2.
   Theorem sound : 1 + 1 = two. Proof using absurd. reflexivity. Qed. End S.' "$pinned"
expect fails "a definition under the theorem's name" toy.sound \
  'Definition two := 2. Definition sound : 1 + 1 = two := eq_refl.' 'is a definition, not a theorem'
expect fails "a theorem that is not a proposition" toy.sound \
  'Theorem sound : nat. Proof. exact 2. Qed.' 'is not a proposition'
expect fails "a definition that the statement is made of" toy.sound \
  'Definition two := 1 + 1. Theorem sound : 1 + 1 = two. Proof. reflexivity. Qed.' "$pinned"
expect fails "a theorem that is not pinned yet" toy.another \
  "$sound Theorem another : 2 + 2 = 4. Proof. reflexivity. Qed." "$pinned"

# The guided reading.
reading() {
  printf '%s\n' "$3" >"$work/reading.md"
  if "$work/check_reading.sh" reading.md >"$work/log" 2>&1; then status=passes; else status=fails; fi
  if [ "$status" = "$1" ]; then
    echo "ok: a reading that names $2: the check $status"
  else
    echo "WRONG: a reading that names $2: the check $status"
    cat "$work/log"
    failures=$((failures + 1))
  fi
}
written toy.sound 'Definition two := 2.
Theorem sound : 1 + 1 = two. Proof. reflexivity. Qed.'
reading passes "what is here" 'In `toy.v`: `toy.sound`, with `.two` (`other.json`).'
reading fails "a theorem that is not here" '`toy.sound` and `toy.missing`'
reading fails "a theorem of another file" '`toy.sound` and `other.sound`'
reading fails "a missing theorem of the file named last" '`toy.sound` and `.missing n k`'
reading fails "a file that is not here" '`toy.sound` in `other.v`'
reading fails "nothing" 'toy.sound'

[ "$failures" -eq 0 ]
