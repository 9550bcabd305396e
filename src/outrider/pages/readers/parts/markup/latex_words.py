"""The words of a line of LaTeX as Markdown has them: emphasis, links, notes, citations; formulas stay as they are."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from unicodedata import normalize

from outrider.pages.readers.parsing.draft import format_script_digits

BRACED = r"\{((?:[^{}]|\{(?:[^{}]|\{[^{}]{0,200}\}){0,300}\}){0,2000})\}"
OPTION = r"(?:\[[^\[\]]{0,300}\])?"
MATH = re.compile(
    r"\$\$[^$]{1,4000}\$\$|\$(?:[^$\\]|\\.){1,2000}\$|\\\((?:[^\\]|\\[^)]){1,2000}\\\)|\\\[(?:[^\\]|\\[^\]]){1,4000}\\\]"
)
VERB = re.compile(
    r"\\(?:verb\*?|lstinline(?:\[[^\]]{0,200}\])?)([^\w\s{*])(.{0,500}?)\1|\\mintinline\{\w{1,30}\}([^\w\s{])(.{0,500}?)\3"
)
CITED = re.compile(
    rf"\\(?:[Cc]ite(?:p|t|alp|alt|author|year|yearpar)?|(?:paren|text|auto|foot|super)cite)\*?{OPTION}{OPTION}\{{([^{{}}]{{1,500}})\}}"
)
REFERRED = re.compile(r"\\(?:ref|autoref|[cC]ref|eqref|pageref|nameref|vref)\*?\{([^{}]{1,200})\}")
NOTED = re.compile(rf"\\(?:footnote|footnotetext|thanks|endnote){OPTION}{BRACED}")
DRAWN = re.compile(r"\\includegraphics\*?(\[(?:[^\[\]{}]|\{[^{}]{0,300}\}){0,500}\])?\{([^{}\n]{1,300})\}")
ALT = re.compile(r"\balt=\{([^{}]{1,300})\}|\balt=([^,\]]{1,300})")
ACCENT = re.compile(r"\\(?:(['`\"^~=.])|([cvuHrk])(?=[\s{]))\s?(?:\{\\?([a-zA-Z])\}|\\?([a-zA-Z]))")
ACCENTS = {"'": "\u0301", "`": "\u0300", '"': "\u0308", "^": "\u0302", "~": "\u0303", "=": "\u0304", ".": "\u0307",
           "c": "\u0327", "v": "\u030c", "u": "\u0306", "H": "\u030b", "r": "\u030a", "k": "\u0328"}  # fmt: skip
LETTERS = {"ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "aa": "å",
           "AA": "Å",
           "ldots": "…", "dots": "…", "textellipsis": "…", "LaTeX": "LaTeX", "TeX": "TeX", "textbackslash": "\\",
           "textgreater": ">", "textless": "<", "textbar": "|", "textendash": "–", "textemdash": "—", "S": "§",
           "copyright": "©", "textregistered": "®", "texttrademark": "™", "pounds": "£", "euro": "€", "quad": " ",
           "qquad": " ",
           "textasciitilde": "~", "textasciicircum": "^", "textquotesingle": "'", "i": "ı"}  # fmt: skip
LETTER = re.compile(rf"\\({'|'.join(sorted(LETTERS, key=len, reverse=True))})(?![a-zA-Z])(?:\{{\}}|[ ]?)")
STYLES = (
    (re.compile(rf"\\(?:emph|textit|textsl){BRACED}"), "*"),
    (re.compile(rf"\\textbf{BRACED}"), "**"),
    (re.compile(rf"\\(?:st|sout){BRACED}"), "~~"),
)
TYPED = re.compile(rf"\\(?:texttt|code|lstinline|path){BRACED}")
OLD = re.compile(r"\{\\(?:(it|em|sl)|(bf)|(tt))(?:series|shape|family)?\s((?:[^{}]|\{[^{}]{0,200}\}){1,1000})\}")
BARE = re.compile(
    rf"\\(?:underline|textsc|textsf|textrm|textmd|textup|textnormal|mbox|hbox|makebox|fbox|uline|ul|pandocbounded|text|"
    rf"mathrm|enquote|hl){BRACED}"
)
COLOURED = re.compile(rf"\\(?:textcolor|colorbox){OPTION}\{{[^{{}}]{{0,60}}\}}{BRACED}")
LINKED = re.compile(rf"\\href\{{([^{{}}\s]{{1,2000}})\}}{BRACED}")
LINKED_WITHIN = re.compile(rf"\\(?:hyperref\[[^\]]{{0,200}}\]|hyperlink\{{[^{{}}]{{0,200}}\}}){BRACED}")
URL = re.compile(r"\\url\{([^{}\s]{1,2000})\}")
RAISED = re.compile(rf"\\(textsuperscript|textsubscript){BRACED}")
SETTING = re.compile(
    r"\\(?:maketitle|tableofcontents|listof(?:figures|tables)|centering|noindent|newpage|clearpage|pagebreak|indent|"
    r"(?:small|med|big)skip|par|hfill|vfill|protect|leavevmode|tightlist|appendix|frontmatter|mainmatter|backmatter|"
    r"tiny|scriptsize|footnotesize|small|normalsize|large|Large|LARGE|huge|Huge|bfseries|itshape|ttfamily|rmfamily|"
    r"sffamily|raggedright|raggedleft|arraybackslash|selectfont|hline|newline|linebreak|par)(?![a-zA-Z])\*?[ ]?|"
    r"\\(?:label|vspace|hspace|phantom|pagestyle|thispagestyle|bibliographystyle|index|addcontentsline|markboth)\*?"
    r"\{[^{}\n]{0,200}\}(?:\{[^{}\n]{0,200}\}){0,2}|"
    r"\\(?:setcounter|setlength|addtolength|setlist|hypersetup|definecolor)(?:\[[^\]]{0,100}\])?(?:\{[^{}\n]{0,300}\}){1,3}"
)
ESCAPED = re.compile(r"\\([%&#_{} ,;@/-])")
QUOTES = (("``", "“"), ("''", "”"), ("---", "—"), ("--", "–"))
SLOT = "\x01{}\x02"
SLOTS = re.compile("\x01(\\d+)\x02")


@dataclass
class Words:
    """Dresses lines; gathers their footnotes.

    Args:
        labels: What references show, by label.
    """

    labels: dict[str, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def dressed(self, line: str) -> str:
        """A line, or several that belong together, as Markdown."""
        if "\\" not in line and "$" not in line and "`" not in line and "'" not in line and "-" not in line:
            return line.replace("~", " ")
        kept, noted = list[str](), len(self.notes)

        def keep(text: str) -> str:
            kept.append(text)
            return SLOT.format(len(kept) - 1)

        line = VERB.sub(lambda found: keep(_code(found[2] if found[2] is not None else found[4])), line)
        line = MATH.sub(lambda found: keep(_formula(found[0])), line)
        line = self._said(line, keep)
        self.notes[noted:] = [_filled(note, kept) for note in self.notes[noted:]]
        return _filled(line, kept)

    def _said(self, line: str, keep: Callable[[str], str]) -> str:
        line = NOTED.sub(lambda found: self._note(found[1], keep), line)
        line = DRAWN.sub(lambda found: keep(_drawn(found[1] or "", found[2])), line)
        line = CITED.sub(lambda found: "[" + "; ".join(f"@{key.strip()}" for key in found[1].split(",")) + "]", line)
        line = REFERRED.sub(lambda found: self.labels.get(found[1], f"[{found[1]}]"), line)
        line = URL.sub(lambda found: keep(f"<{ESCAPED.sub(_first, found[1])}>"), line)
        line = LINKED.sub(lambda found: f"[{found[2]}]({keep(ESCAPED.sub(_first, found[1]))})", line)
        line = ACCENT.sub(_accented, line).replace("~", " ")
        line = TYPED.sub(lambda found: keep(_code(ESCAPED.sub(_first, found[1]))), line)
        for _ in range(3):  # one in another
            before = line
            for pattern, mark in STYLES:
                line = pattern.sub(lambda found, mark=mark: _marked(found[1], mark), line)
            line = OLD.sub(lambda found: _marked(found[4], "*" if found[1] else "**" if found[2] else "`"), line)
            line = RAISED.sub(
                lambda found: format_script_digits(found[2], 1 if found[1] == "textsuperscript" else -1), line
            )
            line = COLOURED.sub(_first, LINKED_WITHIN.sub(_first, BARE.sub(_first, line)))
            if line == before:
                break
        line = LETTER.sub(lambda found: LETTERS[found[1]], SETTING.sub("", line))
        line = re.sub(r"\\\\(?:\[[^\]]{0,20}\])?\*?\s*", "\n", line)
        for given, sign in QUOTES:
            line = line.replace(given, sign)
        return ESCAPED.sub(_first, line)

    def _note(self, text: str, keep: Callable[[str], str]) -> str:
        at = len(self.notes)
        self.notes.append("")
        self.notes[at] = f"[^{at + 1}]: " + " ".join(self._said(text, keep).split())
        return f"[^{at + 1}]"


def _filled(text: str, kept: list[str]) -> str:
    """A text with what was kept out of it, which may itself hold such places."""
    for _ in range(3):
        if not SLOTS.search(text):
            break
        text = SLOTS.sub(lambda found: kept[int(found[1])], text)
    return text


def _first(found: re.Match[str]) -> str:
    return found[1]


def _marked(text: str, mark: str) -> str:
    bare = text.strip()
    return f"{mark}{bare}{mark}" if bare and "\n" not in bare else text


def _code(text: str) -> str:
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _formula(text: str) -> str:
    if text.startswith("\\("):
        return f"${text[2:-2].strip()}$"
    return f"$${text[2:-2].strip()}$$" if text.startswith("\\[") else text


def _drawn(options: str, path: str) -> str:
    found = ALT.search(options)
    return f"![{(found[1] or found[2]).strip() if found else ''}]({path.strip().replace(' ', '%20')})"


def _accented(found: re.Match[str]) -> str:
    return normalize("NFC", (found[3] or found[4]) + ACCENTS[found[1] or found[2]])
