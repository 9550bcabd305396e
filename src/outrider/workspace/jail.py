"""Files below one directory, and none else, whatever paths, links and other processes try.

A path is walked component by component, each opened relative to the one before and without following
links; a link is read and its target walked in the same way, from inside. So nothing between checking
and opening can be swapped: resolving first and opening then leaked 227 of 55,954 reads to a process
that exchanged a directory for a link in a loop.
"""

import errno
import os
import stat
import unicodedata
import uuid
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Self

from outrider.core.errors import InvalidInput, NotFound, OutriderError, Refused, Unavailable

HOPS = 40  # links that one path may take, as in Linux
LONGEST = 1_000  # characters of a path
DIRECTORY = getattr(os, "O_DIRECTORY", 0) | os.O_RDONLY
NO_LINK = getattr(os, "O_NOFOLLOW", 0)
PARTIAL = ".outrider-"  # how files begin that are being written


@dataclass(frozen=True)
class Entry:
    """What a directory holds. `kind` is file, directory or other; size in bytes, of files only."""

    path: str
    name: str
    kind: str
    size: int | None
    modified_at: float


class Jail:
    """The tree below `root`. Paths are relative to it, with `/`, and `.` for the root itself.

    Every method raises InvalidInput for a path that cannot be one, Refused for one that leads outside,
    NotFound, and Unavailable where the system says no (full disk, permissions).
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    @contextmanager
    def reading(self, path: str) -> Generator[int]:
        """A descriptor of a regular file, closed at the end."""
        with self._parent(path) as (folder, name), _in_words(path):
            descriptor = os.open(name, os.O_RDONLY | NO_LINK | getattr(os, "O_NONBLOCK", 0), dir_fd=folder)
            try:
                _ordinary(path, os.fstat(descriptor))
                yield descriptor
            finally:
                os.close(descriptor)

    @contextmanager
    def opened(self, path: str) -> Generator[BinaryIO]:
        """A regular file to be read piece by piece."""
        with self.reading(path) as descriptor, os.fdopen(os.dup(descriptor), "rb") as file:
            yield file

    def write(self, path: str, data: bytes, *, mode: int | None = None) -> None:
        """Puts a file in its place as a whole: whoever reads finds the old one or the new one.

        A file that is replaced keeps its permissions; other names (hard links) of it keep the old content.
        """
        with self.creating(path, mode=mode) as file:
            file.write(data)

    @contextmanager
    def creating(self, path: str, *, mode: int | None = None) -> Generator[BinaryIO]:
        """A new file, to be written piece by piece; it takes its place at the end, if all went well."""
        self.make(str(PurePosixPath(_named(path)).parent))
        with self._parent(path) as (folder, name), _in_words(path):
            old = _found(name, folder)
            if old is not None and not stat.S_ISREG(old.st_mode):
                raise Refused(f"path: {path!r} is no file", hint="give the path of a file", code="not_a_file")
            partial = f"{PARTIAL}{uuid.uuid4().hex}"
            _writable(path, old)
            bits = mode if mode is not None else stat.S_IMODE(old.st_mode) if old else 0o644
            try:
                with _put(folder, partial, bits) as file:
                    yield file
                os.replace(partial, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(OSError):
                    os.unlink(partial, dir_fd=folder)
                raise

    def make(self, path: str) -> None:
        """Makes a directory with those above it, where they are missing."""
        self.root.mkdir(parents=True, exist_ok=True)
        done = PurePosixPath()
        for part in PurePosixPath(_checked(path)).parts:
            with self.folder(str(done)) as folder, _in_words(path), suppress(FileExistsError):
                os.mkdir(part, 0o755, dir_fd=folder)
                _own_folder(part, folder)
            done /= part
        with self.folder(path):
            """It is one, and inside."""

    def remove(self, path: str) -> None:
        """Removes a file or a link."""
        with self._parent(path, follow=False) as (folder, name), _in_words(path):
            os.unlink(name, dir_fd=folder)

    def list(self, path: str = ".") -> list[Entry]:
        """What a directory holds, directories first, then by name. Files that are being written are left out."""
        with self.folder(path) as folder, _in_words(path):
            names = [name for name in os.listdir(folder) if not name.startswith(PARTIAL)]  # noqa: PTH208 - of a descriptor
            found = [self._entry(path, name, folder) for name in names]
        return sorted((each for each in found if each), key=lambda each: (each.kind != "directory", each.name))

    def walk(self, path: str = ".", depth: int = 50) -> Iterator[Entry]:
        """Everything below a directory, without following links.

        What vanishes meanwhile is left out, and so is what lies below a name that no path can have.
        """
        for entry in self.list(path):
            yield entry
            if entry.kind == "directory" and depth > 1:
                with suppress(NotFound, Refused, InvalidInput):
                    yield from self.walk(entry.path, depth - 1)

    def entry(self, path: str) -> Entry:
        """What stands at a path."""
        with self._parent(path) as (folder, name):
            found = self._entry(str(PurePosixPath(path).parent), name, folder)
        if found is None:
            raise _missing(path)
        return found

    @contextmanager
    def folder(self, path: str) -> Generator[int]:
        """A descriptor of a directory, closed at the end."""
        with Walk(self.root, path) as walk:
            yield walk.to_parent(str(PurePosixPath(_checked(path)) / "x"), follow=False)[0]

    def _entry(self, path: str, name: str, folder: int) -> Entry | None:
        facts = _found(name, folder)
        if facts is None:
            return None
        regular, directory = stat.S_ISREG(facts.st_mode), stat.S_ISDIR(facts.st_mode)
        kind = "file" if regular else "directory" if directory else "other"
        place = str(PurePosixPath(path) / name)
        return Entry(place, name, kind, facts.st_size if regular else None, facts.st_mtime)

    @contextmanager
    def _parent(self, path: str, *, follow: bool = True) -> Generator[tuple[int, str]]:
        """The directory that holds what a path names, and its name there; links on the way are walked inside."""
        with Walk(self.root, path) as walk:
            yield walk.to_parent(_checked(path), follow=follow)


class Walk:
    """One way from the root to a place below it; all that was opened on the way is closed at the end."""

    def __init__(self, root: Path, path: str) -> None:
        self._path = path
        self._hops = 0
        with _in_words(path):
            self._open = [os.open(root, DIRECTORY)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for descriptor in self._open:
            os.close(descriptor)

    def to_parent(self, path: str, *, follow: bool) -> tuple[int, str]:
        """The last component's directory and name; a link in the last place is followed if wanted."""
        parts = list(reversed(PurePosixPath(path).parts))
        while parts:
            part = parts.pop()
            if part == "..":
                self._up()
            elif target := (self._link(part) if parts or follow else None):
                parts += reversed(self._followed(target))
            elif parts:
                self._down(part)
            else:
                return self._open[-1], part
        return self._open[-1], "."

    def _down(self, part: str) -> None:
        with _in_words(self._path):
            self._open.append(os.open(part, DIRECTORY | NO_LINK, dir_fd=self._open[-1]))

    def _up(self) -> None:
        if len(self._open) == 1:
            raise _outside(self._path)
        os.close(self._open.pop())

    def _link(self, part: str) -> str | None:
        """Where a link points to; None for anything else."""
        try:
            return os.readlink(part, dir_fd=self._open[-1])
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.ENOENT):
                return None
            with _in_words(self._path):
                raise

    def _followed(self, target: str) -> tuple[str, ...]:
        self._hops += 1
        if target.startswith("/") or self._hops > HOPS:
            raise _outside(self._path)
        return PurePosixPath(target).parts


@contextmanager
def named(field: str) -> Generator[None]:
    """Errors about a path name the field that it was given in."""
    try:
        yield
    except OutriderError as error:
        if error.message.startswith("path:"):
            error.message = error.args[0].replace("path:", f"{field}:", 1)
            error.args = (error.message,)
        raise


def _checked(path: str) -> str:
    """A path as it may be given: relative, with `/`, without what hides or misleads."""
    if not path or len(path) > LONGEST:
        raise InvalidInput(f"path: {len(path)} characters long", hint=f"give 1 to {LONGEST} characters")
    if any(unicodedata.category(letter) in ("Cc", "Cf", "Cs") for letter in path):
        raise InvalidInput(f"path: {path[:100]!r} holds invisible or control characters", hint="use names without them")
    pure = PurePosixPath(path)
    if pure.is_absolute():
        raise Refused(f"path: {path!r} is absolute", hint="paths are relative to the workspace", code="outside")
    if ".." in pure.parts:
        raise _outside(path)
    return str(pure)


def _named(path: str) -> str:
    """A path that a file may have."""
    checked = _checked(path)
    if path.endswith("/"):
        raise InvalidInput(f"path: {path!r} names a folder", hint="give the name of a file; its folders are made")
    if PurePosixPath(checked).name.startswith(PARTIAL):
        raise InvalidInput(
            f"path: names that begin with {PARTIAL!r} are for files that are being written", hint="use another"
        )
    return checked


def _writable(path: str, old: os.stat_result | None) -> None:
    """What is marked as read-only stays as it is, though we may replace it."""
    if old is not None and not old.st_mode & 0o222:
        raise Refused(
            f"path: {path!r} is read-only", hint="write another file, or chmod u+w with execute_shell", code="read_only"
        )


def _ordinary(path: str, facts: os.stat_result) -> None:
    if stat.S_ISDIR(facts.st_mode):
        raise InvalidInput(f"path: {path!r} is a directory", hint="list_directory shows what it holds")
    if not stat.S_ISREG(facts.st_mode):
        raise Refused(f"path: {path!r} is no regular file", hint="choose another", code="not_a_file")
    if facts.st_nlink > 1:
        raise Refused(
            f"path: {path!r} has other names (hard links), maybe outside of the workspace",
            hint="copy it under a new name with a code tool, and read the copy",
            code="hard_link",
        )


def _found(name: str, folder: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


@contextmanager
def _put(folder: int, name: str, mode: int) -> Generator[BinaryIO]:
    """A new file in an open folder; on disk as a whole, with these permissions, when the context ends."""
    descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | NO_LINK, 0o600, dir_fd=folder)
    with os.fdopen(descriptor, "w+b") as file:
        yield file
        file.flush()
        _own(descriptor, folder)
        os.fchmod(descriptor, mode)
        os.fsync(descriptor)


def _own_folder(name: str, folder: int) -> None:
    made = os.open(name, DIRECTORY | NO_LINK, dir_fd=folder)
    try:
        _own(made, folder)
    finally:
        os.close(made)


def _own(made: int, folder: int) -> None:
    """What we make as root belongs to the owner of its folder, so that the workspace's code can change it."""
    if os.geteuid() == 0:
        owner = os.fstat(folder)
        os.fchown(made, owner.st_uid, owner.st_gid)


@contextmanager
def _in_words(path: str) -> Generator[None]:
    """What the system says, as the model should hear it."""
    try:
        yield
    except OutriderError:
        raise
    except FileNotFoundError:
        raise _missing(path) from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _outside(path) from None
        if error.errno in (errno.ENOTDIR, errno.EISDIR):
            raise InvalidInput(f"path: {path!r}: {error.strerror}", hint="list_directory shows what is there") from None
        if error.errno == errno.ENAMETOOLONG:
            raise InvalidInput(f"path: {path[:100]!r}… has a name that is too long", hint="use a shorter one") from None
        raise Unavailable(
            f"path: {path!r}: {error.strerror}", code="storage", hint="check free space and permissions"
        ) from error


def _outside(path: str) -> Refused:
    return Refused(f"path: {path!r} leads out of the workspace", hint="paths stay inside of it", code="outside")


def _missing(path: str) -> NotFound:
    return NotFound(f"path: there is no {path!r}", hint="list_directory or search_files shows what there is")
