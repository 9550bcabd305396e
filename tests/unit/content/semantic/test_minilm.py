"""The generated network computes the same as BERT, and nearly the same with integers."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from outrider.content.semantic.minilm_network import NORM_EPSILON, build_network, load_weights, quantize_matrix
from outrider.core.onnx_telemetry import disable_onnx_telemetry

disable_onnx_telemetry()
import onnxruntime  # noqa: E402 - what is set before counts

WIDTH, WIDE, HEADS, LAYERS, WORDS, PLACES = 32, 64, 4, 2, 50, 16
Arrays = dict[str, np.ndarray]


def random_weights() -> Arrays:
    random = np.random.default_rng(7)
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (WORDS, WIDTH),
        "embeddings.position_embeddings.weight": (PLACES, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        dense = {f"attention.self.{part}": (WIDTH, WIDTH) for part in ("query", "key", "value")}
        dense |= {
            "attention.output.dense": (WIDTH, WIDTH),
            "intermediate.dense": (WIDE, WIDTH),
            "output.dense": (WIDTH, WIDE),
        }
        for part, shape in dense.items():
            shapes |= {f"{name}.{part}.weight": shape, f"{name}.{part}.bias": shape[:1]}
        norms += [f"{name}.attention.output.LayerNorm", f"{name}.output.LayerNorm"]
    weights = {name: random.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()}
    for norm in norms:
        weights[f"{norm}.weight"] = random.normal(1, 0.1, WIDTH).astype(np.float32)
        weights[f"{norm}.bias"] = random.normal(0, 0.1, WIDTH).astype(np.float32)
    return weights


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The weights as a safetensors file, with an array of integers that is not read."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    data = b""
    for name, values in (random_weights() | {"embeddings.position_ids": np.arange(3)}).items():
        kind = "F32" if values.dtype == np.float32 else "I64"
        place = [len(data), len(data) + values.nbytes]
        header[name] = {"dtype": kind, "shape": list(values.shape), "data_offsets": place}
        data += values.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path = tmp_path / "model.safetensors"
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


def run_network(path: Path, *, integers: bool, ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
    model = build_network(path, integers=integers, heads=HEADS)
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    [states] = session.run(None, {"ids": ids, "types": np.zeros_like(ids), "mask": mask})
    assert isinstance(states, np.ndarray)
    return states


def compute_bert(weights: Arrays, ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Compute BERT as Devlin et al. (2018) describe it."""

    def dense(states: np.ndarray, name: str) -> np.ndarray:
        return states @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def norm(states: np.ndarray, name: str) -> np.ndarray:
        centred = states - states.mean(-1, keepdims=True)
        scale = np.sqrt(centred.var(-1, keepdims=True) + NORM_EPSILON)
        return centred / scale * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def heads(states: np.ndarray) -> np.ndarray:
        return states.reshape(*states.shape[:2], HEADS, -1).transpose(0, 2, 1, 3)

    positions = weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
    token_types = weights["embeddings.token_type_embeddings.weight"][0]
    states = norm(weights["embeddings.word_embeddings.weight"][ids] + positions + token_types, "embeddings.LayerNorm")
    gelu = np.vectorize(lambda x: x * 0.5 * (1 + math.erf(x / math.sqrt(2))))
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}"
        query, key, value = (
            heads(dense(states, f"{name}.attention.self.{part}")) for part in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 1, 3, 2) / math.sqrt(WIDTH / HEADS)
        scores = np.where(mask[:, None, None, :] > 0, scores, -1e9)
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (shares / shares.sum(-1, keepdims=True)) @ value
        joined = mixed.transpose(0, 2, 1, 3).reshape(states.shape)
        out = f"{name}.attention.output"
        states = norm(states + dense(joined, f"{out}.dense"), f"{out}.LayerNorm")
        wide = gelu(dense(states, f"{name}.intermediate.dense"))
        states = norm(states + dense(wide, f"{name}.output.dense"), f"{name}.output.LayerNorm")
    return states


IDS = np.array([[1, 7, 3, 9, 2], [4, 4, 8, 0, 0]], np.int32)
MASK = np.array([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]], np.int32)


def test_all_float_arrays_are_read(file: Path):
    read = load_weights(file)
    assert read.keys() == random_weights().keys()
    assert all(np.array_equal(read[name], values) for name, values in random_weights().items())


def test_the_network_computes_bert(file: Path):
    states = run_network(file, integers=False, ids=IDS, mask=MASK)
    expected = compute_bert(random_weights(), IDS, MASK)
    assert np.allclose(states[MASK > 0], expected[MASK > 0], atol=1e-4)


def test_integer_products_keep_the_directions(file: Path):
    exact = run_network(file, integers=False, ids=IDS, mask=MASK)[MASK > 0]
    rounded = run_network(file, integers=True, ids=IDS, mask=MASK)[MASK > 0]
    cosines = (exact * rounded).sum(-1) / np.linalg.norm(exact, axis=-1) / np.linalg.norm(rounded, axis=-1)
    assert cosines.min() > 0.99


def test_quantized_products_fit_into_16_bits():
    """x86 processors without VNNI add two products of an activation (0 to 255) and a weight in 16 bits."""
    matrix = np.random.default_rng(3).normal(0, 1, (64, 32)).astype(np.float32)
    quantized, scale = quantize_matrix(matrix)
    assert 2 * 255 * int(np.abs(quantized.astype(int)).max()) < 2**15
    assert np.allclose(quantized * scale, matrix, atol=float(scale.max()) / 2 + 1e-6)
