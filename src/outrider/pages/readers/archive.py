"""Read archives: a list of their files, or one file of them."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import PurePosixPath

from outrider.core.errors import NotFound, Refused
from outrider.pages.document import Document, to_single_line
from outrider.pages.mime.sniff import detect_mime_type, get_suffix
from outrider.pages.reader import DocumentReader, ReaderInput, format_size
from outrider.pages.readers.archives.formats import PackedFile, TarContents, ZipContents, is_tar, read_unpacked
from outrider.pages.readers.archives.zip_archive import MAX_MEMBER_BYTES
from outrider.pages.readers.parsing.draft import DocumentDraft
from outrider.pages.readers.parsing.errors import build_too_large_error

MAX_UNASKED_DEPTH = 2  # nested archives to open without a request


def read_archive(source: ReaderInput) -> Document:
    """Return the files' names, sizes and dates; or the content of the requested or only file.

    Raises:
        NotFound: if the requested file is not in the archive.
        Refused: code `encrypted`, `too_large` or, for a requested file, `unreadable_type`.
        Unavailable: code `broken_file`.
    """
    return _read_nested(source, 0)


def _read_nested(source: ReaderInput, depth: int) -> Document:
    if source.content_type in STREAM_TYPES and not is_tar(source):
        return _read_stream(source, depth)
    archive = ZipContents(source) if source.content_type in ZIP_TYPES else TarContents(source)
    members = [member for member in archive.list_members() if not member.name.startswith("__MACOSX/")]
    members = [member for member in members if not member.name.endswith((".DS_Store", "Thumbs.db"))]
    if source.file:
        name = _find_member(source, members).name
        return _read_member(source, name, _unpack(source, name, partial(archive.read, name))[0], depth)
    if len(members) == 1 and depth < MAX_UNASKED_DEPTH and not archive.is_cut and not members[0].is_encrypted:
        try:
            name = members[0].name
            return _read_member(source, name, _unpack(source, name, partial(archive.read, name))[0], depth)
        except Refused:  # list what cannot be read
            pass
    return _list_members(source, members, cut=archive.is_cut)


def _read_stream(source: ReaderInput, depth: int) -> Document:
    """Read the one file that gzip, bzip2 or xz compressed."""
    suffixes = {".tgz": ".tar", ".tbz2": ".tar", ".txz": ".tar", ".svgz": ".svg", ".gz": "", ".bz2": "", ".xz": ""}
    cut_notice = "(the rest of this packed file was not read: its end is missing, or it is longer than the limit)"
    name = PurePosixPath(source.url).name
    suffix = get_suffix(source.url)
    inner = name[: len(name) - len(suffix)] + suffixes[suffix] if suffix in suffixes else name
    if depth >= MAX_UNASKED_DEPTH:
        body, cut = read_unpacked(source, 4 * source.max_chars)
        return _list_members(source, [PackedFile(inner or "content", len(body))], cut=cut)
    body, cut = _unpack(source, inner, partial(read_unpacked, source))
    document = _read_member(source, inner, body, depth)
    if not cut:
        return document
    return replace(
        document,
        markdown=f"{document.markdown}\n\n{cut_notice}",
        text=f"{document.text}\n\n{cut_notice}",
        metadata=document.metadata | {"cut": True},
    )


def _unpack(source: ReaderInput, name: str, read: Callable[[int], tuple[bytes, bool]]) -> tuple[bytes, bool]:
    """Return a packed file, and whether more is missing; of a long text only as much as can be shown.

    Args:
        source: The archive.
        name: The file's name.
        read: Returns at most so many of its bytes, and whether more are missing.
    """
    body, cut = read(4 * source.max_chars + 1)
    if not cut:
        return body, False
    mime = detect_mime_type("", body, name)
    if not mime.startswith(("text/", "application/json")) or mime == "text/rtf":
        # A file that unpacks to more than ten times its size is a bomb rather than a document.
        limit = min(MAX_MEMBER_BYTES, max(32 << 20, 10 * len(source.body)))
        del body
        body, cut = read(limit)
        if cut and source.content_type not in STREAM_TYPES:
            raise build_too_large_error(source, "archive", f"{to_single_line(name)} unpacks to more than can be read")
        return body, cut
    head = body[: source.max_chars + 1]
    is_plain = head.isascii() and b"\0" not in head and b"\x1b" not in head  # one letter per byte
    return head if is_plain and len(head) > source.max_chars else body, True


def _find_member(source: ReaderInput, members: list[PackedFile]) -> PackedFile:
    """Return the requested file, by its full path or by an unambiguous end of it."""
    max_suggestions = 5
    member_name = source.file.strip("/")
    for matches in (
        lambda name: name == member_name,
        lambda name: name.lower() == member_name.lower(),
        lambda name: name.lower().endswith("/" + member_name.lower()),
    ):
        candidates = [member for member in members if matches(member.name)]
        if len(candidates) == 1:
            return candidates[0]
    names = [member.name for member in members]
    suffix = PurePosixPath(member_name).suffix
    similar = [name for name in names if suffix and name.endswith(suffix)] or names
    suggestions = ", ".join(map(to_single_line, similar[:max_suggestions]))
    raise NotFound(
        f"{source.url or 'this archive'} does not contain {member_name!r}",
        hint=f"choose one of its {len(members)}, for instance {suggestions}" if similar else "it is empty",
    )


def _read_member(source: ReaderInput, name: str, body: bytes, depth: int) -> Document:
    """Read a file of an archive by the reader for its own type."""
    mime = detect_mime_type("", body, name)
    url = f"{source.url}/{name}" if "://" in source.url else name
    inner = replace(source, body=body, content_type=mime, charset=None, url=url, file="")
    if mime in ARCHIVE_TYPES:
        return _read_nested(inner, depth + 1)
    if source.read_nested is None:
        return _list_members(source, [PackedFile(name, len(body))], cut=False)
    return source.read_nested(inner)


def _list_members(source: ReaderInput, members: list[PackedFile], *, cut: bool) -> Document:
    max_listed = 1_000
    draft = DocumentDraft(source, "archive")
    count, total = len(members), sum(member.size for member in members)
    target = "URL" if "://" in source.url else "file name"
    draft.add_block(
        f"An archive ({source.content_type}) of {count} file{'s' * (count != 1)}, {format_size(total)} unpacked."
        + (f" To read one of them, append #file=NAME to the {target}." if members else "")
    )
    rows = [["File", "Size", "Changed"]] if members else []
    for member in members[:max_listed]:
        flags = " (locked)" * member.is_encrypted + " (cut)" * member.is_cut
        rows.append([to_single_line(member.name), format_size(member.size) + flags, member.modified])
    draft.add_table(rows)
    if count > max_listed:
        draft.add_block(f"(… and {count - max_listed} more files)")
    if cut:
        draft.add_block("(its end is missing or damaged: there may be more files)")
    name = to_single_line(PurePosixPath(source.url).name)
    return draft.build_document({"title": name}, metadata={"files": count, "size": total})


ZIP_TYPES = ("application/zip", "application/java-archive", "application/vnd.android.package-archive")
STREAM_TYPES = ("application/gzip", "application/x-bzip2", "application/x-xz")
ARCHIVE_TYPES = (*ZIP_TYPES, *STREAM_TYPES, "application/x-tar")
reader = DocumentReader(
    "archive", ARCHIVE_TYPES, read_archive, isolated=True, needs_whole_body=True, has_fragments=True
)
