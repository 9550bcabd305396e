"""`outrider search`: search the web from the terminal."""

import shutil
import sys
import textwrap
from typing import Any

import click

from outrider.app import open_app
from outrider.cli.options import add_settings_option, load_settings
from outrider.cli.output import EXIT_PARTIAL, async_command, print_json, print_line, print_notes
from outrider.core.text import format_count


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("-n", "--num-results", type=click.IntRange(1, 10), default=5, show_default=True, help="Results to show.")
@click.option("--mode", type=click.Choice(["web", "image", "news"]), default="web", show_default=True)
@click.option("--page", type=click.IntRange(1), default=1, show_default=True, help="Further results.")
@click.option("--freshness", type=click.Choice(["day", "week", "month", "year"]), help="Only results this recent.")
@click.option("--since", help="First day, for instance 2026-03-01.")
@click.option("--until", help="Last day.")
@click.option("--site", help="Only these domains, separated by commas.")
@click.option("--exclude", help="Exclude these domains, separated by commas.")
@click.option("--language", help="Language of results, for instance de.")
@click.option("--region", help="Country of results, for instance at.")
@click.option("--source", help="Search here instead: github, stackexchange, arxiv, wikipedia, pypi, npm, crates, …")
@click.option("--depth", type=click.Choice(["quick", "balanced", "wide"]), default="quick", show_default=True)
@click.option("--content", is_flag=True, help="Also read the best pages and show the passages that answer.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@add_settings_option
@async_command
async def command(query: tuple[str, ...], sets: tuple[str, ...], *, as_json: bool, **chosen: Any) -> None:
    """Search the web with several providers that back each other up."""
    arguments = {name: value for name, value in chosen.items() if value is not None}
    async with open_app(load_settings(sets)) as app:
        data = (await app.call("web_search", query=" ".join(query), **arguments)).data
    if as_json:
        print_json(data)
    else:
        for number, hit in enumerate(data["results"], 1):
            print_line(click.style(f"{number}. {hit['title']}", bold=True))
            print_line(f"   {click.style(hit.get('url') or hit.get('image_url'), fg='blue')}")
            _print_passage(hit.get("snippet", ""))
            _print_passage(hit.get("content", ""))
        print_line(click.style(f"{format_count(len(data['results']), 'result')} from {data['provider']}", dim=True))
        print_notes(data.get("notes", []))
    if not data["results"]:
        sys.exit(EXIT_PARTIAL)


def _print_passage(text: str) -> None:
    """Print lines indented, and wrapped only at a terminal."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 1_000_000
    for line in text.splitlines():
        print_line(textwrap.fill(line, width, initial_indent="   ", subsequent_indent="   ", break_long_words=False))
