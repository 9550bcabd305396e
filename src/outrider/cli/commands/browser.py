"""`outrider browser`: drive the browser, one command per step, and set it up."""

import importlib
import shlex
import sys
from typing import TextIO

import click

from outrider.cli.browser_files import run_step
from outrider.cli.browser_steps import STEPS, parse_step
from outrider.cli.command_group import HelpfulGroup
from outrider.cli.shared_process import EXIT_WRONG_USE, add_call_options, open_client
from outrider.cli.tool_results import CallOptions

SETUP_COMMANDS = ("install", "status", "login", "state")


class StepGroup(HelpfulGroup):
    """Loads the set-up commands only on demand, so that steps start fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return [*STEPS, "run", *SETUP_COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in SETUP_COMMANDS:
            return getattr(importlib.import_module("outrider.cli.browser_setup"), cmd_name)
        return STEPS[cmd_name].command if cmd_name in STEPS else super().get_command(ctx, cmd_name)


@click.group(cls=StepGroup)
def command() -> None:
    """Drive the browser step by step, and set it up.

    The session stays open between commands. Hosts of `outrider mcp` in this directory share it.
    """


@command.command("run")
@click.argument("source", metavar="FILE", type=click.File(encoding="utf-8"))
@add_call_options
def run_steps(source: TextIO, options: CallOptions) -> None:
    """Run the steps of FILE or of standard input (-), one a line; stop at the first that fails.

    A line is a step as after `outrider browser`; one that begins with # is a comment.
    """
    steps = []
    for number, line in enumerate(source, 1):
        try:
            if words := shlex.split("" if line.lstrip().startswith("#") else line):
                steps.append((number, line.strip(), parse_step(words)))
        except (click.UsageError, ValueError) as error:  # ValueError: an unclosed quotation
            reason = error.format_message() if isinstance(error, click.UsageError) else str(error)
            click.echo(f"error: line {number}: {reason}", err=True)
            sys.exit(EXIT_WRONG_USE)
    with open_client(options) as client:
        for number, line, (tool, arguments) in steps:
            click.echo(f"{number}: {line}", err=True)
            code = run_step(client, tool, arguments, options)
            if code:
                click.echo(f"stopped at line {number} of {source.name}: {line}", err=True)
                sys.exit(code)
