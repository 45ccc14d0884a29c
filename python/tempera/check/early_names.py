"""Finds sources of chance that a program has taken under a name of its own before they were replaced."""
import collections
import functools
import gc
import importlib.machinery
import random
import sys
import types

from . import called_float, guard, lab, of_numpy, of_random, replacing

_OWN = ("random", "numpy", "torch", "gc")
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
    """Imports within a step run as they do outside one: only what is imported is answered then."""
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
    return module_name.split(".")[0] in _OWN or module_name.startswith(("tempera.check", "tempera_check"))


def rename_early_names():
    """Every name of a module, class or instance that holds what was replaced holds its stand-in from now on.

    So does every list, dictionary, set, tuple, partial function and closure. What cannot be reached is remembered for the
    error that its first draw is.
    """
    known = {id(o): (new, o) for o, new, _ in replacing.replaced.values()}
    instances = _early_instances()
    numpys_own = getattr(sys.modules.get("numpy.random.mtrand"), "_rand", None)
    for instance in instances:
        if type(instance) in of_numpy.early and instance is not numpys_own:
            known[id(instance)] = (of_numpy.early[type(instance)](instance), instance)
    for method in _bound_methods(instances):
        new, _ = known.get(id(method.__self__), (method.__self__, None))
        if method.__self__ is not numpys_own:
            known.setdefault(id(method), (getattr(new, method.__name__), method))
    del instances
    own = {id(vars(m)) for name, m in list(sys.modules.items()) if is_own(name) and isinstance(m, types.ModuleType)}
    fresh = [original for _, original in known.values()]
    ours = {id(replacing.replaced), id(guard.watched)} | {id(entry) for entry in replacing.replaced.values()}
    owners = _Owners() if fresh else None
    for _ in range(_DEPTH):
        holders = _holders(fresh)
        ours |= {id(fresh), id(holders), id(known)} | {id(entry) for entry in known.values()}
        copied = []
        for holder in holders:
            if id(holder) in ours or id(holder) in own or id(holder) in known or isinstance(holder, types.FrameType):
                continue
            copy = _rename_in(holder, known, owners)
            if copy is not None:
                copied.append((copy, holder))
            elif isinstance(holder, _CLOSED) and any(id(value) in known for value in gc.get_referents(holder)):
                guard.unreached.add(_place_of(holder))
        for copy, holder in copied:
            known[id(holder)] = (copy, holder)
        fresh = [holder for _, holder in copied]
        del holders, copied


class _Owners:
    """Whose a dictionary, a cell or a tuple is: one look at everything that is held, in place of one for each of them."""

    def __init__(self):
        self.type_of, self.functions_of, self.function_of, self.bases = {}, {}, {}, set()
        for o in gc.get_objects():
            if type(o) is types.FunctionType:
                for cell in o.__closure__ or ():
                    self.functions_of.setdefault(id(cell), []).append(o)
                if o.__defaults__:
                    self.function_of.setdefault(id(o.__defaults__), o)
            elif issubclass(type(o), type):
                for held in gc.get_referents(o):
                    if type(held) is dict:
                        self.type_of[id(held)] = o
                    elif type(held) is tuple:
                        self.bases.add(id(held))


def _holders(values):
    """gc.get_referrers(*values), which looks for each of the values at everything that is held."""
    ids = {id(value) for value in values}
    if len(ids) < 8:
        return gc.get_referrers(*values) if values else []
    # A module's names are in its dictionary. Its own referents may be dead: up to CPython 3.12.2 those of _asyncio are free
    # objects, which a list of them frees a second time, and the next collection then never ends.
    return [o for o in gc.get_objects() if not issubclass(type(o), types.ModuleType) and not ids.isdisjoint(map(id, gc.get_referents(o)))]


_DEPTH = 4  # of tuples within tuples
# What compiled code holds for itself, and gives to nobody.
_CLOSED = (type(iter(int, 1)), map, filter, zip, enumerate, functools._lru_cache_wrapper)


def _place_of(value):
    """How a program names a value: a name of one of its modules, or what kind it is."""
    for module_name, module in list(sys.modules.items()):
        if isinstance(module, types.ModuleType) and not is_own(module_name):
            for name, held in list(vars(module).items()):
                if held is value:
                    return f"{module_name}.{name}"
    return f"a {type(value).__name__}"


def _early_instances():
    """The generators of random and numpy that are there now, in answer to steps of the future."""
    kinds = tuple(of_numpy.early)
    # By type(): asking an object for its class may run code of its own.
    found = [o for o in gc.get_objects() if issubclass(type(o), random.Random) or type(o) in kinds]
    guard.watch(found)
    return found


def _bound_methods(instances):
    """Methods of generators that were fetched before the class had its stand-ins."""
    ids = {id(instance) for instance in instances}
    return [o for o in gc.get_objects() if type(o) in (types.BuiltinMethodType, types.MethodType)
            and id(getattr(o, "__self__", None)) in ids]


def _rename_in(holder, known, owners):
    """Renames in place; a holder that cannot be changed gives the copy that is to be in its place."""
    if isinstance(holder, dict):
        for key, value in list(holder.items()):
            if id(value) in known and key not in ("stands_in_for", "__wrapped__"):
                owner = owners.type_of.get(id(holder)) if isinstance(key, str) else None
                if owner is None or owner.__dict__.get(key) is not value:
                    holder[key] = known[id(value)][0]
                elif not is_own(owner.__module__):
                    setattr(owner, key, known[id(value)][0])
    elif isinstance(holder, (list, collections.deque)):
        for i, value in enumerate(holder):
            if id(value) in known:
                holder[i] = known[id(value)][0]
    elif isinstance(holder, set):
        for value in [v for v in holder if id(v) in known]:
            holder.discard(value)
            holder.add(known[id(value)][0])
    elif isinstance(holder, type) and not is_own(holder.__module__):
        for key, value in list(vars(holder).items()):
            if id(value) in known:
                setattr(holder, key, known[id(value)][0])
    elif isinstance(holder, types.CellType):
        value = holder.cell_contents
        if id(value) in known and not any(is_own(f.__module__ or "") for f in owners.functions_of.get(id(holder), ())):
            holder.cell_contents = known[id(value)][0]
    elif isinstance(holder, functools.partial):
        function, arguments, named = (known.get(id(holder.func), (holder.func,))[0],
                                      tuple(known.get(id(v), (v,))[0] for v in holder.args), holder.keywords)
        holder.__setstate__((function, arguments, named, holder.__dict__))
    elif isinstance(holder, tuple):
        return _rename_in_tuple(holder, known, owners)
    elif isinstance(holder, (staticmethod, classmethod)) and id(holder.__func__) in known:
        return type(holder)(known[id(holder.__func__)][0])
    elif isinstance(holder, (types.GeneratorType, types.CoroutineType)):
        code = getattr(holder, "gi_code", None) or holder.cr_code
        guard.unreached.add(f"a local variable of {code.co_name}, {code.co_filename}:{code.co_firstlineno}")
    elif not isinstance(holder, (types.FunctionType, types.ModuleType, types.MethodType, types.BuiltinMethodType)) and not (
            is_own(type(holder).__module__)):
        _rename_in_instance(holder, known)
    return None


def _rename_in_tuple(holder, known, owners):
    function = owners.function_of.get(id(holder))
    if function is not None:
        if not is_own(function.__module__ or ""):
            function.__defaults__ = tuple(known[id(v)][0] if id(v) in known else v for v in holder)
        return None
    if id(holder) in owners.bases:
        return None
    values = [known.get(id(v), (v,))[0] for v in holder]
    return type(holder)._make(values) if hasattr(type(holder), "_make") else tuple(values)


def _rename_in_instance(holder, known):
    """Attributes of an object whose dictionary Python has not made a thing of its own, or that has none."""
    slots = [name for kind in type(holder).__mro__ for name in _names(vars(kind).get("__slots__", ()))]
    found = [(name, getattr(holder, name, None)) for name in slots] + list(getattr(holder, "__dict__", {}).items())
    for key, value in found:
        if id(value) in known and key not in ("stands_in_for", "__wrapped__"):
            setattr(holder, key, known[id(value)][0])


def _names(slots):
    return (slots,) if isinstance(slots, str) else tuple(slots)
