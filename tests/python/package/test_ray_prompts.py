"""Prompts for a cluster, read from a file: any letter may be in one, and a line ends at its newline alone. No Ray is needed."""
import itertools
import json

import pytest

from tempera import ray
from tempera.errors import BadInput

# str.splitlines ends a line at each of these. JSON escapes those below U+0020, the carriage return among them.
ENDS = [chr(code) for code in range(0x2030) if len(f"a{chr(code)}b".splitlines()) > 1]


def test_a_line_ends_at_its_newline_alone(tmp_path):
    assert "\u2028" in ENDS and "\x85" in ENDS
    prompts = [{"id": f"{number}{end}", "prompt": f"{end}a{end}b{end}"} for number, end in enumerate(ENDS)]
    prompts += [{"id": "talk", "messages": [{"role": "user", "content": "".join(ENDS)}]}]
    for is_ended in (True, False):
        file = tmp_path / "prompts.jsonl"
        file.write_text("\n".join(json.dumps(prompt, ensure_ascii=False) for prompt in prompts) + "\n" * is_ended, encoding="utf-8")
        assert ray.read_prompts(file) == prompts == ray.read_prompts(prompts)


@pytest.mark.parametrize("place", range(3))
def test_a_wrong_line_is_told_by_its_number(tmp_path, place):
    good = [json.dumps({"id": str(number), "prompt": "a\u2028b"}, ensure_ascii=False) for number in range(2)]
    for wrong, said in (("", "is not JSON"), ("{", "is not JSON"), ("1", "is not an id and a prompt"), ('{"id": "0"}', "is not an id and a prompt"),
                        ('{"id": 3, "prompt": "a"}', "is not an id and a prompt"), ('{"id": "2", "prompt": "a", "more": 1}', "is not an id and a prompt"),
                        ('{"id": "2", "messages": "a"}', "is not an id and a prompt")):  # fmt: skip
        file = tmp_path / "prompts.jsonl"
        file.write_text("\n".join([*good[:place], wrong, *good[place:]]) + "\n", encoding="utf-8")
        with pytest.raises(BadInput, match=rf"prompts.jsonl, (line|prompt) {place + 1}: {said}"):
            ray.read_prompts(file)
    for one, other in itertools.combinations(range(3), 2):
        twice = [{"id": str(number), "prompt": ""} for number in range(3)]
        twice[other]["id"] = twice[one]["id"]
        with pytest.raises(BadInput, match=f"^prompts, prompt {other + 1}: the id .* is there twice"):
            ray.read_prompts(twice)


@pytest.mark.parametrize("flags, said", [
    ([], "--model: is missing"), (["--power", "2"], "--model: is missing"), (["x--model", "m"], "--model: is missing"), (["--model-name=m"], "--model: is missing"),
    *((["--model", "m", flag], f"{flag}: is not for blocks") for flag in ("--out", "--resume", "--shard", "--prompts", "--prompt-file", "--json", "--summary", "--out=x")),
    (["--model", "m", "--samples", "3"], None), (["--model=m"], None), (["--outs", "--model", "m"], None),
])  # fmt: skip
def test_flags_say_what_is_drawn_and_not_where(flags, said):
    if said is None:
        assert ray._check_flags(flags) == flags
    else:
        with pytest.raises(BadInput, match=f"^{said}"):
            ray._check_flags(flags)


DRAWS = """#!/bin/sh
echo "$@" >> {log}
for word; do
  if [ "$before" = --prompts ]; then prompts=$word; fi
  if [ "$before" = --out ]; then out=$word; fi
  before=$word
done
turn=$(wc -l < {log})
{act}
mkdir "$out"
while read -r line; do for sample in 0 1 2; do echo "$line $sample"; done; done < "$prompts" > "$out/samples.jsonl"
"""


def device(tmp_path, act=""):
    script, log = tmp_path / "tempera", tmp_path / "log"
    script.write_text(DRAWS.format(log=log, act=act))
    script.chmod(0o700)
    return ray._Device(str(script), ["--model", "m", "--samples", "3"]), log


def block(*places):
    return {"place": list(places), "prompt": [json.dumps({"id": str(place), "prompt": "a"}) for place in places]}


def test_a_device_gives_each_line_the_place_of_its_prompt_and_its_sample(tmp_path):
    drawn, log = device(tmp_path)
    asked = block(4, 2, 7)
    expected = [(place, sample, f"{line} {sample}") for place, line in zip(asked["place"], asked["prompt"]) for sample in range(3)]
    found = drawn(asked)
    assert list(zip(found["place"], found["sample"], found["line"], strict=True)) == expected
    words = log.read_text().split()
    assert words[0] == "sample" and words[words.index("--shard") + 1] == "none" and words[-4:] == ["--model", "m", "--samples", "3"]


@pytest.mark.parametrize("kills", range(5))
def test_a_block_whose_process_a_signal_ends_is_begun_three_times(tmp_path, kills):
    drawn, log = device(tmp_path, f'[ "$turn" -gt {kills} ] || kill -9 $$')
    if kills < 3:
        assert len(drawn(block(1, 2))["line"]) == 6
    else:
        with pytest.raises(RuntimeError, match="was ended by signal 9$"):
            drawn(block(1, 2))
    runs = [line.split()[line.split().index("--out") + 1] for line in log.read_text().splitlines()]
    assert len(runs) == len(set(runs)) == min(kills + 1, 3)  # each in a folder of its own


@pytest.mark.parametrize("code", [0, 1, 2, 3])
def test_a_refusal_is_told_by_its_last_line_and_any_other_failure_raised(tmp_path, code):
    drawn, log = device(tmp_path, f"echo first >&2; echo 'tempera: the reason' >&2; [ {code} = 0 ] || exit {code}")
    if code == 2:
        assert drawn(block(5, 6)) == {"place": [5], "sample": [-1], "line": ["the reason"]}
    elif code == 0:
        assert len(drawn(block(5, 6))["line"]) == 6
    else:
        with pytest.raises(RuntimeError, match="^tempera: the reason$"):
            drawn(block(5, 6))
        silent, _ = device(tmp_path, f"exit {code}")
        with pytest.raises(RuntimeError, match=f"ended with exit code {code}$"):
            silent(block(5))
    assert len(log.read_text().splitlines()) == (2 if code in (1, 3) else 1)


def test_lines_are_in_the_order_of_prompts_and_samples_however_blocks_end(tmp_path, monkeypatch):
    rows = [{"place": place, "sample": sample, "line": f"{place}.{sample}"} for place in range(3) for sample in range(2)]
    layouts = []

    class Dealt(list):
        def iter_rows(self):
            return iter(self)

    def dealt(listed, flags, command, **layout):
        layouts.append((listed, flags, command, layout))
        return Dealt(reversed(rows))

    monkeypatch.setattr(ray, "_blocks", dealt)
    prompts = [{"id": str(place), "prompt": "a"} for place in range(3)]
    out = tmp_path / "lines"
    expected = [f"{place}.{sample}" for place in range(3) for sample in range(2)]
    assert ray.sample(prompts, ["--model", "m"], out=out, devices=2, block=3, gpus=0.5, cpus=2, command="x") == expected
    assert out.read_text() == "".join(line + "\n" for line in expected) and [file.name for file in tmp_path.iterdir()] == ["lines"]
    assert layouts == [(prompts, ["--model", "m"], "x", {"devices": 2, "block": 3, "gpus": 0.5, "cpus": 2})]
    assert list(ray.iterate(prompts, ["--model", "m"])) == rows[::-1]
    assert layouts[1] == (prompts, ["--model", "m"], None, {"devices": None, "block": 8, "gpus": 0, "cpus": 1})
    rows[2] = {"place": 1, "sample": -1, "line": "the reason"}
    with pytest.raises(BadInput, match="^the reason$"):
        ray.sample(prompts, ["--model", "m"], out=tmp_path / "more")
    assert not (tmp_path / "more").exists()
    rows[2] = {"place": 1, "sample": 0, "line": "1.0"}
    with pytest.raises(BadInput, match="/none/lines: cannot be written"):
        ray.sample(prompts, ["--model", "m"], out=tmp_path / "none/lines")
    for wrong in ({"block": 0}, {"devices": 0}, {"gpus": -0.5}, {"cpus": -1}, {"cpus": float("nan")}, {"command": ""}):
        with pytest.raises(BadInput, match=f"^{next(iter(wrong))}: "):
            list(ray.iterate(prompts, ["--model", "m"], **wrong))


def test_a_prompt_is_an_id_and_a_text_or_messages():
    good = [{"id": "a", "prompt": ""}, {"id": "", "messages": [{"role": "user", "content": "x"}]}, {"id": "b", "messages": [{"role": "a", "content": ""}, {"role": "b", "content": "y"}]}]
    assert ray.read_prompts(good) == good
    for wrong in ({"id": "a"}, {"prompt": "a"}, {"id": 1, "prompt": "a"}, {"id": "a", "prompt": 1}, {"id": "a", "prompt": "b", "messages": []}, {"id": "a", "messages": "b"}, [], "a", None):
        with pytest.raises(BadInput, match="^prompts, prompt 4: is not an id and a prompt"):
            ray.read_prompts([*good, wrong])
    for none in ([], ()):
        with pytest.raises(BadInput, match="^prompts: holds no prompt"):
            ray.read_prompts(none)
