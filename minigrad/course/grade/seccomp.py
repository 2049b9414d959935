"""Take from this process, for good, the system calls that no answer needs.

The filter is a small program of the kernel's packet filter: it looks at the number of
each call, and answers those of the table with an error.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct

_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _ERROR = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCHITECTURE = 0, 4
_FIRST_ARGUMENT, _SECOND_ARGUMENT, _THIRD_ARGUMENT, _FOURTH_ARGUMENT = 16, 24, 32, 40
_NEW_NAMESPACES = 0x7E020000

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}

_NONE = -1
"""In place of the number of a call that a processor does not have."""

REFUSED: dict[str, tuple[int, int]] = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "unshare": (272, 97),
    "setns": (308, 268),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "init_module": (175, 105),
    "delete_module": (176, 106),
    "finit_module": (313, 273),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "syslog": (103, 116),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "reboot": (169, 142),
    "personality": (135, 92),
    # There is nobody to talk to; and a socket could hand files out of the box.
    "socket": (41, 198),
    "socketpair": (53, 199),
    # Memory that no process has mapped would not be counted.
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "msgget": (68, 186),
    "semget": (64, 190),
    "mq_open": (240, 180),
    # A second session would have a second share of the processor's time.
    "setsid": (112, 157),
    # There are so many of these on a machine, or for a user, whoever takes them.
    "io_setup": (206, 0),
    "inotify_init": (253, _NONE),
    "inotify_init1": (294, 26),
}
"""By name, with the numbers on x86-64 and on 64-bit Arm."""

WITHOUT_NAMESPACES: dict[str, tuple[int, int]] = {
    "setpgid": (109, 154),
    "kill": (62, 129),
    "tkill": (200, 130),
    "tgkill": (234, 131),
    "rt_sigqueueinfo": (129, 138),
    "rt_tgsigqueueinfo": (297, 240),
    "pidfd_send_signal": (424, 424),
    # Memory and messages that others share, which are found by a number.
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "semctl": (66, 191),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_unlink": (241, 181),
    # How fast somebody else's process runs, and where.
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    "sched_setparam": (142, 118),
    "sched_setscheduler": (144, 119),
    "sched_setaffinity": (203, 122),
    "sched_setattr": (314, 274),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    # Landlock looks at what is opened, and not at whose a file is and since when.
    "chmod": (90, _NONE),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "fchmodat2": (452, 452),
    "chown": (92, _NONE),
    "fchown": (93, 55),
    "lchown": (94, _NONE),
    "fchownat": (260, 54),
    "utime": (132, _NONE),
    "utimes": (235, _NONE),
    "futimesat": (261, _NONE),
    "utimensat": (280, 88),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "setxattrat": (463, 463),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "removexattrat": (466, 466),
    "file_setattr": (469, 469),
    "fanotify_init": (300, 262),
}
"""Refused as well where processes and files are among everybody else's."""

_OPENS: dict[str, tuple[tuple[int, int], int]] = {
    "open": ((2, _NONE), _SECOND_ARGUMENT),
    "openat": ((257, 56), _THIRD_ARGUMENT),
}
"""By name, with numbers and the place of the flags."""

_WITHOUT_A_NAME, _OPENAT2 = 0x400000, (437, 437)
"""A file that is in no folder, where it could be counted."""

_CLONE, _CLONE3, _PRLIMIT = (56, 220), (435, 435), (302, 261)
_MMAP, _SHARED, _HUGE_PAGES = (9, 222), 1, 0x40000

Instruction = tuple[int, int, int, int]


def is_known() -> bool:
    """Whether there is a table for this processor."""
    return platform.machine() in _ARCHITECTURES


def program(machine: str, own_namespaces: bool = True) -> list[Instruction]:
    """The filter, one instruction an entry: code, jump if true, if false, number."""
    column = list(_ARCHITECTURES).index(machine)
    refused = dict(REFUSED)
    if not own_namespaces:
        refused |= WITHOUT_NAMESPACES
    denied = (_RETURN, 0, 0, _ERROR | errno.EPERM)
    lines: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, _ARCHITECTURES[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
    ]
    if machine == "x86_64":
        # The second table of this processor, for programs with short pointers.
        lines += [(_AT_LEAST, 0, 1, 0x40000000), denied]
    for number in [numbers[column] for numbers in refused.values()]:
        if number != _NONE:
            lines += [(_EQUAL, 0, 1, number), denied]
    if not own_namespaces:
        lines += _only_files_with_names(column)
    return [
        *lines,
        # Its flags lie in memory, where a filter cannot look: libc then uses clone.
        (_EQUAL, 0, 1, _CLONE3[column]),
        (_RETURN, 0, 0, _ERROR | errno.ENOSYS),
        (_EQUAL, 0, 3, _CLONE[column]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_ANY_BIT, 0, 1, _NEW_NAMESPACES),
        denied,
        # The number has to be looked at anew; a flag is never this one.
        (_LOAD, 0, 0, _NUMBER),
        # What is shared stays when its pages are given back, and is counted nowhere;
        # neither are pages from the store of huge ones.
        (_EQUAL, 0, 3, _MMAP[column]),
        (_LOAD, 0, 0, _FOURTH_ARGUMENT),
        (_ANY_BIT, 0, 1, _SHARED | _HUGE_PAGES),
        denied,
        (_LOAD, 0, 0, _NUMBER),
        (_EQUAL, 0, 3, _PRLIMIT[column]),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_EQUAL, 1, 0, 0),
        denied,
        (_RETURN, 0, 0, _ALLOW),
    ]


def _only_files_with_names(column: int) -> list[Instruction]:
    lines: list[Instruction] = [
        # Its flags lie in memory, where a filter cannot look.
        (_EQUAL, 0, 1, _OPENAT2[column]),
        (_RETURN, 0, 0, _ERROR | errno.ENOSYS),
    ]
    for numbers, flags in _OPENS.values():
        if numbers[column] != _NONE:
            lines += [
                (_EQUAL, 0, 4, numbers[column]),
                (_LOAD, 0, 0, flags),
                (_ANY_BIT, 0, 1, _WITHOUT_A_NAME),
                (_RETURN, 0, 0, _ERROR | errno.EOPNOTSUPP),
                (_LOAD, 0, 0, _NUMBER),
            ]
    return lines


def install(own_namespaces: bool = True) -> None:
    """Filter the calls of this process and of all that come from it.

    Raises: OSError.
    """
    lines = program(platform.machine(), own_namespaces)
    code = b"".join([struct.pack("<HBBI", *line) for line in lines])
    kept = ctypes.create_string_buffer(code)
    pointer = ctypes.addressof(kept)
    described = struct.pack("<HxxxxxxQ", len(lines), pointer)
    libc = ctypes.CDLL(None, use_errno=True)
    set_seccomp, filter_mode = 22, 2
    argument = ctypes.create_string_buffer(described)
    if libc.prctl(set_seccomp, filter_mode, argument, 0, 0):
        raise OSError(ctypes.get_errno(), "the kernel takes no filter of system calls")
