"""Programs that nobody has read, run where they can do no harm."""

from tempera.eval.sandbox.bubblewrap import Limits, Outcome, require, run_python

__all__ = ["Limits", "Outcome", "require", "run_python"]
