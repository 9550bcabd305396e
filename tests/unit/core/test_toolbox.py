import copy
import logging
from collections.abc import Callable, Collection
from typing import Any

import anyio
import pytest
from pydantic import BaseModel

from outrider.core.call_records import CallRecord, CallRecorder
from outrider.core.context import Call
from outrider.core.database.database import Database
from outrider.core.errors import AnswerNeeded, InvalidInput, NotFound, OutriderError, Refused, Unavailable
from outrider.core.result import Result, TextBlock
from outrider.core.tool import Services, Tool, Toolset
from outrider.core.tool_policy import ToolPolicy
from outrider.core.toolbox import Toolbox
from support.timeouts import EVENT_TIMEOUT_S

garden = Toolset("garden", "Grows things.", aliases=("plot",))
kitchen = Toolset("kitchen", "Makes tea.")
Box = Callable[..., Toolbox]


class Harvest(BaseModel):
    kilos: int

    def __str__(self) -> str:
        return f"{self.kilos} kg"


@garden.tool()
async def plant(call: Call, /, seed: str, rows: int = 1) -> str:
    """Plant."""
    return f"{rows} rows of {seed} for {call.session}"


@garden.tool()
async def harvest() -> Harvest:
    """Harvest."""
    return Harvest(kilos=3)


@garden.tool(effect="act")
async def sell(price: int) -> str:
    """Sell."""
    return f"sold for {price}"


@garden.tool()
async def lose() -> str:
    """Lose."""
    raise NotFound("no such bed", code="no_bed")


@garden.tool()
async def wither() -> Result:
    """Wither."""
    return Result((TextBlock("all gone"),), is_error=True)


@garden.tool()
async def trip() -> str:
    """Trip."""
    raise RuntimeError("rake")


@garden.tool()
async def doze() -> str:
    """Doze."""
    raise TimeoutError("the gardener's own")


@garden.tool(timeout=0.01)
async def wait_for_rain() -> str:
    """Wait."""
    await anyio.sleep_forever()
    return ""


@garden.tool()
async def ask() -> str:
    """Ask."""
    raise AnswerNeeded("Which bed?", state="bed")


@kitchen.tool()
async def brew() -> str:
    """Brew."""
    return "tea"


@pytest.fixture
async def events(database: Database) -> CallRecorder:
    return CallRecorder(database)


@pytest.fixture
def build_toolbox(events: CallRecorder) -> Box:
    """A toolbox over both toolsets with the given policy."""
    return lambda **policy: Toolbox([garden, kitchen], {}, events, ToolPolicy.model_validate(policy))


async def read_last_record(events: CallRecorder) -> CallRecord:
    return (await events.list_recent(1))[0]


@pytest.mark.parametrize("arguments", [{"seed": "kale", "rows": 2}, '{"seed": "kale", "rows": "2"}'])
async def test_a_tool_is_called_with_an_object_or_its_text(build_toolbox: Box, arguments: object):
    assert (await build_toolbox().call("plant", arguments, Call(session="s"))).text == "2 rows of kale for s"


async def test_a_call_without_context_is_an_anonymous_local_one(build_toolbox: Box):
    assert (await build_toolbox().call("plant", {"seed": "kale"})).text == "1 rows of kale for default"


async def test_an_unknown_tool_is_answered_with_the_nearest_names(build_toolbox: Box):
    with pytest.raises(NotFound, match="no tool 'plants'") as caught:
        await build_toolbox().call("plants")
    assert (caught.value.code, caught.value.hint) == ("unknown_tool", "did you mean plant?")


async def test_an_unknown_tool_that_resembles_none_is_answered_with_all_of_them(build_toolbox: Box):
    with pytest.raises(NotFound) as caught:
        build_toolbox(enable=["plant", "brew"]).get_tool("zzz")
    assert caught.value.hint == "the tools are plant, brew"


async def test_a_withheld_tool_does_not_exist(build_toolbox: Box, events: CallRecorder):
    with pytest.raises(NotFound):
        await build_toolbox(disable=["brew"]).call("brew")
    assert await events.list_recent() == []


async def test_two_tools_of_one_name_are_refused(events: CallRecorder):
    other = Toolset("other", "")
    other.tool()(brew)
    with pytest.raises(ValueError, match="tool 'brew' is in toolsets 'kitchen' and 'other'"):
        Toolbox([kitchen, other], {}, events)


async def test_a_tool_that_takes_too_long_is_given_up(build_toolbox: Box, events: CallRecorder):
    with anyio.fail_after(EVENT_TIMEOUT_S), pytest.raises(Unavailable, match=r"timed out after 0\.01 s") as caught:
        await build_toolbox().call("wait_for_rain")
    assert (caught.value.code, caught.value.retryable) == ("timeout", True)
    assert (await read_last_record(events)).outcome == "timeout"


async def test_a_timeout_raised_inside_a_tool_is_not_taken_for_the_calls(build_toolbox: Box, events: CallRecorder):
    with pytest.raises(TimeoutError, match="the gardener's own"):
        await build_toolbox().call("doze")
    assert (await read_last_record(events)).outcome == "bug"


async def test_a_call_is_recorded_with_who_made_it_and_what_came_out(build_toolbox: Box, events: CallRecorder):
    call = Call(session="s", assistant="a", thread="t", identity="i")
    result = await build_toolbox().call("plant", '{"seed": "kale"}', call)
    event = await read_last_record(events)
    assert (event.session, event.assistant, event.thread, event.identity) == ("s", "a", "t", "i")
    assert (event.toolset, event.tool, event.arguments) == ("garden", "plant", {"seed": "kale"})
    assert (event.outcome, event.message, event.size) == ("ok", "", len(result.text))
    assert event.seconds >= 0


@pytest.mark.parametrize(
    ("tool", "arguments", "error", "outcome", "message"),
    [
        ("lose", None, NotFound, "no_bed", "no such bed"),
        ("plant", {}, InvalidInput, "invalid_input", "plant: seed: is required"),
        ("plant", "{", InvalidInput, "invalid_input", "the arguments are not valid JSON"),
        ("plant", "[1]", InvalidInput, "invalid_input", "the arguments are a JSON array"),
        ("trip", None, RuntimeError, "bug", "rake"),
        ("ask", None, AnswerNeeded, "asks", "Which bed?"),
        ("sell", {"price": 1}, AnswerNeeded, "asks", "Allow sell (sell)"),
    ],
)
async def test_a_failure_is_raised_and_recorded_under_its_code(
    build_toolbox: Box,
    events: CallRecorder,
    tool: str,
    arguments: object,
    error: type[Exception],
    outcome: str,
    message: str,
):
    with pytest.raises(error):
        await build_toolbox().call(tool, arguments)
    event = await read_last_record(events)
    assert (event.tool, event.outcome, event.size) == (tool, outcome, 0)
    assert event.message.startswith(message)


async def test_a_result_that_says_it_failed_is_recorded_as_an_error(build_toolbox: Box, events: CallRecorder):
    assert (await build_toolbox().call("wither")).is_error
    event = await read_last_record(events)
    assert (event.outcome, event.size) == ("error", len("all gone"))


async def test_a_cancelled_call_is_recorded(events: CallRecorder):
    slow = Toolset("slow", "")
    begun = anyio.Event()

    @slow.tool()
    async def begin() -> str:
        begun.set()
        await anyio.sleep_forever()
        return ""

    box = Toolbox([slow], {}, events)
    with anyio.fail_after(EVENT_TIMEOUT_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(box.call, "begin")
            await begun.wait()
            tasks.cancel_scope.cancel()
    assert (await read_last_record(events)).outcome == "cancelled"


async def test_a_model_is_returned_as_data(build_toolbox: Box):
    result = await build_toolbox().call("harvest", "")
    assert (result.data, result.text) == ({"kilos": 3}, "3 kg")


async def test_a_high_stake_call_asks_first_and_runs_once_allowed(build_toolbox: Box):
    with pytest.raises(AnswerNeeded) as caught:
        await build_toolbox().call("sell", {"price": 3})
    assert caught.value.question == "Allow sell (sell) with {'price': 3}?"
    again = Call(answer=True, state=caught.value.state)
    assert (await build_toolbox().call("sell", {"price": 3}, again)).text == "sold for 3"


async def test_a_denied_call_is_refused(build_toolbox: Box, events: CallRecorder):
    with pytest.raises(Refused, match="the user did not allow sell"):
        await build_toolbox().call("sell", {"price": 3}, Call(answer=False))
    assert (await read_last_record(events)).outcome == "refused"


async def test_no_consent_is_asked_for_invalid_arguments(build_toolbox: Box):
    with pytest.raises(InvalidInput, match="price: Input should be a valid integer"):
        await build_toolbox().call("sell", {"price": "a lot"})


async def test_the_operator_decides_which_tools_ask(build_toolbox: Box):
    assert (await build_toolbox(stakes={"sell": "never_ask"}).call("sell", {"price": 3})).text == "sold for 3"
    with pytest.raises(AnswerNeeded):
        await build_toolbox(stakes={"*": "high"}).call("brew")


async def test_the_app_can_be_restricted_to_one_toolset(build_toolbox: Box):
    whole = build_toolbox(disable=["lose"])
    for name in ("garden", "plot"):
        seen = whole.select_toolset(name)
        assert list(seen.toolsets) == ["garden"]
        assert set(seen.tools) == set(garden.tools) - {"lose"}
    assert "brew" in whole.tools
    with pytest.raises(NotFound, match="no tool 'brew'"):
        await whole.select_toolset("garden").call("brew")


async def test_an_unknown_toolset_is_answered_with_the_existing_ones(build_toolbox: Box):
    with pytest.raises(NotFound, match="no toolset 'attic'") as caught:
        build_toolbox().select_toolset("attic")
    assert caught.value.hint == "the toolsets are garden, kitchen"


async def test_calls_through_one_toolset_obey_the_policy_and_are_recorded(build_toolbox: Box, events: CallRecorder):
    with pytest.raises(AnswerNeeded):
        await build_toolbox().select_toolset("garden").call("sell", {"price": 1})
    assert (await read_last_record(events)).outcome == "asks"


async def test_selecting_one_toolset_does_not_warn_of_tools_in_others(
    build_toolbox: Box, caplog: pytest.LogCaptureFixture
):
    whole = build_toolbox(enable=["brew", "plant"], stakes={"brew": "high"})
    with caplog.at_level(logging.WARNING):
        assert list(whole.select_toolset("garden").tools) == ["plant"]
    assert caplog.records == []


async def test_an_unusable_database_makes_no_call_fail(database: Database):
    folder = anyio.Path(database.url.split("///")[1])
    await folder.unlink(missing_ok=True)
    await folder.mkdir(parents=True)
    assert (await Toolbox([kitchen], {}, CallRecorder(database)).call("brew")).text == "tea"


async def test_every_error_a_caller_can_handle_is_an_outrider_error(build_toolbox: Box):
    for tool in ("lose", "plant", "zzz"):
        with pytest.raises(OutriderError):
            await build_toolbox().call(tool)


class Beds(list[str]):
    """The current plants: a service from which the dynamic tools are built."""


@pytest.fixture
def orchard(events: CallRecorder) -> Callable[..., Toolbox]:
    """A toolbox whose tools `pick_<fruit>` follow the given beds."""
    toolset = Toolset("orchard", "Grows trees.")

    @toolset.tool()
    async def prune() -> str:
        """Prune."""
        return "pruned"

    @toolset.register_tool_source
    async def trees(services: Services, taken: Collection[str]) -> tuple[Tool, ...]:
        names = [f"pick_{fruit}" for fruit in services[Beds]]
        return tuple(Tool(name, name, "Pick.", "read", prune, toolset="orchard") for name in names if name not in taken)

    def build_orchard(beds: Beds, **policy: Any) -> Toolbox:
        return Toolbox([kitchen, toolset], {Beds: beds}, events, ToolPolicy.model_validate(policy))

    return build_orchard


async def test_tools_appear_and_disappear_with_their_source(orchard: Callable[..., Toolbox]):
    beds = Beds(["apple"])
    box = orchard(beds)
    assert box.changes
    assert (await box.call("pick_apple")).text == "pruned"
    assert not await box.refresh_tools()
    beds[:] = ["pear"]
    assert await box.refresh_tools()
    assert set(box.tools) == {"brew", "prune", "pick_pear"}
    with pytest.raises(NotFound, match="pick_apple"):
        await box.call("pick_apple")


async def test_a_selected_toolset_refreshes_only_its_own_tools(orchard: Callable[..., Toolbox]):
    box = orchard(Beds(["apple"]))
    await box.refresh_tools()
    for name, expected in {"orchard": {"prune", "pick_apple"}, "kitchen": {"brew"}}.items():
        alone = box.select_toolset(name)
        await alone.refresh_tools()
        assert (set(alone.tools), alone.changes) == (expected, name == "orchard")


async def test_the_policy_applies_to_tools_added_later(orchard: Callable[..., Toolbox]):
    box = orchard(Beds(["apple", "pear"]), enable=["prune", "pick-apple"])
    await box.refresh_tools()
    assert set(box.tools) == {"prune", "pick_apple"}


async def test_a_restricted_toolbox_is_fixed_and_has_its_own_stakes(orchard: Callable[..., Toolbox]):
    beds = Beds(["apple"])
    box = orchard(beds)
    await box.refresh_tools()
    narrow = box.restrict_to(["pick_apple", "brew", "unheard_of"], {"brew": "high"})
    beds[:] = ["pear"]
    assert not await narrow.refresh_tools()
    assert set(narrow.tools) == {"brew", "pick_apple"}
    with pytest.raises(AnswerNeeded):
        await narrow.call("brew")
    assert (await box.call("brew")).text == "tea"
    with pytest.raises(NotFound):
        await narrow.call("pick_pear")


async def test_a_copy_with_selected_tools_never_gains_others(orchard: Callable[..., Toolbox]):
    box = orchard(Beds(["apple"]))
    await box.refresh_tools()
    chosen = copy.copy(box)
    chosen.tools = {"brew": box.get_tool("brew")}
    assert not await chosen.refresh_tools()
    with pytest.raises(NotFound):
        await chosen.call("pick_apple")
