"""Export files of a workspace below `exports/`: unchanged, in another format, or zipped."""

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
    """A finished export.

    Attributes:
        path: Path in the workspace.
        name: Name to show to the user.
        size: In bytes.
        files: Number of files in it.
        renamed: Archive names that differ from the files' paths, by path.
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
    workspace: SessionWorkspace,
    path: str,
    name: str,
    export_format: ExportFormat | None,
    to_markdown: MarkdownConverter,
) -> Export:
    """Export a copy of one file: of any size unchanged, of up to 10 MB in another format."""
    now, stem, suffix = datetime.now(UTC), PurePosixPath(path).stem, PurePosixPath(path).suffix
    if export_format is None:
        target = _find_free_path(workspace, FILES_FOLDER, stem, now, suffix)
        size = await anyio.to_thread.run_sync(_copy_file, workspace, path, target)
        mime_type = guess_type(path)[0] or "application/octet-stream"
    else:
        data = await anyio.to_thread.run_sync(workspace.files.read_bytes, path)
        data = await convert_file(data, path, export_format, to_markdown)
        suffix, mime_type, size = f".{export_format}", EXPORT_MIME_TYPES[export_format], len(data)
        target = _find_free_path(workspace, FILES_FOLDER, stem, now, suffix)
        await anyio.to_thread.run_sync(workspace.files.write_bytes, target, data)
    title = archive.sanitize_path((name or stem).replace("/", "_"))
    title = title if title.lower().endswith(suffix.lower()) else f"{title}{suffix}"
    return Export("file", target, title, mime_type, size, 1, now)


def build_zip_export(
    workspace: SessionWorkspace, paths: list[str], package: str, report: Callable[[int, int, str], None]
) -> Export:
    """Export an archive of files and folders, written to disk block by block. Blocking.

    Args:
        workspace: Holds the files.
        paths: Their paths; a folder includes everything below it.
        package: Name of the archive, at most 50 characters.
        report: Called after each file: number, total, path.

    Raises:
        InvalidInput: A file is missing or cannot be read; the message names each.
    """
    max_name_chars = 50
    jail = workspace.files.jail
    members = archive.collect_members(jail, paths)
    now = datetime.now(UTC)
    stem = archive.sanitize_path(package.strip()[:max_name_chars].replace("/", "_")).removesuffix(".zip")
    target = _find_free_path(workspace, PACKAGES_FOLDER, stem or "workspace_export", now, ".zip")
    workspace.quota.reserve(sum(jail.get_entry(member.path).size or 0 for member in members))
    with jail.create_file(target) as file:
        archive.write_archive(jail, members, file, lambda number, member: report(number, len(members), member.path))
        file.flush()
        size = file.tell()
    name = PurePosixPath(target).name
    renamed = archive.collect_renames(members)
    return Export("zip", target, name, "application/zip", size, len(members), now, renamed)


def _copy_file(workspace: SessionWorkspace, path: str, target: str) -> int:
    """Copy a file of any size; return its size in bytes."""
    jail = workspace.files.jail
    with jail.open_descriptor(path) as descriptor:
        workspace.quota.reserve(os.fstat(descriptor).st_size)
        with jail.create_file(target) as file:
            while block := os.read(descriptor, archive.COPY_BLOCK_BYTES):
                file.write(block)
            return file.tell()


def _find_free_path(workspace: SessionWorkspace, folder: str, stem: str, now: datetime, suffix: str) -> str:
    """Return an unused path below `folder`, with the time in its name."""
    name = archive.sanitize_path(stem).replace("/", "_")
    for number in range(1, 1_000):
        counter = f"_{number}" if number > 1 else ""
        path = f"{folder}/{name}_{now:%Y%m%d_%H%M%S}{counter}{suffix}"
        try:
            workspace.files.jail.get_entry(path)
        except NotFound:
            return path
    raise InvalidInput("path: a thousand exports with this name were made in one second", hint="wait a second")
