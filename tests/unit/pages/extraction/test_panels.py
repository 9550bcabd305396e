"""Text that a reader can open belongs to the page; other hidden text does not."""

import pytest

from outrider.pages.extract import extract

ANSWER = "The shop opens at nine and shuts at six."


def shows_answer(body: str) -> bool:
    return ANSWER in extract(f"<p>Shop.</p>{body}", main=False).markdown


@pytest.mark.parametrize(
    "source",
    [
        "<details><summary>When?</summary><div aria-hidden=true>{}</div></details>",
        "<button aria-expanded=false aria-controls=p1>When?</button><div id=p1 aria-hidden=true><p>{}</div>",
        "<div id=p1 style='display: none'><p>{}</div><a role=button aria-expanded=false aria-controls=p1>More</a>",
        "<div class=faq-item><h3>When?</h3><div class=css-1 aria-hidden=true><p>{}</div></div>",
        "<div class=accordion><div><h3>When?</h3><div aria-hidden=true><p>{}</div></div></div>",
        "<div itemprop=mainEntity><h3>When?</h3><div itemprop=acceptedAnswer hidden><p>{}</div></div>",
    ],
)
def test_folded_answers_are_read(source: str):
    assert shows_answer(source.format(ANSWER))


@pytest.mark.parametrize(
    "source",
    [
        "<div aria-hidden=true><p>{}</div>",
        "<div id=p1 hidden><p>{}</div>",
        "<button aria-controls=p1>Menu</button><div id=p1 hidden><p>{}</div>",
        "<nav class=menu><button aria-expanded=false aria-controls=p1>x</button><div id=p1 hidden>{}</div></nav>",
        "<button aria-expanded=false aria-controls=p1>x</button><div id=p1 role=dialog hidden>{}</div>",
        "<button aria-expanded=false aria-controls=p1>x</button><div id=p1 class=cookie-banner hidden>{}</div>",
        "<button aria-expanded=false aria-controls=p1>x</button><div id=p1 style='left:-9999px'>{}</div>",
        "<button aria-expanded=false aria-controls=p1>x</button><div id=p1 hidden><a href=/x>{}</a></div>",
        "<div class=faq-item><span aria-hidden=true>{}</span></div>",
        "<div class=faq-item><div style='font-size:0' aria-hidden=true>{}</div></div>",
    ],
)
def test_content_that_no_reader_can_open_stays_hidden(source: str):
    assert not shows_answer(source.format(ANSWER))
