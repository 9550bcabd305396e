"""Store flows as files of a project, or of a person.

They belong to a person if callers sign in.
"""

import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from outrider.core.context import Call
from outrider.core.errors import InvalidInput, NotFound
from outrider.core.jail import DirectoryEntry, Jail, rename_error_field
from outrider.flows.flow import NAME_PATTERN, Flow
from outrider.flows.flow_file import build_conflict_error, parse_flow

OLD_VERSION = re.compile(rf"({NAME_PATTERN.pattern})\.v([1-9][0-9]{{0,8}})\.yaml")


@dataclass(frozen=True)
class SavedFlow:
    """A stored version of a flow.

    Attributes:
        version: Its number.
        text: The flow as YAML.
        saved_at: When it was written; an older file when the next version replaced it.
        place: Its file; empty for a row.
    """

    version: int
    text: str
    saved_at: float
    place: str = ""


@dataclass(frozen=True)
class FlowFiles:
    """Reads and writes flows as `NAME.yaml`.

    Older versions are `NAME.v3.yaml`, which cannot be a flow's own name.

    Attributes:
        project: The folder of the user's project; its flows are in `.outrider/flows`.
        data_dir: Has a folder for each caller who signs in.
    """

    project: Path
    data_dir: Path

    def _find_folder(self, call: Call) -> tuple[Jail, str]:
        """Return a jail around a caller's flows, and their folder in it."""
        owner = call.owner_folder
        return (Jail(self.data_dir / "flows" / owner), "") if owner else (Jail(self.project), ".outrider/flows/")

    def read(self, call: Call, name: str) -> str:
        """Return a flow as YAML. Raises NotFound, InvalidInput, Refused, Unavailable."""
        jail, folder = self._find_folder(call)
        return _read_file(jail, f"{folder}{name}.yaml", name)

    def write(self, call: Call, flow: Flow, text: str, before: str) -> SavedFlow:
        """Write the next version, and keep the previous one. Raises Refused if that is not `before`, Unavailable."""
        jail, folder = self._find_folder(call)
        path = f"{folder}{flow.name}.yaml"
        with rename_error_field("name"):
            jail.make_directory(folder or ".")
            with _lock_folder(jail, folder or "."):
                current = self.read(call, flow.name) if flow.name in self.list_names(call) else ""
                if current != before:
                    raise build_conflict_error(flow.name)
                if before:
                    jail.write(f"{folder}{flow.name}.v{flow.version - 1}.yaml", before.encode())
                jail.write(path, text.encode())
        return SavedFlow(flow.version, text, jail.get_entry(path).modified_at, str(jail.root / path))

    def remove(self, call: Call, name: str) -> None:
        """Delete a flow with its older versions. Raises NotFound, Refused, Unavailable."""
        jail, folder = self._find_folder(call)
        for entry in [jail.get_entry(f"{folder}{name}.yaml"), *self._list_old(call, name).values()]:
            jail.remove(f"{folder}{entry.name}")

    def list_names(self, call: Call) -> list[str]:
        """List the names of a caller's flows."""
        names = [entry.name.removesuffix(".yaml") for entry in self._list_entries(call) if entry.name.endswith(".yaml")]
        return sorted(name for name in names if NAME_PATTERN.fullmatch(name))

    def list_versions(self, call: Call, name: str) -> list[SavedFlow]:
        """List the versions of a flow, newest first. Raises NotFound, InvalidInput, Refused, Unavailable."""
        jail, folder = self._find_folder(call)
        old = self._list_old(call, name)
        versions = [
            SavedFlow(number, _read_file(jail, f"{folder}{entry.name}", name), entry.modified_at)
            for number, entry in old.items()
        ]
        text = self.read(call, name)
        try:
            number = parse_flow(text, name).version
        except InvalidInput:
            number = 1
        newest = max([number, *(each + 1 for each in old)])  # a person may have restored an older file
        current = SavedFlow(newest, text, jail.get_entry(f"{folder}{name}.yaml").modified_at)
        return [current, *sorted(versions, key=lambda each: -each.version)]

    def _list_old(self, call: Call, name: str) -> dict[int, DirectoryEntry]:
        matches = {entry: OLD_VERSION.fullmatch(entry.name) for entry in self._list_entries(call)}
        return {int(match[2]): entry for entry, match in matches.items() if match and match[1] == name}

    def _list_entries(self, call: Call) -> list[DirectoryEntry]:
        jail, folder = self._find_folder(call)
        try:
            return jail.list(folder or ".")
        except NotFound:
            return []


@contextmanager
def _lock_folder(jail: Jail, folder: str) -> Generator[None]:
    """Let one process at a time replace flows; on systems without such locks, the last write wins."""
    try:
        import fcntl  # missing on Windows
    except ImportError:
        yield
        return
    with jail.open_folder(folder) as descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield


def _read_file(jail: Jail, path: str, name: str) -> str:
    max_bytes = 1_000_000
    with rename_error_field("name"), jail.open_file(path) as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise InvalidInput(f"flow {name} is larger than {max_bytes:,} bytes", hint="divide it into several flows")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise InvalidInput(f"flow {name} is not UTF-8 text", hint="correct the file") from None
