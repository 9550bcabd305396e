"""Train a small network on blocks, weighted by their share of words.

A table of vectors is learned together with it, one for each word of class and id attributes (see
`outrider.pages.extraction.classify.name_vectors`); they enter the first layer after the features.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class TrainingSettings:
    """Training parameters; all were chosen on grouped folds of the development split."""

    hidden: tuple[int, ...] = (128, 32)
    epochs: int = 7
    batch: int = 24  # pages
    rate: float = 2e-3
    decay: float = 1e-4
    drop: float = 0.15  # of hidden units
    blur: float = 0.1  # of single inputs
    blind: float = 0.05  # of whole features, for a batch
    bare: float = 0.0  # share of pages whose names and address are left out
    places: int = 16_384  # of the table of words
    width: int = 0  # of a word's vector
    void: float = 1.0  # weight of a page with an empty reference
    forget: float = 0.3  # of single words of names
    nameless: float = 0.2  # of lines of names
    rows: int = 300  # of one page in one batch
    seed: int = 0


@dataclass(frozen=True)
class TrainingData:
    """The training data.

    Attributes:
        rows: Standardised features of all blocks.
        labels: The label of each block, from 0 to 1.
        sizes: Words of each block.
        pages: The first row of each page, and the row after its last.
        void: Whether each page's reference is empty.
        weight: The relative weight of each page.
        lines: Two sparse matrices of lines of names by places of words: all ancestors', the nearest elements'.
        line: The number of each block's line.
        named: The features about names and the address.
        absent: Their standardised values if there are none.
    """

    rows: Floats
    labels: NDArray
    sizes: NDArray
    pages: list[tuple[int, int]]
    void: NDArray
    weight: NDArray
    lines: tuple[Any, Any]
    line: NDArray
    named: NDArray
    absent: Floats


@dataclass(frozen=True)
class Batch:
    """Blocks of some pages: features, labels, words, page, and lines of names."""

    rows: Floats
    labels: NDArray
    sizes: NDArray
    page: NDArray
    worth: NDArray
    lines: tuple[Any, Any]
    shares: Any  # sparse: the line of each block; none if it is dropped


PLAIN_SETTINGS, NAME_SETTINGS = TrainingSettings(), TrainingSettings(width=16, bare=0.15, void=0.0)


def train_network(lessons: TrainingData, settings: TrainingSettings) -> tuple[list[Floats], Floats]:
    """Return weights and biases in turn, and the word table, as running means."""
    chance = np.random.default_rng(settings.seed)
    shape = [lessons.rows.shape[1] + 2 * settings.width, *settings.hidden, 1]
    weights = [chance.normal(0, np.sqrt(2 / a), (a, b)).astype(np.float32) for a, b in pairwise(shape)]
    weights[-1] *= np.float32(0.1)
    table = chance.normal(0, 0.05, (settings.places, settings.width)).astype(np.float32)
    optimiser = AdamOptimizer([*weights, *(np.zeros(size, np.float32) for size in shape[1:]), table])
    steps = settings.epochs * (len(lessons.pages) // settings.batch)
    for _ in range(settings.epochs):
        order = chance.permutation(len(lessons.pages))
        for at in range(0, len(order) - settings.batch + 1, settings.batch):
            batch = _build_batch(lessons, order[at : at + settings.batch], settings, chance)
            gradients = _compute_gradients(optimiser.values, batch, settings, chance)
            rate = settings.rate * min(1, (optimiser.step + 1) / 100) * (1 + np.cos(np.pi * optimiser.step / steps)) / 2
            optimiser.apply_gradients(gradients, rate)
    count, (*values, table) = len(weights), optimiser.mean
    table[lessons.lines[0].getnnz(axis=0) == 0] = 0
    return [value for pair in zip(values[:count], values[count:], strict=True) for value in pair], table


class AdamOptimizer:
    """Minimize by Adam (Kingma and Ba 2015), with a running mean of the values."""

    def __init__(self, values: list[Floats]) -> None:
        self.values = values
        self.mean = [value.copy() for value in values]
        self.first = [np.zeros_like(value) for value in values]
        self.second = [np.zeros_like(value) for value in values]
        self.step = 0

    def apply_gradients(self, gradients: list[Floats], rate: float) -> None:
        """Take one step of gradient descent."""
        self.step += 1
        for at, gradient in enumerate(gradients):
            self.first[at] = 0.9 * self.first[at] + 0.1 * gradient
            self.second[at] = 0.999 * self.second[at] + 0.001 * gradient * gradient
            slope = self.first[at] / (1 - 0.9**self.step)
            spread = np.sqrt(self.second[at] / (1 - 0.999**self.step)) + 1e-8
            self.values[at] -= (rate * slope / spread).astype(np.float32)
            self.mean[at] += (0.01 if self.step > 100 else 1) * (self.values[at] - self.mean[at])


def _build_batch(
    lessons: TrainingData, chosen: NDArray, settings: TrainingSettings, chance: np.random.Generator
) -> Batch:
    """Build a batch with noise; some pages lack their names and address."""
    from scipy.sparse import csr_matrix

    index = [_sample_rows(lessons.pages[page], settings.rows, chance) for page in chosen]
    page = np.repeat(np.arange(len(index)), [len(each) for each in index])
    bare = (chance.random(len(index)) < settings.bare)[page]
    at = np.concatenate(index)
    rows = lessons.rows[at]
    rows[np.ix_(np.flatnonzero(bare), lessons.named)] = lessons.absent
    rows *= (chance.random(rows.shape[1]) > settings.blind).astype(np.float32)
    rows *= _draw_dropout_mask(rows.shape, settings.blur, chance)
    lines, which = np.unique(lessons.line[at], return_inverse=True)
    is_named = (chance.random(len(lines)) >= settings.nameless)[which] & ~bare
    shares = csr_matrix((is_named.astype(np.float32), which, np.arange(len(at) + 1)), shape=(len(at), len(lines)))
    words = tuple(_drop_words(each[lines], settings.forget, chance) for each in lessons.lines)
    return Batch(
        rows,
        lessons.labels[at],
        lessons.sizes[at],
        page,
        np.where(lessons.void[chosen], settings.void, 1.0) * lessons.weight[chosen],
        words,
        shares,
    )


def _sample_rows(page: tuple[int, int], limit: int, chance: np.random.Generator) -> NDArray:
    rows = np.arange(*page)
    return rows if len(rows) <= limit else np.sort(chance.choice(rows, limit, replace=False))


def _draw_dropout_mask(shape: tuple[int, ...], drop: float, chance: np.random.Generator) -> Floats:
    """Draw zeros where a value is dropped, and the compensating factor elsewhere."""
    least = round(256 * drop)
    drawn = np.frombuffer(chance.bytes(int(np.prod(shape))), np.uint8).reshape(shape)
    return (drawn >= least) * np.float32(1 / (1 - least / 256))


def _drop_words(lines: Any, drop: float, chance: np.random.Generator) -> Any:
    lines.data *= _draw_dropout_mask(lines.data.shape, drop, chance)
    return lines


def _compute_gradients(
    values: list[Floats], batch: Batch, settings: TrainingSettings, chance: np.random.Generator
) -> list[Floats]:
    """Return the gradients of weights, then of biases, then of the table."""
    count, table = len(values) // 2, values[-1]
    weights, biases = values[:count], values[count:-1]
    name_vectors = batch.shares @ np.hstack([each @ table for each in batch.lines])
    layers, masks = [np.hstack([batch.rows, name_vectors])], []
    for weight, bias in zip(weights[:-1], biases[:-1], strict=True):
        sums = layers[-1] @ weight + bias
        masks.append((sums > 0) * _draw_dropout_mask(sums.shape, settings.drop, chance))
        layers.append(sums * masks[-1])
    scores = (layers[-1] @ weights[-1] + biases[-1])[:, 0]
    back = _compute_slope(1 / (1 + np.exp(-np.clip(scores, -15, 15))), batch)
    of_weights, of_biases = [], []
    for at in range(count - 1, -1, -1):
        of_weights.insert(0, layers[at].T @ back + settings.decay * weights[at])
        of_biases.insert(0, back.sum(0))
        if at:
            back = (back @ weights[at].T) * masks[at - 1]
    vector_gradients = batch.shares.T @ (back @ weights[0][batch.rows.shape[1] :].T)
    halves = np.hsplit(vector_gradients, len(batch.lines))
    return [*of_weights, *of_biases, sum(each.T @ half for each, half in zip(batch.lines, halves, strict=True))]


def _compute_slope(p: NDArray, batch: Batch) -> Floats:
    """Return the loss's slope at each score: likelihood by words, and a little by blocks."""
    page, pages = batch.page, len(batch.worth)
    total = np.bincount(page, batch.sizes, pages) + 1e-6
    weight = batch.sizes / total[page] + 0.15 / np.bincount(page, minlength=pages)[page]
    return (batch.worth[page] * weight * (p - batch.labels) / pages).astype(np.float32)[:, None]
