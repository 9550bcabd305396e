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
from outrider.workspace.edit import Replacement, difference, lines_of, replaced
from outrider.workspace.encoding import PROBE, Written, decode, decode_exactly, encode, legible, with_newlines
from outrider.workspace.jail import Entry, Jail, named
from outrider.workspace.room import Room

LARGEST = 10_000_000  # bytes of a file that is read or written as a whole
Kind = Literal["file", "dir", "both"]


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
class Change:
    """What came of a write: size in bytes and digest of the file now, and what is different; empty if new."""

    path: str
    size: int
    sha256: str
    created: bool
    difference: str


class Files:
    """The files below one directory. Raises what `Jail` raises."""

    def __init__(self, root: Path, *, largest: int = LARGEST, room: Room | None = None) -> None:
        self.jail = Jail(root)
        self._largest = largest
        self._room = room

    def read(self, path: str, start: int | None = None, end: int | None = None) -> FileText:
        """Lines of a text file; all of them by default, or as many as ten million characters of a larger one.

        Raises InvalidInput for what is no text, and for lines that there are not.
        """
        with self.jail.reading(path) as descriptor:
            if os.fstat(descriptor).st_size > self._largest:
                return self._part(descriptor, path, start or 1, end)
            data = b"".join(_blocks(descriptor, self._largest + 1))
        text, written = decode(data, path)
        lines = lines_of(text)
        first, last = start or 1, min(end or len(lines), len(lines))
        if first > max(last, 1) or (start or 1) > (end or first):
            raise InvalidInput(
                f"start_line: {first} to {end or 'the end'} of a file of {len(lines)} lines",
                hint=f"give lines between 1 and {len(lines)}, start_line not above end_line",
            )
        chosen = "".join(lines[first - 1 : last])
        return FileText(chosen, first if lines else 0, last, len(lines), _digest(data), written.encoding)

    def _part(self, descriptor: int, path: str, start: int, end: int | None) -> FileText:
        _, written = decode(os.pread(descriptor, PROBE, 0), path)
        chosen: list[str] = []
        size, number, at_start, whole = 0, 0, True, False
        os.lseek(descriptor, len(written.mark), os.SEEK_SET)
        with os.fdopen(os.dup(descriptor), encoding=written.encoding, errors="replace", newline="\n") as file:
            while size < self._largest:
                line = file.readline(self._largest)
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

    def head(self, path: str, count: int) -> tuple[bytes, int]:
        """A file's first bytes, and how many it has in all."""
        with self.jail.reading(path) as descriptor:
            return os.pread(descriptor, count, 0), os.fstat(descriptor).st_size

    def content(self, path: str) -> bytes:
        """A file as it is. Raises InvalidInput for one of more than 10 MB."""
        with self.jail.reading(path) as descriptor:
            size = os.fstat(descriptor).st_size
            if size > self._largest:
                raise InvalidInput(
                    f"path: {path!r} has {size:,} bytes, more than {self._largest:,}",
                    hint="grep it, or read a part with a code tool",
                    code="too_large",
                )
            return b"".join(_blocks(descriptor, self._largest + 1))

    def write(self, path: str, content: str, *, append: bool = False, expected: str | None = None) -> Change:
        """Puts text into a file, or behind what it holds; a file that is there keeps its encoding and line ends.

        Args:
            path: Where; folders above it are made.
            content: The text.
            append: Behind what is there.
            expected: SHA-256 that the file must have now; InvalidInput(code=changed) else.
        """
        with self._locked():
            old = self._old(path)
            _unchanged(path, old, expected)
            content = legible(content)
            if append and old:
                before, written = decode_exactly(old, path)
            else:
                before, written = decode(old, path) if old and _is_text(old) else ("", Written())
            new = with_newlines(content, written) if written.newline != "\n" else content
            return self._put(path, old, before, before + new if append else new, written)

    def replace_lines(self, path: str, replacements: Sequence[Replacement], expected: str | None = None) -> Change:
        """Replaces lines by the numbers that they have now; all of it, or nothing. Raises InvalidInput."""
        with self._locked():
            old = self.content(path)
            _unchanged(path, old, expected)
            before, written = decode_exactly(old, path)
            return self._put(path, old, before, replaced(before, replacements, written.newline), written)

    def replace_text(self, path: str, old_text: str, new_text: str, expected: str | None = None) -> Change:
        """Replaces a text that stands exactly once. Raises InvalidInput, which shows the closest lines there are."""
        with self._locked():
            old = self.content(path)
            _unchanged(path, old, expected)
            before, written = decode_exactly(old, path)
            wanted, instead = legible(old_text), legible(new_text)
            if wanted not in before:  # its lines may end otherwise than a model writes them
                wanted, instead = with_newlines(wanted, written), with_newlines(instead, written)
            _once(before, wanted)
            return self._put(path, old, before, before.replace(wanted, instead), written)

    def list(
        self, path: str = ".", pattern: str | None = None, *, depth: int = 1, hidden: bool = False
    ) -> Iterator[Entry]:
        """What a folder holds, and what is below it to a depth, of names that match."""
        path = str(PurePosixPath(path))
        found = self.jail.list(path) if depth == 1 else self.jail.walk(path, depth)
        shown = (entry for entry in found if hidden or not _is_hidden(entry, path))
        return _matching(shown, pattern, path)

    def search(self, pattern: str, path: str = ".", *, depth: int = 50, kind: Kind = "both") -> Iterator[Entry]:
        """What matches a pattern below a folder: a pattern without a slash by name, with one by path."""
        path = str(PurePosixPath(path))
        wanted = {"file": "file", "dir": "directory"}.get(kind)
        found = (entry for entry in self.jail.walk(path, depth) if wanted in (None, entry.kind))
        return _matching(found, pattern, path)

    def import_file(self, source: str, target: str, roots: Iterable[Path]) -> Change:
        """Copies a file of any size from outside, from below one of the roots that an operator allowed.

        Raises Refused for any other.
        """
        place = Path(source)
        for root in roots:
            if place.is_absolute() and place.is_relative_to(root):
                with named("src_abs_path"), Jail(root).opened(str(place.relative_to(root))) as file:
                    return self._copied(file, target)
        allowed = ", ".join(map(str, roots)) or "none"
        raise Refused(
            f"src_abs_path: {source!r} is not below an allowed folder",
            hint=f"allowed: {allowed}; the operator sets `workspace.import_roots`",
            code="outside",
        )

    def _copied(self, source: BinaryIO, target: str) -> Change:
        if self._room is not None:
            self._room.claim(os.fstat(source.fileno()).st_size)
        try:
            with named("dest_rel_path"):
                created = self.jail.entry(target).kind != "file"
        except NotFound:
            created = True
        digest, size = hashlib.sha256(), 0
        with self._locked(), named("dest_rel_path"), self.jail.creating(target) as file:
            while block := source.read(1 << 20):
                digest.update(block)
                size += file.write(block)
        return Change(target, size, digest.hexdigest(), created, "")

    def _put(self, path: str, old: bytes | None, before: str, after: str, written: Written) -> Change:
        data = encode(after, written)
        if len(data) > self._largest:
            raise InvalidInput(
                f"content: {len(data):,} bytes, more than {self._largest:,}", hint="split it", code="too_large"
            )
        self.save(path, data)
        diff = difference(legible(before), legible(after), path) if old is not None else ""
        return Change(path, len(data), _digest(data), old is None, diff)

    def save(self, path: str, data: bytes) -> None:
        """Puts bytes in their place, if there is room for them."""
        if self._room is not None:
            self._room.claim(len(data))
        self.jail.write(path, data)

    def _old(self, path: str) -> bytes | None:
        try:
            return self.content(path)
        except NotFound:
            return None

    @contextmanager
    def _locked(self) -> Generator[None]:
        """Between reading and writing back nobody else edits this workspace, in this process or another."""
        self.jail.make(".")
        descriptor = os.open(self.jail.root, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def _blocks(descriptor: int, limit: int) -> Iterator[bytes]:
    while limit > 0 and (block := os.read(descriptor, min(limit, 1 << 20))):
        limit -= len(block)
        yield block


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _is_text(data: bytes) -> bool:
    try:
        decode(data)
    except InvalidInput:
        return False
    return True


def _unchanged(path: str, old: bytes | None, expected: str | None) -> None:
    if expected is not None and (old is None or not _digest(old).startswith(expected.lower())):
        raise InvalidInput(
            f"expected_sha256: {path!r} has changed since you read it",
            hint="read it again, then repeat the edit",
            code="changed",
        )


def _once(text: str, wanted: str) -> None:
    if not wanted:
        raise InvalidInput("old_text: is empty", hint="give the text that is to be replaced")
    count = text.count(wanted)
    if count > 1:
        raise InvalidInput(f"old_text: stands {count} times in the file", hint="give more of the lines around it")
    if not count:
        raise InvalidInput(
            "old_text: is not in the file" + _closest(text, wanted),
            hint="copy it exactly, white space included",
            code="no_match",
        )


def _closest(text: str, wanted: str) -> str:
    """The lines most like the first of what was wanted."""
    first = next((line for line in wanted.splitlines() if line.strip()), "")
    found = get_close_matches(first, legible(text).splitlines()[:20_000], n=1, cutoff=0.5)
    return f"; the closest line is {found[0][:200]!r}" if found else ""


def _is_hidden(entry: Entry, base: str) -> bool:
    path = entry.path.removeprefix("./")
    inner = path.removeprefix(f"{base}/") if base != "." else path
    return any(part.startswith(".") for part in inner.split("/"))


def _matching(entries: Iterable[Entry], pattern: str | None, base: str) -> Iterator[Entry]:
    if pattern is None:
        return iter(entries)

    flags = glob.GLOBSTAR | glob.MATCHBASE | glob.DOTGLOB | glob.BRACE | glob.FORCEUNIX
    try:
        compiled = glob.compile(pattern, flags=flags, limit=100)
    except (ValueError, re.error) as error:
        raise InvalidInput(f"pattern: {error}", hint="for instance *.py, *.{js,ts} or src/**/*.md") from None
    prefix = "" if base == "." else f"{base.rstrip('/')}/"
    return (entry for entry in entries if compiled.match(entry.path.removeprefix(prefix)))
