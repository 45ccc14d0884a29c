"""Defects planted in what nvcc compiled: each is an edit of some kernels' instructions, and the case that must then fail.

plants.py FOLDER    writes FOLDER/planted_0.cpp …, PARTS files, for test_simt_ptx
plants.py --list    name, case and memory of each, with tabs between

A barrier that is removed and a wait for copies that is one short are planted by the cases of tests/simt themselves: the
fibers know a barrier by its line, here that of the PTX.
"""

import dataclasses
import pathlib
import re
import sys

PTX = pathlib.Path(__file__).resolve().parents[3] / "lab/ptx"
sys.path.insert(0, str(PTX))
import kept  # noqa: E402
from parse_ptx import Address, Immediate, Label, Module, Vector, parse  # noqa: E402
from to_cpp import translate  # noqa: E402

PARTS = 3


@dataclasses.dataclass(frozen=True)
class Plant:
    name: str
    module: str
    kernels: str  # a pattern of their names
    opcode: str  # a pattern of the instructions that are edited
    edit: object  # of an instruction: another one, or None if it is left out
    case: str  # of tests/simt, by name
    memory: str = "plain"  # or "worst": what a thread may see of what others write
    only: object = None  # of the instructions that match: the numbers of those that are edited; all if it is None
    after: str = ""  # a pattern of the first instruction after which the edited one is moved; empty if it stays


def replaced(item, **fields):
    return dataclasses.replace(item, **fields)


def left_out(_):
    return None


def plain(item):
    return replaced(item, opcode=item.opcode.replace(".cg", ""))


def with_operand(number, change):
    def edit(item):
        operands = list(item.operands)
        operands[number] = change(operands[number])
        return replaced(item, operands=tuple(operands))

    return edit


def exchanged(first, second):
    def change(vector):
        elements = list(vector.elements)
        elements[first], elements[second] = elements[second], elements[first]
        return Vector(tuple(elements))

    return change


def moved_by(offset):
    return lambda address: Address(address.base, address.offset + offset)


def other(number):
    return lambda _: Immediate(number)


CUT = "however a product is cut, its bits stay"
PRODUCT = "a product takes a bias, is added to the stream, and gated after its activation"
SHAPES = "a product has the contract's bits for every batch, slot, cut and thread order"
ATTENTION = "attention has the contract's bits for every head shape, context, fork and thread order"
EIGHT_BITS = "attention over pages of 8 bits has the contract's bits for every head shape and fork"
TOGETHER = "forks that share no split, some and all of them have the contract's bits together"
STEP = "whole steps on fibers have the contract's bits: prefill, decode, forks, any slot"
NORMS = "norms of rows have the contract's bits, in rows and in pages, and are gathered again"
DRAW = "the draw's kernels have the host's bits for every shape, batch and thread order"
ENDS = "words at the ends of tokens, threads and chunks select the host's token"
STORING = r"7productILj1ELj1ENS1_12StoreProductENS1_15Fragment"
WARPGROUPS = "a product by four warps together has the contract's bits for every batch and cut"
WARPGROUPS_STORING = r"17warpgroup_productINS.*LayoutILj8ELj64EEENS1_12StoreProduct"
LAYERS = "all layers in one kernel leave the states and the pages of a kernel for each part"
RUN_LAYERS = r"16run_dense_layersILj1E"
ATTEND = r"12attend_splitILj1ELj1ELj1EN.*Bfloat16"
ATTEND_8_BITS = r"12attend_splitILj1ELj1ELj1EN.*EightBit"

PLANTS = [
    Plant("a fragment's registers exchanged", "product_launch", STORING, r"mma\..*", with_operand(1, exchanged(1, 2)), SHAPES),
    Plant("the halves of K exchanged", "product_launch", STORING, r"mma\..*", with_operand(2, exchanged(0, 1)), SHAPES),
    Plant("a sum's registers exchanged", "product_launch", STORING, r"mma\..*", with_operand(0, exchanged(0, 2)), SHAPES),
    Plant("a lane's row off by one", "product_launch", STORING, r"ldmatrix\..*", with_operand(1, moved_by(16)), SHAPES),
    Plant("a group of copies not closed", "product_launch", STORING, r"cp\.async\.commit_group", left_out, SHAPES, only={0}),
    Plant("a lane's weights off by one", "product_launch", STORING, r"cp\.async\.cg.*", with_operand(0, moved_by(16)), SHAPES, only={0}),
    Plant("the counter not reset", "product_launch", STORING, r"st\.global\.u32", left_out, CUT),
    Plant("the counter's reset moved", "product_launch", STORING, r"st\.global\.u32", with_operand(1, other(0)), CUT, after=r"atom\.global\.add\.u32"),
    Plant("a part counted twice", "product_launch", STORING, r"atom\.global\.add\.u32", with_operand(2, other(2)), CUT),
    Plant("weights exchanged, of four warps", "warpgroup_product_launch", WARPGROUPS_STORING, r"wgmma\.mma.*", with_operand(1, exchanged(1, 2)), WARPGROUPS, only={0}),
    Plant("sums exchanged, of four warps", "warpgroup_product_launch", WARPGROUPS_STORING, r"wgmma\.mma.*", with_operand(0, exchanged(0, 2)), WARPGROUPS, only={1}),
    Plant("copies not shown to steps", "warpgroup_product_launch", WARPGROUPS_STORING, r"fence\.proxy.*", left_out, WARPGROUPS, only={1}),
    Plant("steps not waited for", "warpgroup_product_launch", WARPGROUPS_STORING, r"wgmma\.wait_group.*", left_out, WARPGROUPS, only={0}),
    Plant("steps not begun", "warpgroup_product_launch", WARPGROUPS_STORING, r"wgmma\.fence.*", left_out, WARPGROUPS, only={1}),
    Plant("a stage's copies not closed, of four warps", "warpgroup_product_launch", WARPGROUPS_STORING, r"cp\.async\.commit_group", left_out, WARPGROUPS, only={0}),
    Plant("a copy that is not there", "attention_launch", ATTEND, r"cp\.async\.cg.*", with_operand(3, other(0)), ATTENTION, only={0}),
    Plant("a split that is added twice", "attention_launch", ATTEND, r"atom\.global\.add\.u32", with_operand(2, other(2)), ATTENTION),
    Plant("the reset of attention's counter moved", "attention_launch", ATTEND, r"st\.global\.u32", with_operand(1, other(0)), ATTENTION, after=r"atom\.global\.add\.u32"),
    Plant("a byte of the neighbouring element", "attention_launch", ATTEND_8_BITS, r"prmt\.b32", with_operand(3, other(0x7651)), EIGHT_BITS, only={0}),
    Plant("the exponent of the next position's key", "attention_launch", ATTEND_8_BITS, r"ld\.global\.u8", with_operand(1, moved_by(1)), EIGHT_BITS, only={16}),
    Plant("the exponent of the next position's value", "attention_launch", ATTEND_8_BITS, r"ld\.global\.u8", with_operand(1, moved_by(1)), EIGHT_BITS, only={17}),
    Plant("a copy that is not there, of rows together", "attention_launch", r"12attend_splitILj1ELj1ELj8E", r"cp\.async\.cg.*", with_operand(3, other(0)), TOGETHER, only={0}),
    Plant("a split that is added twice, of rows together", "attention_launch", r"12attend_splitILj1ELj1ELj8E", r"atom\.global\.add\.u32", with_operand(2, other(2)), TOGETHER),
    Plant("no fence before the counter", "product_launch", STORING, r"membar\.gl", left_out, CUT, "worst", {0}),
    Plant("no fence after the counter", "product_launch", STORING, r"membar\.gl", left_out, CUT, "worst", {1}),
    Plant("parts read by plain loads", "product_launch", STORING, r"ld\.global\.cg\.f32", plain, CUT, "worst"),
    Plant("a sum of the neighbouring output", "product_launch", r"12add_segmentsINS1_12StoreProduct", r"ld\.global\.cg\.f32", with_operand(1, moved_by(4)), CUT, only={0}),
    Plant("no fence before attention's counter", "attention_launch", ATTEND, r"membar\.gl", left_out, ATTENTION, "worst", {0}),
    Plant("no fence after attention's counter", "attention_launch", ATTEND, r"membar\.gl", left_out, ATTENTION, "worst", {1}),
    Plant("splits read by plain loads", "attention_launch", ATTEND, r"ld\.global\.cg\.f32", plain, ATTENTION, "worst"),
    Plant("what a phase has left read by plain loads", "dense_layers_launch", RUN_LAYERS, r"ld\.global\.cg\..*", plain, LAYERS, "worst"),
    Plant("a phase left twice", "dense_layers_launch", RUN_LAYERS, r"atom\.global\.add\.u32", with_operand(2, other(2)), LAYERS),
    Plant("a lane left out of a sum", "cuda_kernels", r"14normalize_rows", r"shfl\..*", with_operand(2, other(0)), NORMS, only={0}),
    Plant("a lane's square twice in a sum", "cuda_kernels", r"14normalize_rows", r"shfl\..*", with_operand(2, other(1)), NORMS, only={1}),
    Plant("a square rounded by itself", "cuda_kernels", r"14normalize_rows", r"sqrt\.rn\.f32", lambda item: replaced(item, opcode="rcp.rn.f32"), NORMS),
    Plant("a lane left out of the tickets", "queue_draw", r"11sum_tickets", r"shfl\.sync\.bfly\.b32", with_operand(2, other(0)), DRAW, only={0}),
    Plant("a prefix of another lane", "queue_draw", r"11draw_winner", r"shfl\.sync\.idx\.b32", with_operand(2, other(5)), ENDS, only={0}),
    Plant("the maximum a minimum", "queue_draw", r"18find_chunk_largest", r"setp\.gt\.f32", lambda item: replaced(item, opcode="setp.lt.f32"), DRAW),
]


def planted(plant, module):
    """A module of the plant's kernels, edited. Stops if the plant has lost its instructions."""
    kernels = []
    for kernel in module.kernels:
        if not re.search(plant.kernels, kernel.name):
            continue
        body, matches, edits, moved = [], 0, 0, []
        for item in kernel.body:
            if not isinstance(item, Label) and re.fullmatch(plant.opcode, item.opcode):
                if plant.only is None or matches in plant.only:
                    edited = plant.edit(item)
                    edits += edited != item
                    item = edited
                    if plant.after:
                        moved.append(edited)
                        item = None
                matches += 1
            if item is not None:
                body.append(item)
        for item in moved:
            found = [index for index, other_item in enumerate(body) if not isinstance(other_item, Label) and re.fullmatch(plant.after, other_item.opcode)]
            if not found:
                sys.exit(f"plants: '{plant.name}' is not found in {kernel.name}")
            body.insert(found[0] + 1, item)
        if edits == 0:
            sys.exit(f"plants: '{plant.name}' has lost its instructions in {kernel.name}")
        kernels.append(dataclasses.replace(kernel, body=body))
    if not kernels:
        sys.exit(f"plants: '{plant.name}' has lost its kernels")
    return Module(module.shared, kernels)


def write(folder):
    modules = {}
    for part in range(PARTS):
        texts = []
        for number, plant in enumerate(PLANTS):
            if number % PARTS != part:
                continue
            if plant.module not in modules:
                modules[plant.module] = parse(kept.modules()[f"{plant.module}.sm_90.ptx"])
            module = planted(plant, modules[plant.module])
            texts.append(translate(f"planted_{number}", module, module.kernels))
        (pathlib.Path(folder) / f"planted_{part}.cpp").write_text("\n".join(texts))
    names = [f"planted_{number}" for number in range(len(PLANTS))]
    declared = "\n".join(f"namespace {name} {{\nstd::span<const CompiledKernel> kernels();\n}}" for name in names)
    rows = "\n".join(f'      {{"{plant.name}", {name}::kernels()}},' for name, plant in zip(names, PLANTS))
    (pathlib.Path(folder) / "all_planted.cpp").write_text(
        '// Written by tests/simt/ptx/plants.py.\n#include "tests/simt/ptx/all_kernels.hpp"\n\nnamespace tempera::lab::ptx {\n\n'
        f"{declared}\n\nstd::map<std::string, std::span<const CompiledKernel>> planted_kernels() {{\n"
        f"  return {{\n{rows}\n  }};\n}}\n\n"
        "}  // namespace tempera::lab::ptx\n"
    )


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        for each in PLANTS:
            print(f"{each.name}\t{each.case}\t{each.memory}")
    elif len(sys.argv) == 2:
        write(sys.argv[1])
    else:
        sys.exit("plants: give a folder, or --list")
