"""`outrider doctor`: everything that could have been forgotten, each with its remedy."""

import sys
from collections.abc import AsyncGenerator
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path

import click

from outrider.agents.definition import Agent
from outrider.app import App, open_app
from outrider.cli.finding import Finding
from outrider.cli.keeping import keeping
from outrider.cli.options import loaded, setting
from outrider.cli.output import EXIT_PARTLY, print_json, run
from outrider.cli.recognising import recognising
from outrider.core.errors import OutriderError
from outrider.settings import Loaded
from outrider.workspace.sandbox.sandbox import Sandbox, remedy

MARKS = {"ok": ("✓", "green"), "note": ("·", "yellow"), "bad": ("✗", "red")}


@click.command()
@click.option("--online", is_flag=True, help="Also search once and read one page.")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@setting
def command(sets: tuple[str, ...], *, online: bool, as_json: bool) -> None:
    """Check settings, database, artifacts, keys, models, agents, isolation of code and, with --online, the web."""
    findings = run(lambda: _examine(loaded(sets), online=online), as_json=as_json)
    if as_json:
        print_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            _show(finding)
    if any(finding.state == "bad" for finding in findings):
        sys.exit(EXIT_PARTLY)


async def _examine(settings: Loaded, *, online: bool) -> list[Finding]:
    findings = [Finding("ok", f"Python {sys.version.split()[0]}")]
    findings += [Finding("note", warning) for warning in settings.warnings]
    async with open_app(settings) as app:
        findings += [each async for each in keeping(app)]
        findings += [each async for each in recognising(app)]
        findings += [each async for each in _providers(app)]
        findings += _browser(app)
        findings += [each async for each in _models(app)]
        findings += [each async for each in _agents(app)]
        findings += [each async for each in _servers(app)]
        findings += [each async for each in _code(app)]
        if online:
            findings += [each async for each in _web(app)]
    return findings


async def _providers(app: "App") -> AsyncGenerator[Finding]:
    statuses = await app.search.status()
    usable = [each for each in statuses if each.usable]
    if not usable:
        yield Finding("bad", "no search provider can be used", "set BRAVE_API_KEY or TAVILY_API_KEY")
    for each in statuses:
        if each.usable:
            yield Finding("ok", f"search: {each.title} {'with a key' if each.key else 'without a key'}")
        else:
            yield Finding("note", f"search: {each.title} is not used: {each.reason}", each.remedy)


def _browser(app: "App") -> list[Finding]:
    facts = app.browsers.status()
    if facts["executable"] is None and "remedy" in facts:
        found = Finding("note", f"browser: {facts['how']}", facts["remedy"])
    else:
        found = Finding("ok", f"browser: {facts['executable'] or 'another process'} ({facts['how']})")
    sandbox = [Finding("ok", "browser: Chromium's sandbox is on")] if facts["sandbox"] else []
    return [found, *sandbox, *(Finding("note", f"browser: {warning}") for warning in facts["warnings"])]


async def _models(app: "App") -> AsyncGenerator[Finding]:
    settings = app.loaded.settings.models
    try:
        chain = await app.models.chain()
        yield Finding("ok", f"agents think with {', then '.join(each.label for each in chain)}")
    except OutriderError as error:
        # Agents are no duty; only a choice that does not work is wrong.
        yield Finding("bad" if settings.default else "note", f"models: {error.message}", error.hint)
    for name in (name for name in settings.profiles if name not in settings.default):
        try:
            yield Finding("ok", f"model profile {name}: {(await app.models.chain([name]))[0].label}")
        except OutriderError as error:
            yield Finding("bad", error.message, error.hint)
    for each in await app.models.status():
        if each.usable:
            yield Finding("ok", f"model: {each.title}, {each.model}")
        else:
            yield Finding("note", f"model: {each.title} is not used: {each.reason}", each.remedy)


async def _agents(app: "App") -> AsyncGenerator[Finding]:
    if not all(find_spec(name) for name in ("dbos", "pydantic_ai", "yaml")):
        from outrider.agents.extra import missing

        yield Finding("note", f"agents: {missing().message}", missing().hint)
        return
    for each in app.catalogue.problems():
        yield Finding("bad", f"agents: {each.message}", each.hint)
    try:
        agents = (await app.catalogue.all()).values()
    except OutriderError as error:
        yield Finding("bad", f"agents: {error.message}", error.hint)
        return
    broken = [finding for agent in agents if (finding := await _unfit(app, agent))]
    for finding in broken:
        yield finding
    yield Finding("ok", f"agents: {len(agents) - len(broken)} can be asked (`outrider agents list`)")


async def _servers(app: "App") -> AsyncGenerator[Finding]:
    """Whether the other MCP servers that agents may use can be reached; they are started for that."""
    for name in app.remote.names:
        try:
            tools = await app.remote.tools(name)
        except OutriderError as error:
            disabled = app.loaded.settings.mcpServers[name].disabled
            yield Finding("note" if disabled else "bad", f"MCP {error.message.removeprefix('mcp: ')}", error.hint)
            continue
        asking = sum(tool.stake == "high" for tool in tools)
        yield Finding("ok", f"MCP server {name}: {len(tools)} tools, {asking} of them ask before each call")


async def _code(app: "App") -> AsyncGenerator[Finding]:
    """How well code of models would be kept in, whether the tools for it are served or not."""
    sandbox = app.processes.sandbox
    found = await sandbox.isolation()
    for level, why in found.reasons.items():
        yield Finding("note", f"code: no isolation by {level}: {why}", remedy() if level == "namespaces" else "")
    if found.level is None:
        yield Finding("note", "code: it cannot be isolated here; execute_python and its kin refuse", remedy())
    elif found.level == "none":
        yield Finding("note", "code: not isolated, it may do all that Outrider may", "set `code.isolation` to auto")
    else:
        yield Finding("ok", f"code: isolated by {found.level}")
    if sandbox.settings.network and found.level == "landlock":
        yield Finding("note", "code: no network, though `code.network` is set: only namespaces have a guarded way")
    if found.level is not None:
        async for finding in _runnable(sandbox, app.loaded.settings.data_dir):
            yield finding


async def _runnable(sandbox: "Sandbox", folder: Path) -> AsyncGenerator[Finding]:
    """Whether code could begin in the workspaces below this folder, and by which programs."""
    try:
        await sandbox.check(folder / "workspaces")
    except OutriderError as error:
        yield Finding("note", f"code: {error.message}", error.hint)
    for name, program in (("Python", sandbox.python), ("TypeScript", sandbox.deno)):
        try:
            yield Finding("ok", f"code: {name} is run by {(await program(folder)).executable}")
        except OutriderError as error:
            yield Finding("note", f"code: {error.message}", error.hint)


async def _unfit(app: "App", agent: "Agent") -> Finding | None:
    """Why a run of the agent would not begin; the lack of any model has been said already."""
    try:
        await app.runs.check(agent)
    except OutriderError as error:
        said = error.code == "no_model" and not agent.model
        return None if said else Finding("bad", f"agent {agent.name}: {error.message}", error.hint)
    return None


async def _web(app: "App") -> AsyncGenerator[Finding]:
    try:
        found = await app.call("web_search", query="weather", num_results=1)
        yield Finding("ok", f"a search was answered by {found.data['provider']}")
        await app.call("web_fetch", url=found.data["results"][0]["url"], max_chars=200)
        yield Finding("ok", "its first page could be read")
    except OutriderError as error:
        yield Finding("bad", error.message, error.hint)
    except IndexError:
        yield Finding("note", "the search found nothing", "try `outrider search` with other words")


def _show(finding: Finding) -> None:
    mark, color = MARKS[finding.state]
    click.echo(f"{click.style(mark, fg=color)} {finding.what}")
    if finding.remedy:
        click.echo(f"    {finding.remedy}")
