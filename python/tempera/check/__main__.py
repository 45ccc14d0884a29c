"""python -m tempera.check FILE.py:FUNCTION, or MODULE:FUNCTION: the function as the program of `tempera check`.

It is called once for each step, with what its parameters are named: `state` (a list of token numbers, or one for each
power), `model` (a tempera.check.Model), `causal_lm`, `tokenizer` and `prompt` (over transformers: the prompt is a tensor
with the token before the first), `power`, `powers`, `horizon`, `terminal`, `vocabulary`. One without `state` is a whole
program, from prompt to answer. It returns the tokens where it ends: a list, an array or a tensor.
"""
import importlib
import inspect
import os
import sys

from . import own_code, serving


def function_named(text):
    module_name, separator, name = text.rpartition(":")
    if not separator:
        raise SystemExit("usage: python -m tempera.check FILE.py:FUNCTION or MODULE:FUNCTION")
    if module_name.endswith(".py"):
        sys.path.insert(0, os.path.dirname(os.path.abspath(module_name)))
        module = own_code.module_of(os.path.basename(module_name)[:-3], module_name)
    else:
        sys.path.insert(0, os.getcwd())
        own_code.import_from_text()
        module = importlib.import_module(module_name)
    for part in name.split("."):
        module = getattr(module, part)
    return module


class _Known(dict):
    """The parameters that may be named; those that need transformers are made on request."""

    def __init__(self, model):
        super().__init__(model=model, horizon=model.horizon, terminal=model.terminal, vocabulary=model.vocabulary,
                         powers=model.powers, power=model.powers[0] if model.powers else None, state=None,
                         causal_lm=None, tokenizer=None, prompt=None)
        self._model = model

    def __getitem__(self, name):
        if name in ("causal_lm", "tokenizer", "prompt") and self.get(name) is None:
            import torch

            from .of_transformers import CausalLM, Tokenizer

            self["tokenizer"] = Tokenizer(self._model)
            self["causal_lm"] = CausalLM(self._model)
            self["prompt"] = torch.tensor([[self["tokenizer"].bos_token_id]])
        return super().__getitem__(name)


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit("usage: python -m tempera.check FILE.py:FUNCTION or MODULE:FUNCTION")
    serving.keep_output()
    function = function_named(sys.argv.pop())
    if {"causal_lm", "tokenizer", "prompt"} & inspect.signature(function).parameters.keys():
        importlib.import_module(".of_transformers", __package__)  # slow, and so before the first line is read

    def prepare(model):
        named = serving.arguments_for(function, _Known(model))

        def step(state):
            if "state" in named:
                named["state"] = state
            return function(**named)

        size = len(model.vocabulary)

        def tokens_of(state):
            """Without the token before the first and what pads."""
            return [token for token in serving.record(step(state)) if token < size]

        return tokens_of if {"causal_lm", "tokenizer", "prompt"} & named.keys() else step

    serving.run(prepare)


if __name__ == "__main__":
    main()
