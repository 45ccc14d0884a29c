#!/bin/sh
# Gives what `tempera exact` prints for the shipped models to the checker that is proved right
# (kernel_checker.v), which must accept it, and the same with one entry changed, which it must
# refuse; and a few refusals of other kinds.
# Usage: test_kernel_checker.sh TEMPERA   (run after make -C proofs)
set -u
tempera=$(readlink -f "$1")
cd "$(dirname "$0")"
models=../toy_models
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
accepted=0 refused=0 failures=0

# answer STATUS WHAT ARGUMENT…: the checker on $work/exact.json ends so (0 accepts, 1 refuses)
answer() {
  wanted=$1 what=$2
  shift 2
  checker/kernel_checker "$@" <"$work/exact.json" >"$work/log" 2>&1
  status=$?
  if [ $status -ne "$wanted" ]; then
    echo "WRONG: $what: exit code $status, not $wanted: $(cat "$work/log")"
    failures=$((failures + 1))
  elif [ "$wanted" -eq 0 ]; then
    accepted=$((accepted + 1))
  else
    refused=$((refused + 1))
  fi
}

# matrix_of KERNEL MODEL HORIZON POWER [RESTART]: its matrix is the kernel, and no other matrix is.
matrix_of() {
  kernel=$1 model=$models/$2 horizon=$3 power=$4 restart=${5:-}
  "$tempera" exact "$model" --horizon "$horizon" --power "$power" --kernel "$kernel" \
    ${restart:+--restart "$restart"} --json >"$work/exact.whole" || { failures=$((failures + 1)); return; }
  cp "$work/exact.whole" "$work/exact.json"
  answer 0 "$*" "$kernel" "$model" "$horizon" "$power" ${restart:+"$restart"}
  for place in 's/"matrix":\[\["\([^"]*\)"/"matrix":[["\1@"/' 's/\([^"]*\)"\]\],/\1@"]],/'; do
    sed "$place; s/\"0@\"/\"1\\/7\"/; s/\"\\([0-9]*\\)@\"/\"\\1\\/7\"/; s/\\/\\([0-9]*\\)@\"/\\/\\17\"/" \
      "$work/exact.whole" >"$work/exact.json"
    if cmp -s "$work/exact.whole" "$work/exact.json"; then
      echo "WRONG: no entry was changed: $*"
      failures=$((failures + 1))
    fi
    answer 1 "$* with an entry changed" "$kernel" "$model" "$horizon" "$power" ${restart:+"$restart"}
  done
}

# Every shipped use whose words can be counted out in a moment, at each of its powers.
while read -r file horizon powers restart; do
  for power in $(printf '%s\n' "$powers" | tr ',' ' '); do
    matrix_of fixed "$file" "$horizon" "$power" $restart
    [ -n "$restart" ] || matrix_of truncating "$file" "$horizon" "$power"
  done
done <<END
$(sed -nE 's/.*"file": "([^"]*)", "horizon": ([0-9]+), .*"powers": \[([^]]*)\](, "restart": \[([^]]*)\])?.*/\1 \2 \3 \5/p' \
  $models/models.json | tr -d '"' | sed 's/, */,/g' | awk '$2 <= 5' | sort -u)
END

# The right matrix of another kernel, and states that are not all of them.
"$tempera" exact $models/four_state.json --horizon 2 --power 2 --json >"$work/exact.json"
answer 1 "another power" fixed $models/four_state.json 2 3
answer 1 "another restart law" fixed $models/four_state.json 2 2 1/3,2/3
answer 1 "another kernel" truncating $models/four_state.json 2 2
"$tempera" exact $models/unequal_lengths.json --horizon 2 --power 2 --json |
  sed -E 's/"states":\["([^"]*)","([^"]*)"/"states":["\2","\1"/' >"$work/exact.json"
answer 1 "two states' names exchanged" fixed $models/unequal_lengths.json 2 2
echo '{"states": ["e", "a a"], "matrix": [["1", "0"], ["0", "1"]]}' >"$work/exact.json"
answer 1 "a state left out" fixed $models/four_state.json 2 2
echo '{"states": ["e", "a e", "a a", "e"], "matrix": []}' >"$work/exact.json"
answer 1 "a state twice" fixed $models/four_state.json 2 2
echo '{"states": ["e", "a e", "a a"], "matrix": [["7/8", "1/16", "1/16"], ["1/4", "3/8", "3/8"], ["2/8", "3/8", "0.375"]]}' \
  >"$work/exact.json"
answer 0 "the states in another order" fixed $models/four_state.json 2 2
echo '{"states": ["e", "a e", ' >"$work/exact.json"
answer 2 "a file that ends early" fixed $models/four_state.json 2 2

echo "the proved checker accepts $accepted matrices of tempera exact and refuses $refused others"
[ "$failures" -eq 0 ] && [ "$accepted" -gt 20 ]
