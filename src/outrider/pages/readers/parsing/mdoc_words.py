"""Render the words of mdoc(7), whose macros may occur within a line."""

from outrider.pages.readers.parsing.draft import TextRun
from outrider.pages.readers.parsing.roff_text import RoffText

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


class MdocWords:
    """Render lines of mdoc; a page's name is remembered, since later lines leave it out."""

    def __init__(self, text: RoffText) -> None:
        self._text = text
        self._name = ""

    def knows(self, macro: str) -> bool:
        """Return whether a macro has text."""
        return macro in FONTS or macro in ENCLOSURES

    def build_runs(self, words: list[str]) -> list[TextRun]:
        """Return the runs of a line of macros and words."""
        max_words = 200  # the rest is shown as it is
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
