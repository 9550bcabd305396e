"""An embedder is chosen, an endpoint is called, and its failures become errors."""

import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from outrider.content.semantic.embedder import Embedder
from outrider.content.semantic.embedders.endpoint import EndpointEmbedder
from outrider.content.semantic.select_embedder import load_embedder_providers, select_embedder
from outrider.content.settings import EmbeddingSettings
from outrider.core.egress.guard import EgressGuard
from outrider.core.egress.policy import EgressSettings
from outrider.core.errors import NotConfigured, Unavailable
from outrider.core.http import HttpClient
from support.fakes import http_servers

pytestmark = pytest.mark.anyio


def embed_text(text: str) -> list[float]:
    return [3.0 * len(text), 4.0 * len(text), 0.0]


@dataclass
class Server:
    """An embeddings API; it returns `answers` first, one per request, then correct ones."""

    answers: list[Callable[[dict[str, Any]], Response]] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    async def embeddings(self, request: Request) -> Response:
        body = await request.json()
        self.asked.append(body)
        self.keys.append(request.headers.get("authorization", ""))
        if self.answers:
            return self.answers.pop(0)(body)
        data = [{"index": place, "embedding": embed_text(text)} for place, text in enumerate(body["input"])]
        return JSONResponse({"data": data[::-1], "model": body["model"]})

    def app(self) -> Starlette:
        return Starlette(routes=[Route("/v1/embeddings", self.embeddings, methods=["POST"])])


def build_status_handler(code: int, **headers: str) -> Callable[[dict[str, Any]], Response]:
    return lambda _: JSONResponse({"error": {"message": "no"}}, code, headers=headers)


@asynccontextmanager
async def open_endpoint(
    server: Server, environ: dict[str, str] | None = None, *, batch_size: int = 32, **settings: Any
) -> AsyncGenerator[Embedder]:
    http = HttpClient(EgressGuard(EgressSettings()))
    async with http_servers.serve_app(server.app()) as address:
        wanted = EmbeddingSettings.model_validate({"base_url": f"{address}/v1/", "model": "m"} | settings)
        embedder = select_embedder(wanted, http, environ or {}, keys={"mine": "k-file"})
        assert isinstance(embedder, EndpointEmbedder)
        embedder.batch_size = batch_size
        yield embedder
        await embedder.close()
    await http.close()


async def test_an_endpoint_returns_a_normalized_vector_for_each_text():
    server = Server()
    async with open_endpoint(server, batch_size=2) as embedder:
        vectors = await embedder.embed(["a", "bb", "ccc"])
        assert (vectors.dtype, vectors.shape, embedder.dimensions) == (np.float32, (3, 3), 3)
        assert np.allclose(vectors, [[0.6, 0.8, 0]] * 3)
    assert [each["input"] for each in server.asked] == [["a", "bb"], ["ccc"]]
    assert server.keys == ["", ""]


async def test_queries_and_passages_get_their_prefixes_and_dimensions_are_asked_for():
    server = Server()
    async with open_endpoint(server, query_prefix="query: ", document_prefix="passage: ", dimensions=3) as embedder:
        await embedder.embed(["tea"], query=True)
        await embedder.embed(["tea"])
    assert [each["input"] for each in server.asked] == [["query: tea"], ["passage: tea"]]
    assert server.asked[0]["dimensions"] == 3


@pytest.mark.parametrize(
    ("key", "sent"), [("MY_KEY", "k-env"), ("env:MY_KEY", "k-env"), ("keys:mine", "k-file"), ("plain", "plain")]
)
async def test_the_key_is_looked_up_where_the_setting_says(key: str, sent: str):
    server = Server()
    async with open_endpoint(server, {"MY_KEY": "k-env"}, key=key) as embedder:
        await embedder.embed(["tea"])
        assert "k-env" not in repr(vars(embedder))
    assert server.keys == [f"Bearer {sent}"]


@pytest.mark.parametrize("key", ["NO_KEY", "env:NO_KEY", "keys:nobody"])
async def test_a_missing_key_is_reported_with_its_remedy(key: str):
    async with open_endpoint(Server(), key=key) as embedder:
        with pytest.raises(NotConfigured) as caught:
            await embedder.embed(["tea"])
    assert caught.value.code == "semantic_unavailable"
    assert "content.embedding.key" in caught.value.message
    assert "keyword" in caught.value.hint


async def test_a_busy_endpoint_is_asked_again():
    server = Server(
        answers=[build_status_handler(429, **{"retry-after": "0"}), build_status_handler(503, **{"retry-after": "0"})]
    )
    async with open_endpoint(server) as embedder:
        assert len(await embedder.embed(["tea"])) == 1
    assert len(server.asked) == 3


async def test_a_batch_that_is_too_large_for_the_endpoint_is_halved():
    server = Server(answers=[build_status_handler(413), build_status_handler(413)])
    async with open_endpoint(server, batch_size=4) as embedder:
        assert (await embedder.embed(["a", "b", "c", "d"])).shape == (4, 3)
    assert [len(each["input"]) for each in server.asked] == [4, 2, 1, 1, 2]


@pytest.mark.parametrize(("code", "part"), [(401, "key"), (403, "key"), (404, "model")])
async def test_errors_that_an_operator_must_fix_name_the_setting(code: int, part: str):
    async with open_endpoint(Server(answers=[build_status_handler(code)]), key="secret-key") as embedder:
        with pytest.raises(NotConfigured, match=str(code)) as caught:
            await embedder.embed(["tea"])
    assert f"content.embedding.{part}" in caught.value.hint
    assert "secret-key" not in json.dumps(caught.value.to_dict())


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"data": []},
        {"data": [{"index": 0}]},
        {"data": [{"index": 0, "embedding": []}]},
        {"data": [{"index": 0, "embedding": [0, 0]}]},
        {"data": [{"index": 0, "embedding": ["x"]}]},
        {"data": [{"index": 0, "embedding": [1e999, 1]}]},
        {"data": "none"},
        [],
    ],
)
async def test_an_answer_without_valid_vectors_is_a_failure(body: Any):
    text = json.dumps(body)
    async with open_endpoint(Server(answers=[lambda _: Response(text, media_type="application/json")])) as embedder:
        with pytest.raises(Unavailable, match="did not return a valid vector"):
            await embedder.embed(["tea"])


async def test_an_embedders_name_contains_all_that_its_vectors_depend_on():
    names = set()
    for settings in ({}, {"model": "other"}, {"dimensions": 2}, {"document_prefix": "p: "}, {"query_prefix": "q: "}):
        http = HttpClient(EgressGuard(EgressSettings()))
        wanted = EmbeddingSettings.model_validate({"base_url": "http://127.0.0.1:1/v1", "model": "m" * 300} | settings)
        embedder = select_embedder(wanted, http, {})
        assert embedder
        assert len(embedder.name) <= 100
        names.add(embedder.name)
        await http.close()
    assert len(names) == 4  # a query's prefix changes no stored vector


async def test_no_endpoint_is_used_unless_the_operator_sets_its_address(tmp_path: Path):
    http = HttpClient(EgressGuard(EgressSettings()))
    embedder = select_embedder(EmbeddingSettings(), http, {"OPENAI_API_KEY": "k"}, folder=tmp_path)
    assert embedder
    assert not embedder.name.startswith("endpoint")
    assert select_embedder(EmbeddingSettings(provider="off"), http, {}, folder=tmp_path) is None
    await http.close()


@pytest.mark.parametrize(("provider", "remedy"), [("endpoint", "base_url"), ("minilm", "install"), ("no", "builtin")])
async def test_a_provider_that_cannot_be_used_is_reported_with_its_remedy(tmp_path: Path, provider: str, remedy: str):
    http = HttpClient(EgressGuard(EgressSettings()))
    with pytest.raises(NotConfigured, match=r"content\.embedding\.provider") as caught:
        select_embedder(EmbeddingSettings(provider=provider), http, {}, folder=tmp_path)
    assert caught.value.code == "semantic_unavailable"
    assert remedy in caught.value.hint
    await http.close()


async def test_the_built_in_embedder_knows_synonyms_and_spelling():
    http = HttpClient(EgressGuard(EgressSettings()))
    embedder = select_embedder(EmbeddingSettings(provider="builtin"), http, {})
    assert embedder
    texts = ["a car", "Dampfschifffahrten", "绿茶的水温", "", "!!!"]
    vectors = await embedder.embed(texts)
    assert vectors.shape == (5, embedder.dimensions)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    for query, place in (("the vehicle", 0), ("Dampfschifffahrt", 1), ("绿茶", 2)):
        [asked] = await embedder.embed([query], query=True)
        assert int(np.argmax(vectors @ asked)) == place
    assert np.array_equal(vectors, await embedder.embed(texts))
    await embedder.close()
    await http.close()


def test_every_provider_has_a_title_and_a_remedy():
    assert list(load_embedder_providers()) == ["endpoint", "minilm", "builtin"]
    assert all(each.remedy and each.title for each in load_embedder_providers().values())
