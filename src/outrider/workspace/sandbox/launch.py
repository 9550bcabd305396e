"""Prepare a process to become sandboxed code; run by its path, with `python -I -S`.

It does not import the package, and little else, because every execution waits for it. Its argument is a specification:
a dictionary, marshalled, in hexadecimal digits. It starts a child, and kills all of its descendants when it or the
server ends. The child has two modes: `bubblewrap` first mounts folders that only root can enter where bubblewrap, which
must not run as root, can find them; `confine` becomes the code, under Landlock and a filter of system calls (or
nothing).
"""

import ctypes
import marshal
import os
import resource
import select
import stat
import sys

SET_PDEATHSIG, SET_SECCOMP, SET_SUBREAPER, NO_NEW_PRIVS = 1, 22, 36, 38  # prctl(2)
# unshare(2) and mount(2): MS_PRIVATE_REC is MS_PRIVATE | MS_REC, MS_NOSUID_NODEV is MS_NOSUID | MS_NODEV.
CLONE_NEWNS, MS_PRIVATE_REC, MS_BIND, MS_NOSUID_NODEV = 0x20000, 0x44000, 0x1000, 0x6
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # landlock(7); the same on all machines
STAGE_FOLDER = "/tmp"  # noqa: S108 - covered by our own tmpfs
SIGKILL = 9
EXIT_NOT_STARTED, EXIT_NOT_FOUND = 125, 127

libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    """Do what the specification says."""
    spec = marshal.loads(bytes.fromhex(sys.argv[1]))  # noqa: S302 - written by the server
    supervise_command(spec)


def exec_bubblewrap(spec: dict, parent: int) -> None:
    """Mount the sources where everyone can reach them, give up root, and become bubblewrap."""
    os.setpgid(0, 0)
    paths = mount_sources(spec["sources"]) if spec["uid"] is not None else []
    apply_limits(spec["limits"])
    drop_privileges(spec["uid"], parent)
    if spec["processes"]:
        limit_processes(*spec["processes"])
    reset_signals()
    os.chdir("/")
    command = [paths[word] if isinstance(word, int) else word for word in spec["command"]]
    try:
        os.execv(command[0], command)
    except OSError as error:
        sys.exit(f"bubblewrap does not start: {error.strerror}")


def mount_sources(sources: list[str]) -> list[str]:
    """Return paths of private mounts of the sources, or the sources if refused."""
    if libc.unshare(CLONE_NEWNS):
        return sources
    check_result(libc.mount(b"none", b"/", None, MS_PRIVATE_REC, None))
    descriptors = [os.open(source, os.O_PATH) for source in sources]
    check_result(libc.mount(b"outrider", STAGE_FOLDER.encode(), b"tmpfs", MS_NOSUID_NODEV, b"mode=711,size=1m"))
    return [bind_source(number, descriptor) for number, descriptor in enumerate(descriptors)]


def bind_source(number: int, descriptor: int) -> str:
    """Bind an opened source to a numbered path below STAGE_FOLDER."""
    path = f"{STAGE_FOLDER}/{number}"
    if stat.S_ISDIR(os.fstat(descriptor).st_mode):
        os.mkdir(path)
    else:
        os.close(os.open(path, os.O_CREAT))
    check_result(libc.mount(f"/proc/self/fd/{descriptor}".encode(), path.encode(), None, MS_BIND, None))
    os.close(descriptor)
    return path


def apply_limits(limits: list[tuple[int, int]]) -> None:
    """Limit this process and its children, and make them the first out-of-memory victims."""
    for kind, limit in limits:
        hard = resource.getrlimit(kind)[1]
        value = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(kind, (value, value))
    with open("/proc/self/oom_score_adj", "w") as score:
        score.write("1000")


def limit_processes(limit: int, visible_threads: int) -> None:
    """Let our user have `limit` processes more than it has now; called as that user.

    The kernel counts all threads of a user, even those of other PID namespaces: containers may share their users.
    """
    hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    value = count_other_threads(visible_threads, hard) + limit
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(resource.RLIMIT_NPROC, (value, value))


def count_other_threads(visible_threads: int, hard: int) -> int:
    """Return the number of other threads of our user, at most seven too many; found by trying limits."""
    precision, max_threads = 8, 1 << 22  # Linux has at most 4,194,304 threads
    own_threads = 3  # we, our supervisor, and the child of a trial
    if can_fork(visible_threads + precision, hard):
        return visible_threads
    low, high = visible_threads + precision, 2 * (visible_threads + precision)
    while not can_fork(high, hard):
        low, high = high, 2 * high
        if high > max_threads:
            return visible_threads  # something else forbids it
    while high - low > precision:
        middle = (low + high) // 2
        low, high = (low, middle) if can_fork(middle, hard) else (middle, high)
    return high - own_threads


def can_fork(limit: int, hard: int) -> bool:
    """Return whether a process could be started under this limit."""
    resource.setrlimit(resource.RLIMIT_NPROC, (limit if hard == resource.RLIM_INFINITY else min(limit, hard), hard))
    try:
        child = os.fork()
    except BlockingIOError:
        return False
    if not child:
        os._exit(0)
    os.waitpid(child, 0)
    return True


def reset_signals() -> None:
    """Restore SIGPIPE and SIGXFSZ, which Python ignores: the code would inherit that."""
    for number in (13, 25):
        libc.signal(number, None)


def drop_privileges(uid: int | None, parent: int) -> None:
    """Switch to another user, if one is given, and die with the parent: changing the user would reset that."""
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    libc.prctl(SET_PDEATHSIG, SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(EXIT_NOT_STARTED)


def supervise_command(spec: dict) -> None:
    """Run the command in its own process group; exit with its code once all of its processes have ended.

    Bubblewrap needs this, too: its first process in the namespace waits forever if the other one is killed before it
    has released it, and is then our child.
    """
    libc.prctl(SET_SUBREAPER, 1, 0, 0, 0)
    parent = os.getpid()
    child = os.fork()
    if not child:
        os.close(spec["alive"])
        if spec["mode"] == "bubblewrap":
            exec_bubblewrap(spec, parent)
        os.close(spec["info"])
        exec_confined(spec, parent)
    silence_streams()
    if spec["mode"] == "bubblewrap":  # it reports its child itself
        os.close(spec["info"])
    else:
        report_child(spec["info"], child)
    status = wait_for_exit(child, spec["alive"])
    remove_tree(spec["scratch"])
    os._exit(status)


def report_child(info: int, child: int) -> None:
    """Send the server the PID of the code."""
    try:
        os.write(info, b'{"child-pid": %d}\n' % child)
    except OSError:
        pass  # the server is gone; `wait_for_exit` notices
    os.close(info)


def silence_streams() -> None:
    """Close our copies of the code's streams, so that they end with the code."""
    null = os.open("/dev/null", os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)


def wait_for_exit(child: int, alive: int) -> int:
    """Wait for the code to exit, or for the server to close its end of the pipe; return the exit code."""
    exited = os.pidfd_open(child) if hasattr(os, "pidfd_open") else alive
    poll = select.poll()
    poll.register(alive, select.POLLHUP)
    poll.register(exited, select.POLLIN)
    poll.poll()
    for kill in (os.killpg, os.kill):  # it may not have created its group yet
        try:
            kill(child, SIGKILL)
        except OSError:
            pass
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    kill_orphans()
    return status if status >= 0 else 128 - status


def kill_orphans() -> None:
    """Kill all processes that the code has left: as the subreaper we are their parent."""
    while True:
        with open(f"/proc/self/task/{os.getpid()}/children") as children:
            for pid in children.read().split():
                os.kill(int(pid), SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def remove_tree(folder: str) -> None:
    """Delete a folder without following links."""
    for parent, folders, names in os.walk(folder, topdown=False) if folder else ():
        for name in names:
            os.unlink(f"{parent}/{name}")
        for name in folders:
            path = f"{parent}/{name}"
            (os.unlink if os.path.islink(path) else os.rmdir)(path)
    if folder:
        os.rmdir(folder)


def exec_confined(spec: dict, parent: int) -> None:
    """Become the code. Errors are written to its standard error."""
    try:
        os.setpgid(0, 0)
        apply_limits(spec["limits"])
        drop_privileges(spec["uid"], parent)
        limit_processes(*spec["processes"])
        if spec["landlock"]:
            check_result(libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0))
            apply_landlock(*spec["landlock"])
        os.chdir(spec["folder"])
        reset_signals()
        wait_for_start()
        if spec["seccomp"]:
            apply_seccomp(spec["seccomp"])
        os.execvpe(spec["command"][0], spec["command"], os.environ)
    except OSError as error:
        os.write(2, f"{spec['command'][0]}: {error.strerror}\n".encode())
    finally:
        os._exit(EXIT_NOT_FOUND)


def wait_for_start() -> None:
    """Wait for a line from the server, sent once the limits are set; exit if the server is gone."""
    while (byte := os.read(0, 1)) != b"\n":
        if not byte:
            os._exit(EXIT_NOT_STARTED)


def apply_landlock(size: int, handled: tuple[int, int, int], rules: list[tuple[str, int]]) -> None:
    """Restrict access to these paths: `rules` are (path, rights); a missing path is skipped."""
    file_rights = 0x1 | 0x2 | 0x4 | 0x4000 | 0x8000  # those that apply to files: execute, write, read, truncate, ioctl
    attributes = (ctypes.c_uint64 * 3)(*handled)
    ruleset = check_result(libc.syscall(CREATE_RULESET, attributes, ctypes.c_size_t(size), 0))
    for path, rights in rules:
        try:
            descriptor = os.open(path, os.O_PATH)
        except OSError:
            continue
        allowed = rights if stat.S_ISDIR(os.fstat(descriptor).st_mode) else rights & file_rights
        rule = allowed.to_bytes(8, sys.byteorder) + descriptor.to_bytes(4, sys.byteorder)
        check_result(libc.syscall(ADD_RULE, ruleset, 1, rule, 0))
        os.close(descriptor)
    check_result(libc.syscall(RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def apply_seccomp(program: bytes) -> None:
    """Filter the system calls of this process and its children permanently."""
    filter_mode = 2

    class FilterProgram(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))

    check_result(libc.prctl(SET_SECCOMP, filter_mode, ctypes.byref(FilterProgram(len(program) // 8, program)), 0, 0))


def check_result(result: int) -> int:
    """Return the result of a C function. Raises OSError if it failed."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


if __name__ == "__main__":
    main()
