"""Decode bytes by the encoding and HTML standards.

Declared charsets are checked.

The order is: byte order mark, transport, the document itself, UTF-8 if it fits, a detector (encoding.spec.whatwg.org
and the encoding sniffing of html.spec.whatwg.org). A declared charset counts only as far as the text does not
contradict it. Text with non-ASCII letters that decodes as UTF-8 almost without errors is UTF-8, whatever a server's
default says. Words that consist only of non-ASCII letters are not Latin-1, nor are Polish and Turkish, and Russian is
not written with swapped case. Text with half of its bytes zero is UTF-16, and escapes to Japanese are ISO-2022-JP.

The detector confuses charsets of Latin letters, so the language of the text decides between those (`latin_charsets`).
"""

import codecs
import re
from contextlib import suppress
from functools import lru_cache

import webencodings

from outrider.core.charset import detect_legacy_charset
from outrider.core.language import identify_language
from outrider.pages.mime import latin_charsets

DECLARATION_BYTES = 4_096  # the standard says 1,024, but real pages need more
BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16le"), (b"\xfe\xff", "utf-16be"))
META_CHARSET = re.compile(rb"""<meta[^>]{0,500}?charset\s*=\s*["']?\s*([\w:.-]{1,40})""", re.IGNORECASE)
XML_ENCODING = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w:.-]{1,40})""")
# Browsers do not read UTF-32, but these bytes are not any other text.
UTF32_MARKS = ((b"\xff\xfe\0\0", "utf-32le"), (b"\0\0\xfe\xff", "utf-32be"))
UTF16_NAMES = frozenset({"utf-16le", "utf-16be"})
FALLBACK_CHARSET = "windows-1252"
NON_ASCII_BYTE = re.compile(rb"[\x80-\xff]")
UTF8_LETTER = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe1-\xef][\x80-\xbf]{2}|\xf0[\x90-\xbf][\x80-\xbf]{2}")
NON_ASCII_RUN = re.compile(rb"[\x80-\xff]{3,}")  # words in Latin letters have one or two in a row
EUC_JP_KANA = re.compile(rb"[\xa4\xa5][\xa1-\xf6]")  # rarely used in Chinese and Korean
ISO_2022_JP_ESCAPE = re.compile(rb"\x1b\$[@B][\x21-\x7e]")
TAG_CHARS, TAG_BYTES = re.compile(r"<[^>]{0,500}>"), re.compile(rb"<[^>]{0,500}>")
LATIN_LETTER = re.compile(rb"[A-Za-z]")
MAC_LOWERCASE, MAC_YA = re.compile(rb"[\xdf-\xfe]"), re.compile(rb"[\xe0-\xfe]\xdf")
# Actual charsets of pages declared as Latin-1, with the languages that Latin-1 cannot write.
REGIONAL_LANGUAGES = {
    **dict.fromkeys(("windows-1250", "iso-8859-2"), frozenset({"pl", "cs", "sk", "hu", "sl", "hr", "ro"})),
    **dict.fromkeys(("windows-1257", "iso-8859-4", "iso-8859-13"), frozenset({"lt", "lv", "et"})),
    "windows-1254": frozenset({"tr", "az"}),
}
KOI8_U_LETTER = re.compile(rb"[\xc0-\xff][\xa4\xa6\xa7\xad]|[\xa4\xa6\xa7\xad][\xc0-\xff]")  # box lines in KOI8-R
UTF16_HEAD_BYTES = 512
CONTROL_CHAR = re.compile("[\x00-\x08\x0b\x0e-\x1f\ufffd]")


def decode_body(body: bytes, declared: str | None = None, *, markup: bool = True) -> tuple[str, str]:
    """Return the text of a body and the name of its encoding. Never raises.

    Args:
        body: The bytes.
        declared: The charset that the transport declared. Unknown labels are ignored.
        markup: Whether the body may declare its charset itself, as HTML and XML do.
    """
    for mark, name in UTF32_MARKS:
        if body.startswith(mark):
            return body[len(mark) :].decode(name, "replace"), name
    for mark, name in BYTE_ORDER_MARKS:
        if body.startswith(mark):
            return _decode_as(body[len(mark) :], name), name
    name = _choose_charset(body, declared, markup=markup)
    return _decode_as(body, name), name


def is_plain_utf8(body: bytes) -> bool:
    """Return whether a body is UTF-8 despite its declaration, and neither UTF-16 nor ISO-2022-JP."""
    return b"\0" not in body[:UTF16_HEAD_BYTES] and b"\x1b" not in body and _is_utf8(body)


def detect_wide_charset(body: bytes) -> str:
    """Return the UTF-16 or UTF-32 charset of bytes without a byte order mark, or "".

    In UTF-16, markup and text with spaces have zeros at every second byte, few others, and no other control characters.
    """
    min_bytes = 16
    head = body[: min(UTF16_HEAD_BYTES, len(body) // 2 * 2)]
    if len(head) < min_bytes or b"\0" not in head:
        return ""
    if utf32_name := _detect_utf32(head[: len(head) // 4 * 4]):
        return utf32_name
    even, odd = head[::2].count(0), head[1::2].count(0)
    few, many = sorted((even, odd))
    name = "utf-16le" if odd > even else "utf-16be"
    if few * 20 >= many or many * 40 < len(head) or CONTROL_CHAR.search(_decode_as(head, name)[:-1]):
        return ""
    return name


def _detect_utf32(head: bytes) -> str:
    """Return the UTF-32 charset in which every fourth byte is zero and no control character occurs, or ""."""
    for start, name in ((3, "utf-32le"), (0, "utf-32be")):
        if any(head[start::4]):
            continue
        with suppress(UnicodeDecodeError):
            return "" if CONTROL_CHAR.search(head.decode(name)) else name
    return ""


def _choose_charset(body: bytes, declared: str | None, *, markup: bool) -> str:
    name = _normalize_label(declared) or (_find_declared_charset(body) if markup else None)
    if name in UTF16_NAMES:
        return name
    if wide_name := detect_wide_charset(body):
        return wide_name
    if _is_utf8(body):
        # Of the charsets of seven bits, only ISO-2022-JP has more than ASCII.
        is_japanese = body.isascii() and (name == "iso-2022-jp" or ISO_2022_JP_ESCAPE.search(body))
        return "iso-2022-jp" if is_japanese else "utf-8"
    sample = _take_sample(body)
    broken = sample.decode("utf-8", "replace").count("\ufffd")
    if broken * 5 < len(UTF8_LETTER.findall(sample)):  # at most one broken byte for five letters
        return "utf-8"
    if name and name != "utf-8":
        if markup and name == FALLBACK_CHARSET:  # often a server's default, so the document's own declaration is better
            own_name = _find_declared_charset(body)
            name = own_name if own_name and own_name != "utf-8" else name
        return _verify_declared(body, name)
    return _detect_charset(body, fallback=name)


def _verify_declared(body: bytes, name: str) -> str:
    """Return the declared charset unless the text as a whole contradicts it."""
    cyrillic_charsets = frozenset({"windows-1251", "koi8-r", "koi8-u", "iso-8859-5", "ibm866", "x-mac-cyrillic"})
    sample = _take_sample(body)
    if name == FALLBACK_CHARSET:
        return _verify_latin1(sample, body)
    if name in cyrillic_charsets and _has_swapped_case(_decode_as(sample, name)):
        detected = _detect_charset(body, fallback=name)
        if detected in cyrillic_charsets and not _has_swapped_case(_decode_as(sample, detected)):
            return detected
    return name


def _verify_latin1(sample: bytes, body: bytes) -> str:
    """Return the charset of a page declared as Latin-1.

    The declaration is often only a server's default.
    """
    min_non_ascii = 20  # fewer bytes are not conclusive
    non_ascii = len(sample) - len(sample.decode("ascii", "ignore"))
    if non_ascii < min_non_ascii:
        return FALLBACK_CHARSET
    detected = _detect_charset(body, fallback=FALLBACK_CHARSET)
    bytes_in_runs = sum(map(len, NON_ASCII_RUN.findall(sample)))
    if bytes_in_runs * 2 > non_ascii or detected == FALLBACK_CHARSET:
        return detected
    max_chars = 20_000  # for the detection of the language
    text = TAG_CHARS.sub(" ", _decode_as(sample, detected)[:max_chars])
    return detected if identify_language(text)[0] in REGIONAL_LANGUAGES.get(detected, ()) else FALLBACK_CHARSET


def _has_swapped_case(text: str) -> bool:
    """Return whether lower and upper case are swapped, as in the wrong Russian charset."""
    letters = [letter for letter in text if letter > "\x7f" and letter.isalpha()]
    wrong = len(re.findall(r"\b[\u0430-\u044f][\u0410-\u042f]{2}", text))
    right = len(re.findall(r"\b[\u0410-\u042f][\u0430-\u044f]{2}", text))
    return wrong > right and sum(map(str.isupper, letters)) * 5 > len(letters) * 4


def _take_sample(body: bytes) -> bytes:
    """Return the part of a body around and after its first non-ASCII byte."""
    sample_bytes = 65_536
    first = NON_ASCII_BYTE.search(body)
    start = first.start() if first else 0
    return body[max(0, start - DECLARATION_BYTES) : start + sample_bytes]


def _find_declared_charset(body: bytes) -> str | None:
    """Return the charset that the document declares. UTF-16 there means UTF-8 (HTML standard)."""
    head = body[:DECLARATION_BYTES]
    match = META_CHARSET.search(head) or XML_ENCODING.search(head)
    name = _normalize_label(match[1].decode("ascii")) if match else None
    return "utf-8" if name in UTF16_NAMES else name


def _is_utf8(body: bytes) -> bool:
    """Return whether the body is UTF-8, apart from a truncated last character."""
    chunk_bytes = 4_096  # most chunks of a page are ASCII, which is fast to decode
    if body.isascii():
        return True
    at = 0
    while at < len(body):
        end = at + chunk_bytes
        while end < len(body) and body[end] & 0xC0 == 0x80:  # inside a character
            end += 1
        try:
            body[at:end].decode("utf-8")
        except UnicodeDecodeError as error:
            return at + error.end >= len(body) and len(body) - at - error.start < 4 and at + error.start > 0
        at = end
    return True


def _detect_charset(body: bytes, *, fallback: str | None) -> str:
    """Detect the charset of a body. A declared UTF-8 with a few broken bytes stays UTF-8."""
    if fallback == "utf-8" and body.decode("utf-8", "replace").count("\ufffd") * 20 < len(body) - len(
        body.decode("ascii", "ignore")
    ):
        return "utf-8"

    sample = _take_sample(body)
    if _is_euc_jp(sample):
        return "euc-jp"
    if _is_latin(sample) and (likely := latin_charsets.detect_latin_charset(sample)):
        return likely
    encoding = detect_legacy_charset(sample)
    name = encoding.name if encoding else FALLBACK_CHARSET
    if name == "koi8-r" and len(KOI8_U_LETTER.findall(sample)) * 100 > len(NON_ASCII_BYTE.findall(sample)):
        return "koi8-u"
    if name in ("windows-1251", FALLBACK_CHARSET) and _is_mac_cyrillic(sample):
        return "x-mac-cyrillic"
    return name


def _is_mac_cyrillic(sample: bytes) -> bool:
    """Return whether U+044F has its Macintosh code, the only lower-case letter that differs from Windows."""
    lowercase = len(MAC_LOWERCASE.findall(sample))
    return len(MAC_YA.findall(sample)) * 200 > lowercase and lowercase * 2 > len(NON_ASCII_BYTE.findall(sample))


def _is_latin(sample: bytes) -> bool:
    """Return whether words consist of Latin letters.

    They have hardly more than two others in a row.
    """
    non_ascii = len(NON_ASCII_BYTE.findall(sample))
    bytes_in_runs = sum(map(len, NON_ASCII_RUN.findall(sample)))
    return non_ascii < len(LATIN_LETTER.findall(TAG_BYTES.sub(b" ", sample))) and bytes_in_runs * 4 <= non_ascii


def _is_euc_jp(sample: bytes) -> bool:
    """Return whether the text is EUC-JP, which the detector does not know: a fifth of Japanese is kana."""
    non_ascii = len(NON_ASCII_BYTE.findall(sample))
    has_kana = len(EUC_JP_KANA.findall(sample)) * 10 > non_ascii > 0
    return has_kana and _decode_as(sample, "euc-jp").count("\ufffd") * 50 < non_ascii


@lru_cache(maxsize=256)
def _normalize_label(label: str | None) -> str | None:
    """Return the standard's name for a label, or None for unknown ones and `replacement`."""
    encoding = webencodings.lookup(label) if label else None
    return encoding.name if encoding and encoding.name not in ("replacement", "x-user-defined") else None


def _decode_as(body: bytes, name: str) -> str:
    if name in latin_charsets.CHARSET_TABLES:
        table = latin_charsets.ASCII_CHARS + latin_charsets.CHARSET_TABLES[name]
        return codecs.charmap_decode(body, "replace", table)[0]
    encoding = webencodings.lookup(name)
    return (encoding.codec_info if encoding else codecs.lookup(name)).decode(body, "replace")[0]
