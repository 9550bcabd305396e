"""`outrider completion`: completion of commands, tools and arguments in a shell."""

import click
from click.shell_completion import get_completion_class


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the script that completes commands, tools and their arguments in SHELL.

    For bash: eval "$(outrider completion bash)" in ~/.bashrc.
    """
    completion = get_completion_class(shell)
    assert completion is not None  # click has all three
    root = click.get_current_context().find_root().command
    click.echo(completion(root, {}, "outrider", "_OUTRIDER_COMPLETE").source())
