"""Notebooks, subtitles, separated values and images."""

import struct
import zlib

import pytest

from outrider.core.errors import Unavailable
from outrider.pages.reader import ReaderInput
from outrider.pages.readers import image
from support.documents.office_files import build_notebook, read_document


def build_code_cell(source: str, *outputs: dict) -> dict:
    return {"cell_type": "code", "source": source, "outputs": list(outputs)}


def test_a_notebook_has_its_text_code_and_outputs():
    table = {
        "output_type": "execute_result",
        "data": {"text/html": ["<table><tr><th>a", "<th>b<tr><td>1<td>2</table>"]},
    }
    picture = {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo=", "text/plain": "<Figure>"}}
    document = read_document(
        build_notebook(
            {"cell_type": "markdown", "source": ["# Tides\n", "![x](data:image/png;base64,AAAA)"]},
            build_code_cell("f(1)", {"output_type": "stream", "text": ["one\n", "two\n"]}, table, picture),
            build_code_cell("1/0", {"output_type": "error", "traceback": ["\x1b[0;31mDivideError\x1b[0m"]}),
        )
    )
    assert document.markdown == (
        "# Tides\n(picture: x)\n\n```julia\nf(1)\n```\n\n```text\none\ntwo\n```\n\n"
        "| a | b |\n| --- | --- |\n| 1 | 2 |\n\n```text\n<Figure>\n```\n\n(output: image/png)\n\n"
        "```julia\n1/0\n```\n\n```text\nDivideError\n```"
    )
    assert (document.kind, document.title, document.metadata) == (
        "notebook",
        "Tides",
        {"cells": 3, "language": "julia"},
    )


def test_a_long_output_is_cut_and_reports_it():
    document = read_document(build_notebook(build_code_cell("x", {"output_type": "stream", "text": "y" * 10_000})))
    assert "(… 6000 more characters of this output)" in document.markdown


@pytest.mark.parametrize(
    "body", [b'{"cells": 5}', b'{"cells": [1, {"cell_type": [], "source": {}, "outputs": 3}]}', b"[]"]
)
def test_a_malformed_notebook_is_shown_as_it_is(body: bytes):
    assert read_document(body, "x.ipynb").kind in ("json", "notebook")


def test_subtitles_become_paragraphs_with_their_times():
    srt = (
        "1\r\n00:00:01,000 --> 00:00:02,500\r\n<i>The light</i>\r\n\r\n2\r\n00:00:02,500 --> 00:00:04,000\r\n"
        "is old. {\\an8}\r\n\r\n3\r\n01:00:09,000 --> 01:00:10,000\r\nThe fog\r\ncomes.\r\n"
    )
    document = read_document(srt.encode())
    assert document.markdown == "[00:00:01] The light is old.\n\n[01:00:09] The fog comes."
    assert (document.kind, document.metadata) == ("subtitles", {"cues": 3, "seconds": 3_610})


def test_rolling_captions_are_merged_and_name_their_speaker():
    vtt = (
        "WEBVTT\nKind: captions\nLanguage: en\n\nNOTE made by hand\n\nSTYLE\n::cue { color: red }\n\n"
        "id\n00:01.000 --> 00:02.000 align:start\n<v Ida>Hello &amp; good\n\n"
        "00:02.000 --> 00:03.000\n<v Ida>Hello &amp; good\nday<00:02.500><c> all</c>\n"
    )
    document = read_document(vtt.encode())
    assert document.markdown == "[00:00:01] Ida: Hello & good day all"
    assert document.language == "en"


@pytest.mark.parametrize(
    ("body", "rows"),
    [
        (b"a;b\n1,5;2\n", [["a", "b"], ["1,5", "2"]]),
        (b"sep=|\na|b\n1|2\n", [["a", "b"], ["1", "2"]]),
        (b'name,said\nIda,"one, ""two""\nthree"\n', [["name", "said"], ["Ida", 'one, "two" three']]),
        ("\ufeffa\tb\r\n1\t2\r\n".encode("utf-16"), [["a", "b"], ["1", "2"]]),
        (b"a,b,c\n1,2,3,\n4,5,6,,\n7,,\n", [["a", "b", "c"], ["1", "2", "3"], ["4", "5", "6"], ["7", "", ""]]),
        (b'a, b\n1, "x, y"\n2, z\n', [["a", "b"], ["1", "x, y"], ["2", "z"]]),
        (b"a,b\n1,2\n\n3\n4,5\n6,7\n", [["a", "b"], ["1", "2"], ["3"], ["4", "5"], ["6", "7"]]),
    ],
)
def test_the_separator_of_a_table_is_detected(body: bytes, rows: list[list[str]]):
    assert read_document(body, "x.csv").tables == [rows]


def test_single_cells_above_the_header_are_titles():
    document = read_document(b"Tides,,\n,,\nLight,Height,Year\nWend,41,1871\n", "x.csv")
    assert document.markdown == "Tides\n\n| Light | Height | Year |\n| --- | --- | --- |\n| Wend | 41 | 1871 |"
    assert read_document(b",height\nWend,41\n", "x.csv").tables == [[["", "height"], ["Wend", "41"]]]


def test_a_cell_may_be_longer_than_pythons_limit():
    document = read_document(b"place,outline\nSylt,%b\n" % (b"54.9 8.3 " * 20_000), "x.csv")
    assert (document.kind, document.metadata) == ("table", {"rows": 1, "columns": 2})


def test_prose_with_commas_is_not_a_table():
    assert read_document(b"Fog, they say, is wet\nand cold\nlike tea\n", "x.csv").kind == "text"


def test_a_long_table_says_how_much_is_left():
    document = read_document(b"a,b\n" + b"1,2\n" * 6_000, "x.csv")
    assert document.markdown.endswith("(… 1001 more rows were not read)")
    assert document.metadata == {"rows": 6_000, "columns": 2}


def build_tiff(*entries: tuple[int, int, bytes]) -> bytes:
    """Notes of a camera: tag, type and value."""
    data, made, at = b"", b"", 8 + 2 + 12 * len(entries) + 4
    for tag, kind, value in entries:
        inline = value.ljust(4, b"\x00") if len(value) <= 4 else struct.pack("<L", at + len(data))
        made += struct.pack("<HHL", tag, kind, len(value) if kind == 2 else 1) + inline
        data += value if len(value) > 4 else b""
    return b"II*\x00" + struct.pack("<LH", 8, len(entries)) + made + bytes(4) + data


NOTES = build_tiff(
    (0x010E, 2, b"The harbour\x00"),
    (0x0110, 2, b"Box 4\x00"),
    (0x013B, 2, b"Ida Marsh\x00"),
    (0x0132, 2, b"2024:02:29 12:00:00\x00"),
    (0x8825, 4, struct.pack("<L", 9_999)),
)
JPEG = b"\xff\xd8\xff\xe1" + struct.pack(">H", len(NOTES) + 8) + b"Exif\x00\x00" + NOTES
JPEG += b"\xff\xc0\x00\x11\x08" + struct.pack(">HH", 480, 640) + bytes(20)


def test_a_picture_is_described_by_size_and_metadata_without_its_location():
    document = read_document(JPEG)
    assert document.markdown.startswith("A picture (image/jpeg, 640 × 480 pixels")
    assert "- camera: Box 4" in document.markdown
    assert (document.author, document.published) == ("Ida Marsh", "2024-02-29T12:00:00")
    assert document.metadata == {"content_type": "image/jpeg", "width": 640, "height": 480, "located": True}


def build_png(*chunks: tuple[bytes, bytes]) -> bytes:
    given = ((b"IHDR", struct.pack(">LLBBBBB", 3, 2, 8, 2, 0, 0, 0)), *chunks)
    packed = (
        struct.pack(">L", len(data)) + name + data + struct.pack(">L", zlib.crc32(name + data)) for name, data in given
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)


@pytest.mark.parametrize(
    ("body", "size"),
    [
        (build_png((b"tEXt", b"Title\x00Fog")), (3, 2)),
        (b"GIF89a" + struct.pack("<HH", 3, 2) + bytes(9), (3, 2)),
        (b"BM" + bytes(16) + struct.pack("<ll", 3, -2), (3, 2)),
        (b"RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00" + bytes(4) + b"\x02\x00\x00\x01\x00\x00", (3, 2)),
        (b"\x00\x00\x00\x1cftypavif" + bytes(8) + b"ispe\x00\x00\x00\x00" + struct.pack(">LL", 3, 2), (3, 2)),
        (build_tiff((0x0100, 3, b"\x03\x00"), (0x0101, 3, b"\x02\x00")), (3, 2)),
        (b"\x00\x00\x01\x00\x01\x00\x03\x02", (3, 2)),
    ],
)
def test_every_kind_of_picture_reports_its_size(body: bytes, size: tuple[int, int]):
    known = read_document(body).metadata
    assert (known["width"], known["height"]) == size


def test_compressed_picture_metadata_is_read():
    document = read_document(
        build_png((b"tEXt", b"Title\x00Fog"), (b"zTXt", b"Description\x00\x00" + zlib.compress(b"At noon")))
    )
    assert document.markdown.endswith("- title: Fog\n- description: At noon")
    assert read_document(build_png((b"zTXt", b"Title\x00\x00no zlib"))).title == ""


def test_an_svg_is_described_by_its_text():
    svg = b"<svg xmlns='x'><title>Map</title><desc>Of the bay</desc><text>Cape <tspan>Wend</tspan></text></svg>"
    document = image.read_image(ReaderInput(svg, "", "image/svg+xml"))
    assert document.markdown.split("\n\n")[1:] == ["Map", "Of the bay", "Cape Wend"]
    assert document.title == "Map"


def test_a_picture_that_is_cut_is_reported():
    with pytest.raises(Unavailable) as caught:
        read_document(b"\x89PNG\r\n\x1a\n\x00")
    assert caught.value.code == "broken_file"
