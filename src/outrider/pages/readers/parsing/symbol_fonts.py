"""Signs that fonts show in the place of letters: ticks, boxes and bullets of Wingdings, the Greek of Symbol."""

import re
from unicodedata import normalize

# What the fonts of signs show at these places (Unicode's mappings of Wingdings and Symbol), as far as texts use them.
WINGDINGS = {
    0x6C: "●", 0x6E: "■", 0x6F: "☐", 0x71: "❑", 0x76: "❖", 0x78: "☒", 0x9F: "•", 0xA7: "▪", 0xA8: "☐", 0xD8: "➢",
    0xE0: "→", 0xDF: "←", 0xE8: "➔", 0xF0: "⇨", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
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
# Programs keep them in Unicode's private area, where no font is named any more: nearly all of these are Wingdings.
PRIVATE_USE_SIGNS = {0xF000 + place: sign for place, sign in WINGDINGS.items()} | {0xF0B7: "•", 0xF020: " "}
PRIVATE_USE_CHAR = re.compile("[\uf020-\uf0ff]")


MATH_LETTER = re.compile("[\U0001d400-\U0001d7ff]")  # letters that are but set otherwise: 𝐸 is E


def normalize_math_letters(text: str) -> str:
    """The text with the letters of formulas as those that they are set from."""
    return MATH_LETTER.sub(lambda found: normalize("NFKC", found[0]), text)


def replace_private_signs(text: str) -> str:
    """The text with what people see of signs from the private area, as far as that is known."""
    return text.translate(PRIVATE_USE_SIGNS) if PRIVATE_USE_CHAR.search(text) else text


def decode_symbol(font: str, code: str) -> str:
    """The character that a font of signs shows; empty if it is none that is known (section 17.3.3.30)."""
    try:
        place = int(code, 16) & 0xFF
    except ValueError:
        return ""
    known = SYMBOL_FONT if font.lower() == "symbol" else WINGDINGS
    return known.get(place, "") if font.lower().startswith(("wingdings", "symbol")) else chr(int(code, 16) & 0xFFFF)
