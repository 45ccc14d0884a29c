"""What a program holds in the middle of a step, as a key: paths that come to the same hold go on alike, and are followed once.

After each draw, where the program's next line begins, the frames of its functions are read: where each stands, its local
variables, and what it has laid aside (the iterator of a loop, say), with the globals of its modules and all that these hold.
If anything among it cannot be told by its value, there is no key and nothing is merged. What libraries keep is not read.
"""
import ctypes
import hashlib
import io
import pickle
import sys
import types

from . import lab
from .finite_model import Model

# Where CPython keeps a frame: of the object, and of what it points to.
_FRAME, _STACK_TOP, _LOCALS = 24, 64, 72
_KNOWN = sys.version_info[:2] == (3, 11) and sys.implementation.name == "cpython" and ctypes.sizeof(
    ctypes.c_void_p) == 8 and not hasattr(sys, "gettotalrefcount")
_MOST_BYTES = 1 << 16
_OPAQUE = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType, types.FrameType, types.TracebackType)
# Whose way of telling their values is known to leave nothing out.
_TOLD = {"builtins", "collections", "decimal", "fractions", "functools", "itertools", "numpy", "operator", "random", "torch", "types", "typing"}

_NOT_TOLD = {"tempera.check.undrawn_tensor", "tempera.check.of_transformers"}


def _is_told(module):
    return module.split(".")[0] in _TOLD or module.startswith("tempera.check")


class _NoKey(Exception):
    pass


class _Empty:
    """In the place of a variable that has no value."""


def held_by(frame):
    """The local variables of a frame and what lies on its stack; nothing if it is not known now."""
    address = ctypes.c_void_p.from_address(id(frame) + _FRAME).value
    top = ctypes.c_int.from_address(address + _STACK_TOP).value
    if top < frame.f_code.co_nlocals or top > 10_000:
        return None
    pointers = (ctypes.c_void_p * top).from_address(address + _LOCALS)
    return [_Empty if p is None else ctypes.cast(p, ctypes.py_object).value for p in pointers]


class _Made:
    """Stands for a function or a cell."""


class _Pickler(pickle.Pickler):
    def persistent_id(self, value):
        kind = type(value)
        if kind is types.ModuleType:
            return "module", value.__name__
        if isinstance(value, type):
            return "type", value.__module__, value.__qualname__
        if kind is types.CodeType:
            return "code", value.co_filename, value.co_firstlineno, value.co_qualname
        if kind is Model:
            return ("model",)
        if kind is types.BuiltinFunctionType and isinstance(value.__self__, (types.ModuleType, type(None))):
            return "builtin", value.__module__, value.__qualname__
        return None

    def reducer_override(self, value):
        kind = type(value)
        if isinstance(value, _OPAQUE) or kind.__module__ in _NOT_TOLD:
            raise _NoKey
        if kind is types.FunctionType:
            if lab.whose(value.__code__.co_filename) != "the program's":
                return _Made, (value.__module__, value.__qualname__)
            return _Made, (value.__code__, value.__defaults__, value.__kwdefaults__, value.__closure__, value.__dict__)
        if kind is types.CellType:
            return _Made, (value.cell_contents if _has_contents(value) else _Empty,)
        if not _is_told(kind.__module__) and (
                kind.__reduce_ex__ is not object.__reduce_ex__ or kind.__reduce__ is not object.__reduce__
                or getattr(kind, "__getstate__", None) is not object.__getstate__ or hasattr(kind, "__getnewargs_ex__")
                or hasattr(kind, "__getnewargs__")):
            raise _NoKey
        return NotImplemented


def _has_contents(cell):
    try:
        cell.cell_contents
    except ValueError:
        return False
    return True


_modules = []  # of the program: name, globals, and those of them that never change unless the name is bound anew
_known_modules = -1


def begin():
    """Before the first step of a case: the names identify what the program's modules hold now."""
    global _known_modules
    _modules.clear()
    _known_modules = -1
    _look_for_modules()
    for i, (name, space, _) in enumerate(_modules):
        _modules[i] = name, space, {key: value for key, value in space.items() if _is_constant(value)}


def _look_for_modules():
    global _known_modules
    if len(sys.modules) == _known_modules:
        return
    _known_modules, known = len(sys.modules), {name for name, _, _ in _modules}
    for name, module in sorted(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name not in known and isinstance(module, types.ModuleType) and file and lab.whose(file) == "the program's":
            _modules.append((name, vars(module), {}))


def _is_constant(value):
    kind = type(value)
    if kind in (tuple, frozenset):
        return all(map(_is_constant, value))
    if kind is types.FunctionType:
        return not value.__closure__ and not value.__dict__ and not value.__kwdefaults__ and _is_constant(value.__defaults__ or ())
    if isinstance(value, type):
        return _of_class(value) is value
    return kind in (int, float, complex, bool, str, bytes, type(None), types.ModuleType) or (
        kind is types.BuiltinFunctionType and isinstance(value.__self__, (types.ModuleType, type(None))))


def _globals():
    """The values in the program's modules and classes that have changed since the case began."""
    _look_for_modules()
    found = []
    for name, space, constant in _modules:
        for key, value in space.items():
            if constant.get(key, _MISSING) is not value and not key.startswith("__"):
                found.append((name, key, _of_class(value) if isinstance(value, type) else value))
    return found


_MISSING = object()


def _of_class(kind):
    if _is_told(kind.__module__) or kind.__module__ not in sys.modules or lab.whose(
            getattr(sys.modules[kind.__module__], "__file__", None) or "<") != "the program's":
        return kind
    held = [(key, value) for key, value in vars(kind).items()
            if key not in ("__dict__", "__weakref__", "__doc__", "__module__") and not isinstance(
                value, (staticmethod, classmethod, property, types.MemberDescriptorType, types.GetSetDescriptorType))
            and not _is_constant(value)]
    return held or kind


def key_at(frame):
    """The key of everything that follows from a frame at the beginning of a line; None if it is unknown."""
    frames = []
    while frame is not None:
        whose = lab.whose(frame.f_code.co_filename)
        if whose == "ours":
            break
        if whose != "the program's":
            return None
        held = held_by(frame)
        if held is None:
            return None
        frames.append((frame.f_code, frame.f_lasti, held))
        frame = frame.f_back
    stream = io.BytesIO()
    try:
        with lab.paused():
            _Pickler(stream, 4).dump((frames, _globals()))
    except Exception:  # what is held may raise anything where its value is asked for
        return None
    if stream.tell() > _MOST_BYTES:
        return None
    return hashlib.sha256(stream.getbuffer()).hexdigest()[:40]


def is_known():
    """True if frames are where they are looked for: a loop whose iterator and variable are known is read."""
    if not _KNOWN or sys.gettrace() is not None:
        return False
    seen = []

    def look():
        seen.append(held_by(sys._getframe(1)))

    def loop(first, second):
        for third in first:
            look()
            second.append(third)

    iterator = iter([7, 8])
    try:
        loop(iterator, [])
    except Exception:
        return False
    return len(seen) == 2 and all(held is not None and held[0] is iterator and held[2] == third and held[-1] is iterator
                                  for held, third in zip(seen, (7, 8)))
