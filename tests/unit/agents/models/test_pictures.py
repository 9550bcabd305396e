"""Test that agents see pictures of tool results, in each model API's format and within a budget."""

import base64
import json
from typing import Any

import pytest
from pydantic import TypeAdapter

from outrider.agents.models.access import list_providers
from support.apps.agent_runs import ScriptedApp, open_scripted_app
from support.apps.agent_tools import build_png
from support.fakes.model_apis import API_FORMATS, ModelTurn, play_turns

PICTURE = base64.b64encode(build_png(7, 2)).decode()
DRAW_AND_ANSWER = play_turns(
    ModelTurn(calls=[("draw", {"shade": 7}), ("look", {"text": "a"})]), ModelTurn(text="Gray.")
)


def set_profile(scripted: ScriptedApp, **values: Any) -> None:
    profiles = scripted.app.loaded.settings.models.profiles
    profiles["scripted"] = profiles["scripted"].model_copy(update=values)


def find_anthropic_picture(body: dict[str, Any]) -> Any:
    from anthropic.types import ToolResultBlockParam

    (result, _) = [block for block in body["messages"][-1]["content"] if block["type"] == "tool_result"]
    TypeAdapter(ToolResultBlockParam).validate_python(result)
    text, picture = result["content"]
    assert "square 7" in text["text"]
    return picture["source"]


def find_responses_picture(body: dict[str, Any]) -> Any:
    from openai.types.responses.response_input_item_param import FunctionCallOutput

    (result, _) = [item for item in body["input"] if item.get("type") == "function_call_output"]
    TypeAdapter(FunctionCallOutput).validate_python(result)
    text, picture = result["output"]
    assert "square 7" in text["text"]
    return picture["type"], picture["image_url"]


def find_chat_picture(body: dict[str, Any]) -> Any:
    from openai.types.chat import ChatCompletionUserMessageParam

    drawn, looked, shown = body["messages"][-3:]
    assert (drawn["role"], looked["role"], shown["role"]) == ("tool", "tool", "user")
    assert "square 7" in drawn["content"]
    TypeAdapter(ChatCompletionUserMessageParam).validate_python(shown)
    label, picture = shown["content"]
    assert label["text"] == f"Pictures of the result of draw ({drawn['tool_call_id']}):"
    return picture["type"], picture["image_url"]["url"]


def find_google_picture(body: dict[str, Any]) -> Any:
    from google.genai.types import Content

    Content.model_validate(body["contents"][-1])
    drawn = body["contents"][-1]["parts"][0]["functionResponse"]
    assert "square 7" in json.dumps(drawn["response"])
    (picture,) = drawn["parts"]
    return picture["inline_data"]


FORMS: dict[str, tuple[Any, Any]] = {
    "anthropic": (find_anthropic_picture, {"type": "base64", "media_type": "image/png", "data": PICTURE}),
    "responses": (find_responses_picture, ("input_image", f"data:image/png;base64,{PICTURE}")),
    "chat": (find_chat_picture, ("image_url", f"data:image/png;base64,{PICTURE}")),
    "google": (find_google_picture, {"mime_type": "image/png", "data": PICTURE}),
}


@pytest.mark.parametrize("wire", API_FORMATS)
@pytest.mark.nightly
async def test_a_picture_reaches_the_model_in_the_form_of_its_api(wire: str):
    find_picture, expected = FORMS[wire]
    async with open_scripted_app(DRAW_AND_ANSWER, wire) as scripted:
        set_profile(scripted, pictures=True, model="gemini-3.8-flash" if wire == "google" else "scripted")
        run = await scripted.run_to_end()
    assert run.answer == "Gray."
    body = scripted.model_server.requests[1].body
    assert find_picture(body) == expected
    assert "seen: a" in scripted.model_server.requests[1].text
    assert PICTURE not in json.dumps(run.history), "a run that has ended keeps no pictures"


@pytest.mark.nightly
async def test_a_model_without_vision_gets_a_note_in_place_of_the_picture():
    for wire in API_FORMATS:
        async with open_scripted_app(DRAW_AND_ANSWER, wire) as scripted:
            set_profile(scripted, pictures=False)
            await scripted.run_to_end()
        asked = scripted.model_server.requests[1].text
        assert "picture not shown: the model of this agent does not see pictures" in asked, wire
        assert PICTURE not in asked, wire


async def test_a_fallback_that_sees_no_pictures_continues_without_them():
    turns = iter([ModelTurn(calls=[("draw", {"shade": 7})]), ModelTurn(status=400), ModelTurn(text="Gray.")])
    async with open_scripted_app(lambda _: next(turns)) as scripted:
        set_profile(scripted, pictures=True)
        models = scripted.app.loaded.settings.models
        models.profiles["blind"] = models.profiles["scripted"].model_copy(update={"pictures": False})
        models.default.append("blind")
        run = await scripted.run_to_end()
    _, seeing, blind = scripted.model_server.requests
    assert run.answer == "Gray."
    assert (PICTURE in seeing.text, PICTURE in blind.text) == (True, False)
    assert "this model does not see pictures" in blind.text


@pytest.mark.nightly
async def test_old_pictures_are_dropped_in_batches_and_the_newest_are_shown():
    draws = [ModelTurn(calls=[("draw", {"shade": shade})]) for shade in range(17)]
    async with open_scripted_app(play_turns(*draws, ModelTurn(text="Done.")), "anthropic") as scripted:
        set_profile(scripted, pictures=True)
        await scripted.run_to_end()
    pictures = [base64.b64encode(build_png(shade, 2)).decode() for shade in range(17)]
    shown = [
        [shade for shade, picture in enumerate(pictures) if picture in request.text]
        for request in scripted.model_server.requests
    ]
    assert [len(each) for each in shown] == [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 6, 7, 8, 9, 10, 6, 7]
    assert shown[-1] == list(range(10, 17))
    assert scripted.model_server.requests[-1].text.count("an older picture was here") == 10


async def test_pictures_that_models_refuse_are_named_with_the_reason():
    calls = {
        "too many bytes": ({"shade": 1, "noise": 1_500_000}, "it is larger than 1,500,000 bytes"),
        "too many pixels": ({"shade": 1, "side": 8_001}, "its size is 8001×8001, at most 8,000 pixels a side"),
    }
    for case, (arguments, reason) in calls.items():
        turns = play_turns(ModelTurn(calls=[("draw", arguments)]), ModelTurn(text="Done."))
        async with open_scripted_app(turns) as scripted:
            set_profile(scripted, pictures=True)
            await scripted.run_to_end()
        request = scripted.model_server.requests[1]
        assert f"[picture not shown: {reason}" in request.text, case
        assert "base64" not in request.text, case


async def test_new_pictures_are_new_results_and_equal_ones_are_a_loop():
    async with open_scripted_app(play_turns(ModelTurn(text="Again.", calls=[("draw", {"shade": 7})]))) as scripted:
        set_profile(scripted, pictures=True)
        run = await scripted.run_to_end()
    assert run.stop_reason == "repetition"


def test_models_with_and_without_vision_are_recognized_by_name():
    seeing = {
        "anthropic": ["claude-sonnet-5-5"],
        "google": ["gemini-3.8-flash"],
        "openai": ["gpt-6.1-terra", "gpt-4o-mini", "o3", "o4-mini"],
        "openrouter": ["anthropic/claude-opus-4", "qwen/qwen3-vl-32b", "google/gemini-3-pro"],
        "xai": ["grok-4.7"],
        "ollama": ["llava:7b", "gemma3:27b", "qwen3-vl"],
    }
    blind = {
        "openai": ["gpt-3.5-turbo", "o3-mini", "gpt-oss-120b"],
        "deepseek": ["deepseek-v4-pro"],
        "groq": ["openai/gpt-oss-120b"],
        "openrouter": ["deepseek/deepseek-v4"],
        "xai": ["grok-code-fast-1", "grok-4-code"],
        "ollama": ["qwen3:8b", "evlm"],
    }
    providers = list_providers()
    for models_by_provider, expected in ((seeing, True), (blind, False)):
        for name, models in models_by_provider.items():
            found = {model: providers[name].can_see(model) for model in models}
            assert found == dict.fromkeys(models, expected), name
