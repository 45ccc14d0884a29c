"""What the tests of the installed package share. TEMPERA names the command; TREE the source tree."""
import contextlib
import json
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import threading

import pytest

import tempera

TREE = pathlib.Path(os.environ.get("TREE", pathlib.Path(__file__).resolve().parents[3]))
TEMPERA = os.environ.get("TEMPERA", str(TREE / "build/release/tempera"))
WORKED_SUM = str(TREE / "toy_models/worked_sum")
PROMPT = "4+7+9+3+8+6+2+5?"
PPT = {"powers": [1, 1.6, 2.5, 4], "horizon": 28, "block": 4, "rounds": 3}
FLAGS = ["--powers", "1,1.6,2.5,4", "--horizon", "28", "--block", "4", "--rounds", "3"]


def command(*arguments):
    done = subprocess.run([TEMPERA, *map(str, arguments)], capture_output=True, text=True, check=True)
    return done.stdout


@contextlib.contextmanager
def a_program(source, **options):
    """Python that runs a source, and takes Ctrl-C even if these tests run in the background; it ends with the block.

    Killed after ten minutes, so that a test of a program that hangs fails.
    """
    takes = lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)  # noqa: E731
    with subprocess.Popen([sys.executable, "-c", source], stdout=subprocess.PIPE, text=True, preexec_fn=takes, **options) as process:
        limit = threading.Timer(600, process.kill)
        limit.start()
        try:
            yield process
        finally:
            limit.cancel()
            process.kill()


@pytest.fixture(scope="session")
def model():
    return tempera.Model.open(WORKED_SUM)


@pytest.fixture
def spoilt_folder(tmp_path):
    """The model with a last norm so large that its logits overflow; weights that are not numbers are refused as it is opened."""
    folder = tmp_path / "spoilt"
    shutil.copytree(WORKED_SUM, folder)
    weights = bytearray((folder / "model.safetensors").read_bytes())
    (size,) = struct.unpack_from("<Q", weights)
    first, last = json.loads(weights[8 : 8 + size])["model.norm.weight"]["data_offsets"]
    weights[8 + size + first : 8 + size + last] = struct.pack("<f", 3e38) * ((last - first) // 4)
    (folder / "model.safetensors").write_bytes(weights)
    return folder
