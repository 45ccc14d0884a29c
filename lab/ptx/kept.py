"""Reads and writes the kept PTX: one archive, as most of the text for sm_80 is that for sm_90.

A module's name is SOURCE.TARGET.ptx, queue_draw.sm_90.ptx say. lab/CMakeLists.txt unpacks the archive into the build folder.
"""

import functools
import io
import lzma
import pathlib
import tarfile

KEPT = pathlib.Path(__file__).resolve().parent / "kept"
ARCHIVE = KEPT / "ptx.tar.xz"
# These settings of xz make it smallest: one dictionary holds all modules that are alike.
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 1 << 26, "lc": 4, "lp": 0, "pb": 0}]


@functools.cache
def modules():
    """{name: PTX}, in the order of names; nothing if there is no archive. @raise OSError, LZMAError or TarError if it is damaged"""
    if not ARCHIVE.is_file():
        return {}
    with tarfile.open(ARCHIVE, "r:xz") as archive:
        return {member.name: archive.extractfile(member).read().decode() for member in archive}


def write(named):
    """Replaces the archive by one of these modules, {name: PTX}: the same bytes whenever they are the same."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, text in sorted(named.items()):
            data = text.encode()
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    written = ARCHIVE.with_suffix(".new")
    written.write_bytes(lzma.compress(packed.getvalue(), filters=FILTERS))
    written.replace(ARCHIVE)
    modules.cache_clear()
