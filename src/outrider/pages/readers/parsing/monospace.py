"""Detect code in word-processor documents by its monospaced fonts."""

import re
from dataclasses import dataclass, replace

from outrider.pages.readers.parsing.draft import TextRun

# Monospaced font families of Windows, macOS, Linux and TeX, and words that such names contain.
MONOSPACED_FAMILY = re.compile(
    r"mono(?!type)|courier|consol|typewriter|menlo|monaco|fixed|terminal|andale|cousine|inconsolata|fira code|"
    r"source code|cascadia|hack|jetbrains|nimbus mon|letter gothic|ocr[ -]?[ab]|cmtt|lmtt|teletype|code new",
    re.IGNORECASE,
)
CODE_STYLES = frozenset(  # character styles for code in Word, LibreOffice, pandoc and Google Docs, without spaces
    "code codechar codeinline inlinecode htmlcode htmlkeyboard htmlsample htmltypewriter verbatimchar sourcetext "  # noqa: SIM905
    "sourcecodechar teletype userentry preformattedtextchar htmlpreformattedchar".split()
)
SENTENCE_END = re.compile(r"""[.!?]["'”’)]*$""")


def is_monospaced_font(font: str) -> bool:
    """Return whether a font of this name is monospaced."""
    return MONOSPACED_FAMILY.search(font[:200]) is not None


def is_code_style(style: str) -> bool:
    """Return whether a character style of this name is one for code."""
    return style[:100].lower().replace(" ", "").replace("_20_", "") in CODE_STYLES


@dataclass
class CodeDetector:
    """Drop the code mark in documents that are monospaced throughout."""

    saw_proportional: bool = False  # whether any text so far is not monospaced

    def filter_code(self, runs: list[TextRun]) -> list[TextRun]:
        """Return a paragraph's runs, unmarked as code if they are a sentence or nothing proportional came before."""
        min_sentence_words = 8
        if not _is_all_code(runs):
            self.saw_proportional = self.saw_proportional or any(any(map(str.isalnum, run.text)) for run in runs)
            return runs
        text = "".join(run.text for run in runs).strip()
        is_sentence = SENTENCE_END.search(text[-5:]) and len(text.split()) >= min_sentence_words
        if self.saw_proportional and not is_sentence:
            return runs
        return [replace(run, code=False) for run in runs]


def is_code_line(runs: list[TextRun]) -> bool:
    """Return whether a paragraph is a line of a listing: only code, and without links."""
    return _is_all_code(runs) and not any(run.address for run in runs)


def _is_all_code(runs: list[TextRun]) -> bool:
    if not any(run.code for run in runs):
        return False
    visible = [run for run in runs if run.text.strip() and not run.literal]
    return bool(visible) and all(run.code for run in visible)
