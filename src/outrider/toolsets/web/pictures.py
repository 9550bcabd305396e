"""Save web pictures to the workspace and show them to models."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio

from outrider.core.artifacts import ArtifactStore
from outrider.core.context import Call
from outrider.core.errors import OutriderError
from outrider.core.jail import rename_error_field
from outrider.core.result import FILES_META_KEY, ImageBlock, LinkBlock, Result, TextBlock
from outrider.pages.pages import Pages
from outrider.toolsets.options import ToolOptions, may_save_unasked, require_saving_consent
from outrider.workspace import SessionWorkspaces

if TYPE_CHECKING:
    from outrider.pages.images import WebImage


@dataclass(frozen=True)
class PictureSaver:
    """Saves pictures into the workspace of the caller's session, and as artifacts for remote hosts.

    Attributes:
        is_file_wanted: Whether the caller asks for a file, so that a person is asked if the folder is the user's.
            Without it, such a picture is only shown.
    """

    pages: Pages
    artifacts: ArtifactStore
    workspaces: SessionWorkspaces
    options: ToolOptions
    is_file_wanted: bool = True

    async def save_picture(self, call: Call, url: str, folder: str, name: str | None) -> Result:
        """Save the picture at an address; return its path, the picture itself and a link.

        Raises:
            AnswerNeeded: A person must agree first, because the folder is the user's.
            Refused: Code `not_an_image`, the person did not agree, or the caller may only read.
            OutriderError: It cannot be read or written.
        """
        if call.grant is not None:
            call.grant.require_write_role("a picture would be saved")
        image = await self.pages.fetch_image(url, name)
        hidden = _explain_hidden(image)
        blocks = () if hidden else (ImageBlock(image.data, image.content_type),)
        notes = [f"Not shown: {hidden}"] if hidden else []
        preferred_path = f"{folder.rstrip('/') or '.'}/{image.name}"
        if not self.is_file_wanted and not may_save_unasked(self.workspaces, self.options, call, "web_fetch"):
            notes.append("Not saved: the workspace is the user's folder; mode=image asks them first")
            text = "\n".join([f"Source URL: {image.url}", *notes])
            return Result((TextBlock(text), *blocks), meta={"outrider/url": image.url})
        require_saving_consent(self.workspaces, self.options, call, "web_fetch", preferred_path)
        with rename_error_field("output_dir"):
            path = await anyio.to_thread.run_sync(
                lambda: self.workspaces.ensure_workspace(call).files.add_file(
                    preferred_path, image.data, image.name_suffixes
                )
            )
        lines = [f"Saved image to: {path}", f"Source URL: {image.url}", f"Markdown: ![image]({path})", *notes]
        links, meta = await self._save_artifact(call, image, path)
        return Result((TextBlock("\n".join(lines)), *blocks, *links), meta={"outrider/url": image.url} | meta)

    async def _save_artifact(
        self, call: Call, image: "WebImage", path: str
    ) -> tuple[tuple[LinkBlock, ...], dict[str, Any]]:
        """Return a link to the picture and its metadata; the link is missing if, for example, the database is full."""
        meta: dict[str, Any] = {"outrider/path": path}
        try:
            artifact = await self.artifacts.save(
                image.data,
                name=path.rpartition("/")[2],
                mime_type=image.content_type,
                session=call.session,
                call=call,
            )
        except OutriderError:
            return (), meta | {FILES_META_KEY: [{"path": path}]}
        meta[FILES_META_KEY] = [{"path": path, "uri": artifact.uri, "content_type": artifact.mime_type}]
        if link := self.artifacts.build_artifact_url(artifact.uri):
            meta["outrider/open"] = link
        return (LinkBlock(artifact.uri, artifact.name, artifact.mime_type, artifact.size),), meta


def _explain_hidden(image: "WebImage") -> str:
    """Return why a picture cannot be shown to models; empty if it can."""
    max_bytes = 3_500_000  # hosts refuse larger pictures
    if image.content_type not in ("image/png", "image/jpeg", "image/gif", "image/webp"):
        return f"models cannot see {image.content_type}"
    if len(image.data) > max_bytes:
        return f"it has {len(image.data):,} bytes, more than {max_bytes:,}"
    return ""
