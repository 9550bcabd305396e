"""Writes a neural network in ONNX, so that a model's weights run without the tools that trained it.

Only what our own graphs need of the format (onnx.proto of ONNX 1.16: github.com/onnx/onnx), encoded as
protocol buffers are (protobuf.dev/programming-guides/encoding).
"""

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

IR_VERSION = 8
OPSET = 17
MICROSOFT = "com.microsoft"  # the fused operators of onnxruntime, version 1 of each
ELEMENTS = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7}
Attribute = int | float | str


@dataclass
class Graph:
    """A network under construction: `node` by `node`, then `model`."""

    name: str
    nodes: list[bytes] = field(default_factory=list)
    weights: dict[str, bytes] = field(default_factory=dict)

    def weight(self, name: str, values: "np.ndarray") -> str:
        """Keeps an array under a name; the name."""
        self.weights[name] = b"".join(_number(1, size) for size in values.shape) + (
            _number(2, ELEMENTS[values.dtype.name]) + _text(8, name) + _bytes(9, values.tobytes())
        )
        return name

    def node(
        self,
        operator: str,
        inputs: Iterable[str],
        outputs: Sequence[str],
        attributes: Mapping[str, Attribute] | None = None,
        *,
        domain: str = "",
    ) -> str:
        """Adds an operator; an empty input is one left out. The name of its first output."""
        parts = [_text(1, each) for each in inputs] + [_text(2, each) for each in outputs] + [_text(4, operator)]
        parts += [_bytes(5, _attribute(name, value)) for name, value in (attributes or {}).items()]
        self.nodes.append(b"".join([*parts, _text(7, domain)]))
        return outputs[0]

    def model(self, inputs: Mapping[str, Sequence[str | int]], output: str, width: int) -> bytes:
        """The whole as a file's bytes.

        Args:
            inputs: Name to shape of each int32 input; a name in a shape is a size known at run time.
            output: What is asked for: float32 of shape (batch, length, width).
            width: Its last size.
        """
        parts = [_bytes(1, node) for node in self.nodes] + [_text(2, self.name)]
        parts += [_bytes(5, weight) for weight in self.weights.values()]
        parts += [_bytes(11, _value(name, "int32", shape)) for name, shape in inputs.items()]
        parts.append(_bytes(12, _value(output, "float32", ("batch", "length", width))))
        opsets = [_text(1, domain) + _number(2, version) for domain, version in (("", OPSET), (MICROSOFT, 1))]
        return _number(1, IR_VERSION) + _bytes(7, b"".join(parts)) + b"".join(_bytes(8, each) for each in opsets)


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, str):
        return _text(1, name) + _text(4, value) + _number(20, 3)
    if isinstance(value, int):
        return _text(1, name) + _number(3, value) + _number(20, 2)
    return _text(1, name) + _key(2, 5) + struct.pack("<f", value) + _number(20, 1)


def _value(name: str, element: str, shape: Sequence[str | int]) -> bytes:
    sizes = [_text(2, size) if isinstance(size, str) else _number(1, size) for size in shape]
    dimensions = b"".join(_bytes(1, size) for size in sizes)
    tensor = _number(1, ELEMENTS[element]) + _bytes(2, dimensions)
    return _text(1, name) + _bytes(2, _bytes(1, tensor))


def _varint(value: int) -> bytes:
    groups = bytearray()
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)


def _key(number: int, wire: int) -> bytes:
    return _varint(number << 3 | wire)


def _number(number: int, value: int) -> bytes:
    return _key(number, 0) + _varint(value)


def _bytes(number: int, value: bytes) -> bytes:
    return _key(number, 2) + _varint(len(value)) + value


def _text(number: int, value: str) -> bytes:
    return _bytes(number, value.encode())
