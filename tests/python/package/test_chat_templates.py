"""Chat templates: what a template may do, Jinja2 in this process beside the command's child, and what a run keeps of it."""
import json
import os
import shutil
import subprocess
import sys

import pytest
from conftest import TEMPERA, TREE, WORKED_SUM, command

import tempera
from tempera import template_engine

ENGINE = TREE / "python/tempera/template_engine.py"
# Letters and digits that the small model of sums has tokens for.
TEMPLATE = "{% for m in messages %}{{ m.content }}{% if mark is defined %}{{ mark }}{% endif %}{% endfor %}{{ strftime_now('%d') if strftime_now is defined }}"
HELD = """
import sys
sys.path.insert(0, {folder!r})
import ctypes, os, signal, socket, template_engine
libc = ctypes.CDLL(None, use_errno=True)
tries = dict(
    read=lambda: open({file!r}).read(), write=lambda: open("x", "w"), connect=lambda: socket.socket(), fork=os.fork,
    run=lambda: os.execv("/bin/true", ["true"]), kill=lambda: os.kill(1, 0), folder=lambda: os.listdir("/"), sleep=lambda: __import__("time").sleep(9e9),
    thread=lambda: __import__("threading").Thread(target=print).start(), limit=lambda: __import__("resource").setrlimit(7, (99, 99)),
    memory=lambda: bytearray(1 << 30), filter=lambda: libc.prctl(4, 0, 0, 0, 0) == 0 or os.open("/", 0))
import resource, threading, time
template_engine._give_up_rights(512)
for name, attempt in tries.items():
    try:
        attempt()
    except (OSError, MemoryError, RuntimeError, ValueError):
        os.write(1, f"{{name}} ".encode())
os.write(1, b"environment" if not os.environ else b"")
"""


def test_the_child_can_reach_nothing(tmp_path):
    """Not the sandbox but the kernel: whatever code ran there, it could not read, write, connect, start or end anything."""
    secret = tmp_path / "secret"
    secret.write_text("secret")
    source = HELD.format(folder=str(ENGINE.parent), file=str(secret))
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, cwd=tmp_path, timeout=600)
    assert done.stdout.split() == ["read", "write", "connect", "fork", "run", "kill", "folder", "sleep", "thread", "limit", "memory", "filter",
                                   "environment"], done.stderr
    assert not (tmp_path / "x").exists()


VALUES = ["é", "日", "\u2028", {"b": [1, "ä"], "a": None}, [1.5, True], "<&'>", ""]


def test_what_a_template_is_given_and_writes_is_what_transformers_gives_it():
    """A user's argument wins over a token of its name, tools and documents are none, and tojson writes letters as they are."""
    def rendered(source, **arguments):
        return template_engine.render(source, [], {"bos_token": "<s>", "eos_token": "</s>"}, arguments)

    assert rendered("{{ bos_token }}{{ eos_token }}{{ tools is none }}{{ documents is none }}{{ add_generation_prompt }}") == "<s></s>TrueTrueTrue"
    for name in ("bos_token", "eos_token", "tools", "documents"):
        assert rendered(f"{{{{ {name} }}}}", **{name: "own"}) == "own"
    for value in VALUES:
        assert rendered("{{ x | tojson }}", x=value) == json.dumps(value, ensure_ascii=False)
        for name, given in (("ensure_ascii", True), ("indent", 2), ("separators", [",", ":"]), ("sort_keys", True)):
            expected = json.dumps(value, **{"ensure_ascii": False, name: given})
            assert rendered(f"{{{{ x | tojson({name}=y) }}}}", x=value, y=given) == expected


def answered(template, messages=(), tokens=None, arguments=None):
    return json.loads(template_engine.answer(json.dumps({"template": template, "messages": list(messages), "tokens": tokens or {}, "arguments": arguments or {}})))


@pytest.mark.parametrize("template, arguments, kind, line", [
    ("{{ raise_exception('only users') }}", {}, "refused", "only users"), ("a\n\n{% if %}", {}, "template", "line 3: "), ("{{ 1 / 0 }}", {}, "template", "ZeroDivisionError: division by zero"),
    ("{{ none_such.x }}", {}, "template", "'none_such' is undefined"), ("{{ strftime_now('%d') }}", {}, "date", "'strftime_now' is undefined"),
    ("{{ strftime_now('%d') }}", {"strftime_now": "today"}, "date", "'today' is not a date"), ("{{ strftime_now('%d') }}", {"strftime_now": 5}, "date", "5 is not a date"),
    ("{{ b }}{{ a }}{{ messages }}{{ add_generation_prompt }}{{ bos_token }}{{ range(2) }}{{ strftime_now }}{% set c = 1 %}{{ c }}", {"d": 1}, "argument", json.dumps(["d", "a", "b"])),
    ("{{ ''.__class__.__mro__ }}", {}, "template", "SecurityError"), ("{{ namespace(_x=1) }}", {}, "template", "SecurityError: a namespace holds no attribute '_x'"),
    ("{% set n = namespace() %}{% set n._x = 1 %}", {}, "template", "SecurityError"), ("{{ [1] | random }}", {}, "template", "random"), ("{{ lipsum() }}", {}, "template", "lipsum"),
    ("{{ dict.__class__.__mro__ }}", {}, "template", "SecurityError"), ("{{ messages.append(1) }}", {}, "template", "SecurityError"),
])  # fmt: skip
def test_what_a_template_cannot_do_is_a_kind_and_a_line(template, arguments, kind, line):
    said = answered(template, tokens={"bos_token": "<s>"}, arguments=arguments)
    assert said["kind"] == kind and line in said["line"] and set(said) == {"kind", "line"}, said


def test_what_a_template_does_is_what_transformers_lets_it_do():
    messages = [{"role": "user", "content": "x"}, {"role": "assistant", "content": "y"}]
    for template, expected in (
        ("{% for m in messages %}{% if loop.last %}{% break %}{% endif %}{{ m.role }}{% endfor %}", "user"), ("{% for m in messages %}{% if loop.first %}{% continue %}{% endif %}{{ m.role }}{% endfor %}", "assistant"),
        ("{% generation %}{{ messages[1].content }}{% endgeneration %}!", "y!"), ("  {% if true %}\n  a\n  {% endif %}\nb", "  a\nb"),
        ("{% set n = namespace(x=1) %}{% for m in messages %}{% set n.x = n.x + 1 %}{% endfor %}{{ n.x }}", "3"), ("{{ dict(a=1).a }}{{ dict.fromkeys('ab', 2)['b'] }}", "12"),
        ("{{ namespace({'a': 4}, b=5).a }}", "4"), ("{{ strftime_now is defined }}", "False"),
    ):  # fmt: skip
        assert answered(template, messages) == {"text": expected}, template
    for date, expected in (("2026-11-09", "09 11 26 00"), ("2026-11-09T17:30", "09 11 26 17")):
        assert answered("{{ strftime_now('%d %m %y %H') }}", arguments={"strftime_now": date}) == {"text": expected}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The small model of sums, with a chat template of its own."""
    path = tmp_path_factory.mktemp("model") / "sums"
    shutil.copytree(WORKED_SUM, path)
    (path / "tokenizer_config.json").write_text(json.dumps({"chat_template": [{"name": "tool_use", "template": "x"}, {"name": "default", "template": TEMPLATE}]}))
    return path


def test_package_and_command_draw_the_same(folder, tmp_path):
    """Answers, and config.json with the template's digest and the arguments; --resume asks no template again."""
    messages = tmp_path / "messages.json"
    messages.write_text(json.dumps([{"role": "user", "content": "4+"}, {"role": "poet", "content": "7"}]))
    arguments = {"mark": "9", "strftime_now": "2026-11-28"}
    wishes = dict(powers=[1, 2], horizon=8, block=4, rounds=2, seed=3)
    with pytest.warns(UserWarning, match="none of those that tempera is tested with"):
        model = tempera.Model.open(folder)
        (answer,) = model.sample([{"role": "user", "content": "4+"}, {"role": "poet", "content": "7"}], out=tmp_path / "python",
                                 chat_template_kwargs=arguments, **wishes)
    command("sample", "--model", folder, "--messages", messages, "--chat-template-kwargs", json.dumps(arguments), "--powers", "1,2", "--horizon", 8,
            "--block", 4, "--rounds", 2, "--seed", 3, "--out", tmp_path / "command")
    configs = [(tmp_path / name / "config.json").read_bytes() for name in ("python", "command")]
    assert configs[0] == configs[1]
    config = json.loads(configs[0])
    assert config["chat_template_kwargs"] == arguments and config["chat_template"]["tested"] is False
    assert config["prompt"] == model.encode("4+97928")
    assert tempera.RunFolder(tmp_path / "command").answers() == [answer]
    # The tokens are in the folder: what goes on needs no template, and no Python.
    shutil.copytree(tmp_path / "command", tmp_path / "again")
    shown = subprocess.run([TEMPERA, "sample", "--resume", tmp_path / "again"], capture_output=True, text=True, env={"PATH": "/nowhere"})
    assert shown.returncode == 0, shown.stderr
    with pytest.raises(tempera.BadInput, match="chat_template_kwargs"):
        model.sample([{"role": "user", "content": "4+"}, {"role": "poet", "content": "7"}], out=tmp_path / "python", resume=True,
                     chat_template_kwargs={**arguments, "mark": "8"}, **wishes)


@pytest.mark.parametrize("wishes, message", [
    ({"chat_template_kwargs": {"other": 1}}, "chat_template_kwargs.other: .*never reads it.*mark"),
    ({"chat_template_kwargs": 5}, "is not a dictionary"), ({"chat_template_kwargs": {"mark": {1, 2}}}, "no JSON can hold it"),
    ({"chat_template_kwargs": {"mark": float("nan")}}, "no JSON can hold it"),
    ({"chat_template_kwargs": {"enable_thinking": True}, "thinking": False}, "thinking: differs"),
    ({"thinking": True}, "has no effect"), ({"chat_template_kwargs": {"strftime_now": "today"}}, "is not a date")])  # fmt: skip
def test_wrong_arguments_are_one_line(folder, wishes, message):
    with pytest.raises(tempera.BadInput, match=message) as caught:
        tempera.Model.open(folder).sample([{"role": "user", "content": "4+7?"}], horizon=4, **wishes)
    assert "\n" not in str(caught.value)


def test_a_template_of_equal_length_and_time_is_another(tmp_path):
    own = tmp_path / "own"
    shutil.copytree(WORKED_SUM, own)
    for digit in "12":
        (own / "chat_template.jinja").write_text("{{ messages[0].content }}+" + digit + "?")
        os.utime(own / "chat_template.jinja", (1_700_000_000, 1_700_000_000))
        assert json.loads(command("tokens", "--model", own, "--chat", "4", "--json"))["text"] == f"4+{digit}?"


def test_arguments_are_about_conversations(model):
    with pytest.raises(tempera.BadInput, match="chat_template_kwargs: is about a conversation"):
        model.sample("4+7?", horizon=4, chat_template_kwargs={"mark": "1"})


def test_a_command_without_jinja2_says_what_to_install(folder, tmp_path):
    (tmp_path / "bin").mkdir()
    for script, line in (("exit 1", "python3, which does not start"), ("echo '{\"missing\": \"no\"}'", "python3-jinja2"),
                         ("echo '{\"unlimited\": \"no\"}'", "cannot be rendered safely"), (None, "there is no python3")):
        python = tmp_path / "bin/python3"
        python.unlink(missing_ok=True)
        if script is not None:
            python.write_text(f"#!/bin/sh\n{script}\n")
            python.chmod(0o700)
        done = subprocess.run([TEMPERA, "tokens", "--model", folder, "--chat", "4+7?"], capture_output=True, text=True, env={"PATH": str(tmp_path / "bin")})
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1) and line in done.stderr, done.stderr


def test_no_module_of_the_current_folder_is_run(folder, tmp_path):
    for module in ("jinja2", "json", "huggingface_hub"):
        (tmp_path / f"{module}.py").write_text("raise SystemExit('taken')")
    done = subprocess.run([TEMPERA, "tokens", "--model", folder, "--chat", "4+7?", "--json"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0 and json.loads(done.stdout)["text"] == "4+7?", done.stderr
