"""What a process must do to itself before it becomes sandboxed code; run by its path, with `python -I -S`.

It knows nothing of the package, imports little, because every execution waits for it,
and what to do is its argument: a dictionary, marshalled, in hexadecimal digits. Two
ways: `stage` shows bubblewrap, which must not run as root, the folders that only root can enter; `supervise` starts
code under Landlock and a filter of system calls (or under nothing), and ends all of it when it or the server ends.
"""

import ctypes
import marshal
import os
import resource
import select
import stat
import sys

SET_PDEATHSIG, SET_SECCOMP, SET_SUBREAPER, NO_NEW_PRIVS = 1, 22, 36, 38  # prctl(2)
CLONE_NEWNS, MS_PRIVATE_REC, MS_BIND, MS_NOSUID_NODEV = (
    0x20000,
    0x44000,
    0x1000,
    0x6,
)  # unshare(2), mount(2): MS_PRIVATE|MS_REC, MS_NOSUID|MS_NODEV
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # landlock(7); the same on all machines
FILE_RIGHTS = (
    0x1 | 0x2 | 0x4 | 0x4000 | 0x8000
)  # rights that mean something for a file: execute, write, read, truncate, ioctl
STAGE_FOLDER = "/tmp"  # noqa: S108 - hidden under a file system of our own
SIGKILL = 9
EXIT_NOT_STARTED, EXIT_NOT_FOUND = 125, 127

libc = ctypes.CDLL(None, use_errno=True)


def main() -> None:
    spec = marshal.loads(bytes.fromhex(sys.argv[1]))  # noqa: S302 - the server's own words
    {"stage": exec_bubblewrap, "supervise": supervise_command}[spec["way"]](spec)


def exec_bubblewrap(spec: dict) -> None:
    """Shows the sources in a place that everybody can enter, gives root up, and becomes bubblewrap."""
    places = mount_sources(spec["sources"])
    apply_limits(spec["limits"])
    drop_privileges(spec["uid"], spec["parent"])
    reset_signals()
    os.chdir("/")
    command = [places[word] if isinstance(word, int) else word for word in spec["command"]]
    try:
        os.execv(command[0], command)
    except OSError as error:
        sys.exit(f"bubblewrap does not start: {error.strerror}")


def mount_sources(sources: list[str]) -> list[str]:
    """The sources' places in mounts of our own; the sources themselves where no mounts can be made."""
    if libc.unshare(CLONE_NEWNS):
        return sources
    check_result(libc.mount(b"none", b"/", None, MS_PRIVATE_REC, None))
    opened = [os.open(source, os.O_PATH) for source in sources]
    check_result(libc.mount(b"outrider", STAGE_FOLDER.encode(), b"tmpfs", MS_NOSUID_NODEV, b"mode=711,size=1m"))
    return [bind_source(number, descriptor) for number, descriptor in enumerate(opened)]


def bind_source(number: int, descriptor: int) -> str:
    place = f"{STAGE_FOLDER}/{number}"
    if stat.S_ISDIR(os.fstat(descriptor).st_mode):
        os.mkdir(place)
    else:
        os.close(os.open(place, os.O_CREAT))
    check_result(libc.mount(f"/proc/self/fd/{descriptor}".encode(), place.encode(), None, MS_BIND, None))
    os.close(descriptor)
    return place


def apply_limits(limits: list[tuple[int, int]]) -> None:
    """The limits hold for the code and all that it starts, and where memory runs out it is the first to go."""
    for what, most in limits:
        hard = resource.getrlimit(what)[1]
        value = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (value, value))
    with open("/proc/self/oom_score_adj", "w") as score:
        score.write("1000")


def reset_signals() -> None:
    """Signals that Python ignores, and that the code would inherit as ignored: broken pipes and too large files."""
    for number in (13, 25):
        libc.signal(number, None)


def drop_privileges(uid: int | None, parent: int) -> None:
    """Becomes another user, if one is told, and ends with its parent: that must be said after the change."""
    if uid is not None:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    libc.prctl(SET_PDEATHSIG, SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(EXIT_NOT_STARTED)


def supervise_command(spec: dict) -> None:
    """Runs the command in a group of its own; ends with its exit code when nothing of it is left."""
    libc.prctl(SET_SUBREAPER, 1, 0, 0, 0)
    parent = os.getpid()
    child = os.fork()
    if not child:
        os.close(spec["alive"])
        os.close(spec["info"])
        exec_confined(spec, parent)
    silence_streams()
    report_child(spec["info"], child)
    status = wait_for_exit(child, spec["alive"])
    remove_tree(spec["scratch"])
    os._exit(status)


def report_child(info: int, child: int) -> None:
    try:
        os.write(info, b'{"child-pid": %d}\n' % child)
    except OSError:
        pass  # the server is gone, which is seen in a moment
    os.close(info)


def silence_streams() -> None:
    """The streams are the code's: they must end when it has ended."""
    null = os.open("/dev/null", os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(null, stream)


def wait_for_exit(child: int, alive: int) -> int:
    """Waits for the code to end, or for the server to let go of its end of the pipe."""
    over = os.pidfd_open(child) if hasattr(os, "pidfd_open") else alive
    poll = select.poll()
    poll.register(alive, select.POLLHUP)
    poll.register(over, select.POLLIN)
    poll.poll()
    for kill in (os.killpg, os.kill):  # it may not have made its group yet, and yet begin
        try:
            kill(child, SIGKILL)
        except OSError:
            pass
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    kill_orphans()
    return status if status >= 0 else 128 - status


def kill_orphans() -> None:
    """Ends all that the code left behind: it has become ours."""
    while True:
        with open(f"/proc/self/task/{os.getpid()}/children") as children:
            for pid in children.read().split():
                os.kill(int(pid), SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def remove_tree(folder: str) -> None:
    for place, folders, names in os.walk(folder, topdown=False) if folder else ():
        for name in names:
            os.unlink(f"{place}/{name}")
        for name in folders:
            inner = f"{place}/{name}"
            (os.unlink if os.path.islink(inner) else os.rmdir)(inner)
    if folder:
        os.rmdir(folder)


def exec_confined(spec: dict, parent: int) -> None:
    """Becomes the code. What goes wrong is said on its stream of errors."""
    try:
        os.setpgid(0, 0)
        apply_limits(spec["limits"])
        drop_privileges(spec["uid"], parent)
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
    """The server says so in a line, once the limits are set; if it is gone, the code never begins."""
    while (letter := os.read(0, 1)) != b"\n":
        if not letter:
            os._exit(EXIT_NOT_STARTED)


def apply_landlock(size: int, handled: tuple[int, int, int], rules: list[tuple[str, int]]) -> None:
    """From here on only these places can be reached: `rules` are (path, rights); a missing path is left out."""
    attributes = (ctypes.c_uint64 * 3)(*handled)
    ruleset = check_result(libc.syscall(CREATE_RULESET, attributes, ctypes.c_size_t(size), 0))
    for path, rights in rules:
        try:
            place = os.open(path, os.O_PATH)
        except OSError:
            continue
        meant = rights if stat.S_ISDIR(os.fstat(place).st_mode) else rights & FILE_RIGHTS
        rule = meant.to_bytes(8, sys.byteorder) + place.to_bytes(4, sys.byteorder)
        check_result(libc.syscall(ADD_RULE, ruleset, 1, rule, 0))
        os.close(place)
    check_result(libc.syscall(RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def apply_seccomp(program: bytes) -> None:
    filter_mode = 2

    class FilterProgram(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))

    check_result(libc.prctl(SET_SECCOMP, filter_mode, ctypes.byref(FilterProgram(len(program) // 8, program)), 0, 0))


def check_result(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


if __name__ == "__main__":
    main()
