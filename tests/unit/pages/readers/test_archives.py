"""Archives: lists of files, and the content of one file."""

import bz2
import gzip
import io
import lzma
import random
import tarfile
import zipfile
from typing import Any

import pytest

from outrider.core.errors import NotFound, Refused, Unavailable
from outrider.pages.document import Document
from outrider.pages.local_file import read_body
from outrider.pages.mime.sniff import detect_mime_type
from outrider.pages.reader import ReaderInput
from outrider.pages.registry import find_reader, read_nested
from support.documents.office_files import build_zip
from support.fakes.website import FakeSite, SiteAnswer, build_pdf, open_pages

pytestmark = pytest.mark.anyio
CSV_BYTES = b"port,ships\nWend,12\n"
ROWS = [["port", "ships"], ["Wend", "12"]]


def read_archive(body: bytes, name: str = "a.bin", **given: Any) -> Document:
    mime = detect_mime_type("", body, name)
    source = ReaderInput(body, f"https://harbour.example/{name}", mime, read_nested=read_nested, **given)
    return find_reader(mime, name, len(body)).read(source)


def tarred(files: dict[str, bytes], mode: Any = "w:gz") -> bytes:
    """A tar archive, as Python's own writer makes it."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size, member.mtime = len(content), 1_700_000_000
            archive.addfile(member, io.BytesIO(content))
    return out.getvalue()


@pytest.mark.parametrize(
    "pack",
    [build_zip, tarred, lambda files: tarred(files, "w"), lambda files: tarred(files, "w:xz")],
    ids=["zip", "tar.gz", "tar", "tar.xz"],
)
def test_an_archive_is_listed_with_how_to_read_its_files(pack: Any):
    body = pack({"data/lights.csv": CSV_BYTES, "README.md": b"# Lights", "__MACOSX/._x": b"x"})
    document = read_archive(body)
    assert document.kind == "archive"
    assert [row[:2] for row in document.tables[0]] == [
        ["File", "Size"],
        ["data/lights.csv", "19 bytes"],
        ["README.md", "8 bytes"],
    ]
    assert "append #file=NAME to the" in document.markdown
    assert document.metadata == {"files": 2, "size": 27}


@pytest.mark.parametrize("wanted", ["data/lights.csv", "DATA/Lights.csv", "lights.csv"])
@pytest.mark.parametrize("pack", [build_zip, tarred])
def test_the_file_that_is_asked_for_is_read(pack: Any, wanted: str):
    assert read_archive(pack({"data/lights.csv": CSV_BYTES, "x.txt": b"x"}), file=wanted).tables == [ROWS]


def test_a_missing_file_is_answered_with_the_existing_ones():
    with pytest.raises(NotFound) as caught:
        read_archive(build_zip({"a.csv": CSV_BYTES, "b.csv": CSV_BYTES, "c.txt": "x"}), file="d.csv")
    assert caught.value.hint == "choose one of its 3, for instance a.csv, b.csv"


def test_the_only_file_of_an_archive_is_read_at_once():
    assert read_archive(build_zip({"lights.csv": CSV_BYTES})).tables == [ROWS]
    assert read_archive(build_zip({"in.zip": build_zip({"lights.csv": CSV_BYTES})})).tables == [ROWS]
    assert read_archive(build_zip({"a.pdf": build_pdf("one")})).kind == "pdf"


def test_deeply_nested_archives_can_be_listed():
    body = build_zip({"lights.csv": CSV_BYTES})
    for _ in range(9):
        body = build_zip({"in.zip": body})
    assert read_archive(body).kind == "archive"


def test_an_unreadable_file_is_listed_and_refused_when_requested():
    body = build_zip({"a.bin": bytes(range(256))})
    assert "a.bin" in read_archive(body).markdown
    with pytest.raises(Refused, match=r"a\.bin is binary data"):
        read_archive(body, file="a.bin")


@pytest.mark.parametrize(
    ("suffix", "pack"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)], ids=["gz", "bz2", "xz"]
)
def test_a_compressed_file_is_read_as_its_content(suffix: str, pack: Any):
    assert read_archive(pack(CSV_BYTES), f"lights.csv.{suffix}").tables == [ROWS]
    assert read_archive(pack(build_pdf("still here")), f"a.{suffix}").kind == "pdf"


def test_a_truncated_archive_is_read_as_far_as_it_goes_and_says_so():
    lines = "\n".join(f"{at * at} ships" for at in range(40_000)).encode()
    packed = gzip.compress(lines)
    document = read_archive(packed[: len(packed) // 2], "log.txt.gz")
    assert document.markdown.startswith("0 ships\n1 ships\n4 ships")
    assert document.markdown.endswith("its end is missing, or it is longer than the limit)")
    body = tarred({f"{at}.txt": f"{at * 7919}".encode() * 300 for at in range(400)})
    part = read_archive(body[: len(body) // 2])
    assert 0 < part.metadata["files"] < 400
    assert "its end is missing" in part.markdown


def build_streamed_zip(files: dict[str, bytes]) -> bytes:
    """Build a zip archive as written without seeking: sizes follow the files."""

    class Pipe(io.RawIOBase):
        def __init__(self) -> None:
            self.body = b""

        def writable(self) -> bool:
            return True

        def write(self, given: Any) -> int:
            self.body += bytes(given)
            return len(given)

    pipe: Any = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return pipe.body


LONG_BYTES = random.Random(3).randbytes(3_000)


@pytest.mark.parametrize("pack", [build_zip, build_streamed_zip], ids=["with sizes", "streamed"])
def test_a_zip_archive_whose_end_is_missing_is_listed_as_far_as_it_goes(pack: Any):
    body = pack({"data/lights.csv": CSV_BYTES, "README.md": b"# Lights", "long.bin": LONG_BYTES, "last.md": b"x"})
    cut = body[: body.index(b"long.bin") + 1_000]
    document = read_archive(cut)
    assert [row[0] for row in document.tables[0]] == ["File", "data/lights.csv", "README.md", "long.bin"]
    assert document.tables[0][3][1].endswith("(cut)")
    assert "(its end is missing or damaged: there may be more files)" in document.markdown
    assert read_archive(cut, file="lights.csv").tables == [ROWS]
    with pytest.raises(Unavailable) as caught:
        read_archive(cut, file="long.bin")
    assert "that file is cut" in caught.value.message


def test_a_zip_archive_cut_within_its_first_header_is_broken():
    with pytest.raises(Unavailable) as caught:
        read_archive(build_zip({"data/lights.csv": CSV_BYTES})[:35])
    assert caught.value.code == "broken_file"


def test_an_all_zero_header_is_a_broken_archive():
    with pytest.raises(Unavailable) as caught:
        read_archive(b"PK\x03\x04" + bytes(100))
    assert caught.value.code == "broken_file"


def read_outcome(body: bytes) -> str:
    """The kind of the document, or the code of the error."""
    try:
        return read_archive(body).kind
    except Unavailable as error:
        return error.code


@pytest.mark.parametrize("pack", [build_zip, build_streamed_zip], ids=["with sizes", "streamed"])
def test_a_truncated_archive_yields_a_document_or_an_error(pack: Any):
    body = pack({"data/lights.csv": CSV_BYTES, "README.md": b"# Lights", "long.bin": LONG_BYTES})
    codes = {read_outcome(body[:end]) for end in range(8, len(body), 23)}
    assert codes == {"archive", "broken_file"}


def test_a_file_that_unpacks_beyond_the_limit_is_listed_and_refused():
    zeros = bytes(70_000_000)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("a.txt", zeros)
    assert "70.0 MB" in read_archive(out.getvalue()).markdown
    with pytest.raises(Refused) as caught:
        read_archive(out.getvalue(), file="a.txt")
    assert caught.value.code == "too_large"


async def test_a_file_of_an_archive_on_the_web_has_an_address():
    body = build_zip({"data/lights.csv": CSV_BYTES, "a b.txt": "tide"})
    async with open_pages(FakeSite({"/a.zip": SiteAnswer(body, "application/octet-stream")})) as (pages, url):
        whole = await pages.read(f"{url}/a.zip")
        part = await pages.read(f"{url}/a.zip#file=a%20b.txt")
    assert whole.document.kind == "archive"
    assert part.document.text == "tide"
    assert part.url == f"{url}/a.zip#file=a%20b.txt"


async def test_a_file_of_a_local_archive_is_addressed_after_the_archives_name():
    body = build_zip({"data/lights.csv": CSV_BYTES, "b.txt": "tide"})
    document, mime = await read_body(body, name="/harbour/a.zip#file=b.txt")
    assert (document.text, mime) == ("tide", "application/zip")
