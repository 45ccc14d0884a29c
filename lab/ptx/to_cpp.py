#!/usr/bin/env python3
"""Translates PTX to C++ over the primitives of gpu/device/simt: what nvcc compiled, on fibers.

to_cpp.py FILE.ptx NAME PARTS FOLDER   writes FOLDER/NAME_0.cpp … , PARTS files with as many kernels each
Exit code: 0 translated, 1 the module has what is not known or not allowed, 2 it cannot be read.

rules.py says what is known and what is refused.
"""

import argparse
import pathlib
import sys

import rules  # noqa: F401  # fills the list that a translator looks in
from parse_ptx import PtxError, parse
from translator import Translator


def translate(name, module, kernels):
    """C++ of some kernels of a module, in namespace tempera::lab::ptx::NAME. @raise PtxError"""
    texts = [Translator(module, kernel).text(f"kernel_{number}") for number, kernel in enumerate(kernels)]
    rows = "\n".join(f'    {{"{kernel.name}", kernel_{number}}},' for number, kernel in enumerate(kernels))
    return (
        '// Written by lab/ptx/to_cpp.py.\n#include "lab/ptx/operations.hpp"\n\n'
        f"namespace tempera::lab::ptx::{name} {{\nnamespace {{\n\nusing gpu::simt::coordinates;\n\n"
        + "\n\n".join(texts)
        + f"\n\nconstexpr CompiledKernel all[]{{\n{rows}\n}};\n\n}}  // namespace\n\n"
        "std::span<const CompiledKernel> kernels();\nstd::span<const CompiledKernel> kernels() { return all; }\n\n"
        f"}}  // namespace tempera::lab::ptx::{name}\n"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("name")
    parser.add_argument("parts", type=int)
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    try:
        module = parse(pathlib.Path(options.file).read_text())
        for part in range(options.parts):
            name = f"{options.name}_{part}"
            (options.folder / f"{name}.cpp").write_text(translate(name, module, module.kernels[part :: options.parts]))
    except PtxError as error:
        print(f"to_cpp: {options.file}, {error}", file=sys.stderr)
        return 1
    except (OSError, UnicodeDecodeError) as error:
        print(f"to_cpp: {options.file}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
