"""The command line `outrider <command>`; each command is a file in `commands/`."""

import errno
import importlib
import logging
import os
import pkgutil
import signal
import sys
from typing import Any

import click

from outrider import __version__
from outrider.cli import commands
from outrider.cli.command_group import HelpfulGroup
from outrider.cli.output import EXIT_INTERRUPTED, report_error, report_full_disk
from outrider.core.errors import OutriderError


class CommandGroup(HelpfulGroup):
    """Import a command's module only when it is called, so that `outrider mcp` starts fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return sorted(info.name.replace("_", "-") for info in pkgutil.iter_modules(commands.__path__))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.list_commands(ctx):
            return None
        return importlib.import_module(f"{commands.__name__}.{cmd_name.replace('-', '_')}").command

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; Ctrl-C ends it as shells expect, for which click has 1."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            sys.exit(EXIT_INTERRUPTED)


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="outrider")
def outrider() -> None:
    """Web search, page reading, a browser and more for LLM agents.

    Exit codes: 0 done, 1 failed in part or found nothing, 2 bad input, 3 setup needed,
    4 the outside world failed (try again), 5 refused by policy or by a person, 70 a bug.
    """


def run_command_line(wire: tuple[int, int] | None = None) -> None:
    """Run the command line; `wire` are the client's pipes when `outrider mcp` was called."""
    completion_variable = "_OUTRIDER_COMPLETE"
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    if completion_variable in os.environ:
        from outrider.cli.shell_completion import register_shells

        register_shells()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        outrider(obj=wire, prog_name="outrider", complete_var=completion_variable)
    except OutriderError as error:
        sys.exit(report_error(error))
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
    except OSError as error:
        if error.errno not in {errno.ENOSPC, errno.EDQUOT}:
            raise
        sys.exit(report_full_disk(error))
