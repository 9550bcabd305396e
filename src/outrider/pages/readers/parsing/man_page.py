"""Convert manual pages to Markdown: the macros man(7) and mdoc(7), which share roff's escapes."""

import re

from outrider.pages.readers.parsing.draft import ITEM_INDENT, TextRun, format_link, render_inline
from outrider.pages.readers.parsing.lightweight_markup import ConvertedMarkup
from outrider.pages.readers.parsing.roff_text import COMMENT, RoffText, split_arguments
from outrider.pages.readers.text import format_code_block

REQUEST = re.compile(r"[.'][ \t]*([A-Za-z%][\w%]{0,20})?(.*)")
MAN_START = re.compile(r"^[.'][ \t]*(?:TH|Dd|Dt|SH|Sh)\b", re.MULTILINE)
ONE_FONT = {"B": "B", "I": "I", "SB": "B", "SM": "R"}
TWO_FONTS = frozenset({"BR", "RB", "BI", "IB", "IR", "RI"})
CODE_STARTS = {"nf": ("fi",), "EX": ("EE",), "Bd": ("Ed",), "TS": ("TE",), "EQ": ("EN",), "Vb": ("Ve",)}
DEFINITIONS = frozenset({"de", "de1", "am", "ig"})
PARAGRAPHS = frozenset({"PP", "LP", "P", "Pp", "HP", "sp", "Sp", "br", "Lp"})
NUMBER_TAG = re.compile(r"\(?\d{1,3}[.)]")
BULLETS = frozenset("•*-–o·○□")
FONTS = {
    **dict.fromkeys(("Nm", "Fl", "Cm", "Ic", "Sy", "Fn", "Fo"), "B"),
    **dict.fromkeys(("Ar", "Em", "Fa", "Va", "Pa", "Ft", "Vt"), "I"),
    **dict.fromkeys(("Li", "Ev", "Dv", "Er", "No", "Ad", "Xr", "Lk", "Mt", "An", "In", "Nd", "Tn", "Ms", "Cd"), "R"),
    **dict.fromkeys(("%A", "%T", "%B", "%J", "%D", "%I", "%N", "%O", "%P", "%R", "%V", "%U", "%C", "%Q"), "R"),
    **dict.fromkeys(("St", "Rv", "Ex", "Bx", "Bsx", "Nx", "Fx", "Ox", "Dx", "Ux", "At"), "R"),
}
ENCLOSURES = {
    "Op": "[]", "Oo": "[", "Oc": "]", "Bq": "[]", "Bo": "[", "Bc": "]", "Pq": "()", "Po": "(", "Pc": ")", "Brq": "{}",
    "Bro": "{", "Brc": "}", "Aq": "<>", "Ao": "<", "Ac": ">", "Dq": "“”", "Do": "“", "Dc": "”", "Sq": "‘’", "So": "‘",
    "Sc": "’", "Qq": '""', "Qo": '"', "Qc": '"', "Ql": "‘’", "Dl": "", "D1": "", "Pf": "", "Xo": "", "Xc": "", "Ns": "",
    "Ap": "’",
}  # fmt: skip
SYSTEMS = {"Ux": "UNIX", "Bx": "BSD", "Nx": "NetBSD", "Fx": "FreeBSD", "Ox": "OpenBSD", "Dx": "DragonFly"}
CLOSING = frozenset(".,:;)]?!")
OPENING = frozenset("([")


def is_man_page(text: str) -> bool:
    """Return whether a text is a manual page, not a log or a program."""
    return bool(MAN_START.search(text[:20_000])) and text.lstrip()[:1] in (".", "'", "\\")


class ManPageConverter:
    """Convert line by line; paragraphs are collected until something ends them."""

    def __init__(self) -> None:
        self.converted = ConvertedMarkup()
        self._text = RoffText()
        self._words = MdocWords(self._text)
        self._runs: list[TextRun] = []
        self._tag: str | None = None  # of the item that begins
        self._wants_tag = False  # whether the next line is a tag
        self._next_font = ""  # of the next line of text
        self._is_item = False
        self._levels: list[bool] = []  # whether each indented part is inside an item
        self._ends: tuple[str, ...] = ()  # the requests that end the listing
        self._code: list[str] = []
        self._is_synopsis = False

    def convert(self, text: str) -> ConvertedMarkup:
        """Return the converted page."""
        is_in_definition = False
        for raw in text.replace("\\\n", "").split("\n"):
            line = COMMENT.sub(r"\1", raw)
            request = REQUEST.fullmatch(line)
            if is_in_definition:
                is_in_definition = "".join(line.split()) != ".."
            elif request and request[1] in DEFINITIONS:
                is_in_definition = True
            elif request:
                self._handle_request(request[1] or "", request[2].strip())
            elif self._ends:
                self._code.append(self._text.read_plain(line))
            elif not line.strip():
                self._end_paragraph()
            else:
                self._add_runs(self._text.build_runs(line.strip(), self._next_font or "R"))
                self._next_font = ""
        self._end_code()
        self._end_paragraph()
        return self.converted

    def _handle_request(self, name: str, rest: str) -> None:
        if self._ends and name in (*self._ends, "SH", "SS", "Sh", "Ss"):
            self._end_code()
        if name in ("SH", "SS", "Sh", "Ss", "TH", "Dt"):
            self._add_heading(name, rest)
        elif name in CODE_STARTS:
            self._start_code(name, rest)
        elif name in PARAGRAPHS:
            self._code += [""] if self._ends else []
            self._end_paragraph(stays_in_item=name in ("sp", "br", "Sp"))
        elif name in ("TP", "TQ", "IP", "It"):
            self._start_item(name, rest)
        elif name in ("RS", "Bl", "RE", "El"):
            self._change_level(inward=name in ("RS", "Bl"))
        else:
            self._handle_inline_request(name, rest)

    def _change_level(self, *, inward: bool) -> None:
        max_levels = 50
        self._end_paragraph(stays_in_item=inward)
        if not inward:
            self._is_item = bool(self._levels and self._levels.pop())
        elif len(self._levels) < max_levels:
            self._levels.append(self._is_item)
            self._is_item = False

    def _handle_inline_request(self, name: str, rest: str) -> None:
        """Define a string, or add a macro's text within a paragraph; other requests have no text."""
        max_string_chars = 300
        if name == "ds":
            key, _, value = rest.partition(" ")
            value = value.strip().removeprefix('"')[:1_000]
            self._text.strings[key] = self._text.read_plain(value)[:max_string_chars]
        elif name in ("UR", "MT"):
            address = self._text.read_plain(rest)
            is_link = name == "MT" or "://" in address
            link = format_link(address, f"mailto:{address}" if name == "MT" else address) if is_link else address
            self._add_runs([TextRun(link, literal=True)])
        elif name in ONE_FONT and not rest:
            self._next_font = ONE_FONT[name]
        elif name in ONE_FONT:
            self._add_runs(self._text.build_runs(" ".join(split_arguments(rest)), ONE_FONT[name]))
        elif name in TWO_FONTS:
            words = enumerate(split_arguments(rest))
            self._add_runs([run for at, word in words for run in self._text.build_runs(word, name[at % 2])])
        elif self._words.knows(name):
            if name == "Nm" and self._is_synopsis:  # each form of the call has its own line
                self._end_paragraph()
            self._add_runs(self._words.build_runs([name, *split_arguments(rest)]))

    def _add_runs(self, runs: list[TextRun]) -> None:
        max_runs = 20_000  # of a paragraph
        if self._ends:
            self._code.append("".join(run.text for run in runs))
        elif self._wants_tag:
            self._tag, self._wants_tag = render_inline(runs), False
        else:
            self._runs += [*runs, TextRun(" ")]
            if len(self._runs) > max_runs:
                self._end_paragraph(stays_in_item=True)

    def _start_item(self, name: str, rest: str) -> None:
        words = split_arguments(rest)
        self._end_paragraph(stays_in_item=name == "IP" and not words)
        if name == "IP" and not words:
            return
        self._is_item, self._wants_tag = True, name in ("TP", "TQ")
        if name == "It":
            self._tag = render_inline(self._words.build_runs(words))
        elif name == "IP":
            self._tag = render_inline(self._text.build_runs(words[0]))

    def _add_heading(self, name: str, rest: str) -> None:
        self._end_paragraph()
        self._levels.clear()
        words = [self._text.read_plain(word) for word in split_arguments(rest)]
        if name in ("TH", "Dt"):
            section = f"({words[1]})" if len(words) > 1 and words[1] else ""
            self.converted.add_heading(1, f"{words[0]}{section}" if words else "")
        else:
            self._is_synopsis = words == ["SYNOPSIS"]
            self.converted.add_heading(2 if name.upper() == "SH" else 3, " ".join(words))

    def _end_paragraph(self, *, stays_in_item: bool = False) -> None:
        """Write the paragraph, after the tag of its item."""
        text = " ".join(render_inline(self._runs).split())
        self._runs, indent = [], ITEM_INDENT * min(8, sum(self._levels))
        if self._tag is not None:
            is_numbered = NUMBER_TAG.fullmatch(self._tag)
            marker = self._tag.lstrip("(") if is_numbered else "-"
            tag = "" if is_numbered or self._tag in BULLETS else self._tag
            line = ": ".join(filter(None, (tag, text)))
            self.converted.blocks += [f"{indent}{marker} {line}".rstrip()] if line else []
        elif text:
            inner = ITEM_INDENT if self._is_item and stays_in_item else ""
            self.converted.blocks += ["", f"{indent}{inner}{text}", ""]
        self._tag, self._wants_tag = None, False
        self._is_item = self._is_item and stays_in_item

    def _start_code(self, name: str, rest: str) -> None:
        self._end_paragraph(stays_in_item=True)
        if name != "Bd" or "-literal" in rest or "-unfilled" in rest:
            self._ends, self._code = CODE_STARTS[name], []

    def _end_code(self) -> None:
        code = "\n".join(self._code).strip("\n")
        self._ends, self._code = (), []
        if code.strip():
            indent = ITEM_INDENT * min(8, sum(self._levels) + self._is_item)
            lines = format_code_block(code, "").split("\n")
            self.converted.blocks += ["", *(indent + line if line else "" for line in lines), ""]


def convert_man_page(text: str) -> ConvertedMarkup:
    """Convert a manual page."""
    return ManPageConverter().convert(text)


class MdocWords:
    """Render lines of mdoc; a page's name is remembered, because later lines leave it out."""

    def __init__(self, text: RoffText) -> None:
        self._text = text
        self._name = ""

    def knows(self, macro: str) -> bool:
        """Return whether a macro has text."""
        return macro in FONTS or macro in ENCLOSURES

    def build_runs(self, words: list[str]) -> list[TextRun]:
        """Return the runs of a line of macros and words."""
        max_words = 200  # the rest is shown unchanged
        words, rest = words[:max_words], words[max_words:]
        runs: list[TextRun] = []
        font, macro, closings, glued = "R", "", "", True
        for number, word in enumerate(words):
            if self.knows(word):
                macro, font = word, FONTS.get(word, "R")
                opening, closing = ENCLOSURES.get(word, "")[:1], ENCLOSURES.get(word, "")[1:]
                closings = closing + closings
                text = self._describe_macro(word, words[number + 1] if number + 1 < len(words) else "", opening)
                is_end = word in ("Oc", "Bc", "Pc", "Brc", "Ac", "Dc", "Sc", "Qc", "Ap")
                glued = glued or word in ("Ns", "Ap") or is_end
                if text:
                    runs += [*([] if glued else [TextRun(" ")]), *self._text.build_runs(text, font)]
                    glued = not is_end and text in (opening, "-")
                continue
            if word in CLOSING:
                runs += self._text.build_runs(word)
                glued = False
                continue
            is_section = macro == "Xr" and number > 1 and words[number - 2] == "Xr"  # of a page that is referred to
            text = f"-{word}" if macro == "Fl" else f"({word})" if is_section else word
            glued = glued or (text != word and macro == "Xr")
            runs += [*([] if glued else [TextRun(" ")]), *self._text.build_runs(text, font)]
            glued = word in OPENING or macro == "Pf"
        return [*runs, *self._text.build_runs(" ".join([closings, *rest]).rstrip())]

    def _describe_macro(self, macro: str, following: str, opening: str) -> str:
        """Return the text of the macro itself, before the word that follows it."""
        has_words = bool(following) and following not in CLOSING and not self.knows(following)
        if macro == "Nm":
            self._name = self._name or (following if has_words else "")
            return "" if has_words else self._name
        if macro == "Fl" and not has_words:
            return "-"
        if macro == "Ar" and not has_words:
            return "file ..."
        if macro == "Nd":
            return "—"
        return SYSTEMS.get(macro, opening)
