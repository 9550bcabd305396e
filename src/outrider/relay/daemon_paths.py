"""Find and check the files of a data directory's daemon."""

import os
import stat


class UntrustedDaemon(Exception):
    """The daemon or its files belong to another user."""


class DaemonPaths:
    """The files of one daemon.

    Attributes:
        data_dir: The data directory.
        run_dir: The folder of the other files, which only the user can access.
        socket_path: The daemon's Unix socket.
        token_path: Port and token of a loopback listener, where a Unix socket is not possible.
        rest_token_path: The token of the REST interface on the dashboard's port.
        daemon_lock_path: Locked while a daemon is listening.
        start_lock_path: Locked while a relay starts a daemon.
    """

    def __init__(self, folder: str) -> None:
        self.data_dir = folder
        self.run_dir = os.path.join(folder, "run")
        self.socket_path = os.path.join(self.run_dir, "daemon.sock")
        self.token_path = os.path.join(self.run_dir, "daemon.token")
        self.rest_token_path = os.path.join(self.run_dir, "rest.token")
        self.daemon_lock_path = os.path.join(self.run_dir, "daemon.lock")
        self.start_lock_path = os.path.join(self.run_dir, "starting.lock")

    @property
    def fits_socket_address(self) -> bool:
        """Whether the path fits into the address of a socket: 104 bytes on macOS, 108 on Linux, with a NUL."""
        return len(os.fsencode(self.socket_path)) <= 100

    def create_run_dir(self) -> None:
        """Create the folder for this user only. Raises OSError and UntrustedDaemon."""
        try:
            os.makedirs(self.data_dir, 0o700, exist_ok=True)
            os.mkdir(self.run_dir, 0o700)
        except FileExistsError:
            pass
        self.check_run_dir()

    def check_run_dir(self) -> None:
        """Raise UntrustedDaemon if another user may have written to the folder, OSError if it is missing."""
        status = os.lstat(self.run_dir)
        if not stat.S_ISDIR(status.st_mode):
            raise UntrustedDaemon(f"{self.run_dir} is not a folder")
        if status.st_uid != os.geteuid():
            raise UntrustedDaemon(f"{self.run_dir} belongs to another user")
        if status.st_mode & 0o077:
            os.chmod(self.run_dir, 0o700)

    def check_file_owner(self, path: str) -> None:
        """Raise UntrustedDaemon for a link or a file of another user, OSError if it is missing."""
        status = os.lstat(path)
        if status.st_uid != os.geteuid() or stat.S_ISLNK(status.st_mode):
            raise UntrustedDaemon(f"{path} is a link, or belongs to another user")


def find_daemon_paths(arguments: list[str], environ: dict[str, str], home: str) -> DaemonPaths | None:
    """Return the daemon's files under these settings, or None if they disable the daemon.

    Only `daemon` and `data_dir` are read, in the order of `settings/load.py`. The daemon itself reads all settings, and
    refuses hosts that need another one.
    """
    false_values = ("0", "off", "f", "false", "n", "no")  # as in pydantic
    settings = _read_settings_file(os.path.join(home, ".outrider", "settings.json"))
    settings |= {
        name: environ["OUTRIDER_" + name.upper()]
        for name in ("daemon", "data_dir")
        if environ.get("OUTRIDER_" + name.upper())
    }
    values: dict[str, str] = {}
    for previous, argument in zip(["", *arguments], arguments, strict=False):
        assignment = ""
        if previous == "--set":
            assignment = argument
        elif argument.startswith("--set="):
            assignment = argument.removeprefix("--set=")
        name, _, value = assignment.partition("=")
        if name.strip() in ("daemon", "data_dir"):
            values[name.strip()] = value
    if "--no-daemon" in arguments:
        values["daemon"] = "no"
    settings |= values
    if str(settings.get("daemon", "")).strip().lower() in false_values:
        return None
    data_dir = str(settings.get("data_dir") or os.path.join(home, ".outrider"))
    return DaemonPaths(os.path.abspath(os.path.expanduser(data_dir)))


def _read_settings_file(path: str) -> dict[str, object]:
    """Return the two settings in the file; `json` is loaded only if it contains one of them."""
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
