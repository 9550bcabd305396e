"""Results handed out of the workspace: copies below `exports/`, as they are, in another format, or zipped."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from mimetypes import guess_type
from pathlib import PurePosixPath
from typing import Literal

import anyio

from outrider.core.errors import InvalidInput, NotFound
from outrider.workspace import archive
from outrider.workspace.convert import MIME, Format, ToMarkdown, converted
from outrider.workspace.workspaces import Workspace

Kind = Literal["file", "zip"]
FILES, PACKAGES = "exports/files", "exports/packages"
PACKAGE_LENGTH = 50
ZIP = "application/zip"


@dataclass(frozen=True)
class Export:
    """What was handed out.

    Attributes:
        path: Where it is in the workspace.
        name: What it is called for the user.
        size: In bytes.
        files: How many files are in it.
        renamed: Names in an archive that differ from the files' paths, by path.
    """

    kind: Kind
    path: str
    name: str
    mime_type: str
    size: int
    files: int
    created_at: datetime
    renamed: dict[str, str] = field(default_factory=dict)


async def exported(place: Workspace, path: str, name: str, wanted: Format | None, to_markdown: ToMarkdown) -> Export:
    """A copy of one file, of any size as it is, of up to 10 MB in another format."""
    now, stem, suffix = datetime.now(UTC), PurePosixPath(path).stem, PurePosixPath(path).suffix
    if wanted is None:
        target = _free(place, FILES, stem, now, suffix)
        size = await anyio.to_thread.run_sync(_copied, place, path, target)
        kind = guess_type(path)[0] or "application/octet-stream"
    else:
        data = await converted(await anyio.to_thread.run_sync(place.files.content, path), path, wanted, to_markdown)
        suffix, kind, size = f".{wanted}", MIME[wanted], len(data)
        target = _free(place, FILES, stem, now, suffix)
        await anyio.to_thread.run_sync(place.files.save, target, data)
    return Export("file", target, _titled(name or stem, suffix), kind, size, 1, now)


def zipped(place: Workspace, paths: list[str], package: str, done: Callable[[int, int, str], None]) -> Export:
    """An archive of files and folders, written to disk block by block. Blocking.

    Args:
        place: Whose files.
        paths: Their paths; a folder stands for all that is below it.
        package: The archive's name, at most 50 characters.
        done: Told after each file: how many, of how many, its path.

    Raises:
        InvalidInput: something of it is missing or cannot be read, named in the message; or the name is none.
    """
    jail = place.files.jail
    wanted = archive.members(jail, paths)
    now = datetime.now(UTC)
    target = _free(place, PACKAGES, _package(package), now, ".zip")
    place.room.claim(sum(jail.entry(each.path).size or 0 for each in wanted))
    with jail.creating(target) as file:
        archive.write(jail, wanted, file, lambda number, member: done(number, len(wanted), member.path))
        file.flush()
        size = file.tell()
    name = PurePosixPath(target).name
    return Export("zip", target, name, ZIP, size, len(wanted), now, archive.renamed(wanted))


def _copied(place: Workspace, path: str, target: str) -> int:
    """Copies a file of any size; returns how many bytes it has."""
    jail = place.files.jail
    with jail.reading(path) as descriptor:
        place.room.claim(os.fstat(descriptor).st_size)
        with jail.creating(target) as file:
            while block := os.read(descriptor, archive.BLOCK):
                file.write(block)
            return file.tell()


def _free(place: Workspace, folder: str, stem: str, now: datetime, suffix: str) -> str:
    """A path below `folder` that nothing has, with the time in its name."""
    plain = archive.safe_name(stem).replace("/", "_")
    for number in range(1, 1_000):
        extra = f"_{number}" if number > 1 else ""
        path = f"{folder}/{plain}_{now:%Y%m%d_%H%M%S}{extra}{suffix}"
        try:
            place.files.jail.entry(path)
        except NotFound:
            return path
    raise InvalidInput("path: a thousand exports of this name in one second", hint="wait a second")


def _package(name: str) -> str:
    plain = archive.safe_name(name.strip()[:PACKAGE_LENGTH].replace("/", "_"))
    return plain.removesuffix(".zip") or "workspace_export"


def _titled(name: str, suffix: str) -> str:
    plain = archive.safe_name(name.replace("/", "_"))
    return plain if plain.lower().endswith(suffix.lower()) else f"{plain}{suffix}"
