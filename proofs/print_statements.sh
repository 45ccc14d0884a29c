#!/bin/sh
# Prints the type of every theorem that CLAIMS.json names, with implicit arguments, full names and
# section hypotheses, and below them a digest of every definition of ours that these types reach,
# since a statement says no more than the definitions that it is made of.  With --digests it prints a
# digest in place of each type: statements.txt pins those.  With --theorem NAME it prints one type.
# Refuses anything but opaque proofs of propositions.
# Usage: print_statements.sh [--digests | --theorem NAME] [CLAIMS.json]   (run after the proofs are compiled)
set -eu
cd "$(dirname "$0")"
form=whole only=
case ${1:-} in
  --digests) form=digests; shift ;;
  --theorem) form=one only=$2; shift 2 ;;
esac
claims=${1:-claims.json}
export LC_ALL=C

theorems=$(grep -o '"theorem"[[:space:]]*:[[:space:]]*"[^"]*"' "$claims" | sed 's/.*"\([^"]*\)"$/\1/' | sort -u)
globs=$(find . -name '*.glob' ! -name assumptions.glob ! -name statements.glob)
files=$(printf '%s\n' "$globs" | sed 's/.*\///; s/\.glob$//' | sort)
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

# What a file defines: "NAME OWNER", where a projection's or constructor's owner is its type.
for glob in $globs; do
  file=$(basename "$glob" .glob)
  awk -v file="$file" '
    /^(def|rec|ind|proj|constr) / { name = file "." ($3 == "<>" ? "" : $3 ".") $4 }
    /^(def|rec|ind) / { owner = name; print owner, owner }
    /^(proj|constr) / { print name, owner }' "$glob"
done | sort -u >"$work/defined"

# Nothing is imported: every name is printed with its file, and no notation of a library is active.
{
  for file in $files; do echo "From Tempera Require $file."; done
  echo 'Set Printing All. Set Printing Width 110. Set Printing Depth 100000.'
  for theorem in $theorems; do
    echo "Goal True. let t := type of @$theorem in let s := type of t in"
    echo "first [unify s Prop; idtac \"== $theorem\" | idtac \"== $theorem\"; idtac \"no proposition\"]. Abort."
    echo "About $theorem. Goal True. idtac \"::\". Abort. Check @$theorem."
  done
  for name in $(cut -d' ' -f2 "$work/defined" | sort -u); do
    echo "Goal True. idtac \"-- $name\". Abort. Print $name."
  done
} >"$work/statements.v"
if ! coqc $(grep -v '^-arg' _CoqProject) -w none "$work/statements.v" >"$work/answers"; then
  echo "proofs: a theorem named in $claims does not exist (see the error above)" >&2
  exit 1
fi

mkdir "$work/definitions" "$work/types"
awk -v defined="$work/defined" -v definitions="$work/definitions" -v types="$work/types" '
  function reach(text,   found, name) {   # queues the owners of the names in a text
    while (match(text, /[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_\047]*)+/)) {
      found = substr(text, RSTART, RLENGTH)
      # A library may be named in front of the file.
      text = substr(text, RSTART + index(found, "."))
      if (!(found in owner)) continue
      name = owner[found]
      if (name in seen) continue
      seen[name] = 1
      queue[++last] = name
    }
  }
  BEGIN { while ((getline line < defined) > 0) { split(line, f, " "); owner[f[1]] = f[2] } }
  /^== / { name = $2; part = "about"; theorem[++theorems] = name; next }
  /^::$/ { part = "type"; next }
  /^-- / { name = $2; part = "definition"; next }
  part == "about" && /^no proposition$/ { wrong[name] = "is not a proposition" }
  part == "about" && / is opaque$/ { opaque[name] = 1 }
  part == "type" { type[name] = type[name] $0 "\n" }
  part == "definition" && /^Arguments / { part = "arguments" }
  part == "definition" && NF { body[name] = body[name] $0 "\n" }
  END {
    for (i = 1; i <= theorems; i++) {
      name = theorem[i]
      if (!(name in opaque) && !(name in wrong)) wrong[name] = "is a definition, not a theorem"
      if (name in wrong) { print "proofs: " name " " wrong[name] > "/dev/stderr"; bad = 1 }
      printf "%s", type[name] >(types "/" name)
      close(types "/" name)
      reach(type[name])
    }
    for (next_one = 1; next_one <= last; next_one++) reach(body[queue[next_one]])
    for (i = 1; i <= last; i++) {
      printf "%s", body[queue[i]] >(definitions "/" queue[i])
      close(definitions "/" queue[i])
    }
    exit bad
  }' "$work/answers"

cd "$work/types"
case $form in
  one) cat -- "$only" ; exit ;;
  digests) sha256sum -- * | sed -E 's/^(.{16}).{48} .(.*)/== \2 \1/' ;;
  whole) for name in *; do echo "== $name"; cat -- "$name"; done ;;
esac
cd "$work/definitions"
sha256sum -- * | sed -E 's/^(.{16}).{48} .(.*)/-- \2 \1/'
