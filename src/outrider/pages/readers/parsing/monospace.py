"""Code in documents of words: what is set in a fixed width among what is not."""

import re
from dataclasses import dataclass, replace

from outrider.pages.readers.parsing.draft import TextRun

# Families that are set in a fixed width: those of Windows, macOS, Linux and TeX, and what calls itself so.
MONOSPACED_FAMILY = re.compile(
    r"mono(?!type)|courier|consol|typewriter|menlo|monaco|fixed|terminal|andale|cousine|inconsolata|fira code|"
    r"source code|cascadia|hack|jetbrains|nimbus mon|letter gothic|ocr[ -]?[ab]|cmtt|lmtt|teletype|code new",
    re.IGNORECASE,
)
CODE_STYLES = frozenset(  # of characters, as Word, LibreOffice, pandoc and Google call them, without their blanks
    "code codechar codeinline inlinecode htmlcode htmlkeyboard htmlsample htmltypewriter verbatimchar sourcetext "  # noqa: SIM905
    "sourcecodechar teletype userentry preformattedtextchar htmlpreformattedchar".split()
)
SENTENCE_END = re.compile(r"""[.!?]["'”’)]*$""")


def is_monospaced_font(font: str) -> bool:
    """Whether a font of this name sets all letters in one width."""
    return MONOSPACED_FAMILY.search(font[:200]) is not None


def is_code_style(style: str) -> bool:
    """Whether a style of characters of this name is one of code."""
    return style[:100].lower().replace(" ", "").replace("_20_", "") in CODE_STYLES


@dataclass
class CodeDetector:
    """Tells code from documents that are typed throughout: those have nothing else before it."""

    saw_proportional: bool = False  # anything that is not in a fixed width

    def filter_code(self, runs: list[TextRun]) -> list[TextRun]:
        """The runs of a paragraph; what is typed throughout, or a sentence that is so, is no code."""
        if not _is_all_code(runs):
            self.saw_proportional = self.saw_proportional or any(map(str.isalnum, "".join(run.text for run in runs)))
            return runs
        return (
            runs
            if self.saw_proportional and not _is_prose_sentence(runs)
            else [replace(run, code=False) for run in runs]
        )


def is_code_line(runs: list[TextRun]) -> bool:
    """Whether a paragraph is a line of a listing: nothing but code, which leads nowhere."""
    return _is_all_code(runs) and not any(run.address for run in runs)


def _is_all_code(runs: list[TextRun]) -> bool:
    told = [run for run in runs if run.text.strip() and not run.literal]
    return bool(told) and all(run.code for run in told)


def _is_prose_sentence(runs: list[TextRun]) -> bool:
    min_sentence_words = 8  # from which on what ends like a sentence is one
    text = "".join(run.text for run in runs).strip()
    return SENTENCE_END.search(text[-5:]) is not None and len(text.split()) >= min_sentence_words
