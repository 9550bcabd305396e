"""Build the network of all-MiniLM-L6-v2 (huggingface.co/sentence-transformers/all-MiniLM-L6-v2) from its weights.

A BERT of 6 layers, 384 wide, with 12 heads; other sizes work as well. Its matrix products can run in integers: weights
are quantized once, with a scale for each column, and activations at each call.
"""

import json
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

MICROSOFT_DOMAIN = "com.microsoft"  # fused operators of onnxruntime, version 1
ELEMENT_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7}
AttributeValue = int | float
NORM_EPSILON = 1e-12


@dataclass
class OnnxGraph:
    """A network under construction: add weights and nodes, then call `to_bytes`."""

    name: str
    nodes: list[bytes] = field(default_factory=list)
    weights: dict[str, bytes] = field(default_factory=dict)

    def add_weight(self, name: str, values: "np.ndarray") -> str:
        """Add an array under a name, and return the name."""
        self.weights[name] = b"".join(_encode_integer(1, size) for size in values.shape) + (
            _encode_integer(2, ELEMENT_TYPES[values.dtype.name])
            + _encode_text(8, name)
            + _encode_bytes(9, values.tobytes())
        )
        return name

    def add_node(
        self,
        operator: str,
        inputs: Iterable[str],
        outputs: Sequence[str],
        attributes: Mapping[str, AttributeValue] | None = None,
        *,
        domain: str = "",
    ) -> str:
        """Add an operator, and return the name of its first output. An empty input is omitted."""
        parts = (
            [_encode_text(1, each) for each in inputs]
            + [_encode_text(2, each) for each in outputs]
            + [_encode_text(4, operator)]
        )
        for name, value in (attributes or {}).items():
            if isinstance(value, int):
                encoded = _encode_integer(3, value) + _encode_integer(20, 2)
            else:
                encoded = _encode_tag(2, 5) + struct.pack("<f", value) + _encode_integer(20, 1)
            parts.append(_encode_bytes(5, _encode_text(1, name) + encoded))
        self.nodes.append(b"".join([*parts, _encode_text(7, domain)]))
        return outputs[0]

    def to_bytes(self, inputs: Mapping[str, Sequence[str | int]], output: str, width: int) -> bytes:
        """Return the model as the bytes of a file.

        Args:
            inputs: Shape of each int32 input by name; a name in a shape is a size known at run time.
            output: Name of the output: float32 of shape (batch, length, width).
            width: Last size of the output.
        """
        opset_version = 17
        ir_version = 8
        parts = [_encode_bytes(1, node) for node in self.nodes] + [_encode_text(2, self.name)]
        parts += [_encode_bytes(5, weight) for weight in self.weights.values()]
        parts += [_encode_bytes(11, _encode_value_info(name, "int32", shape)) for name, shape in inputs.items()]
        parts.append(_encode_bytes(12, _encode_value_info(output, "float32", ("batch", "length", width))))
        opsets = [
            _encode_text(1, domain) + _encode_integer(2, version)
            for domain, version in (("", opset_version), (MICROSOFT_DOMAIN, 1))
        ]
        return (
            _encode_integer(1, ir_version)
            + _encode_bytes(7, b"".join(parts))
            + b"".join(_encode_bytes(8, each) for each in opsets)
        )


def _encode_value_info(name: str, element: str, shape: Sequence[str | int]) -> bytes:
    sizes = [_encode_text(2, size) if isinstance(size, str) else _encode_integer(1, size) for size in shape]
    dimensions = b"".join(_encode_bytes(1, size) for size in sizes)
    tensor = _encode_integer(1, ELEMENT_TYPES[element]) + _encode_bytes(2, dimensions)
    return _encode_text(1, name) + _encode_bytes(2, _encode_bytes(1, tensor))


def _encode_varint(value: int) -> bytes:
    groups = bytearray()
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)


def _encode_tag(number: int, wire: int) -> bytes:
    return _encode_varint(number << 3 | wire)


def _encode_integer(number: int, value: int) -> bytes:
    return _encode_tag(number, 0) + _encode_varint(value)


def _encode_bytes(number: int, value: bytes) -> bytes:
    return _encode_tag(number, 2) + _encode_varint(len(value)) + value


def _encode_text(number: int, value: str) -> bytes:
    return _encode_bytes(number, value.encode())


def load_weights(path: Path) -> dict[str, np.ndarray]:
    """Map the float32 arrays of a safetensors file (github.com/huggingface/safetensors, Format)."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
    data = np.memmap(path, mode="r", offset=8 + length, dtype=np.uint8)
    weights: dict[str, np.ndarray] = {}
    for name, entry in header.items():
        if entry.get("dtype") == "F32":
            start, end = entry["data_offsets"]
            weights[name] = data[start:end].view("<f4").reshape(entry["shape"])
    return weights


def build_network(path: Path, *, integers: bool, heads: int = 12) -> bytes:
    """Return the ONNX model: inputs `ids`, `types` and `mask` of shape (batch, length), output `states`.

    Args:
        path: `model.safetensors`.
        integers: Whether matrix products run in integers.
        heads: Attention heads; the weights do not say.
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
    weights: dict[str, np.ndarray]
    integers: bool
    heads: int

    @property
    def width(self) -> int:
        return self.weights["embeddings.LayerNorm.weight"].shape[0]

    def add_embeddings(self) -> str:
        """Add the embeddings of words, positions and token types, summed and normalized."""
        tables = ["word_embeddings", "position_embeddings", "token_type_embeddings", "LayerNorm"]
        weights = [self._add_weight(f"embeddings.{table}.weight") for table in tables]
        inputs = ["ids", "types", *weights, self._add_weight("embeddings.LayerNorm.bias")]
        attributes = {"epsilon": NORM_EPSILON}
        outputs = ["states.in", "unused"]
        return self.graph.add_node("EmbedLayerNormalization", inputs, outputs, attributes, domain=MICROSOFT_DOMAIN)

    def add_layer(self, number: int, states: str) -> str:
        """Add a layer: attention, then two dense layers."""
        name = f"encoder.layer.{number}"
        parts = [self._add_product(f"{name}.attention.self.{part}", states) for part in ("query", "key", "value")]
        inputs = [*parts, "", "mask"]
        attributes = {"num_heads": self.heads}
        outputs = [f"{name}.attended"]
        attended = self.graph.add_node("MultiHeadAttention", inputs, outputs, attributes, domain=MICROSOFT_DOMAIN)
        mixed = self._add_product(f"{name}.attention.output.dense", attended, bias=False)
        states = self._add_residual_norm(f"{name}.attention.output", states, mixed)
        wide = self._add_product(f"{name}.intermediate.dense", states, bias=False)
        bias = self._add_weight(f"{name}.intermediate.dense.bias")
        activated = self.graph.add_node("BiasGelu", [wide, bias], [f"{name}.bent"], domain=MICROSOFT_DOMAIN)
        narrow = self._add_product(f"{name}.output.dense", activated, bias=False)
        return self._add_residual_norm(f"{name}.output", states, narrow)

    def _add_product(self, name: str, states: str, *, bias: bool = True) -> str:
        matrix = self.weights[f"{name}.weight"].T
        addend = self._add_weight(f"{name}.bias") if bias else ""
        if not self.integers:
            weight = self.graph.add_weight(f"{name}.matrix", matrix)
            product = self.graph.add_node("MatMul", [states, weight], [f"{name}.product"])
            return self.graph.add_node("Add", [product, addend], [f"{name}.sum"]) if bias else product
        quantized, scale = quantize_matrix(matrix)
        weight = self.graph.add_weight(f"{name}.int8", quantized)
        inputs = [states, weight, self.graph.add_weight(f"{name}.scale", scale), "", addend]
        return self.graph.add_node("DynamicQuantizeMatMul", inputs, [f"{name}.product"], domain=MICROSOFT_DOMAIN)

    def _add_residual_norm(self, name: str, states: str, addend: str) -> str:
        names = (f"{name}.LayerNorm.weight", f"{name}.LayerNorm.bias", f"{name}.dense.bias")
        inputs = [states, addend, *map(self._add_weight, names)]
        attributes = {"epsilon": NORM_EPSILON}
        return self.graph.add_node(
            "SkipLayerNormalization", inputs, [f"{name}.norm"], attributes, domain=MICROSOFT_DOMAIN
        )

    def _add_weight(self, name: str) -> str:
        return self.graph.add_weight(name, self.weights[name])


def quantize_matrix(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return integers from -63 to 63, and for each column the value of 1.

    Seven bits, because x86 processors without VNNI add two products of an 8-bit activation and a weight in 16 bits:
    255 * 127 * 2 would saturate there and distort the vectors, 255 * 63 * 2 fits on every processor.
    """
    steps = 63
    scale = np.maximum(np.abs(matrix).max(axis=0), np.float32(1e-9)) / np.float32(steps)
    return np.rint(matrix / scale).astype(np.int8), scale.astype(np.float32)
