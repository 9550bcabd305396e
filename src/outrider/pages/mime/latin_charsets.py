"""Detect the charset of a text in Latin letters by its language.

A byte detector confuses these charsets: `é` of Macintosh is `Ž` of Windows, and both are letters. But the ASCII letters
of such a text already reveal its language, which uses few others. So each charset is tried with each language, and the
pair wins whose letters belong to the language and whose punctuation is where punctuation can be.
"""

import codecs
import re
from collections import Counter
from dataclasses import dataclass
from functools import cache

import webencodings

from outrider.core.language import identify_language

ASCII_CHARS = "".join(map(chr, range(128)))
WESTERN_CHARSETS = ("windows-1252", "macintosh", "cp850")
CENTRAL_EUROPEAN_CHARSETS = ("windows-1250", "iso-8859-2", "mac_latin2", "cp852")
BALTIC_CHARSETS = ("windows-1257", "iso-8859-13", "cp775")
LANGUAGE_LETTERS = {  # the letters next to a to z, by language (ISO 639-1)
    WESTERN_CHARSETS: {
        "de": "äöüß", "fr": "àâæçéèêëîïôœùûüÿ", "es": "áéíóñúü¿¡ºª", "it": "àèéìòóùî", "pt": "áâãàçéêíóôõúüºª",
        "nl": "áéëïíóöüèê", "sv": "åäöé", "fi": "åäö", "da": "æøåé", "no": "æøåéòô", "is": "áðéíóúýþæö", "ga": "áéíóú",
        "ca": "àçèéíïòóúü·", "gl": "áéíóúñü", "eu": "ñç", "id": "é", "en": "éèêïöñçâ£", "sq": "ëç",
    },
    CENTRAL_EUROPEAN_CHARSETS: {
        "pl": "ąćęłńóśźż", "cs": "áčďéěíňóřšťúůýž", "sk": "áäčďéíĺľňóôŕšťúýž", "hu": "áéíóöőúüű", "sl": "čšž",
        "hr": "čćšžđ", "ro": "ăâîşţ",
    },
    BALTIC_CHARSETS: {"lt": "ąčęėįšųūž", "lv": "āčēģīķļņšūž"},
    ("windows-1252", "windows-1257", "macintosh"): {"et": "äõöüšž"},
    ("windows-1254", "mac_turkish", "cp857"): {"tr": "çğıöşüâîİ"},
    ("iso-8859-3",): {"eo": "ĉĝĥĵŝŭ"},
    ("windows-1258", "viscii", "tcvn"): {
        "vi": "àảãáạăằẳẵắặâầẩẫấậèẻẽéẹêềểễếệìỉĩíịòỏõóọôồổỗốộơờởỡớợùủũúụưừửữứựỳỷỹýỵđ\u0300\u0301\u0303\u0309\u0323"
    },
}  # fmt: skip
# Python has no codecs for these: RFC 1456 without its six capitals among control characters, and TCVN 5712-1.
CHARSET_TABLES = {
    "viscii": "ẠẮẰẶẤẦẨẬẼẸẾỀỂỄỆỐỒỔỖỘỢỚỜỞỊỎỌỈỦŨỤỲÕắằặấầẩậẽẹếềểễệốồổỗỠƠộờởịỰỨỪỬơớƯ"
    "ÀÁÂÃẢĂẳẵÈÉÊẺÌÍĨỳĐứÒÓÔạỷừửÙÚỹỵÝỡưàáâãảăữẫèéêẻìíĩỉđựòóôõỏọụùúũủýợỮ",
    "tcvn": "ÀẢÃÁẠẶẬÈẺẼÉẸỆÌỈĨÍỊÒỎÕÓỌỘỜỞỠỚỢÙỦŨ\xa0ĂÂÊÔƠƯĐăâêôơưđẶ\u0300\u0309\u0303\u0301\u0323àảãáạẲằẳẵắẴ"
    "ẮẦẨẪẤỀặầẩẫấậèỂẻẽéẹềểễếệìỉỄẾỒĩíịòỔỏõóọồổỗốộờởỡớợùỖủũúụừửữứựỳỷỹýỵỐ",
}  # fmt: skip
PUNCTUATION_MARKS = frozenset("“”„‘’«»–—…•©®€£§°½×™\xa0‚‹›†¡¿´")
INNER_MARKS = frozenset("’·–—…\ufffd")  # possible between two letters
INNER_BYTE = re.compile(rb"(?<=[A-Za-z\x80-\xff])[\x80-\xff](?=[A-Za-z\x80-\xff])")
LOWERCASE_BYTE = re.compile(rb"(?<=[a-z])[\x80-\xff](?=[a-z])")  # cannot be a capital
NON_ASCII_BYTE = re.compile(rb"[\x80-\xff]")
TAG_BYTES = re.compile(rb"<[^>]{0,500}>")


@dataclass(frozen=True)
class ByteCounts:
    """Counts of non-ASCII bytes: all of them, those between two letters, and those between lower-case letters."""

    all: Counter[int]
    inner: Counter[int]
    lower: Counter[int]

    def score_charset(self, table: str, letters: frozenset[str]) -> float:
        """Score how well bytes fit a charset and a language.

        The score is 1 if all are letters of the language.
        """
        punctuation_weight = 0.6  # of a letter's
        total = 0.0
        for byte, count in self.all.items():
            character = table[byte - 128]
            total += count * (1.0 if character in letters else punctuation_weight * (character in PUNCTUATION_MARKS))
        for byte, count in self.inner.items():
            character = table[byte - 128]
            if not character.isalpha() and character not in letters and character not in INNER_MARKS:
                total -= count
        total -= sum(count for byte, count in self.lower.items() if table[byte - 128].isupper())
        return total / max(1, self.all.total())


def detect_latin_charset(body: bytes) -> str:
    """Return the charset of a text in Latin letters, or "" if none fits."""
    min_score = 0.4
    rank_penalty, order_penalty = 0.03, 0.01  # for less likely languages and less common charsets
    unlikely_rank = 12
    max_bytes = 20_000
    text = TAG_BYTES.sub(b" ", body[:max_bytes])
    patterns = (NON_ASCII_BYTE, INNER_BYTE, LOWERCASE_BYTE)
    counts = ByteCounts(*(Counter(match[0] for match in pattern.findall(text)) for pattern in patterns))
    ranks = _rank_languages(text)
    best_score, best_charset = min_score, ""
    for charsets, letters_by_language in LANGUAGE_LETTERS.items():
        for order, charset in enumerate(charsets):
            for language, letters in letters_by_language.items():
                score = counts.score_charset(build_charset_table(charset), _add_uppercase(letters))
                score -= rank_penalty * ranks.get(language, unlikely_rank) + order_penalty * order
                if score > best_score:
                    best_score, best_charset = score, charset
    return best_charset


def _rank_languages(text: bytes) -> dict[str, int]:
    """Rank the languages that a text may have in any charset.

    The likeliest one is 0.
    """
    max_bytes = 1_000
    probabilities: dict[str, float] = {}
    for charset in dict.fromkeys(charsets[0] for charsets in LANGUAGE_LETTERS):
        decoded = codecs.charmap_decode(text[:max_bytes], "replace", ASCII_CHARS + build_charset_table(charset))[0]
        found, probability = identify_language(decoded)
        language = found.partition("-")[0]
        probabilities[language] = max(probability, probabilities.get(language, 0))
    ranked = sorted(probabilities, key=probabilities.__getitem__, reverse=True)
    return {language: rank for rank, language in enumerate(ranked)}


@cache
def _add_uppercase(letters: str) -> frozenset[str]:
    return frozenset(letters + letters.upper())


@cache
def build_charset_table(charset: str) -> str:
    """Return the characters of a charset's upper half, with U+FFFD for unused codes."""
    if charset in CHARSET_TABLES:
        return CHARSET_TABLES[charset]
    encoding = webencodings.lookup(charset)
    codec = encoding.codec_info if encoding else codecs.lookup(charset)
    return codec.decode(bytes(range(128, 256)), "replace")[0]
