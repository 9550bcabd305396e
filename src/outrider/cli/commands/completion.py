"""`outrider completion`: completion of commands, tools and arguments in a shell."""

import click
from click.shell_completion import get_completion_class

from outrider.cli.shell_completion import register_shells


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the script that completes commands, tools and their arguments in SHELL.

    For bash and zsh: eval "$(outrider completion SHELL)" in ~/.bashrc or, after compinit, ~/.zshrc. For fish:
    outrider completion fish > ~/.config/fish/completions/outrider.fish.
    """
    register_shells()
    completion = get_completion_class(shell)
    assert completion is not None  # click has all three
    root = click.get_current_context().find_root().command
    click.echo(completion(root, {}, "outrider", "_OUTRIDER_COMPLETE").source())
