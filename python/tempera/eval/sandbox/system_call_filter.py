"""A seccomp filter: one process, no sockets, no memory that the limit of a process does not count.

A program may have threads and no child. So limits of the process are limits of the program, whoever runs it: the usual
limit on the number of processes does not hold for root. The filter is classic BPF, 8 bytes an instruction.
"""

from __future__ import annotations

import errno
import platform
import struct

# Numbers of system calls, by name, for the two machines that the filter knows.
_X86_64 = {
    "socket": 41, "fork": 57, "vfork": 58, "ptrace": 101, "shmget": 29, "msgget": 68, "semget": 64,
    "mount": 165, "umount2": 166, "pivot_root": 155, "unshare": 272, "setns": 308, "keyctl": 250, "add_key": 248,
    "request_key": 249, "bpf": 321, "perf_event_open": 298, "userfaultfd": 323, "memfd_create": 319,
    "memfd_secret": 447, "io_uring_setup": 425, "mq_open": 240, "process_vm_readv": 310, "process_vm_writev": 311,
    "kexec_load": 246, "init_module": 175, "finit_module": 313, "fsopen": 430, "open_tree": 428, "move_mount": 429,
    "mount_setattr": 442, "inotify_init": 253, "inotify_init1": 294, "fanotify_init": 300,
}  # fmt: skip
_AARCH64 = {
    "socket": 198, "ptrace": 117, "shmget": 194, "msgget": 186, "semget": 190, "mount": 40, "umount2": 39,
    "pivot_root": 41, "unshare": 97, "setns": 268, "keyctl": 219, "add_key": 217, "request_key": 218, "bpf": 280,
    "perf_event_open": 241, "userfaultfd": 282, "memfd_create": 279, "memfd_secret": 447, "io_uring_setup": 425,
    "mq_open": 180, "process_vm_readv": 270, "process_vm_writev": 271, "kexec_load": 104, "init_module": 105,
    "finit_module": 273, "fsopen": 430, "open_tree": 428, "move_mount": 429, "mount_setattr": 442,
    "inotify_init1": 26, "fanotify_init": 262,
}  # fmt: skip
# For each machine: its number in the kernel's audit, its calls, clone, clone3.
_MACHINES = {
    "x86_64": (0xC000003E, _X86_64, 56, 435),
    "aarch64": (0xC00000B7, _AARCH64, 220, 435),
}
_CLONE_THREAD = 0x00010000

_LOAD = 0x20  # BPF_LD | BPF_W | BPF_ABS
_EQUAL = 0x15  # BPF_JMP | BPF_JEQ | BPF_K
_AT_LEAST = 0x35  # BPF_JMP | BPF_JGE | BPF_K
_ANY_BIT = 0x45  # BPF_JMP | BPF_JSET | BPF_K
_RETURN = 0x06  # BPF_RET | BPF_K
_KILL, _REFUSE, _ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def filter_for(machine: str) -> bytes | None:
    """The filter as bytes for `bwrap --seccomp`, None for a machine that is not known.

    >>> len(filter_for("x86_64")) % 8, filter_for("vax")
    (0, None)
    """
    if machine not in _MACHINES:
        return None
    architecture, calls, clone, clone3 = _MACHINES[machine]
    program = [
        _step(_LOAD, _ARCHITECTURE),
        _step(_EQUAL, architecture, 1, 0),
        _step(_RETURN, _KILL),
        _step(_LOAD, _NUMBER),
    ]
    if machine == "x86_64":  # the x32 calls have numbers of their own, all refused
        program += [_step(_AT_LEAST, 0x40000000, 0, 1), _step(_RETURN, _KILL)]
    for number in sorted(calls.values()):
        program += [_step(_EQUAL, number, 0, 1), _step(_RETURN, _REFUSE | errno.EPERM)]
    # A C library that is told that clone3 does not exist takes clone, whose flags a filter can see.
    program += [_step(_EQUAL, clone3, 0, 1), _step(_RETURN, _REFUSE | errno.ENOSYS)]
    program += [
        _step(_EQUAL, clone, 0, 3),
        _step(_LOAD, _FIRST_ARGUMENT),
        _step(_ANY_BIT, _CLONE_THREAD, 1, 0),
        _step(_RETURN, _REFUSE | errno.EPERM),
        _step(_RETURN, _ALLOW),
    ]
    return b"".join(program)


def filter_here() -> bytes | None:
    """The filter for this machine."""
    return filter_for(platform.machine())
