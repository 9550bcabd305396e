import subprocess
import sys
import unicodedata
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from outrider.core.text import COMBINING_CATEGORIES, TextSlice, count_tokens, cut_text, cut_tokens, extract_terms

LETTERS = st.sampled_from([*"ab. \n", "\n\n", ". ", "é", "e\u0301", "漢", "。", "क्", "👍🏽", "한", "\u0301", "\u200d"])
LETTER_TEXTS = st.lists(LETTERS, max_size=120).map("".join) | st.text(max_size=200)
# Cases of the o200k pattern: kinds of spaces and line ends, letter case, marks, contractions, digits, slashes.
BREAKS = st.sampled_from(
    [*" \t\n\r\f/!'-aBǅʰ1٣", "\u3000", "\x85", "\u2028", "  ", "'S", "'ſ", "\u0301", "<|endoftext|>"]
)


def cut_into_pieces(text: str, limit: int) -> list[TextSlice]:
    found = [cut_text(text, limit)]
    while (offset := found[-1].next_offset) is not None:
        found.append(cut_text(text, limit, offset))
    return found


@given(LETTER_TEXTS, st.integers(-5, 60))
@example("a" + "\u0301" * 50, 5)
def test_pieces_join_to_the_whole_and_none_exceeds_the_limit(text: str, limit: int):
    found = cut_into_pieces(text, limit)
    assert "".join(piece.text for piece in found) == text
    assert all(len(piece.text) <= max(limit, 1) for piece in found)
    assert all(piece.text for piece in found if piece.truncated)


@given(LETTER_TEXTS, st.integers(10, 60))
def test_a_few_combining_marks_are_never_separated_from_their_letter(text: str, limit: int):
    for piece in cut_into_pieces(text, limit)[:-1]:
        after = text[piece.offset + len(piece.text) :]
        if unicodedata.category(after[0]) in COMBINING_CATEGORIES:
            assert all(unicodedata.category(letter) in COMBINING_CATEGORIES for letter in piece.text[-8:])


def test_a_letter_moves_to_the_next_piece_with_its_marks():
    assert [piece.text for piece in cut_into_pieces("abce\u0301\u0327d", 5)] == ["abc", "e\u0301\u0327d"]
    assert [piece.text for piece in cut_into_pieces("aaaa👍🏽", 5)] == ["aaaa", "👍🏽"]


def test_a_long_run_of_combining_marks_is_cut():
    assert [len(piece.text) for piece in cut_into_pieces("a" + "\u0301" * 99, 50)] == [50, 50]


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("x" * 85 + "y. " + "\n\nzz zz" + "q" * 50, "x" * 85 + "y. \n\n"),
        ("x" * 88 + "\n" + "y. zz" + "q" * 50, "x" * 88 + "\n"),
        ("x" * 88 + ". zz " + "q" * 50, "x" * 88 + ". "),
        ("x" * 90 + " " + "q" * 50, "x" * 90 + " "),
        ("漢" * 90 + "。" + "字" * 50, "漢" * 90 + "。"),
        ("x y" + "q" * 200, "x y" + "q" * 97),
    ],
    ids=["paragraph", "line", "sentence", "word", "full-width stop", "nothing near"],
)
def test_a_piece_ends_at_the_best_boundary(text: str, piece: str):
    assert cut_text(text, 100).text == piece


def test_a_heading_moves_to_the_next_piece_with_its_section():
    first = "Words of a first part.\n\n" * 8
    assert cut_text(first + "## Second\n\n### Its section\n\nMore words.", len(first) + 32).text == first


def test_text_within_the_limit_is_whole():
    whole = cut_text("short", 5)
    assert (whole.text, whole.truncated, whole.next_offset) == ("short", False, None)
    assert whole.to_dict() == {"truncated": False, "total_chars": 5}


def test_a_piece_reports_where_to_continue():
    piece = cut_text("one two three", 8)
    assert piece.to_dict() == {"truncated": True, "total_chars": 13, "next_offset": 8}
    assert cut_text("one two three", 8, 8).text == "three"


@pytest.mark.parametrize(("offset", "text"), [(-3, "abc"), (3, ""), (99, ""), (1, "bc")])
def test_an_offset_outside_the_text_is_moved_into_it(offset: int, text: str):
    for piece in (cut_text("abc", 10, offset), cut_tokens("abc", 10, offset)):
        assert (piece.text, piece.next_offset, piece.total) == (text, None, 3)


def test_token_counts_match_o200k():
    assert [count_tokens(text) for text in ("", "hello world", "Straße", "<|endoftext|>")] == [0, 2, 2, 7]


def test_a_lone_surrogate_counts_like_its_replacement():
    assert count_tokens("a \ud800 b") == count_tokens("a \ufffd b")
    assert count_tokens("\ud83d\ude00") == count_tokens("\U0001f600")
    assert count_tokens("a\0b") == 3


@pytest.fixture(scope="module")
def reference():
    """The source of the ranks. Only its extension is used, because the package takes a second to parse all of them."""
    package = find_spec("bpe_openai")
    spec = package and PathFinder.find_spec("bpe_openai._bindings", package.submodule_search_locations)
    assert spec
    assert spec.loader
    bindings = module_from_spec(spec)
    spec.loader.exec_module(bindings)
    return bindings.tokenizer_for_encoding("o200k_base")


def test_token_counts_of_documents_match_the_reference(reference):
    documents = [path.read_text(encoding="utf-8") for path in (Path(__file__).parents[3] / "docs").rglob("*.md")]
    assert sum(map(len, documents)) > 300_000
    assert [count_tokens(text) for text in documents] == [reference.count(text) for text in documents]


@given(st.lists(BREAKS | LETTERS, max_size=200).map("".join) | st.text(max_size=200))
@example("!\n \n  /x\r\n\t y  ")
def test_any_text_has_as_many_tokens_as_the_source_counts(reference, text: str):
    assert count_tokens(text) == reference.count(text)


def test_a_million_spaces_and_a_very_long_word_are_counted():
    assert (count_tokens(" " * 1_000_000), count_tokens("a" * 100_000)) == (7_813, 12_500)


def test_tokens_are_counted_when_the_thread_that_loaded_the_vocabulary_has_ended():
    program = """
from threading import Thread
def count():
    from outrider.core.text import count_tokens
    count_tokens("some words " * 200)
for thread in (Thread(target=count) for _ in range(20)):
    thread.start()
    thread.join()
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@given(st.lists(LETTERS, max_size=300).map("".join), st.integers(8, 60), st.integers(0, 20))
@example("dense! " + "漢字仮名" * 40 + "a" * 4000, 30, 0)
@example("a" * 4000 + "漢字仮名🏴" * 400, 50, 0)
def test_the_token_limit_holds_exactly(text: str, limit: int, offset: int):
    piece = cut_tokens(text, limit, offset)
    assert count_tokens(piece.text) <= limit
    assert text[piece.offset :].startswith(piece.text)
    assert piece.text or not text[piece.offset :]


@given(st.lists(LETTERS, max_size=200).map("".join), st.integers(8, 40))
def test_pieces_by_tokens_join_to_the_whole(text: str, limit: int):
    joined, offset = "", 0
    while offset is not None:
        piece = cut_tokens(text, limit, offset)
        joined, offset = joined + piece.text, piece.next_offset
    assert joined == text


@pytest.mark.parametrize("limit", [0, 1])
def test_a_limit_below_one_character_still_advances(limit: int):
    assert cut_tokens("🏴🏴", limit).text == "🏴"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, World! v1.2", ["hello", "world", "v1", "2"]),
        ("snake_case", ["snake_case"]),
        ("ÜNÏCODE café Việt", ["unicode", "cafe", "viet"]),
        ("e\u0301te\u0301", ["ete"]),
        ("Straße ΣΊΣΥΦΟΣ İstanbul", ["strasse", "σισυφοσ", "istanbul"]),
        ("ℌello ﬁne ①", ["hello", "fine", "1"]),
        ("Wort\u00adtrennung", ["worttrennung"]),
        ("שָׁלוֹם עֲלֵיכֶם", ["שלום", "עליכם"]),
        ("בית־ספר", ["בית", "ספר"]),
        ("مُحَمَّد", ["محمد"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("தமிழ் মানুষ", ["தமிழ்", "মানুষ"]),
        ("क\u094d\u200dष", ["क\u094dष"]),
        ("東京都 人々", ["東京", "京都", "人々"]),
        ("日", ["日"]),
        ("がくせい", ["がく", "くせ", "せい"]),
        ("ｶﾞｸ", ["ガク"]),
        ("𠮷野家", ["𠮷野", "野家"]),
        ("서울에서", ["서울", "울에", "에서"]),
        ("Python入門", ["python", "入門"]),
        ("1️⃣ 👍🏽", ["1"]),
        ("!?… —", []),
        ("", []),
    ],
)
def test_words_are_folded_for_matching(text: str, expected: list[str]):
    assert extract_terms(text) == expected


@pytest.mark.parametrize("text", ["ภาษาไทย", "ที่นี่", "ພາສາລາວ", "မြန်မာ", "ភាសាខ្មែរ"])
def test_scripts_without_spaces_become_character_pairs_with_all_marks(text: str):
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFKD", text))
    assert extract_terms(text) == [folded[at : at + 2] for at in range(len(folded) - 1)]


@given(st.text(max_size=80))
def test_terms_do_not_depend_on_the_unicode_normalization_of_the_text(text: str):
    assert (
        extract_terms(unicodedata.normalize("NFC", text))
        == extract_terms(unicodedata.normalize("NFD", text))
        == extract_terms(text)
    )


@given(st.text(max_size=80))
def test_a_term_contains_nothing_that_prevents_matching(text: str):
    for term in extract_terms(text):
        assert term
        assert unicodedata.is_normalized("NFC", term)
        assert not any(letter.isspace() or "\u0300" <= letter <= "\u036f" for letter in term)
