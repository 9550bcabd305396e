import logging
from collections.abc import Iterable

import pytest
from pydantic import ValidationError

from outrider.core.context import Call
from outrider.core.errors import AnswerNeeded, Refused
from outrider.core.tool import Stake, Tool
from outrider.core.tool_policy import ToolPolicy, filter_tools, require_consent, resolve_stake


async def do_nothing() -> str:
    return ""


def build_tool(name: str, stake: Stake = "never_ask") -> Tool:
    return Tool(name, name.title(), "", "read", do_nothing, stake=stake)


TOOLS = [build_tool("web_search"), build_tool("web_fetch"), build_tool("clickElement")]


def list_names(enable: Iterable[str] = ("all",), disable: Iterable[str] = ()) -> list[str]:
    return list(filter_tools(TOOLS, ToolPolicy(enable=list(enable), disable=list(disable))))


@pytest.mark.parametrize("everything", ["all", "*", "ALL", " all ", "web_search,*"])
def test_all_tools_can_be_enabled_by_several_names(everything: str):
    assert list_names([everything]) == ["web_search", "web_fetch", "clickElement"]


def test_all_tools_are_offered_by_default():
    assert list(filter_tools(TOOLS, ToolPolicy())) == ["web_search", "web_fetch", "clickElement"]


@pytest.mark.parametrize("wanted", [["none"], [], [""], ["none,none"]])
def test_all_tools_can_be_disabled(wanted: list[str]):
    assert list_names(wanted) == []


@pytest.mark.parametrize(
    "wanted", [["web-search", "CLICKELEMENT"], ["Web_Search,clickElement"], ["web_search\nclick" + "element"]]
)
def test_names_may_be_joined_and_ignore_case_and_dashes(wanted: list[str]):
    assert list_names(wanted) == ["web_search", "clickElement"]


def test_disabling_wins():
    assert list_names(["all"], ["web-fetch"]) == ["web_search", "clickElement"]
    assert list_names(["web_fetch"], ["web_fetch"]) == []
    assert list_names(["web_search"], ["all"]) == []
    assert list_names(["web_search"], ["none"]) == ["web_search"]


def test_unknown_names_are_ignored_with_a_warning(caplog: pytest.LogCaptureFixture):
    policy = ToolPolicy(enable=["web_search", "tea"], disable=["coffee"], stakes={"milk": "high", "*": "low"})
    with caplog.at_level(logging.WARNING):
        assert list(filter_tools(TOOLS, policy)) == ["web_search"]
    assert [record.args for record in caplog.records] == [("tea",), ("coffee",), ("milk",)]


def test_known_names_cause_no_warning(caplog: pytest.LogCaptureFixture):
    filter_tools(
        TOOLS, ToolPolicy(enable=["all"], disable=["none"], stakes={"click-element": "high", "clickelement": "low"})
    )
    assert [record.args for record in caplog.records] == [("click_element",)]


def test_the_operators_stake_for_a_tool_precedes_that_for_all_and_its_own():
    assert resolve_stake(build_tool("pay", "high"), {}) == "high"
    assert resolve_stake(build_tool("pay", "high"), {"*": "low"}) == "low"
    assert resolve_stake(build_tool("pay"), {"*": "low", "pay": "high"}) == "high"


def test_a_stake_is_found_whatever_the_case_of_its_name():
    assert resolve_stake(build_tool("clickElement"), {"clickelement": "high"}) == "high"
    assert resolve_stake(build_tool("web_search"), {"web-search": "high"}) == "high"


@pytest.mark.parametrize("stake", ["never_ask", "low"])
def test_low_stakes_need_no_consent(stake: Stake):
    require_consent(build_tool("read", stake), {}, Call(), {})


def test_a_high_stake_call_asks_with_the_arguments_spelled_out():
    with pytest.raises(AnswerNeeded) as caught:
        require_consent(build_tool("pay", "high"), {}, Call(), {"to": "mallory", "note": "\u202eyob"})
    assert caught.value.question == r"Allow Pay (pay) with {'to': 'mallory', 'note': '\u202eyob'}?"
    assert caught.value.state == "pay"


def test_a_long_question_is_cut_and_says_so():
    with pytest.raises(AnswerNeeded) as caught:
        require_consent(build_tool("pay", "high"), {}, Call(), {"note": "x" * 100_000})
    assert len(caught.value.question) < 4_200
    assert caught.value.question.endswith("… (cut: 100012 characters in all)?")


def test_consent_lets_the_call_pass_and_refusal_ends_it():
    require_consent(build_tool("pay", "high"), {}, Call(answer=True), {})
    with pytest.raises(Refused, match="the user did not allow pay") as caught:
        require_consent(build_tool("pay", "high"), {}, Call(answer=False), {})
    assert caught.value.hint == "do not repeat the call; continue without it"


def test_a_stake_that_does_not_exist_is_refused():
    with pytest.raises(ValidationError, match="never_ask"):
        ToolPolicy.model_validate({"stakes": {"pay": "always"}})
