"""Excerpts are exact slices that answer the question within their budget."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outrider.core.markdown import find_code_blocks
from outrider.core.text import count_tokens
from outrider.pages.excerpt import find_excerpts
from outrider.pages.passages import split_passages

GUIDE = "\n\n".join(
    [
        "# Guide",
        "Welcome to the harbour. " * 20,
        "## Lamps",
        "The lamp turns once in eight seconds. " * 12,
        "It is lit at dusk. " * 30,
        "## Boats",
        "Boats must not anchor here. " * 20,
        "Fees are paid at the office. " * 20,
    ]
)
TEXT_PIECES = st.sampled_from(
    ["lamp", "boat", "harbour", "灯台", "港", "# Head", "\n\n", "\n", "- item", "é́", "\U0001f6a2", "x" * 900]
)
TEXTS = st.lists(TEXT_PIECES, max_size=60).map(" ".join)


def test_the_passage_that_answers_is_found():
    found = find_excerpts(GUIDE, "how often does the lamp turn", max_tokens=200)
    assert "eight seconds" in max(found, key=lambda each: each.score).text
    assert all("anchor" not in each.text for each in found)


def test_a_heading_counts_for_the_text_below_it():
    text = "# Fees\n\nTen pounds a night.\n\n# Hours\n\nFrom nine to five."
    assert [each.text for each in find_excerpts(text, "hours", max_tokens=100)] == ["# Hours\n\nFrom nine to five."]


def test_an_excerpt_names_the_headings_above_it_that_it_does_not_contain():
    text = "# Guide\n\n## Fees\n\n" + "Ten pounds a night. " * 80 + "\n\nDogs stay for free."
    (found,) = find_excerpts(text, "dogs", max_tokens=30)
    assert found.headings == ("Guide", "Fees")
    (found,) = find_excerpts("# Guide\n\n## Dogs\n\nThey stay for free.", "dogs", max_tokens=100)
    assert "Dogs" not in found.headings


def test_only_the_answering_sentences_of_long_passages_are_shown():
    chapters = [f"## Quay {n}\n\n" + f"Notes on quay {n} are kept by the harbour master. " * 9 for n in range(12)]
    chapters[3] += "The crane of this quay lifts forty tonnes. " + "Ships wait for it in turn. " * 9
    chapters[8] += "A crane stands here too, which lifts nine tonnes. " + "It is painted blue. " * 9
    found = find_excerpts("\n\n".join(chapters), "how many tonnes does a crane lift?", max_tokens=120)
    shown = " ".join(each.text for each in found)
    assert "forty tonnes" in shown
    assert "nine tonnes" in shown
    assert {each.headings for each in found} == {("Quay 3",), ("Quay 8",)}


def test_a_heading_stays_with_its_text_and_a_listing_is_shown_whole():
    step = "Each line of it is needed, and none of them can be left out or moved. "
    code = "```sh\n" + "\n".join(f"lamp --turn {n} --colour white --seconds eight" for n in range(9)) + "\n```"
    text = f"# Guide\n\n{step * 3}\n\n## Lighting\n\n{step * 3}\n\n## Turning\n\n{code}\n\n{step * 9}"
    (found,) = find_excerpts(text, "lamp --colour", max_tokens=200)
    assert found.text.startswith(f"## Turning\n\n{code}")
    (found,) = find_excerpts(text, "lighting", max_tokens=60)
    assert found.text.startswith(f"## Lighting\n\n{step.strip()}")


def test_adjacent_passages_are_joined_in_document_order():
    found = find_excerpts(GUIDE, "lamp lit dusk boats fees office", max_tokens=4_000)
    assert [each.start for each in found] == sorted(each.start for each in found)
    assert all(first.end < second.start for first, second in pairwise(found))


def test_unspaced_scripts_match():
    text = "東京は首都です。\n\n灯台は岬に立っています。\n\n港には船があります。" + "\n\n天気は晴れです。" * 200
    assert any("灯台" in each.text for each in find_excerpts(text, "灯台はどこ", max_tokens=300))


def test_a_query_without_matches_finds_nothing():
    assert find_excerpts(GUIDE, "quantum", max_tokens=500) == []
    assert find_excerpts(GUIDE, "...", max_tokens=500) == []
    assert find_excerpts("", "lamp", max_tokens=500) == []


def test_a_very_long_line_yields_the_matching_part():
    text = "filler " * 20_000 + "needle " + "filler " * 20_000
    found = find_excerpts(text, "needle", max_tokens=300)
    assert "needle" in found[0].text
    assert count_tokens(found[0].text) <= 300


@given(TEXTS, TEXTS, st.integers(min_value=1, max_value=400))
def test_excerpts_are_exact_ordered_and_within_budget(text: str, query: str, budget: int):
    found = find_excerpts(text, query, max_tokens=budget)
    assert all(text[each.start : each.end] == each.text and each.text.strip() == each.text for each in found)
    assert all(first.end <= second.start for first, second in pairwise(found))
    assert sum(count_tokens(each.text) for each in found) <= budget


@given(TEXTS)
def test_passages_cover_every_letter_once(text: str):
    found = split_passages(text, find_code_blocks(text))
    assert "".join("".join(text[each.start : each.end].split()) for each in found) == "".join(text.split())


MANUAL = "\n\n".join(
    f"## {name}\n\n{text} " + f"Notes on {name.lower()} are kept by the harbour master. " * 6
    for name, text in (
        (
            "Mooring",
            "How long a boat stays is what the office wants to know, and how it is tied up is what the crew wants.",
        ),
        ("Payment", "Charges are settled in advance; cancelled bookings are refunded within ten days."),
        ("Dogs", "On leads they are welcome on all quays."),
        ("Fuel", "Sold from eight to six at the [eastern quay](https://a.example/dogs/payment/refund)."),
    )
)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("how do I get a refund when I cancel?", "refunded within ten days"),
        ("are dogs welcome", "On leads"),
        ("Where is fuel selling?", "eastern quay"),
    ],
)
def test_a_question_in_whole_sentences_finds_its_answer(question: str, answer: str):
    assert answer in max(find_excerpts(MANUAL, question, max_tokens=150), key=lambda each: each.score).text


def test_table_rows_are_kept_whole_and_found_by_their_header():
    rows = [f"| {1900 + n} | {'red' if n == 70 else 'blue'} | " + "a ship of the line " * 6 + "|" for n in range(100)]
    table = "# Ships\n\n| Year | Colour | Name |\n| --- | --- | --- |\n" + "\n".join(rows) + "\n\nThe end."
    found = find_excerpts(table, "colour red", max_tokens=300)
    assert any(rows[70] in each.text for each in found)
    assert all(each.text.startswith(("|", "#")) and each.text.endswith(("|", ".")) for each in found)


def test_weakly_matching_passages_are_left_out():
    days = [f"## Day {n}\n\nThe harbour office is open on day {n}, all day long. " * 9 for n in range(9)]
    text = "\n\n".join([*days, "## Fees\n\nFor dogs: none."])
    found = find_excerpts(text, "fees for dogs in the harbour", max_tokens=2_000)
    assert [each.text for each in found] == ["## Fees\n\nFor dogs: none."]


def test_a_line_of_code_is_not_a_heading():
    code = "# Guide\n\n```sh\necho 1\n\n# Install\n\nmake install\n```\n\n" + "Then the lamp is lit. " * 60
    assert find_excerpts(code, "lamp", max_tokens=40)[0].headings == ("Guide",)


def test_words_in_other_scripts_and_forms_match():
    faq = "\n\n".join(["料金は一泊千円です。" * 9, "犬は無料です。", "Der Hund ist frei. " * 9, "Собаки бесплатно."])
    assert "犬は無料" in find_excerpts(faq, "犬は無料ですか", max_tokens=60)[0].text
    assert "Собаки" in find_excerpts(faq, "собаки", max_tokens=60)[0].text


def test_ten_thousand_listings_with_headings_in_them_take_no_time():
    text = "```\n\n# a\n\n```\n\n" * 5_000 + "The lamp."
    assert find_excerpts(text, "lamp", max_tokens=40)[0].headings == ()


def test_a_word_as_long_as_a_page_is_read_quickly():
    assert find_excerpts(f"{'aB' * 100_000}1 The tide turns at noon.", "When does the tide turn?", max_tokens=200)
