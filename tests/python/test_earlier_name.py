"""tempera_check, the earlier name of tempera.check, answers with the new one and says so."""
import subprocess
import sys
from pathlib import Path

from tempera import check

TREE = Path(__file__).parents[2]


def python(*arguments):
    return subprocess.run([sys.executable, *arguments], capture_output=True, text=True, cwd=TREE, timeout=600,
                          env={"PYTHONPATH": f"{TREE}/python", "PATH": "/usr/bin:/bin"})


def test_the_earlier_name_is_the_new_package_and_warns():
    done = python("-W", "always", "-c", "import tempera_check, tempera.check as check, tempera.check.walks as walks\n"
                  "assert tempera_check.law is check.law and tempera_check.walks is walks\n"
                  "assert tempera_check.Real is check.Real")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("tempera_check is tempera.check now") == 1


def test_the_earlier_name_runs_a_function_as_a_program():
    done = python("-m", "tempera_check")
    assert done.returncode == 1
    assert "usage: python -m tempera.check FILE.py:FUNCTION" in done.stderr


def test_a_line_of_the_earlier_name_is_not_the_programs():
    assert check.lab.whose(f"{TREE}/python/tempera_check/__init__.py") == "ours"
    assert check.lab.whose(f"{TREE}/python/tempera/check/law.py") == "ours"
    assert check.lab.whose(f"{TREE}/examples/power_sampling.py") == "the program's"
