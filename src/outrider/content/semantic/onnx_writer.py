"""Writes a neural network in ONNX, so that a model's weights run without the tools that trained it.

Only what our own graphs need of the format (onnx.proto of ONNX 1.16: github.com/onnx/onnx), encoded as
protocol buffers are (protobuf.dev/programming-guides/encoding).
"""

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

MICROSOFT_DOMAIN = "com.microsoft"  # the fused operators of onnxruntime, version 1 of each
ELEMENT_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7}
AttributeValue = int | float | str


@dataclass
class OnnxGraph:
    """A network under construction: `add_node` by `add_node`, then `to_bytes`."""

    name: str
    nodes: list[bytes] = field(default_factory=list)
    weights: dict[str, bytes] = field(default_factory=dict)

    def add_weight(self, name: str, values: "np.ndarray") -> str:
        """Keeps an array under a name; the name."""
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
        """Adds an operator; an empty input is one left out. The name of its first output."""
        parts = (
            [_encode_text(1, each) for each in inputs]
            + [_encode_text(2, each) for each in outputs]
            + [_encode_text(4, operator)]
        )
        parts += [_encode_bytes(5, _encode_attribute(name, value)) for name, value in (attributes or {}).items()]
        self.nodes.append(b"".join([*parts, _encode_text(7, domain)]))
        return outputs[0]

    def to_bytes(self, inputs: Mapping[str, Sequence[str | int]], output: str, width: int) -> bytes:
        """The whole as a file's bytes.

        Args:
            inputs: Name to shape of each int32 input; a name in a shape is a size known at run time.
            output: What is asked for: float32 of shape (batch, length, width).
            width: Its last size.
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


def _encode_attribute(name: str, value: AttributeValue) -> bytes:
    if isinstance(value, str):
        return _encode_text(1, name) + _encode_text(4, value) + _encode_integer(20, 3)
    if isinstance(value, int):
        return _encode_text(1, name) + _encode_integer(3, value) + _encode_integer(20, 2)
    return _encode_text(1, name) + _encode_tag(2, 5) + struct.pack("<f", value) + _encode_integer(20, 1)


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
