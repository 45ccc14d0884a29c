"""One rule for each instruction of PTX that nvcc has printed for the project's kernels: its C++.

No rule takes a floating-point operation whose rounding is left to the assembler, which it may contract (`add.f32`),
approximations, flushed subnormals, memory of a thread (`.local`) or loads that need not be coherent (`.nc`).
"""

import re

from parse_ptx import Immediate, Pair, Symbol, Vector
from translator import C_TYPE, COMPARE, label, rule, width

INTEGER = r"(?P<kind>[us](?:16|32|64))"
BITS = r"(?P<kind>b(?:16|32|64))"
FLOAT = r"(?P<kind>f(?:32|64))"
ANY = r"(?P<kind>[bus](?:8|16|32|64)|f(?:32|64))"


# Memory. A load of the second-level cache (.cg) sees what other blocks have written and fenced.


@rule(rf"ld(?:\.(?P<space>param|shared|global))?(?P<past>\.cg)?(?:\.v(?P<count>[24]))?\.{ANY}")
def load(self, at, target, source, space, past, count, kind):
    if past and space != "global":
        raise at.error("past the first-level cache from what is in none")
    items = self.elements(at, target, int(count or 1))
    c_type = C_TYPE[kind]
    reads = "load_past" if past else {"param": "load_parameter", "shared": "load_shared", "global": "load_global", None: "load_global"}[space]
    code = f"const unsigned char* const from = {self.address(at, source, space)}; "
    if space in ("shared", "global"):
        code += f"note_{space}({at.line}, from, {len(items) * width(kind) // 8}); "
    code += f"const auto all = {reads}<{c_type}, {len(items)}>(from); "
    return "{ " + code + " ".join(self.set(at, item, f"all[{i}]", kind) for i, item in enumerate(items)) + " }"


@rule(rf"st(?:\.(?P<space>shared|global))?(?:\.v(?P<count>[24]))?\.{ANY}")
def store(self, at, target, source, space, count, kind):
    items = self.elements(at, source, int(count or 1))
    values = ", ".join(self.value(at, item, kind) for item in items)
    address = self.address(at, target, space)
    noted = f"note_{space}({at.line}, {address}, {len(items) * width(kind) // 8}); " if space else ""
    return f"{noted}store_{space or 'global'}<{C_TYPE[kind]}, {len(items)}>({address}, {{{values}}});"


@rule(r"atom\.(?P<space>global|shared)\.(?P<what>add|max)\.(?P<kind>u32|u64)")
def atomic(self, at, target, source, value, space, what, kind):
    c_type = C_TYPE[kind]
    where = f"reinterpret_cast<{c_type}*>({self.address(at, source, space)})"
    return self.set(at, target, f"{space}_atomic_{what}<{c_type}>({where}, {self.value(at, value, kind)})")


@rule(r"atom\.(?P<order>release|acq_rel)\.gpu\.global\.add\.u32")
def ordered_atomic(self, at, target, source, value, order):
    where = f"reinterpret_cast<uint32_t*>({self.address(at, source, 'global')})"
    acquires = "true" if order == "acq_rel" else "false"
    return self.set(at, target, f"ordered_atomic_add({at.line}, {where}, {self.value(at, value, 'u32')}, {acquires})")


@rule(r"ld\.(?P<order>relaxed|acquire)\.gpu\.global\.u32")
def load_counter(self, at, target, source, order):
    given = f"{self.address(at, source, 'global')}"
    return self.set(at, target, f"load_counter({given})" if order == "relaxed" else f"load_counter_acquiring({at.line}, {given})")


# Of a hint: that what it names is there.


@rule(r"cp\.async\.bulk\.prefetch\.L2\.global")
def prefetch_bytes(self, at, source, size):
    return f"simt::prefetch({self.address(at, source, 'global')}, {self.value(at, size, 'u32')});"


@rule(r"prefetch\.global\.L2")
def prefetch_line(self, at, source):
    return f"touch({self.address(at, source, 'global')});"


@rule(r"membar\.gl")
def fence(self, at):
    return f"fence({at.line});"


@rule(r"cp\.async\.cg\.shared\.global(?P<ahead>\.L2::256B)?")
def copy(self, at, target, source, size, there=None, ahead=None):
    if size != Immediate(16):
        raise at.error(f"copies {size} bytes, not 16")
    taken = "true" if there is None else f"copy_is_there({self.bits(at, there)})"
    to, start = self.address(at, target, "shared"), self.address(at, source, "global")
    return f"{{ if ({taken}) note_global({at.line}, {start}, 16); }} copy_async({to}, {start}, {taken});"


@rule(r"cp\.async\.commit_group")
def commit(self, at):
    return "simt::commit_copies();"


@rule(r"cp\.async\.wait_group")
def wait(self, at, groups):
    return f"simt::wait_for_copies({self.bits(at, groups)});"


# An address of no space (generic) is the host's own; one of shared memory counts from its beginning.


@rule(r"cvta(?:\.to)?\.global\.u64")
def to_global(self, at, target, source):
    return self.set(at, target, self.bits(at, source))


@rule(r"cvta\.shared\.u64")
def from_shared(self, at, target, source):
    return self.set(at, target, f"address_of(shared_at({self.bits(at, source)}, 0))")


@rule(r"cvta\.to\.shared\.u64")
def to_shared(self, at, target, source):
    return self.set(at, target, f"{self.bits(at, source)} - address_of(coordinates.shared)")


# Moves.


@rule(r"mov\.(?P<kind>[bus](?:16|32|64)|f(?:32|64)|pred)")
def move(self, at, target, source, kind):
    if isinstance(target, Vector):
        items = self.elements(at, target, 2)
        half = width(kind) // 2
        parts = " ".join(self.set(at, item, f"all >> {half * i}") for i, item in enumerate(items))
        return f"{{ const uint64_t all = {self.bits(at, source)}; {parts} }}"
    if isinstance(source, Vector):
        half = width(kind) // 2
        first, second = (f"static_cast<uint{half}_t>({self.bits(at, item)})" for item in self.elements(at, source, 2))
        return self.set(at, target, f"static_cast<uint64_t>({second}) << {half} | {first}")
    return self.set(at, target, self.bits(at, source))


@rule(r"selp\.(?P<kind>[bus](?:16|32|64)|f(?:32|64))")
def select(self, at, target, first, second, chosen, kind):
    return self.set(at, target, f"{self.bits(at, chosen)} ? {self.bits(at, first)} : {self.bits(at, second)}")


# Whole numbers. Sums and products wrap, as unsigned ones do.


@rule(rf"(?P<what>add|sub)\.{INTEGER}")
def add(self, at, target, first, second, what, kind):
    unsigned = f"u{width(kind)}"
    sign = "+" if what == "add" else "-"
    return self.set(at, target, f"wide({self.value(at, first, unsigned)}) {sign} wide({self.value(at, second, unsigned)})")


@rule(rf"mul\.lo\.{INTEGER}")
def multiply_low(self, at, target, first, second, kind):
    unsigned = f"u{width(kind)}"
    return self.set(at, target, f"wide({self.value(at, first, unsigned)}) * wide({self.value(at, second, unsigned)})")


@rule(rf"mad\.lo\.{INTEGER}")
def multiply_low_add(self, at, target, first, second, third, kind):
    a, b, c = (f"wide({self.value(at, item, f'u{width(kind)}')})" for item in (first, second, third))
    return self.set(at, target, f"{a} * {b} + {c}")


@rule(r"mul\.wide\.(?P<kind>[us](?:16|32))")
def multiply_wide(self, at, target, first, second, kind):
    wider = C_TYPE[f"{kind[0]}{2 * width(kind)}"]
    return self.set(at, target, f"static_cast<{wider}>({self.value(at, first, kind)}) * {self.value(at, second, kind)}")


@rule(r"mad\.wide\.(?P<kind>[us]32)")
def multiply_wide_add(self, at, target, first, second, third, kind):
    wider = C_TYPE[f"{kind[0]}{2 * width(kind)}"]
    product = f"static_cast<{wider}>({self.value(at, first, kind)}) * {self.value(at, second, kind)}"
    return self.set(at, target, f"static_cast<uint64_t>({product}) + {self.bits(at, third)}")


@rule(r"mul\.hi\.(?P<kind>[us](?:32|64))")
def multiply_high(self, at, target, first, second, kind):
    return self.set(at, target, f"high_product({self.value(at, first, kind)}, {self.value(at, second, kind)})")


@rule(rf"(?P<what>div|rem)\.{INTEGER}")
def divide_whole(self, at, target, first, second, what, kind):
    return self.set(at, target, f"{'quotient' if what == 'div' else 'remainder'}({self.value(at, first, kind)}, {self.value(at, second, kind)})")


@rule(rf"(?P<what>min|max)\.{INTEGER}")
def least_whole(self, at, target, first, second, what, kind):
    a, b = self.value(at, first, kind), self.value(at, second, kind)
    return self.set(at, target, f"{a} {'<' if what == 'min' else '>'} {b} ? {a} : {b}")


@rule(r"neg\.(?P<kind>s(?:16|32|64))")
def negate_whole(self, at, target, source, kind):
    return self.set(at, target, f"0 - wide({self.value(at, source, f'u{width(kind)}')})")


@rule(r"abs\.(?P<kind>s(?:32|64))")
def magnitude_whole(self, at, target, source, kind):
    value, unsigned = self.value(at, source, kind), self.value(at, source, f"u{width(kind)}")
    return self.set(at, target, f"{value} < 0 ? 0 - wide({unsigned}) : wide({unsigned})")


@rule(r"(?P<what>and|or|xor)\.(?P<kind>b(?:16|32|64)|pred)")
def combine(self, at, target, first, second, what, kind):
    sign = {"and": "&", "or": "|", "xor": "^"}[what]
    return self.set(at, target, f"{self.value(at, first, kind)} {sign} {self.value(at, second, kind)}")


@rule(r"not\.(?P<kind>b(?:16|32|64)|pred)")
def complement(self, at, target, source, kind):
    return self.set(at, target, f"!{self.bits(at, source)}" if kind == "pred" else f"~wide({self.value(at, source, kind)})")


@rule(rf"shl\.{BITS}")
def shift_left(self, at, target, first, second, kind):
    return self.set(at, target, f"shifted_left({self.value(at, first, kind)}, {self.value(at, second, 'u32')})")


@rule(r"shr\.(?P<kind>[bus](?:16|32|64))")
def shift_right(self, at, target, first, second, kind):
    return self.set(at, target, f"shifted_right({self.value(at, first, kind)}, {self.value(at, second, 'u32')})")


@rule(r"shf\.(?P<side>[lr])\.wrap\.b32")
def funnel(self, at, target, low, high, by, side):
    low, high, by = (self.value(at, item, "u32") for item in (low, high, by))
    return self.set(at, target, f"{'funnel_left' if side == 'l' else 'funnel_right'}({low}, {high}, {by})")


@rule(r"prmt\.b32")
def permute(self, at, target, first, second, selector):
    return self.set(at, target, f"permuted({', '.join(self.value(at, item, 'u32') for item in (first, second, selector))})")


@rule(r"lop3\.b32")
def any_logic(self, at, target, first, second, third, table):
    return self.set(at, target, f"any_logic({', '.join(self.value(at, item, 'u32') for item in (first, second, third, table))})")


@rule(r"bfe\.(?P<kind>[us](?:32|64))")
def field(self, at, target, source, begin, size, kind):
    return self.set(at, target, f"field({self.value(at, source, kind)}, {self.value(at, begin, 'u32')}, {self.value(at, size, 'u32')})")


@rule(r"bfi\.b(?P<bits>32|64)")
def insert(self, at, target, source, into, begin, size, bits):
    a, b = self.value(at, source, f"b{bits}"), self.value(at, into, f"b{bits}")
    return self.set(at, target, f"inserted({a}, {b}, {self.value(at, begin, 'u32')}, {self.value(at, size, 'u32')})")


@rule(r"(?P<what>popc|clz)\.b(?P<bits>32|64)")
def count_bits(self, at, target, source, what, bits):
    return self.set(at, target, f"std::{'popcount' if what == 'popc' else 'countl_zero'}({self.value(at, source, f'b{bits}')})")


# Floating point: each rounds once, to nearest even, and says so.


@rule(rf"(?P<what>add|sub|mul|div)\.rn\.{FLOAT}")
def floating(self, at, target, first, second, what, kind):
    sign = {"add": "+", "sub": "-", "mul": "*", "div": "/"}[what]
    return self.set(at, target, f"{self.value(at, first, kind)} {sign} {self.value(at, second, kind)}", kind)


@rule(rf"fma\.rn\.{FLOAT}")
def fused(self, at, target, first, second, third, kind):
    return self.set(at, target, f"fused({', '.join(self.value(at, item, kind) for item in (first, second, third))})", kind)


@rule(rf"sqrt\.rn\.{FLOAT}")
def root(self, at, target, source, kind):
    return self.set(at, target, f"std::sqrt({self.value(at, source, kind)})", kind)


@rule(rf"rcp\.rn\.{FLOAT}")
def reciprocal(self, at, target, source, kind):
    return self.set(at, target, f"{C_TYPE[kind]}{{1}} / {self.value(at, source, kind)}", kind)


@rule(rf"neg\.{FLOAT}")
def negate(self, at, target, source, kind):
    return self.set(at, target, f"{self.bits(at, source)} ^ {1 << (width(kind) - 1):#x}ull")


@rule(rf"abs\.{FLOAT}")
def magnitude(self, at, target, source, kind):
    return self.set(at, target, f"{self.bits(at, source)} & {(1 << (width(kind) - 1)) - 1:#x}ull")


@rule(rf"(?P<what>min|max)\.{FLOAT}")
def least(self, at, target, first, second, what, kind):
    name = "least" if what == "min" else "greatest"
    return self.set(at, target, f"{name}({self.value(at, first, kind)}, {self.value(at, second, kind)})", kind)


# Comparisons.


@rule(r"setp\.(?P<how>eq|ne|lt|le|gt|ge|lo|ls|hi|hs)\.(?P<kind>[bus](?:16|32|64))")
def compare_whole(self, at, target, first, second, how, kind):
    return self.set(at, target, f"{self.value(at, first, kind)} {COMPARE[how]} {self.value(at, second, kind)}")


@rule(rf"setp\.(?P<how>eq|ne|lt|le|gt|ge)(?P<unordered>u?)\.{FLOAT}")
def compare(self, at, target, first, second, how, unordered, kind):
    a, b = self.value(at, first, kind), self.value(at, second, kind)
    ordered = f"!is_unordered({a}, {b}) && {a} {COMPARE[how]} {b}"
    return self.set(at, target, f"is_unordered({a}, {b}) || {a} {COMPARE[how]} {b}" if unordered else ordered)


@rule(rf"setp\.(?P<how>num|nan)\.{FLOAT}")
def are_numbers(self, at, target, first, second, how, kind):
    found = f"is_unordered({self.value(at, first, kind)}, {self.value(at, second, kind)})"
    return self.set(at, target, found if how == "nan" else f"!{found}")


# Conversions. A narrow result fills its register by its own sign.


@rule(r"cvt\.(?P<to>[us](?:8|16|32|64))\.(?P<kind>[us](?:8|16|32|64))")
def convert_whole(self, at, target, source, to, kind):
    return self.set(at, target, f"static_cast<{C_TYPE[to]}>({self.value(at, source, kind)})")


@rule(r"cvt\.rn\.(?P<to>f32|f64)\.(?P<kind>[us](?:8|16|32|64))")
def convert_from_whole(self, at, target, source, to, kind):
    return self.set(at, target, f"static_cast<{C_TYPE[to]}>({self.value(at, source, kind)})", to)


@rule(r"cvt\.rzi\.(?P<to>[us](?:32|64))\.(?P<kind>f32|f64)")
def convert_to_whole(self, at, target, source, to, kind):
    return self.set(at, target, f"whole<{C_TYPE[to]}>({self.value(at, source, kind)})")


@rule(r"cvt\.(?:f64\.f32|rn\.f32\.f64)")
def convert(self, at, target, source):
    to, kind = re.search(r"(f\d\d)\.(f\d\d)", at.opcode).groups()
    return self.set(at, target, f"static_cast<{C_TYPE[to]}>({self.value(at, source, kind)})", to)


@rule(r"cvt\.rn\.bf16x2\.f32")
def convert_pair(self, at, target, upper, lower):
    return self.set(at, target, f"simt::round_to_bfloat16s({self.value(at, lower, 'f32')}, {self.value(at, upper, 'f32')})")


# What threads do together.


@rule(r"bar\.sync")
def barrier(self, at, number):
    if number != Immediate(0):
        raise at.error(f"barrier {number} is not that of the whole block")
    return f"barrier({self.where(at)});"


@rule(r"bar\.warp\.sync")
def warp_barrier(self, at, mask):
    self.full_mask(at, mask)
    return f"simt::warp_barrier({self.where(at)});"


@rule(r"shfl\.sync\.(?P<how>bfly|idx)\.b32")
def shuffle(self, at, target, value, lane, clamp, mask, how):
    self.full_mask(at, mask)
    if self.constants.get(clamp, clamp) != Immediate(31):
        raise at.error(f"among {clamp}, not all lanes of a warp")
    given = self.value(at, lane, "u32")
    source = f"simt::lane() ^ {given}" if how == "bfly" else given
    was_there = ""
    if isinstance(target, Pair):  # all lanes of the warp take part, and each names one of them
        target, was_there = target.first, " " + self.set(at, target.second, "true")
    return was_there + self.set(at, target, f"simt::exchange({self.value(at, value, 'u32')}, ({source}) % 32U, {self.where(at)})")


@rule(r"vote\.sync\.(?P<how>any|all)\.pred")
def vote(self, at, target, value, mask, how):
    self.full_mask(at, mask)
    return self.set(at, target, f"simt::{how}({self.bits(at, value)}, {self.where(at)})")


@rule(r"vote\.sync\.ballot\.b32")
def ballot(self, at, target, value, mask):
    self.full_mask(at, mask)
    return self.set(at, target, f"simt::ballot({self.bits(at, value)}, {self.where(at)})")


@rule(r"ldmatrix\.sync\.aligned\.m8n8\.x4\.shared\.b16")
def load_matrices(self, at, target, source):
    words = " ".join(self.set(at, item, f"all.{'xyzw'[i]}") for i, item in enumerate(self.elements(at, target, 4)))
    row = self.address(at, source, "shared")
    return f"{{ note_shared({at.line}, {row}, 16); const auto all = simt::load_matrices({row}, {self.where(at)}); {words} }}"


@rule(r"mma\.sync\.aligned\.m16n8k16\.row\.col\.f32\.bf16\.bf16\.f32")
def multiply_matrices(self, at, target, a, b, c):
    d = ", ".join(self.value(at, item, "f32") for item in self.elements(at, c, 4))
    left = ", ".join(self.value(at, item, "u32") for item in self.elements(at, a, 4))
    right = ", ".join(self.value(at, item, "u32") for item in self.elements(at, b, 2))
    results = " ".join(self.set(at, item, f"d[{i}]", "f32") for i, item in enumerate(self.elements(at, target, 4)))
    return f"{{ float d[4] = {{{d}}}; simt::tensor_core_step(d, {{{left}}}, {right}, {self.where(at)}); {results} }}"


# Steps of four warps. A thread has their sums at once: nvcc leaves copies of registers between steps, which the assembler
# takes away. That the kernel's text waits for them is what fibers show.


@rule(r"wgmma\.mma_async\.sync\.aligned\.m64n(?P<tokens>64|128|256)k16\.f32\.bf16\.bf16")
def step_of_four_warps(self, at, sums, weights, inputs, adds, first_sign, second_sign, turned, tokens):
    if (first_sign, second_sign, turned) != (Immediate(1), Immediate(1), Immediate(0)):
        raise at.error("turns a sign, or inputs that do not have K innermost")
    count = int(tokens) // 2
    d = ", ".join(self.value(at, item, "f32") for item in self.elements(at, sums, count))
    left = ", ".join(self.value(at, item, "u32") for item in self.elements(at, weights, 4))
    results = " ".join(self.set(at, item, f"d[{i}]", "f32") for i, item in enumerate(sums.elements))
    step = f"simt::take_described_step(d, {tokens}, {{{left}}}, {self.bits(at, inputs)}, {self.bits(at, adds)}, {self.where(at)});"
    return f"{{ float d[{count}] = {{{d}}}; {step} {results} }}"


@rule(r"wgmma\.fence\.sync\.aligned")
def begin_steps(self, at):
    return "simt::begin_steps();"


@rule(r"wgmma\.commit_group\.sync\.aligned")
def commit_steps(self, at):
    return "simt::commit_warpgroup_steps();"


@rule(r"wgmma\.wait_group\.sync\.aligned")
def wait_for_steps(self, at, groups):
    return f"simt::wait_for_steps({self.bits(at, groups)});"


@rule(r"fence\.proxy\.async\.shared::cta")
def show_copies(self, at):
    return "simt::show_copies_to_steps();"


# Where to go on.


@rule(r"bra(?:\.uni)?")
def branch(self, at, target):
    if not isinstance(target, Symbol) or target.name not in self.labels:
        raise at.error(f"{target} is not a label of this kernel")
    return f"goto {label(target.name)};"


@rule(r"ret")
def leave(self, at):
    return "return;"
