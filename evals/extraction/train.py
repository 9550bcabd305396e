"""Train the model of `outrider.pages.extraction`, and score it on unseen sites.

    OUTRIDER_WCXB=…/wcxb_dev python -m evals.extraction.train [--score-only] [--more data/*] [--held-out fundus] [--by-page]

Needs numpy, scipy, scikit-learn and rapidfuzz in addition to the package. The data is the development split of
the Web Content Extraction Benchmark (Murrough Foley, CC BY 4.0), with `--more` also the corpora that
`fixtures.py` and `manuals.py` write. Seeded: the same libraries on the same machine give the same
file. It takes about half an hour on one core.

Scores are for the benchmark's pages: five folds of whole sites (registered domains), with `--by-page` also five
folds of single pages, a quarter of which are from sites seen in training. The lexicon is also learned again for each
pair of folds, so that no page affects its own score. With `--held-out NAME…`, training leaves out these corpora and the
first fold of sites, and the file has the model that was scored on them.
"""

import argparse
import json
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evals.extraction.corpora import (
    BENCHMARK,
    REWRITTEN,
    TrainingPage,
    find_corpus,
    leave_out,
    prepare_page,
    rewrite_versions,
    split_benchmark,
    weigh_page,
)
from evals.extraction.corpus import (
    EXTRACTION_FOLDER,
    PAGE_TYPES,
    Sample,
    compute_digest,
    find_large_corpus,
    read_samples,
    split_folds,
)
from evals.extraction.evaluate import extract_with_outrider
from evals.extraction.fixtures import PROJECTS
from evals.extraction.manuals import MANUALS
from evals.extraction.metric import compute_f1, split_words
from evals.extraction.name_features import build_name_lines, find_name_columns
from evals.extraction.network import NAME_SETTINGS, PLAIN_SETTINGS, TrainingData, train_network
from outrider.pages.extraction.classify import attribute_words, features, lexicon
from outrider.pages.extraction.classify.classifier import MIN_KIND_WORDS, build_layout, choose_blocks, predict_content
from outrider.pages.extraction.classify.model import MODEL_FILE, ContentModel, load_model
from outrider.pages.extraction.classify.name_vectors import NameVectors
from outrider.pages.extraction.classify.network import append_lexicon_columns
from outrider.pages.extraction.classify.page_kind import PAGE_KINDS, KindClassifier, average_features

FOLD_COUNT = 5
MIN_STORED_WEIGHT = 0.02  # weight from which a word is stored


class Lexicon:
    """Learn weights of name words with a linear model of each block's ancestors."""

    def __init__(self, pages: list[TrainingPage]) -> None:
        min_word_sites = 4  # minimum number of sites with a word
        sites: dict[str, set[str]] = defaultdict(set)
        self.counts = [self._read_lines(each, sites) for each in pages]
        self.number = {
            word: at for at, word in enumerate(sorted(w for w, s in sites.items() if len(s) >= min_word_sites))
        }
        self.matrix = [self._build_matrix(lines) for lines in self.counts]
        self.counts = []
        self.known: dict[tuple[int, ...], NDArray[np.float64]] = {}

    def _read_lines(self, page: TrainingPage, sites: dict[str, set[str]]) -> list[tuple[str, ...]]:
        lines: list[tuple[str, ...]] = [()]
        for names, row in zip(page.page.names[1:], page.page.elements[1:], strict=True):
            own = tuple(
                word
                for name in names[: attribute_words.MAX_NAME_CHARS].split()
                for word in attribute_words.split_name(name)
            )
            for word in own:
                sites[word].add(page.sample.site)
            lines.append(lines[row[0]] + own)
        return [lines[row[0]] for row in page.page.rows]

    def _build_matrix(self, lines: list[tuple[str, ...]]) -> Any:
        from scipy.sparse import csr_matrix

        index = [[self.number[word] for word in line if word in self.number] for line in lines]
        ends = np.cumsum([0, *map(len, index)])
        flat = np.array([at for line in index for at in line], np.int32)
        found = csr_matrix((np.ones(len(flat), np.float32), flat, ends), shape=(len(lines), len(self.number)))
        found.sum_duplicates()
        return found

    def learn_weights(self, pages: list[TrainingPage], chosen: list[int]) -> NDArray[np.float64]:
        """Learn the weights of all words on the chosen pages whose names are real."""
        from scipy.sparse import vstack
        from sklearn.linear_model import SGDClassifier

        chosen = [at for at in chosen if at < len(self.matrix)]
        rows = vstack([self.matrix[at] for at in chosen])
        rows.data = np.minimum(rows.data, 3)
        truth = np.concatenate([pages[at].labels for at in chosen]) > 0.5
        mass = np.concatenate(
            [(pages[at].sizes + 1) / (pages[at].sizes + 1).mean() / len(pages[at].sizes) for at in chosen]
        )
        linear = SGDClassifier(loss="log_loss", alpha=3e-5, max_iter=3, tol=None, average=True, random_state=0)
        return linear.fit(rows, truth, sample_weight=mass / mass.mean()).coef_[0]

    def get_weights(self, pages: list[TrainingPage], chosen: list[int]) -> NDArray[np.float64]:
        """Return the same weights from memory."""
        if (key := tuple(chosen)) not in self.known:
            self.known[key] = self.learn_weights(pages, chosen)
        return self.known[key]

    def build_columns(self, page: TrainingPage, weights: NDArray[np.float64]) -> NDArray[np.float32]:
        """Return the lexicon's columns of a page."""
        known = {word: float(weights[at]) for word, at in self.number.items() if abs(weights[at]) > MIN_STORED_WEIGHT}
        view, named = build_layout(page.page)
        return lexicon.build_lexicon_columns(named, view.owner, page.sizes, known).T


def compute_lexicon_columns(
    book: Lexicon, pages: list[TrainingPage], tested: frozenset[int], chosen: list[int]
) -> dict[int, NDArray[np.float32]]:
    """Compute each page's lexicon columns, learned without its own fold."""
    lexicon_folds = 3
    fold = split_folds([each.sample.site for each in pages], lexicon_folds)
    found = {}
    for left_out in range(lexicon_folds):
        weights = book.get_weights(pages, [at for at in chosen if fold[at] != left_out])
        found |= {at: book.build_columns(pages[at], weights) for at in chosen if fold[at] == left_out}
    weights = book.get_weights(pages, chosen) if tested else np.zeros(0)
    return found | {at: book.build_columns(pages[at], weights) for at in tested}


def find_useful_columns(pages: list[TrainingPage]) -> NDArray[np.int64]:
    """Find the features that vary within or between enough sites."""
    min_column_sites = 40  # minimum number of sites on which a feature varies
    sites: dict[int, set[str]] = defaultdict(set)
    common = np.median(np.vstack([each.rows[:1] for each in pages]), axis=0)
    for each in pages:
        for column in np.flatnonzero((each.rows != common).any(axis=0)):
            sites[int(column)].add(each.sample.site)
    return np.array(sorted(column for column, names in sites.items() if len(names) >= min_column_sites))


def fit_model(
    pages: list[TrainingPage], extra: dict[int, NDArray], chosen: list[int], columns: NDArray
) -> ContentModel:
    """Train a model with both networks on the chosen pages."""
    min_reference_words = 5  # words of a usable reference
    ends = np.cumsum([0, *(len(pages[at].sizes) for at in chosen)])
    rows = np.empty((ends[-1], len(columns) + lexicon.LEXICON_COLUMNS), np.float32)  # gigabytes, so it is filled once
    for start, end, at in zip(ends, ends[1:], chosen, strict=False):
        rows[start:end, : len(columns)], rows[start:end, len(columns) :] = pages[at].rows[:, columns], extra[at]
    mean, scale = rows.mean(0), 1 / (rows[::5].std(0) + np.float32(1e-3))
    rows -= mean
    rows *= scale
    np.clip(rows, -4, 4, out=rows)
    lines, line = build_name_lines([pages[at].page for at in chosen], NAME_SETTINGS.places)
    named = np.concatenate([find_name_columns(columns), np.arange(len(columns), rows.shape[1])])
    lessons = TrainingData(
        rows=rows,
        labels=np.concatenate([pages[at].labels for at in chosen]).clip(0, 1),
        sizes=np.concatenate([pages[at].sizes for at in chosen]).astype(np.float64),
        pages=list(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)),
        void=np.array([len(split_words(pages[at].sample.text)) < min_reference_words for at in chosen]),
        weight=np.array([weigh_page(pages[at].sample) for at in chosen]),
        lines=lines,
        line=line,
        named=named,
        absent=np.clip(-mean * scale, -4, 4)[named],
    )
    (plain, _), (by_name, table) = train_network(lessons, PLAIN_SETTINGS), train_network(lessons, NAME_SETTINGS)
    return ContentModel(
        columns, mean, scale, plain, by_name, NameVectors(table), {}, fit_kinds(pages, extra, chosen, columns), {}
    )


def fit_kinds(
    pages: list[TrainingPage], extra: dict[int, NDArray], chosen: list[int], columns: NDArray
) -> KindClassifier:
    """Train the classifier of page kinds on the chosen pages whose kind is known."""
    kind_strength = 0.01  # of the classifier of kinds: the inverse of its regularization
    other_kind_weight = 0.5  # of pages outside of the benchmark, which are mostly articles
    from sklearn.linear_model import LogisticRegression

    chosen = [at for at in chosen if pages[at].sample.type]
    rows = np.array([build_page_features(pages[at], extra[at], columns) for at in chosen])
    mean, scale = rows.mean(0), 1 / (rows.std(0) + np.float32(1e-3))
    linear = LogisticRegression(C=kind_strength, max_iter=500)
    kinds = [PAGE_KINDS.index(pages[at].sample.type) for at in chosen]
    weights = [1.0 if find_corpus(pages[at].sample) == BENCHMARK else other_kind_weight for at in chosen]
    linear.fit((rows - mean) * scale, kinds, weights)
    return KindClassifier(mean, scale, linear.coef_.T.astype(np.float32), linear.intercept_.astype(np.float32))


def build_page_features(page: TrainingPage, extra: NDArray, columns: NDArray) -> NDArray[np.float32]:
    """Build the features from which a page's kind is predicted."""
    return average_features(features.BlockFeatures.from_rows(page.rows), extra.T, page.sizes)[
        append_lexicon_columns(columns)
    ]


def score_page(learned: ContentModel, page: TrainingPage, extra: NDArray, kind: str) -> float:
    """Return the F1 of the blocks that the package would keep."""
    known = features.BlockFeatures.from_rows(page.rows)
    likely = predict_content(learned, known, extra.T, build_layout(page.page), kind)
    found: Counter[str] = Counter()
    for at in choose_blocks(page.page, likely, page.sizes, kind)[0]:
        found.update(split_words(page.page.texts[at]))
    return compute_f1(found, page.sample.text)


def fit_without(
    tested: frozenset[int], chosen: list[int], pages: list[TrainingPage], columns: NDArray, book: Lexicon
) -> tuple[ContentModel, dict[int, tuple[float, bool]]]:
    """Train a model on the chosen pages; return the scores of the tested ones."""
    extra = compute_lexicon_columns(book, pages, tested, chosen)
    learned = fit_model(pages, extra, chosen, columns)
    found = {}
    for at in sorted(tested):
        kind = learned.kind_classifier.predict_kind(build_page_features(pages[at], extra[at], columns))
        known_kind = kind if float(pages[at].sizes.sum()) >= MIN_KIND_WORDS else ""
        found[at] = (score_page(learned, pages[at], extra[at], known_kind), kind == pages[at].sample.type)
    return learned, found


def summarize_scores(scores: dict[str, float], sample: list[Sample]) -> dict[str, float]:
    """Return the mean F1 of all pages and of each type."""
    found = {"all": float(np.mean([scores[each.id] for each in sample]))}
    for kind in PAGE_TYPES:
        found[kind] = float(np.mean([scores[each.id] for each in sample if each.type == kind]))
    return {name: round(value, 4) for name, value in found.items()}


def cross_validate(
    pages: list[TrainingPage], everything: list[Sample], columns: NDArray, book: Lexicon, *, by_page: bool = False
) -> dict[str, Any]:
    """Score the benchmark's pages by models that have not seen them.

    Returns the means of each kind and of each fold, and the share of pages with the right kind. A page without blocks
    is scored by its declared text.
    """
    judged = {each.sample.id for each in pages}
    scores = {
        each.id: compute_f1(extract_with_outrider(each, each.read_html()), each.text)
        for each in everything
        if each.id not in judged
    }
    known = [each.sample for each in pages]
    fold = split_benchmark(known, FOLD_COUNT, by_page=by_page)
    kinds: list[bool] = []
    means: list[float] = []
    for number in range(FOLD_COUNT):
        tested = frozenset(at for at, each in enumerate(fold) if each == number)
        _, found = fit_without(tested, leave_out(known, tested, by_page=by_page), pages, columns, book)
        scores |= {pages[at].sample.id: value for at, (value, _) in found.items()}
        kinds += [right for _, right in found.values()]
        means.append(round(float(np.mean([value for value, _ in found.values()])), 4))
        print(f"fold {number}: {means[-1]:.4f}", flush=True)
    known_kind = round(float(np.mean(kinds)), 4)
    return {"scores": summarize_scores(scores, everything), "folds": means, "kinds_told": known_kind}


def store_model(model: ContentModel, names: dict[str, float], provenance: dict[str, Any]) -> None:
    """Write the model's file."""
    arrays: dict[str, Any] = {f"layer{at}": layer.astype(np.float16) for at, layer in enumerate(model.layers)}
    arrays |= {f"by_name{at}": layer.astype(np.float16) for at, layer in enumerate(model.named_layers)}
    arrays |= {
        "columns": model.columns,
        "mean": model.mean,
        "scale": model.scale,
        "layers": np.array(len(model.layers)),
        "table": model.name_vectors.table.astype(np.float16),
        "kind_mean": model.kind_classifier.mean,
        "kind_scale": model.kind_classifier.scale,
        "kind_weights": model.kind_classifier.weights.astype(np.float16),
        "kind_bias": model.kind_classifier.bias,
    }
    arrays["names_words"] = np.frombuffer("\n".join(names).encode("utf-8"), np.uint8)
    arrays["names_weights"] = np.array(list(names.values()), np.float16)
    arrays["provenance"] = np.array(json.dumps(provenance, sort_keys=True))
    np.savez_compressed(MODEL_FILE, **arrays)


def main() -> None:
    """Read the corpora, train on all of them, score by folds, and write the file."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--score-only", action="store_true", help="train no model; the file gets the scores")
    arguments.add_argument("--more", type=Path, nargs="+", default=[], help="folders of more corpora")
    arguments.add_argument("--by-page", action="store_true", help="score folds of single pages, too")
    arguments.add_argument("--held-out", nargs="+", default=[], help="corpora to score instead of training on them")
    chosen = arguments.parse_args()
    folder = find_large_corpus()
    if folder is None:
        raise SystemExit("no corpus: set OUTRIDER_WCXB to the folder of the development split")
    everything = list(read_samples(folder))
    more = [sample for each in chosen.more for sample in read_samples(each)]
    with ProcessPoolExecutor(2) as pool:
        pages = [page for page in pool.map(prepare_page, everything + more, chunksize=16) if page is not None]
        if more:
            pages += [version for versions in pool.map(rewrite_versions, pages, chunksize=16) for version in versions]
    # Rewritten versions of pages, with missing or invented names, come last and are not used to learn words.
    columns, book = (
        find_useful_columns(pages),
        Lexicon([each for each in pages if find_corpus(each.sample) != REWRITTEN]),
    )
    print(f"{len(pages)} pages, {sum(len(each.sizes) for each in pages)} blocks, {len(columns)} features", flush=True)
    if chosen.held_out:
        write_held_out(set(chosen.held_out), pages, columns, book)
        return
    if not chosen.score_only:
        write_model(pages, columns, book, {})
    measured = cross_validate(pages, everything, columns, book)
    print(measured, flush=True)
    if chosen.by_page:
        measured["by_page"] = cross_validate(pages, everything, columns, book, by_page=True)
        print(measured["by_page"], flush=True)
    write_model(pages, columns, book, measured)


def write_held_out(corpora: set[str], pages: list[TrainingPage], columns: NDArray, book: Lexicon) -> None:
    """Train without some corpora and the first fold, and score on both."""
    measure_held_out = (
        "F1 of bags of words, page mean, of the first of five folds of whole sites, which training left out"
    )
    known = [each.sample for each in pages]
    fold = split_benchmark(known, FOLD_COUNT)
    tested = frozenset(at for at, each in enumerate(known) if fold[at] == 0 or find_corpus(each) in corpora)
    chosen = leave_out(known, tested)
    learned, found = fit_without(tested, chosen, pages, columns, book)
    benchmark = [at for at in tested if fold[at] == 0]
    scores = summarize_scores({known[at].id: found[at][0] for at in benchmark}, [known[at] for at in benchmark])
    means = {
        corpus: round(
            float(np.mean([value for at, (value, _) in found.items() if find_corpus(known[at]) == corpus])), 4
        )
        for corpus in sorted(corpora)
    }
    known_kind = round(float(np.mean([found[at][1] for at in benchmark])), 4)
    measured = {"scores": scores, "folds": [scores["all"]], "kinds_told": known_kind, "held_out": means}
    print(measured, flush=True)
    weights = book.get_weights(pages, chosen)
    names = {word: float(weights[at]) for word, at in book.number.items() if abs(weights[at]) > MIN_STORED_WEIGHT}
    more = {find_corpus(known[at]) for at in chosen} - {BENCHMARK, REWRITTEN}
    store_model(
        learned,
        names,
        build_provenance(compute_digest(find_large_corpus() or EXTRACTION_FOLDER), sorted(more))
        | measured
        | {"measure": measure_held_out},
    )


def write_model(pages: list[TrainingPage], columns: NDArray, book: Lexicon, measured: dict[str, Any]) -> None:
    """Train on all pages and store the model; later calls only store new scores."""
    corpora = {find_corpus(each.sample) for each in pages} - {BENCHMARK, REWRITTEN}
    about = build_provenance(compute_digest(find_large_corpus() or EXTRACTION_FOLDER), sorted(corpora)) | measured
    if measured:
        learned = load_model()
        store_model(learned, learned.name_weights, about)
        return
    everywhere = list(range(len(pages)))
    learned = fit_model(pages, compute_lexicon_columns(book, pages, frozenset(), everywhere), everywhere, columns)
    weights = book.learn_weights(pages, everywhere)
    store_model(
        learned,
        {word: float(weights[at]) for word, at in book.number.items() if abs(weights[at]) > MIN_STORED_WEIGHT},
        about,
    )
    load_model.cache_clear()


def build_provenance(sha256: str, corpora: list[str]) -> dict[str, Any]:
    """Describe the origin and the settings of a model's file."""
    measure = "F1 of bags of words, page mean, five folds of whole sites, with the package's fall-backs"
    sources = {each.name: f"{each.repository} at {each.commit}, {each.licence}" for each in PROJECTS}
    sources["manuals"] = "; ".join(sorted({f"{each.package}, {each.licence}" for each in MANUALS}))
    return {
        "version": 3,
        "data": "Web Content Extraction Benchmark, development split, 1,497 pages, by Murrough Foley",
        "licence": "CC-BY-4.0",
        "sha256": sha256,
        "more": {name: sources[name] for name in corpora},
        "settings": asdict(PLAIN_SETTINGS),
        "settings_by_name": asdict(NAME_SETTINGS),
        "measure": measure,
    }


if __name__ == "__main__":
    main()
