"""Lists of dated records are kept though they look less like content than a notice above them."""

import numpy as np

from outrider.pages.extraction.blocks.tree_walker import cut_into_blocks
from outrider.pages.extraction.classify.classifier import choose_blocks
from outrider.pages.extraction.main_content import parse_html

NOTICE = "The office of the harbour court is closed until further notice because of the water in its cellars."
MENU = [f"Division {number} of the harbour court" for number in range(12)]
RECORDS = [(f"Pilots v. Harbour No. {number}", f"0{number}/17/2024") for number in range(1, 9)]


def list_kept_texts(kind: str, records: list[tuple[str, str]]) -> list[str]:
    """Return the texts that stay on a page with a likely notice, doubtful records and an unlikely menu."""
    rows = "".join(f"<div class=result>{''.join(f'<div>{line}</div>' for line in record)}</div>" for record in records)
    menu = "".join(f"<li class=entry>{entry}</li>" for entry in MENU)
    page = cut_into_blocks(parse_html(f"<ul>{menu}</ul><p>{NOTICE}</p><p>{NOTICE} </p><section>{rows}</section>").body)
    likely = {NOTICE: 0.9} | dict.fromkeys(MENU, 0.01)
    probabilities = np.array([likely.get(text, 0.2) for text in page.texts], np.float32)
    words = np.array([len(text.split()) for text in page.texts], np.float32)
    return [page.texts[block] for block in choose_blocks(page, probabilities, words, kind)[0]]


def test_dated_records_of_a_listing_are_kept():
    texts = list_kept_texts("listing", RECORDS)
    assert [line for record in RECORDS for line in record if line not in texts] == []
    assert set(texts).isdisjoint(MENU)


def test_records_without_dates_stay_out():
    assert list_kept_texts("listing", [(name, "Read on") for name, _ in RECORDS]) == [NOTICE, NOTICE]


def test_dated_records_of_an_article_are_comments():
    assert list_kept_texts("article", RECORDS) == [NOTICE, NOTICE]
