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

OPEN_DIRECTORY = getattr(os, "O_DIRECTORY", 0) | os.O_RDONLY
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
PARTIAL_PREFIX = ".outrider-"  # how files begin that are being written


@dataclass(frozen=True)
class DirectoryEntry:
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
    def open_descriptor(self, path: str) -> Generator[int]:
        """A descriptor of a regular file, closed at the end."""
        with self._open_parent(path) as (folder, name), _translate_errors(path):
            descriptor = os.open(name, os.O_RDONLY | NO_FOLLOW | getattr(os, "O_NONBLOCK", 0), dir_fd=folder)
            try:
                _check_regular_file(path, os.fstat(descriptor))
                yield descriptor
            finally:
                os.close(descriptor)

    @contextmanager
    def open_file(self, path: str) -> Generator[BinaryIO]:
        """A regular file to be read piece by piece."""
        with self.open_descriptor(path) as descriptor, os.fdopen(os.dup(descriptor), "rb") as file:
            yield file

    def write(self, path: str, data: bytes, *, mode: int | None = None) -> None:
        """Puts a file in its place as a whole: whoever reads finds the old one or the new one.

        A file that is replaced keeps its permissions; other names (hard links) of it keep the old content.
        """
        with self.create_file(path, mode=mode) as file:
            file.write(data)

    @contextmanager
    def create_file(self, path: str, *, mode: int | None = None) -> Generator[BinaryIO]:
        """A new file, to be written piece by piece; it takes its place at the end, if all went well."""
        self.make_directory(str(PurePosixPath(_check_file_path(path)).parent))
        with self._open_parent(path) as (folder, name), _translate_errors(path):
            old = _stat_entry(name, folder)
            if old is not None and not stat.S_ISREG(old.st_mode):
                raise Refused(f"path: {path!r} is no file", hint="give the path of a file", code="not_a_file")
            partial = f"{PARTIAL_PREFIX}{uuid.uuid4().hex}"
            _writable(path, old)
            bits = mode if mode is not None else stat.S_IMODE(old.st_mode) if old else 0o644
            try:
                with _create_partial(folder, partial, bits) as file:
                    yield file
                os.replace(partial, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(OSError):
                    os.unlink(partial, dir_fd=folder)
                raise

    def make_directory(self, path: str) -> None:
        """Makes a directory with those above it, where they are missing."""
        self.root.mkdir(parents=True, exist_ok=True)
        done = PurePosixPath()
        for part in PurePosixPath(_check_path(path)).parts:
            with self.open_folder(str(done)) as folder, _translate_errors(path), suppress(FileExistsError):
                os.mkdir(part, 0o755, dir_fd=folder)
                _inherit_folder_owner(part, folder)
            done /= part
        with self.open_folder(path):
            """It is one, and inside."""

    def remove(self, path: str) -> None:
        """Removes a file or a link."""
        with self._open_parent(path, follow=False) as (folder, name), _translate_errors(path):
            os.unlink(name, dir_fd=folder)

    def list(self, path: str = ".") -> list[DirectoryEntry]:
        """What a directory holds, directories first, then by name. Files that are being written are left out."""
        with self.open_folder(path) as folder, _translate_errors(path):
            names = [name for name in os.listdir(folder) if not name.startswith(PARTIAL_PREFIX)]  # noqa: PTH208 - of a descriptor
            found = [self._read_entry(path, name, folder) for name in names]
        return sorted((each for each in found if each), key=lambda each: (each.kind != "directory", each.name))

    def walk(self, path: str = ".", depth: int = 50) -> Iterator[DirectoryEntry]:
        """Everything below a directory, without following links.

        What vanishes meanwhile is left out, and so is what lies below a name that no path can have.
        """
        for entry in self.list(path):
            yield entry
            if entry.kind == "directory" and depth > 1:
                with suppress(NotFound, Refused, InvalidInput):
                    yield from self.walk(entry.path, depth - 1)

    def get_entry(self, path: str) -> DirectoryEntry:
        """What stands at a path."""
        with self._open_parent(path) as (folder, name):
            found = self._read_entry(str(PurePosixPath(path).parent), name, folder)
        if found is None:
            raise _build_missing_error(path)
        return found

    @contextmanager
    def open_folder(self, path: str) -> Generator[int]:
        """A descriptor of a directory, closed at the end."""
        with PathWalk(self.root, path) as walk:
            yield walk.open_parent(str(PurePosixPath(_check_path(path)) / "x"), follow=False)[0]

    def _read_entry(self, path: str, name: str, folder: int) -> DirectoryEntry | None:
        facts = _stat_entry(name, folder)
        if facts is None:
            return None
        regular, directory = stat.S_ISREG(facts.st_mode), stat.S_ISDIR(facts.st_mode)
        kind = "file" if regular else "directory" if directory else "other"
        place = str(PurePosixPath(path) / name)
        return DirectoryEntry(place, name, kind, facts.st_size if regular else None, facts.st_mtime)

    @contextmanager
    def _open_parent(self, path: str, *, follow: bool = True) -> Generator[tuple[int, str]]:
        """The directory that holds what a path names, and its name there; links on the way are walked inside."""
        with PathWalk(self.root, path) as walk:
            yield walk.open_parent(_check_path(path), follow=follow)


class PathWalk:
    """One way from the root to a place below it; all that was opened on the way is closed at the end."""

    def __init__(self, root: Path, path: str) -> None:
        self._path = path
        self._links_followed = 0
        with _translate_errors(path):
            self._descriptors = [os.open(root, OPEN_DIRECTORY)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for descriptor in self._descriptors:
            os.close(descriptor)

    def open_parent(self, path: str, *, follow: bool) -> tuple[int, str]:
        """The last component's directory and name; a link in the last place is followed if wanted."""
        parts = list(reversed(PurePosixPath(path).parts))
        while parts:
            part = parts.pop()
            if part == "..":
                self._up()
            elif target := (self._read_link(part) if parts or follow else None):
                parts += reversed(self._followed(target))
            elif parts:
                self._down(part)
            else:
                return self._descriptors[-1], part
        return self._descriptors[-1], "."

    def _down(self, part: str) -> None:
        with _translate_errors(self._path):
            self._descriptors.append(os.open(part, OPEN_DIRECTORY | NO_FOLLOW, dir_fd=self._descriptors[-1]))

    def _up(self) -> None:
        if len(self._descriptors) == 1:
            raise _build_outside_error(self._path)
        os.close(self._descriptors.pop())

    def _read_link(self, part: str) -> str | None:
        """Where a link points to; None for anything else."""
        try:
            return os.readlink(part, dir_fd=self._descriptors[-1])
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.ENOENT):
                return None
            with _translate_errors(self._path):
                raise

    def _followed(self, target: str) -> tuple[str, ...]:
        max_links = 40  # links that one path may take, as in Linux
        self._links_followed += 1
        if target.startswith("/") or self._links_followed > max_links:
            raise _build_outside_error(self._path)
        return PurePosixPath(target).parts


@contextmanager
def rename_error_field(field: str) -> Generator[None]:
    """Errors about a path name the field that it was given in."""
    try:
        yield
    except OutriderError as error:
        if error.message.startswith("path:"):
            error.message = error.args[0].replace("path:", f"{field}:", 1)
            error.args = (error.message,)
        raise


def _check_path(path: str) -> str:
    """A path as it may be given: relative, with `/`, without what hides or misleads."""
    max_path_chars = 1_000  # characters of a path
    if not path or len(path) > max_path_chars:
        raise InvalidInput(f"path: {len(path)} characters long", hint=f"give 1 to {max_path_chars} characters")
    if any(unicodedata.category(letter) in ("Cc", "Cf", "Cs") for letter in path):
        raise InvalidInput(f"path: {path[:100]!r} holds invisible or control characters", hint="use names without them")
    pure = PurePosixPath(path)
    if pure.is_absolute():
        raise Refused(f"path: {path!r} is absolute", hint="paths are relative to the workspace", code="outside")
    if ".." in pure.parts:
        raise _build_outside_error(path)
    return str(pure)


def _check_file_path(path: str) -> str:
    """A path that a file may have."""
    checked = _check_path(path)
    if path.endswith("/"):
        raise InvalidInput(f"path: {path!r} names a folder", hint="give the name of a file; its folders are made")
    if PurePosixPath(checked).name.startswith(PARTIAL_PREFIX):
        raise InvalidInput(
            f"path: names that begin with {PARTIAL_PREFIX!r} are for files that are being written", hint="use another"
        )
    return checked


def _writable(path: str, old: os.stat_result | None) -> None:
    """What is marked as read-only stays as it is, though we may replace it."""
    if old is not None and not old.st_mode & 0o222:
        raise Refused(
            f"path: {path!r} is read-only", hint="write another file, or chmod u+w with execute_shell", code="read_only"
        )


def _check_regular_file(path: str, facts: os.stat_result) -> None:
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


def _stat_entry(name: str, folder: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


@contextmanager
def _create_partial(folder: int, name: str, mode: int) -> Generator[BinaryIO]:
    """A new file in an open folder; on disk as a whole, with these permissions, when the context ends."""
    descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | NO_FOLLOW, 0o600, dir_fd=folder)
    with os.fdopen(descriptor, "w+b") as file:
        yield file
        file.flush()
        _inherit_owner(descriptor, folder)
        os.fchmod(descriptor, mode)
        os.fsync(descriptor)


def _inherit_folder_owner(name: str, folder: int) -> None:
    made = os.open(name, OPEN_DIRECTORY | NO_FOLLOW, dir_fd=folder)
    try:
        _inherit_owner(made, folder)
    finally:
        os.close(made)


def _inherit_owner(made: int, folder: int) -> None:
    """What we make as root belongs to the owner of its folder, so that the workspace's code can change it."""
    if os.geteuid() == 0:
        owner = os.fstat(folder)
        os.fchown(made, owner.st_uid, owner.st_gid)


@contextmanager
def _translate_errors(path: str) -> Generator[None]:
    """What the system says, as the model should hear it."""
    try:
        yield
    except OutriderError:
        raise
    except FileNotFoundError:
        raise _build_missing_error(path) from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise _build_outside_error(path) from None
        if error.errno in (errno.ENOTDIR, errno.EISDIR):
            raise InvalidInput(f"path: {path!r}: {error.strerror}", hint="list_directory shows what is there") from None
        if error.errno == errno.ENAMETOOLONG:
            raise InvalidInput(f"path: {path[:100]!r}… has a name that is too long", hint="use a shorter one") from None
        raise Unavailable(
            f"path: {path!r}: {error.strerror}", code="storage", hint="check free space and permissions"
        ) from error


def _build_outside_error(path: str) -> Refused:
    return Refused(f"path: {path!r} leads out of the workspace", hint="paths stay inside of it", code="outside")


def _build_missing_error(path: str) -> NotFound:
    return NotFound(f"path: there is no {path!r}", hint="list_directory or search_files shows what there is")
