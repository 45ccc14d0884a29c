"""Figures of MCMC against arviz. tests/python/check_wheels installs it; ./test alone does not."""
import math

import arviz
import pytest
from conftest import FLAGS, PROMPT, WORKED_SUM, command
from test_diagnostics import NEAR, chains_of_every_kind

import tempera
from tempera import diagnostics


def test_arviz_finds_the_same():
    for draws in chains_of_every_kind():
        # Where q05 is one of the draws, arviz 0.23 rounds it to just below that draw, which then is not in the tail.
        for kind in ("bulk", "mean") if (draws.size - 1) % 20 == 0 else ("bulk", "tail", "mean"):
            assert diagnostics.ess(draws, kind) == pytest.approx(float(arviz.ess(draws, method=kind, prob=(0.05, 0.95) if kind == "tail" else None)), rel=NEAR)
        assert diagnostics.mcse(draws) == pytest.approx(float(arviz.mcse(draws)), rel=NEAR)
        theirs = float(arviz.rhat(draws)) if len(draws) > 1 else None
        ours = diagnostics.r_hat(draws)
        if ours == math.inf:
            assert theirs is None or theirs > 1e7 or math.isnan(theirs)  # the rounding of a variance that is 0
        elif theirs is not None and math.isfinite(theirs):
            assert ours == pytest.approx(theirs, rel=NEAR)


def test_arviz_takes_a_run(tmp_path):
    flags = [flag if flag != "3" else "8" for flag in FLAGS]
    command("sample", "--model", WORKED_SUM, *flags, PROMPT, "--samples", "2", "--out", tmp_path / "run")
    run = tempera.RunFolder(tmp_path / "run")
    data = run.to_arviz()
    assert dict(data.posterior.sizes) == {"chain": 2, "draw": 8, "rung": 4}
    theirs = arviz.summary(data, round_to="none")
    for row in run.diagnostics():
        if row.sd > 0:
            line = theirs.loc[f"{row.quantity}[{row.rung}]"]
            assert row.ess_bulk == pytest.approx(line.ess_bulk, rel=NEAR) and row.ess_tail == pytest.approx(line.ess_tail, rel=NEAR)
    with pytest.raises(tempera.BadInput, match="no rounds of the prompt 'other'"):
        run.to_arviz("other")
