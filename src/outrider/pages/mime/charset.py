"""Bytes to text, as encoding.spec.whatwg.org and html.spec.whatwg.org's encoding sniffing say.

Order: byte order mark, the transport's word, the document's own word, UTF-8 if it fits, a detector.
Declared charsets are believed only as far as the text does not contradict them: one with letters
beyond ASCII that decodes as UTF-8 with hardly a fault is UTF-8, whatever a server's default header says; words that are
all letters beyond ASCII are no Latin-1, nor is Polish or Turkish, and no Russian is written in capitals that begin
small. Text that is half zeros is UTF-16, and escapes to Japanese are ISO-2022-JP.
Resiliparse's detector knows no EUC-KR, no EUC-JP and nothing of a Macintosh or of DOS, and mistakes charsets of Latin
letters for one another, which is why their languages decide (`alphabets`). Of 3,378 samples, 80 to 3,000 characters of
translated messages of free programs in 42 languages and 31 charsets, it told 2,018 alone, all of these together 3,230.
"""

import codecs
import re
from contextlib import suppress
from functools import lru_cache

import webencodings
from resiliparse.parse.encoding import detect_encoding
from resiliparse.parse.lang import detect_fast

from outrider.pages.mime import latin_charsets

ASCII_CHARS = "".join(map(chr, range(128)))
DECLARATION_BYTES = 4_096  # bytes in which a declaration may stand; the standard says 1,024, real pages need more
BYTE_ORDER_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16le"), (b"\xfe\xff", "utf-16be"))
META_CHARSET = re.compile(rb"""<meta[^>]{0,500}?charset\s*=\s*["']?\s*([\w:.-]{1,40})""", re.IGNORECASE)
XML_ENCODING = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w:.-]{1,40})""")
# Four bytes a letter: browsers read none of these, but they are no other text either.
UTF32_MARKS = ((b"\xff\xfe\0\0", "utf-32le"), (b"\0\0\xfe\xff", "utf-32be"))
UTF16_NAMES = frozenset({"utf-16le", "utf-16be"})
FALLBACK_CHARSET = "windows-1252"
NON_ASCII_BYTE = re.compile(rb"[\x80-\xff]")
UTF8_LETTER = re.compile(
    rb"[\xc2-\xdf][\x80-\xbf]|[\xe1-\xef][\x80-\xbf]{2}|\xf0[\x90-\xbf][\x80-\xbf]{2}"
)  # letters in UTF-8
NON_ASCII_RUN = re.compile(
    rb"[\x80-\xff]{3,}"
)  # letters of another script: words in Latin letters have one or two of these
EUC_JP_KANA = re.compile(rb"[\xa4\xa5][\xa1-\xf6]")  # in EUC-JP; Chinese and Korean have next to none there
ISO_2022_JP_ESCAPE = re.compile(rb"\x1b\$[@B][\x21-\x7e]")  # the beginning of Japanese in ISO-2022-JP
TAG_CHARS, TAG_BYTES = re.compile(r"<[^>]{0,500}>"), re.compile(rb"<[^>]{0,500}>")
LATIN_LETTER = re.compile(rb"[A-Za-z]")
MAC_LOWERCASE, MAC_YA = re.compile(rb"[\xdf-\xfe]"), re.compile(rb"[\xe0-\xfe]\xdf")
# Encodings that a page is in where its server calls it Latin-1, and the languages that Latin-1 cannot write.
REGIONAL_LANGUAGES = {
    **dict.fromkeys(("windows-1250", "iso-8859-2"), frozenset({"pl", "cs", "sk", "hu", "sl", "hr", "ro"})),
    **dict.fromkeys(("windows-1257", "iso-8859-4", "iso-8859-13"), frozenset({"lt", "lv", "et"})),
    "windows-1254": frozenset({"tr", "az"}),
}
KOI8_U_LETTER = re.compile(
    rb"[\xc0-\xff][\xa4\xa6\xa7\xad]|[\xa4\xa6\xa7\xad][\xc0-\xff]"
)  # letters in KOI8-U, lines in KOI8-R
UTF16_HEAD_BYTES, WIDE_LEAST = 512, 16  # bytes of which up to half are zeros in UTF-16; fewer do not tell
CONTROL_CHAR = re.compile("[\x00-\x08\x0b\x0e-\x1f\ufffd]")


def decode_body(body: bytes, declared: str | None = None, *, markup: bool = True) -> tuple[str, str]:
    """The text of a body and the name of the encoding that was used. Never raises.

    Args:
        body: The bytes.
        declared: The charset that the transport declared; unknown labels are ignored.
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
    """Whether a body may be handed on as UTF-8 without a look at what it declares: neither UTF-16 nor ISO-2022-JP."""
    return b"\0" not in body[:UTF16_HEAD_BYTES] and b"\x1b" not in body and _is_utf8(body)


def detect_wide_charset(body: bytes) -> str:
    """The name of the UTF-16 or UTF-32 that bytes without a mark are in; empty if they are in none.

    In UTF-16 markup, or any text with spaces in it, has zeros in every second place, hardly any in the others, and
    no other characters that steer.
    """
    head = body[: min(UTF16_HEAD_BYTES, len(body) // 2 * 2)]
    if len(head) < WIDE_LEAST or b"\0" not in head:
        return ""
    if four := _detect_utf32(head[: len(head) // 4 * 4]):
        return four
    even, odd = head[::2].count(0), head[1::2].count(0)
    few, many = sorted((even, odd))
    name = "utf-16le" if odd > even else "utf-16be"
    if few * 20 >= many or many * 40 < len(head) or CONTROL_CHAR.search(_decode_as(head, name)[:-1]):
        return ""
    return name


def _detect_utf32(head: bytes) -> str:
    """The UTF-32 that bytes are in: every fourth is zero, and each four of them are a character that is no steering."""
    for start, name in ((3, "utf-32le"), (0, "utf-32be")):
        if any(head[start::4]):
            continue
        with suppress(UnicodeDecodeError):
            return "" if CONTROL_CHAR.search(head.decode(name)) else name
    return ""


def _choose_charset(body: bytes, declared: str | None, *, markup: bool) -> str:
    named = _normalize_label(declared) or (_find_declared_charset(body) if markup else None)
    if named in UTF16_NAMES:
        return named
    if unmarked := detect_wide_charset(body):
        return unmarked
    if _is_utf8(body):
        return _of_ascii(body, named) if body.isascii() else "utf-8"
    if _is_nearly_utf8(body):
        return "utf-8"
    if named and named != "utf-8":
        inside = (
            _find_declared_charset(body) if markup and named == FALLBACK_CHARSET else None
        )  # a server's default; the author knew better
        return _verify_declared(body, inside if inside and inside != "utf-8" else named)
    return _detect_charset(body, fallback=named)


def _of_ascii(body: bytes, named: str | None) -> str:
    """Of seven bits only ISO-2022-JP makes more than ASCII, where it is declared or begins Japanese."""
    return "iso-2022-jp" if named == "iso-2022-jp" or ISO_2022_JP_ESCAPE.search(body) else "utf-8"


def _is_nearly_utf8(body: bytes) -> bool:
    """Whether a few bytes are broken in what else is UTF-8: four letters and more for each."""
    sample = _take_sample(body)
    broken = sample.decode("utf-8", "replace").count("\ufffd")
    return broken * 5 < len(UTF8_LETTER.findall(sample))


def _verify_declared(body: bytes, named: str) -> str:
    """The declared encoding, unless the text contradicts it as a whole."""
    cyrillic_charsets = frozenset({"windows-1251", "koi8-r", "koi8-u", "iso-8859-5", "ibm866", "x-mac-cyrillic"})
    sample = _take_sample(body)
    if named == FALLBACK_CHARSET:
        return _verify_latin1(sample, body)
    if named in cyrillic_charsets and _has_swapped_case(_decode_as(sample, named)):
        found = _detect_charset(body, fallback=named)
        return found if found in cyrillic_charsets and not _has_swapped_case(_decode_as(sample, found)) else named
    return named


def _verify_latin1(sample: bytes, body: bytes) -> str:
    """What a page is in that is called Latin-1, which is often but a server's default."""
    min_non_ascii = 20  # bytes beyond ASCII from which these tell anything
    beyond = len(sample) - len(sample.decode("ascii", "ignore"))
    if beyond < min_non_ascii:
        return FALLBACK_CHARSET
    found = _detect_charset(body, fallback=FALLBACK_CHARSET)
    runs = sum(map(len, NON_ASCII_RUN.findall(sample)))
    if runs * 2 > beyond or found == FALLBACK_CHARSET:
        return found
    return (
        found if _detect_language(_decode_as(sample, found)) in REGIONAL_LANGUAGES.get(found, ()) else FALLBACK_CHARSET
    )


def _detect_language(text: str) -> str:
    max_chars = 20_000  # characters of which the language is told
    return str(detect_fast(TAG_CHARS.sub(" ", text[:max_chars]), cutoff=2_000)[0])


def _has_swapped_case(text: str) -> bool:
    """Whether small letters and capitals have changed places, as in the wrong one of Russian's encodings."""
    letters = [letter for letter in text if letter > "\x7f" and letter.isalpha()]
    wrong = len(re.findall(r"\b[\u0430-\u044f][\u0410-\u042f]{2}", text))
    right = len(re.findall(r"\b[\u0410-\u042f][\u0430-\u044f]{2}", text))
    return wrong > right and sum(map(str.isupper, letters)) * 5 > len(letters) * 4


def _take_sample(body: bytes) -> bytes:
    """The part of a body that is looked at: around its first letter beyond ASCII, and behind it."""
    sample_bytes = 65_536  # bytes that the detector looks at
    found = NON_ASCII_BYTE.search(body)
    start = found.start() if found else 0
    return body[max(0, start - DECLARATION_BYTES) : start + sample_bytes]


def _find_declared_charset(body: bytes) -> str | None:
    """What the document says about itself; UTF-16 there is a lie, since we could read it (HTML standard)."""
    head = body[:DECLARATION_BYTES]
    found = META_CHARSET.search(head) or XML_ENCODING.search(head)
    name = _normalize_label(found[1].decode("ascii")) if found else None
    return "utf-8" if name in UTF16_NAMES else name


def _is_utf8(body: bytes) -> bool:
    """Whether the body is UTF-8; a cut in the last letter is forgiven."""
    chunk_bytes = 4_096  # bytes that are tried as UTF-8 together: most pieces of a page are ASCII, which takes no time
    if body.isascii():
        return True
    at = 0
    while at < len(body):
        end = at + chunk_bytes
        while end < len(body) and body[end] & 0xC0 == 0x80:  # inside of a letter
            end += 1
        try:
            body[at:end].decode("utf-8")
        except UnicodeDecodeError as error:
            return at + error.end >= len(body) and len(body) - at - error.start < 4 and at + error.start > 0
        at = end
    return True


def _detect_charset(body: bytes, *, fallback: str | None) -> str:
    """A declared UTF-8 with a few broken bytes stays UTF-8; anything else is guessed."""
    if fallback == "utf-8" and body.decode("utf-8", "replace").count("\ufffd") * 20 < len(body) - len(
        body.decode("ascii", "ignore")
    ):
        return "utf-8"

    sample = _take_sample(body)
    if _is_euc_jp(sample):
        return "euc-jp"
    if _is_latin(sample) and (likely := latin_charsets.detect_latin_charset(sample)):
        return likely
    found = _normalize_label(detect_encoding(sample)) or FALLBACK_CHARSET
    found = found if found != "utf-8" else _detect_euc_kr(sample) or FALLBACK_CHARSET
    if found == "koi8-r" and len(KOI8_U_LETTER.findall(sample)) * 100 > len(NON_ASCII_BYTE.findall(sample)):
        return "koi8-u"
    if found in ("windows-1251", FALLBACK_CHARSET) and _is_mac_cyrillic(sample):
        return "x-mac-cyrillic"
    return found


def _is_mac_cyrillic(sample: bytes) -> bool:
    """Whether `\u044f` stands where Windows has the capital: but for it, the small letters of both are the same."""
    small = len(MAC_LOWERCASE.findall(sample))
    return len(MAC_YA.findall(sample)) * 200 > small and small * 2 > len(NON_ASCII_BYTE.findall(sample))


def _is_latin(sample: bytes) -> bool:
    """Whether words are of Latin letters, and hardly one has more than two others together."""
    beyond, runs = len(NON_ASCII_BYTE.findall(sample)), sum(map(len, NON_ASCII_RUN.findall(sample)))
    return beyond < len(LATIN_LETTER.findall(TAG_BYTES.sub(b" ", sample))) and runs * 4 <= beyond


def _is_euc_jp(sample: bytes) -> bool:
    """EUC-JP is one that the detector does not know: a fifth of the letters of Japanese are kana."""
    beyond = len(NON_ASCII_BYTE.findall(sample))
    return (
        len(EUC_JP_KANA.findall(sample)) * 10 > beyond > 0
        and _decode_as(sample, "euc-jp").count("\ufffd") * 50 < beyond
    )


def _detect_euc_kr(sample: bytes) -> str | None:
    """EUC-KR is the other: the detector says UTF-8, which the body is known not to be."""
    letters = [letter for letter in _decode_as(sample, "euc-kr") if letter > "\x7f"]
    hangul = sum("\uac00" <= letter <= "\ud7a3" for letter in letters)
    return "euc-kr" if hangul * 10 > len(letters) * 8 else None


@lru_cache(maxsize=256)
def _normalize_label(label: str | None) -> str | None:
    """The standard's name for a label; None for unknown ones and for `replacement`."""
    found = webencodings.lookup(label) if label else None
    return found.name if found and found.name not in ("replacement", "x-user-defined") else None


def _decode_as(body: bytes, name: str) -> str:
    if name in latin_charsets.CHARSET_TABLES:
        return codecs.charmap_decode(body, "replace", ASCII_CHARS + latin_charsets.CHARSET_TABLES[name])[0]
    found = webencodings.lookup(name)
    return (found.codec_info if found else codecs.lookup(name)).decode(body, "replace")[0]
