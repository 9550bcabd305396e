"""The network of all-MiniLM-L6-v2 (huggingface.co/sentence-transformers/all-MiniLM-L6-v2) out of its weights.

A BERT of 6 layers, 384 wide, 12 heads; any other of its kind would do. Its matrix products can run in 8-bit integers:
weights are rounded once, a scale for each column, and activations at each call.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from outrider.content.semantic.onnx_writer import MICROSOFT_DOMAIN, OnnxGraph

ATTENTION_HEADS = 12
NORM_EPSILON = 1e-12


def load_weights(path: Path) -> "dict[str, np.ndarray]":
    """The arrays of a safetensors file (github.com/huggingface/safetensors, Format), float32, mapped from disk."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
    data = np.memmap(path, mode="r", offset=8 + length, dtype=np.uint8)
    floats = {name: each for name, each in header.items() if each.get("dtype") == "F32"}
    return {name: _array(data, each["data_offsets"], each["shape"]) for name, each in floats.items()}


def _array(data: "np.ndarray", place: list[int], shape: list[int]) -> "np.ndarray":
    return data[place[0] : place[1]].view("<f4").reshape(shape)


def build_network(path: Path, *, integers: bool, heads: int = ATTENTION_HEADS) -> bytes:
    """The ONNX model of a file of weights: inputs `ids`, `types` and `mask` (batch, length), output `states`.

    Args:
        path: `model.safetensors`.
        integers: Matrix products in 8 bits.
        heads: Of attention; the weights do not tell.
    """
    builder = _NetworkBuilder(OnnxGraph("minilm"), load_weights(path), integers, heads)
    states = builder.add_embeddings()
    layer = 0
    while f"encoder.layer.{layer}.output.dense.weight" in builder.weights:
        states = builder.add_layer(layer, states)
        layer += 1
    builder.graph.add_node("Identity", [states], ["states"])
    shape = ("batch", "length")
    return builder.graph.to_bytes({"ids": shape, "types": shape, "mask": shape}, "states", builder.width)


@dataclass
class _NetworkBuilder:
    graph: OnnxGraph
    weights: "dict[str, np.ndarray]"
    integers: bool
    heads: int

    @property
    def width(self) -> int:
        return self.weights["embeddings.LayerNorm.weight"].shape[0]

    def add_embeddings(self) -> str:
        """Words, places and kinds, added and normalised."""
        tables = ["word_embeddings", "position_embeddings", "token_type_embeddings", "LayerNorm"]
        word, place, kind, norm = (f"embeddings.{name}." for name in tables)
        kept = [self._add_weight(f"{each}weight") for each in (word, place, kind, norm)]
        inputs = ["ids", "types", *kept, self._add_weight(f"{norm}bias")]
        attributes = {"epsilon": NORM_EPSILON}
        outputs = ["states.in", "unused"]
        return self.graph.add_node("EmbedLayerNormalization", inputs, outputs, attributes, domain=MICROSOFT_DOMAIN)

    def add_layer(self, number: int, states: str) -> str:
        """One round of attention and of the two dense layers behind it."""
        name = f"encoder.layer.{number}"
        attended = self._add_attention(name, states)
        mixed = self._add_product(f"{name}.attention.output.dense", attended, bias=False)
        states = self._add_residual_norm(f"{name}.attention.output", states, mixed)
        wide = self._add_product(f"{name}.intermediate.dense", states, bias=False)
        bias = self._add_weight(f"{name}.intermediate.dense.bias")
        bent = self.graph.add_node("BiasGelu", [wide, bias], [f"{name}.bent"], domain=MICROSOFT_DOMAIN)
        narrow = self._add_product(f"{name}.output.dense", bent, bias=False)
        return self._add_residual_norm(f"{name}.output", states, narrow)

    def _add_attention(self, name: str, states: str) -> str:
        parts = [self._add_product(f"{name}.attention.self.{part}", states) for part in ("query", "key", "value")]
        inputs = [*parts, "", "mask"]
        attributes = {"num_heads": self.heads}
        return self.graph.add_node(
            "MultiHeadAttention", inputs, [f"{name}.attended"], attributes, domain=MICROSOFT_DOMAIN
        )

    def _add_product(self, name: str, states: str, *, bias: bool = True) -> str:
        matrix = self.weights[f"{name}.weight"].T
        added = self._add_weight(f"{name}.bias") if bias else ""
        if self.integers:
            rounded, scale = _quantize_matrix(matrix)
            given = [
                states,
                self.graph.add_weight(f"{name}.int8", rounded),
                self.graph.add_weight(f"{name}.scale", scale),
            ]
            return self.graph.add_node(
                "DynamicQuantizeMatMul", [*given, "", added], [f"{name}.product"], domain=MICROSOFT_DOMAIN
            )
        kept = self.graph.add_weight(f"{name}.matrix", matrix)
        product = self.graph.add_node("MatMul", [states, kept], [f"{name}.product"])
        return self.graph.add_node("Add", [product, added], [f"{name}.sum"]) if bias else product

    def _add_residual_norm(self, name: str, states: str, more: str) -> str:
        names = (f"{name}.LayerNorm.weight", f"{name}.LayerNorm.bias", f"{name}.dense.bias")
        inputs = [states, more, *map(self._add_weight, names)]
        attributes = {"epsilon": NORM_EPSILON}
        return self.graph.add_node(
            "SkipLayerNormalization", inputs, [f"{name}.norm"], attributes, domain=MICROSOFT_DOMAIN
        )

    def _add_weight(self, name: str) -> str:
        return self.graph.add_weight(name, self.weights[name])


def _quantize_matrix(matrix: "np.ndarray") -> "tuple[np.ndarray, np.ndarray]":
    """Integers from -127 to 127, and for each column what one of them is worth."""
    int8_steps = 127  # of an 8-bit weight, on each side of zero
    scale = np.maximum(np.abs(matrix).max(axis=0), np.float32(1e-9)) / np.float32(int8_steps)
    return np.rint(matrix / scale).astype(np.int8), scale.astype(np.float32)
