"""The split first layer of a network gives the same result as the whole one."""

import numpy as np
import pytest

from outrider.pages.extraction.blocks.tree_walker import cut_into_blocks
from outrider.pages.extraction.classify.block_arrays import build_block_arrays
from outrider.pages.extraction.classify.classifier import build_layout
from outrider.pages.extraction.classify.features import BlockFeatures, build_features
from outrider.pages.extraction.classify.lexicon import build_lexicon_columns
from outrider.pages.extraction.classify.model import load_model
from outrider.pages.extraction.classify.network import append_lexicon_columns
from outrider.pages.extraction.classify.signals import read_signals
from outrider.pages.extraction.main_content import parse_html

ITEMS = "".join(f"<li class='item-{at % 3} teaser'><a href='/{at}'>Port {at}</a> {at * 7} £" for at in range(40))
PORTS_HTML = f"""<title>Ports of the coast</title><body class=home><nav class=main-nav><a href=/>Home</a></nav>
<main id=content><h1>Ports of the coast</h1><p class=intro>{"Ships call twice a week, but not in winter. " * 9}</p>
<ul class=cards>{ITEMS}</ul></main><footer>© Harbour Board, 2024</footer>"""
TREE = parse_html(PORTS_HTML)
BLOCKS = cut_into_blocks(TREE.body)
FEATURES = build_features(BLOCKS, read_signals(TREE, "https://ports.example/a/12345"), build_block_arrays(BLOCKS))


def test_features_survive_a_round_trip_through_rows():
    rows = FEATURES.to_rows()
    assert rows.shape[0] == len(BLOCKS.texts)
    assert (BlockFeatures.from_rows(rows).to_rows() == rows).all()


@pytest.mark.parametrize("by_name", [False, True])
def test_a_network_computes_its_layers_one_after_another(by_name: bool):
    learned, (view, naming) = load_model(), build_layout(BLOCKS)
    lexicon = build_lexicon_columns(naming, view.owner, view.words, learned.name_weights)
    name_columns = learned.name_vectors.build_columns(naming, view.owner) if by_name else None
    whole = np.vstack([FEATURES.to_rows().T, lexicon]).T[:, append_lexicon_columns(learned.columns)]
    rows = np.clip((whole - learned.mean) * learned.scale, -4, 4)
    layers = learned.named_layers if by_name else learned.layers
    rows = rows if name_columns is None else np.hstack([rows, name_columns.T])
    for weights, bias in zip(layers[:-2:2], layers[1:-2:2], strict=True):
        rows = np.maximum(rows @ weights.astype(np.float32) + bias, 0)
    expected = (rows @ layers[-2].astype(np.float32) + layers[-1])[:, 0]
    assert learned.score_blocks(FEATURES, lexicon, name_columns) == pytest.approx(expected, abs=1e-3)
