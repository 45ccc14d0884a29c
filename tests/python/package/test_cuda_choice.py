"""True if a wheel gets the kernels for CUDA, and for which GPUs: by programs that stand for nvcc and nvidia-smi."""
import os
import shutil
import subprocess

import pytest
from conftest import TREE

GOOD_NVCC, BAD_NVCC = "exit 0", "echo 'error: -std=c++20 is not supported' >&2; exit 1"
NVCC_OF_ONE = 'case "$*" in *-arch=sm_90*) exit 0 ;; *) exit 1 ;; esac'
ONE_GPU, OLD_GPU, NO_GPU = "echo 9.0", "echo 7.5", "echo 'No devices were found'; exit 6"
NEW_GPUS = "printf '8.6\\n12.0\\n12.0\\n'"
PRESET = "ON [80-real;86-real;89-real;90]"


@pytest.mark.parametrize(("wish", "nvcc", "smi", "expected", "words"), [
    ("OFF", GOOD_NVCC, ONE_GPU, "OFF []", "TEMPERA_PYTHON_CUDA is OFF"),
    ("AUTO", None, ONE_GPU, "OFF []", "nvcc is not on the path"),
    ("AUTO", GOOD_NVCC, None, PRESET, "nvcc is here"),
    ("AUTO", GOOD_NVCC, NO_GPU, PRESET, "nvcc is here"),
    ("AUTO", GOOD_NVCC, OLD_GPU, PRESET, "not for sm_75"),
    ("AUTO", GOOD_NVCC, ONE_GPU, PRESET, "nvcc is here"),
    ("AUTO", GOOD_NVCC, NEW_GPUS, "ON [80-real;86-real;89-real;90;120-real]", "nvcc is here"),
    ("AUTO", NVCC_OF_ONE, NEW_GPUS, "ON [90]", "not for sm_80, sm_86, sm_89, sm_120"),
    ("AUTO", BAD_NVCC, ONE_GPU, "OFF []", "no C++20 for sm_80, sm_86, sm_89, sm_90"),
    ("ON", GOOD_NVCC, None, PRESET, "nvcc is here"),
    ("ON", BAD_NVCC, None, None, "take no C++20"),
    ("ON", None, ONE_GPU, None, "nvcc is not on the path"),
    ("yes", GOOD_NVCC, ONE_GPU, None, "must be ON, OFF or AUTO"),
])
def test_kernels_are_built_where_nvcc_is(tmp_path, wish, nvcc, smi, expected, words):
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
