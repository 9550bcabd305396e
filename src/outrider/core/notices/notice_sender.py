"""Send waiting notices until each has arrived or is given up."""

import logging

import anyio

from outrider.core.errors import OutriderError, Refused
from outrider.core.notices.notice_queue import ClaimedNotice, NoticeQueue
from outrider.core.notices.notifier import Notifier

log = logging.getLogger(__name__)


class NoticeSender:
    """Sends the notices of a queue.

    Args:
        queue: The notices.
        notifier: Sends a single notice.
        concurrency: How many are sent at the same time.
    """

    def __init__(self, queue: NoticeQueue, notifier: Notifier, concurrency: int) -> None:
        self._queue = queue
        self._notifier = notifier
        self._concurrency = concurrency
        self._wake_event = anyio.Event()

    def wake(self) -> None:
        """Make `run_forever` check at once, because a notice was written."""
        self._wake_event.set()

    async def send_due(self) -> None:
        """Send all notices that are due. Raises Unavailable."""
        while claimed := await self._queue.claim_due(self._concurrency):
            async with anyio.create_task_group() as tasks:
                for each in claimed:
                    tasks.start_soon(self._send_and_record, each)

    async def run_forever(self) -> None:
        """Send notices when they are due until cancelled."""
        poll_interval_s = 5.0
        while True:
            self._wake_event = anyio.Event()
            try:
                await self.send_due()
            except OutriderError as error:
                log.warning("notices could not be listed: %s", error)
            with anyio.move_on_after(poll_interval_s):
                await self._wake_event.wait()

    async def _send_and_record(self, claimed: ClaimedNotice) -> None:
        notice = claimed.notice
        try:
            try:
                await self._notifier.send_notice(notice)
            except OutriderError as error:
                log.info("notice %s was not sent: %s", notice.id, error)
                problem = f"{error.message}; {error.hint}" if error.hint else error.message
                await self._queue.record_failure(claimed, problem, is_final=isinstance(error, Refused))
            else:
                # A notice that was sent must not be sent again just because this process stops now.
                with anyio.CancelScope(shield=True):
                    await self._queue.record_sent(claimed)
        except OutriderError as error:
            log.warning("the notice %s could not be recorded: %s", notice.id, error)
