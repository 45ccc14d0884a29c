"""What the drivers share: the reader's own checkout, the settings of a run, and modules that are imported there in vain.

    CHECKOUT=DIR   the folder of the repository (needed)
    BLOCK=B        tokens of a block (default: half of the horizon)
    MOVES=M        Metropolis-Hastings moves after each block (default: 1)
    PARTICLES=N    particles of a sequential Monte Carlo (default: 2)
    MERGE=no       follow equal states again and again, to see that merging them changes nothing
"""
import importlib.machinery
import importlib.util
import os
import sys
import types

from tempera.check import merge

os.environ["TQDM_DISABLE"] = "1"  # bars of progress are in the way of what a program prints


def checkout(*folders):
    """Puts folders of the checkout on Python's path; the checkout itself if none is named."""
    root = os.environ.get("CHECKOUT")
    if not root or not os.path.isdir(root):
        raise SystemExit(f"CHECKOUT={root}: set it to the folder of your checkout of the repository")
    for folder in folders or ("",):
        path = os.path.join(root, folder)
        if not os.path.isdir(path):
            raise SystemExit(f"{path}: no such folder; CHECKOUT is to be a checkout of the repository that this driver names")
        sys.path.insert(0, path)
    return root


def setting(name, default):
    return int(os.environ.get(name, default))


def block_of(horizon):
    return min(horizon, setting("BLOCK", (horizon + 1) // 2))


class _Anything:
    """Stands in for whatever an unused import names."""

    def __init__(self, *_, **__):
        pass


def stand_in_for(*names):
    """Empty modules for imports that the judged code never uses, unless they are installed."""
    for name in names:
        try:
            found = name in sys.modules or importlib.util.find_spec(name) is not None
        except (ImportError, ValueError):
            found = False
        if found:
            continue
        module_named(name, __getattr__=_attribute)


def _attribute(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return _Anything


def module_named(name, **attributes):
    """A module that holds just these, in the place of one that cannot be had here."""
    module = types.ModuleType(name)
    module.__path__ = []
    module.__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
    vars(module).update(attributes)
    sys.modules[name] = module
    return module


def merge_before(module, name, *locals_of_caller):
    """Declares before each call of module.name that what follows is a function of the caller's line and these locals."""
    own = getattr(module, name)
    if os.environ.get("MERGE") == "no":
        return

    def call(*arguments, **named):
        caller = sys._getframe(1)
        merge((caller.f_lineno, [caller.f_locals.get(local) for local in locals_of_caller]))
        return own(*arguments, **named)

    setattr(module, name, call)
