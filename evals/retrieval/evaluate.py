"""Measure nDCG@10 of keyword, semantic and hybrid search through the content store.

    python -m evals.retrieval.evaluate [FOLDER …]

Folders have the layout of BEIR (github.com/beir-cellar/beir), `corpus.jsonl`, `queries.jsonl`, `qrels/test.tsv`, and
the name of their set. Without arguments, the small set next to this file and the sets in the folder `OUTRIDER_BEIR` are
used. Public sets are not part of the repository. For comparison, the output has the BM25 scores of other
implementations on the same set (`peers`, if installed) and published ones.
"""

import csv
import json
import math
import os
import sys
import tempfile
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import anyio

from evals.retrieval import peers
from outrider.content.models import ContentDraft
from outrider.content.search import SearchMode, SearchOptions
from outrider.content.semantic.embedder import Embedder
from outrider.content.semantic.select_embedder import load_embedder_providers, select_embedder
from outrider.content.settings import ContentSettings, EmbeddingSettings
from outrider.content.stores import ContentStores
from outrider.core.context import Call
from outrider.core.database.database import Database
from outrider.core.egress.guard import EgressGuard
from outrider.core.egress.policy import EgressSettings
from outrider.core.errors import NotConfigured
from outrider.core.http import HttpClient

OWN_FOLDER = Path(__file__).parent / "judged"
SEARCH_MODES: tuple[SearchMode, ...] = ("keyword", "semantic", "hybrid")
CALL = Call(session="evaluation")
RESULT_DEPTH = 10


@dataclass(frozen=True)
class JudgedSet:
    """Texts, questions, and the graded texts that answer each question."""

    name: str
    texts: Mapping[str, tuple[str, str]]
    questions: Mapping[str, str]
    grades: Mapping[str, Mapping[str, int]]


def read_set(folder: Path) -> JudgedSet:
    """Read the judged set in a folder."""
    texts = {str(each["_id"]): (each.get("title") or "", each["text"]) for each in _read_lines(folder / "corpus.jsonl")}
    grades: dict[str, dict[str, int]] = {}
    with (folder / "qrels" / "test.tsv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            grades.setdefault(row["query-id"], {})[row["corpus-id"]] = int(row["score"])
    asked = {str(each["_id"]): each["text"] for each in _read_lines(folder / "queries.jsonl")}
    return JudgedSet(folder.name, texts, {question: asked[question] for question in grades}, grades)


def compute_ndcg(found: Sequence[str], grades: Mapping[str, int]) -> float:
    """Return the normalised discounted cumulative gain of the first ten (Järvelin and Kekäläinen, 2002)."""
    best = sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:RESULT_DEPTH]
    gained = [max(grades.get(each, 0), 0) for each in found[:RESULT_DEPTH]]
    return _discount_gains(gained) / _discount_gains(best) if best else 0.0


def measure_modes(judged: JudgedSet, provider: str) -> dict[SearchMode, float]:
    """Return the mean nDCG@10 of each mode with one provider of vectors."""
    scores = anyio.run(score_questions, judged, provider)
    return {mode: sum(each.values()) / len(each) for mode, each in scores.items()}


async def score_questions(judged: JudgedSet, provider: str) -> dict[SearchMode, dict[str, float]]:
    """Return the nDCG@10 by mode and question."""
    async with open_filled_store(judged, provider) as content:
        found: dict[SearchMode, dict[str, float]] = {mode: {} for mode in SEARCH_MODES}
        for name, question in judged.questions.items():
            for mode in SEARCH_MODES:
                answer = await content.search(CALL, question, SearchOptions(mode=mode, top_n=5 * RESULT_DEPTH))
                files = list(dict.fromkeys(hit.filename for hit in answer.hits))
                found[mode][name] = compute_ndcg(files, judged.grades[name])
    return found


@asynccontextmanager
async def open_filled_store(judged: JudgedSet, provider: str) -> AsyncGenerator[ContentStores]:
    """Open a content store of the set's texts, each with its vectors."""
    batch_texts = 500  # texts in one transaction
    http = HttpClient(EgressGuard(EgressSettings()))
    with tempfile.TemporaryDirectory() as folder:
        database = Database.from_file(Path(folder) / "evaluation.db")
        embedder = _select_embedder(provider, http)
        content = ContentStores(database, Path(folder) / "content", ContentSettings(), embedder=lambda: embedder)
        drafts = [ContentDraft(text, filename=name, title=title) for name, (title, text) in judged.texts.items()]
        for start in range(0, len(drafts), batch_texts):
            await content.add_many(CALL, drafts[start : start + batch_texts])
        store = await content.get_store(CALL)
        await _embed_store(database, Path(folder) / "content" / "vectors", embedder, store.id)
        yield content
        await content.close()
        await database.close()
    await http.close()


def list_providers() -> list[str]:
    """List the providers of vectors that need no endpoint and work here."""
    found: list[str] = []
    for name in load_embedder_providers():
        try:
            if name != "endpoint" and select_embedder(
                EmbeddingSettings(provider=name), _NO_HTTP, {}, folder=_find_models_folder()
            ):
                found.append(name)
        except NotConfigured:
            continue
    return found


def list_folders() -> list[Path]:
    """List the folders of the available sets."""
    beir_variable = "OUTRIDER_BEIR"
    more = os.environ.get(beir_variable)
    return [OWN_FOLDER, *(path.parent for path in sorted(Path(more).glob("*/corpus.jsonl")))] if more else [OWN_FOLDER]


def main(chosen_folders: Sequence[Path]) -> None:
    """Print a line for each set and provider."""
    print(f"{'set':20} {'vectors':10}", *(f"{mode:>9}" for mode in SEARCH_MODES))
    for folder in chosen_folders:
        judged = read_set(folder)
        for provider in list_providers():
            scores = measure_modes(judged, provider)
            print(f"{judged.name:20} {provider:10}", *(f"{scores[mode]:9.3f}" for mode in SEARCH_MODES), flush=True)
        for name, score in measure_peers(judged).items():
            print(f"{judged.name:20} {name:10} {score:9.3f}", flush=True)


def measure_peers(judged: JudgedSet) -> dict[str, float]:
    """Return the mean nDCG@10 of BM25: of installed peers, and as published."""
    found: dict[str, float] = {}
    for name, run in peers.list_installed().items():
        best = run(judged)
        found[name] = sum(compute_ndcg(best[question], judged.grades[question]) for question in best) / len(best)
    return found | ({"published": peers.PUBLISHED_NDCG[judged.name]} if judged.name in peers.PUBLISHED_NDCG else {})


_NO_HTTP = HttpClient(EgressGuard(EgressSettings()))


def _select_embedder(provider: str, http: HttpClient) -> Embedder:
    embedder = select_embedder(EmbeddingSettings(provider=provider), http, {}, folder=_find_models_folder())
    assert embedder
    return embedder


def _find_models_folder() -> Path | None:
    models_variable = "OUTRIDER_MODELS"  # the folder of installed models; ~/.outrider/models if it is not set
    return Path(os.environ[models_variable]) if models_variable in os.environ else None


async def _embed_store(database: Database, folder: Path, embedder: Embedder, store: str) -> None:
    from outrider.content.semantic.vector_index import VectorIndex

    vectors = VectorIndex(database, embedder, folder)
    while await vectors.embed_missing([store]):
        pass


def _discount_gains(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(place + 2) for place, gain in enumerate(gains))


def _read_lines(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


if __name__ == "__main__":
    main([Path(each) for each in sys.argv[1:]] or list_folders())
