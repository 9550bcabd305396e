"""`outrider ask`: ask an agent, with a live view of its run."""

import sys
from collections.abc import Mapping
from typing import Any

import click

from outrider.agents.assignment import Assignment
from outrider.agents.definition import Budgets
from outrider.agents.start_keys import build_start_key
from outrider.app import open_app
from outrider.cli.options import add_settings_option, load_settings
from outrider.cli.output import EXIT_PARTIAL, async_command, print_json, print_notes
from outrider.core.context import Call


@click.command()
@click.argument("question", nargs=-1, required=True)
@click.option("--agent", default="researcher", show_default=True, help="Agent to ask (`outrider agents list`).")
@click.option("--model", help="A profile or provider:model, for this question.")
@click.option("--steps", type=click.IntRange(1), help="Model requests at most.")
@click.option("--seconds", type=click.FloatRange(1), help="Working time at most.")
@click.option("--cost", type=click.FloatRange(0, min_open=True), help="US dollars at most.")
@click.option("--idempotency-key", help="Repeating a key shows its first run and starts no second one.")
@click.option("--yes", is_flag=True, help="Allow whatever the agent asks for.")
@click.option("--quiet", is_flag=True, help="Print only the answer.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@add_settings_option
@async_command
async def command(question: tuple[str, ...], sets: tuple[str, ...], *, as_json: bool, **chosen: Any) -> None:
    """Ask an agent. It searches, reads and browses; you see its thoughts and actions.

    It asks you where it needs consent; without a terminal it stops there, and `outrider agents resume` continues.
    """
    settings, text = load_settings(sets), " ".join(question)
    from outrider.cli.run_view import TerminalRunView

    async with open_app(settings) as app:
        call = Call(session="terminal")
        agent = await app.catalogue.get(chosen["agent"])
        if chosen["model"]:
            agent = agent.model_copy(update={"model": [chosen["model"]]})
        conversation = await app.runs.conversations.create(call, agent.name, title=text, visibility="listed")
        started = await app.runs.start(agent, _build_assignment(text, call, chosen), call, conversation)
        view = TerminalRunView(app, quiet=chosen["quiet"] or as_json, allow=chosen["yes"], answer=not as_json)
        ended = await view.follow_run(started)
        usage = await app.runs.sum_usage(ended.id)
    if as_json:
        names = ("id", "agent", "status", "stop_reason", "answer", "thoughts", "citations", "error", "model")
        print_json({name: getattr(ended, name) for name in names} | {"usage": usage.to_dict()})
    elif ended.error:
        print_notes([ended.error["message"]])
    if ended.status == "blocked" and not as_json:
        print_notes([f"it waits for a decision; continue with: outrider agents resume {ended.id}"])
    if ended.status != "completed":
        sys.exit(EXIT_PARTIAL)


def _build_assignment(query: str, call: Call, chosen: Mapping[str, Any]) -> Assignment:
    """Build the task from the command's options. Raises InvalidInput for a key that is too long."""
    limits = {name: chosen[name] for name in ("steps", "seconds", "cost") if chosen[name] is not None}
    start_key = None
    if chosen["idempotency_key"]:
        request = {"query": query, "agent": chosen["agent"], "model": chosen["model"], "budget": limits}
        start_key = build_start_key(chosen["idempotency_key"], call, request)
    return Assignment(query, budget=Budgets(**limits), start_key=start_key)
