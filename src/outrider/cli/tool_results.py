"""Print the result of a tool on the terminal: text on stdout, pictures and files as paths."""

import base64
import re
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from outrider.cli.linked_files import OUTPUT_FOLDER
from outrider.cli.output import EXIT_BUG, EXIT_CODES, print_error, print_json, print_text
from outrider.core.errors import ERROR_META_KEY
from outrider.core.untrusted import close_boundaries


@dataclass(frozen=True)
class CallOptions:
    """The session of a call, and how to show its result.

    Attributes:
        session: Its name; empty is the session of the working directory.
        sets: Settings as `NAME=VALUE`.
        as_json: Whether to print the structured result.
        file: The file for the text or the picture; empty prints it.
        max_tokens: Cut the text after this many o200k tokens; 0 cuts nothing.
        names_commands: Whether advice names commands instead of tools.
    """

    session: str = ""
    sets: tuple[str, ...] = ()
    as_json: bool = False
    file: str = ""
    max_tokens: int = 0
    names_commands: bool = False


def print_result(tool: str, result: Mapping[str, Any], options: CallOptions, saved_files: Sequence[Path] = ()) -> int:
    """Print a result of `tools/call` and return the exit code.

    Paths of `saved_files` replace the links to files.
    """
    if result.get("isError"):
        return _print_error(result, options)
    left_out = {"image", "resource_link"} if saved_files else {"image"}
    content = result.get("content", [])
    text = "\n".join(filter(None, (_format_item(item) for item in content if item["type"] not in left_out)))
    naming_tools = ("repairFlow", "listFlows", "listFlowRuns", "listFlowSchedules")
    text = name_commands(text) if options.names_commands and tool in naming_tools else text
    pictures = [item for item in content if item["type"] == "image"]
    try:
        paths = [_save_picture(tool, item, options.file, number) for number, item in enumerate(pictures, 1)]
        paths += saved_files
        saved = save_text(text, Path(options.file)) if options.file and not paths else ""
    except OSError as error:
        raise click.UsageError(f"--output: {options.file} cannot be written: {error.strerror}") from None
    if options.as_json:
        data = result.get("structuredContent") or {"text": text}
        print_json(data | ({"files": [*map(str, paths)]} if paths else {}))
    elif saved:
        click.echo(saved)
    else:
        print_text("\n".join([cut_to_tokens(text, options.max_tokens), *map(str, paths)]).strip("\n") + "\n")
    return 0


def _print_error(result: Mapping[str, Any], options: CallOptions) -> int:
    error = (result.get("structuredContent") or {}).get("error") or {}
    error |= (result.get("_meta") or {}).get(ERROR_META_KEY, {})
    text = "\n".join(item.get("text", "") for item in result.get("content", []))
    if options.as_json:
        print_json({"error": error or {"message": text}})
    else:
        hint = error.get("hint", "")
        print_error({"message": text} | error | {"hint": name_commands(hint) if options.names_commands else hint})
    codes = {kind.kind: code for kind, code in EXIT_CODES.items()}
    return codes.get(error.get("kind", ""), EXIT_BUG)


def name_commands(text: str) -> str:
    """Return advice with commands of the terminal instead of tools."""
    run = r"(?:call )?resumeFlow(?: with|,) runId=(\w+)"
    commands = {
        rf"{run} and fromStep=([\d.]+)": r"`outrider flow resume \1 --from \2`",
        rf"{run} and unknownStep=done or again": r"`outrider flow resume \1 --done` or `--again`",
        run: r"`outrider flow resume \1`",
        r"repairFlow with runId=(\w+)": r"""`outrider flow repair \1 --element 'button "…"'`""",
        r"\blistFlowRuns\b": "`outrider flow runs`",
        r"\blistFlowSchedules\b": "`outrider flow schedules`",
        r"\bshowFlow\b": "`outrider flow show`",
        r"\bsaveFlow( first)?\b": "`outrider flow save NAME`",
        r"\bscheduleFlow\b": "`outrider flow schedule`",
        r"\brunFlow\b": "`outrider flow run`",
        r"\b(navigateToUrl|createSession)( or (navigateToUrl|createSession))?\b": "`outrider browser open`",
        r"\bsnapshotPage\b": "`outrider browser snapshot`",
        r"\bcloseSession\b": "`outrider browser close`",
        r"\banswerDialog\b": "`outrider browser dialog`",
        r"\baction=list\b": "`outrider watch list`",
    }
    for pattern, command in commands.items():
        text = re.sub(pattern, command, text)
    return text


def _format_item(item: Mapping[str, Any]) -> str:
    match item["type"]:
        case "resource_link":
            return f"{item['name']}: {item['uri']}"
        case "resource":
            return str(item["resource"].get("text", ""))
    return str(item.get("text", ""))


def _save_picture(tool: str, item: Mapping[str, Any], file: str, number: int) -> Path:
    """Write a picture to the given file or a new one, and return its path.

    From the second on, the result's pictures have their number in the name.
    """
    # The type may come from a page or another server, and becomes part of a path.
    suffix = re.sub(r"[^a-z0-9]", "", item["mimeType"].partition("/")[2].partition("+")[0])
    now = f"{time.strftime('%Y%m%d-%H%M%S')}-{time.time_ns() // 1_000_000 % 1_000:03}"
    path = Path(file) if file else OUTPUT_FOLDER / f"{tool}-{now}.{suffix}"
    path = path.with_stem(f"{path.stem}-{number}") if number > 1 else path
    data = base64.b64decode(item["data"])
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError:
        if file:
            raise
        path = Path(tempfile.mkdtemp(prefix="outrider-")) / path.name
        path.write_bytes(data)
    return path


def save_text(text: str, path: Path) -> str:
    """Write the text, and return a line that describes it. Raises OSError."""
    from outrider.core.text import count_tokens  # the tokenizer takes longer to load than most calls

    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n", encoding="utf-8")
    first_line = next((line.strip() for line in text.splitlines() if line.strip()), "")[:80]
    return f"{path}: {len(text):,} characters, {count_tokens(text):,} tokens: {first_line}"


def cut_to_tokens(text: str, max_tokens: int) -> str:
    """Cut a text to o200k tokens, with a note if cut.

    0 means no limit.
    """
    if not max_tokens:
        return text
    from outrider.core.text import cut_tokens

    piece = cut_tokens(text, max_tokens)
    if piece.next_offset is None:
        return text
    return f"{close_boundaries(piece.text)}\n[cut after {max_tokens} tokens; --output FILE keeps all of it]"
