"""`outrider flow`: save what was done in the browser, and run it again without a model."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import click

from outrider.cli.command_group import HelpfulGroup
from outrider.cli.options import add_settings_option, load_settings
from outrider.cli.output import EXIT_CODES, EXIT_PARTIAL, async_command, remove_control_characters
from outrider.cli.shared_process import EXIT_WRONG_USE, add_call_options, call_tool, open_client
from outrider.cli.tool_results import CallOptions, print_result
from outrider.core.errors import Refused
from outrider.core.text import format_count

NAME_ARGUMENT = click.argument("name")
FILE_ENDINGS = (".yaml", ".yml")


@click.group(cls=HelpfulGroup)
def command() -> None:
    """Save what was done in the browser as a flow, and run it again without a model.

    Flows are files in .outrider/flows of this directory, or rows where `database` is a Postgres.
    """


@command.command("save")
@click.argument("name", metavar="NAME|FILE.yaml")
@click.option("--since", type=click.IntRange(min=0), help="Only the actions after this number.")
@click.option("--description", help="What it is for.")
@click.option("--replace", is_flag=True, help="Replace the flow of this name, but keep its comments.")
@add_call_options
def save_flow(name: str, since: int | None, description: str | None, options: CallOptions, *, replace: bool) -> None:
    """Save the actions of the browser session as flow NAME, or a file as the flow of its name."""
    if name.endswith(FILE_ENDINGS):
        if since is not None or description is not None:
            raise click.UsageError(f"{name} has its own description and steps: leave out --since and --description")
        _save_file(Path(name).stem, _read_file(name), options, as_json=options.as_json, is_replacing=replace)
        return
    arguments = {"name": name, "since": since, "description": description, "replace": replace or None}
    _call("saveFlow", arguments, options)


@command.command("record")
@NAME_ARGUMENT
@click.argument("url")
@click.option("--description", default="", help="What it is for.")
@click.option("--replace", is_flag=True, help="Replace the flow of this name, but keep its comments.")
@add_settings_option
@async_command
async def record_flow(name: str, url: str, description: str, sets: tuple[str, ...], *, replace: bool) -> None:
    """Open a window at URL, and save what you do in it as flow NAME when you close it.

    Each step is printed when it is recognized. Typed values become parameters, passwords secrets that are not stored.
    Exit code 1: you did nothing in the window.
    """
    from outrider.cli import flow_recording

    if not await flow_recording.record_flow(load_settings(sets), name, url, description, replace=replace):
        click.echo("Nothing was done, so nothing was saved.", err=True)
        sys.exit(EXIT_PARTIAL)


@command.command("run")
@NAME_ARGUMENT
@click.argument("parameters", nargs=-1, metavar="[PARAMETER=VALUE…]")
@click.option("--from", "from_step", metavar="STEP", help="Start at this step, in --in SESSION.")
@click.option("--in", "browser_session", metavar="ID", help="In this browser session [default: a new one].")
@click.option("--state", metavar="NAME", help="With this saved sign-in.")
@click.option("--keep-open", is_flag=True, help="Keep the browser session open at the end.")
@add_call_options
def run_flow(
    name: str,
    parameters: tuple[str, ...],
    *,
    from_step: str | None,
    browser_session: str | None,
    state: str | None,
    keep_open: bool,
    options: CallOptions,
) -> None:
    """Run flow NAME. Exit code 5: it stopped before its end.

    A parameter with columns takes CSV or JSON; PARAMETER=@FILE reads it from a file, and PARAMETER=? asks for it
    without showing it.
    """
    arguments = {
        "name": name,
        "parameters": _parse_parameters(parameters) or None,
        "sessionId": browser_session,
        "fromStep": from_step,
        "stateId": state,
        "keepOpen": keep_open or None,
    }
    _call("runFlow", arguments, options)


@command.command("runs")
@click.argument("name", required=False)
@add_call_options
def list_runs(name: str | None, options: CallOptions) -> None:
    """List the latest runs, of flow NAME or of all flows."""
    _call("listFlowRuns", {"name": name}, options)


@command.command("resume")
@click.argument("run")
@click.argument("parameters", nargs=-1, metavar="[SECRET=VALUE…]")
@click.option("--from", "from_step", metavar="STEP", help="Continue with this step.")
@click.option("--done", "unknown_step", flag_value="done", help="The interrupted step was done.")
@click.option("--again", "unknown_step", flag_value="again", help="The interrupted step was not done: do it.")
@add_call_options
def resume_flow(
    run: str, parameters: tuple[str, ...], *, from_step: str | None, unknown_step: str | None, options: CallOptions
) -> None:
    """Resume RUN, which stopped or whose process died, without doing a step twice.

    Parameters that are secrets are not kept with a run: SECRET=? asks for one without showing it.
    """
    arguments = {"runId": run, "fromStep": from_step, "unknownStep": unknown_step}
    _call("resumeFlow", arguments | {"parameters": _parse_parameters(parameters) or None}, options)


@command.command("repair")
@click.argument("run")
@click.option("--element", metavar="ELEMENT", help="Such as 'button \"Send\"' [default: the model chooses].")
@add_call_options
def repair_flow(run: str, element: str | None, options: CallOptions) -> None:
    """Use another element in the step where RUN stopped, as a new version of its flow.

    `outrider flow resume RUN` continues it. A step for which the model has chosen asks a person from then on.
    """
    _call("repairFlow", {"runId": run, "element": element}, options)


@command.command("schedule")
@NAME_ARGUMENT
@click.argument("parameters", nargs=-1, metavar="[PARAMETER=VALUE…]")
@click.option("--cron", required=True, help='Minute, hour, day, month and weekday, such as "0 7 * * mon-fri".')
@click.option("--timezone", metavar="ZONE", help="Such as Europe/Berlin [default: watches.timezone, else UTC].")
@click.option("--state", metavar="NAME", help="With this saved sign-in.")
@click.option("--notify", multiple=True, metavar="NAME", help="Send this notice if a run stops or heals (repeatable).")
@add_call_options
def schedule_flow(
    name: str,
    parameters: tuple[str, ...],
    *,
    cron: str,
    timezone: str | None,
    state: str | None,
    notify: tuple[str, ...],
    options: CallOptions,
) -> None:
    """Run flow NAME on a cron schedule.

    The shared process, `outrider serve` and `outrider mcp` run it while they run. If times were missed
    in the meantime, it runs once.
    """
    arguments = {"name": name, "cron": cron, "timezone": timezone, "stateId": state, "notify": list(notify) or None}
    _call("scheduleFlow", arguments | {"parameters": _parse_parameters(parameters) or None}, options)


@command.command("schedules")
@add_call_options
def list_schedules(options: CallOptions) -> None:
    """List the scheduled flows."""
    _call("listFlowSchedules", {}, options)


@command.command("unschedule")
@NAME_ARGUMENT
@add_call_options
def unschedule_flow(name: str, options: CallOptions) -> None:
    """Stop running flow NAME on a schedule."""
    _call("unscheduleFlow", {"name": name}, options)


@command.command("run-due")
@add_settings_option
@async_command
async def run_due_flows(sets: tuple[str, ...]) -> None:
    """Run the flows of this directory that are due, each once, for instance from the system's cron.

    Exit code 5: a run has stopped.
    """
    from outrider.app import open_app
    from outrider.toolsets.flows.run_result import format_run

    async with open_app(load_settings(sets)) as app:
        ended = await app.flow_scheduler.engine.run_due()
    for run in ended:
        click.echo(remove_control_characters(format_run(run)))
    click.echo(f"{format_count(len(ended), 'run was', 'runs were')} due", err=True)
    if any(run.state != "done" for run in ended):
        sys.exit(EXIT_CODES[Refused])


@command.command("test")
@click.argument("names", nargs=-1, metavar="[NAME…]")
@add_call_options
def check_flows(names: tuple[str, ...], options: CallOptions) -> None:
    """Run flows with their default values, all of them by default; exit with the code of the first failure."""
    codes: list[int] = []
    with open_client(options) as client:
        if not names:
            listed = client.call_tool("listFlows", {}).get("structuredContent") or {}
            names = tuple(flow["name"] for flow in listed.get("flows", ()))
        for name in names:
            codes.append(
                call_tool(client, "runFlow", {"name": name, "keepOpen": False}, replace(options, names_commands=True))
            )
            click.echo(f"{name}: {'ok' if codes[-1] == 0 else 'failed'}", err=True)
    sys.exit(next((code for code in codes if code), 0))


@command.command("list")
@add_call_options
def list_flows(options: CallOptions) -> None:
    """List the flows."""
    _call("listFlows", {}, options)


@command.command("show")
@NAME_ARGUMENT
@click.option("--version", metavar="NUMBER|all", help="An older version, or how all versions differ.")
@add_call_options
def show_flow(name: str, version: str | None, options: CallOptions) -> None:
    """Print the file of flow NAME."""
    _call("showFlow", {"name": name, "version": version}, options)


@command.command("delete")
@NAME_ARGUMENT
@add_call_options
def delete_flow(name: str, options: CallOptions) -> None:
    """Delete flow NAME with its older versions."""
    _call("deleteFlow", {"name": name}, options)


@command.command("approve")
@NAME_ARGUMENT
@add_settings_option
@async_command
async def approve_flow(name: str, sets: tuple[str, ...]) -> None:
    """Show what flow NAME does, and let its high-stakes steps run without asking.

    The approval holds until a file of the flow changes, with any parameters. Only a person at a terminal can
    give it.
    """
    from outrider.cli.flow_approval import ask_approval

    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        click.echo("error: only a person at a terminal can approve a flow; until then its steps ask", err=True)
        sys.exit(EXIT_WRONG_USE)
    if not await ask_approval(load_settings(sets), name):
        click.echo("Nothing was approved.", err=True)
        sys.exit(EXIT_PARTIAL)
    click.echo(f"Approved {name} until its file changes or you run `outrider flow unapprove {name}`.")


@command.command("unapprove")
@NAME_ARGUMENT
@add_settings_option
@async_command
async def unapprove_flow(name: str, sets: tuple[str, ...]) -> None:
    """Make the steps of flow NAME ask again."""
    from outrider.cli.flow_approval import withdraw_approval

    was_approved = await withdraw_approval(load_settings(sets), name)
    click.echo(f"{name} asks again." if was_approved else f"{name} was not approved.")


@command.command("export")
@NAME_ARGUMENT
@click.option(
    "--to",
    "language",
    type=click.Choice(["python", "typescript", "yaml"]),
    default="python",
    show_default=True,
    help="A test for pytest, one for Playwright's own runner, or the flow itself, as `flow save FILE` reads it.",
)
@add_settings_option
@async_command
async def export_flow(name: str, language: str, sets: tuple[str, ...]) -> None:
    """Print flow NAME, or that of a file, as a test for Playwright, which runs without Outrider."""
    import anyio

    from outrider.app import open_app
    from outrider.core.context import Call
    from outrider.flows.export_check import require_exportable
    from outrider.flows.flow_file import parse_flow
    from outrider.flows.playwright_export import format_python_test, format_typescript_test

    if name.endswith(FILE_ENDINGS):
        text = _read_file(name)
    else:
        async with open_app(load_settings(sets)) as app:
            text = await anyio.to_thread.run_sync(app.flow_store.read_text, Call(), name)
    if language == "yaml":
        click.echo(text, nl=False)
        return
    flow = parse_flow(text, Path(name).stem)
    require_exportable(flow)
    click.echo(format_python_test(flow) if language == "python" else format_typescript_test(flow), nl=False)


def _call(tool: str, arguments: Mapping[str, object], options: CallOptions) -> None:
    set_arguments = {name: value for name, value in arguments.items() if value is not None}
    with open_client(options) as client:
        sys.exit(call_tool(client, tool, set_arguments, replace(options, names_commands=True)))


@async_command
async def _save_file(name: str, text: str, options: CallOptions, *, as_json: bool, is_replacing: bool) -> None:
    """Save a flow's file in this process, so that no tool asks for consent."""
    from outrider.app import open_app
    from outrider.core.context import Call
    from outrider.flows.approvals import FlowApprovals
    from outrider.toolsets.flows.tools import save_file

    async with open_app(load_settings(options.sets)) as app:
        store, approvals = app.flow_store, FlowApprovals(app.database)
        saved = await save_file(store, approvals, Call(), name, text, replace=is_replacing)
    answer = {"content": [{"type": "text", "text": saved.text}], "structuredContent": saved.data}
    print_result("saveFlow", answer, replace(options, as_json=as_json))


def _parse_parameters(words: tuple[str, ...]) -> dict[str, str]:
    """Return the parameters of a command line."""
    pairs = [word.partition("=") for word in words]
    if wrong := next((word for word, (name, mark, _) in zip(words, pairs, strict=True) if not (name and mark)), None):
        click.echo(f"error: {wrong!r} is not a parameter: write name=value", err=True)
        sys.exit(EXIT_WRONG_USE)
    values = {name: _read_file(value[1:]) if value.startswith("@") else value for name, _, value in pairs}
    prompted_names = (name for name, value in values.items() if value == "?")
    return values | {name: str(click.prompt(name, hide_input=True, err=True)) for name in prompted_names}


def _read_file(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        click.echo(f"error: {path} cannot be read: {getattr(error, 'strerror', None) or 'it is not UTF-8'}", err=True)
        sys.exit(EXIT_WRONG_USE)
