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
from outrider.workspace.convert import EXPORT_MIME_TYPES, ExportFormat, MarkdownConverter, convert_file
from outrider.workspace.workspaces import SessionWorkspace

ExportKind = Literal["file", "zip"]
FILES_FOLDER, PACKAGES_FOLDER = "exports/files", "exports/packages"


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

    kind: ExportKind
    path: str
    name: str
    mime_type: str
    size: int
    files: int
    created_at: datetime
    renamed: dict[str, str] = field(default_factory=dict)


async def build_file_export(
    workspace: SessionWorkspace, path: str, name: str, wanted: ExportFormat | None, to_markdown: MarkdownConverter
) -> Export:
    """A copy of one file, of any size as it is, of up to 10 MB in another format."""
    now, stem, suffix = datetime.now(UTC), PurePosixPath(path).stem, PurePosixPath(path).suffix
    if wanted is None:
        target = _find_free_path(workspace, FILES_FOLDER, stem, now, suffix)
        size = await anyio.to_thread.run_sync(_copy_file, workspace, path, target)
        kind = guess_type(path)[0] or "application/octet-stream"
    else:
        data = await convert_file(
            await anyio.to_thread.run_sync(workspace.files.read_bytes, path), path, wanted, to_markdown
        )
        suffix, kind, size = f".{wanted}", EXPORT_MIME_TYPES[wanted], len(data)
        target = _find_free_path(workspace, FILES_FOLDER, stem, now, suffix)
        await anyio.to_thread.run_sync(workspace.files.write_bytes, target, data)
    return Export("file", target, _titled(name or stem, suffix), kind, size, 1, now)


def build_zip_export(
    workspace: SessionWorkspace, paths: list[str], package: str, report: Callable[[int, int, str], None]
) -> Export:
    """An archive of files and folders, written to disk block by block. Blocking.

    Args:
        workspace: Whose files.
        paths: Their paths; a folder stands for all that is below it.
        package: The archive's name, at most 50 characters.
        report: Told after each file: how many, of how many, its path.

    Raises:
        InvalidInput: something of it is missing or cannot be read, named in the message; or the name is none.
    """
    mime_type = "application/zip"
    jail = workspace.files.jail
    wanted = archive.collect_members(jail, paths)
    now = datetime.now(UTC)
    target = _find_free_path(workspace, PACKAGES_FOLDER, _package(package), now, ".zip")
    workspace.quota.reserve(sum(jail.get_entry(each.path).size or 0 for each in wanted))
    with jail.create_file(target) as file:
        archive.write_archive(jail, wanted, file, lambda number, member: report(number, len(wanted), member.path))
        file.flush()
        size = file.tell()
    name = PurePosixPath(target).name
    return Export("zip", target, name, mime_type, size, len(wanted), now, archive.collect_renames(wanted))


def _copy_file(workspace: SessionWorkspace, path: str, target: str) -> int:
    """Copies a file of any size; returns how many bytes it has."""
    jail = workspace.files.jail
    with jail.open_descriptor(path) as descriptor:
        workspace.quota.reserve(os.fstat(descriptor).st_size)
        with jail.create_file(target) as file:
            while block := os.read(descriptor, archive.COPY_BLOCK_BYTES):
                file.write(block)
            return file.tell()


def _find_free_path(workspace: SessionWorkspace, folder: str, stem: str, now: datetime, suffix: str) -> str:
    """A path below `folder` that nothing has, with the time in its name."""
    plain = archive.sanitize_path(stem).replace("/", "_")
    for number in range(1, 1_000):
        extra = f"_{number}" if number > 1 else ""
        path = f"{folder}/{plain}_{now:%Y%m%d_%H%M%S}{extra}{suffix}"
        try:
            workspace.files.jail.get_entry(path)
        except NotFound:
            return path
    raise InvalidInput("path: a thousand exports of this name in one second", hint="wait a second")


def _package(name: str) -> str:
    max_name_chars = 50
    plain = archive.sanitize_path(name.strip()[:max_name_chars].replace("/", "_"))
    return plain.removesuffix(".zip") or "workspace_export"


def _titled(name: str, suffix: str) -> str:
    plain = archive.sanitize_path(name.replace("/", "_"))
    return plain if plain.lower().endswith(suffix.lower()) else f"{plain}{suffix}"
