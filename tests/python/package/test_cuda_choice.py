"""Whether a wheel gets the kernels for CUDA: by what a machine has, here by programs that stand for nvcc and nvidia-smi."""
import os
import shutil
import subprocess

import pytest
from conftest import TREE

GOOD_NVCC, BAD_NVCC = "exit 0", "echo 'error: -std=c++20 is not supported' >&2; exit 1"
ONE_GPU, TWO_GPUS, OLD_GPU, NO_GPU = "echo 9.0", "printf '8.0\\n9.0\\n9.0\\n'", "echo 7.5", "echo 'No devices were found'; exit 6"


@pytest.mark.parametrize(("wish", "nvcc", "smi", "expected", "words"), [
    ("OFF", GOOD_NVCC, ONE_GPU, "OFF []", "not asked for"),
    ("AUTO", None, ONE_GPU, "OFF []", "nvcc is not on the path"),
    ("AUTO", GOOD_NVCC, None, "OFF []", "no GPU here"),
    ("AUTO", GOOD_NVCC, NO_GPU, "OFF []", "no GPU here"),
    ("AUTO", GOOD_NVCC, OLD_GPU, "OFF []", "sm_75"),
    ("AUTO", BAD_NVCC, ONE_GPU, "OFF []", "no C++20"),
    ("AUTO", GOOD_NVCC, ONE_GPU, "ON [90-real]", "a GPU and nvcc are here"),
    ("AUTO", GOOD_NVCC, TWO_GPUS, "ON [80-real;90-real]", "a GPU and nvcc are here"),
    ("ON", GOOD_NVCC, None, "ON []", "asked for"),
    ("ON", None, ONE_GPU, None, "nvcc is not on the path"),
    ("yes", GOOD_NVCC, ONE_GPU, None, "must be ON, OFF or AUTO"),
])
def test_kernels_are_built_where_they_are_of_use(tmp_path, wish, nvcc, smi, expected, words):
    cmake = shutil.which("cmake")
    for name, program in (("nvcc", nvcc), ("nvidia-smi", smi)):
        if program is not None:
            (tmp_path / name).write_text(f"#!/bin/sh\n{program}\n")
            (tmp_path / name).chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if name != "CUDACXX"}
    done = subprocess.run([cmake, f"-DWISH={wish}", "-P", TREE / "python/bindings/choose_cuda.cmake"],
                          capture_output=True, text=True, cwd=tmp_path, env={**environment, "PATH": str(tmp_path)})
    assert (done.returncode == 0) == (expected is not None) and words in " ".join(done.stderr.split())
    if expected is not None:
        assert done.stderr.startswith(expected), done.stderr
