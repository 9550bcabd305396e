"""The contract of toolset `playbook`."""

import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from outrider.app import App
from outrider.core.context import Call
from outrider.core.errors import InvalidInput, NotConfigured, NotFound
from outrider.core.result import ResourceBlock
from support.apps import replicas

pytestmark = pytest.mark.anyio
ANNA, BERT = Call(session="s", assistant="anna"), Call(session="s", assistant="bert")
STEP = {
    "stepId": "s1",
    "description": "Search shops",
    "action": {"toolName": "websearch", "purpose": "find offers"},
    "requiredData": ["product"],
    "outputVariable": "offers",
}
PRICES = {
    "goal": "Weekly price check",
    "initialCommand": "compare prices every Monday",
    "workflow": [STEP],
    "successCriteria": {"description": "table written", "requiredArtifacts": ["prices.csv"]},
}


def open_playbook_app(home: Path, *toolsets: str) -> Any:
    return replicas.open_replicated_app(home, {"toolsets": ["planning", "playbook", *toolsets]})


async def create_playbook(app: App, call: Call = ANNA, **changes: Any) -> str:
    return (await app.call("create_playbook", call, **(PRICES | changes))).data["playbook"]["id"]


async def test_a_playbook_is_kept_as_it_was_given(home: Path):
    async with open_playbook_app(home) as app:
        name = await create_playbook(app)
    async with open_playbook_app(home) as app:
        shown = (await app.call("get_playbook", ANNA, id=name)).data["playbook"]
    assert {field: shown[field] for field in PRICES} == PRICES
    assert shown["agentId"] == "anna"


async def test_an_unknown_tool_in_a_playbook_causes_a_warning(home: Path):
    async with open_playbook_app(home) as app:
        step = STEP | {"action": {"toolName": "add_tod", "purpose": "plan"}}
        made = await app.call("create_playbook", ANNA, **(PRICES | {"workflow": [step]}))
        assert made.data["warnings"] == [
            "workflow.1.action.toolName: unknown tool 'add_tod' here; did you mean add_todo or mark_todo?"
        ]
        prefixed = [STEP | {"action": {"toolName": "mcp__outrider__add_todo", "purpose": "plan"}}]
        changed = await app.call(
            "update_playbook", ANNA, id=made.data["playbook"]["id"], playbook={"workflow": prefixed}
        )
        assert "warnings" not in changed.data


async def test_each_assistant_sees_and_changes_only_its_own(home: Path):
    async with open_playbook_app(home) as app:
        name = await create_playbook(app)
        assert (await app.call("list_playbooks", BERT)).data["page"]["totalItems"] == 0
        for tool, more in [
            ("get_playbook", {}),
            ("update_playbook", {"playbook": {"goal": "mine now"}}),
            ("delete_playbook", {}),
            ("select_playbook", {}),
        ]:
            with pytest.raises(NotFound, match="no playbook"):
                await app.call(tool, BERT, id=name, **more)
        assert (await app.call("get_playbook", ANNA, id=name)).data["playbook"]["goal"] == PRICES["goal"]


async def test_a_missing_assistant_is_an_error_that_names_who_must_set_it(home: Path):
    async with open_playbook_app(home) as app:
        with pytest.raises(NotConfigured) as caught:
            await app.call("list_playbooks", Call(session="s"))
    assert caught.value.code == "context_missing"
    assert "assistant_id" in caught.value.hint


async def test_pages_are_full_and_count_only_the_assistants_own_playbooks(home: Path):
    async with open_playbook_app(home) as app:
        for number in range(5):
            await create_playbook(app, goal=f"goal {number}")
            await create_playbook(app, BERT)
        page = (await app.call("list_playbooks", ANNA, page=2, pageSize=2)).data
    assert [item["goal"] for item in page["page"]["items"]] == ["goal 2", "goal 1"]
    assert (page["page"]["totalItems"], page["page"]["totalPages"]) == (5, 3)
    assert page["formattedText"].startswith("3. id:")


async def test_a_page_past_the_end_names_the_last_page(home: Path):
    async with open_playbook_app(home) as app:
        await create_playbook(app)
        page = (await app.call("list_playbooks", ANNA, page=4, pageSize=1)).data
        with pytest.raises(InvalidInput, match="pageSize"):
            await app.call("list_playbooks", ANNA, pageSize=0)
    assert (page["page"]["items"], page["formattedText"]) == ([], "no page 4; the last is 1")


async def test_a_list_of_all_playbooks_fits_into_one_answer(home: Path):
    async with open_playbook_app(home) as app:
        whole = json.dumps({"playbooks": [PRICES | {"goal": f"goal {number}"} for number in range(60)]})
        await app.call("import_playbooks", ANNA, content=whole)
        first = (await app.call("list_playbooks", ANNA)).data["page"]
        rest = (await app.call("list_playbooks", ANNA, page=2)).data["page"]
    assert (first["pageSize"], first["totalItems"], first["totalPages"]) == (50, 60, 2)
    assert len({each["id"] for each in first["items"] + rest["items"]}) == 60


async def test_a_record_has_all_its_fields_even_if_empty(home: Path):
    step = {"description": "Look", "action": {"toolName": "web_search", "purpose": "find"}}
    async with open_playbook_app(home) as app:
        shown = (await app.call("create_playbook", ANNA, goal="short", workflow=[step])).data["playbook"]
    assert re.fullmatch(r"\d{13}-\d+", shown["id"])
    assert shown["initialCommand"] == ""
    assert shown["workflow"] == [step | {"stepId": "step-1", "requiredData": [], "outputVariable": ""}]


async def test_an_update_changes_the_named_fields_and_never_the_owner(home: Path):
    async with open_playbook_app(home) as app:
        name = await create_playbook(app)
        shown = (await app.call("update_playbook", ANNA, id=name, playbook={"goal": "Daily check"})).data["playbook"]
        assert (shown["goal"], shown["workflow"]) == ("Daily check", [STEP])
        with pytest.raises(InvalidInput, match="agentId: cannot be changed"):
            await app.call("update_playbook", ANNA, id=name, playbook={"agentId": "bert"})
        with pytest.raises(InvalidInput, match="workflow"):
            await app.call("update_playbook", ANNA, id=name, playbook={"workflow": []})
        assert (await app.call("get_playbook", ANNA, id=name)).data["playbook"]["goal"] == "Daily check"


async def test_a_step_may_name_a_flow_and_a_missing_flow_is_reported(home: Path):
    run = {"toolName": "runFlow", "purpose": "order", "flow": "order-tea"}
    wrong = {
        "action.flow: only runFlow": {**run, "toolName": "websearch"},
        "pattern": {**run, "flow": "../order"},
    }
    flow = "flow: 1\nname: order-tea\norigins: [http://x]\nsteps: [{back: true}]\n"
    async with open_playbook_app(home, "flows") as app:
        for message, action in wrong.items():
            with pytest.raises(InvalidInput, match=message):
                await app.call("create_playbook", ANNA, **(PRICES | {"workflow": [STEP | {"action": action}]}))
        given = PRICES | {"workflow": [STEP | {"action": run}]}
        made = (await app.call("create_playbook", ANNA, **given)).data
        chosen = (await app.call("select_playbook", ANNA, id=made["playbook"]["id"])).data
        await app.call("saveFlow", replace(ANNA, answer=True), name="order-tea", file=flow)
        known = (await app.call("select_playbook", ANNA, id=made["playbook"]["id"])).data
    missing = "workflow.1.action.flow: no flow 'order-tea' here; saveFlow saves it"
    assert made["playbook"]["workflow"][0]["action"] == run
    assert made["warnings"] == [missing]
    assert (missing in chosen["instructions"], missing in known["instructions"]) == (True, False)
    assert any("call runFlow with that name" in each for each in known["instructions"])


async def test_a_workflow_with_problems_is_refused_with_all_of_them(home: Path):
    async with open_playbook_app(home) as app:
        with pytest.raises(InvalidInput) as caught:
            await app.call("create_playbook", ANNA, **(PRICES | {"workflow": [STEP, STEP], "inputs": ["shop"]}))
        assert (await app.call("list_playbooks", ANNA)).data["page"]["totalItems"] == 0
    assert len(caught.value.details["problems"]) == 4


async def test_following_a_playbook_makes_todos_and_is_recorded(home: Path):
    second = STEP | {"stepId": "s2", "description": "Write table", "requiredData": ["offers"], "outputVariable": "t"}
    async with open_playbook_app(home) as app:
        name = await create_playbook(app, workflow=[STEP, second])
        chosen = (await app.call("select_playbook", ANNA, id=name, create_todos=True)).data
        state = (await app.call("get_current_state", ANNA)).data
        await app.call("finish_playbook", ANNA, runId=chosen["runId"], succeeded=True, notes="two shops closed")
        runs = (await app.call("get_playbook", ANNA, id=name)).data["runs"]
        with pytest.raises(NotFound, match="no open run"):
            await app.call("finish_playbook", ANNA, runId=chosen["runId"], succeeded=False)
    assert chosen["inputs"] == ["product"]
    assert chosen["todos"] == [1, 2]
    assert state["goal"] == PRICES["goal"]
    assert [todo.get("after") for todo in state["todos"]] == [None, [1]]
    assert (runs[0]["outcome"], runs[0]["notes"]) == ("succeeded", "two shops closed")


async def test_playbooks_are_moved_to_another_assistant_as_json(home: Path):
    async with open_playbook_app(home) as app:
        await create_playbook(app)
        text = (await app.call("export_playbooks", ANNA)).text
        await app.call("import_playbooks", BERT, content=text)
        assert (await app.call("list_playbooks", BERT)).data["page"]["items"][0]["goal"] == PRICES["goal"]


async def test_an_import_with_one_invalid_playbook_stores_none(home: Path):
    wrong = json.dumps({"playbooks": [PRICES, PRICES | {"workflow": [STEP, STEP]}]})
    async with open_playbook_app(home) as app:
        for content in (wrong, "[]", "{", '{"playbooks": [1]}'):
            with pytest.raises(InvalidInput):
                await app.call("import_playbooks", ANNA, content=content)
        assert (await app.call("list_playbooks", ANNA)).data["page"]["totalItems"] == 0


async def test_deleting_removes_a_playbook_with_its_runs(home: Path):
    async with open_playbook_app(home) as app:
        name = await create_playbook(app)
        await app.call("select_playbook", ANNA, id=name)
        assert (await app.call("delete_playbook", ANNA, id=name)).data["id"] == name
        with pytest.raises(NotFound):
            await app.call("get_playbook", ANNA, id=name)


async def test_buttons_of_shown_playbooks_message_only_the_host(home: Path):
    async with open_playbook_app(home) as app:
        for number in range(3):
            await create_playbook(app, goal=f"<b>Check {number}</b>")
        await create_playbook(app, BERT)
        first = await app.call("show_playbooks", ANNA, pageSize=2)
        last = await app.call("get_playbook_page", ANNA, page=2, pageSize=2)
    card, other = first.content[1], last.content[1]
    assert isinstance(card, ResourceBlock)
    assert isinstance(other, ResourceBlock)
    assert card.uri.startswith("ui://playbooks/list/")
    assert card.fields["serviceInfo"] == {
        "serverName": "playbook", "toolName": "show_playbooks", "backendType": "BuiltInWeb",
    }  # fmt: skip
    assert first.data["page"]["totalItems"] == 3
    assert [item["goal"] for item in last.data["page"]["items"]] == ["<b>Check 0</b>"]
    assert json.loads(first.content[0].text) == first.data
    assert "&lt;b&gt;Check 2" in card.text
    assert "<b>Check 2" not in card.text.replace("<b>&lt;", "")
    assert ("Next" in card.text, "Previous" in card.text) == (True, False)
    assert ("Next" in other.text, "Previous" in other.text) == (False, True)
    calls = [json.loads(unescape(value)) for value in re.findall(r'button value="([^"]*)"', other.text)]
    assert calls[-1] == {"toolName": "get_playbook_page", "params": {"page": 1, "pageSize": 2}}
    assert [each["toolName"] for each in calls[:2]] == ["select_playbook", "delete_playbook"]
    assert '"*"' not in card.text
