"""LaTeX's source as Markdown: title, sections, items, listings, emphasis, formulas; the rest stands as it is."""

import re

from outrider.pages.readers.parts.markup.lines import Lines, Marked

COMMENT = re.compile(r"(?<!\\)%.*")
BRACED = r"\{((?:[^{}\n]|\{[^{}\n]{0,500}\}){0,500})\}"
LEVELS = ("chapter", "section", "subsection", "subsubsection", "paragraph")
SECTION = re.compile(rf"\\({'|'.join(LEVELS)})\*?(?:\[[^\]]{{0,300}}\])?{BRACED}")
FACT = re.compile(rf"\\(title|author|date)(?:\[[^\]]{{0,300}}\])?{BRACED}")
LISTING = re.compile(
    r"\s*\\begin\{(verbatim\*?|lstlisting|minted|Verbatim|alltt)\}(?:\[[^\]]{0,300}\])?(?:\{(\w{1,30})\})?"
)
FRAMES = "itemize|enumerate|description|document|center|abstract|figure|table|quote"
SETTING = "maketitle|tableofcontents|centering|noindent|newpage|clearpage"
FRAME = re.compile(rf"\\(?:begin|end)\{{(?:{FRAMES})\*?\}}(?:\[[^\]]{{0,60}}\])?|\\(?:{SETTING})\b")
LABEL = re.compile(r"\\label\{[^{}\n]{0,200}\}")
ITEM = re.compile(r"^\s*\\item(?:\[([^\]]{0,200})\])?\s*")
LOOKS = (
    (re.compile(rf"\\(?:emph|textit){BRACED}"), r"*\1*"),
    (re.compile(rf"\\textbf{BRACED}"), r"**\1**"),
    (re.compile(rf"\\texttt{BRACED}"), r"`\1`"),
    (re.compile(rf"\\href\{{([^{{}}\s]{{1,2000}})\}}{BRACED}"), r"[\2](\1)"),
    (re.compile(r"\\url\{([^{}\s]{1,2000})\}"), r"<\1>"),
    (re.compile(rf"\\footnote{BRACED}"), r" (\1)"),
    (re.compile(r"\\(?:begin|end)\{(?:equation|displaymath|math)\*?\}|^\s*\\[\[\]]\s*$"), "$$"),
    (re.compile(r"\\begin\{(?:align|gather|eqnarray|multline)\*?\}"), r"$$\\begin{aligned}"),
    (re.compile(r"\\end\{(?:align|gather|eqnarray|multline)\*?\}"), r"\\end{aligned}$$"),
)
FOUR = 4  # spaces before a line that would make it a listing
DATED = re.compile(r"\\today\b")


def latex(text: str) -> Marked:
    """A paper or a book in LaTeX."""
    made = Marked()
    head, mark, body = text.partition("\\begin{document}")
    preamble = head if mark else text[:20_000]
    for name, value in FACT.findall("\n".join(COMMENT.sub("", line) for line in preamble.split("\n"))):
        if value.strip() and not DATED.search(value):
            made.note(name, _plain(value))
    if title := made.facts.get("title"):
        made.blocks += [f"# {title}", ""]
    lines, depth = Lines(body if mark else text), 0 if r"\chapter" in text else 1
    for line in lines:
        if listing := LISTING.match(line):
            until = re.compile(rf".*\\end\{{{re.escape(listing[1])}\}}.*")
            made.listing(lines.until(until), listing[2] or "")
        elif not line.strip() or not COMMENT.match(line.strip()):
            _write(made, COMMENT.sub("", line), 2 - depth)
    return made


def _write(made: Marked, line: str, shift: int) -> None:
    at = 0
    for found in SECTION.finditer(line):
        _text(made, line[at : found.start()])
        made.heading(LEVELS.index(found[1]) + shift, _plain(found[2]))
        at = found.end()
    _text(made, line[at:])


def _text(made: Marked, line: str) -> None:
    bare = LABEL.sub("", FRAME.sub("", line))
    bare = ITEM.sub(lambda found: f"- **{found[1]}** " if found[1] else "- ", bare)
    if bare.strip() or not line.strip():
        made.blocks.append(_dressed(bare.strip() if len(bare) - len(bare.lstrip()) < FOUR else bare).rstrip())


def _dressed(text: str) -> str:
    for pattern, sign in LOOKS:
        text = pattern.sub(sign, text)
    return text


def _plain(text: str) -> str:
    """A title on one line, without the commands that only set it."""
    text = re.sub(r"\\and\b", ", ", text)
    bare = re.sub(r"\\\\|\\thanks\{[^{}]*\}|~", " ", text)
    return " ".join(re.sub(r"\\[a-zA-Z]+\s*|[{}]", "", bare).split()).replace(" ,", ",")
