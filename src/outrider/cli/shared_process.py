"""Run tools in the shared process for commands: options, the connection, questions to the person, errors."""

import functools
import json
import sys
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import click

from outrider.cli.linked_files import save_linked_files
from outrider.cli.output import EXIT_BUG, print_error, remove_control_characters, report_error
from outrider.cli.tool_results import CallOptions, print_result
from outrider.client import ConnectionEnded, ToolClient, UnknownTool
from outrider.core.errors import NotFound

EXIT_WRONG_USE = 2


def add_call_options(function: Callable[..., None]) -> Callable[..., None]:
    """Add the options of commands that call a tool; the function gets them as `options`, a CallOptions."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> None:
        option_names = [each.name for each in fields(CallOptions) if each.name in kwargs]
        options = CallOptions(**{name: kwargs.pop(name) for name in option_names})
        function(*args, options=options, **kwargs)

    for option in (
        click.option("--max-tokens", type=int, default=0, help="Cut the text after this many tokens."),
        click.option("--output", "file", default="", metavar="FILE", help="Write the text or picture to FILE."),
        click.option("--json", "as_json", is_flag=True, help="Print the structured result as JSON."),
        click.option("--set", "sets", metavar="NAME=VALUE", multiple=True, help="Any setting (repeatable)."),
        click.option("-s", "--session", default="", metavar="NAME", help="Session [default: this directory's]."),
    ):
        run = option(run)
    return run


def open_client(options: CallOptions) -> ToolClient:
    """Connect to the shared process, with all tools.

    At a terminal the person is asked questions.
    """
    can_ask = sys.stdin.isatty() and sys.stderr.isatty()
    settings = [word for each in options.sets for word in ("--set", each)]
    return ToolClient(options.session, ("--toolsets", "all", *settings), ask_person if can_ask else None)


def call_tool(client: ToolClient, tool: str, arguments: dict[str, Any], options: CallOptions) -> int:
    """Call a tool, print its result and return the exit code."""
    return print_call(client, tool, lambda: client.call_tool(tool, arguments), options)


def print_call(client: ToolClient, tool: str, call: Callable[[], dict[str, Any]], options: CallOptions) -> int:
    """Run a call and print it; return the exit code.

    Files that its result links to are saved.
    """
    try:
        result = call()
        try:
            paths = save_linked_files(client, result, options.file)
        except OSError as error:
            raise click.UsageError(f"the file cannot be written: {error.filename}: {error.strerror}") from None
        return print_result(tool, result, options, paths)
    except UnknownTool as error:
        return report_unknown_tool(*str(error).split("; ", 1))
    except ConnectionEnded as error:
        print_error({"message": str(error)})
        return EXIT_BUG


def report_unknown_tool(message: str, hint: str = "") -> int:
    """Report an unknown tool with similar names, and return the exit code."""
    hint = hint.replace("tools/list has all", "`outrider call` lists all")
    return report_error(NotFound(message, hint=hint))


def parse_arguments(words: tuple[str, ...]) -> dict[str, Any]:
    """Return a tool's arguments from the words of a command line.

    `key=text` is text (the tool reads numbers and JSON where it wants them), `key:=JSON` any value, `{...}` several
    at once, and `-` a JSON object from standard input. A key that is given again makes a list. Raises click.UsageError.
    """
    arguments: dict[str, Any] = {}
    for word in words:
        if word == "-" or word.startswith("{"):
            parsed = _parse_json("the arguments", sys.stdin.read() if word == "-" else word)
            if not isinstance(parsed, dict):
                raise click.UsageError('the arguments: JSON, but not an object; write {"key": value}')
            arguments |= parsed
            continue
        key, separator, text = word.partition("=")
        if not separator or not key:
            raise click.UsageError(f"{word!r} is not an argument: write key=value, key:=JSON, a JSON object, or -")
        value: Any = text
        if key.endswith(":"):
            key, value = key[:-1], _parse_json(key[:-1], text)
        if key in arguments:
            earlier = arguments[key]
            value = [*earlier, value] if isinstance(earlier, list) else [earlier, value]
        arguments[key] = value
    return arguments


def ask_person(question: str, schema: dict[str, Any]) -> dict[str, Any] | None:
    """Ask for the fields of a form on the terminal; return None if the person aborts."""
    click.echo(remove_control_characters(question), err=True)
    answers: dict[str, Any] = {}
    try:
        for name, field in schema.get("properties", {}).items():
            title = field.get("title") or name
            choices = field.get("enum") or [each["const"] for each in field.get("oneOf", [])]
            if field.get("type") == "boolean":
                if name not in schema.get("required", ()) and not all(answers.values()):
                    continue  # a refused choice is not offered again
                if field.get("description"):
                    click.echo(remove_control_characters(field["description"]), err=True)
                answers[name] = click.confirm(title, err=True)
            elif choices:
                answers[name] = click.prompt(title, type=click.Choice(choices), err=True)
            elif text := click.prompt(title, default="", show_default=False, err=True):
                answers[name] = text
    except click.Abort:
        return None
    return answers


def _parse_json(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise click.UsageError(f"{name}: not valid JSON ({error})") from None
