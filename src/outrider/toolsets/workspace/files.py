"""Tools that read, write, edit and import files of the session's workspace."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import anyio
from pydantic import AliasChoices, BaseModel, Field

from outrider.core.context import Call
from outrider.core.errors import InvalidInput
from outrider.core.result import FILES_META_KEY, ImageBlock, Result, TextBlock
from outrider.core.server_record import ServerRecord
from outrider.core.text import DEFAULT_CUT_CHARS, cut_text
from outrider.core.tool import Toolset
from outrider.toolsets.parameters import check_offset
from outrider.toolsets.usual_names import USUAL_TOOL_NAMES
from outrider.workspace import SessionWorkspaces

if TYPE_CHECKING:
    from outrider.workspace.files import FileText, WorkspaceFiles, WriteResult

workspace = Toolset(
    "workspace",
    "Workspace paths are relative. Before replace_lines_in_file, read_file with numbered=true. execute_python and "
    "execute_shell run code there, without network unless allowed. export_file gives a file to the user.",
    display_name="Workspace",
    usual_names=USUAL_TOOL_NAMES["workspace"],
    record=ServerRecord(category="storage"),
)

FilePath = Annotated[str, Field(min_length=1, max_length=1_000, description="Relative to the workspace")]
Sha256 = Annotated[
    str | None,
    Field(pattern="^[0-9a-fA-F]{8,64}$", description="From your last read or edit; refuses if the file has changed"),
]
SHOWN_DIGEST_CHARS = 16  # enough to tell versions of a file apart, and short enough for a model to copy


class LineEdit(BaseModel, extra="forbid", defer_build=True):
    """A replacement of lines by their numbers before the call."""

    start_line: Annotated[
        int, Field(ge=1, validation_alias=AliasChoices("start_line", "line_number"), description="First line, from 1")
    ]
    end_line: Annotated[int | None, Field(ge=1, description="Last line; default: start_line")] = None
    new_content: Annotated[str | None, Field(description="Empty or missing: remove the lines")] = None
    expected_text: Annotated[str | None, Field(description="Text the lines must have now")] = None


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
    """Read a text file in any encoding, or some of its lines; or show a picture."""
    session_workspace = await anyio.to_thread.run_sync(workspaces.ensure_workspace, call)
    if picture := await anyio.to_thread.run_sync(_read_picture, session_workspace.files, path):
        return picture
    file_text = await anyio.to_thread.run_sync(session_workspace.files.read, path, start_line, end_line)
    return _build_file_result(file_text, numbered=numbered, limit=max_chars, offset=offset)


@workspace.tool(effect="write", title="Write a file", stake="never_ask")
async def write_file(
    workspaces: SessionWorkspaces,
    call: Call,
    /,
    path: FilePath,
    content: Annotated[str, Field(max_length=10_000_000, description="At most 10 MB")],
    mode: Annotated[Literal["w", "a"], Field(description="w: replace the file; a: append to it")] = "w",
    expected_sha256: Sha256 = None,
) -> Result:
    """Write a text file, and create its folders. An existing file keeps its encoding and line endings."""

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
    """Replace or remove lines by number, all or none. Returns a diff."""
    from outrider.workspace.edit import Replacement

    edits = [
        Replacement(edit.start_line, edit.end_line or edit.start_line, edit.new_content, edit.expected_text)
        for edit in replacements
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
    old_text: Annotated[str, Field(min_length=1, max_length=1_000_000, description="Exactly as in the file, once")],
    new_text: Annotated[str, Field(max_length=1_000_000)],
    expected_sha256: Sha256 = None,
) -> Result:
    """Replace a text that occurs exactly once in a file. Returns a diff, or the most similar line."""

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
    """Copy a file from this machine into the workspace, from folders that the operator allowed."""

    def copy_file() -> "WriteResult":
        roots = workspaces.settings.import_roots
        return workspaces.ensure_workspace(call).files.import_file(src_abs_path, dest_rel_path, roots)

    change = await anyio.to_thread.run_sync(copy_file)
    return _build_change_result(f"Imported {change.size:,} bytes to {dest_rel_path}", change)


def _build_file_result(file: "FileText", *, numbered: bool, limit: int, offset: int) -> Result:
    """Build the text, with a note on how to continue.

    It is cut after a whole line if possible.
    """
    from outrider.workspace.edit import split_lines

    if file.lines is not None:  # otherwise the file has more than was read
        check_offset(offset, len(file.text), "the lines")
    piece = cut_text(file.text, limit, offset)
    text, next_line, next_offset = piece.text, None, piece.next_offset
    if next_offset is not None and (end := text.rfind("\n")) >= 0:
        text, next_offset = text[: end + 1], None
        next_line = file.start + file.text.count("\n", 0, piece.offset + end + 1)
    elif next_offset is None and file.lines is None:  # the file has more than was read
        if not text.endswith("\n"):
            raise InvalidInput(
                f"offset: line {file.end} has more than {len(file.text):,} characters",
                hint="read the rest of this line with a code tool",
                code="too_large",
            )
        next_line = file.end + 1
    first = file.start + file.text.count("\n", 0, piece.offset)
    lines = split_lines(text)
    last = first + max(len(lines) - 1, 0)
    total = f" of {file.lines:,}" if file.lines is not None else ""
    rest = f"start_line={next_line}" if next_line else f"start_line={file.start}, offset={next_offset}"
    footer = f"[… lines {first} to {last}{total}; continue with {rest}]" if next_line or next_offset else ""
    fields = {"start_line": first, "end_line": last, "lines": file.lines, "encoding": file.encoding}
    fields |= {"sha256": file.sha256, "truncated": bool(footer), "next_line": next_line, "next_offset": next_offset}
    meta = {f"outrider/{name}": value for name, value in fields.items() if value not in (None, "")}
    if numbered:
        width = len(str(last))
        text = "".join(f"{number:>{width}}\t{line}" for number, line in enumerate(lines, first))
        digest = f", sha256 {file.sha256[:SHOWN_DIGEST_CHARS]}" if file.sha256 else ""
        footer = footer or f"[lines {first} to {last}{total}{digest}]"
    footer = "[the file is empty]" if file.lines == 0 else footer
    gap = "" if not footer or not text or text.endswith(("\n", "\r")) else "\n"
    return Result((TextBlock(text + gap + footer),), meta=meta)


def _read_picture(files: "WorkspaceFiles", path: str) -> Result | None:
    """Read a picture; return None for any other file."""
    max_picture_bytes = 3_500_000  # hosts refuse larger ones
    image_signatures = {
        b"\x89PNG\r\n": "image/png",
        b"\xff\xd8\xff": "image/jpeg",
        b"GIF8": "image/gif",
        b"RIFF": "image/webp",
    }
    head, size = files.read_head(path, 12)
    kind = next((kind for signature, kind in image_signatures.items() if head.startswith(signature)), "")
    if not kind or (kind == "image/webp" and head[8:12] != b"WEBP"):
        return None
    if size > max_picture_bytes:
        raise InvalidInput(
            f"path: the picture {path!r} has {size:,} bytes, more than {max_picture_bytes:,}",
            hint="make it smaller with a code tool",
            code="too_large",
        )
    content = (TextBlock(f"{path}: {kind}, {size:,} bytes"), ImageBlock(files.read_bytes(path), kind))
    return Result(content, meta={"outrider/mime_type": kind, "outrider/size": size})


def _build_change_result(summary: str, change: "WriteResult", extra_meta: dict[str, str] | None = None) -> Result:
    text = f"{summary}; {change.size:,} bytes now, sha256 {change.sha256[:SHOWN_DIGEST_CHARS]}"
    piece = cut_text(change.difference, DEFAULT_CUT_CHARS)
    text += f"\n{piece.text}{'[… the diff continues]' if piece.truncated else ''}" if change.difference else ""
    fields = {"path": change.path, "size": change.size, "sha256": change.sha256, "created": change.created}
    meta: dict[str, Any] = {f"outrider/{name}": value for name, value in (fields | (extra_meta or {})).items()}
    meta[FILES_META_KEY] = [{"path": change.path}]
    return Result((TextBlock(text),), meta=meta)
