"""The contract of `web_eval_agent` with a real browser, with and without a scripted model."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.types import CallToolResult, ImageContent, TextContent

from outrider.app import App
from support.apps.mcp_clients import HANDSHAKE_VERSION, NEWEST_VERSION, FormAnswerer, choose_decision, connect_client
from support.apps.web_eval_app import (
    build_browser_turn,
    build_done_turn,
    build_evaluation_site,
    build_session_script,
    open_evaluation_app,
    serve_evaluation_app,
)
from support.fakes import http_servers
from support.fakes.model_apis import ModelServer, ModelTurn, TurnScript
from support.results import read_error, read_first_text
from support.timeouts import SCENARIO_TIMEOUT_S

pytestmark = pytest.mark.anyio
FORM_STEPS: list[dict[str, Any]] = [
    {"action": "type", "target": "[name=name]", "value": "Ann"},
    {"action": "select", "target": "[name=size]", "value": "Large"},
    {"action": "click", "target": "form button:enabled"},
    {"action": "expect_text", "value": "Thanks, Ann"},
]


async def call_eval_tool(client: Client, tool: str, **arguments: Any) -> CallToolResult:
    return await client.call_tool(tool, arguments)


def list_images(result: CallToolResult) -> list[ImageContent]:
    return [each for each in result.content if isinstance(each, ImageContent)]


async def test_a_task_reported_as_done_is_a_success_with_its_answer_first(home: Path):
    play = build_session_script(
        build_browser_turn("snapshotPage"),
        build_browser_turn("inputText", selector="[name=name]", text="Ann"),
        build_browser_turn("clickElement", selector="form button:enabled"),
        build_done_turn(success=True, result="Ordered; the shop says: Thanks, Ann."),
    )
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with serve_evaluation_app(home, play) as (app, server, url), Client(app.build_server()) as client:
            result = await call_eval_tool(client, "web_eval_agent", url=f"{url}/form?ref=7", task="Order for Ann")
            data = result.structured_content
            events = await call_eval_tool(client, "get_run_events", include_details=True)
            open_sessions = app.browsers.list_sessions()
    assert not result.is_error
    assert read_first_text(result).startswith(
        "Result: Ordered; the shop says: Thanks, Ann.\n\nSummary:\n- status: success (done)"
    )
    assert (
        f"\n\nArtifacts:\n- session_id: {data['session_id']}\n- 4 screenshots, 0 stream samples, "
        in read_first_text(result)
    )
    assert f"get_screenshots(session_id='{data['session_id']}'" in read_first_text(result)
    assert f"get_run_events(session_id='{data['session_id']}'" in read_first_text(result)
    assert not list_images(result)
    assert (data["status"], data["stop_reason"], data["mode"]) == ("success", "done", "dev")
    assert data["result"] == "Ordered; the shop says: Thanks, Ann."
    assert data["page"] == {"url": f"{url}/thanks", "title": "Thanks"}
    assert data["artifacts"]["screenshots"] == 4
    assert open_sessions == []
    told = [each for each in events.structured_content["events"] if each["event_type"] == "agent"]
    assert [each["summary"] for each in told] == [
        "clickElement form button:enabled: ok",
        "inputText [name=name]: ok",
        "snapshotPage: ok",
        f"createSession {url}/form: ok",
    ]
    assert "POST" in {each["details"].get("method") for each in events.structured_content["events"]}
    assert "closeSession" not in server.requests[0].tool_names
    assert {"done", "snapshotPage"} <= set(server.requests[0].tool_names)


@pytest.mark.nightly
async def test_each_picture_is_described_in_a_line(home: Path):
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with (
            http_servers.serve_app(build_evaluation_site()) as url,
            open_evaluation_app(home, url) as app,
            Client(app.build_server()) as client,
        ):
            await call_eval_tool(client, "web_eval_agent", url=f"{url}/form", task="Order", steps=FORM_STEPS[:3])
            shown = await call_eval_tool(client, "get_screenshots", last_n=20)
    rows = shown.structured_content["screenshots"]
    assert [row["step"] for row in rows] == [0, 1, 2, 3]
    assert [row["metadata"]["capture_reason"] for row in rows] == ["first", "step", "step", "step"]
    assert [row["url"] for row in rows] == [f"{url}/form"] * 3 + [f"{url}/thanks"]
    kinds = [type(each) for each in shown.content]
    assert kinds == [TextContent, *[TextContent, ImageContent] * 4]
    assert {each.mime_type for each in list_images(shown)} == {"image/jpeg"}


async def test_a_task_reported_as_failed_is_a_failure_whatever_else_it_says(home: Path):
    play = build_session_script(
        build_browser_turn("snapshotPage"), build_done_turn(success=False, result="There is no shop here, only a form.")
    )
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with serve_evaluation_app(home, play) as (app, _, url), Client(app.build_server()) as client:
            result = await call_eval_tool(client, "web_eval_agent", url=f"{url}/form", task="Buy tea", mode="compact")
    data = result.structured_content
    assert result.is_error
    assert (data["status"], data["stop_reason"]) == ("failed", "gave_up")
    assert read_first_text(result).startswith("Result: There is no shop here")
    assert "dev_excerpts" not in data


async def test_a_bug_that_the_task_looked_for_is_a_finding_of_a_success(home: Path):
    """The agent sees the page in a picture; the missing icon of the site is not an error of the page."""
    finding = "The total of the cart is negative (-5)."
    play = build_session_script(
        build_browser_turn("takeScreenshot"),
        build_done_turn(success=True, result="The bug is there.", findings=[finding]),
    )
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with serve_evaluation_app(home, play) as (app, server, url), Client(app.build_server()) as client:
            profiles = app.loaded.settings.models.profiles
            profiles["scripted"] = profiles["scripted"].model_copy(update={"pictures": True})
            result = await call_eval_tool(
                client, "web_eval_agent", url=f"{url}/cart", task="Is the total ever negative?"
            )
            events = (await call_eval_tool(client, "get_run_events", last_n=200)).structured_content["events"]
    data = result.structured_content
    assert (data["status"], data["stop_reason"], data["findings"]) == ("success", "done", [finding])
    assert not result.is_error
    assert f"\nFindings:\n- {finding}\n" in read_first_text(result)
    icon = [event for event in events if "favicon" in event["summary"] and event["event_type"] == "network"]
    assert icon
    assert (data["errors_top"], [event for event in events if event["has_error"]]) == ([], [])
    shown = server.requests[1].body["messages"][-1]
    assert shown["content"][1]["image_url"]["url"].startswith("data:image/png;base64,")


async def test_an_answer_without_done_is_not_a_success(home: Path):
    play = build_session_script(ModelTurn(text="All went well, trust me."))
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with serve_evaluation_app(home, play) as (app, _, url), Client(app.build_server()) as client:
            result = await call_eval_tool(client, "web_eval_agent", url=f"{url}/form", task="Order")
    data = result.structured_content
    assert (data["status"], data["stop_reason"], data["result"]) == ("partial", "gave_up", "All went well, trust me.")
    assert any("without calling done" in each for each in data["warnings"])


async def test_a_robot_check_is_reported_as_a_blocked_page(home: Path):
    play = build_session_script(
        build_browser_turn("snapshotPage"),
        build_done_turn(success=False, result="A bot check is in the way.", obstacle="captcha"),
    )
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with serve_evaluation_app(home, play) as (app, _, url), Client(app.build_server()) as client:
            result = await call_eval_tool(client, "web_eval_agent", url=f"{url}/wall", task="Read the news")
    data = result.structured_content
    assert (data["status"], data["stop_reason"]) == ("partial", "blocked_page")
    assert data["errors_top"][0]["type"] in {"agent", "network"}
    assert any("bot check" in each["summary"] for each in data["errors_top"])


@pytest.mark.nightly
async def test_an_exhausted_budget_keeps_what_was_found(home: Path):
    never = anyio.Event()
    play = build_session_script(
        lambda session: ModelTurn(text="It asks for a name.", calls=[("snapshotPage", {"sessionId": session})]),
        ModelTurn(wait_before=never),
    )
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with serve_evaluation_app(home, play) as (app, _, url), Client(app.build_server()) as client:
            result = await call_eval_tool(client, "web_eval_agent", url=f"{url}/form", task="Look", budget_s=8)
            never.set()
    data = result.structured_content
    assert (data["status"], data["stop_reason"]) == ("partial", "budget")
    assert data["result"] == "It asks for a name."
    assert data["timeouts"] == {"budget_s": 8, "step_timeout_s": None, "max_steps": None, "timed_out": True}


async def test_the_last_step_sums_up_and_is_reported_as_the_limit(home: Path):
    play = build_session_script(build_browser_turn("snapshotPage"), ModelTurn(text="So far: a form."))
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with serve_evaluation_app(home, play) as (app, _, url), Client(app.build_server()) as client:
            result = await call_eval_tool(client, "web_eval_agent", url=f"{url}/form", task="Look", max_steps=1)
    data = result.structured_content
    assert (data["status"], data["stop_reason"], data["result"]) == ("partial", "steps", "So far: a form.")
    assert data["timeouts"]["timed_out"] is False


async def test_a_structured_answer_fits_its_schema_or_is_asked_for_again(home: Path):
    schema = {"type": "object", "properties": {"fields": {"type": "integer"}}, "required": ["fields"]}
    play = build_session_script(
        build_done_turn(success=True, result="Eight fields.", data={"fields": "eight"}),
        build_done_turn(success=True, result="Eight fields.", data={"fields": 8}),
    )
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with serve_evaluation_app(home, play) as (app, server, url), Client(app.build_server()) as client:
            result = await call_eval_tool(
                client, "web_eval_agent", url=f"{url}/form", task="Count", output_schema=schema
            )
    assert result.structured_content["structured_output"] == {"fields": 8}
    assert 'Structured output: {"fields": 8}' in read_first_text(result)
    assert "'eight' is not of type 'integer'" in server.requests[1].results[-1]


async def test_page_errors_are_ranked_and_contain_no_secrets(home: Path):
    play = build_session_script(build_browser_turn("snapshotPage"), build_done_turn(success=True, result="Looked."))
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with serve_evaluation_app(home, play) as (app, _, url), Client(app.build_server()) as client:
            result = await call_eval_tool(client, "web_eval_agent", url=f"{url}/console", task="Look")
            events = await call_eval_tool(client, "get_run_events", event_types=["console"], include_details=True)
    data = result.structured_content
    assert [each["type"] for each in data["errors_top"]][:2] == ["network", "console"]
    assert any("boom" in each["summary"] for each in data["errors_top"])
    assert data["dev_excerpts"]["network_errors"][0]["summary"] == f"GET {url}/missing.png: 404"
    assert {each["event_type"] for each in events.structured_content["events"]} == {"console"}
    everything = str(data) + str(events.structured_content)
    assert "hunter2" not in everything
    assert "abc123" not in everything


def build_held_turns(release: anyio.Event, begun: anyio.Event, last: ModelTurn) -> TurnScript:
    """Report the start, and end when released."""

    def waits(_: str) -> ModelTurn:
        begun.set()
        return replace(last, wait_before=release)

    return build_session_script(waits)


async def give_up_evaluation(client: Client, url: str, begun: anyio.Event) -> None:
    """Call the tool, and cancel as soon as the agent works."""
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: call_eval_tool(client, "web_eval_agent", url=f"{url}/form", task="Wait"))
        await begun.wait()
        tasks.cancel_scope.cancel()


async def read_last_evaluation(app: App) -> dict[str, Any]:
    """Read the result of the last evaluation as a client does."""
    async with Client(app.build_server()) as client:
        while True:
            run = (await call_eval_tool(client, "get_run_events")).structured_content["run"]
            if run["status"] != "running":
                return run


async def test_a_client_that_cancels_ends_the_evaluation_and_its_browser(home: Path):
    release, begun = anyio.Event(), anyio.Event()
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with serve_evaluation_app(
            home, build_held_turns(release, begun, build_done_turn(success=True, result="x"))
        ) as (
            app,
            _,
            url,
        ):
            async with connect_client(app.build_server(), HANDSHAKE_VERSION) as client:
                await give_up_evaluation(client, url, begun)
                run = await read_last_evaluation(app)
            sessions = app.browsers.list_sessions()
            release.set()
    assert (run["status"], run["stop_reason"]) == ("failed", "cancelled")
    assert sessions == []


@pytest.mark.nightly
async def test_a_client_that_vanishes_finds_the_result_later(home: Path):
    release, begun = anyio.Event(), anyio.Event()
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with serve_evaluation_app(
            home, build_held_turns(release, begun, build_done_turn(success=True, result="Seen."))
        ) as (
            app,
            _,
            url,
        ):
            with anyio.CancelScope() as gone:
                async with connect_client(app.build_server(), NEWEST_VERSION) as client:
                    await give_up_evaluation(client, url, begun)
                    gone.cancel()
            release.set()
            run = await read_last_evaluation(app)
    assert (run["status"], run["result"]) == ("success", "Seen.")


async def test_another_process_continues_with_its_own_browser(home: Path):
    release, begun = anyio.Event(), anyio.Event()
    addresses: list[str] = []

    def opens(_: str) -> ModelTurn:
        begun.set()
        return ModelTurn(wait_before=release, calls=[("createSession", {"url": addresses[0]})])

    server = ModelServer(
        build_session_script(
            build_browser_turn("snapshotPage"), opens, build_done_turn(success=True, result="Seen twice.")
        )
    )
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with (
            http_servers.serve_app(server.build_app()) as model,
            http_servers.serve_app(build_evaluation_site()) as url,
        ):
            addresses.append(f"{url}/article")
            with anyio.CancelScope() as gone:
                async with (
                    open_evaluation_app(home, url, model) as app,
                    connect_client(app.build_server(), NEWEST_VERSION) as client,
                ):
                    await give_up_evaluation(client, url, begun)
                    gone.cancel()
            release.set()
            async with open_evaluation_app(home, url, model) as app:
                run = await read_last_evaluation(app)
                shown = await app.call("get_screenshots", last_n=20)
                sessions = app.browsers.list_sessions()
    assert (run["status"], run["result"]) == ("success", "Seen twice.")
    assert [(row["step"], row["url"]) for row in shown.data["screenshots"]] == [
        (0, f"{url}/form"),
        (1, f"{url}/form"),
        (2, f"{url}/article"),
    ]
    assert sessions == []


async def test_an_action_that_needs_consent_waits_and_continues(home: Path):
    play = build_session_script(
        build_browser_turn("clickElement", selector="[name=gift]"), build_done_turn(success=True, result="Ticked.")
    )
    asks = {"tools": {"stakes": {"clickElement": "high"}}}
    person = FormAnswerer(choose_decision("approved"))
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with (
            serve_evaluation_app(home, play, more=asks) as (app, _, url),
            connect_client(app.build_server(), NEWEST_VERSION, "person", person) as client,
        ):
            result = await call_eval_tool(client, "web_eval_agent", url=f"{url}/form", task="Tick the gift")
            events = await call_eval_tool(client, "get_run_events", event_types=["agent"])
    assert result.structured_content["status"] == "success"
    assert len(person.forms) == 1
    told = [each["summary"] for each in events.structured_content["events"]]
    assert told == ["clickElement [name=gift]: ok", f"createSession {url}/form: ok"]


@pytest.mark.nightly
async def test_steps_need_no_model(home: Path):
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with (
            http_servers.serve_app(build_evaluation_site()) as url,
            open_evaluation_app(home, url) as app,
            Client(app.build_server()) as client,
        ):
            result = await call_eval_tool(client, "web_eval_agent", url=f"{url}/form", task="Order", steps=FORM_STEPS)
            looked = {"tool": "extractPageContent", "arguments": {"format": "text"}}
            also = await call_eval_tool(client, "web_eval_agent", url=f"{url}/article", task="Read", steps=[looked])
    data = result.structured_content
    assert not result.is_error
    assert read_first_text(result).startswith("Result: All 4 steps passed.")
    assert (data["status"], data["stop_reason"]) == ("success", "done")
    assert [each["outcome"] for each in data["steps"]] == ["ok"] * 4
    assert data["page"]["title"] == "Thanks"
    assert data["artifacts"]["screenshots"] == 5
    assert "Ann" not in data["steps"][0]["action"]
    assert also.structured_content["status"] == "success"


async def test_a_flow_is_a_step_and_its_failure_fails_the_evaluation(home: Path):
    folder = home / ".outrider" / "flows"
    folder.mkdir(parents=True)
    step = {"action": "flow", "target": "order", "arguments": {"who": "Ann"}}
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with (
            http_servers.serve_app(build_evaluation_site()) as url,
            open_evaluation_app(home, url) as app,
            Client(app.build_server()) as client,
        ):

            async def check(more: str, steps: str) -> Any:
                head = f"flow: 1\nname: order\norigins: [{url}]\nparameters: {{who: {{}}}}\n{more}"
                (folder / "order.yaml").write_text(f"{head}steps:\n{steps}".replace("SITE", url))
                return await call_eval_tool(client, "web_eval_agent", url=f"{url}/form", task="Order", steps=[step])

            fill = "  - open: SITE/form\n  - fill: Name\n    text: ${who}\n"
            right = await check("", f"{fill}  - click: Send\n")
            shown = await call_eval_tool(client, "get_run_events")
            stopped = await check("", f"{fill}  - click: Gone\n    when: {{text: Order}}\n")
            secret = await check(
                "secrets: {pin: {env: OUTRIDER_FLOW_PIN}}\n", fill.replace("text: ${who}", "secret: pin")
            )
            unknown = await call_eval_tool(
                client, "web_eval_agent", url=f"{url}/form", task="Order", steps=[{**step, "target": "../order"}]
            )
    assert right.structured_content["status"] == "success", right.content
    assert right.structured_content["steps"][0]["action"] == "flow order"
    assert "succeeded" in right.structured_content["steps"][0]["text"]
    assert right.structured_content["artifacts"]["screenshots"] == 2
    assert "runFlow order: ok" in [each["summary"] for each in shown.structured_content["events"]]
    outcomes = [each.structured_content["steps"][0]["outcome"] for each in (stopped, secret, unknown)]
    assert outcomes[0] == "not_found", stopped.content
    assert outcomes[1:] == ["refused", "invalid_input"], (secret.content, unknown.content)
    assert [each.structured_content["status"] for each in (stopped, secret, unknown)] == ["failed"] * 3


async def test_a_repeated_key_gets_the_evaluation_that_it_started(home: Path):
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with (
            http_servers.serve_app(build_evaluation_site()) as url,
            open_evaluation_app(home, url) as app,
            Client(app.build_server()) as client,
        ):
            request = {"url": f"{url}/form", "task": "Order", "steps": FORM_STEPS, "idempotency_key": "k1"}
            first, again = [await call_eval_tool(client, "web_eval_agent", **request) for _ in range(2)]
            other = await client.call_tool("web_eval_agent", request | {"task": "Look"})
            late = await client.call_tool("web_eval_agent", request, meta={"session_id": "another"})
    assert again.structured_content == first.structured_content
    evaluation = first.structured_content["session_id"]
    assert read_error(other)["code"] == "idempotency_key_reused"
    assert evaluation in read_error(other)["message"]
    assert late.structured_content["session_id"] != evaluation


async def test_a_failing_step_ends_the_evaluation(home: Path):
    steps = [{"action": "click", "target": "#nothing"}, {"action": "goto", "target": "/article"}]
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with (
            http_servers.serve_app(build_evaluation_site()) as url,
            open_evaluation_app(home, url) as app,
            Client(app.build_server()) as client,
        ):
            result = await call_eval_tool(client, "web_eval_agent", url=f"{url}/form", task="Order", steps=steps)
            shown = await call_eval_tool(client, "get_screenshots", has_error=True, include_images=False)
    data = result.structured_content
    assert result.is_error
    assert [each["action"] for each in data["steps"]] == ["click #nothing"]
    assert data["result"].startswith("Step 1 of 2 (click #nothing) failed: ")
    assert (data["status"], data["stop_reason"]) == ("failed", "error")
    assert data["errors_top"][0]["type"] == "agent"
    assert [row["metadata"]["capture_reason"] for row in shown.structured_content["screenshots"]] == ["error"]
    assert not list_images(shown)


async def test_an_action_that_takes_too_long_is_abandoned(home: Path):
    steps = [{"tool": "waitFor", "arguments": {"text": "never there", "seconds": 60}}]
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with (
            http_servers.serve_app(build_evaluation_site()) as url,
            open_evaluation_app(home, url) as app,
            Client(app.build_server()) as client,
        ):
            result = await call_eval_tool(
                client, "web_eval_agent", url=f"{url}/form", task="Wait", steps=steps, step_timeout_s=5
            )
    assert result.structured_content["steps"][0]["outcome"] == "timeout"


async def test_an_unreachable_site_is_a_failure_with_its_reason(home: Path):
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with (
            http_servers.serve_app(build_evaluation_site()) as url,
            open_evaluation_app(home, "http://127.0.0.1:9") as app,
            Client(app.build_server()) as client,
        ):
            result = await call_eval_tool(
                client, "web_eval_agent", url="http://127.0.0.1:9/", task="Look", steps=FORM_STEPS
            )
            refused = await call_eval_tool(client, "web_eval_agent", url=f"{url}/form", task="Look", steps=FORM_STEPS)
    assert result.structured_content["stop_reason"] == "error"
    assert result.structured_content["warnings"]
    assert read_error(refused)["code"] == "egress"


@pytest.mark.nightly
async def test_nothing_is_lost_when_the_process_ends(home: Path):
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with http_servers.serve_app(build_evaluation_site()) as url:
            async with open_evaluation_app(home, url) as app, Client(app.build_server()) as client:
                first = await call_eval_tool(
                    client, "web_eval_agent", url=f"{url}/form", task="Order", steps=FORM_STEPS
                )
            async with open_evaluation_app(home, url) as app, Client(app.build_server()) as client:
                known = first.structured_content["session_id"]
                shown = await call_eval_tool(client, "get_screenshots", session_id=known, last_n=2)
                events = await call_eval_tool(client, "get_run_events", session_id=known)
    assert [row["step"] for row in shown.structured_content["screenshots"]] == [3, 4]
    assert len(list_images(shown)) == 2
    assert events.structured_content["run"]["result"] == "All 4 steps passed."
    assert events.structured_content["stats"]["counts"]["agent"] == 5


@pytest.mark.nightly
async def test_the_newest_events_come_first_and_can_be_filtered(home: Path):
    with anyio.fail_after(SCENARIO_TIMEOUT_S):
        async with (
            http_servers.serve_app(build_evaluation_site()) as url,
            open_evaluation_app(home, url) as app,
            Client(app.build_server()) as client,
        ):
            await call_eval_tool(client, "web_eval_agent", url=f"{url}/console", task="Order", steps=FORM_STEPS)
            every = (await call_eval_tool(client, "get_run_events", last_n=200)).structured_content
            none = (await call_eval_tool(client, "get_run_events", last_n=0)).structured_content
            failed = (await call_eval_tool(client, "get_run_events", has_error=True)).structured_content
            middle = every["events"][2]["timestamp"]
            later = (await call_eval_tool(client, "get_run_events", from_timestamp=middle)).structured_content
            no_pictures = (await call_eval_tool(client, "get_screenshots", last_n=0)).structured_content
    times = [each["timestamp"] for each in every["events"]]
    assert times == sorted(times, reverse=True)
    assert every["stats"]["newest_timestamp"] == times[0]
    assert every["stats"]["counts"]["total"] == len(times)
    assert none["events"] == []
    assert failed["events"]
    assert all(each["has_error"] for each in failed["events"])
    assert [each["timestamp"] for each in later["events"]] == times[:3]
    assert no_pictures["screenshots"] == []
    assert no_pictures["stats"]["total_screenshots"] > 0
