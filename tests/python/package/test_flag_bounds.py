"""The bounds of keyword arguments are those of the command's flags: the last value that is taken, and the first that is refused."""
import re
import subprocess

import pytest
from conftest import TEMPERA, TREE, WORKED_SUM

import tempera
from tempera import coupling, errors

CERTIFY = ["certify-run", "", "--model", str(TREE / "toy_models/bimodal.json"), "--powers", "1,4", "--horizon", "3"]
SERVE = ["serve", "--model", WORKED_SUM]
FLAGS = [(CERTIFY, name) for name in ("pairs", "lag", "most_rounds", "token_limit")]
FLAGS += [(SERVE, name) for name in ("port", "batch", "under_way", "queue", "grace", "longest")]


class Asked(Exception):
    """Ends a call in the place of the compiled half, with the value that it was given."""


@pytest.mark.parametrize(("words", "name"), FLAGS, ids=[name for _, name in FLAGS])
def test_a_keyword_takes_what_the_flag_takes(model, monkeypatch, words, name):
    done = subprocess.run([TEMPERA, *words, "--" + name.replace("_", "-"), str(10**20)], capture_output=True, text=True)
    least, most = map(int, re.search(r"give a whole number from (\d+) to (\d+)$", done.stderr.strip()).groups())

    def certify_run(*_, **given):
        raise Asked(given[name])

    def raw_server(opened, model_name, version, options, sampler, warn):
        raise Asked(options[name])

    if words is CERTIFY:
        # A method of the opened model's type, which takes no attribute of ours.
        monkeypatch.setattr(model, "_native", type("Native", (), {"certify_run": staticmethod(certify_run)}))
        call = lambda value: coupling.certify_run(model, "", powers=[1, 4], horizon=3, **{name: value})  # noqa: E731
    else:
        monkeypatch.setattr(model._native, "RawServer", raw_server)
        call = lambda value: tempera.Server(model, **{name: value})  # noqa: E731
    for value in (least, most):
        with pytest.raises(Asked, match=f"^{value}$"):
            call(value)
    for value in (least - 1, most + 1):
        with pytest.raises(errors.BadInput, match=f"^{name}: {value} is not a whole number from {least} to "):
            call(value)
