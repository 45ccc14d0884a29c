"""Renders a model's own chat template by Jinja2, as transformers' apply_chat_template does.

The package calls answer() in its own process. The command and the server hold this file's text and run it as one child
process (gpu/llm/text/template_process.cpp), which gives up files, the network and most system calls before it reads
the first template.
"""

from __future__ import annotations

import datetime
import functools
import json
import sys
from typing import Any

# The child's system calls by machine: the number that seccomp knows the machine by, and theirs.
_SYSTEM_CALLS = {
    # read write close fstat lseek mmap mprotect munmap brk rt_sigaction rt_sigprocmask rt_sigreturn mremap madvise setitimer
    # getpid exit futex sigaltstack gettid clock_gettime exit_group getrandom sched_yield
    "x86_64": (0xC000003E, (0, 1, 3, 5, 8, 9, 10, 11, 12, 13, 14, 15, 25, 28, 38, 39, 60, 202, 131, 186, 228, 231, 318, 24)),
    "aarch64": (0xC00000B7, (63, 64, 57, 80, 62, 222, 226, 215, 214, 134, 135, 139, 216, 233, 103, 172, 93, 98, 132, 178, 113, 94, 278, 124)),
}  # fmt: skip


class _Refused(Exception):
    """The caller gets a kind and a line instead of a text."""

    def __init__(self, kind: str, line: str) -> None:
        self.kind, self.line = kind, line
        super().__init__(line)


@functools.lru_cache(maxsize=1)
def _environment() -> Any:
    """transformers' environment, without what draws by chance or reads the clock."""
    import jinja2
    import jinja2.ext
    import jinja2.nodes
    import jinja2.sandbox
    import jinja2.utils

    class Generation(jinja2.ext.Extension):
        """{% generation %} marks what an assistant says, for training; its content is rendered in its place."""

        tags = {"generation"}

        def parse(self, parser: Any) -> Any:
            line = next(parser.stream).lineno
            body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
            return jinja2.nodes.CallBlock(self.call_method("_content"), [], [], body).set_lineno(line)

        def _content(self, caller: Any) -> Any:
            return caller()

    class Dictionary:
        """dict(…) and dict.fromkeys(…), without the type's other attributes."""

        def __call__(self, *pairs: Any, **named: Any) -> Any:
            return dict(*pairs, **named)

        def fromkeys(self, *keys: Any) -> Any:
            return dict.fromkeys(*keys)

    class Namespace(jinja2.utils.Namespace):
        """namespace(…) that stores no attribute of Python's own."""

        def __init__(*pairs: Any, **named: Any) -> None:
            attributes = dict(*pairs[1:], **named)
            for name in attributes:
                _check_attribute(name)
            jinja2.utils.Namespace.__init__(pairs[0], attributes)

        def __setitem__(self, name: str, value: Any) -> None:
            _check_attribute(name)
            super().__setitem__(name, value)

    def _check_attribute(name: Any) -> None:
        if isinstance(name, str) and name.startswith("_"):
            raise jinja2.exceptions.SecurityError(f"a namespace holds no attribute {name!r}")

    def raise_exception(message: Any) -> None:
        raise _Refused("refused", str(message))

    def tojson(value: Any, ensure_ascii: bool = False, indent: Any = None, separators: Any = None, sort_keys: bool = False) -> str:
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, "jinja2.ext.loopcontrols"]
    )
    environment.filters["tojson"] = tojson
    environment.globals.update(raise_exception=raise_exception, dict=Dictionary(), namespace=Namespace)
    # The same request gives the same prompt: nothing here draws.
    del environment.filters["random"], environment.globals["lipsum"]
    return environment


@functools.lru_cache(maxsize=8)
def _compiled(source: str) -> tuple[Any, frozenset[str]]:
    """The template, and the names that it reads and does not set itself."""
    import jinja2.meta

    environment = _environment()
    return environment.from_string(source), frozenset(jinja2.meta.find_undeclared_variables(environment.parse(source)))


def _clock(date: Any) -> Any:
    try:
        moment = datetime.datetime.fromisoformat(date)
    except (TypeError, ValueError):
        raise _Refused("date", f"{date!r} is not a date") from None
    return moment.strftime


def render(source: str, messages: Any, tokens: dict[str, Any], arguments: dict[str, Any]) -> str:
    """The text of a conversation, up to where the answer begins.

    tokens: bos_token and the like. arguments: what a user gives to the template, which wins over tokens;
    "strftime_now" holds the date that strftime_now() writes, in ISO 8601. Without it that function is not defined.
    """
    template, names = _compiled(source)
    for name in arguments:
        if name not in names:
            known = sorted(names - set(_environment().globals) - {"messages", "add_generation_prompt", "strftime_now"} - set(tokens))
            raise _Refused("argument", json.dumps([name, *known]))
    variables = {"tools": None, "documents": None, **tokens, **arguments}
    if "strftime_now" in arguments:
        variables["strftime_now"] = _clock(arguments["strftime_now"])
    text: str = template.render(messages=messages, add_generation_prompt=True, **variables)
    return text


def answer(task: str) -> str:
    """The answer to {"template", "messages", "tokens", "arguments"}: {"text"}, or {"kind", "line"}; both in JSON."""
    asked = json.loads(task)
    import jinja2

    try:
        said = {"text": render(asked["template"], asked["messages"], asked["tokens"], asked["arguments"])}
    except _Refused as refused:
        said = {"kind": refused.kind, "line": refused.line}
    except jinja2.UndefinedError as error:
        said = {"kind": "date" if "strftime_now" in str(error) else "template", "line": str(error)}
    except jinja2.TemplateSyntaxError as error:
        said = {"kind": "template", "line": f"line {error.lineno}: {error.message}"}
    except Exception as error:  # noqa: BLE001: a template may fail in any way, and no caller may fail with it
        said = {"kind": "template", "line": f"{type(error).__name__}: {error}"}
    return json.dumps(said)


def _give_up_rights(mebibytes: int) -> None:
    """Leaves this process its memory and its two streams. Raises OSError if the kernel does not do that."""
    import ctypes
    import os
    import platform
    import resource

    machine = platform.machine()
    if machine not in _SYSTEM_CALLS:
        raise OSError(f"no system calls are known for {machine}")
    architecture, allowed = _SYSTEM_CALLS[machine]

    class Instruction(ctypes.Structure):
        _fields_ = [("code", ctypes.c_ushort), ("then", ctypes.c_ubyte), ("otherwise", ctypes.c_ubyte), ("value", ctypes.c_uint)]

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("instructions", ctypes.POINTER(Instruction))]

    load, equals, give = 0x20, 0x15, 0x06
    kill, fail, allow = 0x80000000, 0x00050001, 0x7FFF0000  # fail: EPERM, which Python can say
    program = [(load, 0, 0, 4), (equals, 1, 0, architecture), (give, 0, 0, kill), (load, 0, 0, 0)]
    for number in allowed:
        program += [(equals, 0, 1, number), (give, 0, 0, allow)]
    program.append((give, 0, 0, fail))
    instructions = (Instruction * len(program))(*(Instruction(*one) for one in program))
    filtered = Program(len(program), instructions)

    os.closerange(3, 1 << 20)
    os.environ.clear()
    for limit, value in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, 0), (resource.RLIMIT_NPROC, 0), (resource.RLIMIT_NOFILE, 0),
                         (resource.RLIMIT_AS, mebibytes << 20)):  # fmt: skip
        resource.setrlimit(limit, (value, value))
    system = ctypes.CDLL(None, use_errno=True)
    if system.prctl(38, 1, 0, 0, 0) != 0 or system.prctl(22, 2, ctypes.byref(filtered), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "seccomp")


def _import_jinja2() -> str:
    """Its version. Python runs isolated, so that no file of the current folder is taken for a module."""
    try:
        import jinja2
    except ModuleNotFoundError:
        import site

        sys.path.append(site.getusersitepackages())
        import jinja2
    return jinja2.__version__


def serve(seconds: float, mebibytes: int) -> None:
    """Answers one task a line until its input ends; each may take so many seconds of the processor."""
    import os
    import signal

    def say(line: str) -> None:
        left = memoryview(line.encode() + b"\n")
        while left:
            left = left[os.write(1, left) :]

    try:
        version = _import_jinja2()
        # Python loads some modules late; these are loaded now.
        import pprint  # noqa: F401

        for source in ("{% for x in messages %}{{ x | pprint }}{{ {'a': x} | tojson(indent=2) }}{% break %}{% endfor %}", "{{ 1 / 0 }}", "{% if"):
            answer(json.dumps({"template": source, "messages": [{"é": 1.5}], "tokens": {}, "arguments": {}}))
        _clock("2026-01-02")("%A %d %B %Y")
        _give_up_rights(mebibytes)
    except ImportError as error:
        return say(json.dumps({"missing": str(error)}))
    except OSError as error:
        return say(json.dumps({"unlimited": str(error)}))
    say(json.dumps({"jinja2": version}))
    while line := sys.stdin.buffer.readline():
        # The kernel ends the process when this runs out, whatever the template does.
        signal.setitimer(signal.ITIMER_PROF, seconds)
        said = answer(line.decode())
        signal.setitimer(signal.ITIMER_PROF, 0)
        say(said)


if __name__ == "__main__":
    serve(float(sys.argv[1]), int(sys.argv[2]))
