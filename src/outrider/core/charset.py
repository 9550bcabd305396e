"""Detect charsets other than UTF-8, by uchardet and by script."""

import re

import cchardet
import webencodings

# Charsets whose non-ASCII letters almost all belong to one script, unless the text is in another charset.
SCRIPT_CHARSETS = (
    ("euc-kr", re.compile("[\uac00-\ud7a3]")),
    ("windows-1256", re.compile("[\u0600-\u06ff]")),
    ("windows-874", re.compile("[\u0e01-\u0e5b]")),
)


def detect_legacy_charset(body: bytes) -> webencodings.Encoding | None:
    """Return the charset of bytes that are known not to be UTF-8, or None.

    Uchardet sometimes mistakes Persian, Urdu and Korean for broken UTF-8, and Thai for IBM855, so these are detected by
    script.
    """
    max_bytes = 65_536
    standard_labels = {"UHC": "euc-kr", "maccyrillic": "x-mac-cyrillic"}  # for names that the encoding standard lacks
    sample = body[:max_bytes]
    label = cchardet.detect(sample)["encoding"] or ""
    encoding = webencodings.lookup(standard_labels.get(label, label))
    return encoding if encoding and encoding.name not in ("utf-8", "replacement") else _find_script_charset(sample)


def _find_script_charset(sample: bytes) -> webencodings.Encoding | None:
    """Return the charset whose script at least four fifths of the non-ASCII letters have."""
    for label, letter in SCRIPT_CHARSETS:
        encoding = webencodings.lookup(label)
        text = encoding.codec_info.decode(sample, "replace")[0]
        letters = [each for each in text if each > "\x7f" and (each.isalpha() or each == "\ufffd")]
        if len(letter.findall("".join(letters))) * 5 > len(letters) * 4:
            return encoding
    return None
