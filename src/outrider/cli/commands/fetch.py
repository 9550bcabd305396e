"""`outrider fetch`: read pages as Markdown in the terminal."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anyio
import click

from outrider.app import App, open_app
from outrider.cli.options import add_settings_option, load_settings
from outrider.cli.output import (
    EXIT_PARTIAL,
    async_command,
    get_exit_code,
    print_error,
    print_json,
    print_line,
    print_notes,
)
from outrider.cli.terminal_text import get_line_width
from outrider.cli.tool_results import cut_to_tokens, save_text
from outrider.core.context import Call
from outrider.core.errors import OutriderError


@click.command()
@click.argument("urls", nargs=-1, required=True, metavar="URL…")
@click.option("--query", help="Only passages that answer this.")
@click.option("--format", "format_", type=click.Choice(["markdown", "text", "html"]), default="markdown")
@click.option("--offset", type=int, default=0, help="Start at this character.")
@click.option("--max-chars", type=int, help="0: as many as possible [default: 12000, with --output 0]")
@click.option("--max-tokens", type=click.IntRange(0), default=0, help="Cut the text after this many tokens.")
@click.option("--output", default="", metavar="FILE", help="Write the text to FILE and print a summary.")
@click.option("--raw", is_flag=True, help="Markdown source instead of a rendered page.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@add_settings_option
@async_command
async def command(
    urls: tuple[str, ...],
    sets: tuple[str, ...],
    *,
    raw: bool,
    as_json: bool,
    max_tokens: int,
    output: str,
    **chosen: Any,
) -> None:
    """Read pages, PDFs, feeds and more. Exit code 1: some of several failed."""
    chosen["format"] = chosen.pop("format_")
    if output and chosen["max_chars"] is None:
        chosen["max_chars"] = 0
    arguments = {name: value for name, value in chosen.items() if value is not None}
    async with open_app(load_settings((*sets, "boundary=false"))) as app:
        answers = [await _read_page(app, url, arguments) for url in urls]
    texts = [cut_to_tokens(answer["text"], max_tokens) for answer in answers if "text" in answer]
    if output and texts:
        texts = [_write_output("\n\n".join(texts), output)]
    if as_json:
        print_json([{name: each for name, each in answer.items() if name != "exit_code"} for answer in answers])
    for text in () if as_json else texts:
        _print_text(text, raw=raw or bool(output) or not sys.stdout.isatty())
    failures = [answer for answer in answers if "error" in answer]
    for failure in () if as_json else failures:
        print_error(failure["error"])
    print_notes([f"the picture is {answer['path']}" for answer in answers if "path" in answer])
    if failures:
        sys.exit(failures[0]["exit_code"] if len(failures) == len(urls) else EXIT_PARTIAL)


async def _read_page(app: App, url: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return a page's text and facts, or an error with exit code."""
    try:
        answer = await app.call("web_fetch", Call(answer=True), url=url, **arguments)  # the person has typed it
    except OutriderError as error:
        if error.code == "bad_url" and await anyio.Path(url).is_file():
            error.hint = f"for a file of this machine: outrider extract {url}"
        return {"url": url, "error": error.to_dict(), "exit_code": get_exit_code(error)}
    facts = {name.removeprefix("outrider/"): each for name, each in answer.meta.items()}
    if "path" in facts:  # of a picture; people need its path on their own machine
        facts["path"] = str(app.workspaces.find_workspace(Call()).directory / facts["path"])
    return {"url": url, "text": answer.text} | facts


def _write_output(text: str, file: str) -> str:
    try:
        return save_text(text, Path(file))
    except OSError as error:
        raise click.UsageError(f"--output: {file} cannot be written: {error.strerror}") from None


def _print_text(text: str, *, raw: bool) -> None:
    if raw:
        print_line(text)
    else:
        from outrider.cli.terminal_text import format_markdown

        print_line(format_markdown(text, get_line_width()))
