"""Read contents from workspace files, allowed folders and the web."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

import anyio.to_thread

from outrider.content.models import ContentDraft
from outrider.core.artifacts import ARTIFACT_URI_PREFIX, ArtifactStore
from outrider.core.context import Call
from outrider.core.database.database import to_storable_text
from outrider.core.errors import InvalidInput, Refused
from outrider.core.jail import Jail, make_relative
from outrider.pages.fetched_page import FetchedPage
from outrider.pages.pages import Pages
from outrider.workspace import SessionWorkspaces

ACCEPTED_ADDRESSES = "a path in the workspace, file:///…, outrider://artifacts/…, http://… or https://…"


@dataclass(frozen=True)
class ContentSources:
    """Reads the content of a `file_url`.

    Attributes:
        pages: Reads pages of the web.
        workspaces: Holds the files of the caller's session.
        artifacts: Holds files from other tools.
        shared_folders: Other folders whose files may be read.
        max_file_bytes: The size limit of a file.
    """

    pages: Pages
    workspaces: SessionWorkspaces
    artifacts: ArtifactStore
    shared_folders: Sequence[Path]
    max_file_bytes: int

    async def read_draft(self, call: Call, file_url: str) -> ContentDraft:
        """Read the content at an address.

        Raises:
            InvalidInput: The scheme is not supported, or the file is too large (code `FILE_TOO_LARGE`).
            NotFound: The file does not exist.
            Refused: The file is outside the workspace and the allowed folders.
            OutriderError: Reading it failed.
        """
        if file_url.startswith(ARTIFACT_URI_PREFIX):
            artifact, body = await self.artifacts.read(file_url, call.workspace)
            return await build_attachment_draft(body, artifact.name, source=file_url)
        scheme = urlsplit(file_url).scheme.lower()
        if scheme in {"http", "https"}:
            return build_page_draft(await self.pages.read(file_url))
        if scheme not in {"", "file"} and not (len(scheme) == 1 and file_url[1:3] == ":\\"):
            raise InvalidInput(f"file_url: {scheme}: cannot be read", hint=f"give {ACCEPTED_ADDRESSES}")
        path = _parse_file_path(file_url)
        body = await anyio.to_thread.run_sync(self._read_file_bytes, call, path)
        return await build_attachment_draft(body, path.name, source=file_url)

    def _read_file_bytes(self, call: Call, path: Path) -> bytes:
        """Read a file of the session's workspace or below an allowed folder."""
        workspace_root = self.workspaces.ensure_workspace(call).directory
        for root in (workspace_root, *self.shared_folders):
            relative = make_relative(path, root)
            if relative is not None and (path.is_absolute() or root == workspace_root):
                max_bytes = self.max_file_bytes
                with Jail(root).open_descriptor(relative) as descriptor, os.fdopen(os.dup(descriptor), "rb") as file:
                    size = os.fstat(descriptor).st_size
                    body = file.read(max_bytes + 1) if size <= max_bytes else b""
                if size > max_bytes or len(body) > max_bytes:
                    raise InvalidInput(
                        f"file_url: the file has {size:,} bytes, more than the allowed {max_bytes:,}",
                        hint="add it in parts, or raise pages.document_max_bytes",
                        code="FILE_TOO_LARGE",
                    )
                return body
        raise Refused(
            f"file_url: {str(path)!r} is outside the workspace and the allowed folders",
            hint="write_file it to the workspace, or send `content`; or have workspace.import_roots allow it",
            code="outside",
        )


def build_page_draft(page: FetchedPage) -> ContentDraft:
    """Build the content of a page, as Markdown."""
    document = page.document
    name = PurePosixPath(unquote(urlsplit(page.url).path)).name
    return ContentDraft(
        document.markdown,
        filename=name or urlsplit(page.url).netloc,
        mime_type=page.content_type,
        source=page.url,
        title=document.title,
        language=document.language,
        markdown=document.kind not in {"text", "json", "xml"},
        uploaded_at=page.fetched_at,
        facts={"kind": document.kind} if document.kind else {},
    )


async def build_attachment_draft(body: bytes, name: str, *, source: str) -> ContentDraft:
    """Build the content of any file; a file without text can be found by its name and type."""
    from outrider.pages.mime.sniff import detect_mime_type

    try:
        return await build_file_draft(body, name, source=source)
    except Refused as error:
        if error.code != "unreadable_type":
            raise
        mime = detect_mime_type("", body, name)
        return ContentDraft(error.message, filename=name, mime_type=mime, source=source, size=len(body), original=body)


async def build_file_draft(body: bytes, name: str, *, source: str) -> ContentDraft:
    """Build the content of a file: plain text unchanged, documents as Markdown. Raises as `read_body`."""
    # Types to store unchanged, line by line; readers convert all others to Markdown.
    plain_text_types = (
        "text/", "application/json", "application/xml", "application/yaml", "application/x-yaml", "application/toml",
        "application/javascript", "application/sql", "application/x-sh",
    )  # fmt: skip
    from outrider.pages.local_file import read_body
    from outrider.pages.mime.charset import decode_body
    from outrider.pages.mime.sniff import detect_mime_type

    converted_types = ("text/html", "text/rtf", "text/vtt", "text/calendar")
    mime = detect_mime_type("", body, name)
    if mime.startswith(plain_text_types) and not mime.startswith(converted_types):
        text, _ = decode_body(body, markup=False)
        original = None if to_storable_text(text).encode("utf-8", "replace") == body else body
        return ContentDraft(text, filename=name, mime_type=mime, source=source, size=len(body), original=original)
    document, mime = await read_body(body, name=name)
    return ContentDraft(
        document.markdown,
        filename=name,
        mime_type=mime,
        source=source,
        title=document.title,
        language=document.language,
        markdown=True,
        size=len(body),
        original=body,
        facts={"kind": document.kind},
    )


def _parse_file_path(file_url: str) -> Path:
    parts = urlsplit(file_url)
    if parts.scheme.lower() != "file":
        return Path(file_url)
    if parts.netloc not in {"", "localhost"}:
        raise InvalidInput(
            f"file_url: files of the host {parts.netloc!r} cannot be read", hint=f"give {ACCEPTED_ADDRESSES}"
        )
    native_path = unquote(parts.path)
    if os.name == "nt" and native_path[:1] == "/" and native_path[2:3] == ":":
        native_path = native_path[1:]  # file:///C:/… (RFC 8089, appendix E.2)
    return Path(native_path)
