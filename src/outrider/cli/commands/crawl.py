"""`outrider crawl`: read a whole site, as a list or into a folder."""

import hashlib
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import anyio.to_thread
import click

from outrider.app import open_app
from outrider.cli.options import add_settings_option, load_settings
from outrider.cli.output import EXIT_PARTIAL, async_command, print_json, print_line
from outrider.pages.crawl import CrawlBudget, CrawlPlan


@click.command()
@click.argument("url")
@click.option("--max-pages", type=click.IntRange(1, 10_000), default=50, show_default=True)
@click.option("--max-depth", type=click.IntRange(0, 20), default=3, show_default=True, help="Links from the start.")
@click.option("--max-seconds", type=click.IntRange(1, 86_400), default=600, show_default=True)
@click.option("--within", type=click.Choice(["path", "host", "subdomains"]), default="host", show_default=True)
@click.option("--include", multiple=True, metavar="GLOB", help="Only paths like this, e.g. '/docs/*' (repeatable).")
@click.option("--exclude", multiple=True, metavar="GLOB", help="No paths like this (repeatable).")
@click.option("--no-sitemap", is_flag=True, help="Follow links only.")
@click.option(
    "--output",
    type=click.Path(file_okay=False, resolve_path=True, path_type=Path),
    help="Folder to save the pages in, as Markdown.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@add_settings_option
@async_command
async def command(url: str, sets: tuple[str, ...], *, as_json: bool, output: Path | None, **chosen: Any) -> None:
    """Read a site. The same command resumes it, or later reads only what has changed.

    Exit code 1: there is more to read.
    """
    chosen["owner"] = f"terminal {output or ''}"  # each output folder has its own crawl
    settings = load_settings(sets)
    robots, concurrency = settings.settings.pages.crawl_robots, settings.settings.pages.per_host_concurrency
    include, exclude, owner = chosen["include"], chosen["exclude"], chosen["owner"]
    plan = CrawlPlan(url, chosen["max_depth"], chosen["within"], include, exclude, not chosen["no_sitemap"], robots)
    budget = CrawlBudget(chosen["max_pages"], chosen["max_seconds"], concurrency)
    keep = _build_page_writer(output) if output else None
    async with open_app(settings) as app:
        try:
            done = await app.crawler.crawl(plan, budget, owner, store_page=keep, report_progress=_print_progress)
        finally:
            if sys.stderr.isatty():
                click.echo("\r\x1b[K", err=True, nl=False)
        rows = await app.crawler.list_pages(
            plan, owner, limit=done.tally.used_pages + done.tally.failed + done.tally.gone
        )
    names = ("url", "title", "state", "detail", "change", "chars", "kept")
    counts = {name: count for name, count in vars(done.tally).items() if count}
    pages = [{name: row[name] for name in names if row[name]} for row in rows]
    answer = {"status": done.ending, "round": done.round, "seconds": round(done.seconds, 1)} | counts | {"pages": pages}
    if as_json:
        print_json(answer)
    else:
        _print_answer(answer)
    if done.ending != "finished":
        sys.exit(EXIT_PARTIAL)


def _build_page_writer(folder: Path) -> Any:
    """Return a function that writes a page into the folder and returns its file."""

    def write_atomically(path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        partial_path = path.with_name(f".{path.name}.half")
        partial_path.write_text(text, encoding="utf-8", newline="\n")
        partial_path.replace(path)

    async def write_page(page: Any) -> str:
        name = build_file_name(page.url)
        title = json.dumps(page.document.title, ensure_ascii=False)
        front = f"---\nurl: {page.url}\ntitle: {title}\n---\n\n"
        await anyio.to_thread.run_sync(write_atomically, folder / name, front + page.document.markdown + "\n")
        return name

    return write_page


def build_file_name(url: str) -> str:
    """Return a unique file name: at most 80 characters of `[a-z0-9-]`."""
    parts = urlsplit(url)
    words = re.sub(r"[^a-z0-9]+", "-", unquote(f"{parts.path} {parts.query}").lower()).strip("-")[:60].strip("-")
    return f"{words or 'index'}-{hashlib.sha256(url.encode()).hexdigest()[:8]}.md"


async def _print_progress(tally: Any, url: str, rate: float) -> None:
    if sys.stderr.isatty():
        line = f"{tally.used_pages} read, {tally.waiting} waiting, {tally.failed} failed, {rate:.1f}/s  {url}"
        width = shutil.get_terminal_size().columns - 1  # a wrapped line could not be overwritten
        click.echo(f"\r\x1b[K{line[:width]}", err=True, nl=False)


def _print_answer(answer: dict[str, Any]) -> None:
    for page in answer["pages"]:
        change = f" ({page['change']})" if page.get("change") in ("changed", "same") else ""
        state = "" if page["state"] == "read" else f" [{page['state']}: {page.get('detail', '')}]"
        print_line(f"{page['url']}  {page.get('title', '')}{change}{state}")
    counts = ", ".join(
        f"{answer[name]} {name}" for name in ("read", "duplicate", "waiting", "failed") if name in answer
    )
    print_line(f"{answer['status']}: {counts or 'nothing read'} in {answer['seconds']} s", err=True)
