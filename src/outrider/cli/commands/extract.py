"""`outrider extract`: a file of any readable type as Markdown, without any network."""

import sys
from pathlib import Path
from typing import Any

import click

from outrider.cli.options import loaded, setting
from outrider.cli.output import print_json, run
from outrider.core.errors import InvalidInput, NotFound, OutriderError, Refused

STDIN = "-"


@click.command()
@click.argument("file", metavar="FILE|-")
@click.option("--url", default="", help="What relative links start from: where the file came from.")
@click.option("--text", "as_text", is_flag=True, help="Text without markup.")
@click.option("--json", "as_json", is_flag=True, help="For programs: content, facts, links, tables.")
@click.option("--no-main", "whole", is_flag=True, help="The whole of a web page, navigation included.")
@click.option(
    "--links", type=click.Choice(["inline", "references", "none"]), default="inline", show_default=True,
    help="Of a web page: addresses behind their words, at the end, or left out.",
)  # fmt: skip
@click.option("--images", is_flag=True, help="Show pictures of a web page that have words of their own.")
@setting
def command(
    file: str, sets: tuple[str, ...], *, as_json: bool, as_text: bool, whole: bool, url: str, links: Any, images: bool
) -> None:
    """Turn a page or a document into Markdown: HTML, PDF, Office, e-books, mail, notebooks and more; - is stdin."""
    document, mime = run(lambda: _extract(file, sets, url, main=not whole, links=links, images=images), as_json=as_json)
    if as_json:
        print_json({"content_type": mime} | document.to_dict())
    else:
        text = document.text if as_text else document.markdown
        sys.stdout.buffer.write(text.encode("utf-8", "replace") + b"\n")
        sys.stdout.buffer.flush()


async def _extract(
    file: str, sets: tuple[str, ...], url: str, *, main: bool, links: Any, images: bool
) -> tuple[Any, str]:
    from outrider.pages.local import read_body

    settings = loaded(sets).settings.pages
    body = _read(file, settings.pdf_max_bytes)
    name = "" if file == STDIN else file
    return await read_body(body, name=name, url=url, main=main, links=links, images=images, settings=settings)


def _read(file: str, limit: int) -> bytes:
    """The file's bytes. Raises NotFound, InvalidInput or Refused."""
    try:
        body = sys.stdin.buffer.read(limit + 1) if file == STDIN else _bytes(Path(file), limit + 1)
    except OSError as error:
        raise _explained(file, error) from None
    if len(body) > limit:
        raise Refused(
            f"{file} has more than {limit} bytes", code="too_large", hint="raise it: --set pages.pdf_max_bytes=…"
        )
    return body


def _bytes(path: Path, limit: int) -> bytes:
    with path.open("rb") as stream:
        return stream.read(limit)


def _explained(file: str, error: OSError) -> OutriderError:
    if isinstance(error, FileNotFoundError):
        return NotFound(f"there is no file {file}", hint="check the path")
    return InvalidInput(f"{file} cannot be read: {error.strerror or error}", hint="give the path of a readable file")
