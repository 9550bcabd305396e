"""PowerPoint presentations from before 2007 (MS-PPT): titles, points, tables and notes, without any extra.

Files of PowerPoint 95 and earlier, which are rare, are left to the extra.
"""

import struct

from outrider.pages.document import Document, line_of
from outrider.pages.reader import Reader, Source
from outrider.pages.readers import legacy
from outrider.pages.readers.parts.office97.compound import MAGIC, BrokenCompound, Compound, facts
from outrider.pages.readers.parts.office97.powerpoint import Shape, Show, Slide, Text
from outrider.pages.readers.parts.refusals import broken, encrypted, without_end
from outrider.pages.readers.parts.writing import Draft

KIND = "PowerPoint 97 presentation"
TITLES = frozenset({0, 6})
BODIES = frozenset({1, 7, 8})
PROPERTIES = "\x05SummaryInformation"
SIGNS = str.maketrans({"\x0b": " ", "\t": " ", "\xa0": " ", "\x00": ""})
UNTOLD = frozenset({"", "PowerPoint Presentation", "Slide 1", "Presentation", "No Slide Title"})


def read(source: Source) -> Document:
    """The slides in order: title, points, text, tables, speaker notes. Hidden slides are left out and counted.

    Raises:
        NotConfigured: code `missing_extra`, for a file of PowerPoint 95 or before without the extra.
        Refused: code `encrypted`.
        Unavailable: code `broken_file`.
    """
    if not source.body.startswith(MAGIC):
        raise broken(source, KIND, "it does not begin as such a file does")
    try:
        files = Compound(source.body)
        if "PowerPoint Document" not in files or "Current User" not in files:
            return legacy.read(source)
        show = Show(files)
        if show.encrypted:
            raise encrypted(source, KIND)
        document = _document(source, show, facts(files.read(PROPERTIES)))
        return without_end(document) if files.lacks("PowerPoint Document") else document
    except (BrokenCompound, ValueError, IndexError, struct.error) as error:
        raise broken(source, KIND, str(error) if isinstance(error, BrokenCompound) else "it is damaged") from None


def _document(source: Source, show: Show, known: dict[str, str]) -> Document:
    draft, total = Draft(source, "powerpoint"), show.count()
    titles: list[str] = []
    for number, slide in enumerate(show.slides(), 1):
        if draft.full or number > source.pages:
            draft.cut = True
            break
        if slide.hidden:
            draft.hidden += 1
            draft.add(f"--- slide {number} of {total} is hidden and left out ---")
            continue
        draft.add(f"--- slide {number} of {total} ---")
        titles.append(_write(draft, slide))
    title = known.get("title", "")
    named = next(filter(None, titles), "") if title in UNTOLD else title
    return draft.document(known | {"title": named}, metadata={"slides": total})


def _write(draft: Draft, slide: Slide) -> str:
    """Writes a slide; returns its title."""
    heads = [shape for shape in slide.shapes if shape.text.kind in TITLES]
    titled = next((text for each in heads if (text := _line(each.text.characters))), "")
    draft.heading(2, titled)
    for shape in slide.shapes:
        if shape.cells:
            draft.rows(_rows(shape))
        elif shape not in heads or _line(shape.text.characters) != titled:
            _paragraphs(draft, shape.text)
    said = [text for each in slide.notes.split("\r") if (text := _line(each))]
    draft.quote("Notes: " + "\n".join(said) if said else "")
    return titled


def _paragraphs(draft: Draft, text: Text) -> None:
    looks = [*text.looks, *[(0, None)] * (text.characters.count("\r") + 1)]
    for each, (level, bullet) in zip(text.characters.split("\r"), looks, strict=False):
        if bullet or (bullet is None and text.kind in BODIES):
            draft.item(level, _line(each))
        else:
            draft.add(_line(each))


def _rows(table: Shape) -> list[list[str]]:
    """The cells by their places; what spans several columns or rows stands in each of them."""
    lefts = sorted({box[0] for _, box in table.cells})
    tops = sorted({box[1] for _, box in table.cells})
    rows = [["" for _ in lefts] for _ in tops]
    for text, (left, top, right, bottom) in table.cells:
        for row, y in enumerate(tops):
            for column, x in enumerate(lefts):
                if left <= x < right and top <= y < bottom:
                    rows[row][column] = _line(text.replace("\r", " "))
    return rows


def _line(text: str) -> str:
    return line_of(text.translate(SIGNS), 10_000)


reader = Reader(
    "powerpoint97", ("application/vnd.ms-powerpoint",), read, suffixes=(".ppt", ".pps"), whole=True, rank=40
)
