"""Files of a session's workspace: read, written, edited, listed and found. Blocking: call it in a thread."""

import fcntl
import hashlib
import os
import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Literal

from wcmatch import glob

from outrider.core.errors import InvalidInput, NotFound, Refused
from outrider.workspace.edit import Replacement, apply_replacements, build_diff, split_lines
from outrider.workspace.encoding import (
    PROBE_BYTES,
    TextFormat,
    convert_newlines,
    decode_lossless,
    decode_text,
    encode_text,
    replace_surrogates,
)
from outrider.workspace.jail import DirectoryEntry, Jail, rename_error_field
from outrider.workspace.quota import StorageQuota

MAX_FILE_BYTES = 10_000_000  # bytes of a file that is read or written as a whole
EntryKind = Literal["file", "dir", "both"]


@dataclass(frozen=True)
class FileText:
    """Lines `start` to `end` (from 1, inclusive; 0 to 0 of an empty file) out of `lines`, as they stand in the file.

    `sha256` is of the whole file's bytes. Of a file that is too large to be read as a whole it is empty, and `lines` is
    None unless its end was read.
    """

    text: str
    start: int
    end: int
    lines: int | None
    sha256: str
    encoding: str


@dataclass(frozen=True)
class WriteResult:
    """What came of a write: size in bytes and digest of the file now, and what is different; empty if new."""

    path: str
    size: int
    sha256: str
    created: bool
    difference: str


class WorkspaceFiles:
    """The files below one directory. Raises what `Jail` raises."""

    def __init__(self, root: Path, *, max_bytes: int = MAX_FILE_BYTES, quota: StorageQuota | None = None) -> None:
        self.jail = Jail(root)
        self._max_bytes = max_bytes
        self._quota = quota

    def read(self, path: str, start: int | None = None, end: int | None = None) -> FileText:
        """Lines of a text file; all of them by default, or as many as ten million characters of a larger one.

        Raises InvalidInput for what is no text, and for lines that there are not.
        """
        with self.jail.open_descriptor(path) as descriptor:
            if os.fstat(descriptor).st_size > self._max_bytes:
                return self._read_part(descriptor, path, start or 1, end)
            data = b"".join(_iter_blocks(descriptor, self._max_bytes + 1))
        text, written = decode_text(data, path)
        lines = split_lines(text)
        first, last = start or 1, min(end or len(lines), len(lines))
        if first > max(last, 1) or (start or 1) > (end or first):
            raise InvalidInput(
                f"start_line: {first} to {end or 'the end'} of a file of {len(lines)} lines",
                hint=f"give lines between 1 and {len(lines)}, start_line not above end_line",
            )
        chosen = "".join(lines[first - 1 : last])
        return FileText(chosen, first if lines else 0, last, len(lines), _hash_bytes(data), written.encoding)

    def _read_part(self, descriptor: int, path: str, start: int, end: int | None) -> FileText:
        _, written = decode_text(os.pread(descriptor, PROBE_BYTES, 0), path)
        chosen: list[str] = []
        size, number, at_start, whole = 0, 0, True, False
        os.lseek(descriptor, len(written.byte_order_mark), os.SEEK_SET)
        with os.fdopen(os.dup(descriptor), encoding=written.encoding, errors="replace", newline="\n") as file:
            while size < self._max_bytes:
                line = file.readline(self._max_bytes)
                whole = not line
                number += at_start and not whole
                if whole or number > (end or number):
                    break
                at_start = line.endswith("\n")
                chosen += [line] if number >= start else []
                size += len(line) if number >= start else 0
        if not chosen:
            raise InvalidInput(f"start_line: {start} of a file of {number} lines", hint="start earlier")
        last = number if end is None else min(number, end)
        return FileText("".join(chosen), start, last, number if whole else None, "", written.encoding)

    def read_head(self, path: str, count: int) -> tuple[bytes, int]:
        """A file's first bytes, and how many it has in all."""
        with self.jail.open_descriptor(path) as descriptor:
            return os.pread(descriptor, count, 0), os.fstat(descriptor).st_size

    def read_bytes(self, path: str) -> bytes:
        """A file as it is. Raises InvalidInput for one of more than 10 MB."""
        with self.jail.open_descriptor(path) as descriptor:
            size = os.fstat(descriptor).st_size
            if size > self._max_bytes:
                raise InvalidInput(
                    f"path: {path!r} has {size:,} bytes, more than {self._max_bytes:,}",
                    hint="grep it, or read a part with a code tool",
                    code="too_large",
                )
            return b"".join(_iter_blocks(descriptor, self._max_bytes + 1))

    def write(self, path: str, content: str, *, append: bool = False, expected: str | None = None) -> WriteResult:
        """Puts text into a file, or behind what it holds; a file that is there keeps its encoding and line ends.

        Args:
            path: Where; folders above it are made.
            content: The text.
            append: Behind what is there.
            expected: SHA-256 that the file must have now; InvalidInput(code=changed) else.
        """
        with self._lock_workspace():
            old = self._old(path)
            _check_unchanged(path, old, expected)
            content = replace_surrogates(content)
            if append and old:
                before, written = decode_lossless(old, path)
            else:
                before, written = decode_text(old, path) if old and _is_text(old) else ("", TextFormat())
            new = convert_newlines(content, written) if written.newline != "\n" else content
            return self._write_text(path, old, before, before + new if append else new, written)

    def replace_lines(self, path: str, replacements: Sequence[Replacement], expected: str | None = None) -> WriteResult:
        """Replaces lines by the numbers that they have now; all of it, or nothing. Raises InvalidInput."""
        with self._lock_workspace():
            old = self.read_bytes(path)
            _check_unchanged(path, old, expected)
            before, written = decode_lossless(old, path)
            return self._write_text(
                path, old, before, apply_replacements(before, replacements, written.newline), written
            )

    def replace_text(self, path: str, old_text: str, new_text: str, expected: str | None = None) -> WriteResult:
        """Replaces a text that stands exactly once. Raises InvalidInput, which shows the closest lines there are."""
        with self._lock_workspace():
            old = self.read_bytes(path)
            _check_unchanged(path, old, expected)
            before, written = decode_lossless(old, path)
            wanted, instead = replace_surrogates(old_text), replace_surrogates(new_text)
            if wanted not in before:  # its lines may end otherwise than a model writes them
                wanted, instead = convert_newlines(wanted, written), convert_newlines(instead, written)
            _check_single_match(before, wanted)
            return self._write_text(path, old, before, before.replace(wanted, instead), written)

    def list(
        self, path: str = ".", pattern: str | None = None, *, depth: int = 1, hidden: bool = False
    ) -> Iterator[DirectoryEntry]:
        """What a folder holds, and what is below it to a depth, of names that match."""
        path = str(PurePosixPath(path))
        found = self.jail.list(path) if depth == 1 else self.jail.walk(path, depth)
        shown = (entry for entry in found if hidden or not _is_hidden(entry, path))
        return _filter_entries(shown, pattern, path)

    def search(
        self, pattern: str, path: str = ".", *, depth: int = 50, kind: EntryKind = "both"
    ) -> Iterator[DirectoryEntry]:
        """What matches a pattern below a folder: a pattern without a slash by name, with one by path."""
        path = str(PurePosixPath(path))
        wanted = {"file": "file", "dir": "directory"}.get(kind)
        found = (entry for entry in self.jail.walk(path, depth) if wanted in (None, entry.kind))
        return _filter_entries(found, pattern, path)

    def import_file(self, source: str, target: str, roots: Iterable[Path]) -> WriteResult:
        """Copies a file of any size from outside, from below one of the roots that an operator allowed.

        Raises Refused for any other.
        """
        place = Path(source)
        for root in roots:
            if place.is_absolute() and place.is_relative_to(root):
                with rename_error_field("src_abs_path"), Jail(root).open_file(str(place.relative_to(root))) as file:
                    return self._copy_in(file, target)
        allowed = ", ".join(map(str, roots)) or "none"
        raise Refused(
            f"src_abs_path: {source!r} is not below an allowed folder",
            hint=f"allowed: {allowed}; the operator sets `workspace.import_roots`",
            code="outside",
        )

    def _copy_in(self, source: BinaryIO, target: str) -> WriteResult:
        if self._quota is not None:
            self._quota.reserve(os.fstat(source.fileno()).st_size)
        try:
            with rename_error_field("dest_rel_path"):
                created = self.jail.get_entry(target).kind != "file"
        except NotFound:
            created = True
        digest, size = hashlib.sha256(), 0
        with self._lock_workspace(), rename_error_field("dest_rel_path"), self.jail.create_file(target) as file:
            while block := source.read(1 << 20):
                digest.update(block)
                size += file.write(block)
        return WriteResult(target, size, digest.hexdigest(), created, "")

    def _write_text(self, path: str, old: bytes | None, before: str, after: str, written: TextFormat) -> WriteResult:
        data = encode_text(after, written)
        if len(data) > self._max_bytes:
            raise InvalidInput(
                f"content: {len(data):,} bytes, more than {self._max_bytes:,}", hint="split it", code="too_large"
            )
        self.write_bytes(path, data)
        diff = build_diff(replace_surrogates(before), replace_surrogates(after), path) if old is not None else ""
        return WriteResult(path, len(data), _hash_bytes(data), old is None, diff)

    def write_bytes(self, path: str, data: bytes) -> None:
        """Puts bytes in their place, if there is room for them."""
        if self._quota is not None:
            self._quota.reserve(len(data))
        self.jail.write(path, data)

    def _old(self, path: str) -> bytes | None:
        try:
            return self.read_bytes(path)
        except NotFound:
            return None

    @contextmanager
    def _lock_workspace(self) -> Generator[None]:
        """Between reading and writing back nobody else edits this workspace, in this process or another."""
        self.jail.make_directory(".")
        descriptor = os.open(self.jail.root, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def _iter_blocks(descriptor: int, limit: int) -> Iterator[bytes]:
    while limit > 0 and (block := os.read(descriptor, min(limit, 1 << 20))):
        limit -= len(block)
        yield block


def _hash_bytes(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _is_text(data: bytes) -> bool:
    try:
        decode_text(data)
    except InvalidInput:
        return False
    return True


def _check_unchanged(path: str, old: bytes | None, expected: str | None) -> None:
    if expected is not None and (old is None or not _hash_bytes(old).startswith(expected.lower())):
        raise InvalidInput(
            f"expected_sha256: {path!r} has changed since you read it",
            hint="read it again, then repeat the edit",
            code="changed",
        )


def _check_single_match(text: str, wanted: str) -> None:
    if not wanted:
        raise InvalidInput("old_text: is empty", hint="give the text that is to be replaced")
    count = text.count(wanted)
    if count > 1:
        raise InvalidInput(f"old_text: stands {count} times in the file", hint="give more of the lines around it")
    if not count:
        raise InvalidInput(
            "old_text: is not in the file" + _find_closest_line(text, wanted),
            hint="copy it exactly, white space included",
            code="no_match",
        )


def _find_closest_line(text: str, wanted: str) -> str:
    """The lines most like the first of what was wanted."""
    first = next((line for line in wanted.splitlines() if line.strip()), "")
    found = get_close_matches(first, replace_surrogates(text).splitlines()[:20_000], n=1, cutoff=0.5)
    return f"; the closest line is {found[0][:200]!r}" if found else ""


def _is_hidden(entry: DirectoryEntry, base: str) -> bool:
    path = entry.path.removeprefix("./")
    inner = path.removeprefix(f"{base}/") if base != "." else path
    return any(part.startswith(".") for part in inner.split("/"))


def _filter_entries(entries: Iterable[DirectoryEntry], pattern: str | None, base: str) -> Iterator[DirectoryEntry]:
    if pattern is None:
        return iter(entries)

    flags = glob.GLOBSTAR | glob.MATCHBASE | glob.DOTGLOB | glob.BRACE | glob.FORCEUNIX
    try:
        compiled = glob.compile(pattern, flags=flags, limit=100)
    except (ValueError, re.error) as error:
        raise InvalidInput(f"pattern: {error}", hint="for instance *.py, *.{js,ts} or src/**/*.md") from None
    prefix = "" if base == "." else f"{base.rstrip('/')}/"
    return (entry for entry in entries if compiled.match(entry.path.removeprefix(prefix)))
