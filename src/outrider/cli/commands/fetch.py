"""`outrider fetch`: read pages as Markdown in the terminal."""

import sys
from typing import Any

import anyio
import click

from outrider.app import open_app
from outrider.cli.options import add_settings_option, load_settings
from outrider.cli.output import EXIT_PARTIAL, async_command, get_exit_code, print_json, print_notes, report_error
from outrider.core.context import Call
from outrider.core.errors import OutriderError


@click.command()
@click.argument("urls", nargs=-1, required=True, metavar="URL…")
@click.option("--query", help="Only the passages that answer this.")
@click.option("--format", "format_", type=click.Choice(["markdown", "text", "html"]), default="markdown")
@click.option("--offset", type=int, default=0, help="Read on from this character.")
@click.option("--max-chars", type=int, default=12_000, show_default=True)
@click.option("--raw", is_flag=True, help="Markdown source instead of a rendered page.")
@click.option("--json", "as_json", is_flag=True, help="For programs.")
@add_settings_option
@async_command
async def command(urls: tuple[str, ...], sets: tuple[str, ...], *, raw: bool, as_json: bool, **chosen: Any) -> None:
    """Read pages, PDFs, feeds and more. Exit code 1: some of several failed."""
    chosen["format"] = chosen.pop("format_")
    arguments = {name: value for name, value in chosen.items() if value is not None}
    answers, rows, failures, saved_paths = [], [], [], []
    async with open_app(load_settings((*sets, "boundary=false"))) as app:
        for url in urls:
            try:
                answer = await app.call("web_fetch", url=url, **arguments)
                facts = {name.removeprefix("outrider/"): each for name, each in answer.meta.items()}
                if "path" in facts:  # of a picture, which people look for on their own machine
                    facts["path"] = str(app.workspaces.find_workspace(Call()).directory / facts["path"])
                    saved_paths.append(facts["path"])
                rows.append({"url": url, "text": answer.text} | facts)
            except OutriderError as error:
                if error.code == "bad_url" and await anyio.Path(url).is_file():
                    error.hint = f"for a file of this machine: outrider extract {url}"
                answer = error
                rows.append({"url": url, "error": error.to_dict()})
                failures.append(error)
            answers.append(answer)
    if as_json:
        print_json(rows)
    for answer in () if as_json else answers:
        _print_answer(answer, raw=raw or not sys.stdout.isatty())
    print_notes([f"the picture is {path}" for path in saved_paths])
    if failures:
        sys.exit(get_exit_code(failures[0]) if len(failures) == len(answers) else EXIT_PARTIAL)


def _print_answer(answer: Any, *, raw: bool) -> None:
    if isinstance(answer, OutriderError):
        report_error(answer)
    elif raw:
        click.echo(answer.text)
    else:
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(answer.text, hyperlinks=False))
