"""What the rules of PTX share: the operands of an instruction as C++, and how a rule is found.

Every instruction has exactly one rule in rules.py, found by its whole opcode.
"""

import re

from parse_ptx import Address, Immediate, Label, Pair, PtxError, Register, Special, Symbol, Vector

C_TYPE = {f"{sign}{bits}": f"{'' if sign == 's' else 'u'}int{bits}_t" for sign in "bus" for bits in (8, 16, 32, 64)}
C_TYPE |= {"f32": "float", "f64": "double", "pred": "bool"}
REGISTER_TYPE = {"pred": "bool", "b16": "uint16_t", "b32": "uint32_t", "b64": "uint64_t", "f32": "uint32_t", "f64": "uint64_t"}
SPECIAL = {
    "%tid.x": "coordinates.thread",
    "%ntid.x": "coordinates.threads",
    "%ctaid.x": "coordinates.block.x",
    "%ctaid.y": "coordinates.block.y",
    "%ctaid.z": "coordinates.block.z",
    "%nctaid.x": "coordinates.blocks.x",
    "%nctaid.y": "coordinates.blocks.y",
    "%nctaid.z": "coordinates.blocks.z",
    "%laneid": "simt::lane()",
}
COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "lo": "<", "ls": "<=", "hi": ">", "hs": ">="}


def width(kind):
    return int(kind[1:])


def register(name):
    return "r_" + name[1:]


def targets_of(instruction):
    """Registers that an instruction may write: those of its first operand."""
    first = instruction.operands[0] if instruction.operands else None
    if isinstance(first, Vector):
        return [item for item in first.elements if isinstance(item, Register)]
    if isinstance(first, Pair):
        return [first.first, first.second]
    return [first] if isinstance(first, Register) else []


def constants_of(kernel):
    """{register: the number that it always holds} of those that one move alone writes."""
    writes = {}
    for item in kernel.body:
        if not isinstance(item, Label):
            for target in targets_of(item):
                writes.setdefault(target, []).append(item)
    return {
        target: by[0].operands[1]
        for target, by in writes.items()
        if len(by) == 1 and by[0].guard is None and by[0].opcode.startswith("mov.") and isinstance(by[0].operands[1], Immediate)
    }


class Translator:
    """Translates one kernel."""

    def __init__(self, module, kernel):
        self.module = module
        self.kernel = kernel
        self.labels = {item.name for item in kernel.body if isinstance(item, Label)}
        self.constants = constants_of(kernel)

    # Operands: the bits of a source, its value in a type, where a result goes.

    def bits(self, at, operand):
        if isinstance(operand, Register):
            if operand.name not in self.kernel.registers:
                raise at.error(f"{operand.name} is declared nowhere")
            return register(operand.name)
        if isinstance(operand, Special):
            return SPECIAL[operand.name]
        if isinstance(operand, Immediate):
            return f"{operand.bits & 0xFFFFFFFFFFFFFFFF:#x}ull"
        if isinstance(operand, Symbol) and operand.name in self.module.shared:
            return "0ull"  # it begins where the block's shared memory does
        if isinstance(operand, Symbol) and operand.name in self.kernel.parameters:
            return f"address_of({self.parameter(operand.name)})"  # of a large one, whose members are then loaded from there
        raise at.error(f"{operand} is not a value")

    def value(self, at, operand, kind):
        bits = self.bits(at, operand)
        if kind in ("f32", "f64"):
            return f"{'as_float' if kind == 'f32' else 'as_double'}({bits})"
        return f"static_cast<{C_TYPE[kind]}>({bits})"

    def set(self, at, target, value, kind=None):
        if not isinstance(target, Register):
            raise at.error(f"{target} is not a register")
        held = REGISTER_TYPE[self.kernel.registers[target.name]]
        if kind in ("f32", "f64"):
            value = f"bits_of({value})"
        return f"{self.bits(at, target)} = static_cast<{held}>({value});"

    def address(self, at, operand, space):
        if not isinstance(operand, Address):
            raise at.error(f"{operand} is not an address")
        if space == "param" and isinstance(operand.base, Symbol):
            if operand.base.name not in self.kernel.parameters:
                raise at.error(f"{operand.base} is not a parameter")
            return f"({self.parameter(operand.base.name)} + {operand.offset})"
        base = self.bits(at, operand.base)
        return f"{'shared_at' if space == 'shared' else 'global_at'}({base}, {operand.offset})"

    def parameter(self, name):
        return f"parameter(parameters[{self.kernel.parameters.index(name)}])"

    def elements(self, at, operand, count):
        items = operand.elements if isinstance(operand, Vector) else (operand,)
        if len(items) != count:
            raise at.error(f"{count} elements, and not {len(items)}, are known")
        return items

    def where(self, at):
        return f"{{{at.line}}}"

    def full_mask(self, at, operand):
        mask = self.constants.get(operand, operand)
        if not isinstance(mask, Immediate) or mask.bits & 0xFFFFFFFF != 0xFFFFFFFF:
            raise at.error(f"takes part by {mask}, not all lanes of a warp")

    def translate(self, at):
        for pattern, rule in RULES:
            found = pattern.fullmatch(at.opcode)
            if found:
                code = rule(self, at, *at.operands, **found.groupdict())
                break
        else:
            raise at.error("no rule translates it")
        if at.guard is None:
            return code
        return f"if ({'!' if at.negated else ''}{self.bits(at, at.guard)}) {{ {code} }}"

    def text(self, name):
        lines = [f"// {self.kernel.name}", f"void {name}(const void* const* parameters) {{", "static_cast<void>(parameters);"]
        for register_name, kind in self.kernel.registers.items():
            if kind not in REGISTER_TYPE:
                raise PtxError(self.kernel.line, f"registers of type {kind}")
            lines.append(f"[[maybe_unused]] {REGISTER_TYPE[kind]} {register(register_name)}{{}};")
        for item in self.kernel.body:
            if isinstance(item, Label):
                lines.append(f"{label(item.name)}:;")
            else:
                lines.append(self.translate(item))
        return "\n".join([*lines, "}"])


def label(name):
    return "at_" + name.replace("$", "_")


RULES = []


def rule(pattern):
    def add(function):
        RULES.append((re.compile(pattern), function))
        return function

    return add
