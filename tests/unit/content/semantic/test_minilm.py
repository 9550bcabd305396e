"""The network that we write computes what BERT computes, and its integers are near enough."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest

from outrider.content.semantic.minilm_network import NORM_EPSILON, build_network, load_weights

WIDTH, WIDE, HEADS, LAYERS, WORDS, PLACES = 32, 64, 4, 2, 50, 16
Arrays = dict[str, np.ndarray]


def arrays() -> Arrays:
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
    made = {name: random.normal(0, 0.3, shape).astype(np.float32) for name, shape in shapes.items()}
    for norm in norms:
        made[f"{norm}.weight"] = random.normal(1, 0.1, WIDTH).astype(np.float32)
        made[f"{norm}.bias"] = random.normal(0, 0.1, WIDTH).astype(np.float32)
    return made


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The arrays as a safetensors file, with a kind of number that we do not read among them."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    data = b""
    for name, values in (arrays() | {"embeddings.position_ids": np.arange(3)}).items():
        kind = "F32" if values.dtype == np.float32 else "I64"
        place = [len(data), len(data) + values.nbytes]
        header[name] = {"dtype": kind, "shape": list(values.shape), "data_offsets": place}
        data += values.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path = tmp_path / "model.safetensors"
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)
    return path


def computed(path: Path, *, integers: bool, ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
    model = build_network(path, integers=integers, heads=HEADS)
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    [states] = session.run(None, {"ids": ids, "types": np.zeros_like(ids), "mask": mask})
    assert isinstance(states, np.ndarray)
    return states


def by_the_book(kept: Arrays, ids: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """BERT as Devlin et al. (2018) describe it."""

    def dense(states: np.ndarray, name: str) -> np.ndarray:
        return states @ kept[f"{name}.weight"].T + kept[f"{name}.bias"]

    def norm(states: np.ndarray, name: str) -> np.ndarray:
        centred = states - states.mean(-1, keepdims=True)
        scale = np.sqrt(centred.var(-1, keepdims=True) + NORM_EPSILON)
        return centred / scale * kept[f"{name}.weight"] + kept[f"{name}.bias"]

    def heads(states: np.ndarray) -> np.ndarray:
        return states.reshape(*states.shape[:2], HEADS, -1).transpose(0, 2, 1, 3)

    places = kept["embeddings.position_embeddings.weight"][: ids.shape[1]]
    kinds = kept["embeddings.token_type_embeddings.weight"][0]
    states = norm(kept["embeddings.word_embeddings.weight"][ids] + places + kinds, "embeddings.LayerNorm")
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


def test_all_arrays_of_floats_are_read(file: Path):
    read = load_weights(file)
    assert read.keys() == arrays().keys()
    assert all(np.array_equal(read[name], values) for name, values in arrays().items())


def test_the_network_computes_what_the_book_says(file: Path):
    states = computed(file, integers=False, ids=IDS, mask=MASK)
    expected = by_the_book(arrays(), IDS, MASK)
    assert np.allclose(states[MASK > 0], expected[MASK > 0], atol=1e-4)


def test_integers_point_in_nearly_the_same_direction(file: Path):
    exact = computed(file, integers=False, ids=IDS, mask=MASK)[MASK > 0]
    rounded = computed(file, integers=True, ids=IDS, mask=MASK)[MASK > 0]
    cosines = (exact * rounded).sum(-1) / np.linalg.norm(exact, axis=-1) / np.linalg.norm(rounded, axis=-1)
    assert cosines.min() > 0.99
