"""Write zip archives whose names are safe to unpack on every system."""

import os
import re
import time
import unicodedata
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import BinaryIO

from outrider.core.errors import InvalidInput, OutriderError
from outrider.core.jail import PARTIAL_PREFIX, Jail

COPY_BLOCK_BYTES = 1 << 20
FORBIDDEN_CHARS = re.compile(r'[\\:*?"<>|]')  # by Windows; the backslash separates, the colon names a drive
WINDOWS_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)


@dataclass(frozen=True)
class ArchiveMember:
    """A file of the workspace, and its name in the archive."""

    path: str
    name: str


def collect_members(jail: Jail, paths: Iterable[str]) -> list[ArchiveMember]:
    """Return the files of these paths, in order and without duplicates; folders include everything below them.

    Raises InvalidInput that names every missing or unreadable file: an archive is complete, or not written at all.
    """
    max_files = 50_000
    files: dict[str, None] = {}
    problems: list[str] = []
    for path in dict.fromkeys(paths):
        try:
            files |= dict.fromkeys(_iter_files(jail, path))
        except OutriderError as error:
            problems.append(error.message.removeprefix("path: "))
    for path in files:
        try:
            with jail.open_descriptor(path):
                pass  # it can be read
        except OutriderError as error:
            problems.append(error.message.removeprefix("path: "))
    if problems:
        raise InvalidInput(
            f"files: {'; '.join(problems[:50])}",
            hint="correct or omit these files; nothing was exported",
            code="incomplete",
            details={"problems": problems[:1_000]},
        )
    if not files or len(files) > max_files:
        raise InvalidInput(f"files: {len(files):,} files", hint=f"name 1 to {max_files:,} files, or folders with files")
    names = deduplicate_names(map(sanitize_path, files))
    return [ArchiveMember(path, name) for path, name in zip(files, names, strict=True)]


def write_archive(
    jail: Jail, members: list[ArchiveMember], file: BinaryIO, report: Callable[[int, ArchiveMember], None]
) -> int:
    """Write a zip of these files, block by block; return the bytes of their contents.

    Args:
        jail: Holds the files.
        members: The result of `collect_members`.
        file: The file to write; it is not closed.
        report: Called after each file with the number of files so far.
    """
    total = 0
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, member in enumerate(members, 1):
            with jail.open_descriptor(member.path) as descriptor:
                facts = os.fstat(descriptor)
                # zip can store 1980 to 2107
                modified = time.gmtime(min(max(facts.st_mtime, 315_532_800), 4_354_819_198))
                info = zipfile.ZipInfo(member.name, modified[:6])
                info.compress_type = zipfile.ZIP_DEFLATED
                info.external_attr = (0o100000 | facts.st_mode & 0o755) << 16
                info.file_size = facts.st_size
                size = 0
                with archive.open(info, "w", force_zip64=facts.st_size > 1 << 30) as target:
                    while block := os.read(descriptor, COPY_BLOCK_BYTES):
                        size += target.write(block)
            total += size
            report(number, member)
    return total


def sanitize_path(path: str) -> str:
    """Return a relative path with `/` that is harmless on every system."""
    parts = [_sanitize_part(part) for part in PurePosixPath(path).parts if part not in ("/", ".", "..")]
    return "/".join(parts) or "_"


def deduplicate_names(names: Iterable[str]) -> list[str]:
    """Return the names in order, numbered where some file systems would confuse two.

    No file gets the name of another file's folder, either.
    """
    names = list(names)
    folded_folders = {_fold_name(str(folder)) for name in names for folder in PurePosixPath(name).parents}
    unique: list[str] = []
    for name in names:
        path = PurePosixPath(name)
        chosen, number = name, 1
        while _fold_name(chosen) in folded_folders:
            number += 1
            chosen = str(path.with_name(f"{path.stem}~{number}{path.suffix}"))
        folded_folders.add(_fold_name(chosen))
        unique.append(chosen)
    return unique


def _iter_files(jail: Jail, path: str) -> Iterator[str]:
    """Yield the files of a path. Earlier exports are left out of an export of the whole workspace."""
    max_depth = 600  # more than a path of a thousand characters can name
    base = str(PurePosixPath(path))
    if jail.get_entry(path).kind != "directory":
        yield base
        return
    for entry in jail.walk(base, max_depth):
        if entry.kind == "directory":
            with jail.open_folder(entry.path):
                continue  # raises if its contents cannot be read
        is_earlier_export = base == "." and PurePosixPath(entry.path).parts[0] == "exports"
        if PARTIAL_PREFIX not in entry.name and not is_earlier_export:
            yield entry.path


def _sanitize_part(part: str) -> str:
    """Replace characters that are invisible or forbidden on some system; shorten long names, keeping the suffix."""
    invisible_categories = ("Cc", "Cf", "Cs", "Co", "Cn")
    max_part_bytes = 200  # file systems accept 255
    visible = "".join("_" if unicodedata.category(char) in invisible_categories else char for char in part)
    plain = FORBIDDEN_CHARS.sub("_", visible)
    if len(plain.encode()) > max_part_bytes:
        stem, dot, suffix = plain.rpartition(".")
        tail = f"{dot}{suffix}" if stem and len(suffix) < 16 else ""
        head = (stem if tail else plain).encode()[: max_part_bytes - len(tail.encode())]
        plain = head.decode("utf-8", "ignore") + tail
    plain = plain.rstrip(". ") or "_"
    return f"_{plain}" if WINDOWS_DEVICE.fullmatch(plain) else plain


def _fold_name(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


def collect_renames(members: Iterable[ArchiveMember]) -> dict[str, str]:
    """Return the archive names that differ from the files' paths, by path."""
    return {member.path: member.name for member in members if member.path != member.name}
