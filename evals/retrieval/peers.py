"""BM25 by others over the same judged set: what keyword search is measured against.

`bm25s` with Lucene's formula and the parameters of the published runs (k1 .9, b .4: Anserini's), and `rank-bm25` as it
comes. Both get what Lucene's English analyser makes of a text, as far as a few lines can: words in lower case without its
stop words, stemmed. Neither is a dependency: `pip install bm25s rank-bm25` beside Outrider.
"""

import re
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evals.retrieval.evaluate import Judged

DEPTH = 10
WORDS = re.compile(r"\w+")
# The stop words of Lucene's EnglishAnalyzer.
STOP = frozenset(
    [
        "a",
        "an",
        "and",
        "are",
        "as",
        "at",
        "be",
        "but",
        "by",
        "for",
        "if",
        "in",
        "into",
        "is",
        "it",
        "no",
        "not",
        "of",
        "on",
        "or",
        "such",
        "that",
        "the",
        "their",
        "then",
        "there",
        "these",
        "they",
        "this",
        "to",
        "was",
        "will",
        "with",
    ]
)
Run = dict[str, list[str]]

# nDCG@10 of BM25 over title and text as one field, as pyserini publishes it (castorini/pyserini, resources/beir.yaml).
PUBLISHED: Mapping[str, float] = {
    "trec-covid": 0.5947,
    "nfcorpus": 0.3218,
    "nq": 0.3055,
    "hotpotqa": 0.6330,
    "fiqa": 0.2361,
    "arguana": 0.3970,
}


def usable() -> "dict[str, Callable[[Judged], Run]]":
    """The peers that are installed here."""
    modules = {"bm25s": ("bm25s", bm25s), "rank-bm25": ("rank_bm25", rank_bm25)}
    return {name: run for name, (module, run) in modules.items() if find_spec(module)}


def bm25s(judged: "Judged") -> Run:
    """The ten best texts of each question by `bm25s`."""
    import bm25s as library  # ty: ignore[unresolved-import]

    engine: Any = library.BM25(method="lucene", k1=0.9, b=0.4)
    names = list(judged.texts)
    engine.index([tokens(" ".join(judged.texts[name])) for name in names], show_progress=False)
    found: Run = {}
    for question, asked in judged.questions.items():
        known = [token for token in tokens(asked) if token in engine.vocab_dict]
        if not known:
            found[question] = []
            continue
        places, scores = engine.retrieve([known], k=min(DEPTH, len(names)), show_progress=False)
        found[question] = [names[at] for at, score in zip(places[0], scores[0], strict=True) if score > 0]
    return found


def rank_bm25(judged: "Judged") -> Run:
    """The ten best texts of each question by `rank-bm25`."""
    import rank_bm25 as library  # ty: ignore[unresolved-import]

    names = list(judged.texts)
    engine: Any = library.BM25Okapi([tokens(" ".join(judged.texts[name])) for name in names])
    found: Run = {}
    for question, asked in judged.questions.items():
        scores = engine.get_scores(tokens(asked))
        best = sorted(range(len(names)), key=lambda at: -scores[at])[:DEPTH]
        found[question] = [names[at] for at in best if scores[at] > 0]
    return found


def tokens(text: str) -> list[str]:
    """The words of an English text as an English analyser has them."""
    from snowballstemmer import stemmer

    return stemmer("porter").stemWords([word for word in WORDS.findall(text.lower()) if word not in STOP])
