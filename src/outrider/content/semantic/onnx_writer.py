"""Write a neural network as ONNX, so that a model's weights run without the framework that trained it.

Only the parts of the format that our networks need (onnx.proto of ONNX 1.16: github.com/onnx/onnx), encoded as protocol
buffers (protobuf.dev/programming-guides/encoding).
"""

import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

MICROSOFT_DOMAIN = "com.microsoft"  # fused operators of onnxruntime, version 1
ELEMENT_TYPES = {"float32": 1, "uint8": 2, "int8": 3, "int32": 6, "int64": 7}
AttributeValue = int | float


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
