"""Code in documents of words: what is set in a fixed width among what is not."""

import re
from dataclasses import dataclass, replace

from outrider.pages.readers.parts.writing import Run

# Families that are set in a fixed width: those of Windows, macOS, Linux and TeX, and what calls itself so.
FIXED = re.compile(
    r"mono(?!type)|courier|consol|typewriter|menlo|monaco|fixed|terminal|andale|cousine|inconsolata|fira code|"
    r"source code|cascadia|hack|jetbrains|nimbus mon|letter gothic|ocr[ -]?[ab]|cmtt|lmtt|teletype|code new",
    re.IGNORECASE,
)
STYLES = frozenset(  # of characters, as Word, LibreOffice, pandoc and Google call them, without their blanks
    "code codechar codeinline inlinecode htmlcode htmlkeyboard htmlsample htmltypewriter verbatimchar sourcetext "  # noqa: SIM905
    "sourcecodechar teletype userentry preformattedtextchar htmlpreformattedchar".split()
)
SENTENCE = re.compile(r"""[.!?]["'”’)]*$""")
WORDS = 8  # from which on what ends like a sentence is one


def is_fixed(font: str) -> bool:
    """Whether a font of this name sets all letters in one width."""
    return FIXED.search(font[:200]) is not None


def is_code(style: str) -> bool:
    """Whether a style of characters of this name is one of code."""
    return style[:100].lower().replace(" ", "").replace("_20_", "") in STYLES


@dataclass
class Typewriter:
    """Tells code from documents that are typed throughout: those have nothing else before it."""

    seen: bool = False  # anything that is not in a fixed width

    def coded(self, runs: list[Run]) -> list[Run]:
        """The runs of a paragraph; what is typed throughout, or a sentence that is so, is no code."""
        if not _whole(runs):
            self.seen = self.seen or any(map(str.isalnum, "".join(run.text for run in runs)))
            return runs
        return runs if self.seen and not _is_prose(runs) else [replace(run, code=False) for run in runs]


def is_listed(runs: list[Run]) -> bool:
    """Whether a paragraph is a line of a listing: nothing but code, which leads nowhere."""
    return _whole(runs) and not any(run.address for run in runs)


def _whole(runs: list[Run]) -> bool:
    told = [run for run in runs if run.text.strip() and not run.literal]
    return bool(told) and all(run.code for run in told)


def _is_prose(runs: list[Run]) -> bool:
    text = "".join(run.text for run in runs).strip()
    return SENTENCE.search(text[-5:]) is not None and len(text.split()) >= WORDS
