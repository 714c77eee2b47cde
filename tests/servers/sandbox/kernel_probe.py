"""Tries what would change the machine from inside a sandbox, and returns what was possible; changes nothing.

The body of a function: `pid` is that of a process outside. Files are opened for writing and closed again.
"""

# ruff: noqa: PTH101, PTH116, PTH118

import ctypes
import functools
import os
import platform
import stat
from collections.abc import Callable

FILES = (
    *("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sys/kernel/modprobe"),
    *("/proc/sys/vm/drop_caches", "/proc/sys/fs/binfmt_misc/register", "/proc/sys/net/ipv4/ip_forward"),
    *("/proc/sysrq-trigger", "/proc/irq/default_smp_affinity", "/proc/kcore", "/proc/keys", "/proc/kmsg"),
    *("/proc/timer_list", "/proc/scsi/scsi", "/proc/1/oom_score_adj", "/proc/1/mem"),
    *("/proc/mtrr", "/proc/acpi/wakeup", "/sys/kernel/mm/ksm/run", "/sys/power/state"),
    *("/sys/kernel/uevent_helper", "/sys/kernel/tracing/trace", "/sys/kernel/debug/sched/debug"),
    *(
        "/sys/fs/cgroup/cgroup.procs",
        "/sys/fs/cgroup/unified/cgroup.procs",
        "/sys/fs/cgroup/pids/release_agent",
    ),
    *(
        "/dev/mem",
        "/dev/kmsg",
        "/dev/sda",
        "/dev/vda",
        "/dev/loop-control",
        "/dev/fuse",
        "/dev/kvm",
        "/dev/new",
    ),
)
CHMOD = ("/dev/null", "/dev/zero", "/dev/urandom", "/proc/1/exe", "/proc/self/exe")
NUMBERS = {
    "x86_64": {
        "bpf": 321,
        "perf": 298,
        "keyctl": 250,
        "finit_module": 313,
        "kexec": 246,
        "clone": 56,
    },
    "aarch64": {
        "bpf": 280,
        "perf": 241,
        "keyctl": 219,
        "finit_module": 273,
        "kexec": 104,
        "clone": 220,
    },
}[platform.machine()]
NEW = {
    "users": 0x10000000,
    "mounts": 0x20000,
    "names": 0x4000000,
    "network": 0x40000000,
    "processes": 0x20000000,
}


def possible(pid: int, *, modes: bool) -> list[str]:
    """With `modes`, also whether the modes of devices could be changed, which Landlock does not cover."""
    found = [path for path in (*FILES, f"/proc/{pid}/oom_score_adj") if _opens(path)]
    return found + ([path for path in CHMOD if _has_mode_set(path)] if modes else []) + _calls(pid)


def writable_in(*folders: str) -> list[str]:
    """Every file of these folders that could be opened for writing, as far as the kernel says."""
    found: list[str] = []
    for folder in folders:
        for place, below, names in os.walk(folder):
            below[:] = [name for name in below if not name.isdigit() or name == "1"]
            files = (os.path.join(place, name) for name in names)
            found += [path for path in files if _is_plain(path) and os.access(path, os.W_OK)]
    return found


def _is_plain(path: str) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def _opens(path: str) -> bool:
    try:
        os.close(os.open(path, os.O_WRONLY | (os.O_CREAT if path == "/dev/new" else 0)))
    except OSError:
        return False
    return True


def _has_mode_set(path: str) -> bool:
    try:
        os.chmod(path, stat.S_IMODE(os.stat(path).st_mode))
    except OSError:
        return False
    return True


def _calls(pid: int) -> list[str]:
    libc = ctypes.CDLL(None, use_errno=True)
    name = platform.node().encode()
    none = ctypes.c_void_p(None)
    tried: dict[str, Callable[[], int]] = {
        "sethostname": lambda: libc.sethostname(name, len(name)),
        "mount": lambda: libc.mount(b"none", b"/tmp", b"tmpfs", 0, none),
        "umount": lambda: libc.umount2(b"/proc/keys", 2),
        "chroot": lambda: libc.chroot(b"/"),
        "ptrace": lambda: libc.ptrace(0x4206, pid, none, none),
        "mknod": lambda: libc.mknod(b"/tmp/device", 0o20666, 0x103),
        "swapoff": lambda: libc.swapoff(b"/nowhere"),
        "iopl": lambda: libc.iopl(3) if hasattr(libc, "iopl") else -1,
        "setns": lambda: _joined(libc),
        "keyctl": lambda: libc.syscall(NUMBERS["keyctl"], 0, -4, 1),
        "bpf": lambda: libc.syscall(NUMBERS["bpf"], 0, b"\2\0\0\0\4\0\0\0\4\0\0\0\1\0\0\0" + bytes(104), 120),
        "perf": lambda: libc.syscall(NUMBERS["perf"], b"\1\0\0\0" + b"\x70\0\0\0" + bytes(104), 0, -1, -1, 0),
        "finit_module": lambda: libc.syscall(NUMBERS["finit_module"], -1, b"", 0) + (ctypes.get_errno() == 9),
        "kexec": lambda: libc.syscall(NUMBERS["kexec"], 0, 0, none, 0),
        "open_by_handle_at": lambda: _opened_by_handle(libc),
        "a clone with users": lambda: _cloned(libc),
        **{f"unshare {what}": functools.partial(libc.unshare, flag) for what, flag in NEW.items()},
    }
    return [what for what, call in tried.items() if call() >= 0]


def _cloned(libc: ctypes.CDLL) -> int:
    made: int = libc.syscall(NUMBERS["clone"], NEW["users"] | 17, None, None, None, None)
    if made == 0:
        os._exit(0)
    return made


def _joined(libc: ctypes.CDLL) -> int:
    try:
        other = os.open("/proc/1/ns/uts", os.O_RDONLY)
    except OSError:
        return -1
    joined: int = libc.setns(other, 0)
    return joined


def _opened_by_handle(libc: ctypes.CDLL) -> int:
    handle = ctypes.create_string_buffer(b"\x80\0\0\0", 136)
    libc.name_to_handle_at(-100, b"/etc/passwd", handle, ctypes.byref(ctypes.c_int()), 0)
    opened: int = libc.open_by_handle_at(os.open("/etc", os.O_RDONLY), handle, os.O_RDONLY)
    return opened
