"""A small network, trained on the likelihood of blocks, each weighed by its share of its page."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Settings:
    """How to train; all of it was chosen on grouped folds of the development split."""

    hidden: tuple[int, ...] = (128, 32)
    epochs: int = 12
    batch: int = 24  # pages
    rate: float = 2e-3
    decay: float = 1e-4
    drop: float = 0.15  # of hidden units
    blur: float = 0.1  # of single inputs
    blind: float = 0.05  # of whole features, for a batch
    rows: int = 400  # of one page in one batch
    seed: int = 0


def train(
    rows: Floats, labels: NDArray, sizes: NDArray, pages: list[tuple[int, int]], settings: Settings
) -> list[Floats]:
    """Weights and biases in turn, the running mean of the last steps.

    Args:
        rows: Standardised features of all blocks.
        labels: Of each block, between 0 and 1.
        sizes: Words of each block.
        pages: First row and the row behind the last of each page.
        settings: See there.
    """
    chance = np.random.default_rng(settings.seed)
    shape = [rows.shape[1], *settings.hidden, 1]
    weights = [chance.normal(0, np.sqrt(2 / a), (a, b)).astype(np.float32) for a, b in pairwise(shape)]
    weights[-1] *= np.float32(0.1)
    optimiser = Adam([*weights, *(np.zeros(size, np.float32) for size in shape[1:])])
    steps = settings.epochs * (len(pages) // settings.batch)
    for _ in range(settings.epochs):
        order = chance.permutation(len(pages))
        for at in range(0, len(order) - settings.batch + 1, settings.batch):
            chosen = [_rows_of(pages[page], settings.rows, chance) for page in order[at : at + settings.batch]]
            index, page = np.concatenate(chosen), np.repeat(np.arange(len(chosen)), [len(each) for each in chosen])
            gradients = _gradients(optimiser.values, rows[index], labels[index], sizes[index], page, settings, chance)
            rate = settings.rate * min(1, (optimiser.step + 1) / 100) * (1 + np.cos(np.pi * optimiser.step / steps)) / 2
            optimiser.move(gradients, rate)
    count = len(weights)
    return [value for pair in zip(optimiser.mean[:count], optimiser.mean[count:], strict=True) for value in pair]


class Adam:
    """Kingma and Ba 2015, with a running mean of the values."""

    def __init__(self, values: list[Floats]) -> None:
        self.values = values
        self.mean = [value.copy() for value in values]
        self.first = [np.zeros_like(value) for value in values]
        self.second = [np.zeros_like(value) for value in values]
        self.step = 0

    def move(self, gradients: list[Floats], rate: float) -> None:
        """One step down."""
        self.step += 1
        for at, gradient in enumerate(gradients):
            self.first[at] = 0.9 * self.first[at] + 0.1 * gradient
            self.second[at] = 0.999 * self.second[at] + 0.001 * gradient * gradient
            slope = self.first[at] / (1 - 0.9**self.step)
            spread = np.sqrt(self.second[at] / (1 - 0.999**self.step)) + 1e-8
            self.values[at] -= (rate * slope / spread).astype(np.float32)
            self.mean[at] += (0.01 if self.step > 100 else 1) * (self.values[at] - self.mean[at])


def _rows_of(page: tuple[int, int], limit: int, chance: np.random.Generator) -> NDArray:
    rows = np.arange(*page)
    return rows if len(rows) <= limit else np.sort(chance.choice(rows, limit, replace=False))


def _gradients(
    values: list[Floats],
    rows: Floats,
    labels: NDArray,
    sizes: NDArray,
    page: NDArray,
    settings: Settings,
    chance: np.random.Generator,
) -> list[Floats]:
    """Of weights, then of biases."""
    count = len(values) // 2
    weights, biases = values[:count], values[count:]
    seen = chance.random((1, rows.shape[1]), np.float32) > settings.blind
    kept = (chance.random(rows.shape, np.float32) > settings.blur) / np.float32(1 - settings.blur)
    layers, masks = [rows * seen * kept], []
    for weight, bias in zip(weights[:-1], biases[:-1], strict=True):
        sums = layers[-1] @ weight + bias
        kept = (chance.random(sums.shape, np.float32) > settings.drop) / np.float32(1 - settings.drop)
        masks.append(((sums > 0) * kept).astype(np.float32))
        layers.append(sums * masks[-1])
    scores = (layers[-1] @ weights[-1] + biases[-1])[:, 0]
    back = _slope(1 / (1 + np.exp(-np.clip(scores, -15, 15))), labels, sizes, page)
    of_weights, of_biases = [], []
    for at in range(count - 1, -1, -1):
        of_weights.insert(0, layers[at].T @ back + settings.decay * weights[at])
        of_biases.insert(0, back.sum(0))
        if at:
            back = (back @ weights[at].T) * masks[at - 1]
    return of_weights + of_biases


def _slope(p: NDArray, labels: NDArray, sizes: NDArray, page: NDArray) -> Floats:
    """The slope at each score of the loss: likelihood by words, and a little by blocks, of each page."""
    pages = int(page.max()) + 1
    total = np.bincount(page, sizes, pages) + 1e-6
    weight = sizes / total[page] + 0.15 / np.bincount(page, minlength=pages)[page]
    return (weight * (p - labels) / pages).astype(np.float32)[:, None]
