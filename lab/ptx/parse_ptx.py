"""The PTX that nvcc prints, as objects: a module's shared arrays and its kernels, each a list of labels and instructions.

What nvcc has not printed for this project's kernels so far is an error that names its line, never a guess.
"""

import dataclasses
import re


class PtxError(Exception):
    """Something in a module that is not known, or that the project's kernels may not do."""

    def __init__(self, line, text):
        super().__init__(f"line {line}: {text}")
        self.line = line


@dataclasses.dataclass(frozen=True)
class Register:
    name: str


@dataclasses.dataclass(frozen=True)
class Special:
    """A read-only register of the thread: %tid.x and its like."""

    name: str


@dataclasses.dataclass(frozen=True)
class Immediate:
    """A number by its bits; `floating` is 32 or 64 for a floating-point one."""

    bits: int
    floating: int = 0


@dataclasses.dataclass(frozen=True)
class Symbol:
    name: str


@dataclasses.dataclass(frozen=True)
class Address:
    base: object
    offset: int


@dataclasses.dataclass(frozen=True)
class Vector:
    elements: tuple


@dataclasses.dataclass(frozen=True)
class Pair:
    """Two destinations of one instruction: a|b."""

    first: object
    second: object


@dataclasses.dataclass(frozen=True)
class Label:
    line: int
    name: str


@dataclasses.dataclass(frozen=True)
class Instruction:
    line: int
    opcode: str
    operands: tuple
    guard: object = None  # a Register, or None
    negated: bool = False

    def error(self, text):
        return PtxError(self.line, f"{self.opcode}: {text}")


@dataclasses.dataclass
class Kernel:
    name: str
    line: int
    parameters: list  # names, in order
    registers: dict = dataclasses.field(default_factory=dict)  # name: type
    body: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Module:
    shared: list = dataclasses.field(default_factory=list)  # arrays whose size the launch gives
    kernels: list = dataclasses.field(default_factory=list)


SPECIALS = {"%tid.x", "%ntid.x", "%ctaid.x", "%ctaid.y", "%ctaid.z", "%nctaid.x", "%nctaid.y", "%nctaid.z", "%laneid"}
NAME = r"[A-Za-z_$][\w$]*"


def without_comments(text):
    """The same lines, so that a line's number stays what it is."""
    text = re.sub(r"/\*.*?\*/", lambda comment: "\n" * comment[0].count("\n"), text, flags=re.S)
    return re.sub(r"//[^\n]*", "", text)


def split_operands(text, line):
    operands, depth, begin = [], 0, 0
    for index, character in enumerate(text):
        if character in "{[":
            depth += 1
        elif character in "}]":
            depth -= 1
        elif character == "," and depth == 0:
            operands.append(text[begin:index].strip())
            begin = index + 1
    if depth != 0:
        raise PtxError(line, f"brackets do not match: {text}")
    last = text[begin:].strip()
    if last or operands:
        operands.append(last)
    if not all(operands):
        raise PtxError(line, f"an operand is missing: {text}")
    return operands


def operand_of(text, line):
    if text.startswith("{") and text.endswith("}"):
        return Vector(tuple(operand_of(part, line) for part in split_operands(text[1:-1], line)))
    if text.startswith("[") and text.endswith("]"):
        address = re.fullmatch(rf"(%\w+|{NAME})\s*(?:\+\s*(-?\d+))?", text[1:-1].strip())
        if not address:
            raise PtxError(line, f"unknown address {text}")
        return Address(operand_of(address[1], line), int(address[2] or 0))
    if "|" in text:
        first, second = text.split("|")
        return Pair(operand_of(first.strip(), line), operand_of(second.strip(), line))
    if text in SPECIALS:
        return Special(text)
    if re.fullmatch(r"%\w+", text):
        return Register(text)
    if re.fullmatch(r"0[fF][0-9A-Fa-f]{8}", text):
        return Immediate(int(text[2:], 16), 32)
    if re.fullmatch(r"0[dD][0-9A-Fa-f]{16}", text):
        return Immediate(int(text[2:], 16), 64)
    if re.fullmatch(r"-?\d+|0x[0-9A-Fa-f]+", text):
        return Immediate(int(text, 0))
    if re.fullmatch(NAME, text):
        return Symbol(text)
    raise PtxError(line, f"unknown operand {text}")


def instruction_of(text, line):
    parts = re.fullmatch(r"(?:@(!?)(%\w+)\s+)?([a-z][\w:]*(?:\.[\w:]+)*)(?:\s+(.*))?", text, re.S)
    if not parts:
        raise PtxError(line, f"unknown statement: {text}")
    negated, guard, opcode, operands = parts.groups()
    operands = split_operands(operands, line) if operands else []
    return Instruction(
        line,
        opcode,
        tuple(operand_of(operand, line) for operand in operands),
        Register(guard) if guard else None,
        negated == "!",
    )


def read_registers(kernel, text, line, scope):
    """scope: {name: name of this block's own register}, or None outside of blocks."""
    declared = re.fullmatch(r"\.reg\s+\.(\w+)\s+(%\w+)(?:<(\d+)>)?", text)
    if not declared or (declared[3] is None) != (scope is not None):
        raise PtxError(line, f"unknown declaration: {text}")
    kind, name, count = declared.groups()
    if scope is not None:
        scope[name] = f"{name}_{line}"
        kernel.registers[scope[name]] = kind
        return
    for number in range(int(count)):
        kernel.registers[f"{name}{number}"] = kind


def read_body(kernel, text, first_line):
    line = first_line
    scope = None
    for statement in re.split(r"(?<=;)|(?<=:)(?=\s)", text):
        line_here = line + len(re.match(r"\s*", statement)[0].split("\n")) - 1
        line += statement.count("\n")
        statement = statement.strip()
        while statement[:1] in ("{", "}"):
            if (statement[0] == "{") != (scope is None):
                raise PtxError(line_here, "blocks within blocks")
            scope = {} if statement[0] == "{" else None
            line_here += len(re.match(r"\s*", statement[1:])[0].split("\n")) - 1
            statement = statement[1:].strip()
        if not statement:
            continue
        for name, own in (scope or {}).items():
            statement = re.sub(rf"{name}\b", own, statement)
        if statement.endswith(":"):
            if not re.fullmatch(rf"{NAME}:", statement):
                raise PtxError(line_here, f"unknown label: {statement}")
            kernel.body.append(Label(line_here, statement[:-1]))
            continue
        if not statement.endswith(";"):
            raise PtxError(line_here, f"unknown statement: {statement}")
        statement = statement[:-1].strip()
        if statement.startswith(".reg"):
            read_registers(kernel, statement, line_here, scope)
        elif statement.startswith(".local"):
            raise PtxError(line_here, "local memory: registers are spilled, or an array is indexed at run time")
        elif re.fullmatch(r'\.pragma "(?:nounroll|used_bytes_mask \d+)"', statement):
            continue  # hints: the second is which bytes of the next load are used
        elif statement.startswith("."):
            raise PtxError(line_here, f"unknown directive: {statement}")
        else:
            kernel.body.append(instruction_of(statement, line_here))
    if scope is not None:
        raise PtxError(line, "a block does not end")


def parse(text):
    """@raise PtxError"""
    text = without_comments(text)
    module = Module()
    at = 0

    def line_at(offset):
        return text.count("\n", 0, offset) + 1

    header = re.compile(
        rf"\s*(?:(\.version\s+[\d.]+|\.target\s+sm_\w+|\.address_size\s+64)"
        rf"|\.extern\s+\.shared\s+\.align\s+\d+\s+\.b8\s+(?P<shared>{NAME})\[\];"
        rf"|\.visible\s+\.entry\s+(?P<entry>{NAME})\s*\((?P<parameters>[^)]*)\)\s*(?:\.(?:maxntid|minnctapersm)[\d ,]*\s*)*\{{)"
    )
    while text[at:].strip():
        found = header.match(text, at)
        if not found:
            offset = at + len(re.match(r"\s*", text[at:])[0])
            raise PtxError(line_at(offset), f"unknown directive: {text[offset:].splitlines()[0]}")
        at = found.end()
        if found["shared"]:
            module.shared.append(found["shared"])
        elif found["entry"]:
            names = [re.search(rf"({NAME})(?:\[\d+\])?$", part.strip())[1] for part in found["parameters"].split(",") if part.strip()]
            kernel = Kernel(found["entry"], line_at(found.start("entry")), names)
            end = re.compile(r"^\}", re.M).search(text, at)
            if not end:
                raise PtxError(kernel.line, f"{kernel.name} does not end")
            read_body(kernel, text[at : end.start()], line_at(at))
            module.kernels.append(kernel)
            at = end.end()
    return module
