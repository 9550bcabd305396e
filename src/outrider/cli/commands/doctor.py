"""`outrider doctor`: check the installation and suggest fixes."""

import sys
from collections.abc import AsyncGenerator, Sequence
from dataclasses import asdict
from pathlib import Path

import click

from outrider.agents.extra import require_agents_extra
from outrider.app import App, open_app
from outrider.browser.settings import BrowserSettings
from outrider.cli.doctor_checks import Finding, FindingState, check_identity, check_storage
from outrider.cli.options import add_settings_option, load_settings
from outrider.cli.output import EXIT_PARTIAL, async_command, print_json, print_line, print_notes
from outrider.core.errors import NotConfigured, OutriderError
from outrider.search.provider import Query
from outrider.workspace.sandbox.sandbox import Sandbox, describe_remedy


@click.command()
@click.option("--online", is_flag=True, help="Also search once and read one page.")
@click.option("--live", is_flag=True, help="Also ask each search provider one question.")
@click.option("--all", "every", is_flag=True, help="Show what each unused provider and model needs.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON; always with --all.")
@add_settings_option
@async_command
async def command(sets: tuple[str, ...], *, online: bool, live: bool, every: bool, as_json: bool) -> None:
    """Check settings, database, artifacts, keys, models, agents, code isolation and, if asked to, the web."""
    marks = {"ok": ("✓", "green"), "note": ("·", "yellow"), "bad": ("✗", "red")}
    settings = load_settings(sets)
    findings = [Finding("ok", f"Python {sys.version.split()[0]}")]
    findings += [Finding("note", warning) for warning in settings.warnings]
    checks = [check_storage, check_identity, _check_providers, _check_browser, _check_models, _check_agents]
    checks += [_check_servers, _check_code, *([_check_web] if online else []), *([_ask_providers] if live else [])]
    async with open_app(settings) as app:
        for check in checks:
            findings += [each async for each in check(app)]
    if as_json:
        print_json([asdict(finding) for finding in findings])
    for finding in () if as_json else findings if every else _merge_choices(findings):
        mark, color = marks[finding.state]
        print_line(f"{click.style(mark, fg=color)} {finding.what}")
        if finding.remedy:
            print_line(f"    {finding.remedy}")
    if not (as_json or every):
        print_notes(["`outrider doctor --all` shows what each unused one needs"])
    if any(finding.state == "bad" for finding in findings):
        sys.exit(EXIT_PARTIAL)


def _merge_choices(findings: Sequence[Finding]) -> list[Finding]:
    """Return the findings, with an area's used and unused choices on one line each."""
    merged: dict[tuple[str, FindingState], list[Finding]] = {}
    for number, finding in enumerate(findings):
        area = finding.what.partition(": ")[0] if finding.choice else str(number)
        merged.setdefault((area, finding.state), []).append(finding)
    return [
        Finding(state, f"{area}: {'' if state == 'ok' else 'not used: '}{', '.join(each.choice for each in alike)}")
        if alike[0].choice
        else alike[0]
        for (area, state), alike in merged.items()
    ]


async def _check_browser(app: "App") -> AsyncGenerator[Finding]:
    facts = app.browsers.collect_status()
    if facts["executable"] is None and "remedy" in facts:
        yield Finding("note", f"browser: {facts['how']}", facts["remedy"])
    elif facts["executable"] and (failure := await _try_browser(app.browsers.settings)):
        yield Finding("bad", f"browser: {failure.message}", failure.hint)
        return
    else:
        yield Finding("ok", f"browser: {facts['executable'] or 'another process'} ({facts['how']})")
    if facts["sandbox"]:
        yield Finding("ok", "browser: Chromium's sandbox is on")
    for warning in facts["warnings"]:
        yield Finding("note", f"browser: {warning}")


async def _try_browser(settings: BrowserSettings) -> OutriderError | None:
    """Start the browser and end it; return why it did not start."""
    from outrider.browser.process.launch import launch_browser

    try:
        running = await launch_browser(settings.executable, sandbox=settings.sandbox, extra=tuple(settings.flags))
    except OutriderError as error:
        return error
    await running.aclose()
    return None


async def _check_providers(app: "App") -> AsyncGenerator[Finding]:
    statuses = await app.search.list_providers()
    usable = [each for each in statuses if each.usable]
    if not usable:
        yield Finding("bad", "no search provider can be used", "set BRAVE_API_KEY or TAVILY_API_KEY")
    for each in statuses:
        if each.usable:
            key = "with a key" if each.key else "without a key"
            yield Finding("ok", f"search: {each.title} {key}", choice=f"{each.title} {key}" if each.key else each.title)
        else:
            problem = f"search: {each.title} is not used: {each.reason}"
            yield Finding("note", problem, each.remedy, choice=each.title)


async def _ask_providers(app: "App") -> AsyncGenerator[Finding]:
    """Ask each provider a question that all of them can answer."""
    remedies = {each.name: (each.title, each.remedy) for each in await app.search.list_providers()}
    for attempt in await app.search.ask_every_provider(Query("What is the capital of France?", count=3)):
        title, remedy = remedies[attempt.provider]
        if attempt.outcome != "ok":
            yield Finding("bad", f"live: {attempt.message} [{attempt.outcome}]", remedy)
        elif not attempt.hits:
            yield Finding("note", f"live: {title} found nothing in {attempt.seconds:.1f} s", remedy)
        else:
            first = f"{attempt.hits} results in {attempt.seconds:.1f} s, first {attempt.message!r}"
            yield Finding("ok", f"live: {title} found {first}")


async def _check_models(app: "App") -> AsyncGenerator[Finding]:
    settings = app.loaded.settings.models
    try:
        chain = await app.models.resolve_chain()
        yield Finding("ok", f"agents use {', then '.join(each.label for each in chain)}")
    except OutriderError as error:
        # Agents are optional; only a configured choice that fails is a problem.
        yield Finding("bad" if settings.default else "note", f"models: {error.message}", error.hint)
    for name in (name for name in settings.profiles if name not in settings.default):
        try:
            yield Finding("ok", f"model profile {name}: {(await app.models.resolve_chain([name]))[0].label}")
        except OutriderError as error:
            yield Finding("bad", error.message, error.hint)
    for each in await app.models.list_status():
        if each.usable:
            yield Finding("ok", f"model: {each.title}, {each.model}")
        else:
            problem = f"model: {each.title} is not used: {each.reason}"
            yield Finding("note", problem, each.remedy, choice=each.title)


async def _check_agents(app: "App") -> AsyncGenerator[Finding]:
    try:
        require_agents_extra()
    except NotConfigured as error:
        yield Finding("note", f"agents: {error.message}", error.hint)
        return
    for each in app.catalogue.list_problems():
        yield Finding("bad", f"agents: {each.message}", each.hint)
    try:
        agents = (await app.catalogue.list_agents()).values()
    except OutriderError as error:
        yield Finding("bad", f"agents: {error.message}", error.hint)
        return
    broken = 0
    for agent in agents:
        try:
            await app.runs.check_agent(agent)
        except OutriderError as error:
            if error.code != "no_model" or agent.model:  # a missing model is reported elsewhere
                broken += 1
                yield Finding("bad", f"agent {agent.name}: {error.message}", error.hint)
    yield Finding("ok", f"agents: {len(agents) - broken} ready (`outrider agents list`)")


async def _check_servers(app: "App") -> AsyncGenerator[Finding]:
    """Check that the MCP servers for agents can be reached; starts them."""
    for name in app.remote_servers.names:
        try:
            tools = await app.remote_servers.list_tools(name)
        except OutriderError as error:
            disabled = app.loaded.settings.mcpServers[name].disabled
            yield Finding("note" if disabled else "bad", f"MCP {error.message.removeprefix('mcp: ')}", error.hint)
            continue
        asking = sum(tool.stake == "high" for tool in tools)
        yield Finding("ok", f"MCP server {name}: {len(tools)} tools, {asking} of them ask before each call")


async def _check_code(app: "App") -> AsyncGenerator[Finding]:
    """Check the isolation of code, whether or not its tools are served."""
    sandbox = app.processes.sandbox
    found = await sandbox.detect_isolation()
    for level, reason in found.reasons.items():
        yield Finding(
            "note", f"code: no isolation by {level}: {reason}", describe_remedy() if level == "namespaces" else ""
        )
    if found.level is None:
        yield Finding(
            "note", "code: it cannot be isolated here, so tools such as execute_python refuse to run", describe_remedy()
        )
    elif found.level == "none":
        yield Finding(
            "note", "code: not isolated; it can do everything that Outrider can", "set `code.isolation` to auto"
        )
    else:
        yield Finding("ok", f"code: isolated by {found.level}")
    if sandbox.settings.network and found.level == "landlock":
        yield Finding("note", "code: no network, although `code.network` is set: that needs isolation by namespaces")
    if found.level is not None:
        async for finding in _check_programs(sandbox, app.loaded.settings.data_dir):
            yield finding


async def _check_programs(sandbox: "Sandbox", folder: Path) -> AsyncGenerator[Finding]:
    """Check that code can start in the workspaces below this folder."""
    try:
        await sandbox.check_folder(folder / "workspaces")
    except OutriderError as error:
        yield Finding("note", f"code: {error.message}", error.hint)
    for name, program in (("Python", sandbox.resolve_python), ("TypeScript", sandbox.resolve_deno)):
        try:
            yield Finding("ok", f"code: {name} is run by {(await program(folder)).executable}")
        except OutriderError as error:
            yield Finding("note", f"code: {error.message}", error.hint)
    async for finding in _check_packages(sandbox, folder):
        yield finding


async def _check_packages(sandbox: "Sandbox", folder: Path) -> AsyncGenerator[Finding]:
    """List the packages that code can import, and those of the settings that are missing."""
    from outrider.workspace.sandbox.packages import PackageFolders, expand_names

    try:
        installed = PackageFolders(folder / "packages").list_installed(await sandbox.resolve_python(folder))
        missing = [name for name in expand_names(sandbox.settings.packages) if name not in installed]
    except OutriderError:
        return  # reported with Python, or when code first runs
    if installed:
        yield Finding("ok", f"code: packages for Python: {', '.join(installed)}")
    elif not missing:
        yield Finding("note", "code: Python has no packages besides its own", "outrider code install")
    if missing:
        remedy = f"outrider code install {' '.join(missing)}"
        yield Finding("note", f"code: not installed yet: {', '.join(missing)} (`code.packages`)", remedy)


async def _check_web(app: "App") -> AsyncGenerator[Finding]:
    try:
        found = await app.call("web_search", query="weather", num_results=1)
        yield Finding("ok", f"a search was answered by {found.data['provider']}")
        await app.call("web_fetch", url=found.data["results"][0]["url"], max_chars=200)
        yield Finding("ok", "its first result could be read")
    except OutriderError as error:
        yield Finding("bad", error.message, error.hint)
    except IndexError:
        yield Finding("note", "the search found nothing", "try `outrider search` with other words")
