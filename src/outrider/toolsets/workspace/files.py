"""Files of the session's workspace for a model: read, written, edited and imported."""

from typing import TYPE_CHECKING, Annotated, Literal

import anyio
from pydantic import AliasChoices, BaseModel, Field

from outrider.core.context import Call
from outrider.core.errors import InvalidInput
from outrider.core.result import ImageBlock, Result, TextBlock
from outrider.core.text import DEFAULT_CUT_CHARS, cut_text
from outrider.core.tool import Toolset
from outrider.workspace import SessionWorkspaces

if TYPE_CHECKING:
    from outrider.workspace.files import FileText, WorkspaceFiles, WriteResult

workspace = Toolset(
    "workspace",
    "A folder of this session for files; paths are relative to it, and nothing outside can be reached. Look before "
    "you change: read_file with numbered=true, then replace_lines_in_file with those numbers; it answers with a diff. "
    "grep and search_files find things. execute_python and its kin run code here, without network unless allowed. "
    "export_file hands a result to the user.",
    display_name="Workspace",
)

FilePath = Annotated[str, Field(min_length=1, max_length=1_000, description="Relative to the workspace")]
Sha256 = Annotated[
    str | None,
    Field(pattern="^[0-9a-fA-F]{8,64}$", description="From your last read or edit; refuses if the file has changed"),
]
SHOWN_DIGEST_CHARS = (
    16  # hexadecimal digits of a hash that a model has to copy: enough to tell versions of a file apart
)


class LineEdit(BaseModel, extra="forbid", defer_build=True):
    """Lines that become others, by their numbers before the call."""

    start_line: Annotated[
        int, Field(ge=1, validation_alias=AliasChoices("start_line", "line_number"), description="First line, from 1")
    ]
    end_line: Annotated[int | None, Field(ge=1, description="Last line; default: start_line")] = None
    new_content: Annotated[str | None, Field(description="Empty or missing: the lines are removed")] = None
    expected_text: Annotated[str | None, Field(description="What the lines must hold now")] = None


@workspace.tool(title="Read a file", untrusted=True)
async def read_file(
    workspaces: SessionWorkspaces,
    call: Call,
    /,
    path: FilePath,
    start_line: Annotated[int | None, Field(ge=1)] = None,
    end_line: Annotated[int | None, Field(ge=1, description="Inclusive")] = None,
    numbered: Annotated[bool, Field(description="With line numbers, and the hash for edits")] = False,
    max_chars: Annotated[int, Field(ge=100, le=500_000)] = DEFAULT_CUT_CHARS,
    offset: Annotated[int, Field(ge=0, description="Characters to skip, in a very long line")] = 0,
) -> Result:
    """Read a text file or some of its lines; pictures are shown. Any encoding is understood."""
    place = await anyio.to_thread.run_sync(workspaces.ensure_workspace, call)
    if picture := await anyio.to_thread.run_sync(_read_picture, place.files, path):
        return picture
    found = await anyio.to_thread.run_sync(place.files.read, path, start_line, end_line)
    return _build_file_result(found, numbered=numbered, limit=max_chars, offset=offset)


@workspace.tool(effect="write", title="Write a file", stake="never_ask")
async def write_file(
    workspaces: SessionWorkspaces,
    call: Call,
    /,
    path: FilePath,
    content: Annotated[str, Field(max_length=10_000_000, description="At most 10 MB")],
    mode: Annotated[Literal["w", "a"], Field(description="w: as the whole file; a: behind what it holds")] = "w",
    expected_sha256: Sha256 = None,
) -> Result:
    """Write a text file, with the folders above it. An existing file keeps its encoding and line ends."""

    def write_content() -> "WriteResult":
        return workspaces.ensure_workspace(call).files.write(
            path, content, append=mode == "a", expected=expected_sha256
        )

    change = await anyio.to_thread.run_sync(write_content)
    added = len(content.encode("utf-8", "replace"))
    verb = "Appended" if mode == "a" and not change.created else "Wrote"
    return _build_change_result(
        f"{verb} {added:,} bytes to {path} (mode {mode}{', new file' if change.created else ''})",
        change,
        {"mode": mode},
    )


@workspace.tool(effect="write", title="Replace lines", stake="never_ask")
async def replace_lines_in_file(
    workspaces: SessionWorkspaces,
    call: Call,
    /,
    path: FilePath,
    replacements: Annotated[list[LineEdit], Field(min_length=1, max_length=1_000)],
    expected_sha256: Sha256 = None,
) -> Result:
    """Replace or remove lines, all or none, by the numbers that they have before the call. Answers with a diff."""
    from outrider.workspace.edit import Replacement

    edits = [
        Replacement(each.start_line, each.end_line or each.start_line, each.new_content, each.expected_text)
        for each in replacements
    ]

    def replace_lines() -> "WriteResult":
        return workspaces.ensure_workspace(call).files.replace_lines(path, edits, expected_sha256)

    change = await anyio.to_thread.run_sync(replace_lines)
    return _build_change_result(f"Made {len(edits)} replacement{'s' * (len(edits) > 1)} in {path}", change)


@workspace.tool(effect="write", title="Replace text", stake="never_ask")
async def replace_text_in_file(
    workspaces: SessionWorkspaces,
    call: Call,
    /,
    path: FilePath,
    old_text: Annotated[str, Field(min_length=1, max_length=1_000_000, description="Exactly as it stands, once")],
    new_text: Annotated[str, Field(max_length=1_000_000)],
    expected_sha256: Sha256 = None,
) -> Result:
    """Replace a text that stands exactly once in a file. Answers with a diff, or with the closest line there is."""

    def replace_text() -> "WriteResult":
        return workspaces.ensure_workspace(call).files.replace_text(path, old_text, new_text, expected_sha256)

    return _build_change_result(f"Replaced the text in {path}", await anyio.to_thread.run_sync(replace_text))


@workspace.tool(effect="write", title="Import a file", stake="never_ask")
async def import_file(
    workspaces: SessionWorkspaces,
    call: Call,
    /,
    src_abs_path: Annotated[
        str, Field(min_length=1, max_length=1_000, description="Absolute, below an allowed folder")
    ],
    dest_rel_path: FilePath,
) -> Result:
    """Copy a file of this machine into the workspace, from folders that the operator allowed."""

    def copy_file() -> "WriteResult":
        roots = workspaces.settings.import_roots
        return workspaces.ensure_workspace(call).files.import_file(src_abs_path, dest_rel_path, roots)

    change = await anyio.to_thread.run_sync(copy_file)
    return _build_change_result(f"Imported {change.size:,} bytes to {dest_rel_path}", change)


def _build_file_result(found: "FileText", *, numbered: bool, limit: int, offset: int) -> Result:
    """The text, cut at the end of a line where that is possible, and where to read on."""
    from outrider.workspace.edit import split_lines

    piece = cut_text(found.text, limit, offset)
    text, next_line, next_offset = piece.text, None, piece.next_offset
    if next_offset is not None and (end := text.rfind("\n")) >= 0:
        text, next_offset = text[: end + 1], None
        next_line = found.start + found.text.count("\n", 0, piece.offset + end + 1)
    elif next_offset is None and found.lines is None:
        if not text.endswith("\n"):
            raise InvalidInput(
                f"offset: line {found.end} goes on behind {len(found.text):,} characters",
                hint="read the rest of so long a line with a code tool",
                code="too_large",
            )
        next_line = found.end + 1
    first = found.start + found.text.count("\n", 0, piece.offset)
    shown = split_lines(text)
    last = first + max(len(shown) - 1, 0)
    total = f" of {found.lines:,}" if found.lines is not None else ""
    rest = f"start_line={next_line}" if next_line else f"start_line={found.start}, offset={next_offset}"
    cut_off = f"[… lines {first} to {last}{total}; go on with {rest}]" if next_line or next_offset else ""
    facts = {"start_line": first, "end_line": last, "lines": found.lines, "encoding": found.encoding}
    facts |= {"sha256": found.sha256, "truncated": bool(cut_off), "next_line": next_line, "next_offset": next_offset}
    meta = {f"outrider/{name}": value for name, value in facts.items() if value not in (None, "")}
    if numbered:
        width = len(str(last))
        text = "".join(f"{number:>{width}}\t{line}" for number, line in enumerate(shown, first))
        digest = f", sha256 {found.sha256[:SHOWN_DIGEST_CHARS]}" if found.sha256 else ""
        cut_off = cut_off or f"[lines {first} to {last}{total}{digest}]"
    gap = "" if not cut_off or not text or text.endswith(("\n", "\r")) else "\n"
    return Result((TextBlock(text + gap + cut_off),), meta=meta)


def _read_picture(files: "WorkspaceFiles", path: str) -> Result | None:
    """A picture for the model's eyes; None for any other file."""
    max_picture_bytes = 3_500_000  # hosts refuse larger ones
    image_signatures = {
        b"\x89PNG\r\n": "image/png",
        b"\xff\xd8\xff": "image/jpeg",
        b"GIF8": "image/gif",
        b"RIFF": "image/webp",
    }
    head, size = files.read_head(path, 12)
    kind = next((kind for mark, kind in image_signatures.items() if head.startswith(mark)), "")
    if not kind or (kind == "image/webp" and head[8:12] != b"WEBP"):
        return None
    if size > max_picture_bytes:
        raise InvalidInput(
            f"path: the picture {path!r} has {size:,} bytes, more than {max_picture_bytes:,}",
            hint="make it smaller with a code tool",
            code="too_large",
        )
    words = TextBlock(f"{path}: {kind}, {size:,} bytes")
    return Result(
        (words, ImageBlock(files.read_bytes(path), kind)), meta={"outrider/mime_type": kind, "outrider/size": size}
    )


def _build_change_result(words: str, change: "WriteResult", more: dict[str, str] | None = None) -> Result:
    facts = {"path": change.path, "size": change.size, "sha256": change.sha256, "created": change.created}
    said = f"{words}; {change.size:,} bytes now, sha256 {change.sha256[:SHOWN_DIGEST_CHARS]}"
    piece = cut_text(change.difference, DEFAULT_CUT_CHARS)
    diff = f"\n{piece.text}{'[… the diff goes on]' if piece.truncated else ''}" if change.difference else ""
    meta = {f"outrider/{name}": value for name, value in (facts | (more or {})).items()}
    return Result((TextBlock(said + diff),), meta=meta)
