"""nDCG@10 of keyword, semantic and hybrid search over judged queries, through the content store itself.

    python -m evals.retrieval.evaluate [FOLDER …]

Folders are in the layout of BEIR (github.com/beir-cellar/beir): `corpus.jsonl`, `queries.jsonl`, `qrels/test.tsv`, and
are called as the set is. Without any, the small set of our own beside this file and those that `OUTRIDER_BEIR` names (one
folder of sets). Public sets are not part of the repository. Beside ours stand what others make of the same set with BM25
(`peers`, where they are installed) and what was published of it.
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

OWN = Path(__file__).parent / "judged"
VARIABLE = "OUTRIDER_BEIR"
MODELS = "OUTRIDER_MODELS"  # the folder of installed models; ~/.outrider/models if it is not set
MODES: tuple[SearchMode, ...] = ("keyword", "semantic", "hybrid")
CALL = Call(session="evaluation")
AT_ONCE = 500  # texts in one transaction
DEPTH = 10


@dataclass(frozen=True)
class Judged:
    """Texts, questions, and by question the texts that answer it, each with its grade."""

    name: str
    texts: Mapping[str, tuple[str, str]]
    questions: Mapping[str, str]
    grades: Mapping[str, Mapping[str, int]]


def read(folder: Path) -> Judged:
    """The judged set in a folder."""
    texts = {str(each["_id"]): (each.get("title") or "", each["text"]) for each in _lines(folder / "corpus.jsonl")}
    grades: dict[str, dict[str, int]] = {}
    with (folder / "qrels" / "test.tsv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            grades.setdefault(row["query-id"], {})[row["corpus-id"]] = int(row["score"])
    asked = {str(each["_id"]): each["text"] for each in _lines(folder / "queries.jsonl")}
    return Judged(folder.name, texts, {question: asked[question] for question in grades}, grades)


def ndcg(found: Sequence[str], grades: Mapping[str, int]) -> float:
    """Normalised discounted cumulative gain of the first ten (Järvelin and Kekäläinen, 2002)."""
    best = sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:DEPTH]
    gained = [max(grades.get(each, 0), 0) for each in found[:DEPTH]]
    return _discounted(gained) / _discounted(best) if best else 0.0


def measure(judged: Judged, provider: str) -> dict[SearchMode, float]:
    """The mean nDCG@10 of each mode with one provider of vectors."""
    scores = anyio.run(scored, judged, provider)
    return {mode: sum(each.values()) / len(each) for mode, each in scores.items()}


async def scored(judged: Judged, provider: str) -> dict[SearchMode, dict[str, float]]:
    """By mode and question the nDCG@10."""
    async with filled(judged, provider) as content:
        found: dict[SearchMode, dict[str, float]] = {mode: {} for mode in MODES}
        for name, question in judged.questions.items():
            for mode in MODES:
                answer = await content.search(CALL, question, SearchOptions(mode=mode, top_n=5 * DEPTH))
                files = list(dict.fromkeys(hit.filename for hit in answer.hits))
                found[mode][name] = ndcg(files, judged.grades[name])
    return found


@asynccontextmanager
async def filled(judged: Judged, provider: str) -> AsyncGenerator[ContentStores]:
    """A content store of the set's texts, each with its vectors."""
    http = HttpClient(EgressGuard(EgressSettings()))
    with tempfile.TemporaryDirectory() as folder:
        database = Database.from_file(Path(folder) / "evaluation.db")
        embedder = _embedder(provider, http)
        content = ContentStores(database, Path(folder) / "content", ContentSettings(), embedder=lambda: embedder)
        drafts = [ContentDraft(text, filename=name, title=title) for name, (title, text) in judged.texts.items()]
        for start in range(0, len(drafts), AT_ONCE):
            await content.add_many(CALL, drafts[start : start + AT_ONCE])
        store = await content.get_store(CALL)
        await _embedded(database, Path(folder) / "content" / "vectors", embedder, store.id)
        yield content
        await content.close()
        await database.close()
    await http.close()


def usable() -> list[str]:
    """The providers of vectors that need no endpoint and can be used here."""
    found: list[str] = []
    for name in load_embedder_providers():
        try:
            if name != "endpoint" and select_embedder(EmbeddingSettings(provider=name), _NO_HTTP, {}, folder=_models()):
                found.append(name)
        except NotConfigured:
            continue
    return found


def folders() -> list[Path]:
    """The sets that are here."""
    more = os.environ.get(VARIABLE)
    return [OWN, *(path.parent for path in sorted(Path(more).glob("*/corpus.jsonl")))] if more else [OWN]


def main(chosen_folders: Sequence[Path]) -> None:
    """Prints a line for each set and provider."""
    print(f"{'set':20} {'vectors':10}", *(f"{mode:>9}" for mode in MODES))
    for folder in chosen_folders:
        judged = read(folder)
        for provider in usable():
            scores = measure(judged, provider)
            print(f"{judged.name:20} {provider:10}", *(f"{scores[mode]:9.3f}" for mode in MODES), flush=True)
        for name, score in others(judged).items():
            print(f"{judged.name:20} {name:10} {score:9.3f}", flush=True)


def others(judged: Judged) -> dict[str, float]:
    """The mean nDCG@10 of BM25 by others: of those that are installed, and as published."""
    found: dict[str, float] = {}
    for name, run in peers.usable().items():
        best = run(judged)
        found[name] = sum(ndcg(best[question], judged.grades[question]) for question in best) / len(best)
    return found | ({"published": peers.PUBLISHED[judged.name]} if judged.name in peers.PUBLISHED else {})


_NO_HTTP = HttpClient(EgressGuard(EgressSettings()))


def _embedder(provider: str, http: HttpClient) -> Embedder:
    embedder = select_embedder(EmbeddingSettings(provider=provider), http, {}, folder=_models())
    assert embedder
    return embedder


def _models() -> Path | None:
    return Path(os.environ[MODELS]) if MODELS in os.environ else None


async def _embedded(database: Database, folder: Path, embedder: Embedder, store: str) -> None:
    from outrider.content.semantic.vector_index import VectorIndex

    vectors = VectorIndex(database, embedder, folder)
    while await vectors.embed_missing([store]):
        pass


def _discounted(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(place + 2) for place, gain in enumerate(gains))


def _lines(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


if __name__ == "__main__":
    main([Path(each) for each in sys.argv[1:]] or folders())
