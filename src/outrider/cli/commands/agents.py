"""`outrider agents`: list, check and run agents."""

import sys
from pathlib import Path
from typing import Any

import click

from outrider.agents.definition import read_agent
from outrider.app import open_app
from outrider.cli.options import add_settings_option, load_settings
from outrider.cli.output import EXIT_PARTIAL, print_json, print_notes, run_async
from outrider.core.errors import OutriderError


@click.group()
def command() -> None:
    """List, check and run agents: files in ~/.outrider/agents and .outrider/agents, and the built-in ones."""


@command.command("list")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@add_settings_option
def list_agents(sets: tuple[str, ...], *, as_json: bool) -> None:
    """List the agents."""
    run_async(lambda: _print_agents(load_settings(sets), as_json=as_json), as_json=as_json)


async def _print_agents(settings: Any, *, as_json: bool) -> None:
    async with open_app(settings) as app:
        agents = await app.catalogue.list_agents()
        problems = app.catalogue.list_problems()
    if as_json:
        print_json([agent.model_dump(mode="json", exclude={"instructions"}) for agent in agents.values()])
        return
    for agent in sorted(agents.values(), key=lambda each: each.name):
        click.echo(f"{click.style(agent.name, bold=True):28} {agent.description}")
        tools = ", ".join([*agent.toolsets, *agent.tools, *(f"mcp:{each}" for each in agent.mcp)]) or "no tools"
        click.echo(click.style(f"    {agent.origin} · {', '.join(agent.model) or 'default model'} · {tools}", dim=True))
    print_notes([f"{each.message}; {each.hint}" for each in problems])


@command.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--shared", is_flag=True, help="Keep it in the database, for all who use it, instead of your folder.")
@add_settings_option
def add(file: Path, sets: tuple[str, ...], *, shared: bool) -> None:
    """Check an agent file and add it to your agents."""
    click.echo(run_async(lambda: _add_agent(load_settings(sets), file, shared=shared)))


async def _add_agent(settings: Any, file: Path, *, shared: bool) -> str:
    agent = read_agent(file, "home")
    async with open_app(settings) as app:
        if shared:
            await app.catalogue.save(agent)
            return f"agent {agent.name!r} is in the database"
        return f"agent {agent.name!r} is in {app.catalogue.add(agent)}"


@command.command()
@click.argument("names", nargs=-1)
@add_settings_option
def check(names: tuple[str, ...], sets: tuple[str, ...]) -> None:
    """Check the files, tools and models of agents; without names, of all."""
    bad = run_async(lambda: _check_agents(load_settings(sets), names))
    if bad:
        sys.exit(EXIT_PARTIAL)


async def _check_agents(settings: Any, names: tuple[str, ...]) -> int:
    async with open_app(settings) as app:
        problems = (
            [(each.where, each.message, each.hint) for each in app.catalogue.list_problems()] if not names else []
        )
        wanted = names or tuple(await app.catalogue.list_agents())
        for name in wanted:
            try:
                # Raise the error that would keep a run of the agent from starting
                agent = await app.catalogue.get(name)
                await app.runs.check_agent(agent)
                click.echo(f"{click.style('✓', fg='green')} {name}")
            except OutriderError as error:
                problems.append((name, error.message, error.hint))
    for where, message, hint in problems:
        click.echo(f"{click.style('✗', fg='red')} {where}: {message}")
        if hint:
            click.echo(f"    {hint}")
    return len(problems)


@command.command()
@click.argument("names", nargs=-1)
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@add_settings_option
def servers(names: tuple[str, ...], sets: tuple[str, ...], *, as_json: bool) -> None:
    """Connect to the configured MCP servers and list their tools as agents get them."""
    if run_async(lambda: _show_servers(load_settings(sets), names, as_json=as_json), as_json=as_json):
        sys.exit(EXIT_PARTIAL)


async def _show_servers(settings: Any, names: tuple[str, ...], *, as_json: bool) -> bool:
    found: dict[str, Any] = {}
    async with open_app(settings) as app:
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
    return any(isinstance(each, dict) for each in found.values())


def _print_servers(found: dict[str, Any]) -> None:
    if not found:
        print_notes(['no MCP server is configured; ~/.outrider/mcp.json is the place: {"mcpServers": {"name": {…}}}'])
    for name, tools in found.items():
        broken = tools["error"] if isinstance(tools, dict) else None
        mark = click.style("✗", fg="red") if broken else click.style("✓", fg="green")
        click.echo(f"{mark} {click.style(name, bold=True)}{': ' + broken['message'] if broken else ''}")
        if broken:
            click.echo(f"    {broken.get('hint', '')}")
            continue
        for tool in tools:
            asks = "  asks before each call" if tool["stake"] == "high" else ""
            click.echo(f"    {tool['name']}{click.style(asks, fg='yellow')}")


@command.command("run")
@click.argument("name")
@click.argument("question", nargs=-1, required=True)
@click.pass_context
def run_agent(ctx: click.Context, name: str, question: tuple[str, ...]) -> None:
    """Ask one agent: the same as `outrider ask --agent NAME`."""
    from outrider.cli.commands.ask import command as ask

    ctx.invoke(ask, question=question, agent=name)


@command.command()
@click.argument("run_id")
@click.option("--yes", is_flag=True, help="Allow whatever the agent asks for.")
@add_settings_option
def resume(run_id: str, sets: tuple[str, ...], *, yes: bool) -> None:
    """Come back to a run: follow it, answer its questions, get its answer."""
    status = run_async(lambda: _resume_run(load_settings(sets), run_id, yes=yes))
    if status != "completed":
        sys.exit(EXIT_PARTIAL)


async def _resume_run(settings: Any, run_id: str, *, yes: bool) -> str:
    from outrider.cli.run_view import TerminalRunView

    async with open_app(settings) as app:
        await app.runs.recover_runs()
        return (await TerminalRunView(app, allow=yes).follow_run(await app.runs.get(run_id))).status


@command.command()
@click.argument("run_id")
@add_settings_option
def cancel(run_id: str, sets: tuple[str, ...]) -> None:
    """Cancel a run and its child runs."""
    run_async(lambda: _cancel_run(load_settings(sets), run_id))
    click.echo(f"{run_id} is cancelled")


async def _cancel_run(settings: Any, run_id: str) -> None:
    async with open_app(settings) as app:
        await app.runs.cancel(run_id)
