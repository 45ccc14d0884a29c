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
