"""Tools that give workspace files to the user, singly or zipped."""

import html
from typing import TYPE_CHECKING, Annotated, Literal

import anyio
from pydantic import Field

from outrider.core.artifacts import ArtifactStore
from outrider.core.context import Call
from outrider.core.result import FILES_META_KEY, LinkBlock, ResourceBlock, Result, TextBlock
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
        Field(description="md from documents; html from md, text; csv, json, md, html from tables. Default: unchanged"),
    ] = None,
) -> Result:
    """Give a file to the user, unchanged or converted, with a lasting link."""
    session_workspace = await anyio.to_thread.run_sync(workspaces.ensure_workspace, call)
    export = await exports.export_file(session_workspace, path, name=display_name, export_format=format)
    return await _publish_export(session_workspace, export, artifacts, call, description)


@workspace.tool(effect="write", title="Export a zip", stake="never_ask", timeout=600)
async def export_zip(
    workspaces: SessionWorkspaces,
    artifacts: ArtifactStore,
    call: Call,
    /,
    files: Annotated[
        list[FilePath], Field(min_length=1, max_length=1_000, description="Files, or folders with their contents")
    ],
    package_name: Annotated[str, Field(min_length=1, max_length=50)] = "workspace_export",
    description: ExportDescription = "",
) -> Result:
    """Give files to the user in one zip: all of them, or an error that names the missing ones."""
    from outrider.workspace.export import build_zip_export

    session_workspace = await anyio.to_thread.run_sync(workspaces.ensure_workspace, call)

    async def report_progress(number: int, total: int, path: str) -> None:
        await call.progress(number, total, path)

    def report_from_thread(number: int, total: int, path: str) -> None:
        anyio.from_thread.run(report_progress, number, total, path)

    export = await anyio.to_thread.run_sync(
        build_zip_export, session_workspace, files, package_name, report_from_thread
    )
    return await _publish_export(session_workspace, export, artifacts, call, description)


async def _publish_export(
    session_workspace: "SessionWorkspace", export: "Export", artifacts: ArtifactStore, call: Call, description: str
) -> Result:
    """Store the export as an artifact; return text, a card for hosts that show HTML, and a link."""
    max_listed_renames = 20
    with session_workspace.files.jail.open_file(export.path) as file:
        artifact = await artifacts.save_file(
            file, name=export.name, mime_type=export.mime_type, session=call.session, call=call
        )
    kind = f"{export.files} file{'s' * (export.files != 1)}" if export.kind == "zip" else export.mime_type
    text = (
        f"Exported {export.name} ({kind}, {export.size:,} bytes) to {export.path}. The user gets it as {artifact.uri}"
    )
    url = artifacts.build_artifact_url(artifact.uri)
    text += f", and at {url}" if url else ""
    if export.renamed:
        renames = [f"{path} is {name}" for path, name in list(export.renamed.items())[:max_listed_renames]]
        more = len(export.renamed) - len(renames)
        text += f"\nRenamed for other systems: {'; '.join(renames)}{f' and {more} more' if more else ''}"
    card = ResourceBlock(
        f"ui://export/{export.kind}/{artifact.id}", "text/html", _render_card(export, url or artifact.uri, description),
        fields={"title": export.name, "annotations": {
            "export_type": export.kind, "file_count": export.files, "download_path": export.path,
            "created_at": export.created_at.isoformat(timespec="seconds"),
        }},
    )  # fmt: skip
    link = LinkBlock(artifact.uri, export.name, export.mime_type, export.size)
    meta = {"outrider/path": export.path, "outrider/uri": artifact.uri, "outrider/sha256": artifact.sha256}
    meta |= {"outrider/open": url} if url else {}
    file = {"path": export.path, "uri": artifact.uri, "content_type": export.mime_type}
    return Result((TextBlock(text), card, link), meta=meta | {FILES_META_KEY: [file]})


def _render_card(export: "Export", address: str, description: str) -> str:
    """Render a small page without scripts: the file's name, description, type and link."""
    details = f"{export.mime_type}, {export.size:,} bytes" + (f", {export.files} files" if export.kind == "zip" else "")
    description_html = f"<p>{html.escape(description)}</p>" if description else ""
    name, uri = html.escape(export.name), html.escape(address)
    link = f'<a href="{uri}" download="{name}">Download</a>'
    return f"<article><h3>{name}</h3>{description_html}<p>{details}</p><p>{link}</p></article>"
