"""Read, write, edit, list and find files of a session's workspace. Blocking: call it in a thread."""

import fcntl
import hashlib
import os
import re
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Literal

from wcmatch import glob

from outrider.core.errors import InvalidInput, NotFound, Refused
from outrider.core.jail import DirectoryEntry, Jail, rename_error_field
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
from outrider.workspace.quota import StorageQuota

MAX_FILE_BYTES = 10_000_000  # of files that are read or written as a whole
EntryKind = Literal["file", "dir", "both"]


@dataclass(frozen=True)
class FileText:
    """Lines `start` to `end` of a file of `lines` lines (from 1, inclusive; 0 to 0 of an empty file).

    `sha256` is the hash of the whole file. For a file too large to be read as a whole it is empty, and `lines` is
    None unless the end was read.
    """

    text: str
    start: int
    end: int
    lines: int | None
    sha256: str
    encoding: str


@dataclass(frozen=True)
class WriteResult:
    """The outcome of a write: size in bytes and digest of the new content, and a diff; empty for a new file."""

    path: str
    size: int
    sha256: str
    created: bool
    difference: str


class WorkspaceFiles:
    """The files below one directory. Raises the errors of `Jail`."""

    def __init__(
        self,
        root: Path,
        *,
        max_bytes: int = MAX_FILE_BYTES,
        quota: StorageQuota | None = None,
        protected: Iterable[str] = (),
    ) -> None:
        self.jail = Jail(root, protected)
        self._max_bytes = max_bytes
        self._quota = quota

    def read(self, path: str, start: int | None = None, end: int | None = None) -> FileText:
        """Return lines of a text file: all by default, or as many as ten million characters of a larger one.

        Raises InvalidInput for binary files, and for lines that do not exist.
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
                f"start_line: lines {first} to {end or 'the end'} do not exist in a file of {len(lines)} lines",
                hint=f"give lines from 1 to {len(lines)}, with start_line no greater than end_line",
            )
        chosen = "".join(lines[first - 1 : last])
        return FileText(chosen, first if lines else 0, last, len(lines), _hash_bytes(data), written.encoding)

    def _read_part(self, descriptor: int, path: str, start: int, end: int | None) -> FileText:
        """Read lines of a file that is too large to be read as a whole."""
        _, text_format = decode_text(os.pread(descriptor, PROBE_BYTES, 0), path)
        lines: list[str] = []
        size, number, at_line_start, at_end = 0, 0, True, False
        os.lseek(descriptor, len(text_format.byte_order_mark), os.SEEK_SET)
        with os.fdopen(os.dup(descriptor), encoding=text_format.encoding, errors="replace", newline="\n") as file:
            while size < self._max_bytes:
                line = file.readline(self._max_bytes)
                at_end = not line
                number += at_line_start and not at_end
                if at_end or number > (end or number):
                    break
                at_line_start = line.endswith("\n")
                lines += [line] if number >= start else []
                size += len(line) if number >= start else 0
        if not lines:
            raise InvalidInput(
                f"start_line: {start} is past the end of the file ({number} lines)", hint="start earlier"
            )
        last = number if end is None else min(number, end)
        return FileText("".join(lines), start, last, number if at_end else None, "", text_format.encoding)

    def read_head(self, path: str, count: int) -> tuple[bytes, int]:
        """Return a file's first bytes, and its size."""
        with self.jail.open_descriptor(path) as descriptor:
            return os.pread(descriptor, count, 0), os.fstat(descriptor).st_size

    def read_bytes(self, path: str) -> bytes:
        """Return the bytes of a file. Raises InvalidInput if there are more than 10 MB."""
        with self.jail.open_descriptor(path) as descriptor:
            size = os.fstat(descriptor).st_size
            if size > self._max_bytes:
                raise InvalidInput(
                    f"path: {path!r} has {size:,} bytes; the limit is {self._max_bytes:,}",
                    hint="grep it, or read a part with a code tool",
                    code="too_large",
                )
            return b"".join(_iter_blocks(descriptor, self._max_bytes + 1))

    def write(self, path: str, content: str, *, append: bool = False, expected: str | None = None) -> WriteResult:
        """Write a text file; an existing file keeps its encoding and line ends.

        Args:
            path: Path of the file; missing folders are created.
            content: The text.
            append: Add to the end of the file.
            expected: SHA-256 that the file must have now; otherwise raises InvalidInput(code=changed).
        """
        with self._lock_workspace():
            try:
                old = self.read_bytes(path)
            except NotFound:
                old = None
            _check_unchanged(path, old, expected)
            content = replace_surrogates(content)
            before, text_format = "", TextFormat()
            if append and old:
                before, text_format = decode_lossless(old, path)
            elif old:
                with suppress(InvalidInput):  # a binary file is replaced by UTF-8
                    before, text_format = decode_text(old, path)
            new = convert_newlines(content, text_format) if text_format.newline != "\n" else content
            return self._write_text(path, old, before, before + new if append else new, text_format)

    def replace_lines(self, path: str, replacements: Sequence[Replacement], expected: str | None = None) -> WriteResult:
        """Replace lines by their current numbers, all or none. Raises InvalidInput."""
        with self._lock_workspace():
            old = self.read_bytes(path)
            _check_unchanged(path, old, expected)
            before, text_format = decode_lossless(old, path)
            return self._write_text(
                path, old, before, apply_replacements(before, replacements, text_format.newline), text_format
            )

    def replace_text(self, path: str, old_text: str, new_text: str, expected: str | None = None) -> WriteResult:
        """Replace a text that occurs exactly once. Raises InvalidInput with the most similar line."""
        with self._lock_workspace():
            old = self.read_bytes(path)
            _check_unchanged(path, old, expected)
            before, text_format = decode_lossless(old, path)
            searched_text, replacement = replace_surrogates(old_text), replace_surrogates(new_text)
            if searched_text not in before:  # the file may have other line ends than the model wrote
                searched_text, replacement = (
                    convert_newlines(searched_text, text_format),
                    convert_newlines(replacement, text_format),
                )
            if not searched_text:
                raise InvalidInput("old_text: is empty", hint="give the text to replace")
            count = before.count(searched_text)
            if count > 1:
                raise InvalidInput(
                    f"old_text: occurs {count} times in the file", hint="include more of the surrounding lines"
                )
            if not count:
                first_line = next((line for line in searched_text.splitlines() if line.strip()), "")
                lines = replace_surrogates(before).splitlines()[:20_000]
                similar = get_close_matches(first_line, lines, n=1, cutoff=0.5)
                closest = f"; the closest line is {similar[0][:200]!r}" if similar else ""
                raise InvalidInput(
                    f"old_text: is not in the file{closest}",
                    hint="copy it exactly, including white space",
                    code="no_match",
                )
            return self._write_text(path, old, before, before.replace(searched_text, replacement), text_format)

    def list(
        self, path: str = ".", pattern: str | None = None, *, depth: int = 1, hidden: bool = False
    ) -> Iterator[DirectoryEntry]:
        """Yield the entries of a folder, down to a depth, whose names match."""
        path = str(PurePosixPath(path))
        entries = self.jail.list(path) if depth == 1 else self.jail.walk(path, depth)
        visible = (entry for entry in entries if hidden or not entry.is_hidden_below(path))
        return _filter_entries(visible, pattern, path)

    def search(
        self, pattern: str, path: str = ".", *, depth: int = 50, kind: EntryKind = "both"
    ) -> Iterator[DirectoryEntry]:
        """Yield the entries below a folder that match: by path if the pattern has a slash, else by name."""
        path = str(PurePosixPath(path))
        entry_kind = {"file": "file", "dir": "directory"}.get(kind)
        entries = (entry for entry in self.jail.walk(path, depth) if entry_kind in (None, entry.kind))
        return _filter_entries(entries, pattern, path)

    def import_file(self, source: str, target: str, roots: Iterable[Path]) -> WriteResult:
        """Copy a file of any size from an allowed folder.

        The operator allows the folders.

        Raises Refused for any other file.
        """
        source_path = Path(source)
        for root in roots:
            if source_path.is_absolute() and source_path.is_relative_to(root):
                with (
                    rename_error_field("src_abs_path"),
                    Jail(root).open_file(str(source_path.relative_to(root))) as file,
                ):
                    return self._copy_in(file, target)
        allowed = ", ".join(map(str, roots)) or "none"
        raise Refused(
            f"src_abs_path: {source!r} is not inside an allowed folder",
            hint=f"allowed: {allowed}; the operator sets `workspace.import_roots`",
            code="outside",
        )

    def _copy_in(self, source: BinaryIO, target: str) -> WriteResult:
        if self._quota is not None:
            self._quota.reserve(os.fstat(source.fileno()).st_size)
        digest, size = hashlib.sha256(), 0
        with rename_error_field("dest_rel_path"):
            try:
                created = self.jail.get_entry(target).kind != "file"
            except NotFound:
                created = True
            with self._lock_workspace(), self.jail.create_file(target) as file:
                while block := source.read(1 << 20):
                    digest.update(block)
                    size += file.write(block)
        return WriteResult(target, size, digest.hexdigest(), created, "")

    def _write_text(
        self, path: str, old: bytes | None, before: str, after: str, text_format: TextFormat
    ) -> WriteResult:
        data = encode_text(after, text_format)
        if len(data) > self._max_bytes:
            raise InvalidInput(
                f"content: has {len(data):,} bytes; the limit is {self._max_bytes:,}", hint="split it", code="too_large"
            )
        self.write_bytes(path, data)
        diff = build_diff(replace_surrogates(before), replace_surrogates(after), path) if old is not None else ""
        return WriteResult(path, len(data), _hash_bytes(data), old is None, diff)

    def add_file(self, path: str, data: bytes, suffixes: Iterable[str] = ()) -> str:
        """Add a file as `Jail.add_file` does, within the quota."""
        if self._quota is not None:
            self._quota.reserve(len(data))
        return self.jail.add_file(path, data, suffixes)

    def write_bytes(self, path: str, data: bytes) -> None:
        """Replace a file, within the quota."""
        if self._quota is not None:
            self._quota.reserve(len(data))
        self.jail.write(path, data)

    @contextmanager
    def _lock_workspace(self) -> Generator[None]:
        """Exclude other edits of this workspace, by this process or another, until the context ends."""
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


def _check_unchanged(path: str, old: bytes | None, expected: str | None) -> None:
    if expected is not None and (old is None or not _hash_bytes(old).startswith(expected.lower())):
        raise InvalidInput(
            f"expected_sha256: {path!r} has changed since you read it",
            hint="read it again, then repeat the edit",
            code="changed",
        )


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
