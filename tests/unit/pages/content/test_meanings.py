"""What the words of names mean: sums of their vectors, far and near, for each block."""

import numpy as np
import pytest

from outrider.pages.content.judging.judge import standing_of
from outrider.pages.content.judging.meanings import Meanings, places
from outrider.pages.content.judging.model import model
from outrider.pages.content.judging.naming import LIMIT, MOST
from outrider.pages.content.main import parsed
from outrider.pages.content.walking.blocks import Blocks
from outrider.pages.content.walking.walk import cut_into_blocks

TABLE = np.random.default_rng(0).normal(size=(256, 4)).astype(np.float32)


def told(html: str) -> np.ndarray:
    return meant(Meanings(TABLE), cut_into_blocks(parsed(html).body))


def meant(table: Meanings, page: Blocks) -> np.ndarray:
    view, naming = standing_of(page)
    return table.columns(naming, view.owner).T


def vector(names: str) -> np.ndarray:
    rows = [row for name in names.split() for row in places(name, len(TABLE))]
    return TABLE[rows].sum(axis=0) / np.sqrt(max(1, len(rows)))


def test_a_block_is_told_by_all_elements_around_it_and_by_the_nearest_three():
    html = "<div class='far'><div class='outer'><div id='middle'><p class='own'>Some words</p></div></div></div>"
    (found,) = told(html)
    assert found == pytest.approx(np.append(vector("far outer middle own"), vector("outer middle own")), abs=1e-5)


def test_the_body_and_elements_without_names_say_nothing():
    assert not told("<body class='post'><p>Some words</p><ul><li>and more</li></ul>").any()


def test_a_page_says_the_same_whatever_was_read_before():
    table = Meanings(TABLE)
    first, second = (cut_into_blocks(parsed(f"<p class='{name}'>Some words").body) for name in ("left", "right"))
    before = meant(table, first)
    meant(table, second)
    assert (meant(table, first) == before).all()
    assert (meant(table, second) != before).any()


def test_of_a_page_of_endless_names_only_some_are_read():
    lines = (" ".join(f"{chr(97 + line % 26)}{at}x{line}y" for at in range(60)) for line in range(600))
    page = cut_into_blocks(parsed("".join(f"<p class='{names}'>Some words" for names in lines)).body)
    naming = standing_of(page)[1]
    assert MOST <= len(naming.spelt) <= MOST + LIMIT
    assert len(naming.own) == len(page.elements)


def test_parts_of_names_and_names_as_wholes_are_words():
    assert set(places("post-title", 1 << 20)) == set(places("postTitle", 1 << 20))
    assert {*places("post", 1 << 20), *places("title", 1 << 20)} < set(places("post-title", 1 << 20))


def test_the_network_of_the_package_takes_the_features_and_both_sums():
    learned = model()
    assert len(learned.by_name[0]) == len(learned.mean) + 2 * learned.meanings.table.shape[1]
