"""The first layer of a network, taken apart, says what it says as a whole."""

import numpy as np
import pytest

from outrider.pages.content.judging.features import Features, describe
from outrider.pages.content.judging.judge import standing_of
from outrider.pages.content.judging.lexicon import columns
from outrider.pages.content.judging.model import model
from outrider.pages.content.judging.network import used
from outrider.pages.content.judging.signals import read_signals
from outrider.pages.content.judging.view import view_of
from outrider.pages.content.main import parsed
from outrider.pages.content.walking.walk import cut_into_blocks

ITEMS = "".join(f"<li class='item-{at % 3} teaser'><a href='/{at}'>Port {at}</a> {at * 7} £" for at in range(40))
PAGE = f"""<title>Ports of the coast</title><body class=home><nav class=main-nav><a href=/>Home</a></nav>
<main id=content><h1>Ports of the coast</h1><p class=intro>{"Ships call twice a week, but not in winter. " * 9}</p>
<ul class=cards>{ITEMS}</ul></main><footer>© Harbour Board, 2024</footer>"""
TREE = parsed(PAGE)
BLOCKS = cut_into_blocks(TREE.body)
FEATURES = describe(BLOCKS, read_signals(TREE, "https://ports.example/a/12345"), view_of(BLOCKS))


def test_features_can_be_put_together_and_taken_apart_again():
    rows = FEATURES.rows()
    assert rows.shape[0] == len(BLOCKS.texts)
    assert (Features.of(rows).rows() == rows).all()


@pytest.mark.parametrize("by_name", [False, True])
def test_a_network_says_what_its_layers_say_one_after_the_other(by_name: bool):
    learned, (view, naming) = model(), standing_of(BLOCKS)
    lexicon = columns(naming, view.owner, view.words, learned.names)
    meant = learned.meanings.columns(naming, view.owner) if by_name else None
    whole = np.vstack([FEATURES.rows().T, lexicon]).T[:, used(learned.columns)]
    rows = np.clip((whole - learned.mean) * learned.scale, -4, 4)
    layers = learned.by_name if by_name else learned.layers
    rows = rows if meant is None else np.hstack([rows, meant.T])
    for weights, bias in zip(layers[:-2:2], layers[1:-2:2], strict=True):
        rows = np.maximum(rows @ weights.astype(np.float32) + bias, 0)
    expected = (rows @ layers[-2].astype(np.float32) + layers[-1])[:, 0]
    assert learned.scores(FEATURES, lexicon, meant) == pytest.approx(expected, abs=1e-3)
