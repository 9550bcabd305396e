"""Compose letters with accents that a PDF draws as characters of their own, as TeX does.

PDFium reads such an accent before or after its letter, or at the end of the line, with spaces around it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from unicodedata import normalize

CharBox = tuple[float, float, float, float]  # left, bottom, right and top
COMBINING = {
    "`": "\u0300", "\u02cb": "\u0300", "´": "\u0301", "\u02ca": "\u0301", "ˆ": "\u0302", "\u02dc": "\u0303",
    "¯": "\u0304", "ˉ": "\u0304", "˘": "\u0306", "˙": "\u0307", "¨": "\u0308", "˚": "\u030a", "˝": "\u030b",
    "ˇ": "\u030c", "¸": "\u0327", "˛": "\u0328",
}  # fmt: skip
ACCENT = re.compile(f"[{''.join(COMBINING)}]")
DOTLESS = str.maketrans("ıȷ", "ij")


@dataclass
class AccentComposer:
    """Compose the accents of a text.

    Attributes:
        text: The text of a page in the order of its content.
        get_box: Returns the box of the character at an index.
        get_baseline: Returns its baseline.
    """

    text: str
    get_box: Callable[[int], CharBox | None]
    get_baseline: Callable[[int], float]

    def compose(self) -> tuple[str, list[int]] | None:
        """Return the text with composed letters and the former index of each character; None if none is composed."""
        max_accents = 300  # of a page
        letters, accents = list(self.text), set[int]()
        for match in [*ACCENT.finditer(self.text)][:max_accents]:
            place = self.find_letter(match.start())
            if place is not None:
                letters[place] = normalize("NFC", letters[place].translate(DOTLESS) + COMBINING[match[0]])
                accents.add(match.start())
        if not accents:
            return None
        dropped = accents | {space for index in accents for space in self.find_stray_spaces(index, accents)}
        kept = [index for index in range(len(letters)) if index not in dropped]
        return "".join(letters[index] for index in kept), kept

    def find_letter(self, accent: int) -> int | None:
        """Return the index of the letter at an accent's place in its line, the nearest in the text first."""
        max_distance_chars = 150
        min_rise, max_rise = -0.1, 0.5  # of the accent's baseline above the letter's, in heights of the accent
        box = self.get_box(accent)
        if box is None or (height := box[3] - box[1]) <= 0:
            return None
        middle, baseline = (box[0] + box[2]) / 2, self.get_baseline(accent)
        start, end = self.text.rfind("\n", 0, accent), self.text.find("\n", accent) % (len(self.text) + 1)
        for distance in range(1, min(max_distance_chars, max(accent - start, end - accent))):
            for index in (accent + distance, accent - distance):
                letter = self.get_box(index) if start < index < end and self.text[index].isalpha() else None
                if letter is None or not letter[0] < middle < letter[2]:
                    continue
                is_level = min_rise * height <= baseline - self.get_baseline(index) <= max_rise * height
                composed = normalize("NFC", self.text[index].translate(DOTLESS) + COMBINING[self.text[accent]])
                if is_level and len(composed) == 1:
                    return index
        return None

    def find_stray_spaces(self, accent: int, accents: set[int]) -> list[int]:
        """Return the spaces around an accent that are not between words."""
        min_word_gap = 0.12  # of the height of a letter
        start, end, text = accent, accent + 1, self.text
        while start and (text[start - 1] == " " or start - 1 in accents):
            start -= 1
        while end < len(text) and (text[end] == " " or end in accents):
            end += 1
        spaces = [index for index in range(start, end) if text[index] == " "]
        if not spaces or not start or end == len(text):
            return []
        before, after = self.get_box(start - 1), self.get_box(end)
        if not before or not after or after[0] - before[2] > min_word_gap * (after[3] - after[1]):
            return spaces[1:]
        return spaces if after[0] >= before[0] else []
