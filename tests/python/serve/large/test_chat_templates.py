"""Published chat templates (those that trl's wheel holds): the same texts and the same refusals as transformers' own."""
import datetime
import json
import random
import subprocess
import sys
import zipfile

import jinja2
import pytest
from transformers.utils import chat_template_utils

from conftest import TREE

sys.path.insert(0, str(TREE / "python/tempera"))
import template_engine  # noqa: E402: the package itself may not be built here

CONVERSATIONS = 1_000
DATE = "2026-11-28"
TOKENS = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<p>"}
TOOL = {"type": "function", "function": {"name": "f", "description": "d <x>", "parameters": {
    "type": "object", "properties": {"z": {"type": "string", "description": "q"}, "a": {"type": "integer"}}, "required": ["z"]}}}
PIECES = ["Hi", "  a ", "\n", "<think>", "</think>", "\n</think>\n\n", "é", "漢", "<tool_response>", "</tool_response>", "<|im_end|>", "{{ x }}", "",
          " \t", "\u00a0", "'q'", '"']  # fmt: skip


class Clock(datetime.datetime):
    @classmethod
    def now(cls, tz=None):
        return cls.fromisoformat(DATE)


@pytest.fixture(scope="module")
def templates(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trl")
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", folder, "trl==1.16.0"], check=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        texts = {name: archive.read(name).decode().removesuffix("\n") for name in sorted(archive.namelist()) if name.endswith(".jinja")}
    return {text: name for name, text in texts.items()}


def conversation(numbers):
    """Turns in the usual order, more often than not; else of any roles."""
    is_usual, messages = numbers.random() < 0.6, []
    for turn in range(numbers.randint(1, 6)):
        usual = "system" if turn == 0 and numbers.random() < 0.4 else ["user", "assistant"][sum(m["role"] != "system" for m in messages) % 2]
        role = usual if is_usual else numbers.choice(["system", "user", "assistant", "tool", "developer", "user"])
        messages.append({"role": role, "content": "".join(numbers.choice(PIECES) for _ in range(numbers.randint(0, 5)))})
    return messages


def by_transformers(source, messages, arguments):
    try:
        return chat_template_utils.render_jinja_template([messages], chat_template=source, add_generation_prompt=True, **{"tools": None, **TOKENS, **arguments})[0][0]
    except jinja2.TemplateError as error:
        return ("refused", str(error))
    except Exception as error:
        return ("fails", type(error).__name__)


def test_conversations_read_as_transformers_renders_them(templates, monkeypatch):
    monkeypatch.setattr(chat_template_utils, "datetime", Clock)
    assert len(templates) >= 60
    texts = 0
    for source, name in templates.items():
        numbers = random.Random(name)
        read = template_engine._compiled(source)[1]
        for _ in range(CONVERSATIONS):
            messages, arguments = conversation(numbers), {}
            for argument, values in (("enable_thinking", (True, False)), ("thinking", (True, False)), ("reasoning_effort", ("low", "high")), ("tools", ([TOOL],))):
                if argument in read and numbers.random() < 0.4:
                    arguments[argument] = numbers.choice(values)
            theirs = by_transformers(source, messages, arguments)
            clock = {"strftime_now": DATE} if "strftime_now" in read else {}
            ours = json.loads(template_engine.answer(json.dumps({"template": source, "messages": messages, "tokens": TOKENS, "arguments": {**arguments, **clock}})))
            if isinstance(theirs, str):
                texts += 1
                assert ours == {"text": theirs}, (name, messages, arguments)
            else:
                assert ours["line"].endswith(theirs[1]) or theirs[1] in ours["line"], (name, messages, arguments, ours, theirs)
    assert texts > CONVERSATIONS * len(templates) // 2
