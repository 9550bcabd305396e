"""Passages are complete, have exact offsets, and keep the structure."""

import re
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from outrider.content.chunking.chunker import OVERLAP_CHARS, PASSAGE_CHARS, Chunk, chunk_text
from outrider.content.chunking.line_index import LineIndex

PIECES = st.sampled_from(
    [
        *("\n", "\r\n", "\r", "\n\n", " ", "\t", "\0", "word ", "Sentence one. ", "語", "日本語の文章。", "ไทย", "é"),
        *("👨\u200d👩\u200d👧", "a\u0301\u0302", "# Heading\n", "## Sub\r\n", "```python\n", "```\n", "~~~\n"),
        *("| a | b |\n|---|---|\n", "- item\n", "    code\n", "x" * 300, "y z " * 200),
    ]
)
TEXTS = st.one_of(st.text(max_size=400), st.lists(PIECES, max_size=120).map("".join))


def join_passages(found: list[Chunk]) -> str:
    """Return the whole text, joined by the passages' offsets."""
    text = ""
    for chunk in found:
        assert chunk.start <= len(text) < chunk.end
        text += chunk.text[len(text) - chunk.start :]
    return text


@given(TEXTS, st.booleans())
def test_passages_join_to_the_exact_text_by_their_offsets(text: str, markdown: bool):
    found = chunk_text(text, markdown=markdown)
    assert join_passages(found) == text
    assert all(chunk.text == text[chunk.start : chunk.end] for chunk in found)
    assert [chunk.number for chunk in found] == list(range(len(found)))


@given(TEXTS, st.booleans())
def test_line_numbers_of_a_passage_match_its_characters(text: str, markdown: bool):
    ends = [found.end() for found in re.finditer(r"\r\n|\r|\n", text)]
    for chunk in chunk_text(text, markdown=markdown):
        assert chunk.from_line == 1 + sum(end <= chunk.start for end in ends)
        assert chunk.to_line == 1 + sum(end <= chunk.end - 1 for end in ends)
        assert text[chunk.end - 1 : chunk.end + 1] != "\r\n"
        assert text[max(chunk.start - 1, 0) : chunk.start + 1] != "\r\n"


@given(TEXTS, st.booleans())
def test_no_passage_exceeds_the_maximum_length(text: str, markdown: bool):
    assert all(len(chunk.text) <= PASSAGE_CHARS[1] + 2 * OVERLAP_CHARS for chunk in chunk_text(text, markdown=markdown))


@given(TEXTS)
def test_lines_are_counted_as_editors_count_them(text: str):
    lines = LineIndex(text)
    expected = re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z", text)
    assert len(lines) == len(expected)
    for number, line in enumerate(expected, 1):
        start = lines.find_start(number)
        assert text[start : start + len(line)] == line
        assert lines.find_line(start) == lines.find_line(start + len(line) - 1) == number


def test_code_in_fences_stays_whole_where_it_fits():
    prose = "Some words about the matter at hand, quite a few of them. " * 9
    code = "```python\n" + "\n".join(f"value_{n} = compute({n})\n" for n in range(20)) + "```\n"
    text = "\n\n".join(f"# Part {n}\n\n{prose}\n\n{code}" for n in range(200))
    parted = [chunk for chunk in chunk_text(text, markdown=True) if chunk.text.count("```") % 2]
    assert len(text) > 150_000
    assert not parted


def test_passages_of_real_documents_keep_code_whole_and_headings_with_their_text():
    documents = [path.read_text(encoding="utf-8") for path in (Path(__file__).parents[4] / "docs/guides").glob("*.md")]
    sizes = []
    for text in documents:
        found = chunk_text(text, markdown=True)
        sizes += [len(chunk.text) for chunk in found[:-1]]
        for code in re.finditer(r"^```\w*\n.*?^```$", text, re.DOTALL | re.MULTILINE):
            start, end = code.span()
            whole = any(chunk.start <= start and end <= chunk.end for chunk in found)
            assert whole or end - start > PASSAGE_CHARS[0], code[0]
        assert not [chunk.text for chunk in found if chunk.text.rstrip().rsplit("\n", 1)[-1].startswith("# ")]
    assert PASSAGE_CHARS[0] < sum(sizes) / len(sizes) <= max(sizes) <= PASSAGE_CHARS[1]


def test_plain_text_is_cut_between_paragraphs_and_the_last_short_one_is_repeated():
    paragraph, short = "Some words. " * 60, "The last word."
    found = chunk_text(f"{paragraph}\n\n{short}\n\n" * 4)
    assert [chunk.text[:14] for chunk in found] == ["Some words. So", *[short] * (len(found) - 1)]


def test_a_fence_of_thousands_of_lines_is_not_taken_for_headings():
    text = "# Real\n\n```sh\n" + "# a comment, no heading\nls -l\n" * 5_000 + "```\n\n# Next\n\nwords\n"
    found = chunk_text(text, markdown=True)
    assert {chunk.heading for chunk in found} == {"Real", "Next"}
    assert join_passages(found) == text


def test_a_passage_knows_the_headings_above_it():
    text = "# Tea\n\n" + "Leaves. " * 150 + "\n\n## Green ##\n\n" + "Steep. " * 150 + "\n\n# Coffee\n\nRoast."
    found = chunk_text(text, markdown=True)
    assert [chunk.heading for chunk in found if "Steep" in chunk.text][-1] == "Tea > Green"
    assert found[-1].heading.endswith("Coffee")
    assert {chunk.heading for chunk in chunk_text(text)} == {""}


def test_a_line_of_megabytes_is_cut_between_words_with_an_overlap():
    text = "every word counts here. " * 50_000
    found = chunk_text(text, markdown=True)
    assert join_passages(found) == text
    assert all(chunk.from_line == chunk.to_line == 1 for chunk in found)
    assert all(chunk.text.startswith(("every", "word", "counts", "here")) for chunk in found)
    overlaps = [before.end - after.start for before, after in pairwise(found)]
    assert all(0 < overlap <= OVERLAP_CHARS for overlap in overlaps[:-1])


def test_megabytes_without_any_boundary_are_cut_too():
    for text in ("語" * 300_000, "x" * 300_000, "\0" * 300_000, " " * 300_000):
        found = chunk_text(text, markdown=True)
        assert join_passages(found) == text
        assert all(len(chunk.text) <= PASSAGE_CHARS[1] for chunk in found)


def test_the_empty_text_has_no_passage():
    assert chunk_text("") == []
    assert len(LineIndex("")) == 0
