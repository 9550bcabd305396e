"""Turn the escapes of roff lines into runs of text (groff_char(7), groff(7))."""

import re
from unicodedata import normalize

from outrider.pages.readers.parsing.draft import TextRun

ESCAPE = re.compile(
    r"""\\(?:
    f(?:\((?P<font2>..)|\[(?P<font>[^\]\n]{0,20})\]|(?P<font1>.))
    |\((?P<sign2>..)|\[(?P<sign>[^\]\n]{1,40})\]
    |\*(?:\((?P<string2>..)|\[(?P<string>[^\]\n]{1,40})\]|(?P<string1>.))
    |s(?:\([+-]?\d\d|\[[^\]\n]{0,10}\]|[+-]?\d{1,2})
    |[hvwlLobNCADRSXYZxH]'[^'\n]{0,200}'
    |[nmMFgkV](?:\(..|\[[^\]\n]{0,40}\]|.)
    |(?P<char>.?))""",
    re.VERBOSE,
)
COMMENT = re.compile(r'(?<!\\)((?:\\\\)*)\\["#].*')
SIGNS = {
    "em": "—", "en": "–", "hy": "-", "-": "-", "aq": "'", "dq": '"', "lq": "“", "rq": "”", "oq": "‘", "cq": "’",
    "bu": "•", "co": "©", "rg": "®", "tm": "™", "ti": "~", "ha": "^", "rs": "\\", "ga": "`", "aa": "´", "lB": "[",
    "rB": "]", "lC": "{", "rC": "}", "la": "⟨", "ra": "⟩", "mu": "×", "+-": "±", "<=": "≤", ">=": "≥", "!=": "≠",
    "==": "≡", "->": "→", "<-": "←", "de": "°", "sc": "§", "dg": "†", "ss": "ß", "oa": "å", "/o": "ø", "/O": "Ø",
    "ae": "æ", "AE": "Æ", "ul": "_", "ba": "|", "br": "|", "sl": "/", "at": "@", "sh": "#", "Do": "$", "Eu": "€",
    "Po": "£", "12": "½", "14": "¼", "34": "¾", "Fo": "«", "Fc": "»", "bq": "‚", "Bq": "„", "mc": "µ", "ps": "¶",
    "if": "∞", "pl": "+", "mi": "-", "**": "*", "eq": "=", "ap": "~", "OK": "✓", "ci": "○", "sq": "□",
}  # fmt: skip
CHARS = {
    "-": "-",
    "e": "\\",
    "E": "\\",
    " ": " ",
    "~": " ",
    "0": " ",
    "t": "\t",
    "'": "'",
    "`": "`",
    "\\": "\\",
    ".": ".",
}
ACCENTS = {"'": "\u0301", "`": "\u0300", "^": "\u0302", ":": "\u0308", "~": "\u0303", ",": "\u0327", "v": "\u030c"}
FONTS = {"B": "B", "I": "I", "BI": "BI", "3": "B", "2": "I", "4": "BI", "CB": "B", "CI": "I", "CBI": "BI"}


class RoffText:
    """Convert lines of text, with the strings that a page defines and the font that stays on.

    Attributes:
        strings: The values of strings by name.
    """

    def __init__(self) -> None:
        self.strings = {"lq": "“", "rq": "”", "R": "®", "Tm": "™", "S": ""}
        self._font = self._previous_font = "R"
        self._string_chars_left = 1_000_000  # a few characters may repeat a long string many times

    def build_runs(self, line: str, font: str = "R") -> list[TextRun]:
        """Return the runs of a line that begins in a font: `R`, `B`, `I` or `BI`."""
        runs: list[TextRun] = []
        self._font = self._previous_font = font
        at = 0
        for escape in ESCAPE.finditer(line):
            runs.append(self._build_run(line[at : escape.start()]))
            at = escape.end()
            named = escape.groupdict()
            name = next((named[key] for key in ("font2", "font", "font1") if named[key] is not None), None)
            if name is not None:
                following = self._previous_font if name in ("P", "") else FONTS.get(name, "R")
                self._font, self._previous_font = following, self._font
            else:
                runs.append(self._build_run(self._read_sign(named)))
        return [run for run in (*runs, self._build_run(line[at:])) if run.text]

    def read_plain(self, line: str) -> str:
        """Return the characters of a line without fonts."""
        return "".join(run.text for run in self.build_runs(line))

    def _build_run(self, text: str) -> TextRun:
        return TextRun(text, bold="B" in self._font, italic="I" in self._font)

    def _read_sign(self, named: dict[str, str | None]) -> str:
        sign, string = named["sign2"] or named["sign"], named["string2"] or named["string"] or named["string1"]
        if string is not None:
            value = self.strings.get(string, "")[: max(0, self._string_chars_left)]
            self._string_chars_left -= len(value)
            return value
        if sign is None:
            return CHARS.get(named["char"] or "", "")
        if code := re.fullmatch(r"u([0-9A-F]{4,6})", sign):
            number = int(code[1], 16)
            return chr(number) if number <= 0x10FFFF and not 0xD800 <= number < 0xE000 else ""
        if len(sign) == 2 and sign[0] in ACCENTS and sign[1].isalpha():
            return normalize("NFC", sign[1] + ACCENTS[sign[0]])
        return SIGNS.get(sign, "")


def split_arguments(line: str) -> list[str]:
    """Return the words of a macro's line; words in quotation marks may hold spaces, and `""` means one mark."""
    words = re.findall(r'"((?:[^"]|"")*)(?:"|$)|((?:\\ |\S)+)', line)
    return [bare or quoted.replace('""', '"') for quoted, bare in words]
