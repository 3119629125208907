"""A filter of system calls: a second wall, beside namespaces and Landlock.

A program that computes an answer needs one process, one thread, memory, and files of its own. The
calls denied here start processes, reach others, or change or watch more than the program's own
state: programs can not pass messages to each other, or outside, through files that they only read.
"""

import ctypes
import errno
import platform
import re
import struct
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from evalcore.sandbox import kernel

AUDIT_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
"""The names that `platform.machine()` gives, with the numbers that the kernel's filters see."""
LAST_KNOWN = 462
"""Calls with greater numbers are newer than this list; they fail as on an older kernel."""


class AllowedValues(NamedTuple):
    """A call that is allowed where one of its arguments has one of some values."""

    numbers: tuple[int, int]
    """On both architectures."""
    argument: int
    """Which one, from 0 on."""
    values: Sequence[int]


_OWN = (0,)
"""The number with which a process names itself; others' it may not look at."""
_CLOCKS = range(12)
"""The clocks that all processes have; greater numbers are clocks of other processes."""
_PRIVATE_FUTEX, _BY_CLOCK = 128, 256
"""Without the first, programs that map the same file could wait for each other and be counted."""
ALLOWED_VALUES = {
    # To read and name what is its own: death signal, dumpable, kept capabilities, filter,
    # capabilities, timer slack, no new privileges and huge pages; names of threads and memory.
    # Without its death signal, a program would outlive the process that watches it.
    "prctl": AllowedValues((157, 167), 0, (2, 3, 7, 15, 16, 21, 23, 30, 39, 42, 0x53564D41)),
    # To copy descriptors, and read and set their flags; to size a pipe. All others lock or watch a
    # file that other programs read as well, or have signals sent to other processes.
    "fcntl": AllowedValues((72, 25), 1, (0, 1, 2, 3, 4, 9, 11, 1027, 1028, 1030, 1031, 1032)),
    # What Python asks of its descriptors: whether they are terminals, and of which size; to
    # inherit them or not, not to wait for them, and how many bytes they have.
    "ioctl": AllowedValues(
        (16, 29), 1, (0x5401, 0x802C542A, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
    ),
    # Not to take pages out of the memory that files share, nor to have equal ones merged.
    "madvise": AllowedValues(
        (28, 233), 2, (0, 1, 2, 3, 4, 8, 10, 11, 14, 15, 16, 17, 18, 19, 22, 23, 25)
    ),
    "futex": AllowedValues(
        (202, 98),
        1,
        [operation + _PRIVATE_FUTEX + clock for operation in range(14) for clock in (0, _BY_CLOCK)],
    ),
    "prlimit64": AllowedValues((302, 261), 0, _OWN),
    "getpgid": AllowedValues((121, 155), 0, _OWN),
    "getsid": AllowedValues((124, 156), 0, _OWN),
    "sched_getaffinity": AllowedValues((204, 123), 0, _OWN),
    "sched_getscheduler": AllowedValues((145, 120), 0, _OWN),
    "sched_getparam": AllowedValues((143, 121), 0, _OWN),
    "sched_getattr": AllowedValues((315, 275), 0, _OWN),
    "sched_rr_get_interval": AllowedValues((148, 127), 0, _OWN),
    "get_robust_list": AllowedValues((274, 100), 0, _OWN),
    "clock_gettime": AllowedValues((228, 113), 0, _CLOCKS),
    "clock_getres": AllowedValues((229, 114), 0, _CLOCKS),
    "clock_nanosleep": AllowedValues((230, 115), 0, _CLOCKS),
    "timer_create": AllowedValues((222, 107), 0, _CLOCKS),
}
"""Calls that a program needs for itself, and that can also reach others, by what is asked."""

_TABLE = """
# processes, threads, other programs
clone 56 220, clone3 435 435, fork 57 -, vfork 58 -, execve 59 221, execveat 322 281,
ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271, process_madvise 440 440,
process_mrelease 448 448, kcmp 312 272, kill 62 129, tkill 200 130, tgkill 234 131,
rt_sigqueueinfo 129 138, rt_tgsigqueueinfo 297 240, pidfd_open 434 434, pidfd_getfd 438 438,
pidfd_send_signal 424 424, setpriority 141 140, sched_setaffinity 203 122,
sched_setscheduler 144 119, sched_setparam 142 118, sched_setattr 314 274, ioprio_set 251 30,
capget 125 90, getpriority 140 141, ioprio_get 252 31,
migrate_pages 256 238, move_pages 279 239, mbind 237 235, get_mempolicy 239 236,
# what the whole machine, or all of a disk, is used for at the moment
sysinfo 99 179, statfs 137 43, fstatfs 138 44, ustat 136 -,
# the network and other channels
socket 41 198, socketpair 53 199, connect 42 203, bind 49 200, listen 50 201, accept 43 202,
accept4 288 242, sendto 44 206, sendmsg 46 211, sendmmsg 307 269, recvmsg 47 212, recvmmsg 299 243,
io_uring_setup 425 425, io_uring_enter 426 426, io_uring_register 427 427, shmget 29 194,
shmat 30 196, shmctl 31 195, shmdt 67 197, semget 64 190, semop 65 193, semctl 66 191,
semtimedop 220 192, msgget 68 186, msgsnd 69 189, msgrcv 70 188, msgctl 71 187, mq_open 240 180,
mq_unlink 241 181, memfd_create 319 279, memfd_secret 447 447,
# what other readers of a file see: locks, watches, and which of its pages are in memory
flock 73 32, inotify_init 253 -, inotify_init1 294 26, inotify_add_watch 254 27,
inotify_rm_watch 255 28, fanotify_mark 301 263, mincore 27 232, cachestat 451 451,
fadvise64 221 223, readahead 187 213, preadv2 327 286, sync 162 81, syncfs 306 267,
sync_file_range 277 84, openat2 437 437, io_setup 206 0, io_submit 209 2, io_cancel 210 3,
futex_waitv 449 449, futex_wake 454 454, futex_wait 455 455, futex_requeue 456 456,
# the view of the file system
statmount 457 457, listmount 458 458, lookup_dcookie 212 18,
mount 165 40, umount2 166 39, pivot_root 155 41, chroot 161 51, unshare 272 97, setns 308 268,
move_mount 429 429, open_tree 428 428, fsopen 430 430, fsconfig 431 431, fsmount 432 432,
fspick 433 433, mount_setattr 442 442, name_to_handle_at 303 264, open_by_handle_at 304 265,
fanotify_init 300 262, quotactl 179 60, quotactl_fd 443 443, mknod 133 -, mknodat 259 33,
# the user, which also lifts the death signal
setuid 105 146, setgid 106 144, setreuid 113 145, setregid 114 143, setresuid 117 147,
setresgid 119 149, setfsuid 122 151, setfsgid 123 152, setgroups 116 159, capset 126 91,
# owners, rights and times of files
chmod 90 -, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452, chown 92 -, fchown 93 55, lchown 94 -,
fchownat 260 54, utime 132 -, utimes 235 -, futimesat 261 -, utimensat 280 88, setxattr 188 5,
lsetxattr 189 6, fsetxattr 190 7, removexattr 197 14, lremovexattr 198 15, fremovexattr 199 16,
# the kernel
keyctl 250 219, add_key 248 217, request_key 249 218, bpf 321 280, perf_event_open 298 241,
userfaultfd 323 282, init_module 175 105, finit_module 313 273, delete_module 176 106,
kexec_load 246 104, kexec_file_load 320 294, reboot 169 142, swapon 167 224, swapoff 168 225,
acct 163 89, settimeofday 164 170, clock_settime 227 112, adjtimex 159 171, clock_adjtime 305 266,
sethostname 170 161, setdomainname 171 162, syslog 103 116, vhangup 153 58, iopl 172 -,
ioperm 173 -, modify_ldt 154 -, personality 135 92,
"""
DENIED = {name: numbers for name, *numbers in re.findall(r"(\w+) (\d+) (\d+|-)", _TABLE)}
"""Calls by name, with their numbers on both architectures, `-` where there is no such call."""

LOAD_WORD, JUMP_IF_EQUAL, JUMP_IF_AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06
NUMBER, ARCHITECTURE, FIRST_ARGUMENT, ARGUMENT_BYTES = 0, 4, 16, 8
"""Where the kernel puts them in the record that a filter reads, in bytes, and how far apart."""
FAIL, FILTER_MODE, STEP = 0x0005_0000, 2, struct.Struct("=HBBI")


def step(code: int, operand: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """Return one step of a filter; a jump leaves out as many steps as it says."""
    return STEP.pack(code, if_true, if_false, operand)


ALLOW, KILL_PROCESS = step(RETURN, 0x7FFF_0000), step(RETURN, 0x8000_0000)
DENY, UNKNOWN = step(RETURN, FAIL | errno.EPERM), step(RETURN, FAIL | errno.ENOSYS)
"""How a filter ends."""


def when(values: Iterable[int], then: bytes) -> bytes:
    """Return the steps that do something where the loaded word is one of these, or continue."""
    skipped = len(then) // STEP.size
    return b"".join(step(JUMP_IF_EQUAL, value, if_false=skipped) + then for value in values)


def steps(machine: str) -> bytes:
    """Return the filter for an architecture, as `platform.machine()` names it.

    An unknown call fails with ENOSYS, so that the C library falls back to an older one; a denied
    call fails with EPERM, which Python turns into an exception. Calls made in the manner of another
    architecture, whose numbers mean other things, end the process.
    """
    column = list(AUDIT_ARCHITECTURES).index(machine)
    denied = (int(numbers[column]) for numbers in DENIED.values() if numbers[column] != "-")
    made = step(LOAD_WORD, ARCHITECTURE)
    made += step(JUMP_IF_EQUAL, AUDIT_ARCHITECTURES[machine], if_true=1) + KILL_PROCESS
    made += step(LOAD_WORD, NUMBER)
    made += step(JUMP_IF_AT_LEAST, LAST_KNOWN + 1, if_false=1) + UNKNOWN
    made += when(denied, DENY)
    for numbers, argument, values in ALLOWED_VALUES.values():
        # The kernel takes only the lower half of these arguments.
        loaded = step(LOAD_WORD, FIRST_ARGUMENT + argument * ARGUMENT_BYTES)
        made += when([numbers[column]], loaded + when(values, ALLOW) + DENY)
    return made + ALLOW


def apply() -> None:
    """Filter the system calls of this process from now on.

    Raises OSError where the numbers of this architecture aren't known, or the kernel refuses.
    """
    machine = platform.machine()
    if machine not in AUDIT_ARCHITECTURES or ctypes.sizeof(ctypes.c_void_p) != 8:
        raise OSError(errno.ENOSYS, f"the system calls of {machine} are not known")
    made = steps(machine)
    place = ctypes.create_string_buffer(made, len(made))
    counted = struct.pack("HP", len(made) // STEP.size, ctypes.addressof(place))
    kernel.control(kernel.NO_NEW_PRIVILEGES, "no_new_privs", 1)
    kernel.control(kernel.SECCOMP, "seccomp", FILTER_MODE, counted)
