"""Runs programs that are not trusted where they can do no harm."""

from tempera.eval.sandbox.bubblewrap import Limits, Outcome, require, run_python

__all__ = ["Limits", "Outcome", "require", "run_python"]
