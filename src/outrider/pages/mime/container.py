"""What kind of document a zip archive or a compound file (MS-CFB) is, by the names of what is in it."""

import re

# A name follows 26 bytes after the mark of a member, 42 after that of an entry in the list (APPNOTE.TXT 4.3.7, 4.3.12).
ZIP_MEMBER = re.compile(rb"PK(?:\x03\x04.{26}|\x01\x02.{42})(?:(word|ppt|xl|Index)[/.]|index\.(?:xml|apxl))", re.DOTALL)
OPENXML_PREFIX = "application/vnd.openxmlformats-officedocument."
OFFICE_FOLDER_TYPES = {
    b"word": f"{OPENXML_PREFIX}wordprocessingml.document",
    b"ppt": f"{OPENXML_PREFIX}presentationml.presentation",
    b"xl": f"{OPENXML_PREFIX}spreadsheetml.sheet",
}
# Records of workbooks without a compound file around them: of Excel 2, 3, 4, and of later ones from other programs.
BARE_WORKBOOK_STARTS = (
    b"\x09\x00\x04\x00", b"\x09\x02\x06\x00", b"\x09\x04\x06\x00", b"\x09\x08\x08\x00", b"\x09\x08\x10\x00",
)  # fmt: skip
WORKBOOK_2003_TYPE = "application/x-spreadsheet-2003+xml"
BINARY_WORKBOOK_TYPE = "application/vnd.ms-excel.sheet.binary.macroenabled.12"
IWORK_TYPES = {
    ".pages": "application/x-iwork-pages-sffpages",
    ".numbers": "application/x-iwork-numbers-sffnumbers",
    ".key": "application/x-iwork-keynote-sffkey",
}
TRUNCATED_OPENXML_TYPE = "application/x-openxml-cut"
MIMETYPE_MEMBER = re.compile(rb"application/(?:vnd\.oasis\.opendocument\.[a-z-]{1,40}|epub\+zip)")
# What the two hold in any case, for those that were packed without care for the order.
MARKER_MEMBERS = (
    ((b"META-INF/container.xml",), "application/epub+zip"),
    ((b"META-INF/manifest.xml", b"content.xml"), "application/vnd.oasis.opendocument.text"),
)
# Streams by which programs are known, those that stand inside of another program's files last; then their suffixes.
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
    """The type of the document that a zip archive is; empty if it is none that is known, `CUT` if its end is missing.

    Args:
        body: The archive, or its beginning.
        suffix: The suffix of its name, with its dot.
    """
    end_record = b"PK\x05\x06"  # of every archive that is whole (APPNOTE.TXT 4.3.16)
    end_bytes = (
        1 << 20
    )  # bytes at both ends of an archive that are searched: where first members and the list of all stand
    if body[30:38] == b"mimetype":  # the first member of OpenDocument (part 2 section 3.3) and EPUB (OCF section 4.2.2)
        found = MIMETYPE_MEMBER.match(body, 38 + int.from_bytes(body[28:30], "little"))
        if found:
            return found[0].decode("ascii")
    ends = body[:end_bytes] + body[-end_bytes:]
    member = ZIP_MEMBER.search(ends)
    if member is None:
        if body[30:49] == b"[Content_Types].xml" and end_record not in ends:
            return TRUNCATED_OPENXML_TYPE
        return next((mime for names, mime in MARKER_MEMBERS if all(name in ends for name in names)), "")
    if member[1] == b"xl" and b"xl/workbook.bin" in body:
        return BINARY_WORKBOOK_TYPE
    return OFFICE_FOLDER_TYPES.get(member[1]) or IWORK_TYPES.get(suffix, "")


def detect_compound_type(body: bytes, declared: str, suffix: str) -> str:
    """The type of the document that a compound file is; empty if it is none that is known.

    Files may hold other programs' files, so a name or a declared type that fits what is found decides.
    """
    found = [each for each in COMPOUND_STREAMS if _has_stream(body, each[0])]
    for _, mime, suffixes in found:
        if mime == declared or suffix in suffixes:
            return mime
    named = (mime for _, mime, suffixes in COMPOUND_STREAMS if suffix in suffixes)  # of one whose directory is cut away
    return found[0][1] if found else next(named, "")


def _has_stream(body: bytes, name: str) -> bool:
    """Whether the directory has an entry of that name: UTF-16, padded with zeros to 64 bytes (section 2.6.1)."""
    text = name.encode("utf-16le")
    return text + bytes(4) in body
