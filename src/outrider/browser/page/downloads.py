"""Receive downloads and move finished ones to the session's workspace."""

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outrider.browser.page.file_names import make_safe_name
from outrider.browser.protocol.cdp import CdpConnection
from outrider.browser.protocol.condition import Condition
from outrider.browser.protocol.redact import clean_url
from outrider.core.errors import NotFound, OutriderError, Unavailable
from outrider.core.jail import Jail

DOWNLOADS_FOLDER = "downloads"


@dataclass
class Download:
    """One file.

    Attributes:
        name: The suggested name, made safe.
        state: `coming`, `done`, `failed` or `refused` (too large, or too many).
        path: Its path in the workspace once it is done.
        size: Bytes so far.
        total: Bytes expected; 0 when unknown.
    """

    guid: str
    at: float
    url: str
    name: str
    state: str = "coming"
    path: str = ""
    size: int = 0
    total: int = 0


class Downloads:
    """The newest downloads of a session.

    Args:
        staging: The folder for unfinished files.
        workspace: The folder that gets finished files, below `downloads`. Hostile code may change it in the meantime.
        limit: The largest accepted size in bytes; 0 refuses all downloads.
        protected: Paths of the workspace that are not written, as `Jail` takes them.
    """

    def __init__(self, staging: Path, workspace: Path, limit: int, protected: Sequence[str] = ()) -> None:
        self._staging = staging
        self._protected = protected
        self.workspace = workspace
        self._limit = limit
        self._downloads: OrderedDict[str, Download] = OrderedDict()
        self._changed = Condition()
        self._subscriptions: list[Callable[[], None]] = []
        self.total = 0
        self._count_in_call = 0
        self._bytes = 0

    def reset_burst(self) -> None:
        """Reset the number of downloads that one call may start."""
        self._count_in_call = 0

    @property
    def entries(self) -> list[Download]:
        """The downloads, oldest first."""
        return list(self._downloads.values())

    async def start(
        self, connection: CdpConnection, context_id: str | None, is_own_frame: Callable[[str], bool]
    ) -> None:
        """Receive the downloads of a context; `is_own_frame` says whether a frame belongs to the session."""
        self._connection, self._context_id = connection, context_id
        self.stop()
        self._subscriptions = [
            connection.root.on("Browser.downloadWillBegin", lambda event: self._handle_begin(event, is_own_frame)),
            connection.root.on("Browser.downloadProgress", self._handle_progress),
        ]
        self._staging.mkdir(parents=True, exist_ok=True)
        behaviour = {"behavior": "allowAndName", "downloadPath": str(self._staging), "eventsEnabled": True}
        if self._limit == 0:
            behaviour = {"behavior": "deny", "eventsEnabled": True}
        scope = {"browserContextId": context_id} if context_id else {}
        await connection.send("Browser.setDownloadBehavior", behaviour | scope)

    def stop(self) -> None:
        """Stop receiving downloads."""
        for unsubscribe in self._subscriptions:
            unsubscribe()
        self._subscriptions.clear()

    def list_since(self, total: int) -> list[Download]:
        """List the downloads after the first `total` ones."""
        return self.entries[-(self.total - total) :] if self.total > total else []

    async def wait_until_finished(self, number: int = -1, seconds: float = 60.0) -> Download:
        """Wait for a download (the last one by default) to end. Raises NotFound or Unavailable."""
        if not self._downloads:
            hint = "click the control that starts the download"
            raise NotFound("nothing has been downloaded", code="no_download", hint=hint)
        download = self.entries[number]
        if not await self._changed.wait_until(lambda: download.state != "coming", seconds):
            message = f"{download.name} is not finished ({download.size:,} bytes so far)"
            raise Unavailable(message, code="timeout", hint="wait again")
        return download

    def _handle_begin(self, event: dict[str, Any], is_own_frame: Callable[[str], bool]) -> None:
        max_per_call = 20  # so that a page cannot fill the disk unattended
        max_downloads = 50
        if not is_own_frame(event["frameId"]):
            return
        name = make_safe_name(event.get("suggestedFilename", ""))
        download = self._downloads[event["guid"]] = Download(event["guid"], time.time(), clean_url(event["url"]), name)
        self.total += 1
        self._count_in_call += 1
        while len(self._downloads) > max_downloads:
            self._downloads.popitem(last=False)
        if self._count_in_call > max_per_call:
            self._refuse_download(download)
        self._changed.notify_all()

    def _handle_progress(self, event: dict[str, Any]) -> None:
        session_factor = 5  # a session may store this multiple of the size limit
        download = self._downloads.get(event["guid"])
        if download is None or download.state != "coming":
            return
        download.size, download.total = int(event["receivedBytes"]), int(event["totalBytes"])
        if max(download.size, download.total) > min(self._limit, session_factor * self._limit - self._bytes):
            self._refuse_download(download)
        elif event["state"] == "completed":
            staged = self._staging / download.guid
            try:
                download.size = staged.stat().st_size
                download.path = Jail(self.workspace, self._protected).add_file(
                    f"{DOWNLOADS_FOLDER}/{download.name}", staged
                )
                staged.unlink()
            except (OSError, OutriderError):
                self._finish_download(download, "failed")
                return
            self._bytes += download.size
            self._finish_download(download, "done")
        elif event["state"] == "canceled":
            self._finish_download(download, "failed")

    def _refuse_download(self, download: Download) -> None:
        scope = {"browserContextId": self._context_id} if self._context_id else {}
        self._connection.root.send_and_forget("Browser.cancelDownload", {"guid": download.guid} | scope)
        self._finish_download(download, "refused")

    def _finish_download(self, download: Download, state: str) -> None:
        download.state = state
        if state != "done":
            (self._staging / download.guid).unlink(missing_ok=True)
        self._changed.notify_all()
