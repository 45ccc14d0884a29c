# A run of sums that takes some seconds, and what a run leaves, byte for byte: for the tests of this folder.
set -euo pipefail
cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../.."
tempera=$(readlink -f "${TEMPERA:-build/release/tempera}")
page_file=$PWD/docs/howto/machines.md
work=$(mktemp -d /tmp/tempera-machines-XXXXXX)
# Whatever launcher runs this test says nothing of the runs in it.
for name in $(compgen -e | grep -E '^(SLURM_|OMPI_|PMI_|PMIX_)' || true); do unset "$name"; done

python3 - >"$work/sums.jsonl" <<'PROMPTS'
import json
for n in range(12):
    print(json.dumps({"id": f"sum {n}", "prompt": "+".join(str((n * k) % 10) for k in range(1, 3 + n % 3)) + "?"}))
PROMPTS
drawn=(--prompts "$work/sums.jsonl" --model toy_models/worked_sum --powers 1,1.6,2.5,4 --horizon 28 --block 4
  --rounds "${ROUNDS:-10}" --samples 2 --seed 5)

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

single() { "$tempera" sample "${drawn[@]}" --shard none --out "$work/single" >/dev/null; }

# same_run FOLDER: it holds what the single run left, but for what was measured.
same_run() {
  diff -rq --exclude speed.json "$work/single" "$1" || fail "$1 is not the single run"
}

# begun FOLDER: waits until a shard's run is under way.
begun() {
  for _ in $(seq 6000); do
    if compgen -G "$1/journal-*" >/dev/null || [ -s "$1/samples.jsonl" ]; then return 0; fi
    sleep 0.1
  done
  fail "$1 did not begin"
}

# page_with BIN: from now on `tempera` is a command, and the page's FOLDER a model.
page_with() {
  mkdir -p "$1"
  ln -s "$tempera" "$1/tempera"
  export PATH=$1:$PATH
  model=$PWD/toy_models/worked_sum
}

# page_block TEXT [MODEL]: the code block of docs/howto/machines.md that holds this text.
page_block() {
  python3 - "$1" "${2:-$model}" "$page_file" <<'BLOCK'
import pathlib, re, sys
blocks = re.findall(r"```\n(.*?)```\n", pathlib.Path(sys.argv[3]).read_text(), re.S)
found = [block for block in blocks if sys.argv[1] in block]
if len(found) != 1:
    sys.exit(f"{len(found)} blocks of docs/howto/machines.md hold {sys.argv[1]!r}")
print(found[0].replace("FOLDER", sys.argv[2]), end="")
BLOCK
}
