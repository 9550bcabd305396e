"""Archives: a list of what they hold, or the file of them that is asked for, or that is the only one."""

from dataclasses import replace
from pathlib import PurePosixPath

from outrider.core.errors import NotFound, Refused
from outrider.pages.document import Document, line_of
from outrider.pages.reader import Reader, Source, size_of
from outrider.pages.readers.parts.archives.archive import MEMBER
from outrider.pages.readers.parts.archives.packed import Member, Tarred, Zipped, is_tar, unpacked
from outrider.pages.readers.parts.writing import Draft
from outrider.pages.sniffing.sniff import sniff, suffix_of

SHOWN = 1_000  # files that are listed
CLOSE = 5  # names that are told where another one was asked for
DEEP = 2  # archives in archives that are opened unasked
REST = "(the rest of this packed file was not read: its end is missing, or it is longer than the limit)"
LEFT_OUT = ("__MACOSX/", ".DS_Store", "Thumbs.db")
PACKED = {".tgz": ".tar", ".tbz2": ".tar", ".txz": ".tar", ".svgz": ".svg", ".gz": "", ".bz2": "", ".xz": ""}


def read(source: Source) -> Document:
    """The names, sizes and dates of the files; of one that is asked for or alone, its content.

    Raises:
        NotFound: if there is no file of the name that was asked for.
        Refused: code `encrypted`, `too_large` or, of a file that was asked for, `unreadable_type`.
        Unavailable: code `broken_file`.
    """
    return _read(source, 0)


def _read(source: Source, depth: int) -> Document:
    if source.content_type in STREAMS and not is_tar(source):
        return _stream(source, depth)
    archive = Zipped(source) if source.content_type in ZIPS else Tarred(source)
    members = [each for each in archive.members() if not each.name.startswith(LEFT_OUT[0])]
    members = [each for each in members if not each.name.endswith(LEFT_OUT[1:])]
    if source.file:
        chosen = _chosen(source, members)
        return _inner(source, chosen.name, archive.read(chosen.name), depth)
    if len(members) == 1 and depth < DEEP and not archive.cut and not members[0].locked:
        try:
            return _inner(source, members[0].name, archive.read(members[0].name), depth)
        except Refused:  # what cannot be read is listed
            pass
    return _listed(source, members, cut=archive.cut)


def _stream(source: Source, depth: int) -> Document:
    """The one file that is packed."""
    body, cut = unpacked(source, MEMBER)
    name = PurePosixPath(source.url).name
    suffix = suffix_of(source.url)
    inner = name[: len(name) - len(suffix)] + PACKED[suffix] if suffix in PACKED else name
    if depth >= DEEP:
        return _listed(source, [Member(inner or "content", len(body))], cut=cut)
    document = _inner(source, inner, body, depth)
    if not cut:
        return document
    told, facts = f"{document.markdown}\n\n{REST}", document.metadata | {"cut": True}
    return replace(document, markdown=told, text=f"{document.text}\n\n{REST}", metadata=facts)


def _chosen(source: Source, members: list[Member]) -> Member:
    """The file that was asked for, by its whole name or by the end of it that only one has."""
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
        hint=f"choose one of its {len(members)}, for instance {', '.join(map(line_of, near[:CLOSE]))}"
        if near
        else "it is empty",
    )


def _inner(source: Source, name: str, body: bytes, depth: int) -> Document:
    """A file of an archive, by the reader of its own kind."""
    mime = sniff("", body, name)
    url = f"{source.url}/{name}" if "://" in source.url else name
    inner = replace(source, body=body, content_type=mime, charset=None, url=url, file="")
    if mime in TYPES:
        return _read(inner, depth + 1)
    if source.within is None:
        return _listed(source, [Member(name, len(body))], cut=False)
    return source.within(inner)


def _listed(source: Source, members: list[Member], *, cut: bool) -> Document:
    draft = Draft(source, "archive")
    total = sum(each.size for each in members)
    where = "the address" if "://" in source.url else "the file's name"
    draft.add(
        f"An archive ({source.content_type}) of {_files(len(members))}, {size_of(total)} unpacked."
        + (f" To read one of them, put #file=NAME behind {where}." if members else "")
    )
    rows = [[line_of(each.name), size_of(each.size) + _trouble(each), each.changed] for each in members]
    draft.rows([["File", "Size", "Changed"], *rows[:SHOWN]] if rows else [])
    if len(rows) > SHOWN:
        draft.add(f"(… and {len(rows) - SHOWN} more files)")
    if cut:
        draft.add("(its end is missing or damaged: there may be more files)")
    name = line_of(PurePosixPath(source.url).name)
    return draft.document({"title": name}, metadata={"files": len(members), "size": total})


def _trouble(member: Member) -> str:
    return " (locked)" * member.locked + " (cut)" * member.cut


def _files(count: int) -> str:
    return f"{count} file" + "s" * (count != 1)


ZIPS = ("application/zip", "application/java-archive", "application/vnd.android.package-archive")
STREAMS = ("application/gzip", "application/x-bzip2", "application/x-xz")
TYPES = (*ZIPS, *STREAMS, "application/x-tar")
reader = Reader("archive", TYPES, read, isolated=True, whole=True, places=True)
