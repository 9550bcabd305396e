"""PowerPoint presentations from before 2007 (MS-PPT): titles, points, tables and notes, without any extra.

Files of PowerPoint 95 and earlier, which are rare, are left to the extra.
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
from outrider.pages.readers.office97.powerpoint_file import Presentation, Slide, SlideShape, SlideText
from outrider.pages.readers.parsing.draft import DocumentDraft
from outrider.pages.readers.parsing.errors import build_broken_error, build_encrypted_error, mark_end_missing

CONTROL_CHARS = str.maketrans({"\x0b": " ", "\t": " ", "\xa0": " ", "\x00": ""})


def read_powerpoint97(source: ReaderInput) -> Document:
    """The slides in order: title, points, text, tables, speaker notes. Hidden slides are left out and counted.

    Raises:
        NotConfigured: code `missing_extra`, for a file of PowerPoint 95 or before without the extra.
        Refused: code `encrypted`.
        Unavailable: code `broken_file`.
    """
    properties_stream = "\x05SummaryInformation"
    kind_name = "PowerPoint 97 presentation"
    if not source.body.startswith(COMPOUND_MAGIC):
        raise build_broken_error(source, kind_name, "it does not begin as such a file does")
    try:
        files = CompoundFile(source.body)
        if "PowerPoint Document" not in files or "Current User" not in files:
            return legacy.read_legacy(source)
        show = Presentation(files)
        if show.encrypted:
            raise build_encrypted_error(source, kind_name)
        document = _build_document(source, show, read_properties(files.read(properties_stream)))
        return mark_end_missing(document) if files.is_truncated("PowerPoint Document") else document
    except (CompoundFileError, ValueError, IndexError, struct.error) as error:
        raise build_broken_error(
            source, kind_name, str(error) if isinstance(error, CompoundFileError) else "it is damaged"
        ) from None


def _build_document(source: ReaderInput, show: Presentation, known: dict[str, str]) -> Document:
    placeholder_titles = frozenset({"", "PowerPoint Presentation", "Slide 1", "Presentation", "No Slide Title"})
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
    title = known.get("title", "")
    named = next(filter(None, titles), "") if title in placeholder_titles else title
    return draft.build_document(known | {"title": named}, metadata={"slides": total})


def _write_slide(draft: DocumentDraft, slide: Slide) -> str:
    """Writes a slide; returns its title."""
    title_kinds = frozenset({0, 6})
    heads = [shape for shape in slide.shapes if shape.text.kind in title_kinds]
    titled = next((text for each in heads if (text := _clean_line(each.text.characters))), "")
    draft.add_heading(2, titled)
    for shape in slide.shapes:
        if shape.cells:
            draft.add_table(_build_rows(shape))
        elif shape not in heads or _clean_line(shape.text.characters) != titled:
            _write_paragraphs(draft, shape.text)
    said = [text for each in slide.notes.split("\r") if (text := _clean_line(each))]
    draft.add_quote("Notes: " + "\n".join(said) if said else "")
    return titled


def _write_paragraphs(draft: DocumentDraft, text: SlideText) -> None:
    body_kinds = frozenset({1, 7, 8})
    looks = [*text.paragraph_styles, *[(0, None)] * (text.characters.count("\r") + 1)]
    for each, (level, bullet) in zip(text.characters.split("\r"), looks, strict=False):
        if bullet or (bullet is None and text.kind in body_kinds):
            draft.add_item(level, _clean_line(each))
        else:
            draft.add_block(_clean_line(each))


def _build_rows(table: SlideShape) -> list[list[str]]:
    """The cells by their places; what spans several columns or rows stands in each of them."""
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
