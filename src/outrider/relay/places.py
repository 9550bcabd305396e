"""Where the one process of a data directory is found, and whether that place can be trusted."""

import os
import stat

SETS = "--set"
OFF = ("0", "off", "f", "false", "n", "no")  # what pydantic reads as false
LONGEST = 100  # bytes of a socket's path: 104 on macOS, 108 on Linux, the last of them NUL


class Untrusted(Exception):
    """The place belongs to somebody else, or others may write there."""


class Place:
    """The files of one daemon.

    Attributes:
        folder: The data directory.
        run: The folder of the others, which is the person's own.
        socket: The daemon's door.
        token: Where there can be no socket of the kind: port and token of a door on loopback.
        alive: Locked for as long as a daemon answers at the door.
        starting: Locked by who starts one.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.run = os.path.join(folder, "run")
        self.socket = os.path.join(self.run, "daemon.sock")
        self.token = os.path.join(self.run, "daemon.token")
        self.alive = os.path.join(self.run, "daemon.lock")
        self.starting = os.path.join(self.run, "starting.lock")

    @property
    def short(self) -> bool:
        """Whether the path fits into the address of a socket."""
        return len(os.fsencode(self.socket)) <= LONGEST

    def prepare(self) -> None:
        """Makes the folder, as one that nobody else can enter. Raises OSError and Untrusted."""
        try:
            os.makedirs(self.folder, 0o700, exist_ok=True)
            os.mkdir(self.run, 0o700)
        except FileExistsError:
            pass
        self.check()

    def check(self) -> None:
        """Raises Untrusted where somebody else may have laid out what is found here. OSError where there is nothing."""
        found = os.lstat(self.run)
        if not stat.S_ISDIR(found.st_mode):
            raise Untrusted(f"{self.run} is no folder")
        if found.st_uid != os.geteuid():
            raise Untrusted(f"{self.run} belongs to somebody else")
        if found.st_mode & 0o077:
            os.chmod(self.run, 0o700)

    def check_own(self, path: str) -> None:
        """Raises Untrusted for a file of somebody else, or a link; OSError where there is none."""
        found = os.lstat(path)
        if found.st_uid != os.geteuid() or stat.S_ISLNK(found.st_mode):
            raise Untrusted(f"{path} was put there by somebody else")


def wanted(arguments: list[str], environ: dict[str, str], home: str) -> Place | None:
    """Where the daemon of these settings is; None if they want none.

    It reads of the settings only these two, as `settings/load.py` does: the daemon reads all, and refuses to serve what
    belongs elsewhere.
    """
    chosen = _from_file(os.path.join(home, ".outrider", "settings.json"))
    chosen |= {
        name: environ["OUTRIDER_" + name.upper()]
        for name in ("daemon", "data_dir")
        if environ.get("OUTRIDER_" + name.upper())
    }
    chosen |= _from_flags(arguments)
    if str(chosen.get("daemon", "")).strip().lower() in OFF:
        return None
    folder = str(chosen.get("data_dir") or os.path.join(home, ".outrider"))
    return Place(os.path.abspath(os.path.expanduser(folder)))


def _from_flags(arguments: list[str]) -> dict[str, str]:
    found = {"daemon": "no"} if "--no-daemon" in arguments else {}
    for before, each in zip(["", *arguments], arguments, strict=False):
        text = each if before == SETS else each.removeprefix(SETS + "=") if each.startswith(SETS + "=") else ""
        name, _, value = text.partition("=")
        if name.strip() in ("daemon", "data_dir") and not ("--no-daemon" in arguments and name.strip() == "daemon"):
            found[name.strip()] = value
    return found


def _from_file(path: str) -> dict[str, object]:
    """What the person's settings say of the two; JSON is loaded only for a file that says anything of them."""
    try:
        with open(path, "rb") as file:
            text = file.read()
    except OSError:
        return {}
    if b'"daemon"' not in text and b'"data_dir"' not in text:
        return {}
    import json

    try:
        values = json.loads(text.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return {}
    return {name: values[name] for name in ("daemon", "data_dir") if isinstance(values, dict) and name in values}
