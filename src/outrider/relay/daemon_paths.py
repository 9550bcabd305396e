"""Where the one process of a data directory is found, and whether that place can be trusted."""

import os
import stat


class UntrustedDaemon(Exception):
    """The place belongs to somebody else, or others may write there."""


class DaemonPaths:
    """The files of one daemon.

    Attributes:
        data_dir: The data directory.
        run_dir: The folder of the others, which is the person's own.
        socket_path: The daemon's door.
        token_path: Where there can be no socket of the kind: port and token of a door on loopback.
        daemon_lock_path: Locked for as long as a daemon answers at the door.
        start_lock_path: Locked by who starts one.
    """

    def __init__(self, folder: str) -> None:
        self.data_dir = folder
        self.run_dir = os.path.join(folder, "run")
        self.socket_path = os.path.join(self.run_dir, "daemon.sock")
        self.token_path = os.path.join(self.run_dir, "daemon.token")
        self.daemon_lock_path = os.path.join(self.run_dir, "daemon.lock")
        self.start_lock_path = os.path.join(self.run_dir, "starting.lock")

    @property
    def fits_socket_address(self) -> bool:
        """Whether the path fits into the address of a socket."""
        max_path_bytes = 100  # bytes of a socket's path: 104 on macOS, 108 on Linux, the last of them NUL
        return len(os.fsencode(self.socket_path)) <= max_path_bytes

    def create_run_dir(self) -> None:
        """Makes the folder, as one that nobody else can enter. Raises OSError and Untrusted."""
        try:
            os.makedirs(self.data_dir, 0o700, exist_ok=True)
            os.mkdir(self.run_dir, 0o700)
        except FileExistsError:
            pass
        self.check_run_dir()

    def check_run_dir(self) -> None:
        """Raises Untrusted where somebody else may have laid out what is found here. OSError where there is nothing."""
        found = os.lstat(self.run_dir)
        if not stat.S_ISDIR(found.st_mode):
            raise UntrustedDaemon(f"{self.run_dir} is no folder")
        if found.st_uid != os.geteuid():
            raise UntrustedDaemon(f"{self.run_dir} belongs to somebody else")
        if found.st_mode & 0o077:
            os.chmod(self.run_dir, 0o700)

    def check_file_owner(self, path: str) -> None:
        """Raises Untrusted for a file of somebody else, or a link; OSError where there is none."""
        found = os.lstat(path)
        if found.st_uid != os.geteuid() or stat.S_ISLNK(found.st_mode):
            raise UntrustedDaemon(f"{path} was put there by somebody else")


def find_daemon_paths(arguments: list[str], environ: dict[str, str], home: str) -> DaemonPaths | None:
    """Where the daemon of these settings is; None if they want none.

    It reads of the settings only these two, as `settings/load.py` does: the daemon reads all, and refuses to serve what
    belongs elsewhere.
    """
    false_values = ("0", "off", "f", "false", "n", "no")  # what pydantic reads as false
    chosen = _read_settings_file(os.path.join(home, ".outrider", "settings.json"))
    chosen |= {
        name: environ["OUTRIDER_" + name.upper()]
        for name in ("daemon", "data_dir")
        if environ.get("OUTRIDER_" + name.upper())
    }
    chosen |= _parse_flags(arguments)
    if str(chosen.get("daemon", "")).strip().lower() in false_values:
        return None
    folder = str(chosen.get("data_dir") or os.path.join(home, ".outrider"))
    return DaemonPaths(os.path.abspath(os.path.expanduser(folder)))


def _parse_flags(arguments: list[str]) -> dict[str, str]:
    set_flag = "--set"
    found = {"daemon": "no"} if "--no-daemon" in arguments else {}
    for before, each in zip(["", *arguments], arguments, strict=False):
        text = (
            each if before == set_flag else each.removeprefix(set_flag + "=") if each.startswith(set_flag + "=") else ""
        )
        name, _, value = text.partition("=")
        if name.strip() in ("daemon", "data_dir") and not ("--no-daemon" in arguments and name.strip() == "daemon"):
            found[name.strip()] = value
    return found


def _read_settings_file(path: str) -> dict[str, object]:
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
