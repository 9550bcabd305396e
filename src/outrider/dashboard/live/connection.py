"""One watcher's socket: pictures and states go out, commands and inputs come in.

Out: binary frames (`packing`), and JSON `{event, data}`: `welcome`, `sessions`, `control_state`, `ended`, `answer`,
and `choice` (the options of a drop-down list that was clicked).
In: JSON `{event, id, data}`. Events are `watch`, `drawn`, those of gsd-browser's `/ctrl` namespace, and `steer`. Each
but `drawn` is answered by `{event: "answer", id, data: {ok, …}}`.
"""

import json
import logging
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import anyio
from starlette.websockets import WebSocket, WebSocketDisconnect

from outrider.browser import Session
from outrider.browser.control import Ack
from outrider.browser.control_choice import choice_at
from outrider.browser.screencast import QUALITIES
from outrider.core.errors import OutriderError
from outrider.dashboard.live.packing import packed
from outrider.dashboard.live.room import Room
from outrider.dashboard.live.steering import steer

log = logging.getLogger(__name__)
AHEAD = 2  # frames that are under way to a watcher who has not drawn them yet
CLICKS = ("input_click", "input_up")
LONGEST = 20_000  # characters of a message
STATE = 0.3  # seconds between looks for what has changed


class Connection:
    """One socket. `run` serves it to its end.

    Args:
        socket: Accepted already.
        room: What all watchers share.
        viewer: Whose it is, for limits.
    """

    def __init__(self, socket: WebSocket, room: Room, viewer: str) -> None:
        self.id = uuid.uuid4().hex[:12]
        self._socket = socket
        self._room = room
        self._viewer = viewer
        self._session: Session | None = None
        self._credit = anyio.Semaphore(AHEAD, max_value=AHEAD)
        self._casting: anyio.CancelScope | None = None
        self._changed = anyio.Event()
        self._commands: dict[str, Callable[[Session], Ack]] = {
            "take_control": self._take,
            "release_control": lambda session: session.control.release(self.id),
            "pause_agent": lambda session: session.control.pause(),
            "resume_agent": lambda session: session.control.resume(self.id),
        }

    async def run(self) -> None:
        """Until the watcher is gone; then what they held is released."""
        self._room.watchers += 1
        try:
            async with anyio.create_task_group() as tasks:
                self._tasks = tasks
                tasks.start_soon(self._tell_states)
                tasks.start_soon(self._look)
                await self._send("welcome", {"sid": self.id})
                await self._listen()
                tasks.cancel_scope.cancel()
        except* WebSocketDisconnect:
            pass
        finally:
            self._room.watchers -= 1
            self._leave()

    # In

    async def _listen(self) -> None:
        while True:
            try:
                text = await self._socket.receive_text()
            except (WebSocketDisconnect, KeyError):  # gone, or bytes where text should be
                return
            message = _read(text)
            if message is None:
                await self._socket.close(1008, "messages are JSON objects with `event`, of 20,000 characters at most")
                return
            if message["event"] == "drawn":
                self._drawn()
            elif message["event"] == "steer":  # may take as long as a page needs: nothing waits for it
                self._tasks.start_soon(self._answer, message)
            else:
                await self._answer(message)

    async def _answer(self, message: dict[str, Any]) -> None:
        await self._send("answer", await self._answered(message), id=message.get("id"))
        if not message["event"].startswith("input_"):
            self._room.changed()
            self._changed.set()

    async def _answered(self, message: dict[str, Any]) -> dict[str, Any]:
        event, data = message["event"], message.get("data", {})
        if not self._room.inputs.take(self._viewer):
            return Ack("rate_limited").facts()
        if event == "watch":
            return self._watch(data)
        session = self._session
        if session is None or session.closed:
            return Ack("no_active_session").facts()
        if event in self._commands:
            return self._commands[event](session).facts()
        if event == "steer":
            return (await steer(session, self.id, data)).facts()
        answer = session.control.input(self.id, event, data)
        if answer.ok and event in CLICKS:
            self._tasks.start_soon(self._offer, session, data["x"], data["y"])
        return answer.facts()

    async def _offer(self, session: Session, x: float, y: float) -> None:
        """Shows the options of a drop-down list that was clicked: the browser's own list is in no picture."""
        page = session.tabs.lively
        if page is not None and (found := await choice_at(page, x, y)):
            await self._send("choice", found | {"x": x, "y": y})

    def _take(self, session: Session) -> Ack:
        answer = session.control.take(self.id)
        if answer.ok:
            log.info("a person (%s) has taken control of browser session %s", self._viewer, session.id)
        if answer.ok and session.status == "parked":
            self._tasks.start_soon(_wake, session)
        return answer

    def _watch(self, data: Any) -> dict[str, Any]:
        """Shows another session, or the same in another quality; an unknown one shows none."""
        quality = data.get("quality", "med") if isinstance(data, dict) else ""
        if quality not in QUALITIES or not isinstance(data.get("session_id"), str):
            return Ack("invalid_payload").facts()
        try:
            session = self._room.session(data["session_id"])
        except OutriderError:
            self._leave()
            return Ack("no_active_session").facts()
        if session is not self._session:
            self._leave()
        self._session = session
        log.debug("%s watches browser session %s", self._viewer, session.id)
        self._cast(session, quality)
        return Ack().facts()

    def _leave(self) -> None:
        """Stops watching; what was held is released."""
        if self._casting is not None:
            self._casting.cancel()
        if self._session is not None:
            self._session.control.gone(self.id)
        self._session = self._casting = None

    # Out

    def _cast(self, session: Session, quality: Any) -> None:
        if self._casting is not None:
            self._casting.cancel()
        self._casting = anyio.CancelScope()
        self._credit = anyio.Semaphore(AHEAD, max_value=AHEAD)
        self._tasks.start_soon(self._show, session, quality, self._casting, self._credit)

    async def _show(self, session: Session, quality: Any, scope: anyio.CancelScope, credit: anyio.Semaphore) -> None:
        with scope, session.screencast.watch(quality) as viewer:
            while True:
                await credit.acquire()
                frame = await viewer.next()
                if frame is None and viewer.over:
                    break
                if frame is None:
                    credit.release()
                    continue
                await self._socket.send_bytes(packed(session.id, frame))
            await self._send("ended", {"session_id": session.id})

    def _drawn(self) -> None:
        if self._credit.value < AHEAD:
            self._credit.release()

    async def _tell_states(self) -> None:
        known: list[dict[str, Any]] | None = None
        held: dict[str, Any] | None = None
        while True:
            self._changed = anyio.Event()
            if (state := self._control_state()) != held:
                held = state
                await self._send("control_state", state)
            if (sessions := self._room.sessions()) != known:
                known = sessions
                await self._send("sessions", sessions)
            with anyio.move_on_after(STATE):
                await self._changed.wait()

    async def _look(self) -> None:
        while True:
            await self._room.look()
            await anyio.sleep(STATE)

    def _control_state(self) -> dict[str, Any]:
        session = self._session if self._session and not self._session.closed else None
        state = session.control.state() if session else {}
        return {
            "holder_sid": state.get("holder"),
            "held_since_ts": state.get("held_since"),
            "paused": state.get("paused", False),
            "waiting": state.get("waiting", 0),
            "active_session_id": session.id if session else None,
        }

    async def _send(self, event: str, data: Any, **more: Any) -> None:
        await self._socket.send_text(json.dumps({"event": event, "data": data, **more}))


async def _wake(session: Session) -> None:
    with suppress(OutriderError):  # the states say what has become of it
        await session.wake()


def _read(text: str) -> dict[str, Any] | None:
    """A message, or None for what is none."""
    if len(text) > LONGEST:
        return None
    try:
        message = json.loads(text)
    except ValueError:
        return None
    return message if isinstance(message, dict) and isinstance(message.get("event"), str) else None
