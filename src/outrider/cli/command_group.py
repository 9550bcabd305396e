"""A command group that suggests names and shows whole summaries."""

from difflib import get_close_matches
from typing import Any

import click


class HelpfulGroup(click.Group):
    """A group whose commands are found by `list_commands` and `get_command`."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command to call; click suggests only commands that are loaded already."""
        close = get_close_matches(args[0], self.list_commands(ctx), n=2)
        if close and self.get_command(ctx, args[0]) is None:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {' or '.join(map(repr, close))}?")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; for an unknown option, list all options unless one is similar."""
        try:
            return super().invoke(ctx)
        except click.NoSuchOption as error:
            if error.possibilities or error.ctx is None:
                raise
            names = [max(each.opts, key=len) for each in error.ctx.command.params if isinstance(each, click.Option)]
            known = f"It has {', '.join(names)}." if names else "Put a command's options after its name."
            raise click.UsageError(f"{error.message} {known}", error.ctx) from None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands with their whole summaries, which click would cut at the line's end."""
        max_chars = 400
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [(name, each.get_short_help_str(max_chars)) for name, each in commands if each and not each.hidden]
        with formatter.section("Commands"):
            formatter.write_dl(rows)
