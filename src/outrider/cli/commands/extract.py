"""`outrider extract`: convert a file to Markdown, offline."""

import sys
from pathlib import Path
from typing import Any

import click

from outrider.cli.options import add_settings_option, load_settings
from outrider.cli.output import EXIT_PARTIAL, print_json, print_notes, run_async
from outrider.core.errors import InvalidInput, NotFound, OutriderError, Refused
from outrider.core.text import cut_tokens

STDIN_NAME = "-"


@click.command()
@click.argument("file", metavar="FILE|-")
@click.option("--url", default="", help="What relative links start from: where the file came from.")
@click.option("--text", "as_text", is_flag=True, help="Text without markup.")
@click.option("--json", "as_json", is_flag=True, help="For programs: content, facts, links, tables.")
@click.option("--no-main", "whole", is_flag=True, help="The whole of a web page, navigation included.")
@click.option(
    "--links",
    type=click.Choice(["inline", "references", "none"]),
    default="inline",
    show_default=True,
    help="Of a web page: addresses behind their words, at the end, or left out.",
)
@click.option("--images", is_flag=True, help="Show pictures of a web page that have words of their own.")
@click.option("--query", help="Only the passages that answer this, in at most --max-tokens (1,500 if not given).")
@click.option(
    "--max-tokens", type=click.IntRange(1), metavar="N", help="At most so many tokens (o200k); says how to go on."
)
@click.option("--offset", type=click.IntRange(0), default=0, metavar="N", help="Read on from this character.")
@add_settings_option
def command(file: str, sets: tuple[str, ...], *, as_json: bool, as_text: bool, whole: bool, **chosen: Any) -> None:
    """Convert a page or document to Markdown: HTML, PDF, Office, e-books, mail, notebooks and more; - is stdin."""
    bounds = {name: chosen.pop(name) for name in ("query", "max_tokens", "offset")}

    async def read_part() -> tuple[Any, str, dict[str, Any]]:
        document, mime = await _extract_file(file, sets, main=not whole, **chosen)
        return document, mime, _select_part(document.text if as_text else document.markdown, **bounds)

    document, mime, piece = run_async(read_part, as_json=as_json)
    if as_json:
        print_json({"content_type": mime} | _bounded(document.to_dict(), piece, whole=not any(bounds.values())))
    else:
        sys.stdout.buffer.write(piece["text"].encode("utf-8", "replace") + b"\n")
        sys.stdout.buffer.flush()
        print_notes(_describe_part(file, piece, whole=not any(bounds.values())))
    if piece.get("passages") == []:
        sys.exit(EXIT_PARTIAL)


def _bounded(document: dict[str, Any], piece: dict[str, Any], *, whole: bool) -> dict[str, Any]:
    """Return the document as data, with only the requested part of its Markdown."""
    if whole:
        return document
    return document | {"markdown": piece["text"], "text": ""} | {n: f for n, f in piece.items() if n != "text"}


def _select_part(text: str, *, query: str | None, max_tokens: int | None, offset: int) -> dict[str, Any]:
    """Return the requested part of a text and its position. Raises InvalidInput."""
    default_tokens = 1_500  # tokens of passages, as of web_fetch
    if offset and offset >= len(text):
        raise InvalidInput(f"--offset {offset} lies behind the end: there are {len(text)} characters", hint="lower it")
    if query is not None:
        tokens = max_tokens or default_tokens
        from outrider.pages.excerpt import find_excerpts

        found = find_excerpts(text, query, max_tokens=tokens)
        places = [{"start": each.start, "end": each.end, "headings": list(each.headings)} for each in found]
        return {"text": "\n\n".join(each.text for each in found), "total_chars": len(text), "passages": places}
    if max_tokens is None:
        return {"text": text[offset:], "total_chars": len(text)}
    piece = cut_tokens(text, max_tokens, offset)
    return {"text": piece.text} | piece.to_dict()


def _describe_part(file: str, piece: dict[str, Any], *, whole: bool) -> list[str]:
    """Return notes about what was printed."""
    if "next_offset" in piece:
        return [f"of {piece['total_chars']} characters; read on with --offset {piece['next_offset']}"]
    if "passages" in piece and not piece["passages"]:
        return ["no passage mentions that: try other words, or leave out --query"]
    return [f"{file} has no readable text"] if whole and not piece["text"].strip() else []


async def _extract_file(
    file: str, sets: tuple[str, ...], *, url: str, main: bool, links: Any, images: bool
) -> tuple[Any, str]:
    from outrider.pages.local_file import read_body

    if url and not url.startswith(("http://", "https://")):
        raise InvalidInput(f"--url {url} is not a web address", hint="start it with https://, or leave it out")
    settings = load_settings(sets).settings.pages
    body = _read_input(file, settings.document_max_bytes)
    name = "" if file == STDIN_NAME else file
    return await read_body(body, name=name, url=url, main=main, links=links, images=images, settings=settings)


def _read_input(file: str, limit: int) -> bytes:
    """Return the file's bytes. Raises NotFound, InvalidInput or Refused."""
    try:
        body = sys.stdin.buffer.read(limit + 1) if file == STDIN_NAME else _read_path(Path(file), limit + 1)
    except OSError as error:
        raise _explained(file, error) from None
    if len(body) > limit:
        raise Refused(
            f"{file} has more than {limit} bytes", code="too_large", hint="raise it: --set pages.document_max_bytes=…"
        )
    return body


def _read_path(path: Path, limit: int) -> bytes:
    from outrider.pages.fragment import strip_fragment

    bare = Path(strip_fragment(str(path)))
    with (path if path.exists() else bare).open("rb") as stream:
        return stream.read(limit)


def _explained(file: str, error: OSError) -> OutriderError:
    if isinstance(error, FileNotFoundError):
        return NotFound(f"no such file: {file}", hint="check the path")
    return InvalidInput(f"{file} cannot be read: {error.strerror or error}", hint="give the path of a readable file")
