"""`outrider ask`: ask an agent, with a live view of its run."""

import sys
from typing import Any

import click

from outrider.agents.assignment import Assignment
from outrider.agents.definition import Budgets
from outrider.agents.run import Run
from outrider.app import App, open_app
from outrider.cli.options import add_settings_option, load_settings
from outrider.cli.output import EXIT_PARTIAL, print_json, print_notes, run_async
from outrider.core.context import Call


@click.command()
@click.argument("question", nargs=-1, required=True)
@click.option("--agent", default="researcher", show_default=True, help="Whom to ask (`outrider agents list`).")
@click.option("--model", help="A profile or provider:model, for this question.")
@click.option("--steps", type=click.IntRange(1), help="Requests to the model, at most.")
@click.option("--seconds", type=click.FloatRange(1), help="Time at work, at most.")
@click.option("--cost", type=click.FloatRange(0, min_open=True), help="US dollars, at most.")
@click.option("--yes", is_flag=True, help="Allow whatever the agent asks for.")
@click.option("--quiet", is_flag=True, help="Only the answer.")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@add_settings_option
def command(question: tuple[str, ...], sets: tuple[str, ...], *, as_json: bool, **chosen: Any) -> None:
    """Ask an agent. It searches, reads and browses; you see its thoughts and actions.

    Where it needs your consent you are asked; without a terminal it stops there, and `outrider agents resume` goes on.
    """
    ended = run_async(
        lambda: _ask_agent(load_settings(sets), " ".join(question), chosen, as_json=as_json), as_json=as_json
    )
    if ended.status != "completed":
        sys.exit(EXIT_PARTIAL)


async def _ask_agent(settings: Any, question: str, chosen: dict[str, Any], *, as_json: bool) -> "Run":
    from outrider.cli.run_view import TerminalRunView

    async with open_app(settings) as app:
        call = Call(session="terminal")
        agent = await app.catalogue.get(chosen["agent"])
        if chosen["model"]:
            agent = agent.model_copy(update={"model": [chosen["model"]]})
        conversation = await app.runs.conversations.create(call, agent.name, title=question, visibility="listed")
        budget = Budgets(**{name: chosen[name] for name in ("steps", "seconds", "cost") if chosen[name] is not None})
        started = await app.runs.start(agent, Assignment(question, budget=budget), call, conversation)
        watch = TerminalRunView(app, quiet=chosen["quiet"] or as_json, allow=chosen["yes"], answer=not as_json)
        ended = await watch.follow_run(started)
        await _print_result(app, ended, as_json=as_json)
        return ended


async def _print_result(app: "App", ended: "Run", *, as_json: bool) -> None:
    usage = await app.runs.sum_usage(ended.id)
    if as_json:
        names = ("id", "agent", "status", "stop_reason", "answer", "thoughts", "citations", "error", "model")
        print_json({name: getattr(ended, name) for name in names} | {"usage": usage.to_dict()})
        return
    if ended.error:
        print_notes([ended.error["message"]])
    if ended.status == "blocked":
        print_notes([f"it waits for a decision; go on with: outrider agents resume {ended.id}"])
