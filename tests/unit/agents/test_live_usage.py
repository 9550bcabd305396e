"""Test that running runs show their tokens and cost as they go."""

import anyio

from outrider.agents.settings import TokenPrice
from outrider.agents.views.overview import RunOverview
from outrider.agents.views.run_list import RunFilter
from outrider.core.context import Call
from outrider.dashboard.runs.updates import read_run_changes
from support.apps.agent_runs import ScriptedApp, open_scripted_app
from support.fakes.model_apis import ModelTurn, play_turns
from support.timeouts import PROCESS_TIMEOUT_S

ANN = Call(identity="ann")


def set_price(scripted: ScriptedApp) -> None:
    profiles = scripted.app.loaded.settings.models.profiles
    profiles["scripted"] = profiles["scripted"].model_copy(update={"price": TokenPrice(input=10, output=10)})


async def test_tokens_cost_and_cached_tokens_of_a_running_run_are_shown_everywhere():
    held = anyio.Event()
    first = ModelTurn(calls=[("look", {"text": "a"})], tokens=(100, 10), cached=40)
    async with open_scripted_app(
        play_turns(first, ModelTurn(text="Done.", tokens=(200, 20), wait_before=held)), "anthropic"
    ) as scripted:
        set_price(scripted)
        app, overview = scripted.app, RunOverview(scripted.app.database)
        services = app.dashboard_services()
        _, cursor = await read_run_changes(services, "")
        run = await scripted.start_run()
        with anyio.fail_after(PROCESS_TIMEOUT_S):
            event = await anext(each async for each in app.runs.follow(run.id) if each.kind == "usage")
        assert event.data["run"]["cached_tokens"] == 40

        status = await app.call("agent_run", ANN, runId=run.id)
        assert "So far it has used 150 tokens (40 from the cache), $0.0015." in status.text
        assert status.meta["outrider/run"]["usage"]["tokens"] == 150
        listed = (await app.call("agent_run", ANN)).text
        assert f"{run.id} (running, 150 tokens (40 from the cache), $0.0015)" in listed
        (tree,) = (await overview.list_trees(RunFilter())).items
        branch = await overview.load_tree(run.id)
        assert branch is not None
        assert [used.describe() for used in (tree.used, branch.used)] == [
            "150 tokens (40 from the cache), $0.0015",
            "150 tokens (40 from the cache), $0.0015",
        ]
        changed, _ = await read_run_changes(services, cursor)
        assert run.id in [row["id"] for row in changed]

        held.set()
        ended = await scripted.wait_for_end(run)
        after = await app.runs.sum_usage(run.id)
    assert (ended.usage["tokens"], after.tokens, after.requests) == (370, 370, 2)


async def test_polling_a_running_agent_is_not_a_loop():
    """The status of an active run shows its progress, so asking for it again is not a repetition."""
    turns = [ModelTurn(calls=[("look", {"text": str(number)})]) for number in range(8)]
    async with open_scripted_app(play_turns(*turns, ModelTurn(text="Done."))) as scripted:
        run = await scripted.start_run()
        texts: set[str] = set()
        with anyio.fail_after(PROCESS_TIMEOUT_S):
            async for event in scripted.app.runs.follow(run.id):
                if event.kind == "usage":
                    texts.add((await scripted.app.call("agent_run", ANN, runId=run.id)).text)
    assert len(texts) > 3
