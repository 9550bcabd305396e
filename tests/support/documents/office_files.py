"""Build documents of every kind from the XML in their archives."""

import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

from outrider.pages.document import Document
from outrider.pages.mime.sniff import detect_mime_type
from outrider.pages.reader import ReaderInput
from outrider.pages.registry import find_reader

DOCUMENT_URL = "https://harbour.example/file"
OPENXML_NAMESPACE = "http://schemas.openxmlformats.org"
RELATIONSHIPS_NAMESPACE = f"{OPENXML_NAMESPACE}/package/2006/relationships"
RELATIONSHIP_TYPE_PREFIX = f"{OPENXML_NAMESPACE}/officeDocument/2006/relationships/"
OOXML_NAMESPACES = " ".join(
    f'xmlns:{prefix}="{space}"'
    for prefix, space in {
        "w": f"{OPENXML_NAMESPACE}/wordprocessingml/2006/main",
        "a": f"{OPENXML_NAMESPACE}/drawingml/2006/main",
        "p": f"{OPENXML_NAMESPACE}/presentationml/2006/main",
        "r": f"{OPENXML_NAMESPACE}/officeDocument/2006/relationships",
        "m": f"{OPENXML_NAMESPACE}/officeDocument/2006/math",
        "wp": f"{OPENXML_NAMESPACE}/drawingml/2006/wordprocessingDrawing",
        "c": f"{OPENXML_NAMESPACE}/drawingml/2006/chart",
        "mc": f"{OPENXML_NAMESPACE}/markup-compatibility/2006",
        "cp": f"{OPENXML_NAMESPACE}/package/2006/metadata/core-properties",
        "dc": "http://purl.org/dc/elements/1.1/",
        "dcterms": "http://purl.org/dc/terms/",
    }.items()
)
DIAGRAM_NAMESPACE = f'xmlns:dgm="{OPENXML_NAMESPACE}/drawingml/2006/diagram"'
SHEET_NAMESPACES = f'xmlns="{OPENXML_NAMESPACE}/spreadsheetml/2006/main" xmlns:r="{RELATIONSHIP_TYPE_PREFIX[:-1]}"'
ODF_NAMESPACES = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for prefix, name in {
        "office": "office", "text": "text", "table": "table", "draw": "drawing", "style": "style", "meta": "meta",
        "presentation": "presentation", "fo": "xsl-fo-compatible", "svg": "svg-compatible", "manifest": "manifest",
    }.items()
) + ' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/"'  # fmt: skip


def read_document(body: bytes, name: str = "", **limits: Any) -> Document:
    """Detect the type of a body and read it."""
    mime = detect_mime_type("", body, name)
    return find_reader(mime, name, len(body), images=True).read(ReaderInput(body, DOCUMENT_URL, mime, **limits))


def build_zip(parts: Mapping[str, str | bytes], *, stored: tuple[str, ...] = ()) -> bytes:
    """Return a zip archive with these members."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content, zipfile.ZIP_STORED if name in stored else None)
    return out.getvalue()


def unpack_zip(body: bytes) -> dict[str, bytes]:
    """Return the members of a zip archive."""
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def build_relationships(*relationships: tuple[str, str, str]) -> str:
    """Return relationships of id, last segment of the type, and target; URLs are external."""
    elements = "".join(
        f'<Relationship Id="{name}" Type="{RELATIONSHIP_TYPE_PREFIX}{kind}" Target="{target}"'
        + (' TargetMode="External"' if "//" in target else "")
        + "/>"
        for name, kind, target in relationships
    )
    return f'<Relationships xmlns="{RELATIONSHIPS_NAMESPACE}">{elements}</Relationships>'


def build_package(main: str, links: tuple[tuple[str, str, str], ...], parts: dict[str, str]) -> bytes:
    """Return an Office Open XML package around its main part."""
    folder, _, name = main.rpartition("/")
    core_type = f"{OPENXML_NAMESPACE}/package/2006/relationships/metadata/core-properties"
    core = f'<Relationship Id="c" Type="{core_type}" Target="core.xml"/>'
    root = build_relationships(("m", "officeDocument", main)).replace("</Rel", core + "</Rel", 1)
    facts = (
        f"<cp:coreProperties {OOXML_NAMESPACES}><dc:title>Harbour</dc:title><dc:creator>Ida Marsh</dc:creator>"
        "<dc:language>en-GB</dc:language><dcterms:created>2024-02-29T12:00:00Z</dcterms:created></cp:coreProperties>"
    )
    contents = {"[Content_Types].xml": "<Types/>", "_rels/.rels": root, "core.xml": facts}
    return build_zip(contents | {f"{folder}/_rels/{name}.rels": build_relationships(*links)} | parts)


STYLES_XML = f"""<w:styles {OOXML_NAMESPACES}>
<w:style w:type="paragraph" w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>
<w:style w:type="paragraph" w:styleId="H2"><w:name w:val="heading 2"/><w:basedOn w:val="berschrift1"/></w:style>
<w:style w:type="paragraph" w:styleId="Mine"><w:name w:val="Mine"/><w:basedOn w:val="H2"/></w:style>
<w:style w:type="paragraph" w:styleId="Toc"><w:name w:val="toc 1"/></w:style>
<w:style w:type="paragraph" w:styleId="Code"><w:name w:val="HTML Preformatted"/></w:style>
<w:style w:type="paragraph" w:styleId="Q"><w:name w:val="Quote"/></w:style>
</w:styles>"""
NUMBERING_XML = f"""<w:numbering {OOXML_NAMESPACES}><w:abstractNum w:abstractNumId="0">
<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/></w:lvl>
<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="lowerLetter"/><w:lvlText w:val="(%2)"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="1"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="1"/></w:num>
</w:numbering>"""


def build_paragraph(text: str, style: str = "", more: str = "") -> str:
    """Return a Word paragraph; `text` may be runs."""
    runs = text if text.startswith("<") else f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'
    return f"<w:p><w:pPr>{f'<w:pStyle w:val={style!r}/>' if style else ''}{more}</w:pPr>{runs}</w:p>"


def build_list_item(text: str, number: int = 2, level: int = 0) -> str:
    """Return a Word list item of list 1, numbered, or 2, with bullets."""
    return build_paragraph(text, more=f'<w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{number}"/></w:numPr>')


def build_table_row(*cells: str) -> str:
    """Return a Word table row; a cell may begin with its properties, followed by `|`."""
    made = ""
    for cell in cells:
        properties, _, text = cell.rpartition("|")
        made += f"<w:tc><w:tcPr>{properties}</w:tcPr>{build_paragraph(text)}</w:tc>"
    return f"<w:tr>{made}</w:tr>"


def build_docx(body: str, links: tuple[tuple[str, str, str], ...] = (), **parts: str) -> bytes:
    contents = {
        "word/document.xml": f"<w:document {OOXML_NAMESPACES}><w:body>{body}</w:body></w:document>",
        "word/styles.xml": STYLES_XML,
        "word/numbering.xml": NUMBERING_XML,
    }
    known = (("s", "styles", "styles.xml"), ("n", "numbering", "numbering.xml"))
    more = {f"word/{name}.xml": f"<w:{name} {OOXML_NAMESPACES}>{content}</w:{name}>" for name, content in parts.items()}
    named = tuple((name, name, f"{name}.xml") for name in parts)
    return build_package("word/document.xml", (*known, *named, *links), contents | more)


def build_shape(text: str, kind: str | None = None) -> str:
    """Return a slide's shape with one paragraph per line, indented by tabs."""
    holder = f'<p:ph type="{kind}"/>' if kind else ""
    lines = [line for line in text.split("\n") if line]
    levels = [(len(line) - len(line.lstrip("\t")), line.strip()) for line in lines]
    said = "".join(f'<a:p><a:pPr lvl="{level}"/><a:r><a:t>{line}</a:t></a:r></a:p>' for level, line in levels)
    return f"<p:sp><p:nvSpPr><p:nvPr>{holder}</p:nvPr></p:nvSpPr><p:txBody>{said}</p:txBody></p:sp>"


def build_diagram(*texts: str) -> str:
    """Return the data of a diagram, each text below the one before it; they are stored in reverse order."""
    points = "".join(
        f'<dgm:pt modelId="{at}"><dgm:t><a:p><a:r><a:t>{text}</a:t></a:r></a:p></dgm:t></dgm:pt>'
        for at, text in reversed([*enumerate(texts, 1)])
    )
    connections = "".join(f'<dgm:cxn srcId="{at}" destId="{at + 1}" srcOrd="0"/>' for at in range(len(texts)))
    listed = f'<dgm:ptLst>{points}<dgm:pt modelId="0" type="doc"/></dgm:ptLst><dgm:cxnLst>{connections}</dgm:cxnLst>'
    return f"<dgm:dataModel {DIAGRAM_NAMESPACE} {OOXML_NAMESPACES}>{listed}</dgm:dataModel>"


def build_slide(*shapes: str, root: str = "sld", more: str = "") -> str:
    return f"<p:{root} {OOXML_NAMESPACES} {more}><p:cSld><p:spTree>{''.join(shapes)}</p:spTree></p:cSld></p:{root}>"


def build_pptx(*slides: str, parts: dict[str, str] | None = None) -> bytes:
    links = tuple((f"s{at}", "slide", f"slides/{at}.xml") for at in range(len(slides)))
    listed = "".join(f'<p:sldId id="{256 + at}" r:id="s{at}"/>' for at in reversed(range(len(slides))))
    main = f"<p:presentation {OOXML_NAMESPACES}><p:sldIdLst>{listed}</p:sldIdLst></p:presentation>"
    contents = {"ppt/presentation.xml": main} | {f"ppt/slides/{at}.xml": each for at, each in enumerate(slides)}
    return build_package("ppt/presentation.xml", links, contents | (parts or {}))


def build_worksheet(*rows: list[Any], after: str = "", before: str = "") -> str:
    """Return a worksheet of numbers, inline texts, and tuples of style and number."""
    made = ""
    for number, cells in enumerate(rows, 1):
        each = ""
        for column, value in enumerate(cells):
            at = f'r="{chr(65 + column)}{number}"'
            if isinstance(value, tuple):
                each += f'<c {at} s="{value[0]}"><v>{value[1]}</v></c>'
            elif isinstance(value, str):
                each += f'<c {at} t="inlineStr"><is><t>{value}</t></is></c>' if value else ""
            else:
                each += f"<c {at}><v>{value}</v></c>"
        made += f'<row r="{number}">{each}</row>' if each else ""
    return f"<worksheet {SHEET_NAMESPACES}>{before}<sheetData>{made}</sheetData>{after}</worksheet>"


CELL_FORMATS_XML = "".join(f'<xf numFmtId="{number}"/>' for number in (0, 14, 22, 10, 164, 46, *range(165, 173)))
STYLESHEET_XML = (
    f'<styleSheet {SHEET_NAMESPACES}><numFmts><numFmt numFmtId="164" formatCode="[$-407]d/ mmmm yyyy;@"/>'
    '<numFmt numFmtId="165" formatCode="#,##0.00\\ &quot;€&quot;"/>'
    '<numFmt numFmtId="166" formatCode="[$CHF-807]\\ #,##0"/>'
    '<numFmt numFmtId="167" formatCode="00000"/>'
    '<numFmt numFmtId="168" formatCode="#,##0.0&quot; kg&quot;"/>'
    '<numFmt numFmtId="169" formatCode="&quot;Pier &quot;0"/>'
    '<numFmt numFmtId="170" formatCode="#,##0.0,&quot; t&quot;"/>'
    '<numFmt numFmtId="171" formatCode="General&quot; nm&quot;"/>'
    '<numFmt numFmtId="172" formatCode="&quot;Yes&quot;;&quot;Yes&quot;;&quot;No&quot;"/></numFmts>'
    f"<cellXfs>{CELL_FORMATS_XML}</cellXfs></styleSheet>"
)


def build_xlsx(
    sheets: dict[str, str], *, states: dict[str, str] | None = None, parts: dict[str, str] | None = None
) -> bytes:
    names = list(sheets)
    listed = "".join(
        f'<sheet name="{name}" sheetId="{at + 1}" r:id="s{at}" state="{(states or {}).get(name, "visible")}"/>'
        for at, name in enumerate(names)
    )
    main = f"<workbook {SHEET_NAMESPACES}><sheets>{listed}</sheets></workbook>"
    links = tuple((f"s{at}", "worksheet", f"worksheets/{at}.xml") for at in range(len(names)))
    contents = {"xl/workbook.xml": main, "xl/styles.xml": STYLESHEET_XML}
    contents |= {f"xl/worksheets/{at}.xml": content for at, content in enumerate(sheets.values())}
    return build_package("xl/workbook.xml", (*links, ("st", "styles", "styles.xml")), contents | (parts or {}))


def build_odf(kind: str, body: str, styles: str = "", **parts: str) -> bytes:
    """Return an OpenDocument file of kind `text`, `spreadsheet` or `presentation`."""
    content = (
        f"<office:document-content {ODF_NAMESPACES}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"
    )
    meta = (
        f"<office:document-meta {ODF_NAMESPACES}><office:meta><dc:title>Harbour</dc:title>"
        "<meta:initial-creator>Ida Marsh</meta:initial-creator><dc:language>en-GB</dc:language>"
        "<meta:creation-date>2024-02-29T12:00:00</meta:creation-date></office:meta></office:document-meta>"
    )
    contents = {"mimetype": f"application/vnd.oasis.opendocument.{kind}", "content.xml": content, "meta.xml": meta}
    return build_zip(contents | {name.replace("__", "/"): each for name, each in parts.items()}, stored=("mimetype",))


def build_epub(chapters: dict[str, str], *, titles: dict[str, str] | None = None, **parts: str) -> bytes:
    """Return a book of XHTML bodies by file name, in spine order; `titles` is its table of contents.

    Pictures, recognized by their names, have the last chapter as a fallback.
    """
    items = "".join(
        f'<item id="i{at}" href="{name}" media-type="image/jpeg" fallback="i{len(chapters) - 1}"/>'
        if name.endswith(".jpg")
        else f'<item id="i{at}" href="{name}" media-type="application/xhtml+xml"/>'
        for at, name in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="i{at}"/>' for at in range(len(chapters)))
    points = "".join(
        f'<navPoint><navLabel><text>{title}</text></navLabel><content src="{name}#top"/></navPoint>'
        for name, title in (titles or {}).items()
    )
    opf = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
        "<dc:title>The Harbour</dc:title><dc:creator>Ida Marsh</dc:creator><dc:creator>Bo Reed</dc:creator>"
        "<dc:language>en</dc:language><dc:date>2024-02-29</dc:date><dc:identifier>urn:isbn:1</dc:identifier>"
        f'</metadata><manifest>{items}<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/></manifest>'
        f'<spine toc="ncx">{spine}</spine></package>'
    )
    ncx = (
        '<!DOCTYPE ncx PUBLIC "-//NISO//DTD ncx 2005-1//EN" "http://www.daisy.org/z3986/2005/ncx-2005-1.dtd">'
        f'<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>{points}</navMap></ncx>'
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OPS/package.opf"/></rootfiles></container>'
    )
    contents = {"mimetype": "application/epub+zip", "META-INF/container.xml": container, "OPS/package.opf": opf}
    pages = {f"OPS/{name}": f"<html><body>{body}</body></html>" for name, body in chapters.items()}
    more = {name.replace("__", "/"): each for name, each in parts.items()}
    return build_zip(contents | {"OPS/toc.ncx": ncx} | pages | more, stored=("mimetype",))


def build_notebook(*cells: dict[str, Any], language: str = "julia") -> bytes:
    return json.dumps({"cells": cells, "metadata": {"language_info": {"name": language}}, "nbformat": 4}).encode()


def build_all_kinds() -> dict[str, bytes]:
    """Return a small document of each kind."""
    return {
        "word": build_docx(
            build_paragraph("Lights", "berschrift1")
            + build_list_item("one")
            + f"<w:tbl>{build_table_row('a', 'b')}{build_table_row('1', '2')}</w:tbl>"
        ),
        "powerpoint": build_pptx(build_slide(build_shape("Lights", "title"), build_shape("one\n\tdeep", "body"))),
        "excel": build_xlsx({"Lights": build_worksheet(["Name", "Height"], ["Wend", 41])}),
        "odt": build_odf("text", "<text:h>Lights</text:h><text:p>The old light</text:p>"),
        "ods": build_odf(
            "spreadsheet",
            '<table:table table:name="L"><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>'
            "</table:table-row></table:table>",
        ),
        "epub": build_epub({"a.xhtml": "<h1>Lights</h1><p>The old light</p>"}),
        "rtf": rb"{\rtf1\ansi{\fonttbl{\f0 A;}}\pard The {\b old} light\par\trowd\intbl a\cell b\cell\row\pard\par}",
        "mail": b"From: Ida <i@h.example>\r\nTo: b@h.example\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n"
        b"Date: Tue, 05 Mar 2024 08:30:00 +0100\r\nMIME-Version: 1.0\r\n\r\nHello\r\n",
        "mbox": b"From i@h.example Tue Mar 05 08:30:00 2024\nFrom: Ida\nSubject: one\n\nHello\n\n"
        b"From i@h.example Tue Mar 05 08:31:00 2024\nFrom: Ida\nSubject: two\n\n>From here\n",
        "notebook": build_notebook(
            {"cell_type": "markdown", "source": "# Lights"}, {"cell_type": "code", "source": "1"}
        ),
        "srt": b"1\n00:00:01,000 --> 00:00:02,500\nThe light\n\n2\n00:00:02,500 --> 00:00:04,000\nis old.\n",
        "vtt": b"WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ida>Hello\n",
        "csv": b"a;b\n1;2\n",
    }
