"""The kernels that nvcc compiled for sm_80 otherwise than for sm_90: most have the same instructions, and are compiled and run once.

other_target.py FOLDER    writes FOLDER/other_target.cpp, for test_simt_ptx
"""

import pathlib
import re
import sys

PTX = pathlib.Path(__file__).resolve().parents[3] / "lab/ptx"
sys.path.insert(0, str(PTX))
import kept  # noqa: E402
from parse_ptx import parse  # noqa: E402
from to_cpp import translate  # noqa: E402

BEGIN_OF_KERNEL = re.compile(r"^(?:\.visible |\.weak )?\.entry (\w+)", re.M)


def texts_by_kernel(module):
    """{kernel: its PTX}, each with the lines that the whole module begins with, but without its target."""
    begins = [*BEGIN_OF_KERNEL.finditer(module)]
    head = re.sub(r"^\.target .*$", "", module[: begins[0].start()], flags=re.M)
    ends = [begin.start() for begin in begins[1:]] + [len(module)]
    return {begin[1]: head + module[begin.start() : end] for begin, end in zip(begins, ends)}


def kernels_that_differ(text, other):
    """The names of a module's kernels whose PTX is not that of the kernel of this name in another module."""
    others = texts_by_kernel(other)
    return [kernel for kernel, own in texts_by_kernel(text).items() if others.get(kernel) != own]


def find_differing():
    """[(source, PTX for sm_80, names of kernels)]"""
    modules = kept.modules()
    found = []
    for name, text in modules.items():
        source, target, _ = name.split(".")
        if target == "sm_80":
            kernels = kernels_that_differ(text, modules[f"{source}.sm_90.ptx"])
            if kernels:
                found.append((source, text, kernels))
    return found


def write(folder):
    texts, spans = [], []
    for source, text, names in find_differing():
        module = parse(text)
        texts.append(translate(f"{source}_sm_80", module, [kernel for kernel in module.kernels if kernel.name in names]))
        spans.append(f"{source}_sm_80::kernels()")
    (pathlib.Path(folder) / "other_target.cpp").write_text(
        "\n".join(texts)
        + '\n#include "tests/simt/ptx/all_kernels.hpp"\n\nnamespace tempera::lab::ptx {\n\n'
        + "std::vector<std::span<const CompiledKernel>> kernels_of_other_target() {\n"
        + f"  return {{{', '.join(spans)}}};\n}}\n\n}}  // namespace tempera::lab::ptx\n"
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("other_target: give a folder")
    write(sys.argv[1])
