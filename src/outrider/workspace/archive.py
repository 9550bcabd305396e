"""Zip files that open anywhere: their names stay inside of the folder they are unpacked in, on every system."""

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
from outrider.workspace.jail import PARTIAL_PREFIX, Jail

COPY_BLOCK_BYTES = 1 << 20
FORBIDDEN_CHARS = re.compile(r'[\\:*?"<>|]')  # by Windows, where the first is a separator and the second a drive's
WINDOWS_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?", re.IGNORECASE)


@dataclass(frozen=True)
class ArchiveMember:
    """A file of the workspace and the name that it gets in the archive."""

    path: str
    name: str


def collect_members(jail: Jail, paths: Iterable[str]) -> list[ArchiveMember]:
    """The files of these paths, folders with all that is below them, in order and each once.

    Raises InvalidInput that names everything that is missing or cannot be read: an archive is whole, or there is none.
    """
    max_files = 50_000
    found: dict[str, None] = {}
    problems: list[str] = []
    for path in dict.fromkeys(paths):
        try:
            found |= dict.fromkeys(_iter_files(jail, path))
        except OutriderError as error:
            problems.append(error.message.removeprefix("path: "))
    problems += _find_unreadable(jail, found)
    if problems:
        raise InvalidInput(
            f"files: {'; '.join(problems[:50])}",
            hint="correct or leave out these; nothing was exported",
            code="incomplete",
            details={"problems": problems[:1_000]},
        )
    if not found or len(found) > max_files:
        raise InvalidInput(f"files: {len(found):,} files", hint=f"name 1 to {max_files:,} files, or folders with files")
    return [
        ArchiveMember(path, name)
        for path, name in zip(found, deduplicate_names(map(sanitize_path, found)), strict=True)
    ]


def write_archive(
    jail: Jail, wanted: list[ArchiveMember], file: BinaryIO, report: Callable[[int, ArchiveMember], None]
) -> int:
    """Writes a zip of these files, block by block; returns the bytes of their contents.

    Args:
        jail: Where they are.
        wanted: What `members` gave.
        file: Where to; it is not closed.
        report: Told after each file how many there are now.
    """
    total = 0
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, member in enumerate(wanted, 1):
            total += _add_member(jail, member, archive)
            report(number, member)
    return total


def sanitize_path(path: str) -> str:
    """A relative path with `/` that means the same, or nothing worse, on every system."""
    parts = [_sanitize_part(part) for part in PurePosixPath(path).parts if part not in ("/", ".", "..")]
    return "/".join(parts) or "_"


def deduplicate_names(names: Iterable[str]) -> list[str]:
    """The names in their order, with numbers where systems that know no case, or compose accents, would find two alike.

    A file's name is no folder's of another, either.
    """
    given = list(names)
    taken = {_fold_name(str(folder)) for name in given for folder in PurePosixPath(name).parents}
    found: list[str] = []
    for name in given:
        chosen, number = name, 1
        while _fold_name(chosen) in taken:
            number += 1
            chosen = _numbered(name, number)
        taken.add(_fold_name(chosen))
        found.append(chosen)
    return found


def _iter_files(jail: Jail, path: str) -> Iterator[str]:
    exports_folder = "exports"  # where earlier exports are: left out where nobody asks for them
    max_depth = 600  # folders in one another: more than a path of a thousand characters can name
    entry = jail.get_entry(path)
    whole = str(PurePosixPath(path))
    if entry.kind != "directory":
        yield whole
        return
    for each in jail.walk(whole, max_depth):
        if each.kind == "directory":
            with jail.open_folder(each.path):
                """What lies below it can be reached."""
        inner = PurePosixPath(each.path)
        if (
            each.kind != "directory"
            and PARTIAL_PREFIX not in each.name
            and not (whole == "." and inner.parts[0] == exports_folder)
        ):
            yield each.path


def _find_unreadable(jail: Jail, paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        try:
            with jail.open_descriptor(path):
                """It can be read."""
        except OutriderError as error:
            yield error.message.removeprefix("path: ")


def _add_member(jail: Jail, member: ArchiveMember, archive: zipfile.ZipFile) -> int:
    with jail.open_descriptor(member.path) as descriptor:
        facts = os.fstat(descriptor)
        made = time.gmtime(min(max(facts.st_mtime, 315_532_800), 4_354_819_198))  # what a zip can say: 1980 to 2107
        info = zipfile.ZipInfo(member.name, made[:6])
        info.compress_type = zipfile.ZIP_DEFLATED
        info.external_attr = (0o100000 | facts.st_mode & 0o755) << 16
        info.file_size = facts.st_size
        size = 0
        with archive.open(info, "w", force_zip64=facts.st_size > 1 << 30) as target:
            while block := os.read(descriptor, COPY_BLOCK_BYTES):
                size += target.write(block)
    return size


def _sanitize_part(part: str) -> str:
    hidden_categories = ("Cc", "Cf", "Cs", "Co", "Cn")
    shown = "".join("_" if unicodedata.category(letter) in hidden_categories else letter for letter in part)
    plain = _shorten_part(FORBIDDEN_CHARS.sub("_", shown)).rstrip(". ") or "_"
    return f"_{plain}" if WINDOWS_DEVICE.fullmatch(plain) else plain


def _shorten_part(part: str) -> str:
    """A part of a name that fits, with its ending."""
    max_part_bytes = 200  # bytes of one part of a name; file systems take 255
    if len(part.encode()) <= max_part_bytes:
        return part
    stem, dot, ending = part.rpartition(".")
    tail = f"{dot}{ending}" if stem and len(ending) < 16 else ""
    return (stem if tail else part).encode()[: max_part_bytes - len(tail.encode())].decode("utf-8", "ignore") + tail


def _fold_name(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", name).casefold())


def _numbered(name: str, number: int) -> str:
    path = PurePosixPath(name)
    return str(path.with_name(f"{path.stem}~{number}{path.suffix}"))


def collect_renames(wanted: Iterable[ArchiveMember]) -> dict[str, str]:
    """Which paths got another name, for those who look for them."""
    return {each.path: each.name for each in wanted if each.path != each.name}
