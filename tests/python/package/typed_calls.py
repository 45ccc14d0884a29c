"""Calls that mypy must take, as it takes them from users: `./test` holds it to them. Nothing runs them."""
import numpy

import tempera


def call(model: tempera.Model) -> None:
    model.sample("4+7?", powers=numpy.linspace(1, 4, 4), horizon=4)
    model.sample("4+7?", powers=[1, 2.5], horizon=4)
    model.score([1, 2], powers=numpy.array([1.0, 2.0]))
    with tempera.Session(model) as session:
        session.submit("4+7?", powers=numpy.array([1, 2]), max_tokens=4)
