"""`outrider fetch`: read pages as Markdown in the terminal."""

import sys
from typing import Any

import anyio
import click

from outrider.app import open_app
from outrider.cli.options import add_settings_option, load_settings
from outrider.cli.output import EXIT_PARTIAL, get_exit_code, print_json, report_error, run_async
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
def command(urls: tuple[str, ...], sets: tuple[str, ...], *, raw: bool, as_json: bool, **chosen: Any) -> None:
    """Read pages, PDFs, feeds and more. Exit code 1: some of several failed."""
    chosen["format"] = chosen.pop("format_")
    arguments = {name: value for name, value in chosen.items() if value is not None}
    answers = run_async(
        lambda: _fetch_pages(load_settings((*sets, "boundary=false")), urls, arguments), as_json=as_json
    )
    if as_json:
        print_json([_serialize_answer(url, answer) for url, answer in answers])
    else:
        for _, answer in answers:
            _print_answer(answer, raw=raw or not sys.stdout.isatty())
    failures = [answer for _, answer in answers if isinstance(answer, OutriderError)]
    if failures:
        sys.exit(get_exit_code(failures[0]) if len(failures) == len(answers) else EXIT_PARTIAL)


async def _fetch_pages(settings: Any, urls: tuple[str, ...], arguments: dict[str, Any]) -> list[tuple[str, Any]]:
    async with open_app(settings) as app:
        return [(url, await _fetch_page(app, url, arguments)) for url in urls]


async def _fetch_page(app: Any, url: str, arguments: dict[str, Any]) -> Any:
    try:
        return await app.call("web_fetch", url=url, **arguments)
    except OutriderError as error:
        if error.code == "bad_url" and await anyio.Path(url).is_file():
            error.hint = f"for a file of this machine: outrider extract {url}"
        return error


def _serialize_answer(url: str, answer: Any) -> dict[str, Any]:
    if isinstance(answer, OutriderError):
        return {"url": url, "error": answer.to_dict()}
    return {"url": url, "text": answer.text} | {
        name.removeprefix("outrider/"): each for name, each in answer.meta.items()
    }


def _print_answer(answer: Any, *, raw: bool) -> None:
    if isinstance(answer, OutriderError):
        report_error(answer)
    elif raw:
        click.echo(answer.text)
    else:
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(answer.text, hyperlinks=False))
