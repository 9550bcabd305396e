"""The words of names become vectors, summed far and near for each block."""

import numpy as np
import pytest

from outrider.pages.extraction.blocks.page_blocks import PageBlocks
from outrider.pages.extraction.blocks.tree_walker import cut_into_blocks
from outrider.pages.extraction.classify.attribute_words import MAX_NAME_CHARS, MAX_NAME_WORDS
from outrider.pages.extraction.classify.classifier import build_layout
from outrider.pages.extraction.classify.model import load_model
from outrider.pages.extraction.classify.name_vectors import NameVectors, hash_words
from outrider.pages.extraction.main_content import parse_html

VECTOR_TABLE = np.random.default_rng(0).normal(size=(256, 4)).astype(np.float32)


def build_columns(html: str) -> np.ndarray:
    return build_page_columns(NameVectors(VECTOR_TABLE), cut_into_blocks(parse_html(html).body))


def build_page_columns(table: NameVectors, page: PageBlocks) -> np.ndarray:
    view, naming = build_layout(page)
    return table.build_columns(naming, view.owner).T


def compute_vector(names: str) -> np.ndarray:
    rows = [row for name in names.split() for row in hash_words(name, len(VECTOR_TABLE))]
    return VECTOR_TABLE[rows].sum(axis=0) / np.sqrt(max(1, len(rows)))


def test_a_block_is_described_by_all_surrounding_names_and_the_nearest_three():
    html = "<div class='far'><div class='outer'><div id='middle'><p class='own'>Some words</p></div></div></div>"
    (found,) = build_columns(html)
    assert found == pytest.approx(
        np.append(compute_vector("far outer middle own"), compute_vector("outer middle own")), abs=1e-5
    )


def test_the_body_and_elements_without_names_contribute_nothing():
    assert not build_columns("<body class='post'><p>Some words</p><ul><li>and more</li></ul>").any()


def test_name_vectors_of_a_page_do_not_depend_on_earlier_pages():
    table = NameVectors(VECTOR_TABLE)
    first, second = (cut_into_blocks(parse_html(f"<p class='{name}'>Some words").body) for name in ("left", "right"))
    before = build_page_columns(table, first)
    build_page_columns(table, second)
    assert (build_page_columns(table, first) == before).all()
    assert (build_page_columns(table, second) != before).any()


def test_only_a_limited_number_of_names_is_read():
    lines = (" ".join(f"{chr(97 + line % 26)}{at}x{line}y" for at in range(60)) for line in range(600))
    page = cut_into_blocks(parse_html("".join(f"<p class='{names}'>Some words" for names in lines)).body)
    naming = build_layout(page)[1]
    assert MAX_NAME_WORDS <= len(naming.word_numbers) <= MAX_NAME_WORDS + MAX_NAME_CHARS
    assert len(naming.name_sets) == len(page.elements)


def test_names_and_their_parts_are_hashed_as_words():
    assert set(hash_words("post-title", 1 << 20)) == set(hash_words("postTitle", 1 << 20))
    assert {*hash_words("post", 1 << 20), *hash_words("title", 1 << 20)} < set(hash_words("post-title", 1 << 20))


def test_the_shipped_model_takes_the_features_and_both_name_sums():
    learned = load_model()
    assert len(learned.named_layers[0]) == len(learned.mean) + 2 * learned.name_vectors.table.shape[1]
