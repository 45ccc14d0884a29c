"""The user's own code is compiled from its text, whatever Python keeps of an earlier one."""
import hashlib
import os
import py_compile
import subprocess
import sys
from pathlib import Path

import pytest
from laws import PACKAGE

from tempera.check import own_code

SHOW = "import sys; sys.argv[0] = ''; from tempera.check.__main__ import function_named; print(function_named(sys.argv[1])())"


def write(path, text):
    """Every text has one time, so that only its bytes say that it is another one."""
    path.write_text(text)
    os.utime(path, (1_700_000_000, 1_700_000_000))


def shown(folder, named):
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    command = [sys.executable, "-c", SHOW, named]
    return subprocess.run(command, cwd=folder, env={**environment, "PYTHONPATH": PACKAGE}, capture_output=True, text=True, check=True).stdout.split()


@pytest.mark.parametrize("named", ["mine.py:step", "mine:step", "inside.mine:step"])
def test_no_module_of_a_program_is_taken_from_the_cache(tmp_path: Path, named: str) -> None:
    folder = tmp_path / "inside" if named.startswith("inside") else tmp_path
    folder.mkdir(exist_ok=True)
    beside = "inside.beside" if named.startswith("inside") else "beside"
    for own, other in (("1", "1"), ("2", "1"), ("2", "2")):
        write(folder / "mine.py", f"def step():\n    from {beside} import other\n    return '{own}', other\n")
        write(folder / "beside.py", f"other = '{other}'\n")
        assert shown(tmp_path, named) == [f"('{own}',", f"'{other}')"]


def test_what_python_has_compiled_before_is_not_read(tmp_path: Path) -> None:
    write(tmp_path / "mine.py", "def step(): return 1\n")
    subprocess.run([sys.executable, "-c", "import mine"], cwd=tmp_path, check=True, env={k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"})
    assert list((tmp_path / "__pycache__").iterdir())
    write(tmp_path / "mine.py", "def step(): return 2\n")
    assert shown(tmp_path, "mine:step") == ["2"]


@pytest.mark.parametrize("first", ["import tempera.check\nimport beside\n", "import beside\nimport tempera.check\n"])
def test_a_program_of_its_own_takes_nothing_from_the_cache(tmp_path: Path, first: str) -> None:
    """As `tempera check` starts it: what is imported before tempera.check is compared with its text, and refused if it is another's."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    (tmp_path / "program.py").write_text(first + "import sys\nprint(beside.other, file=sys.stderr)\n")
    write(tmp_path / "beside.py", "other = 1\n")
    subprocess.run([sys.executable, "-c", "import beside"], cwd=tmp_path, check=True, env=environment)
    assert list((tmp_path / "__pycache__").iterdir())

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "program.py"], cwd=tmp_path, env={**environment, "PYTHONPATH": PACKAGE, "TEMPERA_CHECK": "1"},
                              capture_output=True, text=True)  # fmt: skip

    assert run().stderr == "1\n"
    write(tmp_path / "beside.py", "other = 2\n")
    said = run()
    if first.startswith("import tempera"):
        assert (said.returncode, said.stderr) == (0, "2\n")
    else:
        assert said.returncode == 2 and said.stderr.count("\n") == 1 and "beside.py: has changed" in said.stderr and "import tempera.check first" in said.stderr


@pytest.mark.parametrize("named", [["mine.py"], ["-m", "mine"], ["inside"]])
def test_a_program_itself_is_its_text_however_it_is_named(tmp_path: Path, named: list[str]) -> None:
    """Python compiles a file that it is given, and takes a module that it runs by its name from the cache."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside/__init__.py").touch()
    programs = (tmp_path / "mine.py", tmp_path / "inside/__main__.py")

    def run(text: str) -> subprocess.CompletedProcess[str]:
        for program in programs:
            write(program, f"import tempera.check, sys\nprint({text}, file=sys.stderr)\n")
        return subprocess.run([sys.executable, *named], cwd=tmp_path, env={**environment, "PYTHONPATH": PACKAGE, "TEMPERA_CHECK": "1"},
                              capture_output=True, text=True)  # fmt: skip

    for _ in range(2):
        assert run("1").stderr == "1\n"
        for program in programs:
            py_compile.compile(str(program))
    said = run("2")
    if named == ["mine.py"]:
        assert said.stderr == "2\n"
    else:
        assert said.returncode == 2 and said.stderr.count("\n") == 1
        assert ".py: has changed since Python compiled it; delete __pycache__" in said.stderr


def test_a_module_is_what_its_text_says_under_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also of a text that was read before, which the file may not have any more; it finds itself by its name while it runs."""
    write(tmp_path / "mine_of_text.py", "where = 'file'\nimport sys\nitself = sys.modules[__name__]\nimport beside_of_text\n")
    write(tmp_path / "beside_of_text.py", "x = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    told: list[tuple[str, str]] = []
    monkeypatch.setattr(own_code.TextLoader, "tell", lambda file, digest: told.append((Path(file).name, digest)))
    hooks = sys.path_hooks[:]
    try:
        for source, where in ((None, "file"), ("where = 'text'\nimport sys\nitself = sys.modules[__name__]\n", "text"), (b"where = 'bytes'\nimport sys\nitself = sys.modules[__name__]\n", "bytes")):
            module = own_code.module_of("mine_of_text", str(tmp_path / "mine_of_text.py"), source)
            assert (module.where, module.itself, module.__name__, module.__file__) == (where, module, "mine_of_text", str(tmp_path / "mine_of_text.py"))
            assert sys.modules["mine_of_text"] is module
        assert told == [("beside_of_text.py", hashlib.sha256(b"x = 1\n").hexdigest())]
        assert sum(hook is own_code._hook for hook in sys.path_hooks) == 1
    finally:
        sys.path_hooks[:] = hooks
        for name in ("mine_of_text", "beside_of_text"):
            sys.modules.pop(name, None)


def test_installed_packages_keep_their_cache() -> None:
    said = subprocess.run(
        [sys.executable, "-c", "from tempera.check import own_code; own_code.import_from_text(); import wave, pytest; "
         "print(type(wave.__loader__).__name__, type(pytest.__loader__).__name__)"],
        env={**os.environ, "PYTHONPATH": PACKAGE}, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert said.split() == ["SourceFileLoader", "SourceFileLoader"]
