"""Serve MariaDB, unpacked from Debian's packages, on a socket in a folder."""

import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.apps.install import php_environment
from tests.apps.servers import end_process, wait_for_answer

MARIADB_PACKAGES = ("mariadb-server-core", "mariadb-client-core")
START_TIMEOUT_S = 400.0


@dataclass(frozen=True)
class MariaDB:
    """A server on a socket; its user root has no password, and only this user of the machine can reach it."""

    root: Path
    socket: Path

    def query(self, statement: str, database: str = "") -> list[list[str]]:
        """Run a statement and return the rows as texts.

        Raises:
            CalledProcessError: the server refused it.
        """
        client = [self.root / "usr/bin/mariadb", "--no-defaults", f"--socket={self.socket}", "--user=root", "-N", "-B"]
        command = [*client, "-e", statement, *([database] if database else [])]
        environ = php_environment(self.root)
        answer = subprocess.run(command, env=environ, check=True, capture_output=True, text=True)
        return [line.split("\t") for line in answer.stdout.splitlines()]

    def is_answering(self) -> bool:
        """Return whether the server has started."""
        try:
            self.query("select 1")
        except subprocess.CalledProcessError:
            return False
        return True


@contextmanager
def serve_mariadb(root: Path, folder: Path) -> Generator[MariaDB]:
    """Create an empty server in a folder and yield it as soon as it answers."""
    data, environ = folder / "mariadb", php_environment(root)
    places = ["--no-defaults", f"--basedir={root}/usr", f"--datadir={data}"]
    quiet = ["--auth-root-authentication-method=normal", "--skip-test-db"]
    create = [root / "usr/bin/mariadb-install-db", *places, *quiet, "--user=root"]
    subprocess.run(create, env=environ, check=True, capture_output=True)
    database = MariaDB(root, folder / "db.sock")
    flags = [f"--socket={database.socket}", "--skip-networking", "--user=root", f"--pid-file={folder}/db.pid"]
    command = [root / "usr/sbin/mariadbd", *places, *flags]
    with (folder / "mariadb.log").open("wb") as log:
        process = subprocess.Popen(command, env=environ, stdout=log, stderr=log, process_group=0)
    try:
        wait_for_answer(process, database.is_answering, folder / "mariadb.log", START_TIMEOUT_S)
        yield database
    finally:
        end_process(process)
