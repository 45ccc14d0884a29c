"""The user's own code is compiled from its text, whatever Python keeps of an earlier one."""
import os
import subprocess
import sys
from pathlib import Path

import pytest
from laws import PACKAGE

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


def test_installed_packages_keep_their_cache() -> None:
    said = subprocess.run(
        [sys.executable, "-c", "from tempera.check import own_code; own_code.import_from_text(); import wave, pytest; "
         "print(type(wave.__loader__).__name__, type(pytest.__loader__).__name__)"],
        env={**os.environ, "PYTHONPATH": PACKAGE}, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert said.split() == ["SourceFileLoader", "SourceFileLoader"]
