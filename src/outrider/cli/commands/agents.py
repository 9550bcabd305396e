"""`outrider agents`: list, check and run agents."""

import sys
from pathlib import Path
from typing import Any

import click

from outrider.agents.definition import read_agent
from outrider.agents.extra import require_agents_extra
from outrider.app import open_app
from outrider.cli.command_group import HelpfulGroup
from outrider.cli.commands.token import format_time
from outrider.cli.options import add_settings_option, load_settings
from outrider.cli.output import EXIT_PARTIAL, async_command, print_json, print_line, print_notes
from outrider.core.errors import OutriderError
from outrider.core.untrusted import clean_untrusted


@click.group(cls=HelpfulGroup)
def command() -> None:
    """List, check and run agents: files in ~/.outrider/agents and .outrider/agents, and the built-in ones."""


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@add_settings_option
@async_command
async def list_agents(sets: tuple[str, ...], *, as_json: bool) -> None:
    """List the agents."""
    require_agents_extra()
    async with open_app(load_settings(sets)) as app:
        agents = await app.catalogue.list_agents()
        problems = app.catalogue.list_problems()
    if as_json:
        print_json([agent.model_dump(mode="json", exclude={"instructions"}) for agent in agents.values()])
        return
    for agent in sorted(agents.values(), key=lambda each: each.name):
        print_line(f"{click.style(agent.name, bold=True):28} {agent.description}")
        tools = ", ".join([*agent.toolsets, *agent.tools, *(f"mcp:{each}" for each in agent.mcp)]) or "no tools"
        print_line(click.style(f"    {agent.origin} · {', '.join(agent.model) or 'default model'} · {tools}", dim=True))
    print_notes([f"{each.message}; {each.hint}" for each in problems])


@command.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--shared", is_flag=True, help="Save it in the database, for all its users, instead of your folder.")
@add_settings_option
@async_command
async def add(file: Path, sets: tuple[str, ...], *, shared: bool) -> None:
    """Check an agent file and add it to your agents."""
    settings = load_settings(sets)
    agent = read_agent(file, "home")
    async with open_app(settings) as app:
        if shared:
            await app.catalogue.save(agent)
        place = "the database" if shared else app.catalogue.add(agent)
    print_line(f"agent {agent.name!r} is in {place}")


@command.command()
@click.argument("names", nargs=-1)
@add_settings_option
@async_command
async def check(names: tuple[str, ...], sets: tuple[str, ...]) -> None:
    """Check the files, tools and models of agents; without names, of all."""
    require_agents_extra()
    async with open_app(load_settings(sets)) as app:
        problems = (
            [(each.where, each.message, each.hint) for each in app.catalogue.list_problems()] if not names else []
        )
        for name in names or tuple(await app.catalogue.list_agents()):
            try:
                # Raise the error that would keep a run of the agent from starting.
                await app.runs.check_agent(await app.catalogue.get(name))
                print_line(f"{click.style('✓', fg='green')} {name}")
            except OutriderError as error:
                problems.append((name, error.message, error.hint))
    for where, message, hint in problems:
        print_line(f"{click.style('✗', fg='red')} {where}: {message}")
        if hint:
            print_line(f"    {hint}")
    if problems:
        sys.exit(EXIT_PARTIAL)


@command.command()
@click.argument("names", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@add_settings_option
@async_command
async def servers(names: tuple[str, ...], sets: tuple[str, ...], *, as_json: bool) -> None:
    """Connect to the configured MCP servers and list their tools as agents get them."""
    found: dict[str, Any] = {}
    async with open_app(load_settings(sets)) as app:
        for name in names or tuple(app.remote_servers.names):
            try:
                tools = await app.remote_servers.list_tools(name)
                found[name] = [{"name": each.name, "stake": each.stake, "title": each.title} for each in tools]
            except OutriderError as error:
                found[name] = {"error": error.to_dict()}
    if as_json:
        print_json(found)
    else:
        _print_servers(found)
    if any(isinstance(each, dict) for each in found.values()):
        sys.exit(EXIT_PARTIAL)


def _print_servers(found: dict[str, Any]) -> None:
    if not found:
        print_notes(['no MCP server is configured; add one to ~/.outrider/mcp.json: {"mcpServers": {"name": {…}}}'])
    for name, tools in found.items():
        broken = tools["error"] if isinstance(tools, dict) else None
        mark = click.style("✗", fg="red") if broken else click.style("✓", fg="green")
        print_line(f"{mark} {click.style(name, bold=True)}{': ' + broken['message'] if broken else ''}")
        if broken:
            print_line(f"    {broken.get('hint', '')}")
            continue
        for tool in tools:
            asks = "  asks before each call" if tool["stake"] == "high" else ""
            print_line(f"    {tool['name']}{click.style(asks, fg='yellow')}")


@command.command("run")
@click.argument("name")
@click.argument("question", nargs=-1, required=True)
@click.pass_context
def run_agent(ctx: click.Context, name: str, question: tuple[str, ...]) -> None:
    """Ask one agent: the same as `outrider ask --agent NAME`."""
    from outrider.cli.commands.ask import command as ask

    ctx.invoke(ask, question=question, agent=name)


@command.command("runs")
@click.option("--open", "is_open", is_flag=True, help="Only runs that have not ended.")
@click.option("--limit", type=click.IntRange(1, 100), default=20, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@add_settings_option
@async_command
async def list_runs(sets: tuple[str, ...], *, is_open: bool, limit: int, as_json: bool) -> None:
    """List runs with their tokens and cost so far, newest first."""
    settings = load_settings(sets)
    from outrider.agents.views.overview import RunOverview
    from outrider.agents.views.run_list import RunFilter

    async with open_app(settings) as app:
        run_filter = RunFilter(status="open" if is_open else "")
        batch = await RunOverview(app.database).list_trees(run_filter, limit=limit)
    runs = [(tree.root, tree.used) for tree in batch.items if tree.root]
    if as_json:
        print_json([vars(run) | {"usage": used.to_dict()} for run, used in runs])
        return
    for run, used in runs:
        query = " ".join(clean_untrusted(run.query).split())[:80]
        at = format_time(run.created_at)
        print_line(f"{run.id}  {at}  {run.status}  {run.agent}  {used.describe()}  {query}")
    if not runs:
        print_notes(["all runs have ended" if is_open else "there are no runs yet"])


@command.command()
@click.argument("run_id")
@click.option("--yes", is_flag=True, help="Allow whatever the agent asks for.")
@add_settings_option
@async_command
async def resume(run_id: str, sets: tuple[str, ...], *, yes: bool) -> None:
    """Return to a run: follow it, answer its questions, get its answer."""
    settings = load_settings(sets)
    from outrider.cli.run_view import TerminalRunView

    async with open_app(settings) as app:
        await app.runs.recover_runs()
        ended = await TerminalRunView(app, allow=yes).follow_run(await app.runs.get(run_id))
    if ended.status != "completed":
        sys.exit(EXIT_PARTIAL)


@command.command()
@click.argument("run_id")
@add_settings_option
@async_command
async def cancel(run_id: str, sets: tuple[str, ...]) -> None:
    """Cancel a run and its child runs."""
    async with open_app(load_settings(sets)) as app:
        await app.runs.cancel(run_id)
    print_line(f"{run_id} is cancelled")
