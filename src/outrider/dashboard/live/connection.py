"""One viewer's WebSocket: frames and states out, commands and input in.

Out: binary frames (`packing`), and JSON `{event, data}`: `welcome`, `sessions`, `control_state`, `ended`, `answer`,
and `choice` (the options of a drop-down list that was clicked).
In: JSON `{event, id, data}`. Events are `watch`, `drawn`, those of gsd-browser's `/ctrl` namespace, and `steer`. Each
but `drawn` is answered by `{event: "answer", id, data: {ok, …}}`.
"""

import json
import logging
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import anyio
from starlette.websockets import WebSocket, WebSocketDisconnect

from outrider.browser.live.control import Ack
from outrider.browser.live.control_choice import find_dropdown
from outrider.browser.live.screencast import SCREENCAST_QUALITIES, ScreencastFrame
from outrider.browser.session.session import Session
from outrider.core.errors import OutriderError
from outrider.dashboard.live.hub import LiveHub
from outrider.dashboard.live.steering import steer_session

log = logging.getLogger(__name__)
MAX_UNDRAWN_FRAMES = 2  # frames sent to a viewer that are not drawn yet
STATE_INTERVAL_S = 0.3  # seconds between checks for changes


class LiveConnection:
    """One WebSocket; `serve` handles it until it closes.

    Args:
        socket: Accepted already.
        hub: The state that all viewers share.
        viewer: The viewer, for rate limits.
    """

    def __init__(self, socket: WebSocket, hub: LiveHub, viewer: str) -> None:
        self.id = uuid.uuid4().hex[:12]
        self._socket = socket
        self._hub = hub
        self._viewer = viewer
        self._session: Session | None = None
        self._credit = anyio.Semaphore(MAX_UNDRAWN_FRAMES, max_value=MAX_UNDRAWN_FRAMES)
        self._cast_scope: anyio.CancelScope | None = None
        self._changed = anyio.Event()
        self._commands: dict[str, Callable[[Session], Ack]] = {
            "take_control": self._take_control,
            "release_control": lambda session: session.control.release_control(self.id),
            "pause_agent": lambda session: session.control.pause(),
            "resume_agent": lambda session: session.control.resume(self.id),
        }

    async def serve(self) -> None:
        """Serve until the viewer disconnects, then release what they controlled."""
        self._hub.watchers += 1
        try:
            async with anyio.create_task_group() as tasks:
                self._tasks = tasks
                tasks.start_soon(self._send_states)
                tasks.start_soon(self._poll_sessions)
                await self._send_event("welcome", {"sid": self.id})
                await self._receive_messages()
                tasks.cancel_scope.cancel()
        except* WebSocketDisconnect:
            pass
        finally:
            self._hub.watchers -= 1
            self._stop_watching()

    # In

    async def _receive_messages(self) -> None:
        max_message_chars = 20_000
        while True:
            try:
                text = await self._socket.receive_text()
            except (WebSocketDisconnect, KeyError):  # disconnected, or bytes instead of text
                return
            message = None
            if len(text) <= max_message_chars:
                with suppress(ValueError):
                    message = json.loads(text)
            if not isinstance(message, dict) or not isinstance(message.get("event"), str):
                await self._socket.close(1008, "messages are JSON objects with `event`, of 20,000 characters at most")
                return
            if message["event"] == "drawn":
                if self._credit.value < MAX_UNDRAWN_FRAMES:
                    self._credit.release()
            elif message["event"] == "steer":  # not awaited, because it may take as long as a page needs
                self._tasks.start_soon(self._handle_message, message)
            else:
                await self._handle_message(message)

    async def _handle_message(self, message: dict[str, Any]) -> None:
        await self._send_event("answer", await self._dispatch_message(message), id=message.get("id"))
        if not message["event"].startswith("input_"):
            self._hub.invalidate()
            self._changed.set()

    async def _dispatch_message(self, message: dict[str, Any]) -> dict[str, Any]:
        click_events = ("input_click", "input_up")
        event, data = message["event"], message.get("data", {})
        if not self._hub.input_limiter.try_acquire(self._viewer):
            return Ack("rate_limited").to_dict()
        if event == "watch":
            return self._watch_session(data)
        session = self._session
        if session is None or session.closed:
            return Ack("no_active_session").to_dict()
        if event in self._commands:
            return self._commands[event](session).to_dict()
        if event == "steer":
            return (await steer_session(session, self.id, data)).to_dict()
        answer = session.control.submit_input(self.id, event, data)
        if answer.ok and event in click_events:
            self._tasks.start_soon(self._send_dropdown, session, data["x"], data["y"])
        return answer.to_dict()

    async def _send_dropdown(self, session: Session, x: float, y: float) -> None:
        """Send the options of a clicked drop-down list, which is not in the picture."""
        page = session.tabs.alive_page
        if page is not None and (found := await find_dropdown(page, x, y)):
            await self._send_event("choice", found | {"x": x, "y": y})

    def _take_control(self, session: Session) -> Ack:
        answer = session.control.take_control(self.id)
        if answer.ok:
            log.info("a person (%s) has taken control of browser session %s", self._viewer, session.id)
        if answer.ok and session.status == "parked":
            self._tasks.start_soon(_wake_session, session)
        return answer

    def _watch_session(self, data: Any) -> dict[str, Any]:
        """Switch to another session or quality; an unknown session shows none."""
        quality = data.get("quality", "med") if isinstance(data, dict) else ""
        if quality not in SCREENCAST_QUALITIES or not isinstance(data.get("session_id"), str):
            return Ack("invalid_payload").to_dict()
        try:
            session = self._hub.get_session(data["session_id"])
        except OutriderError:
            self._stop_watching()
            return Ack("no_active_session").to_dict()
        if session is not self._session:
            self._stop_watching()
        self._session = session
        log.debug("%s watches browser session %s", self._viewer, session.id)
        if self._cast_scope is not None:
            self._cast_scope.cancel()
        self._cast_scope = anyio.CancelScope()
        self._credit = anyio.Semaphore(MAX_UNDRAWN_FRAMES, max_value=MAX_UNDRAWN_FRAMES)
        self._tasks.start_soon(self._send_frames, session, quality, self._cast_scope, self._credit)
        return Ack().to_dict()

    def _stop_watching(self) -> None:
        """Stop watching and release control."""
        if self._cast_scope is not None:
            self._cast_scope.cancel()
        if self._session is not None:
            self._session.control.handle_disconnect(self.id)
        self._session = self._cast_scope = None

    # Out

    async def _send_frames(
        self, session: Session, quality: Any, scope: anyio.CancelScope, credit: anyio.Semaphore
    ) -> None:
        with scope, session.screencast.watch(quality) as viewer:
            while True:
                await credit.acquire()
                frame = await viewer.next_frame()
                if frame is None and viewer.is_over:
                    break
                if frame is None:
                    credit.release()
                    continue
                await self._socket.send_bytes(encode_frame(session.id, frame))
            await self._send_event("ended", {"session_id": session.id})

    async def _send_states(self) -> None:
        known: list[dict[str, Any]] | None = None
        last_state: dict[str, Any] | None = None
        while True:
            self._changed = anyio.Event()
            session = self._session if self._session and not self._session.closed else None
            control = session.control.serialize_state() if session else {}
            state = {
                "holder_sid": control.get("holder"),
                "held_since_ts": control.get("held_since"),
                "paused": control.get("paused", False),
                "waiting": control.get("waiting", 0),
                "active_session_id": session.id if session else None,
            }
            if state != last_state:
                last_state = state
                await self._send_event("control_state", state)
            if (sessions := self._hub.list_sessions()) != known:
                known = sessions
                await self._send_event("sessions", sessions)
            with anyio.move_on_after(STATE_INTERVAL_S):
                await self._changed.wait()

    async def _poll_sessions(self) -> None:
        while True:
            await self._hub.refresh()
            await anyio.sleep(STATE_INTERVAL_S)

    async def _send_event(self, event: str, data: Any, **more: Any) -> None:
        await self._socket.send_text(json.dumps({"event": event, "data": data, **more}))


async def _wake_session(session: Session) -> None:
    with suppress(OutriderError):  # the states will show the result
        await session.wake()


def encode_frame(session_id: str, frame: ScreencastFrame) -> bytes:
    """Encode with the fields of gsd-browser's `frame` event; times in seconds since the epoch, sizes in CSS pixels."""
    now = time.time()
    header = {
        "seq": frame.seq,
        "session_id": session_id,
        "captured_ts": frame.captured_at,
        "received_ts": frame.received_at,
        "emitted_ts": now,
        "latency_ms": round((now - frame.captured_at) * 1_000, 1),
        "metadata": {"width": frame.size[0], "height": frame.size[1], "scale": frame.scale},
    }
    text = json.dumps(header, separators=(",", ":")).encode()
    return len(text).to_bytes(4, "big") + text + frame.data
