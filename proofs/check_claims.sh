#!/bin/sh
# Fails when a theorem named in claims.json is missing, admitted, no theorem, rests on an assumption
# that allowed_axioms.txt does not list, or says anything but what statements.txt pins; and when
# coqchk does not accept the compiled files.  Writes assumptions.txt, one block per theorem.
# Usage: check_claims.sh [CLAIMS.json [ALLOWED.txt [STATEMENTS.txt]]]   (run after the proofs are compiled)
set -eu
cd "$(dirname "$0")"
claims=${1:-claims.json}
allowed=${2:-allowed_axioms.txt}
statements=${3:-statements.txt}

# A proof that is cut short, or a statement that stands in for one, is refused in the source:
# Print Assumptions would only see it where a claim names it.
if grep -nE '\b(Admitted|admit|Axioms?|Parameters?|Conjecture|bypass_check)\b|Unset +(Guard|Positivity|Universe) +Checking' \
    $(find . -name '*.v' ! -name assumptions.v | sort); then
  echo "proofs: the lines above leave something unproved" >&2
  exit 1
fi

theorems=$(grep -o '"theorem"[[:space:]]*:[[:space:]]*"[^"]*"' "$claims" | sed 's/.*"\([^"]*\)"$/\1/' | sort -u)
if [ -z "$theorems" ]; then
  echo "proofs: $claims names no theorem" >&2
  exit 1
fi

{
  for file in $(printf '%s\n' "$theorems" | cut -d. -f1 | sort -u); do
    echo "From Tempera Require $file."
  done
  for theorem in $theorems; do
    echo "Goal True. idtac \"== $theorem\". Abort."
    echo "Print Assumptions $theorem."
  done
} >assumptions.v

if ! coqc $(grep -v '^-arg' _CoqProject) assumptions.v >assumptions.txt; then
  echo "proofs: a theorem named in $claims does not exist (see the error above)" >&2
  exit 1
fi

# allowed_axioms.txt: "<file> <axiom>" per line; '#' starts a comment.
awk -v allowed="$allowed" -v asked="$(printf '%s\n' "$theorems" | wc -l)" '
  BEGIN {
    while ((getline line < allowed) > 0) {
      sub(/#.*/, "", line)
      if (split(line, f, /[ \t]+/) >= 2 && f[1] != "") ok[f[1] " " f[2]] = 1
    }
  }
  /^== / { theorem = $2; split(theorem, part, "."); file = part[1]; named++; next }
  /^Closed under the global context/ { closed++; answered++; next }
  /^Axioms:$/ { answered++; next }
  /^[A-Za-z_]/ {
    axiom = $1
    if ((file " " axiom) in ok) next
    print "proofs: " theorem " rests on the unlisted assumption " axiom > "/dev/stderr"
    bad = 1
  }
  END {
    if (named != asked || answered != asked) {
      print "proofs: asked for " asked " theorems, Coq answered for " answered + 0 > "/dev/stderr"
      bad = 1
    }
    print "proofs: " named " theorems, " closed + 0 " closed under the global context, " \
          named - closed " on listed axioms"
    exit bad
  }' assumptions.txt

# A theorem that is new, gone or says something else shows here, and so does a changed definition.
./print_statements.sh --digests "$claims" >statements.new
if ! diff "$statements" statements.new >statements.difference; then
  head -n 40 statements.difference >&2
  echo "proofs: the digests above (> now, < pinned) are not those of $statements; ./print_statements.sh prints" \
       "what is proved now; if it is meant, run: make -C proofs statements" >&2
  exit 1
fi
rm statements.new statements.difference
echo "proofs: every statement is the one that $statements pins"

# The kernel's independent checker reads every file of ours again.  -norec: the libraries below them
# are taken as they are, because checking all of mathcomp takes longer than all proofs.
modules=$(find . -name '*.vo' | sed 's/.*\///; s/\.vo$//' | grep -vx assumptions)
if ! coqchk -silent -o $(grep -v '^-arg' _CoqProject) $(printf -- '-norec Tempera.%s ' $modules) >coqchk.log 2>&1; then
  cat coqchk.log >&2
  echo "proofs: coqchk refuses a compiled file" >&2
  exit 1
fi
if grep -n '^ *Tempera\.' coqchk.log >&2 || [ "$(grep -cE '(type-in-type|fixpoints|assumed): <none>$' coqchk.log)" -ne 3 ]; then
  echo "proofs: coqchk finds an axiom or an unsafe definition in our files (coqchk.log)" >&2
  exit 1
fi
rm coqchk.log
echo "proofs: coqchk accepts $(printf '%s\n' "$modules" | wc -l) files"
