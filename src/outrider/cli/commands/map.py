"""`outrider map`: list the addresses of a site without reading its pages."""

from typing import Any

import click

from outrider.app import open_app
from outrider.cli.options import add_settings_option, load_settings
from outrider.cli.output import async_command, print_json, print_notes
from outrider.core.text import format_count


@click.command()
@click.argument("url")
@click.option("--search", metavar="WORDS", help="Only addresses or titles with all these words.")
@click.option("--within", type=click.Choice(["path", "host", "subdomains"]), default="host", show_default=True)
@click.option("--include", multiple=True, metavar="GLOB", help="Only paths like this, e.g. '/docs/*' (repeatable).")
@click.option("--exclude", multiple=True, metavar="GLOB", help="No paths like this (repeatable).")
@click.option("--max-urls", type=click.IntRange(1, 5_000), default=5_000, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with titles, dates and sources.")
@add_settings_option
@async_command
async def command(url: str, sets: tuple[str, ...], *, as_json: bool, **chosen: Any) -> None:
    """List the pages of a site from its sitemaps, feeds, llms.txt and links, one address a line."""
    chosen |= {name: list(chosen[name]) or None for name in ("include", "exclude")}
    async with open_app(load_settings((*sets, "boundary=false"))) as app:
        data = (await app.call("web_map", url=url, **chosen)).data
    if as_json:
        print_json(data)
        return
    for page in data["pages"]:
        click.echo(page["url"])
    page_count, total = len(data["pages"]), format_count(data["total"], "address", "addresses")
    print_notes([*data["notes"], f"{total}, {page_count} shown" if page_count < data["total"] else total])
