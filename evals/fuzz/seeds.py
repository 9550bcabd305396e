"""Build small seed documents of every kind, by suffix."""

import gzip
import io
import lzma
import struct
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

TESTS_FOLDER = Path(__file__).parents[2] / "tests"
RSS = b"""<?xml version="1.0"?><rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel>
<title>Lights</title><link>https://h.example/</link><item><title>One</title><link>/one</link><guid>1</guid>
<pubDate>Tue, 05 Mar 2024 08:30:00 +0100</pubDate><content:encoded><![CDATA[<p>Old <b>light</b></p>]]></content:encoded>
</item></channel></rss>"""
ATOM = b"""<feed xmlns="http://www.w3.org/2005/Atom"><title>Lights</title><entry><title type="html">&lt;b>One&lt;/b></title>
<link rel="alternate" href="one"/><updated>2024-03-05T08:30:00Z</updated><summary>Old</summary></entry></feed>"""
JSON_FEED = b"""{"version": "https://jsonfeed.org/version/1.1", "title": "Lights", "items": [{"id": "1", "url": "/one",
"title": "One", "content_html": "<p>Old</p>", "date_published": "2024-03-05T08:30:00Z"}]}"""
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000003000000020802000000e64b31870000000a7445587454"
    "69746c6500466f67b2f5c5a90000000049454e44ae426082"
)
TIFF = b"II*\x00\x08\x00\x00\x00\x02\x00" + struct.pack("<HHLLHHLL", 256, 3, 1, 3, 270, 2, 4, 0x00676F46) + bytes(4)
JPEG = (
    b"\xff\xd8\xff\xe1" + struct.pack(">H", len(TIFF) + 8) + b"Exif\x00\x00" + TIFF
    + b"\xff\xc0\x00\x11\x08" + struct.pack(">HH", 480, 640) + bytes(20)
)  # fmt: skip
SSA = b"""[Script Info]
Title: Lights
[Events]
Format: Layer, Start, End, Style, Text
Dialogue: 0,0:00:01.00,0:00:03.00,Default,{\\i1}Old\\Nlight
"""
TTML = b"""<tt xmlns="http://www.w3.org/ns/ttml"><body><p begin="00:00:01.5" end="3s">Old<br/>light</p></body></tt>"""
OPML = b"""<opml><head><title>Lights</title></head><body><outline text="a"><outline text="b" xmlUrl="https://h.example/f"
htmlUrl="https://h.example/"/></outline></body></opml>"""
SITEMAP = b"""<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>https://h.example/</loc>
<lastmod>2024-03-05</lastmod></url></urlset>"""
FICTION_BOOK = """<?xml version="1.0" encoding="utf-8"?><FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0"
xmlns:l="http://www.w3.org/1999/xlink"><description><title-info><author><first-name>Ida</first-name></author>
<book-title>Lights</book-title><lang>en</lang><date>1902</date></title-info></description><body><title><p>Lights</p></title>
<epigraph><p>Seen</p><text-author>Jo</text-author></epigraph><section id="s"><title><p>One</p></title><p>It
<emphasis>burns</emphasis><a l:href="#n1" type="note">[1]</a> <a l:href="https://h.example/">far</a> <code>x</code></p><poem><stanza>
<v>High</v><v>low</v></stanza></poem><cite><p>Maäk</p></cite><table><tr><th colspan="2">a</th></tr><tr><td>b</td><td>c</td></tr>
</table><section><title><p>Two</p></title><image l:href="#c.png"/><empty-line/><subtitle>Three</subtitle></section></section></body>
<body name="notes"><section id="n1"><title><p>1</p></title><p>Since 1871</p></section></body>
<binary id="c.png" content-type="image/png">iVBORw0KGgo=</binary></FictionBook>""".encode()
RULED_PDF = b"""%PDF-1.7
1 0 obj <</Type/Catalog/Pages 2 0 R>> endobj
2 0 obj <</Type/Pages/Kids[3 0 R]/Count 1>> endobj
3 0 obj <</Type/Page/Parent 2 0 R/Rotate 90/MediaBox[0 0 400 400]/Contents 4 0 R/Annots[5 0 R 6 0 R]/Resources<</Font
<</F <</Type/Font/Subtype/Type1/BaseFont/Helvetica-Bold>> >> >> >> endobj
4 0 obj <</Length 330>> stream
q 0 1 -1 0 400 0 cm 50 300 m 350 300 l 50 280 m 350 280 l 50 260 m 350 260 l 50 260 m 50 300 l 200 260 m 200 300 l
350 260 m 350 300 l S BT /F 10 Tf 60 285 Td (Wend) Tj 150 0 Td (41) Tj -150 -20 Td (Reed) Tj 150 0 Td (12) Tj
-150 -60 Td (See the light) Tj /F 5 Tf 65 3 Td (2) Tj 3 Tr 0 -40 Td (unseen) Tj 0 Tr 1 g 0 -20 Td (white) Tj ET Q
endstream endobj
5 0 obj <</Type/Annot/Subtype/Link/Rect[190 60 210 130]/A<</S/URI/URI(https://h.example/)>> >> endobj
6 0 obj <</Type/Annot/Subtype/Text/Rect[0 0 9 9]/Contents(Sure?)/T(Tom)>> endobj
trailer <</Root 1 0 R>>
%%EOF
"""
PLAIN_SEEDS = {
    "ass": SSA,
    "ttml": TTML,
    "opml": OPML,
    "sitemap.xml": SITEMAP,
    "ruled.pdf": RULED_PDF,
    "rss": RSS,
    "atom": ATOM,
    "json": b'{"lights": [{"name": "Wend", "height": 41}, {"name": "Reed", "height": null}]}',
    "jsonl": b'{"name": "Wend"}\n{"name": "Reed"}\n',
    "feed.json": JSON_FEED,
    "xml": b'<?xml version="1.0" encoding="utf-8"?><lights a="1"><light>Wend</light><!-- x --><light/></lights>',
    "svg": b"<svg xmlns='http://www.w3.org/2000/svg'><title>Map</title><text>Cape <tspan>Wend</tspan></text></svg>",
    "png": PNG,
    "jpg": JPEG,
    "tif": TIFF,
    "webp": b"RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00" + bytes(4) + b"\x02\x00\x00\x01\x00\x00",
    "avif": b"\x00\x00\x00\x1cftypavif" + bytes(8) + b"ispe\x00\x00\x00\x00" + struct.pack(">LL", 3, 2),
    "md": b"---\ntitle: Lights\n---\n# Lights\n\n- [one](one.html)\n\n```py\nx\n```\n",
    "txt": "Lïghts\n\nThe old light\n".encode("utf-16"),
    "tsv": b"a\tb\n1\t2\n",
    "ics": b"BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nSUMMARY:Regatta\\, big\r\nDTSTART;TZID=Europe/Vienna:20260704T093000\r\n"
    b'DESCRIPTION:Bring a bo\r\n at.\r\nORGANIZER;CN="Ida":MAILTO:ida@h.example\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n',
    "vcf": b"BEGIN:VCARD\r\nN;ENCODING=QUOTED-PRINTABLE:M=C3=A4rz;Th=\r\n=C3=A9a\r\nTEL;TYPE=cell:12\r\nEND:VCARD\r\n",
    "rst": b"Tides\n=====\n\nSee `a <https://h.example>`_::\n\n    x\n\n.. code:: py\n\n   y\n\nOne\n---\n",
    "adoc": b"= Tides\n:author: Ida\n\n== One\n\n[source,py]\n----\nx\n----\nhttps://h.example[a]\n",
    "org": b"#+TITLE: Tides\n* One :a:\n:PROPERTIES:\n:END:\n#+BEGIN_SRC py\nx\n#+END_SRC\n[[https://h.example][a]]\n",
    "tex": b"\\title{Tides}\n\\begin{document}\n\\section{One}\\emph{x} % y\n\\begin{verbatim}\nz\n\\end{verbatim}\n"
    b"\\begin{itemize}\\item a\\end{itemize}\\href{https://h.example}{b}$x^2$\n",
    "csv.gz": gzip.compress(b"a,b\n1,2\n"),
}


def build_seeds() -> dict[str, bytes]:
    """Return the body of each seed by suffix."""
    table_texts = [(72, 700, 24, "Lights"), (72, 650, 10, "Name"), (300, 650, 10, "Height"), (72, 630, 10, "Wend")]
    kind_suffixes = {"word": "docx", "powerpoint": "pptx", "excel": "xlsx", "mail": "eml", "notebook": "ipynb"}
    sys.path.append(str(TESTS_FOLDER))
    from support.documents.compound_files import build_compound_file  # ty: ignore[import-not-found]
    from support.documents.office_files import build_all_kinds, build_zip  # ty: ignore[import-not-found]
    from support.documents.pdf_files import build_unicode_pdf  # ty: ignore[import-not-found]
    from support.fakes.website import build_positioned_pdf  # ty: ignore[import-not-found]

    found = {kind_suffixes.get(name, name): body for name, body in build_all_kinds().items()}
    found["pdf"] = build_positioned_pdf(table_texts, [(72, 700, 10, "The old light"), (72, 40, 8, "2")], title="Lights")
    found["doc"] = (TESTS_FOLDER / "data" / "documents" / "tides.doc").read_bytes()
    found["xls"] = (TESTS_FOLDER / "data" / "documents" / "lights.xls").read_bytes()
    for name in ("book.xls", "deck.ppt"):
        packed = (TESTS_FOLDER / "data" / "documents" / f"{name}.xz").read_bytes()
        found[name.replace(".", "2.")] = lzma.decompress(packed)
    found |= {f"{name}.msg": build_compound_file(parts) for name, parts in _build_outlook_messages().items()}
    found |= _build_cut_archives(build_zip) | {"fb2": FICTION_BOOK, "fb2.zip": build_zip({"lights.fb2": FICTION_BOOK})}
    found["leftward.pdf"] = build_unicode_pdf(
        [(400, 700, "ןשי"), (300, 700, "Wend (2)"), (430, 700, "רולדגמ"), (380, 680, ".18:45")]
    )
    found["tar"] = _build_tar()
    found["tar.xz"] = lzma.compress(found["tar"])
    return found | PLAIN_SEEDS


def _build_outlook_messages() -> dict[str, Any]:
    """Build Outlook messages: with HTML, within another, packed, a meeting, old, addressed."""
    from support.documents.outlook_files import (  # ty: ignore[import-not-found]
        SENT_AT,
        build_attachment,
        build_message,
        build_properties,
        build_recipient,
        build_text_streams,
    )

    file, folder = build_attachment("a.txt", "text/plain", b"x"), "__properties_version1.0"
    inner = {folder: build_properties(8, p37050003=5), "__substg1.0_3701000D": build_message(24)}
    rtf = b"{\\rtf1\\ansi {\\b Old} light\\par}"
    packed = b"".join(b"\0" + rtf[at : at + 8] for at in range(0, len(rtf), 8))
    packed = struct.pack("<LL4sL", len(packed) + 12, len(rtf), b"LZFu", 0) + packed
    return {
        "full": build_message(**{"__attach_version1.0_#00000000": file, "__substg1.0_10130102": b"<p>Old <b>light</b></p>"}),
        "within": build_message(**{"__attach_version1.0_#00000000": inner}),
        "packed": {folder: bytes(32), "__substg1.0_10090102": packed, **build_text_streams(p0037="Light")},
        "meeting": {folder: build_properties(32, p00600040=SENT_AT, p00610040=SENT_AT), **build_text_streams(p001A="IPM.Appointment", p0037="Ebb")},
        "old": {folder: build_properties(32, p3FFD0003=1251), **build_text_streams("cp1251", p0037="\u041c", p1000="\u041e")},
        "addressed": {folder: bytes(32), "__recip_version1.0_#00000000": build_recipient(1, "Jo", "jo@h.example"),
                      **build_text_streams(p0037="Ebb", p007D="From: Ida <i@h.example>\r\nMessage-ID: <1@h>\r\n\r\n")},
    }  # fmt: skip


def _build_cut_archives(build_zip: Callable[[dict[str, str | bytes]], bytes]) -> dict[str, bytes]:
    """Build truncated archives: cut inside a file, between two files, or in the directory."""
    whole = build_zip({"lights.csv": "a,b\n1,2\n", "more/notes.md": "# Lights\n" * 20, "last.txt": "x"})
    return {
        "within.zip": whole[: whole.index(b"last.txt") - 40],
        "between.zip": whole[: whole.index(b"more/notes.md") - 30],
        "listed.zip": whole[: whole.rindex(b"last.txt")],
        "streamed.zip": _build_streamed_archive()[:-60],
    }


def _build_streamed_archive() -> bytes:
    """Build a streamed archive, with sizes after the files."""

    class Pipe(io.RawIOBase):
        written = b""

        def writable(self) -> bool:
            return True

        def write(self, given: Any) -> int:
            self.written += bytes(given)
            return len(given)

    pipe: Any = Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("lights.csv", "a,b\n1,2\n" * 9)
        archive.writestr("notes.md", "# Lights\n")
    return pipe.written


def _build_tar() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name in ("lights.csv", "more/a.txt"):
            member = tarfile.TarInfo(name)
            member.size = len(name)
            archive.addfile(member, io.BytesIO(name.encode()))
    return out.getvalue()
