#!/bin/sh
# Fails when the guided reading names a theorem, a definition or a file that is not here.  A name
# without its file (`.name`) belongs to the file that the reading named last.
# Usage: check_reading.sh [READING.md]
set -eu
cd "$(dirname "$0")"
awk '
  FNR == 1 { file = FILENAME; sub(/.*\//, "", file); sub(/\.v$/, "", file); here[file] = 1 }
  FILENAME ~ /\.v$/ {
    if (match($0, /^ *(Theorem|Lemma|Corollary|Definition|Fixpoint|Inductive|Record) +[A-Za-z0-9_\047]+/)) {
      $0 = substr($0, RSTART, RLENGTH)
      stated[file "." $2] = 1
    }
    next
  }
  {
    line = $0
    while (match(line, /`[a-z0-9_]*\.[A-Za-z0-9_\047]+[ `]/)) {
      name = substr(line, RSTART + 1, RLENGTH - 2)
      line = substr(line, RSTART + RLENGTH)
      split(name, part, ".")
      if (part[1] != "") last = part[1]
      if (part[2] ~ /^(json|txt|md|sh|ml|hpp|cpp)$/) continue
      asked++
      if (part[2] == "v" ? part[1] in here : (last "." part[2]) in stated) continue
      print "proofs: " FILENAME ":" FNR " names " last "." part[2] ", which is not here" > "/dev/stderr"
      bad = 1
    }
  }
  END {
    if (!asked) { print "proofs: " FILENAME " names nothing" > "/dev/stderr"; exit 1 }
    if (!bad) print "proofs: the " asked " names in the guided reading are here"
    exit bad
  }' $(find . -name '*.v' | sort) "${1:-../docs/explanation/proofs.md}"
