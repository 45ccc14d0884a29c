"""Finds sources of chance that a program has taken under a name of its own before they were replaced."""
import gc
import importlib.machinery
import random
import sys
import types

from . import called_float, lab, of_numpy, of_random, replacing

_OWN = ("random", "numpy", "torch", "tempera_check", "gc")
_installed = set()
_known = 0


def install():
    """Stands in for the sources of chance of what is imported by now, and under every name that holds one of them."""
    global _known
    fresh = _install_fresh()
    if fresh or len(sys.modules) != _known:
        _known = len(sys.modules)
        rename_early_names()
        called_float.lead_calls()


def _install_fresh():
    fresh = [name for name in ("numpy.random", "torch") if name in sys.modules and name not in _installed
             and hasattr(sys.modules[name], "default_rng" if name == "numpy.random" else "manual_seed")]
    if "random" not in _installed:
        of_random.install()
        _installed.add("random")
        _pause_in_imports()
    for name in fresh:
        _installed.add(name)
        if name == "torch":
            from . import of_torch

            of_torch.install(sys.modules["torch"])
        else:
            of_numpy.install(sys.modules["numpy"])
    return fresh


def _pause_in_imports():
    """What a step imports runs as it does outside one: only what is imported is answered then."""
    own = importlib.machinery.SourceFileLoader.exec_module
    if getattr(own, "stands_in_for", None) is not None:
        return

    def exec_module(self, module):
        walk, lab.walk = lab.walk, None
        drawn = random.getstate() if walk is not None else None
        try:
            own(self, module)
        finally:
            if drawn is not None:
                random.setstate(drawn)
            lab.walk = walk
        if walk is not None and _install_fresh():
            rename_early_names()

    exec_module.stands_in_for = own
    importlib.machinery.SourceFileLoader.exec_module = exec_module


def is_own(module_name):
    return module_name.split(".")[0] in _OWN


def rename_early_names():
    """Every name of a module, class or instance that holds what was replaced holds its stand-in from now on."""
    originals = [original for original, _, _ in replacing.replaced.values()]
    kinds = tuple(of_numpy.early)
    instances = [o for o in gc.get_objects() if kinds and type(o) in kinds] if kinds else []
    known = {id(o): (new, name) for o, new, name in replacing.replaced.values()}
    numpy = sys.modules.get("numpy")
    for instance in instances:
        if numpy is not None and instance is sys.modules["numpy.random.mtrand"]._rand:
            continue  # numpy's own
        known[id(instance)] = (of_numpy.early[type(instance)](instance), f"a numpy.random.{type(instance).__name__}")
        originals.append(instance)
    if not originals:
        return
    own = {id(vars(m)) for name, m in list(sys.modules.items()) if is_own(name) and isinstance(m, types.ModuleType)}
    owners = {id(vars(m)): f"module {name}" for name, m in list(sys.modules.items()) if isinstance(m, types.ModuleType)}
    ours = {id(originals), id(replacing.replaced)} | {id(entry) for entry in replacing.replaced.values()}
    for holder in gc.get_referrers(*originals):
        if id(holder) in ours or id(holder) in own or holder is known or isinstance(holder, types.FrameType):
            continue
        _rename_in(holder, known, owners)


def _rename_in(holder, known, owners):
    if isinstance(holder, dict):
        for key, value in list(holder.items()):
            if id(value) in known and isinstance(key, str) and key != "stands_in_for" and key != "__wrapped__":
                holder[key] = known[id(value)][0]
    elif isinstance(holder, list):
        for i, value in enumerate(holder):
            if id(value) in known:
                holder[i] = known[id(value)][0]
    elif isinstance(holder, type) and not is_own(holder.__module__):
        for key, value in list(vars(holder).items()):
            if id(value) in known:
                setattr(holder, key, known[id(value)][0])
    elif isinstance(holder, types.CellType):
        value = holder.cell_contents
        if id(value) in known and not _is_ours(holder):
            holder.cell_contents = known[id(value)][0]
    elif isinstance(holder, tuple):
        for function in gc.get_referrers(holder):
            if isinstance(function, types.FunctionType) and function.__defaults__ is holder and not is_own(
                    function.__module__ or ""):
                function.__defaults__ = tuple(known[id(v)][0] if id(v) in known else v for v in holder)
    elif not isinstance(holder, (types.FunctionType, types.ModuleType, types.MethodType)) and not is_own(
            type(holder).__module__):
        _rename_in_instance(holder, known)


def _rename_in_instance(holder, known):
    """Attributes of an object whose dictionary Python has not made a thing of its own."""
    for key, value in list(getattr(holder, "__dict__", {}).items()):
        if id(value) in known and key not in ("stands_in_for", "__wrapped__"):
            setattr(holder, key, known[id(value)][0])


def _is_ours(cell):
    """Whether a cell belongs to one of the stand-ins, which must keep what they stand in for."""
    for closure in gc.get_referrers(cell):
        if isinstance(closure, tuple):
            for function in gc.get_referrers(closure):
                if isinstance(function, types.FunctionType) and is_own(function.__module__ or ""):
                    return True
    return False
