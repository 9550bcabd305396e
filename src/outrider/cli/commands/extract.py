"""`outrider extract`: convert a file to Markdown, offline."""

import os
import select
import signal
import sys
from pathlib import Path
from typing import Any

import click

from outrider.cli.options import add_settings_option, load_settings
from outrider.cli.output import EXIT_PARTIAL, async_command, print_json, print_notes, print_text
from outrider.core.errors import InvalidInput, NotFound, Refused
from outrider.core.text import cut_tokens

STDIN_NAME = "-"


@click.command()
@click.argument("file", metavar="FILE|-")
@click.option("--url", default="", help="Address the file came from; resolves relative links.")
@click.option("--text", "as_text", is_flag=True, help="Print text without markup.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON: content, facts, links, tables.")
@click.option("--no-main", "whole", is_flag=True, help="Keep the whole web page, with its navigation.")
@click.option(
    "--links",
    type=click.Choice(["inline", "references", "none"]),
    default="inline",
    show_default=True,
    help="Addresses of links: after their text, at the end, or left out.",
)
@click.option("--images", is_flag=True, help="Show pictures of a web page that have a description.")
@click.option("--query", help="Only passages that answer this, up to --max-tokens [default: 1,500].")
@click.option(
    "--max-tokens", type=click.IntRange(1), metavar="N", help="Tokens at most (o200k); a note says how to continue."
)
@click.option("--offset", type=click.IntRange(0), default=0, metavar="N", help="Start at this character.")
@add_settings_option
@async_command
async def command(
    file: str, sets: tuple[str, ...], *, as_json: bool, as_text: bool, whole: bool, url: str, **chosen: Any
) -> None:
    """Convert a page or document to Markdown: HTML, PDF, Office, e-books, mail, notebooks and more; - is stdin."""
    from outrider.pages.local_file import read_body

    if url and not url.startswith(("http://", "https://")):
        raise InvalidInput(f"--url {url} is not a web address", hint="start it with https://, or leave it out")
    bounds = {name: chosen.pop(name) for name in ("query", "max_tokens", "offset")}
    settings = load_settings(sets).settings.pages
    body = _read_input(file, settings.document_max_bytes)
    name = "" if file == STDIN_NAME else file
    document, mime = await read_body(body, name=name, url=url, main=not whole, settings=settings, **chosen)
    piece = _select_part(document.text if as_text else document.markdown, **bounds)
    if as_json:
        data = document.to_dict()
        if any(bounds.values()):  # only the requested part of its Markdown
            data |= {"markdown": piece["text"], "text": ""} | {n: f for n, f in piece.items() if n != "text"}
        print_json({"content_type": mime} | data)
    else:
        print_text(piece["text"] + "\n")
        print_notes(_describe_part(file, piece, whole=not any(bounds.values())))
    if piece.get("passages") == []:
        sys.exit(EXIT_PARTIAL)


def _select_part(text: str, *, query: str | None, max_tokens: int | None, offset: int) -> dict[str, Any]:
    """Return the requested part of a text and its position. Raises InvalidInput."""
    default_tokens = 1_500  # tokens of passages, as of web_fetch
    if offset and offset >= len(text):
        raise InvalidInput(f"--offset {offset} is past the end of the text ({len(text)} characters)", hint="lower it")
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


def _read_stdin(limit: int) -> bytes:
    """Return the input up to its end, or more than `limit` bytes of it."""
    max_blocked_s = 0.5  # a signal that arrives just before a read is only handled after it
    descriptor, body = sys.stdin.fileno(), bytearray()
    while len(body) <= limit:
        if sys.platform != "win32" and not select.select([descriptor], [], [], max_blocked_s)[0]:
            continue
        if not (piece := os.read(descriptor, 1 << 20)):
            break
        body += piece
    return bytes(body)


def _read_input(file: str, limit: int) -> bytes:
    """Return the file's bytes. Raises NotFound, InvalidInput or Refused."""
    from outrider.pages.fragment import strip_fragment

    try:
        if file == STDIN_NAME:
            # asyncio's handler would only cancel the task, which cannot end while it waits here.
            signal.signal(signal.SIGINT, signal.default_int_handler)
            body = _read_stdin(limit)
        else:
            path = Path(file)
            with (path if path.exists() else Path(strip_fragment(str(path)))).open("rb") as stream:
                body = stream.read(limit + 1)
    except FileNotFoundError:
        raise NotFound(f"no such file: {file}", hint="check the path") from None
    except OSError as error:
        message = f"{file} cannot be read: {error.strerror or error}"
        raise InvalidInput(message, hint="give the path of a readable file") from None
    if len(body) > limit:
        raise Refused(
            f"{file} has more than {limit} bytes", code="too_large", hint="raise it: --set pages.document_max_bytes=…"
        )
    return body
