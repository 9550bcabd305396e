"""The network of all-MiniLM-L6-v2 (huggingface.co/sentence-transformers/all-MiniLM-L6-v2) out of its weights.

A BERT of 6 layers, 384 wide, 12 heads; any other of its kind would do. Its matrix products can run in 8-bit integers:
weights are rounded once, a scale for each column, and activations at each call.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from outrider.content.meaning.onnx import MICROSOFT, Graph

HEADS = 12
EPSILON = 1e-12
STEPS = 127  # of an 8-bit weight, on each side of zero


def weights(path: Path) -> "dict[str, np.ndarray]":
    """The arrays of a safetensors file (github.com/huggingface/safetensors, Format), float32, mapped from disk."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
    data = np.memmap(path, mode="r", offset=8 + length, dtype=np.uint8)
    floats = {name: each for name, each in header.items() if each.get("dtype") == "F32"}
    return {name: _array(data, each["data_offsets"], each["shape"]) for name, each in floats.items()}


def _array(data: "np.ndarray", place: list[int], shape: list[int]) -> "np.ndarray":
    return data[place[0] : place[1]].view("<f4").reshape(shape)


def network(path: Path, *, integers: bool, heads: int = HEADS) -> bytes:
    """The ONNX model of a file of weights: inputs `ids`, `types` and `mask` (batch, length), output `states`.

    Args:
        path: `model.safetensors`.
        integers: Matrix products in 8 bits.
        heads: Of attention; the weights do not tell.
    """
    builder = _Builder(Graph("minilm"), weights(path), integers, heads)
    states = builder.embedded()
    layer = 0
    while f"encoder.layer.{layer}.output.dense.weight" in builder.weights:
        states = builder.layer(layer, states)
        layer += 1
    builder.graph.node("Identity", [states], ["states"])
    shape = ("batch", "length")
    return builder.graph.model({"ids": shape, "types": shape, "mask": shape}, "states", builder.width)


@dataclass
class _Builder:
    graph: Graph
    weights: "dict[str, np.ndarray]"
    integers: bool
    heads: int

    @property
    def width(self) -> int:
        return self.weights["embeddings.LayerNorm.weight"].shape[0]

    def embedded(self) -> str:
        """Words, places and kinds, added and normalised."""
        tables = ["word_embeddings", "position_embeddings", "token_type_embeddings", "LayerNorm"]
        word, place, kind, norm = (f"embeddings.{name}." for name in tables)
        kept = [self._kept(f"{each}weight") for each in (word, place, kind, norm)]
        inputs = ["ids", "types", *kept, self._kept(f"{norm}bias")]
        attributes = {"epsilon": EPSILON}
        outputs = ["states.in", "unused"]
        return self.graph.node("EmbedLayerNormalization", inputs, outputs, attributes, domain=MICROSOFT)

    def layer(self, number: int, states: str) -> str:
        """One round of attention and of the two dense layers behind it."""
        name = f"encoder.layer.{number}"
        attended = self._attended(name, states)
        mixed = self._product(f"{name}.attention.output.dense", attended, bias=False)
        states = self._added(f"{name}.attention.output", states, mixed)
        wide = self._product(f"{name}.intermediate.dense", states, bias=False)
        bias = self._kept(f"{name}.intermediate.dense.bias")
        bent = self.graph.node("BiasGelu", [wide, bias], [f"{name}.bent"], domain=MICROSOFT)
        narrow = self._product(f"{name}.output.dense", bent, bias=False)
        return self._added(f"{name}.output", states, narrow)

    def _attended(self, name: str, states: str) -> str:
        parts = [self._product(f"{name}.attention.self.{part}", states) for part in ("query", "key", "value")]
        inputs = [*parts, "", "mask"]
        attributes = {"num_heads": self.heads}
        return self.graph.node("MultiHeadAttention", inputs, [f"{name}.attended"], attributes, domain=MICROSOFT)

    def _product(self, name: str, states: str, *, bias: bool = True) -> str:
        matrix = self.weights[f"{name}.weight"].T
        added = self._kept(f"{name}.bias") if bias else ""
        if self.integers:
            rounded, scale = _rounded(matrix)
            given = [states, self.graph.weight(f"{name}.int8", rounded), self.graph.weight(f"{name}.scale", scale)]
            return self.graph.node("DynamicQuantizeMatMul", [*given, "", added], [f"{name}.product"], domain=MICROSOFT)
        kept = self.graph.weight(f"{name}.matrix", matrix)
        product = self.graph.node("MatMul", [states, kept], [f"{name}.product"])
        return self.graph.node("Add", [product, added], [f"{name}.sum"]) if bias else product

    def _added(self, name: str, states: str, more: str) -> str:
        names = (f"{name}.LayerNorm.weight", f"{name}.LayerNorm.bias", f"{name}.dense.bias")
        inputs = [states, more, *map(self._kept, names)]
        attributes = {"epsilon": EPSILON}
        return self.graph.node("SkipLayerNormalization", inputs, [f"{name}.norm"], attributes, domain=MICROSOFT)

    def _kept(self, name: str) -> str:
        return self.graph.weight(name, self.weights[name])


def _rounded(matrix: "np.ndarray") -> "tuple[np.ndarray, np.ndarray]":
    """Integers from -127 to 127, and for each column what one of them is worth."""
    scale = np.maximum(np.abs(matrix).max(axis=0), np.float32(1e-9)) / np.float32(STEPS)
    return np.rint(matrix / scale).astype(np.int8), scale.astype(np.float32)
