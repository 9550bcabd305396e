"""LaTeX's source as Markdown: title, sections, items, tables, listings, formulas, notes; the rest stands as it is."""

import re
from dataclasses import dataclass, field

from outrider.pages.readers.parsing.lightweight_markup import ConvertedMarkup, LineReader
from outrider.pages.readers.parts.markup.latex_labels import FLOATS, labels
from outrider.pages.readers.parts.markup.latex_tables import NAMES, braced, captioned, tabled
from outrider.pages.readers.parts.markup.latex_words import BRACED, DRAWN, VERB, Words

COMMENT = re.compile(r"(?<!\\)%.*")
SIGN_OF_COMMENT = re.compile(r"(?<!\\)%")
LEVELS = ("chapter", "section", "subsection", "subsubsection", "paragraph", "subparagraph")
SECTION = re.compile(rf"\\({'|'.join(LEVELS)})\*?(?:\[[^\]]{{0,300}}\])?{BRACED}")
FACT = re.compile(rf"\\(title|author|date)(?:\[[^\]]{{0,300}}\])?{BRACED}")
LISTING = re.compile(
    r"\s*\\begin\{(verbatim\*?|lstlisting|minted|Verbatim|alltt|Highlighting|comment)\}"
    r"(\[(?:[^\[\]]|\{[^{}]{0,200}\}){0,500}\])?(?:\{(\w{1,30})\})?"
)
LANGUAGE = re.compile(r"language=\{?(?:\[[^\]]{0,30}\])?([\w+#-]{1,30})")
TOKEN = re.compile(r"\\[A-Z][A-Za-z]*Tok\{((?:[^{}\\]|\\.|\{\})*)\}")
SIGN = re.compile(
    r"\\(textgreater|textless|textbackslash|textquotesingle|textasciitilde|textasciicircum|_|#|\{|\}|%|&|\$)(?:\{\})?"
)
SIGNS = {"textgreater": ">", "textless": "<", "textbackslash": "\\", "textquotesingle": "'", "textasciitilde": "~",
         "textasciicircum": "^"}  # fmt: skip
FORMULA = re.compile(
    r"\s*(?:\\begin\{(equation|displaymath|math|align|gather|eqnarray|multline|flalign|alignat)(\*?)\}|(\\\[|\$\$)\s*$)"
)
ALIGNED = frozenset({"align", "gather", "eqnarray", "multline", "flalign", "alignat"})
TABLE = re.compile(rf"\\begin\{{({'|'.join(map(re.escape, NAMES.split('|')))})\}}")
LISTS = {
    "itemize": "-",
    "enumerate": "1.",
    "description": "-",
    "thebibliography": "-",
    "compactitem": "-",
    "compactenum": "1.",
}
FRAME = re.compile(
    r"\\(begin|end)\{([A-Za-z]{1,30})\*?\}(?:\[([^\]]{0,200})\])?(?:\{(?=[\d.]{0,10}\\|[\d.]+[a-z]|9+\})[^{}]{0,60}\})?"
)
ITEM = re.compile(
    r"\s*\\(?:item(?![a-zA-Z])(?:\[((?:[^\[\]]|\[[^\]]{0,50}\]){0,200})\])?|bibitem(?:\[[^\]]{0,200}\])?\{([^{}]{1,100})\})\s*"
)
CLAIMS = ("theorem", "lemma", "proposition", "corollary", "definition", "example", "remark", "proof")
DEFINING = re.compile(
    r"\{?\\(?:def|newcommand|renewcommand|providecommand|newtheorem|usepackage|newenvironment|let|DeclareMathOperator)(?![a-zA-Z])"
)
LABEL = re.compile(r"\\label\{[^{}\n]{0,200}\}")
DATED = re.compile(r"\\today\b")
INDENT = "    "
JOINED = 80  # lines that one group may go over
LENGTH = 20_000  # characters of them
DEEPEST = 8


def latex(text: str) -> ConvertedMarkup:
    """A paper or a book in LaTeX."""
    made = ConvertedMarkup()
    head, mark, body = text.partition("\\begin{document}")
    preamble = head if mark else text[:20_000]
    body = (body if mark else text).partition("\\end{document}")[0]
    for name, value in FACT.findall("\n".join(bare(line) for line in preamble.split("\n"))):
        if value.strip() and not DATED.search(value):
            made.add_fact(name, _plain(value))
    if title := made.facts.get("title"):
        made.blocks += [f"# {title}", ""]
    Writer(made, Words(labels(body)), 2 if r"\chapter" in text else 1).write(LineReader(body))
    return made


def bare(line: str) -> str:
    """A line without its comment; what is said by letter may hold its sign."""
    if "%" not in line:
        return line
    spoken = [found.span() for found in VERB.finditer(line)] if "\\verb" in line or "inline" in line else []
    for at in (found.start() for found in SIGN_OF_COMMENT.finditer(line)):
        if not any(start <= at < end for start, end in spoken):
            return line[:at]
    return line


@dataclass
class Writer:
    """Writes the blocks of a body; `shift` is added to the levels of its sections."""

    made: ConvertedMarkup
    words: Words
    shift: int = 1
    _lists: list[list[str | int]] = field(default_factory=list)  # the marker of each that is open, and its count
    _quotes: int = 0
    _float: str = ""
    _counts: dict[str, int] = field(default_factory=dict)
    _marker: str = ""

    def write(self, lines: LineReader) -> None:
        """All lines, then the notes."""
        for line in lines:
            if not self._environment(line, lines):
                self._line(self._whole(line, lines))
        if self.words.notes:
            self.made.blocks += ["", *self.words.notes]

    def _environment(self, line: str, lines: LineReader) -> bool:
        """Takes a listing, a formula or a table with all of its lines; whether it was one."""
        if listing := LISTING.match(line):
            self._listing(listing, lines)
        elif formula := FORMULA.match(line):
            self._formula(line, formula, lines)
        elif (found := TABLE.search(line)) and not COMMENT.match(line.strip()):
            self._line(line[: found.start()])
            self._table(line[found.end() :], found[1], lines)
        else:
            return False
        return True

    def _whole(self, line: str, lines: LineReader) -> str:
        """A line without its comment, with those on which a group goes on that it begins."""
        if COMMENT.match(line.strip()):
            return ""
        first = whole = bare(line)
        count = 0
        while _is_open(whole) and count < JOINED and len(whole) < LENGTH and lines.peek(count).strip():
            whole = f"{whole} {bare(lines.peek(count)).strip()}"
            count += 1
        if _is_open(whole):
            return first
        lines.skip(count)
        return whole

    def _listing(self, found: re.Match[str], lines: LineReader) -> None:
        name, options, language = found.groups()
        code = lines.take_until(re.compile(rf".*\\end\{{{re.escape(name)}\}}.*"))
        if name == "comment":
            return
        if name == "Highlighting":
            code = [SIGN.sub(lambda sign: SIGNS.get(sign[1], sign[1]), TOKEN.sub(r"\1", line)) for line in code]
        told = LANGUAGE.search(options or "")
        self.made.add_code(code, (language or (told[1] if told else "")).lower())

    def _formula(self, line: str, found: re.Match[str], lines: LineReader) -> None:
        name, star, opened = found.groups()
        end = {"\\[": "\\]", "$$": "$$"}.get(opened or "", f"\\end{{{name}{star or ''}}}")
        inside, before, rest = [line[found.end() :]], "", ""
        if end in inside[0]:
            before, _, rest = inside[0].partition(end)
            inside = [before]
        else:
            for each in lines:
                before, ended, rest = each.partition(end)
                inside.append(before)
                if ended:
                    break
        code = [text for each in inside if (text := COMMENT.sub("", LABEL.sub("", each)).strip())]
        if name in ALIGNED:
            code = ["\\begin{aligned}", *code, "\\end{aligned}"]
        self.made.blocks += ["", "$$", *code, "$$", ""]
        if rest.strip():
            self._line(rest)

    def _table(self, rest: str, name: str, lines: LineReader) -> None:
        end = f"\\end{{{name}}}"
        source = [COMMENT.sub("", rest)]
        while end not in source[-1]:
            if (line := next(iter(lines), None)) is None:
                break
            source.append(bare(line))
        text, _, after = "\n".join(source).partition(end)
        text, caption = captioned(text)
        if caption:
            self._caption(caption, "table")
        self.made.blocks += ["", tabled(_unkinded(text), self.words.dressed), ""]
        if after.strip():
            self._line(after)

    def _caption(self, text: str, kind: str) -> None:
        name = FLOATS.get(kind, "")
        self._counts[name] = self._counts.get(name, 0) + 1
        told = " ".join(self.words.dressed(text).split())
        self.made.blocks += ["", f"{name} {self._counts[name]}: {told}" if name else told, ""]

    def _line(self, line: str) -> None:
        if not line.strip():
            self.made.blocks += [] if self._marker else [""]
            return
        if DEFINING.match(line.strip()):
            return
        line, caption = captioned(line)
        at = 0
        for found in SECTION.finditer(line):
            self._text(line[at : found.start()])
            self.made.add_heading(LEVELS.index(found[1]) + self.shift, _plain(self.words.dressed(found[2])))
            at = found.end()
        self._text(line[at:])
        if caption:
            self._caption(caption, self._float)

    def _text(self, line: str) -> None:
        """Words among beginnings and ends of environments."""
        at = 0
        for found in FRAME.finditer(line):
            self._items(line[at : found.start()])
            (self._begin if found[1] == "begin" else self._end)(found[2], found[3] or "")
            at = found.end()
        self._items(line[at:])

    def _begin(self, name: str, option: str) -> None:
        if name in LISTS and len(self._lists) < DEEPEST:
            self._lists.append([LISTS[name], 0])
        elif name in ("quote", "quotation", "displayquote", "verse"):
            self._quotes += 1
            self.made.blocks.append("")
        elif name in ("figure", "table", "wrapfigure"):
            self._float = name.removeprefix("wrap")
            self.made.blocks.append("")
        elif name == "abstract":
            self.made.blocks += ["", "**Abstract**", ""]
        elif name in CLAIMS:
            self.made.blocks += ["", f"**{name.capitalize()}{f' ({option})' if option else ''}.**"]

    def _end(self, name: str, _option: str) -> None:
        if name in LISTS and self._lists:
            self._lists.pop()
            self.made.blocks += [] if self._lists else [""]
        elif name in ("quote", "quotation", "displayquote", "verse"):
            self._quotes = max(0, self._quotes - 1)
            self.made.blocks.append("")
        elif name in ("figure", "table", "wrapfigure"):
            self._float = ""
            self.made.blocks.append("")

    def _items(self, text: str) -> None:
        """Words, and the items that begin in them."""
        at = 0
        for found in ITEM.finditer(text):
            self._words(text[at : found.start()])
            self._marker = self._mark(found)
            at = found.end()
        self._words(text[at:])

    def _mark(self, found: re.Match[str]) -> str:
        """What stands before an item."""
        marker = "- "
        if self._lists:
            way, count = self._lists[-1]
            self._lists[-1][1] = int(count) + 1
            marker = f"{int(count) + 1}. " if way == "1." else "- "
        name = self.words.dressed(found[1]) if found[1] else f"[@{found[2]}]" if found[2] else ""
        return marker + (f"**{name}** " if found[1] else f"{name} " if name else "")

    def _words(self, text: str) -> None:
        if not text.strip():
            return
        said = self.words.dressed(text).strip()
        if not said.strip("{}"):
            return
        if said.startswith("\\rule{"):
            said = "---"
        if self._float == "figure" and (drawn := DRAWN.search(text)) and not said.strip("{}"):
            said = drawn[0]
        indent = INDENT * max(0, len(self._lists) - (1 if self._marker else 0)) if self._lists else ""
        if not self._marker and self._lists and self.made.blocks and self.made.blocks[-1].strip():
            indent = ""  # goes on in the line above
        quote = "> " * self._quotes
        lines = [
            f"{quote}{indent}{self._marker}{said.split(chr(10))[0]}",
            *(f"{quote}{each}" for each in said.split("\n")[1:]),
        ]
        self._marker = ""
        self.made.blocks += [line.rstrip() for line in lines]


def _is_open(line: str) -> bool:
    """Whether a group begins in a line that does not end there."""
    bare = re.sub(r"\\[{}\\]", "", line)
    return bare.count("{") > bare.count("}")


def _unkinded(text: str) -> str:
    """A table without the widths and kinds of its columns, of which the last group before the rows tells."""
    at = 0
    while True:
        rest = text[at:]
        bare = rest.lstrip()
        if bare.startswith("[") and "]" in bare:
            at += len(rest) - len(bare) + bare.index("]") + 1
        elif bare.startswith("{"):
            at = braced(text, at + len(rest) - len(bare) + 1)
        else:
            return text[at:]


def _plain(text: str) -> str:
    """A title on one line, without the commands that only set it."""
    text = re.sub(r"\\and\b", ", ", text)
    bare = re.sub(r"\\\\|\\thanks\{[^{}]*\}|~", " ", text)
    return " ".join(re.sub(r"\\[a-zA-Z]+\s*|[{}*`]", "", bare).split()).replace(" ,", ",")
