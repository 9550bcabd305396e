"""Map characters of symbol fonts (Wingdings, Symbol) to Unicode."""

import re
from unicodedata import normalize

# Unicode's mappings of the Wingdings and Symbol characters that occur in texts.
WINGDINGS = {
    0x6C: "●", 0x6E: "■", 0x6F: "☐", 0x71: "❑", 0x76: "❖", 0x78: "☒", 0x9F: "•", 0xA7: "▪", 0xA8: "☐", 0xD8: "➢",
    0xE0: "→", 0xDF: "←", 0xE8: "➔", 0xF0: "⇨", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
}  # fmt: skip
# Those of Zapf Dingbats, whose boxes are those of forms (Unicode's mapping has drop shadows).
ZAPF_DINGBATS = {
    0x33: "✓", 0x34: "✔", 0x35: "✕", 0x36: "✖", 0x37: "✗", 0x38: "✘", 0x6C: "●", 0x6D: "○", 0x6E: "■", 0x6F: "☐",
    0x70: "☐", 0x71: "☐", 0x72: "☐", 0x274F: "☐", 0x2750: "☐", 0x2751: "☐", 0x2752: "☐",
}  # fmt: skip
GREEK = dict(zip(range(0x61, 0x7B), "αβχδεφγηιϕκλμνοπθρστυϖωξψζ", strict=True)) | dict(
    zip(range(0x41, 0x5B), "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ", strict=True)
)
SYMBOL_FONT = GREEK | {
    0xA3: "≤",
    0xB0: "°",
    0xB1: "±",
    0xB3: "≥",
    0xB4: "×",
    0xB7: "•",
    0xB9: "≠",
    0xBB: "≈",
    0xAE: "→",
}
# Programs store such characters in Unicode's private area without naming the font: nearly all are Wingdings.
PRIVATE_USE_SIGNS = {0xF000 + place: sign for place, sign in WINGDINGS.items()} | {0xF0B7: "•", 0xF020: " "}
PRIVATE_USE_CHAR = re.compile("[\uf020-\uf0ff]")
MATH_LETTER = re.compile("[\U0001d400-\U0001d7ff]")  # styled letters: 𝐸 is E


def normalize_math_letters(text: str) -> str:
    """Replace styled letters of formulas by plain ones."""
    return MATH_LETTER.sub(lambda letter: normalize("NFKC", letter[0]), text)


def replace_private_signs(text: str) -> str:
    """Replace characters of the private area by the symbols that they show, where known."""
    return text.translate(PRIVATE_USE_SIGNS) if PRIVATE_USE_CHAR.search(text) else text


def decode_symbol_letter(font: str, letter: str) -> str:
    """Return the symbol that a letter shows in a font by its name; the letter itself in other fonts."""
    name = font.rpartition("+")[2].lower()
    if re.fullmatch(r"wingdings(?:-regular)?", name):
        return WINGDINGS.get(ord(letter), letter)
    return ZAPF_DINGBATS.get(ord(letter), letter) if re.search("zapf.?dingbats", name) else letter


def decode_symbol(font: str, code: str) -> str:
    """Return the Unicode character of a symbol font's code; empty if unknown (section 17.3.3.30)."""
    try:
        place = int(code, 16) & 0xFF
    except ValueError:
        return ""
    known = SYMBOL_FONT if font.lower() == "symbol" else WINGDINGS
    return known.get(place, "") if font.lower().startswith(("wingdings", "symbol")) else chr(int(code, 16) & 0xFFFF)
