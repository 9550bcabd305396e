"""Search the same judged sets with other implementations of BM25.

`bm25s` with Lucene's formula and the parameters of the published runs (k1 .9, b .4: Anserini's), and `rank-bm25` with
its defaults. Both get texts as analysed by Lucene's English analyser, approximated in a few lines: words in lower case
without its stop words, stemmed. Neither is a dependency: run `pip install bm25s rank-bm25` in Outrider's environment.
"""

import re
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evals.retrieval.evaluate import JudgedSet

RESULT_DEPTH = 10
WORD_PATTERN = re.compile(r"\w+")
# The stop words of Lucene's EnglishAnalyzer.
STOP_WORDS = frozenset(
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
PUBLISHED_NDCG: Mapping[str, float] = {
    "trec-covid": 0.5947,
    "nfcorpus": 0.3218,
    "nq": 0.3055,
    "hotpotqa": 0.6330,
    "fiqa": 0.2361,
    "arguana": 0.3970,
}


def list_installed() -> "dict[str, Callable[[JudgedSet], Run]]":
    """Return the peers that are installed here."""
    modules = {"bm25s": ("bm25s", search_with_bm25s), "rank-bm25": ("rank_bm25", search_with_rank_bm25)}
    return {name: run for name, (module, run) in modules.items() if find_spec(module)}


def search_with_bm25s(judged: "JudgedSet") -> Run:
    """Return the ten best texts of each question by `bm25s`."""
    import bm25s as library  # ty: ignore[unresolved-import]

    engine: Any = library.BM25(method="lucene", k1=0.9, b=0.4)
    names = list(judged.texts)
    engine.index([tokenize(" ".join(judged.texts[name])) for name in names], show_progress=False)
    found: Run = {}
    for question, asked in judged.questions.items():
        known = [token for token in tokenize(asked) if token in engine.vocab_dict]
        if not known:
            found[question] = []
            continue
        places, scores = engine.retrieve([known], k=min(RESULT_DEPTH, len(names)), show_progress=False)
        found[question] = [names[at] for at, score in zip(places[0], scores[0], strict=True) if score > 0]
    return found


def search_with_rank_bm25(judged: "JudgedSet") -> Run:
    """Return the ten best texts of each question by `rank-bm25`."""
    import rank_bm25 as library  # ty: ignore[unresolved-import]

    names = list(judged.texts)
    engine: Any = library.BM25Okapi([tokenize(" ".join(judged.texts[name])) for name in names])
    found: Run = {}
    for question, asked in judged.questions.items():
        scores = engine.get_scores(tokenize(asked))
        best = sorted(range(len(names)), key=lambda at: -scores[at])[:RESULT_DEPTH]
        found[question] = [names[at] for at in best if scores[at] > 0]
    return found


def tokenize(text: str) -> list[str]:
    """Return the words of an English text like an English analyzer."""
    from snowballstemmer import stemmer

    return stemmer("porter").stemWords([word for word in WORD_PATTERN.findall(text.lower()) if word not in STOP_WORDS])
