"""Build the system call filter that the kernel runs.

The program is a list of instructions of classic BPF over `struct seccomp_data` (Linux, Documentation/
userspace-api/seccomp_filter.rst): call number at byte 0, architecture at 4, arguments of 8 bytes from 16 on. Only the
lower half of an argument is compared: all compared arguments are 32 bits wide. Bindings to libseccomp would do the
same, but need that library on the machine.
"""

import errno
import platform
import struct
from collections.abc import Iterable
from dataclasses import dataclass

from outrider.workspace.sandbox.syscalls import AUDIT_ARCH, find_number

BPF_LOAD, BPF_AND = 0x20, 0x54  # BPF_LD | BPF_W | BPF_ABS, BPF_ALU | BPF_AND | BPF_K
BPF_JUMP_EQUAL, BPF_JUMP_AT_LEAST, BPF_RETURN = 0x15, 0x35, 0x06
NUMBER_OFFSET, ARCH_OFFSET, ARGUMENTS_OFFSET = 0, 4, 16
VERDICT_ALLOW, VERDICT_ERRNO, VERDICT_KILL = 0x7FFF0000, 0x00050000, 0x80000000
FULL_MASK = 0xFFFFFFFF
SETUID_BITS = 0o6000
NAMESPACE_FLAGS = 0x7E020080  # CLONE_NEW{NS,CGROUP,UTS,IPC,USER,PID,NET,TIME}
TRUNCATE_ONLY = 0o1003, 0o1000  # mask and value of O_RDONLY | O_TRUNC, which empties a file without write access
NO_SOCKET_FAMILIES: tuple[int, ...] = ()  # socketpair(2), which no one else can reach, is always allowed
OWN_SOCKET_FAMILIES = (1, 2, 10, 16)  # AF_UNIX, INET, INET6, NETLINK: if the network namespace is the sandbox's own


@dataclass(frozen=True)
class SyscallRule:
    """Makes a call fail with `error` if its argument matches; with error 0 it does nothing and reports success.

    `argument` None matches always. Otherwise a call matches if (argument & mask) is one of the values or, with
    `unless`, if it is none of them.
    """

    call: str
    error: int = errno.EPERM
    argument: int | None = None
    mask: int = FULL_MASK
    values: tuple[int, ...] = ()
    unless: bool = False

    def compile_for(self, machine: str) -> list[bytes]:
        """Return the rule's instructions; the accumulator holds the call's number before and after them."""
        call = find_number(self.call, machine)
        if call is None:
            return []
        verdict = _encode_return(VERDICT_ERRNO | self.error)
        if self.argument is None:
            return [_encode_jump(BPF_JUMP_EQUAL, call, 0, 1), verdict]
        body = [_encode_load(ARGUMENTS_OFFSET + 8 * self.argument), struct.pack("=HBBI", BPF_AND, 0, 0, self.mask)]
        count = len(self.values)
        for index, value in enumerate(self.values):
            remaining = count - index - 1  # comparisons; one more instruction after them is skipped as well
            body.append(_encode_jump(BPF_JUMP_EQUAL, value, remaining + 1, 0))
        if not self.unless:
            body.append(_encode_jump(BPF_JUMP_AT_LEAST, 0, 1, 0))  # no value is equal: skip the verdict
        body += [verdict, _encode_load(NUMBER_OFFSET)]
        return [_encode_jump(BPF_JUMP_EQUAL, call, 0, len(body)), *body]


# Calls that change the machine or the process's view of it, or inspect other processes, the kernel or its keys.
FORBIDDEN_CALLS = """
acct adjtimex clock_adjtime clock_settime delete_module finit_module init_module ioperm iopl kexec_file_load kexec_load
quotactl quotactl_fd reboot sethostname setdomainname settimeofday swapoff swapon syslog vhangup
chroot fsconfig fsmount fsopen fspick mount mount_setattr move_mount open_tree pivot_root setns umount2 unshare
add_key bpf fanotify_init kcmp keyctl migrate_pages move_pages name_to_handle_at open_by_handle_at perf_event_open
pidfd_getfd process_madvise process_mrelease process_vm_readv process_vm_writev ptrace request_key userfaultfd
"""
# Reported as missing: libraries then fall back to older calls, whose arguments a filter can inspect.
ABSENT_CALLS = "clone3 openat2 io_uring_enter io_uring_register io_uring_setup memfd_create memfd_secret"
MODE_ARGUMENTS = {"chmod": 1, "fchmod": 1, "fchmodat": 2, "fchmodat2": 2, "creat": 1, "open": 2, "openat": 3}
MODE_ARGUMENTS |= {"mknod": 1, "mknodat": 2}
TIOCSTI, TIOCLINUX = 0x5412, 0x541C  # inject input into a terminal as if its user had typed it
PLAIN_PERSONALITIES = (0, 8, 0x20000, 0x20008, FULL_MASK)
BASE_RULES = (
    *(SyscallRule(call) for call in FORBIDDEN_CALLS.split()),
    *(SyscallRule(call, errno.ENOSYS) for call in ABSENT_CALLS.split()),
    SyscallRule("clone", argument=0, mask=NAMESPACE_FLAGS, values=(0,), unless=True),
    SyscallRule("ioctl", argument=1, values=(TIOCSTI, TIOCLINUX)),
    SyscallRule("personality", argument=0, values=PLAIN_PERSONALITIES, unless=True),
    *(
        SyscallRule(call, argument=at, mask=SETUID_BITS, values=(0,), unless=True)
        for call, at in MODE_ARGUMENTS.items()
    ),
)
# Without namespaces: keep the code from affecting other processes of the same user, and attributes of files.
SHARED_PROCESS_RULES = (
    *(SyscallRule(call) for call in ("setsid", "setpgid", "mq_open", "msgget", "semget", "shmget", "sched_setattr")),
    *(SyscallRule(call) for call in ("setxattr", "lsetxattr", "removexattr", "lremovexattr")),
    *(SyscallRule(call, argument=0, values=(0,), unless=True) for call in ("prlimit64", "sched_setaffinity")),
    *(SyscallRule(call, argument=0, values=(0,), unless=True) for call in ("sched_setparam", "sched_setscheduler")),
    *(SyscallRule(call, argument=1, values=(0,), unless=True) for call in ("setpriority", "ioprio_set")),
)
# If files outside belong to the same user: Landlock protects their content, but not their metadata.
ATTRIBUTE_CALLS = "chmod chown fchmodat fchmodat2 fchownat futimesat lchown utime utimes"
FILE_ATTRIBUTE_RULES = (
    *(SyscallRule(call, 0) for call in ATTRIBUTE_CALLS.split()),
    SyscallRule("utimensat", 0, argument=1, values=(0,), unless=True),
)
SIGNAL_CALLS = "kill tkill tgkill pidfd_send_signal rt_sigqueueinfo rt_tgsigqueueinfo"
SIGNAL_RULES = tuple(SyscallRule(call) for call in SIGNAL_CALLS.split())
TRUNCATE_RULES = (
    SyscallRule("truncate"),
    SyscallRule("open", argument=1, mask=TRUNCATE_ONLY[0], values=TRUNCATE_ONLY[1:]),
    SyscallRule("openat", argument=2, mask=TRUNCATE_ONLY[0], values=TRUNCATE_ONLY[1:]),
)


def is_supported(machine: str = "") -> bool:
    """Return whether a filter can be built for this machine (x86-64 and 64-bit ARM)."""
    return (machine or platform.machine()) in AUDIT_ARCH


def build_program(rules: Iterable[SyscallRule], socket_families: tuple[int, ...], machine: str = "") -> bytes:
    """Return the filter as the kernel and bubblewrap take it: instructions of 8 bytes, in this machine's byte order.

    A call of another architecture kills the process, because call numbers differ there.
    """
    x32_syscall_bit = 0x40000000  # numbers of x86-64's other ABI begin here
    machine = machine or platform.machine()
    sockets = SyscallRule("socket", errno.EAFNOSUPPORT, argument=0, values=socket_families, unless=True)
    instructions = [
        _encode_load(ARCH_OFFSET),
        _encode_jump(BPF_JUMP_EQUAL, AUDIT_ARCH[machine], 1, 0),
        _encode_return(VERDICT_KILL),
        _encode_load(NUMBER_OFFSET),
        _encode_jump(BPF_JUMP_AT_LEAST, x32_syscall_bit, 0, 1),
        _encode_return(VERDICT_ERRNO | errno.ENOSYS),
    ]
    for rule in (*rules, sockets):
        instructions += rule.compile_for(machine)
    return b"".join([*instructions, _encode_return(VERDICT_ALLOW)])


def _encode_load(offset: int) -> bytes:
    return struct.pack("=HBBI", BPF_LOAD, 0, 0, offset)


def _encode_jump(opcode: int, value: int, if_true: int, if_false: int) -> bytes:
    """Encode a comparison with a value; the offsets count the instructions to skip."""
    return struct.pack("=HBBI", opcode, if_true, if_false, value)


def _encode_return(verdict: int) -> bytes:
    return struct.pack("=HBBI", BPF_RETURN, 0, 0, verdict)
