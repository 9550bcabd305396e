"""Handing results of the workspace to the user: one file, or many in a zip."""

import html
from typing import TYPE_CHECKING, Annotated, Literal

import anyio
from pydantic import Field

from outrider.core.artifacts import ArtifactStore
from outrider.core.context import Call
from outrider.core.result import LinkBlock, ResourceBlock, Result, TextBlock
from outrider.toolsets.workspace.files import FilePath, workspace
from outrider.workspace import Exporter, SessionWorkspace, SessionWorkspaces

if TYPE_CHECKING:
    from outrider.workspace.export import Export

ExportDescription = Annotated[str, Field(max_length=2_000, description="What it is, for the user")]


@workspace.tool(effect="write", title="Export a file", stake="never_ask")
async def export_file(
    workspaces: SessionWorkspaces,
    exports: Exporter,
    artifacts: ArtifactStore,
    call: Call,
    /,
    path: FilePath,
    display_name: Annotated[str, Field(max_length=200, description="Name for the user")] = "",
    description: ExportDescription = "",
    format: Annotated[
        Literal["md", "csv", "json", "html"] | None,
        Field(description="md from documents; html from md, text; csv, json, md, html from tables. Default: as it is"),
    ] = None,
) -> Result:
    """Hand a file to the user, as it is or converted, with a link that lasts."""
    place = await anyio.to_thread.run_sync(workspaces.ensure_workspace, call)
    made = await exports.export_file(place, path, name=display_name, wanted=format)
    return await _publish_export(place, made, artifacts, call, description)


@workspace.tool(effect="write", title="Export a zip", stake="never_ask", timeout=600)
async def export_zip(
    workspaces: SessionWorkspaces,
    artifacts: ArtifactStore,
    call: Call,
    /,
    files: Annotated[
        list[FilePath], Field(min_length=1, max_length=1_000, description="Files, or folders with all in them")
    ],
    package_name: Annotated[str, Field(min_length=1, max_length=50)] = "workspace_export",
    description: ExportDescription = "",
) -> Result:
    """Hand files to the user in one zip: all of them, or an error that names what is missing."""
    from outrider.workspace.export import build_zip_export

    place = await anyio.to_thread.run_sync(workspaces.ensure_workspace, call)

    async def report_progress(number: int, total: int, path: str) -> None:
        await call.progress(number, total, path)

    def report_from_thread(number: int, total: int, path: str) -> None:
        anyio.from_thread.run(report_progress, number, total, path)

    made = await anyio.to_thread.run_sync(build_zip_export, place, files, package_name, report_from_thread)
    return await _publish_export(place, made, artifacts, call, description)


async def _publish_export(
    place: "SessionWorkspace", made: "Export", artifacts: ArtifactStore, call: Call, description: str
) -> Result:
    """The export as an artifact, in words, as a card for hosts that show such, and as a link."""
    max_renamed_shown = 20
    with place.files.jail.open_file(made.path) as file:
        kept = await artifacts.save_file(
            file, name=made.name, mime_type=made.mime_type, session=call.session, call=call
        )
    what = f"{made.files} file{'s' * (made.files != 1)}" if made.kind == "zip" else made.mime_type
    words = f"Exported {made.name} ({what}, {made.size:,} bytes) to {made.path}. The user gets it as {kept.uri}"
    at = artifacts.build_artifact_url(kept.uri)
    words += f", and at {at}" if at else ""
    if made.renamed:
        shown = [f"{path} is {name}" for path, name in list(made.renamed.items())[:max_renamed_shown]]
        more = len(made.renamed) - len(shown)
        words += f"\nRenamed for other systems: {'; '.join(shown)}{f' and {more} more' if more else ''}"
    card = ResourceBlock(
        f"ui://export/{made.kind}/{kept.id}", "text/html", _render_card(made, at or kept.uri, description),
        fields={"title": made.name, "annotations": {
            "export_type": made.kind, "file_count": made.files, "download_path": made.path,
            "created_at": made.created_at.isoformat(timespec="seconds"),
        }},
    )  # fmt: skip
    link = LinkBlock(kept.uri, made.name, made.mime_type, made.size)
    meta = {"outrider/path": made.path, "outrider/uri": kept.uri, "outrider/sha256": kept.sha256}
    meta |= {"outrider/open": at} if at else {}
    return Result((TextBlock(words), card, link), meta=meta)


def _render_card(made: "Export", address: str, description: str) -> str:
    """A small page without script: what was exported, and where it is."""
    facts = f"{made.mime_type}, {made.size:,} bytes" + (f", {made.files} files" if made.kind == "zip" else "")
    about = f"<p>{html.escape(description)}</p>" if description else ""
    name, uri = html.escape(made.name), html.escape(address)
    return (
        f'<article><h3>{name}</h3>{about}<p>{facts}</p><p><a href="{uri}" download="{name}">Download</a></p></article>'
    )
