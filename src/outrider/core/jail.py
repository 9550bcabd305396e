"""Confine file access to one directory.

It withstands hostile paths, links and concurrent processes.

A path is walked component by component: each is opened relative to the one before, without following links. A link is
read, and its target is walked in the same way from inside. So nothing happens between checking a path and opening it:
resolving first and opening afterwards can be beaten by a process that swaps a directory for a link in a loop.
"""

import errno
import os
import shutil
import stat
import unicodedata
import uuid
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Self

from outrider.core.errors import InvalidInput, NotFound, OutriderError, Refused, Unavailable

OPEN_DIRECTORY = getattr(os, "O_DIRECTORY", 0) | os.O_RDONLY
NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0)
PARTIAL_PREFIX = ".outrider-"  # of files that are still being written
# Files that version control, editors, shells and coding agents run or obey when the user works in the folder.
PROTECTED_PATHS = (
    ".git", ".hg", ".husky", ".github/workflows", ".vscode", ".idea", ".devcontainer", ".claude", ".cursor", ".codex",
    ".gemini", ".envrc", ".mcp.json",
)  # fmt: skip


@dataclass(frozen=True)
class DirectoryEntry:
    """An entry of a directory. `kind` is file, directory or other; `size` is in bytes, None except for files."""

    path: str
    name: str
    kind: str
    size: int | None
    modified_at: float

    def is_hidden_below(self, base: str) -> bool:
        """Return whether the entry, or a folder between it and `base`, begins with a dot."""
        path = self.path.removeprefix("./")
        inner = path.removeprefix(f"{base}/") if base != "." else path
        return any(part.startswith(".") for part in inner.split("/"))


class Jail:
    """The tree below `root`. Paths are relative to it, with `/`, and `.` is the root itself.

    Args:
        root: The folder.
        protected: Names, or paths such as `.github/workflows`, that are not written or deleted in any folder of it.

    Every method raises InvalidInput for a malformed path, Refused for one that leads outside, NotFound, and Unavailable
    where the system fails (full disk, permissions).
    """

    def __init__(self, root: Path, protected: Iterable[str] = ()) -> None:
        self.root = root
        self._protected = [tuple(map(_fold_name, path.strip("/").split("/"))) for path in protected]

    @contextmanager
    def open_descriptor(self, path: str) -> Generator[int]:
        """Open a regular file for reading; yield its descriptor."""
        with self._open_parent(path) as (folder, name), _translate_errors(path):
            # Non-blocking, so that opening a named pipe does not hang before it is refused.
            descriptor = os.open(name, os.O_RDONLY | NO_FOLLOW | getattr(os, "O_NONBLOCK", 0), dir_fd=folder)
            try:
                facts = os.fstat(descriptor)
                if stat.S_ISDIR(facts.st_mode):
                    raise InvalidInput(f"path: {path!r} is a directory", hint="list_directory shows its entries")
                if not stat.S_ISREG(facts.st_mode):
                    raise Refused(
                        f"path: {path!r} is not a regular file", hint="choose another file", code="not_a_file"
                    )
                if facts.st_nlink > 1:
                    raise Refused(
                        f"path: {path!r} has hard links, possibly outside the workspace",
                        hint="copy it under a new name with a code tool, and read the copy",
                        code="hard_link",
                    )
                yield descriptor
            finally:
                os.close(descriptor)

    @contextmanager
    def open_file(self, path: str) -> Generator[BinaryIO]:
        """Open a regular file for reading."""
        with self.open_descriptor(path) as descriptor, os.fdopen(os.dup(descriptor), "rb") as file:
            yield file

    def write(self, path: str, data: bytes, *, mode: int | None = None) -> None:
        """Replace a file atomically: readers see either the old content or the new.

        A replaced file keeps its permissions; its other names (hard links) keep the old content.
        """
        with self.create_file(path, mode=mode) as file:
            file.write(data)

    @contextmanager
    def create_file(self, path: str, *, mode: int | None = None) -> Generator[BinaryIO]:
        """Yield a new file to write; it takes its place when the context ends without an error."""
        self.make_directory(str(PurePosixPath(_check_file_path(path)).parent))
        with self._open_parent(path, writing=True) as (folder, name), _translate_errors(path):
            old = _stat_entry(name, folder)
            if old is not None and not stat.S_ISREG(old.st_mode):
                raise Refused(f"path: {path!r} is not a file", hint="give the path of a file", code="not_a_file")
            # Renaming could replace a read-only file, but its owner wants it to stay.
            if old is not None and not old.st_mode & 0o222:
                raise Refused(
                    f"path: {path!r} is read-only",
                    hint="write another file, or chmod u+w with execute_shell",
                    code="read_only",
                )
            partial = f"{PARTIAL_PREFIX}{uuid.uuid4().hex}"
            permissions = mode if mode is not None else stat.S_IMODE(old.st_mode) if old else 0o644
            try:
                with _create_partial(folder, partial, permissions) as file:
                    yield file
                os.replace(partial, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(OSError):
                    os.unlink(partial, dir_fd=folder)
                raise

    def add_file(self, path: str, source: bytes | Path, suffixes: Iterable[str] = ()) -> str:
        """Add a file without replacing another, and return its path.

        Args:
            path: The wanted path; missing folders are created.
            source: The content, or our file with it, which the caller removes afterwards.
            suffixes: Added to the stem, one after another, until the name is free: by default ` (1)`, ` (2)`.
        """
        requested = PurePosixPath(_check_file_path(path))
        self.make_directory(str(requested.parent))
        with self._open_parent(path, follow=False, writing=True) as (folder, name), _translate_errors(path):
            partial = f"{PARTIAL_PREFIX}{uuid.uuid4().hex}"
            try:
                _fill_partial(folder, partial, source)
                stem, extension = PurePosixPath(name).stem, PurePosixPath(name).suffix
                numbered = (f" ({number})" for number in range(1, 10_000))
                for suffix in ("", *(suffixes or numbered)):
                    candidate = f"{stem}{suffix}{extension}"
                    with suppress(FileExistsError):
                        _publish_partial(partial, candidate, folder)
                        return str(requested.with_name(candidate))
            finally:
                with suppress(OSError):
                    os.unlink(partial, dir_fd=folder)
        raise InvalidInput(f"path: all names like {path!r} are taken", hint="choose another name")

    def make_directory(self, path: str) -> None:
        """Create a directory and its missing parents."""
        parts = PurePosixPath(_check_path(path)).parts
        self._check_writable(path, parts)  # before the first of them is created
        self.root.mkdir(parents=True, exist_ok=True)
        inner = PurePosixPath()
        for part in parts:
            inner /= part
            with (
                self._open_parent(str(inner), follow=False, writing=True) as (folder, _),
                _translate_errors(path),
                suppress(FileExistsError),
            ):
                os.mkdir(part, 0o755, dir_fd=folder)
                created = os.open(part, OPEN_DIRECTORY | NO_FOLLOW, dir_fd=folder)
                try:
                    _inherit_owner(created, folder)
                finally:
                    os.close(created)
        with self.open_folder(path):
            pass  # raises if it is not a directory inside the jail

    def remove(self, path: str) -> None:
        """Delete a file or a link."""
        with self._open_parent(path, follow=False, writing=True) as (folder, name), _translate_errors(path):
            os.unlink(name, dir_fd=folder)

    def list(self, path: str = ".") -> list[DirectoryEntry]:
        """Return the entries of a directory, directories first, then by name; partial files are left out."""
        with self.open_folder(path) as folder, _translate_errors(path):
            names = [name for name in os.listdir(folder) if not name.startswith(PARTIAL_PREFIX)]  # noqa: PTH208 - of a descriptor
            entries = [self._read_entry(path, name, folder) for name in names]
        existing = (entry for entry in entries if entry)
        return sorted(existing, key=lambda entry: (entry.kind != "directory", entry.name))

    def walk(self, path: str = ".", depth: int = 50) -> Iterator[DirectoryEntry]:
        """Yield everything below a directory, without following links.

        Entries that vanish in the meantime are left out, and so is everything below an invalid name.
        """
        for entry in self.list(path):
            yield entry
            if entry.kind == "directory" and depth > 1:
                with suppress(NotFound, Refused, InvalidInput):
                    yield from self.walk(entry.path, depth - 1)

    def get_entry(self, path: str) -> DirectoryEntry:
        """Return the entry at a path; a link there is followed inside the jail."""
        with self._open_parent(path) as (folder, name):
            found = self._read_entry(str(PurePosixPath(path).parent), name, folder)
        if found is None:
            raise _build_missing_error(path)
        return found

    @contextmanager
    def open_folder(self, path: str) -> Generator[int]:
        """Open a directory; yield its descriptor."""
        with PathWalk(self.root, path) as walk:
            # The parent of any name in it is the directory itself.
            yield walk.open_parent(str(PurePosixPath(_check_path(path)) / "x"), follow=False)[0]

    def _read_entry(self, path: str, name: str, folder: int) -> DirectoryEntry | None:
        facts = _stat_entry(name, folder)
        if facts is None:
            return None
        is_file, is_directory = stat.S_ISREG(facts.st_mode), stat.S_ISDIR(facts.st_mode)
        kind = "file" if is_file else "directory" if is_directory else "other"
        entry_path = str(PurePosixPath(path) / name)
        return DirectoryEntry(entry_path, name, kind, facts.st_size if is_file else None, facts.st_mtime)

    @contextmanager
    def _open_parent(self, path: str, *, follow: bool = True, writing: bool = False) -> Generator[tuple[int, str]]:
        """Yield the directory that contains a path's last component, and the component's name."""
        with PathWalk(self.root, path) as walk:
            folder, name = walk.open_parent(_check_path(path), follow=follow)
            if writing:
                self._check_writable(path, [*walk.names, name])
            yield folder, name

    def _check_writable(self, path: str, names: Iterable[str]) -> None:
        """Raise Refused for a protected path, given by its real names, links followed."""
        folded = tuple(map(_fold_name, names))
        for protected in self._protected:
            length = len(protected)
            if any(folded[at : at + length] == protected for at in range(len(folded) - length + 1)):
                raise Refused(
                    f"path: {path!r} is protected, because the user's programs run or obey {'/'.join(protected)}",
                    hint="show the user what to write there; the setting `workspace.protected` lists such paths",
                    code="protected",
                )


class PathWalk:
    """A walk from the root to a path below it; closes all descriptors that it opened at the end."""

    def __init__(self, root: Path, path: str) -> None:
        self._path = path
        self.names: list[str] = []  # of the opened folders below the root
        with _translate_errors(path):
            self._descriptors = [os.open(root, OPEN_DIRECTORY)]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for descriptor in self._descriptors:
            os.close(descriptor)

    def open_parent(self, path: str, *, follow: bool) -> tuple[int, str]:
        """Return the descriptor of the last component's directory, and its name; `follow` a link in its place."""
        max_links = 40  # as in Linux
        links = 0
        parts = list(reversed(PurePosixPath(path).parts))
        while parts:
            part = parts.pop()
            if part == "..":  # only from the target of a link: a given path cannot contain it
                if len(self._descriptors) == 1:
                    raise _build_outside_error(self._path)
                os.close(self._descriptors.pop())
                self.names.pop()
            elif target := (self._read_link(part) if parts or follow else None):
                links += 1
                if target.startswith("/") or links > max_links:
                    raise _build_outside_error(self._path)
                parts += reversed(PurePosixPath(target).parts)
            elif parts:
                # A link that takes the place of this component after it was examined is not followed.
                with _translate_errors(self._path):
                    flags = OPEN_DIRECTORY | NO_FOLLOW
                    self._descriptors.append(os.open(part, flags, dir_fd=self._descriptors[-1]))
                    self.names.append(part)
            else:
                return self._descriptors[-1], part
        return self._descriptors[-1], "."

    def _read_link(self, part: str) -> str | None:
        """Return the target of a link; None for anything else."""
        try:
            return os.readlink(part, dir_fd=self._descriptors[-1])
        except OSError as error:
            if error.errno in (errno.EINVAL, errno.ENOENT):
                return None
            with _translate_errors(self._path):
                raise


def make_relative(path: Path, root: Path) -> str | None:
    """Return a path relative to the root, None for one outside; a relative path unchanged.

    Links and `..` in it are checked by the jail that opens it.
    """
    if not path.is_absolute():
        return path.as_posix()
    for base in (root, root.resolve()):
        if path.is_relative_to(base):
            return path.relative_to(base).as_posix()
    return None


@contextmanager
def rename_error_field(field: str) -> Generator[None]:
    """Let errors about `path` name the field that the path was given in."""
    try:
        yield
    except OutriderError as error:
        if error.message.startswith("path:"):
            error.message = error.args[0].replace("path:", f"{field}:", 1)
            error.args = (error.message,)
        raise


def _fold_name(name: str) -> str:
    """Return a name as file systems that ignore case or trailing dots compare it."""
    folded = name.casefold().partition(":")[0].rstrip(" .")
    return ".git" if folded == "git~1" else folded  # its short name


def _check_path(path: str) -> str:
    """Return a given path if it is valid: relative, with `/`, without invisible characters or `..`."""
    max_path_chars = 1_000
    if not path or len(path) > max_path_chars:
        raise InvalidInput(f"path: has {len(path)} characters", hint=f"give 1 to {max_path_chars} characters")
    if any(unicodedata.category(char) in ("Cc", "Cf", "Cs") for char in path):
        raise InvalidInput(
            f"path: {path[:100]!r} contains invisible or control characters", hint="use names without them"
        )
    pure = PurePosixPath(path)
    if pure.is_absolute():
        raise Refused(f"path: {path!r} is absolute", hint="paths are relative to the workspace", code="outside")
    if ".." in pure.parts:
        raise _build_outside_error(path)
    return str(pure)


def _check_file_path(path: str) -> str:
    """Return a given path if a file may have it."""
    checked = _check_path(path)
    if path.endswith("/"):
        raise InvalidInput(
            f"path: {path!r} names a folder", hint="give the path of a file; missing folders are created"
        )
    if PurePosixPath(checked).name.startswith(PARTIAL_PREFIX):
        raise InvalidInput(
            f"path: names that begin with {PARTIAL_PREFIX!r} are reserved for partial files", hint="use another name"
        )
    return checked


def _stat_entry(name: str, folder: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


@contextmanager
def _create_partial(folder: int, name: str, mode: int) -> Generator[BinaryIO]:
    """Yield a new file in an open folder; it is flushed to disk, with its permissions, at the end."""
    descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL | NO_FOLLOW, 0o600, dir_fd=folder)
    with os.fdopen(descriptor, "w+b") as file:
        yield file
        file.flush()
        _inherit_owner(descriptor, folder)
        os.fchmod(descriptor, mode)
        os.fsync(descriptor)


def _fill_partial(folder: int, name: str, source: bytes | Path) -> None:
    """Create a file in an open folder, as a hard link if possible.

    Only a path can be linked.
    """
    if isinstance(source, Path):
        with suppress(OSError):  # on another file system
            os.link(source, name, dst_dir_fd=folder)
            descriptor = os.open(name, os.O_RDONLY | NO_FOLLOW, dir_fd=folder)
            try:
                _inherit_owner(descriptor, folder)
                os.fchmod(descriptor, 0o644)
            finally:
                os.close(descriptor)
            return
    with _create_partial(folder, name, 0o644) as file:
        if isinstance(source, bytes):
            file.write(source)
            return
        with source.open("rb") as original:
            shutil.copyfileobj(original, file, 1 << 20)


def _publish_partial(partial: str, name: str, folder: int) -> None:
    """Give a finished file its name. Raises FileExistsError if it is taken, even by a dangling link."""
    try:
        os.link(partial, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK, errno.ENOSYS):
            raise
        # This file system has no hard links: take the name with an empty file, then replace that.
        os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | NO_FOLLOW, 0o644, dir_fd=folder))
        os.replace(partial, name, src_dir_fd=folder, dst_dir_fd=folder)


def _inherit_owner(descriptor: int, folder: int) -> None:
    """Give an entry created by root to its folder's owner.

    Sandboxed code can then change it.
    """
    if os.geteuid() == 0:
        owner = os.fstat(folder)
        os.fchown(descriptor, owner.st_uid, owner.st_gid)


@contextmanager
def _translate_errors(path: str) -> Generator[None]:
    """Turn errors of the system into errors for the model."""
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
            raise InvalidInput(f"path: {path!r}: {error.strerror}", hint="list_directory shows the entries") from None
        if error.errno == errno.ENAMETOOLONG:
            raise InvalidInput(
                f"path: {path[:100]!r}… contains a name that is too long", hint="use a shorter name"
            ) from None
        raise Unavailable(
            f"path: {path!r}: {error.strerror}", code="storage", hint="check free space and permissions"
        ) from error


def _build_outside_error(path: str) -> Refused:
    return Refused(f"path: {path!r} leads out of the workspace", hint="use a path inside it", code="outside")


def _build_missing_error(path: str) -> NotFound:
    return NotFound(f"path: {path!r} does not exist", hint="use list_directory or search_files to find it")
