"""Detect the type of zip archives and compound files (MS-CFB).

Their members decide.
"""

import re

# A name follows 26 bytes after a member's signature, 42 after that of a directory entry (APPNOTE.TXT 4.3.7, 4.3.12).
ZIP_MEMBER = re.compile(rb"PK(?:\x03\x04.{26}|\x01\x02.{42})(?:(word|ppt|xl|Index)[/.]|index\.(?:xml|apxl))", re.DOTALL)
OPENXML_PREFIX = "application/vnd.openxmlformats-officedocument."
OFFICE_FOLDER_TYPES = {
    b"word": f"{OPENXML_PREFIX}wordprocessingml.document",
    b"ppt": f"{OPENXML_PREFIX}presentationml.presentation",
    b"xl": f"{OPENXML_PREFIX}spreadsheetml.sheet",
}
# First records of workbooks without a compound file: of Excel 2, 3, 4, and of later versions by other programs.
BARE_WORKBOOK_STARTS = (
    b"\x09\x00\x04\x00", b"\x09\x02\x06\x00", b"\x09\x04\x06\x00", b"\x09\x08\x08\x00", b"\x09\x08\x10\x00",
)  # fmt: skip
WORKBOOK_2003_TYPE = "application/x-spreadsheet-2003+xml"
IWORK_TYPES = {
    ".pages": "application/x-iwork-pages-sffpages",
    ".numbers": "application/x-iwork-numbers-sffnumbers",
    ".key": "application/x-iwork-keynote-sffkey",
}
TRUNCATED_OPENXML_TYPE = "application/x-openxml-cut"
MIMETYPE_MEMBER = re.compile(rb"application/(?:vnd\.oasis\.opendocument\.[a-z-]{1,40}|epub\+zip)")
# Required members, for archives that do not begin with `mimetype` as they should.
MARKER_MEMBERS = (
    ((b"META-INF/container.xml",), "application/epub+zip"),
    ((b"META-INF/manifest.xml", b"content.xml"), "application/vnd.oasis.opendocument.text"),
)
# Streams of programs with types and suffixes, those that occur inside other programs' files last.
COMPOUND_STREAMS = (
    ("__properties_version1.0", "application/vnd.ms-outlook", (".msg",)),
    ("WordDocument", "application/msword", (".doc", ".dot")),
    ("PowerPoint Document", "application/vnd.ms-powerpoint", (".ppt", ".pps")),
    ("Workbook", "application/vnd.ms-excel", (".xls", ".xlt")),
    ("Book", "application/vnd.ms-excel", (".xls", ".xlt")),
    ("HwpSummaryInformation", "application/x-hwp", (".hwp",)),
    ("EncryptedPackage", "application/x-ole-encrypted", ()),
)


def detect_zip_type(body: bytes, suffix: str) -> str:
    """Return the type of the document in a zip archive, or "".

    A truncated Office Open XML document gives `TRUNCATED_OPENXML_TYPE`.

    Args:
        body: The archive, or its beginning.
        suffix: The suffix of its name, with its dot.
    """
    binary_workbook_type = "application/vnd.ms-excel.sheet.binary.macroenabled.12"
    end_record = b"PK\x05\x06"  # in every complete archive (APPNOTE.TXT 4.3.16)
    end_bytes = 1 << 20  # at both ends, where the first members and the directory are
    if body[30:38] == b"mimetype":  # the first member of OpenDocument (part 2 section 3.3) and EPUB (OCF section 4.2.2)
        mimetype = MIMETYPE_MEMBER.match(body, 38 + int.from_bytes(body[28:30], "little"))
        if mimetype:
            return mimetype[0].decode("ascii")
    ends = body[:end_bytes] + body[-end_bytes:]
    member = ZIP_MEMBER.search(ends)
    if member is None:
        if body[30:49] == b"[Content_Types].xml" and end_record not in ends:
            return TRUNCATED_OPENXML_TYPE
        return next((mime for names, mime in MARKER_MEMBERS if all(name in ends for name in names)), "")
    if member[1] == b"xl" and b"xl/workbook.bin" in body:
        return binary_workbook_type
    return OFFICE_FOLDER_TYPES.get(member[1]) or IWORK_TYPES.get(suffix, "")


def detect_compound_type(body: bytes, declared: str, suffix: str) -> str:
    """Return the type of the document in a compound file, or "".

    Files may embed files of other programs, so a suffix or declared type among the candidates decides.
    """
    # A directory entry begins with its name in UTF-16, padded with zeros to 64 bytes (section 2.6.1).
    candidates = [
        (mime, suffixes) for name, mime, suffixes in COMPOUND_STREAMS if name.encode("utf-16le") + bytes(4) in body
    ]
    for mime, suffixes in candidates:
        if mime == declared or suffix in suffixes:
            return mime
    if candidates:
        return candidates[0][0]
    # The directory may be cut off.
    return next((mime for _, mime, suffixes in COMPOUND_STREAMS if suffix in suffixes), "")
