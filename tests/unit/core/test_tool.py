from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from outrider.core.context import Call
from outrider.core.errors import InvalidInput
from outrider.core.result import ImageBlock, Result, TextBlock
from outrider.core.tool import MAX_TOOL_NAME_CHARS, Tool, Toolset, check_tool_name

tools = Toolset("kitchen", "Makes tea.")


@dataclass
class Kettle:
    litres: float


class Cup(BaseModel):
    tea: str
    sugar: int = 0
    note: str | None = None

    def __str__(self) -> str:
        return f"a cup of {self.tea}"


@tools.tool(title="Brew", timeout=7)
async def brew(
    kettle: Kettle, call: Call, /, tea: Annotated[str, Field(description="Which")], cups: int = 1, *, hot: bool = True
) -> str:
    """Brew tea.

    Takes a while.
    """
    return f"{cups} {tea} of {kettle.litres} litres for {call.session}, hot: {hot}"


@tools.tool(effect="act")
async def pour(tea: str) -> Cup:
    return Cup(tea=tea, note=None)


@tools.tool(effect="write", stake="high", open_world=True)
async def photograph() -> Result:
    return Result((TextBlock("seen"), ImageBlock(b"png")), meta={"at": 1}, is_error=True)


@tools.tool()
async def count() -> Any:
    return 3


@tools.tool()
async def stir(seconds: float) -> str:
    return f"stirred for {seconds:g} s"


async def call_tool(tool: str, arguments: object = None, session: str = "s") -> Result:
    return await tools.tools[tool]({Kettle: Kettle(1.5)}, Call(session=session), arguments)


async def test_parameters_before_the_slash_are_filled_by_the_app():
    result = await call_tool("brew", {"tea": "oolong"}, session="s1")
    assert result.text == "1 oolong of 1.5 litres for s1, hot: True"
    assert tools.tools["brew"].required_services == (Kettle, Call)


async def test_parameters_after_the_slash_are_filled_by_the_model():
    assert (await call_tool("brew", {"tea": "assam", "cups": "2", "hot": False})).text.startswith("2 assam")
    schema = tools.tools["brew"].input_schema
    assert list(schema["properties"]) == ["tea", "cups", "hot"]
    assert schema["required"] == ["tea"]


async def test_a_model_cannot_set_parameters_of_the_app():
    with pytest.raises(InvalidInput, match="kettle: no such parameter"):
        await call_tool("brew", {"tea": "assam", "kettle": {"litres": 9}})


@pytest.mark.parametrize("number", ["NaN", "-Infinity", float("nan"), float("inf")])
async def test_a_non_finite_number_is_refused(number: object):
    with pytest.raises(InvalidInput, match="seconds: Input should be a finite number"):
        await call_tool("stir", {"seconds": number})


async def test_a_service_is_found_by_its_type():
    with pytest.raises(KeyError, match="Kettle"):
        await tools.tools["brew"]({}, Call(), {"tea": "assam"})


def test_a_tool_is_still_a_plain_function():
    assert brew.__name__ == "brew"
    assert tools.tools["brew"].fn is brew


def test_the_docstring_is_the_description_and_the_name_the_title_unless_given():
    assert tools.tools["brew"].description == "Brew tea.\n\nTakes a while."
    assert tools.tools["brew"].title == "Brew"
    assert (tools.tools["pour"].title, tools.tools["pour"].description) == ("pour", "")


def test_the_effect_sets_the_stake_unless_a_trait_overrides_it():
    assert {name: tool.stake for name, tool in tools.tools.items()} == {
        "brew": "never_ask",
        "pour": "high",
        "photograph": "high",
        "count": "never_ask",
        "stir": "never_ask",
    }
    assert tools.tools["photograph"].open_world


def test_an_unknown_trait_is_refused():
    with pytest.raises(TypeError, match="colour"):
        tools.tool(colour="red")(brew_again)


async def brew_again() -> str:
    return ""


async def test_a_returned_text_becomes_text_content():
    result = await call_tool("brew", {"tea": "oolong"})
    assert result.content == (TextBlock(result.text),)
    assert result.data == {}
    assert tools.tools["brew"].output_schema is None


async def test_a_returned_model_becomes_data_and_text():
    result = await call_tool("pour", {"tea": "oolong"})
    assert result.data == {"tea": "oolong", "note": None}
    assert result.text == "a cup of oolong"
    schema = tools.tools["pour"].output_schema
    assert schema is not None
    assert list(schema["properties"]) == ["tea", "sugar", "note"]


async def test_a_result_passes_through_as_it_is():
    result = await call_tool("photograph")
    assert (result.content, result.meta, result.is_error) == ((TextBlock("seen"), ImageBlock(b"png")), {"at": 1}, True)
    assert tools.tools["photograph"].output_schema is None


async def test_anything_else_becomes_its_text():
    assert (await call_tool("count")).text == "3"


@pytest.mark.parametrize("name", ["web_search", "a", "_hidden", "run2", "navigateToUrl", "n" * MAX_TOOL_NAME_CHARS])
def test_names_valid_for_every_host_are_accepted(name: str):
    check_tool_name(name)


@pytest.mark.parametrize(
    "name", ["a__b", "__a", "käse", "茶", "a-b", "a b", "a.b", "", "_", "n" * (MAX_TOOL_NAME_CHARS + 1), "a²"]
)
def test_names_that_some_host_could_not_take_are_refused(name: str):
    with pytest.raises(ValueError, match="bad tool name"):
        check_tool_name(name)


def test_a_name_that_is_too_long_once_it_is_prefixed_is_refused():
    async def steep() -> str:
        return ""

    steep.__name__ = "s" * 40
    Toolset("short", "").tool()(steep)
    with pytest.raises(ValueError, match="at most 25 in all"):
        Toolset("a_toolset_with_a_long_name___", "").tool()(steep)


def test_a_toolset_cannot_have_a_name_twice():
    again = Toolset("again", "")
    again.tool()(brew)
    with pytest.raises(ValueError, match="'brew' is in toolset 'again' twice"):
        again.tool()(brew)


def test_tools_know_their_toolset():
    assert {tool.toolset for tool in tools.tools.values()} == {"kitchen"}
    assert Tool("bare", "Bare", "", "read", brew_again).toolset == ""
