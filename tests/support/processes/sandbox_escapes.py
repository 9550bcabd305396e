"""All ways out of a sandbox that we know. It runs inside as the code, and reports which ways were open.

An attempt returns a true value if it has escaped, raises OSError if the system refused, and may return a false value if
it found something harmless. `FACTS` are the places that it tries to reach. Attempts marked `control` must succeed
without a sandbox, which shows that they work.
"""

import ctypes
import errno
import fcntl
import json
import os
import shutil
import signal
import socket
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

FACTS: dict[str, Any] = {}
ATTEMPTS: dict[str, Callable[[], object]] = {}
CONTROLS: set[str] = set()
NAMESPACES_ONLY: set[str] = set()
libc = ctypes.CDLL(None, use_errno=True)
ATTEMPT_TIMEOUT_S = 5
CLONE_NEWUSER = 0x10000000


def attempt(*, control: bool = False, landlock: bool = True) -> Callable[[Callable[[], object]], Callable[[], object]]:
    """Register a way out. With `landlock` false, that level does not claim to prevent it."""

    def register_attempt(fn: Callable[[], object]) -> Callable[[], object]:
        name = getattr(fn, "__name__", "")
        ATTEMPTS[name] = fn
        if control:
            CONTROLS.add(name)
        if not landlock:
            NAMESPACES_ONLY.add(name)
        return fn

    return register_attempt


def call_kernel(name: str, *arguments: Any) -> int:
    """Make a system call by its name. Raises OSError."""
    result = libc.syscall(FACTS["calls"][name], *arguments)
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def check_result(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


# Reading outside the sandbox


@attempt(control=True)
def reads_a_file_that_everybody_may_read():
    return "secret" in Path(FACTS["secret"]).read_text()


@attempt(control=True)
def lists_a_folder_outside():
    return os.listdir(FACTS["outside"])


@attempt(control=True)
def climbs_up_by_dots():
    return "secret" in Path("../" * 30 + FACTS["secret"]).read_text()


@attempt(control=True)
def plants_a_link_and_reads_through_it():
    Path("planted").symlink_to(FACTS["secret"])
    return "secret" in Path("planted").read_text()


@attempt(control=True)
def plants_a_link_to_a_folder_and_lists_it():
    Path("folder").symlink_to(FACTS["outside"])
    return os.listdir("folder")


@attempt()
def plants_a_hard_link():
    os.link(FACTS["secret"], "hard")
    return "secret" in Path("hard").read_text()


@attempt()
def reads_password_hashes():
    return Path("/etc/shadow").read_text()


@attempt()
def learns_who_has_an_account():
    return "daemon" in Path("/etc/passwd").read_text()


@attempt(control=True)
def reads_the_file_of_another_session():
    return Path(FACTS["other"], "theirs.txt").read_text()


@attempt(control=True)
def lists_the_servers_data():
    return os.listdir(FACTS["data"])


@attempt()
def looks_into_the_homes():
    return [name for place in ("/root", "/home") for name in os.listdir(place)]


@attempt()
def reads_logs():
    return os.listdir("/var/log")


@attempt()
def finds_sockets_of_the_system():
    return [name for name in os.listdir("/run") if name != "outrider"]


@attempt(control=True)
def finds_what_others_put_into_tmp():
    return Path(FACTS["outside"]).name in os.listdir("/tmp")


@attempt(control=True)
def finds_what_others_put_into_shared_memory():
    return Path("/dev/shm", FACTS["shared"]).read_text()


@attempt(control=True, landlock=False)
def learns_that_a_file_outside_exists():
    return Path(FACTS["secret"]).stat().st_size


@attempt(control=True, landlock=False)
def watches_a_folder_outside():
    watch = check_result(libc.inotify_init())
    return check_result(libc.inotify_add_watch(watch, FACTS["outside"].encode(), 0x100)) > 0


@attempt()
def reads_the_environment_of_the_first_process():
    found = Path("/proc/1/environ").read_bytes()
    return found and b"OUTRIDER_SANDBOX" not in found  # unless it is the sandbox's own first process


@attempt(control=True)
def reads_the_environment_of_a_process_outside():
    return FACTS["canary"].encode() in Path(f"/proc/{FACTS['victim']}/environ").read_bytes()


@attempt()
def reads_the_environment_of_its_parent():
    return FACTS["canary"].encode() in Path(f"/proc/{os.getppid()}/environ").read_bytes()


@attempt()
def finds_a_secret_in_its_own_environment():
    return FACTS["canary"] in json.dumps(dict(os.environ))


@attempt(control=True)
def goes_through_the_root_of_the_server():
    return Path(f"/proc/{FACTS['server']}/root{FACTS['secret']}").read_text()


@attempt(control=True)
def goes_through_the_folder_of_the_server():
    return [os.listdir(f"/proc/{FACTS['server']}/cwd")]


@attempt(control=True)
def lists_the_descriptors_of_the_server():
    return os.listdir(f"/proc/{FACTS['server']}/fd")


@attempt(control=True)
def opens_the_memory_of_the_server():
    return Path(f"/proc/{FACTS['server']}/mem").open("rb").fileno()


@attempt()
def goes_through_its_own_root():
    return Path(f"/proc/self/root{FACTS['secret']}").read_text()


@attempt()
def goes_through_its_own_folder():
    return Path(f"/proc/self/cwd/../../../../../../../..{FACTS['secret']}").read_text()


@attempt()
def finds_a_descriptor_that_was_left_open():
    found = []
    for number in range(3, 200):
        try:
            os.fstat(number)
        except OSError:
            continue
        found.append(os.readlink(f"/proc/self/fd/{number}"))
    # Newer versions of libffi keep an unnamed file of the code's own temporary folder open, or their own library.
    own = ("pipe:", "/run/outrider", "/proc", f"{os.environ.get('TMPDIR', '/nonexistent')}/#")
    mapped = Path("/proc/self/maps").read_text()
    return [each for each in found if not each.startswith(own) and f"{each}\n" not in mapped]


@attempt(control=True)
def sees_other_processes():
    found = []
    for name in os.listdir("/proc"):
        with suppress(OSError):  # it has just ended, or is not a process
            if Path("/proc", name, "cmdline").read_bytes() == b"sleep\x00600\x00":  # the victim's
                found.append(name)
    return found


@attempt()
def opens_the_memory_of_the_machine():
    for name in ("/dev/mem", "/dev/kmem", "/dev/port", "/proc/kcore"):
        try:
            return Path(name).open("rb").read(1)
        except FileNotFoundError:
            continue
    raise FileNotFoundError(errno.ENOENT, "none")


@attempt()
def opens_a_disk():
    for name in ("/dev/vda", "/dev/sda", "/dev/nvme0n1", "/dev/xvda", "/dev/dm-0"):
        try:
            return Path(name).open("rb").read(1)
        except FileNotFoundError:
            continue
    raise FileNotFoundError(errno.ENOENT, "none")


@attempt()
def reads_the_kernels_log():
    return call_kernel("syslog", 3, ctypes.create_string_buffer(100), 100)


@attempt()
def opens_a_file_by_its_handle():
    return call_kernel(
        "name_to_handle_at", -100, b"/", ctypes.create_string_buffer(200), ctypes.byref(ctypes.c_int()), 0
    )


@attempt()
def opens_by_a_handle_of_its_own_making():
    return call_kernel("open_by_handle_at", -100, ctypes.create_string_buffer(200), 0)


# Changing things outside the sandbox


@attempt(control=True)
def writes_into_a_file_that_everybody_may_write():
    return Path(FACTS["writable"]).write_text("changed")


@attempt(control=True)
def makes_a_file_outside():
    return Path(FACTS["outside"], "made").write_text("made")


@attempt(control=True)
def truncates_a_file_by_name():
    os.truncate(FACTS["writable"], 0)
    return True


@attempt()
def empties_a_file_that_it_opens_for_reading():
    os.close(os.open(FACTS["writable"], os.O_RDONLY | os.O_TRUNC))
    return not Path(FACTS["writable"]).stat().st_size


@attempt(control=True)
def removes_a_file_outside():
    Path(FACTS["outside"], "victim-1").unlink()
    return True


@attempt(control=True)
def moves_a_file_in():
    Path(FACTS["outside"], "victim-2").rename("stolen")
    return True


@attempt(control=True)
def moves_a_file_out():
    Path("mine").write_text("mine")
    Path("mine").rename(Path(FACTS["outside"], "theirs"))
    return True


@attempt(control=True)
def writes_through_a_planted_link():
    Path("through").symlink_to(FACTS["writable"])
    return Path("through").write_text("changed")


@attempt(control=True)
def makes_a_folder_outside():
    Path(FACTS["outside"], "folder").mkdir()
    return True


@attempt(control=True)
def makes_a_link_outside():
    Path(FACTS["outside"], "link").symlink_to("/")
    return True


@attempt()
def changes_the_rights_of_a_file_outside():
    Path(FACTS["owned"]).chmod(0o777)
    return Path(FACTS["owned"]).stat().st_mode & 0o777 == 0o777


@attempt()
def changes_the_times_of_a_file_outside():
    os.utime(FACTS["owned"], (1, 1))
    return Path(FACTS["owned"]).stat().st_mtime == 1


@attempt()
def changes_the_attributes_of_a_file_outside():
    os.setxattr(FACTS["owned"], "user.changed", b"1")
    return True


@attempt()
def writes_into_the_system():
    return [Path(place, "outrider-was-here").write_text("x") for place in ("/usr/local/bin", "/etc", "/")]


@attempt()
def changes_its_interpreter():
    return Path(sys.prefix, "lib", "outrider-was-here").write_text("x")


@attempt()
def sets_the_machines_core_pattern():
    return Path("/proc/sys/kernel/core_pattern").write_text(Path("/proc/sys/kernel/core_pattern").read_text())


@attempt()
def sets_a_limit_of_the_kernel():
    return Path("/proc/sys/fs/file-max").write_text(Path("/proc/sys/fs/file-max").read_text())


@attempt()
def presses_a_magic_key():
    with Path("/proc/sysrq-trigger").open("w") as trigger:
        return trigger.fileno()  # opened is enough


@attempt()
def protects_itself_from_the_memory_killer():
    return Path("/proc/self/oom_score_adj").write_text("-1000")


@attempt()
def makes_a_cgroup():
    for place in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/memory"):
        try:
            Path(place, "outrider-escape").mkdir()
        except FileNotFoundError:
            continue
        Path(place, "outrider-escape").rmdir()
        return True
    raise FileNotFoundError(errno.ENOENT, "none")


@attempt()
def makes_a_device():
    os.mknod("disk", 0o060666, os.makedev(8, 0))
    return True


# Becoming another user


@attempt()
def becomes_root():
    os.setuid(0)
    return os.getuid() == 0


@attempt()
def joins_a_group():
    os.setgroups([0])
    return True


@attempt()
def has_a_capability():
    status = Path("/proc/self/status").read_text()
    held = [line.split()[1] for line in status.splitlines() if line.startswith(("CapEff", "CapPrm", "CapBnd"))]
    return any(int(each, 16) for each in held)


@attempt()
def could_gain_rights_by_a_program():
    return libc.prctl(39, 0, 0, 0, 0) != 1  # PR_GET_NO_NEW_PRIVS


@attempt()
def leaves_a_program_that_gives_its_rights():
    shutil.copy2("/bin/true", "setuid")
    Path("setuid").chmod(0o4755)
    return Path("setuid").stat().st_mode & 0o6000


@attempt()
def makes_a_file_that_gives_its_rights():
    os.close(os.open("born", os.O_CREAT | os.O_WRONLY, 0o6755))
    return Path("born").stat().st_mode & 0o6000


@attempt()
def changes_an_open_file_to_one_that_gives_its_rights():
    descriptor = os.open("changed", os.O_CREAT | os.O_WRONLY, 0o755)
    os.fchmod(descriptor, 0o4755)
    return os.fstat(descriptor).st_mode & 0o6000


# Seeing the machine in another way


@attempt()
def makes_a_user_namespace():
    return check_result(libc.unshare(CLONE_NEWUSER)) == 0


@attempt()
def makes_a_namespace_by_clone():
    child = call_kernel("clone", CLONE_NEWUSER | signal.SIGCHLD, 0, 0, 0, 0)
    if not child:
        os._exit(0)
    return True


@attempt()
def makes_a_namespace_by_the_newer_clone():
    arguments = struct.pack("=QQQQQQQQ", CLONE_NEWUSER, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
    child = call_kernel("clone3", arguments, len(arguments))
    if not child:
        os._exit(0)
    return True


@attempt()
def makes_a_mount_namespace():
    return check_result(libc.unshare(0x20000)) == 0


@attempt()
def enters_a_namespace_of_another():
    return check_result(libc.setns(os.open(f"/proc/{os.getppid()}/ns/net", os.O_RDONLY), 0)) == 0


@attempt()
def enters_a_namespace_by_a_process():
    return check_result(libc.setns(os.pidfd_open(os.getppid()), 0x40000000)) == 0


@attempt()
def mounts():
    return check_result(libc.mount(b"none", b".", b"tmpfs", 0, None)) == 0


@attempt()
def mounts_a_folder_elsewhere():
    return check_result(libc.mount(b"/usr", b".", None, 0x1000, None)) == 0


@attempt()
def makes_the_system_writable():
    return check_result(libc.mount(None, b"/usr", None, 0x1020, None)) == 0


@attempt()
def takes_a_mount_away():
    return check_result(libc.umount2(b"/proc", 2)) == 0


@attempt()
def changes_its_root():
    os.chroot(".")
    return True


@attempt()
def exchanges_the_root():
    return call_kernel("pivot_root", b".", b".") == 0


@attempt()
def opens_a_file_system():
    return call_kernel("fsopen", b"tmpfs", 0)


@attempt()
def opens_a_tree():
    return call_kernel("open_tree", -100, b"/", 1)


@attempt()
def moves_a_mount():
    return call_kernel("move_mount", -100, b"/usr", -100, b".", 0) == 0


@attempt()
def changes_what_a_mount_allows():
    return call_kernel("mount_setattr", -100, b"/usr", 0, struct.pack("=QQQQ", 0, 1, 0, 0), 32) == 0


# Reaching into the kernel and other processes


@attempt()
def loads_a_program_into_the_kernel():
    return call_kernel("bpf", 0, ctypes.create_string_buffer(128), 128)


@attempt()
def counts_events_of_the_machine():
    return call_kernel("perf_event_open", ctypes.create_string_buffer(struct.pack("=II", 1, 112), 112), 0, -1, -1, 0)


@attempt()
def reads_keys():
    return call_kernel("keyctl", 0, -3, 0, 0, 0)


@attempt()
def keeps_a_key():
    return call_kernel("add_key", b"user", b"outrider", b"x", 1, -3)


@attempt()
def asks_for_a_key():
    return call_kernel("request_key", b"user", b"outrider", None, -3)


@attempt()
def handles_faults_of_the_kernel():
    return call_kernel("userfaultfd", 0)


@attempt()
def makes_a_ring_that_no_filter_sees():
    return call_kernel("io_uring_setup", 1, ctypes.create_string_buffer(120))


@attempt()
def loads_a_module():
    return call_kernel("init_module", b"", 0, b"") == 0


@attempt()
def loads_another_kernel():
    return call_kernel("kexec_load", 0, 0, None, 0) == 0


@attempt()
def restarts_the_machine():
    return call_kernel("reboot", 0, 0, 0, None) == 0  # without the magic numbers: no machine would


@attempt()
def traces_the_server():
    return check_result(libc.ptrace(0x4206, FACTS["victim"], None, None)) == 0  # PTRACE_SEIZE


@attempt()
def traces_its_parent():
    return check_result(libc.ptrace(0x4206, os.getppid(), None, None)) == 0


@attempt()
def reads_the_memory_of_another():
    return call_kernel("process_vm_readv", FACTS["victim"], ctypes.create_string_buffer(16), 1, None, 0, 0) >= 0


@attempt()
def writes_the_memory_of_another():
    return call_kernel("process_vm_writev", FACTS["victim"], None, 0, None, 0, 0) >= 0


@attempt()
def takes_a_descriptor_of_another():
    return call_kernel("pidfd_getfd", os.pidfd_open(os.getppid()), 1, 0)


@attempt()
def compares_itself_with_another():
    return call_kernel("kcmp", os.getpid(), os.getppid(), 0, 0, 0) >= 0


@attempt()
def gives_up_random_addresses():
    return check_result(libc.personality(0x0040000)) >= 0


@attempt()
def makes_a_file_without_a_name():
    return os.memfd_create("hidden")


@attempt()
def makes_memory_that_nobody_sees():
    return call_kernel("memfd_secret", 0)


@attempt()
def renames_the_machine():
    socket.sethostname("escaped")
    return True


@attempt()
def sets_the_clock():
    return call_kernel("clock_settime", 0, struct.pack("=qq", 0, 0)) == 0


@attempt()
def takes_the_swap_away():
    return call_kernel("swapoff", b"/nothing") == 0


@attempt()
def keeps_accounts():
    return call_kernel("acct", None) == 0


@attempt()
def sets_a_quota():
    return call_kernel("quotactl", 0, None, 0, None) == 0


@attempt()
def calls_by_the_other_abi():
    if os.uname().machine != "x86_64":
        raise OSError(errno.ENOSYS, "there is none")
    return libc.syscall(0x40000000 + 39) > 0  # getpid of x32


@attempt()
def types_into_the_terminal():
    fcntl.ioctl(0, 0x5412, b"x")
    return True


@attempt()
def types_into_a_terminal_that_it_opens():
    fcntl.ioctl(os.open("/dev/tty", os.O_RDWR), 0x5412, b"x")
    return True


# Other processes


@attempt(control=True)
def finds_that_a_process_outside_lives():
    os.kill(FACTS["victim"], 0)
    return True


@attempt()
def ends_a_process_outside():
    os.kill(FACTS["victim"], signal.SIGUSR1)  # which would end it
    return True


@attempt()
def ends_a_group_outside():
    os.killpg(FACTS["victim"], signal.SIGUSR1)
    return True


@attempt()
def signals_by_a_descriptor():
    signal.pidfd_send_signal(os.pidfd_open(FACTS["victim"]), 0)
    return True


@attempt(control=True)
def limits_a_process_outside():
    import resource

    return resource.prlimit(FACTS["victim"], resource.RLIMIT_CORE, (0, 0))


@attempt(control=True)
def slows_a_process_outside():
    os.setpriority(os.PRIO_PROCESS, FACTS["victim"], 19)
    return True


@attempt(control=True)
def binds_a_process_outside_to_a_processor():
    os.sched_setaffinity(FACTS["victim"], {0})
    return True


@attempt(control=True)
def finds_shared_memory_of_others():
    return check_result(libc.shmget(FACTS["segment"], 0, 0)) >= 0


@attempt(control=True, landlock=True)
def makes_a_message_queue_of_the_system():
    queue = check_result(libc.msgget(FACTS["segment"] + 1, 0o1666))
    return FACTS["level"] != "namespaces" and not libc.msgctl(queue, 0, None)


# The network


@attempt(control=True)
def connects_to_a_port_of_this_machine():
    return socket.create_connection(("127.0.0.1", FACTS["port"]), 2)


@attempt(control=True)
def connects_over_the_newer_protocol():
    return socket.create_connection(("::ffff:127.0.0.1", FACTS["port"]), 2)


@attempt()
def sends_a_datagram():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        return sender.sendto(b"x", ("192.0.2.1", 53))


@attempt()
def asks_for_a_name():
    return socket.getaddrinfo("example.com", 80)


@attempt()
def connects_to_the_web():
    return socket.create_connection(("192.0.2.1", 443), 2)


@attempt()
def asks_the_cloud_for_credentials():
    return socket.create_connection(("169.254.169.254", 80), 2)


@attempt(control=True)
def connects_to_a_socket_file():
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(FACTS["socket"])
        return True


@attempt(control=True)
def connects_to_a_socket_without_a_file():
    with socket.socket(socket.AF_UNIX) as client:
        client.connect("\0" + FACTS["abstract"])
        return True


@attempt()
def listens_for_everything():
    return socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3)


@attempt()
def sends_raw_packets():
    return socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)


@attempt()
def speaks_to_the_host_of_a_virtual_machine():
    return socket.socket(socket.AF_VSOCK, socket.SOCK_STREAM)


@attempt()
def speaks_to_the_kernels_ciphers():
    return socket.socket(38, socket.SOCK_SEQPACKET)  # AF_ALG


@attempt()
def sees_an_interface_of_the_machine():
    return [name for _, name in socket.if_nameindex() if name != "lo"]


def run_attempt(fn: Callable[[], object]) -> str:
    """Run an attempt in its own process and return the outcome."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        signal.alarm(ATTEMPT_TIMEOUT_S)
        os.write(writing, describe_outcome(fn).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        said = stream.read()
    _, status = os.waitpid(child, 0)
    return said or f"held: ended by signal {os.WTERMSIG(status)}"


def describe_outcome(fn: Callable[[], object]) -> str:
    try:
        found = fn()
    except OSError as error:
        return f"held: {errno.errorcode.get(error.errno or 0, error)}"
    except Exception as error:  # noqa: BLE001 - a mistake of ours, which the test tells from being held
        return f"broken: {type(error).__name__}: {error}"
    return f"escaped: {str(found)[:100]}" if found else "held: nothing found"


if __name__ == "__main__":
    FACTS.update(json.loads(Path(__file__).with_name("facts.json").read_text()))
    wanted = FACTS["wanted"] or list(ATTEMPTS)
    print(json.dumps({name: run_attempt(ATTEMPTS[name]) for name in wanted}))
