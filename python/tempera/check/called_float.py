"""float(x) in a program's functions, where x may be a number that is not drawn yet.

float() itself must give a float, and so would have to ask for the value. Calls of it by the program's own functions are
led here; `float` as a type, and libraries, stay as they are.
"""
import builtins
import dis
import gc
import os
import sys
import types

from .lab import _FOLDER, _LIBRARIES
from .lazy import Undrawn

NAME = "tempera_check_float"
_seen = set()


def number(x=0.0):
    """float(x), or x itself as long as it is not drawn."""
    if isinstance(x, (int, float)):
        return float(x)
    entries = getattr(x, "_entries", x)  # of an undrawn tensor
    if getattr(entries, "dtype", None) == object and entries.size == 1:
        entries = entries.reshape(-1)[0]
    return entries if isinstance(entries, Undrawn) else float(x)


def lead_calls():
    """Rewrites the functions of the program that are there by now.

    Before 3.11 Python's code does not say whether a name is called: there float() refuses what is not drawn.
    """
    if sys.version_info < (3, 11):
        return
    setattr(builtins, NAME, number)
    for function in [o for o in gc.get_objects() if type(o) is types.FunctionType]:
        code = function.__code__
        if code in _seen:
            continue
        _seen.add(code)
        file = code.co_filename
        if file.startswith(("<", os.path.normpath(_FOLDER))) or any(part in file for part in _LIBRARIES):
            continue
        led = led_code(code)
        if led is not code:
            function.__code__ = led
            _seen.add(led)


def led_code(code):
    """The same code with float(...) called by the name above, in functions within it too."""
    constants = tuple(led_code(c) if isinstance(c, types.CodeType) else c for c in code.co_consts)
    if any(a is not b for a, b in zip(constants, code.co_consts)):
        code = code.replace(co_consts=constants)
    calls = [i.offset for i in dis.get_instructions(code)
             if i.opname == "LOAD_GLOBAL" and i.argval == "float" and i.arg & 1 and i.arg < 256]
    index = len(code.co_names)
    if not calls or index > 127:  # which would need an instruction more
        return code
    text = bytearray(code.co_code)
    for offset in calls:
        text[offset + 1] = index << 1 | 1
    return code.replace(co_code=bytes(text), co_names=code.co_names + (NAME,))
