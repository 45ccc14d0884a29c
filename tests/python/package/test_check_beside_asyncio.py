"""A judged program in a process that has awaited before: CPython 3.12.0 to 3.12.2 keep the free objects of asyncio in a list."""
import subprocess
import sys


AWAITED = """
import asyncio, gc
from tempera import check

async def main():
    for _ in range(3):
        future = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(future.set_result, None)
        await future

for _ in range(3):
    asyncio.run(main())
    check.early_names._known = 0  # as after an import
    check.law(lambda: 0)
    asyncio.run(main())
    gc.collect()
print("done")
"""


def test_a_program_is_judged_after_coroutines_were_awaited():
    done = subprocess.run([sys.executable, "-c", AWAITED], capture_output=True, text=True, timeout=600)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
