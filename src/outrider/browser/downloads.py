"""Files that pages hand out: kept apart while they come, then moved to the folder that was asked for."""

import shutil
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outrider.browser.bell import Bell
from outrider.browser.cdp import Connection
from outrider.browser.names import free_path, safe_name
from outrider.browser.redact import clean_url
from outrider.core.errors import NotFound, Unavailable

KEPT = 50
BURST = 20  # that one call may set off; a page left alone does not fill the disk
TOTAL = 5  # times the largest: bytes of all that a session keeps


@dataclass
class Download:
    """One file.

    Attributes:
        name: Made safe.
        state: `coming`, `done`, `failed` or `refused` (too large, or too many).
        path: Where it is, once it is done.
        size: Bytes so far.
        total: Bytes expected; 0 when unknown.
    """

    guid: str
    at: float
    url: str
    name: str
    state: str = "coming"
    path: Path | None = None
    size: int = 0
    total: int = 0


class Downloads:
    """The downloads of one session.

    Args:
        staging: Where files come in.
        folder: Where they are moved when they are whole.
        limit: Bytes of the largest; 0 refuses all.
    """

    def __init__(self, staging: Path, folder: Path, limit: int) -> None:
        self._staging = staging
        self.folder = folder
        self._limit = limit
        self._known: OrderedDict[str, Download] = OrderedDict()
        self._bell = Bell()
        self._forget: list[Callable[[], None]] = []
        self.total = 0
        self._burst = 0
        self._bytes = 0

    def renew(self) -> None:
        """A call begins, which may set off so many downloads again."""
        self._burst = 0

    @property
    def all(self) -> list[Download]:
        """The downloads, oldest first."""
        return list(self._known.values())

    async def start(self, connection: Connection, context_id: str | None, mine: Callable[[str], bool]) -> None:
        """Takes the downloads of a context; `mine` says whether a frame belongs to it."""
        self._connection, self._context = connection, context_id
        self.stop()
        self._forget = [
            connection.root.on("Browser.downloadWillBegin", lambda event: self._begun(event, mine)),
            connection.root.on("Browser.downloadProgress", self._moved),
        ]
        self._staging.mkdir(parents=True, exist_ok=True)
        behaviour = {"behavior": "allowAndName", "downloadPath": str(self._staging), "eventsEnabled": True}
        if self._limit == 0:
            behaviour = {"behavior": "deny", "eventsEnabled": True}
        scope = {"browserContextId": context_id} if context_id else {}
        await connection.send("Browser.setDownloadBehavior", behaviour | scope)

    def stop(self) -> None:
        """Listens no more."""
        for each in self._forget:
            each()
        self._forget.clear()

    def since(self, total: int) -> list[Download]:
        """What began after there had been so many downloads."""
        return self.all[-(self.total - total) :] if self.total > total else []

    async def finished(self, number: int = -1, seconds: float = 60.0) -> Download:
        """Waits for a download (the last one by default) to end. Raises NotFound or Unavailable."""
        if not self._known:
            raise NotFound("nothing has been downloaded", code="no_download", hint="click what starts the download")
        download = self.all[number]
        if not await self._bell.until(lambda: download.state != "coming", seconds):
            hint = "wait again"
            raise Unavailable(f"{download.name} is still coming ({download.size:,} bytes)", code="timeout", hint=hint)
        return download

    def _begun(self, event: dict[str, Any], mine: Callable[[str], bool]) -> None:
        if not mine(event["frameId"]):
            return
        name = safe_name(event.get("suggestedFilename", ""))
        download = self._known[event["guid"]] = Download(event["guid"], time.time(), clean_url(event["url"]), name)
        self.total += 1
        self._burst += 1
        while len(self._known) > KEPT:
            self._known.popitem(last=False)
        if self._burst > BURST:
            self._refuse(download)
        self._bell.ring()

    def _moved(self, event: dict[str, Any]) -> None:
        download = self._known.get(event["guid"])
        if download is None or download.state != "coming":
            return
        download.size, download.total = int(event["receivedBytes"]), int(event["totalBytes"])
        if max(download.size, download.total) > min(self._limit, TOTAL * self._limit - self._bytes):
            self._refuse(download)
        elif event["state"] == "completed":
            self._keep(download)
        elif event["state"] == "canceled":
            self._end(download, "failed")

    def _refuse(self, download: Download) -> None:
        scope = {"browserContextId": self._context} if self._context else {}
        self._connection.root.tell("Browser.cancelDownload", {"guid": download.guid} | scope)
        self._end(download, "refused")

    def _keep(self, download: Download) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            path = free_path(self.folder, download.name)
            shutil.move(self._staging / download.guid, path)
        except OSError:
            self._end(download, "failed")
            return
        download.path, download.size = path, path.stat().st_size
        self._bytes += download.size
        self._end(download, "done")

    def _end(self, download: Download, state: str) -> None:
        download.state = state
        if state != "done":
            (self._staging / download.guid).unlink(missing_ok=True)
        self._bell.ring()
