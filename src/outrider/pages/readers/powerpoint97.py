"""Read PowerPoint 97-2003 presentations (MS-PPT): titles, points, tables and notes.

Files of PowerPoint 95 and earlier are rare, and need the extra `documents`.
"""

import struct

from outrider.pages.document import Document, to_single_line
from outrider.pages.reader import DocumentReader, ReaderInput
from outrider.pages.readers import legacy
from outrider.pages.readers.office97.compound_file import (
    COMPOUND_MAGIC,
    CompoundFile,
    CompoundFileError,
    read_properties,
)
from outrider.pages.readers.office97.powerpoint_file import Presentation, Slide, SlideShape
from outrider.pages.readers.parsing.draft import DocumentDraft
from outrider.pages.readers.parsing.errors import build_broken_error, build_encrypted_error, mark_end_missing

CONTROL_CHARS = str.maketrans({"\x0b": " ", "\t": " ", "\xa0": " ", "\x00": ""})


def read_powerpoint97(source: ReaderInput) -> Document:
    """Return the slides in order: title, points, text, tables, speaker notes.

    Hidden slides are left out and counted.

    Raises:
        NotConfigured: code `missing_extra`, for a file of PowerPoint 95 or earlier without the extra.
        Refused: code `encrypted`.
        Unavailable: code `broken_file`.
    """
    kind_name = "PowerPoint 97 presentation"
    if not source.body.startswith(COMPOUND_MAGIC):
        raise build_broken_error(source, kind_name, "it does not start like a file of this format")
    try:
        files = CompoundFile(source.body)
        if "PowerPoint Document" not in files or "Current User" not in files:
            return legacy.read_legacy(source)
        show = Presentation(files)
        if show.encrypted:
            raise build_encrypted_error(source, kind_name)
        document = _build_document(source, show, read_properties(files.read("\x05SummaryInformation")))
        return mark_end_missing(document) if files.is_truncated("PowerPoint Document") else document
    except CompoundFileError as error:
        raise build_broken_error(source, kind_name, str(error)) from None
    except (ValueError, IndexError, struct.error):
        raise build_broken_error(source, kind_name, "it is damaged") from None


def _build_document(source: ReaderInput, show: Presentation, facts: dict[str, str]) -> Document:
    placeholder_titles = ("", "PowerPoint Presentation", "Slide 1", "Presentation", "No Slide Title")
    draft, total = DocumentDraft(source, "powerpoint"), show.count_slides()
    titles: list[str] = []
    for number, slide in enumerate(show.iter_slides(), 1):
        if draft.is_full or number > source.max_pages:
            draft.is_cut = True
            break
        if slide.hidden:
            draft.hidden_count += 1
            draft.add_block(f"--- slide {number} of {total} is hidden and left out ---")
            continue
        draft.add_block(f"--- slide {number} of {total} ---")
        titles.append(_write_slide(draft, slide))
    title = facts.get("title", "")
    if title in placeholder_titles:
        title = next(filter(None, titles), "")
    return draft.build_document(facts | {"title": title}, metadata={"slides": total})


def _write_slide(draft: DocumentDraft, slide: Slide) -> str:
    """Write a slide; return its title."""
    title_shapes = [shape for shape in slide.shapes if shape.text.kind in (0, 6)]
    title = next(filter(None, (_clean_line(shape.text.characters) for shape in title_shapes)), "")
    draft.add_heading(2, title)
    for shape in slide.shapes:
        if shape.cells:
            draft.add_table(_build_rows(shape))
        elif shape not in title_shapes or _clean_line(shape.text.characters) != title:
            # Paragraphs past the end of the styles inherit everything.
            styles = [*shape.text.paragraph_styles, *[(0, None)] * (shape.text.characters.count("\r") + 1)]
            for paragraph, (level, bullet) in zip(shape.text.characters.split("\r"), styles, strict=False):
                if bullet or (bullet is None and shape.text.kind in (1, 7, 8)):  # bodies have bullets in their master
                    draft.add_item(level, _clean_line(paragraph))
                else:
                    draft.add_block(_clean_line(paragraph))
    notes = list(filter(None, map(_clean_line, slide.notes.split("\r"))))
    draft.add_quote("Notes: " + "\n".join(notes) if notes else "")
    return title


def _build_rows(table: SlideShape) -> list[list[str]]:
    """Return a table's rows; cells that span columns or rows are repeated in each."""
    lefts = sorted({box[0] for _, box in table.cells})
    tops = sorted({box[1] for _, box in table.cells})
    rows = [["" for _ in lefts] for _ in tops]
    for text, (left, top, right, bottom) in table.cells:
        for row, y in enumerate(tops):
            for column, x in enumerate(lefts):
                if left <= x < right and top <= y < bottom:
                    rows[row][column] = _clean_line(text.replace("\r", " "))
    return rows


def _clean_line(text: str) -> str:
    return to_single_line(text.translate(CONTROL_CHARS), 10_000)


reader = DocumentReader(
    "powerpoint97",
    ("application/vnd.ms-powerpoint",),
    read_powerpoint97,
    suffixes=(".ppt", ".pps"),
    needs_whole_body=True,
    rank=40,
)
