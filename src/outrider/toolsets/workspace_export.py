"""Handing results of the workspace to the user: one file, or many in a zip."""

import html
from typing import TYPE_CHECKING, Annotated, Literal

import anyio
from pydantic import Field

from outrider.core.artifacts import Artifacts
from outrider.core.context import Call
from outrider.core.result import Link, Resource, Result, Text
from outrider.toolsets.workspace import FilePath, workspace
from outrider.workspace import Exports, Workspace, Workspaces

if TYPE_CHECKING:
    from outrider.workspace.export import Export

Described = Annotated[str, Field(max_length=2_000, description="What it is, for the user")]
RENAMED_SHOWN = 20


@workspace.tool(effect="write", title="Export a file", stake="never_ask")
async def export_file(
    workspaces: Workspaces,
    exports: Exports,
    artifacts: Artifacts,
    call: Call,
    /,
    path: FilePath,
    display_name: Annotated[str, Field(max_length=200, description="Name for the user")] = "",
    description: Described = "",
    format: Annotated[
        Literal["md", "csv", "json", "html"] | None,
        Field(description="md from documents; html from md, text; csv, json, md, html from tables. Default: as it is"),
    ] = None,
) -> Result:
    """Hand a file to the user, as it is or converted, with a link that lasts."""
    place = await anyio.to_thread.run_sync(workspaces.of, call)
    made = await exports.file(place, path, name=display_name, wanted=format)
    return await _handed_out(place, made, artifacts, call, description)


@workspace.tool(effect="write", title="Export a zip", stake="never_ask", timeout=600)
async def export_zip(
    workspaces: Workspaces,
    artifacts: Artifacts,
    call: Call,
    /,
    files: Annotated[
        list[FilePath], Field(min_length=1, max_length=1_000, description="Files, or folders with all in them")
    ],
    package_name: Annotated[str, Field(min_length=1, max_length=50)] = "workspace_export",
    description: Described = "",
) -> Result:
    """Hand files to the user in one zip: all of them, or an error that names what is missing."""
    from outrider.workspace.export import zipped

    place = await anyio.to_thread.run_sync(workspaces.of, call)

    async def told(number: int, total: int, path: str) -> None:
        await call.progress(number, total, path)

    def done(number: int, total: int, path: str) -> None:
        anyio.from_thread.run(told, number, total, path)

    made = await anyio.to_thread.run_sync(zipped, place, files, package_name, done)
    return await _handed_out(place, made, artifacts, call, description)


async def _handed_out(place: "Workspace", made: "Export", artifacts: Artifacts, call: Call, description: str) -> Result:
    """The export as an artifact, in words, as a card for hosts that show such, and as a link."""
    with place.files.jail.opened(made.path) as file:
        kept = await artifacts.copy(file, name=made.name, mime_type=made.mime_type, session=call.session, call=call)
    what = f"{made.files} file{'s' * (made.files != 1)}" if made.kind == "zip" else made.mime_type
    words = f"Exported {made.name} ({what}, {made.size:,} bytes) to {made.path}. The user gets it as {kept.uri}"
    at = artifacts.address(kept.uri)
    words += f", and at {at}" if at else ""
    if made.renamed:
        shown = [f"{path} is {name}" for path, name in list(made.renamed.items())[:RENAMED_SHOWN]]
        more = len(made.renamed) - len(shown)
        words += f"\nRenamed for other systems: {'; '.join(shown)}{f' and {more} more' if more else ''}"
    card = Resource(
        f"ui://export/{made.kind}/{kept.id}", "text/html", _card(made, at or kept.uri, description),
        fields={"title": made.name, "annotations": {
            "export_type": made.kind, "file_count": made.files, "download_path": made.path,
            "created_at": made.created_at.isoformat(timespec="seconds"),
        }},
    )  # fmt: skip
    link = Link(kept.uri, made.name, made.mime_type, made.size)
    meta = {"outrider/path": made.path, "outrider/uri": kept.uri, "outrider/sha256": kept.sha256}
    meta |= {"outrider/open": at} if at else {}
    return Result((Text(words), card, link), meta=meta)


def _card(made: "Export", address: str, description: str) -> str:
    """A small page without script: what was exported, and where it is."""
    facts = f"{made.mime_type}, {made.size:,} bytes" + (f", {made.files} files" if made.kind == "zip" else "")
    about = f"<p>{html.escape(description)}</p>" if description else ""
    name, uri = html.escape(made.name), html.escape(address)
    return (
        f'<article><h3>{name}</h3>{about}<p>{facts}</p><p><a href="{uri}" download="{name}">Download</a></p></article>'
    )
