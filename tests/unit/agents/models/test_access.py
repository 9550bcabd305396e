"""Test the choice of models, and the errors if there is none."""

from collections.abc import AsyncGenerator, Callable

import pytest

from outrider.agents.models import ModelResolver
from outrider.agents.models.provider_registry import load_providers
from outrider.agents.settings import ModelsSettings
from outrider.core.egress.guard import EgressGuard
from outrider.core.errors import InvalidInput, NotConfigured
from outrider.core.http import HttpClient
from support.fakes import http_servers
from support.fakes.model_apis import ModelServer, ModelTurn, play_turns

Make = Callable[..., ModelResolver]


@pytest.fixture
async def models() -> AsyncGenerator[Make]:
    http = HttpClient(EgressGuard())

    def make(environ: dict[str, str] | None = None, **settings: object) -> ModelResolver:
        return ModelResolver(ModelsSettings.model_validate({"local": False} | settings), environ or {}, http)

    yield make
    await http.close()


async def test_a_key_in_the_environment_suffices_and_other_providers_are_fallbacks(models: Make):
    chain = await models({"OPENAI_API_KEY": "o", "ANTHROPIC_API_KEY": "a"}).resolve_chain()
    assert [(each.provider, each.key) for each in chain] == [("anthropic", "a"), ("openai", "o")]
    assert "o" not in repr(chain).split("key")


async def test_an_agent_names_profiles_or_providers(models: Make):
    profiles = {"ours": {"base_url": "https://llm.example/v1", "model": "m", "key": "OUR_KEY"}}
    made = models({"OUR_KEY": "k", "GEMINI_API_KEY": "g"}, profiles=profiles)
    ours, google = await made.resolve_chain(["ours", "google:gemini-x"])
    assert (ours.provider, ours.api, ours.key, ours.is_trusted) == ("compatible", "chat", "k", True)
    assert (google.provider, google.model, google.api, google.is_trusted) == ("google", "gemini-x", "google", False)


@pytest.mark.parametrize(
    ("key", "value"), [("env:A_KEY", "1"), ("A_KEY", "1"), ("keys:mine", "2"), ("sk-literal", "sk-literal")]
)
async def test_a_key_is_found_where_the_profile_says(models: Make, key: str, value: str):
    profiles = {"x": {"provider": "openai", "model": "m", "key": key}}
    (found,) = await models({"A_KEY": "1"}, profiles=profiles, keys={"mine": "2"}).resolve_chain(["x"])
    assert found.key == value


@pytest.mark.parametrize(
    ("name", "profiles", "message"),
    [
        ("openai:m", {}, "no key for OpenAI"),
        ("x", {"x": {"provider": "openai", "key": "NOT_SET"}}, "its key 'NOT_SET' is not set"),
        ("x", {"x": {"provider": "openay"}}, "provider 'openay' does not exist"),
        ("x", {"x": {"model": "m"}}, "neither `provider` nor `base_url`"),
    ],
)
async def test_a_missing_key_profile_or_provider_is_named(
    models: Make, name: str, profiles: dict[str, object], message: str
):
    with pytest.raises(NotConfigured) as caught:
        await models(profiles=profiles).resolve_chain([name])
    assert message in caught.value.message
    assert caught.value.hint


async def test_unknown_names_are_corrected(models: Make):
    with pytest.raises(InvalidInput) as caught:
        await models().resolve_chain(["antropic:claude"])
    assert "did you mean 'anthropic'?" in caught.value.hint


async def test_a_local_model_is_found_by_asking_its_server(models: Make):
    async with http_servers.serve_app(ModelServer(play_turns(ModelTurn())).build_app()) as url:
        profiles = {"here": {"base_url": f"{url}/v1"}}
        (found,) = await models(profiles=profiles).resolve_chain(["here"])
    assert found.model == "scripted-local"


def test_every_provider_says_where_its_key_comes_from():
    assert {"anthropic", "openai", "google", "ollama"} <= set(load_providers())
    for each in load_providers().values():
        assert each.local or (each.env and each.key_url), each.name
        assert each.api in ("chat", "responses", "anthropic", "google")
