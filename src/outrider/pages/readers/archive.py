"""Archives: a list of what they hold, or the file of them that is asked for, or that is the only one."""

from dataclasses import replace
from pathlib import PurePosixPath

from outrider.core.errors import NotFound, Refused
from outrider.pages.document import Document, to_single_line
from outrider.pages.mime.sniff import detect_mime_type, get_suffix
from outrider.pages.reader import DocumentReader, ReaderInput, format_size
from outrider.pages.readers.archives.formats import PackedFile, TarContents, ZipContents, is_tar, read_unpacked
from outrider.pages.readers.archives.zip_archive import MAX_MEMBER_BYTES
from outrider.pages.readers.parsing.draft import DocumentDraft

MAX_UNASKED_DEPTH = 2  # archives in archives that are opened unasked


def read_archive(source: ReaderInput) -> Document:
    """The names, sizes and dates of the files; of one that is asked for or alone, its content.

    Raises:
        NotFound: if there is no file of the name that was asked for.
        Refused: code `encrypted`, `too_large` or, of a file that was asked for, `unreadable_type`.
        Unavailable: code `broken_file`.
    """
    return _read_nested(source, 0)


def _read_nested(source: ReaderInput, depth: int) -> Document:
    skipped_files = ("__MACOSX/", ".DS_Store", "Thumbs.db")
    if source.content_type in STREAM_TYPES and not is_tar(source):
        return _read_stream(source, depth)
    archive = ZipContents(source) if source.content_type in ZIP_TYPES else TarContents(source)
    members = [each for each in archive.list_members() if not each.name.startswith(skipped_files[0])]
    members = [each for each in members if not each.name.endswith(skipped_files[1:])]
    if source.file:
        chosen = _find_member(source, members)
        return _read_member(source, chosen.name, archive.read(chosen.name), depth)
    if len(members) == 1 and depth < MAX_UNASKED_DEPTH and not archive.is_cut and not members[0].is_encrypted:
        try:
            return _read_member(source, members[0].name, archive.read(members[0].name), depth)
        except Refused:  # what cannot be read is listed
            pass
    return _list_members(source, members, cut=archive.is_cut)


def _read_stream(source: ReaderInput, depth: int) -> Document:
    """The one file that is packed."""
    inner_suffixes = {
        ".tgz": ".tar",
        ".tbz2": ".tar",
        ".txz": ".tar",
        ".svgz": ".svg",
        ".gz": "",
        ".bz2": "",
        ".xz": "",
    }
    cut_notice = "(the rest of this packed file was not read: its end is missing, or it is longer than the limit)"
    body, cut = read_unpacked(source, MAX_MEMBER_BYTES)
    name = PurePosixPath(source.url).name
    suffix = get_suffix(source.url)
    inner = name[: len(name) - len(suffix)] + inner_suffixes[suffix] if suffix in inner_suffixes else name
    if depth >= MAX_UNASKED_DEPTH:
        return _list_members(source, [PackedFile(inner or "content", len(body))], cut=cut)
    document = _read_member(source, inner, body, depth)
    if not cut:
        return document
    told, facts = f"{document.markdown}\n\n{cut_notice}", document.metadata | {"cut": True}
    return replace(document, markdown=told, text=f"{document.text}\n\n{cut_notice}", metadata=facts)


def _find_member(source: ReaderInput, members: list[PackedFile]) -> PackedFile:
    """The file that was asked for, by its whole name or by the end of it that only one has."""
    max_suggestions = 5  # names that are told where another one was asked for
    wanted = source.file.strip("/")
    for same in (
        lambda name: name == wanted,
        lambda name: name.lower() == wanted.lower(),
        lambda name: name.lower().endswith("/" + wanted.lower()),
    ):
        found = [each for each in members if same(each.name)]
        if len(found) == 1:
            return found[0]
    last = PurePosixPath(wanted).suffix
    near = [each.name for each in members if last and each.name.endswith(last)] or [each.name for each in members]
    raise NotFound(
        f"there is no file {wanted!r} in {source.url or 'this archive'}",
        hint=f"choose one of its {len(members)}, for instance {', '.join(map(to_single_line, near[:max_suggestions]))}"
        if near
        else "it is empty",
    )


def _read_member(source: ReaderInput, name: str, body: bytes, depth: int) -> Document:
    """A file of an archive, by the reader of its own kind."""
    mime = detect_mime_type("", body, name)
    url = f"{source.url}/{name}" if "://" in source.url else name
    inner = replace(source, body=body, content_type=mime, charset=None, url=url, file="")
    if mime in ARCHIVE_TYPES:
        return _read_nested(inner, depth + 1)
    if source.read_nested is None:
        return _list_members(source, [PackedFile(name, len(body))], cut=False)
    return source.read_nested(inner)


def _list_members(source: ReaderInput, members: list[PackedFile], *, cut: bool) -> Document:
    max_listed = 1_000  # files that are listed
    draft = DocumentDraft(source, "archive")
    total = sum(each.size for each in members)
    where = "the address" if "://" in source.url else "the file's name"
    draft.add_block(
        f"An archive ({source.content_type}) of {_files(len(members))}, {format_size(total)} unpacked."
        + (f" To read one of them, put #file=NAME behind {where}." if members else "")
    )
    rows = [[to_single_line(each.name), format_size(each.size) + _trouble(each), each.modified] for each in members]
    draft.add_table([["File", "Size", "Changed"], *rows[:max_listed]] if rows else [])
    if len(rows) > max_listed:
        draft.add_block(f"(… and {len(rows) - max_listed} more files)")
    if cut:
        draft.add_block("(its end is missing or damaged: there may be more files)")
    name = to_single_line(PurePosixPath(source.url).name)
    return draft.build_document({"title": name}, metadata={"files": len(members), "size": total})


def _trouble(member: PackedFile) -> str:
    return " (locked)" * member.is_encrypted + " (cut)" * member.is_cut


def _files(count: int) -> str:
    return f"{count} file" + "s" * (count != 1)


ZIP_TYPES = ("application/zip", "application/java-archive", "application/vnd.android.package-archive")
STREAM_TYPES = ("application/gzip", "application/x-bzip2", "application/x-xz")
ARCHIVE_TYPES = (*ZIP_TYPES, *STREAM_TYPES, "application/x-tar")
reader = DocumentReader(
    "archive", ARCHIVE_TYPES, read_archive, isolated=True, needs_whole_body=True, has_fragments=True
)
