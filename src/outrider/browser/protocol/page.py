"""One page (a tab): frames, scripts and trusted input."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any, Literal, Protocol

from outrider.browser.protocol.cdp import COMMAND_TIMEOUT_S, CommandTimeout, PageGone, ProtocolError, TargetChannel
from outrider.browser.protocol.frames import MAIN_WORLD, Frame, Frames
from outrider.browser.protocol.keys import MODIFIER_BITS, parse_chord
from outrider.browser.protocol.loading import LoadTracker
from outrider.browser.protocol.values import Handle
from outrider.core.errors import OutriderError, Unavailable

MouseButton = Literal["left", "right", "middle", "back", "forward", "none"]
MouseKind = Literal["move", "down", "up", "click", "wheel"]
KeyAction = Literal["press", "down", "up"]
# Sends the set-up commands of one feature to a new channel, before its first document runs.
ChannelSetup = Callable[[TargetChannel], list[asyncio.Future[dict[str, Any]]]]
# Attach to every kind of target below a page. Kinds that the filter leaves out (workers, say) would still
# wait for a debugger, and never start.
AUTO_ATTACH_FILTER = [*({"type": kind, "exclude": True} for kind in ("page", "tab", "browser")), {}]
BUTTON_BITS = {"none": 0, "left": 1, "right": 2, "middle": 4, "back": 8, "forward": 16}
INPUT_TIMEOUT_S = 10.0


class ClipboardIsolation(Protocol):
    """Separates the clipboards of sessions: see `process.clipboard.SessionClipboard`."""

    def isolate_press(self, chord: str) -> AbstractAsyncContextManager[None]:
        """Return a context that surrounds a press of these keys."""
        ...


class BrowserPage:
    """A page of a browser.

    Attributes:
        target_id: The CDP target id.
        channel: The channel to its target.
        frames: All its frames; `frames.main` is the main frame.
        loading: The progress of its documents and requests.
        opener: The target id of the page that opened it, for a pop-up.
        clipboard: Keeps copy and paste keys within its session; None leaves them to the browser.
        arrival_timeout_s: How long an action waits for the document that it leads to.
        lost: The error after it was closed or crashed; None while it is usable.
        action_log: The `actions.action_log.ActionLog` of its session; None remembers nothing.
        tools: Its `actions.page_tools.PageTools`, made on first use; references depend on them, so they live as long.
        mouse_at: The position of the mouse in the viewport.
    """

    def __init__(self, target_id: str, channel: TargetChannel) -> None:
        default_arrival_timeout_s = 10.0
        self.target_id = target_id
        self.channel = channel
        self.frames = Frames()
        self.loading = LoadTracker()
        self.opener: str | None = None
        self.arrival_timeout_s = default_arrival_timeout_s
        self.lost: PageGone | None = None
        self.crashed = False
        self.clipboard: ClipboardIsolation | None = None
        self.action_log: object | None = None
        self.tools: object | None = None
        self.mouse_at = (0.0, 0.0)
        self._held_modifiers = 0
        self._scripts: list[tuple[str, str]] = []
        self._channel_setups: list[ChannelSetup] = []
        self._channels = [channel]
        self._on_lost: list[Callable[[BrowserPage], None]] = []
        self._is_attached = False

    async def attach(self) -> None:
        """Subscribe to the page's events and set up its channels."""
        self._is_attached = True
        await self._adopt_channel(self.channel, None)

    @property
    def channels(self) -> tuple[TargetChannel, ...]:
        """The channels of its target and of its cross-origin frames."""
        return tuple(self._channels)

    async def add_channel_setup(self, setup: ChannelSetup) -> None:
        """Run a set-up on all present and future channels.

        Logs and the time zone are examples.
        """
        self._channel_setups.append(setup)
        if self._is_attached:
            await asyncio.gather(*(answer for channel in list(self._channels) for answer in setup(channel)))

    def on_lost(self, watcher: "Callable[[BrowserPage], None]") -> None:
        """Call `watcher` once when the page is closed or crashes; `lost` says why."""
        self._on_lost.append(watcher)

    def mark_lost(self, reason: PageGone, *, crashed: bool = False) -> None:
        """Mark the page as closed or crashed; unanswered commands fail now."""
        if self.lost is not None:
            return
        self.lost, self.crashed = reason, crashed
        for channel in self._channels:
            channel.connection.drop_channel(channel.session_id, reason.message)
        self.loading.notify_change()
        for watcher in self._on_lost:
            watcher(self)

    @property
    def main(self) -> Frame:
        """The main frame. Raises Unavailable before there is one."""
        if self.frames.main is None:
            raise Unavailable("the page has not started to load", code="page_gone")
        return self.frames.main

    @property
    def url(self) -> str:
        """The main frame's address, with fragment."""
        return self.main.url

    def send(
        self, method: str, params: dict[str, Any] | None = None, *, timeout: float = COMMAND_TIMEOUT_S
    ) -> asyncio.Future[dict[str, Any]]:
        """Send a command to the page's own target at once; await the returned future for the answer."""
        return self.channel.send(method, params, timeout=timeout)

    def stop_loading(self) -> None:
        """Stop loading; until a server answers, the browser holds back all other commands to the page."""
        self.channel.send_and_forget("Page.stopLoading")

    async def is_responsive(self, seconds: float) -> bool:
        """Return whether the page still runs scripts; False while one blocks the event loop."""
        try:
            await self.channel.send("Runtime.evaluate", {"expression": "1", "returnByValue": True}, timeout=seconds)
        except CommandTimeout:
            return False
        except (OutriderError, ProtocolError):
            return True
        return True

    async def read_renderer_seconds(self) -> tuple[float, float] | None:
        """Return how long the renderers have computed and waited for a processor.

        None if the browser does not say; only Linux reports how long a runnable process waited.
        """
        try:
            answer = await self.channel.connection.send("SystemInfo.getProcessInfo", timeout=INPUT_TIMEOUT_S)
        except (OutriderError, ProtocolError):
            return None
        renderers = [each for each in answer["processInfo"] if each["type"] == "renderer"]
        return sum(each["cpuTime"] for each in renderers), sum(_read_run_delay(each["id"]) for each in renderers)

    async def evaluate_in(
        self,
        world: str,
        function: str,
        *args: object,
        frame: Frame | None = None,
        timeout: float = COMMAND_TIMEOUT_S,  # noqa: ASYNC109
    ) -> Any:
        """Run a function in a world of the page or of one of its frames; see `Frame.evaluate`."""
        return await (frame or self.main).evaluate(world, function, *args, timeout=timeout)

    async def evaluate_handle_in(
        self,
        world: str,
        function: str,
        *args: object,
        frame: Frame | None = None,
        timeout: float = COMMAND_TIMEOUT_S,  # noqa: ASYNC109
    ) -> Handle:
        """Run a function and return a handle to its result; see `Frame.evaluate_handle`."""
        return await (frame or self.main).evaluate_handle(world, function, *args, timeout=timeout)

    async def install_script(self, world: str, source: str) -> None:
        """Run a script in a world of every frame: now, and first in every future document.

        The script's result is dropped; what it stores in `globalThis` is there for `evaluate_in`.
        """
        self._scripts.append((world, source))
        channels = {frame.channel.session_id: frame.channel for frame in self.frames}.values()
        for channel in channels:
            await channel.send("Page.addScriptToEvaluateOnNewDocument", {"source": source, "worldName": world})
        function = f"() => {{ {source}\n }}"
        await asyncio.gather(*(frame.evaluate(world, function) for frame in self.frames), return_exceptions=True)

    async def dispatch_mouse(
        self,
        kind: MouseKind,
        x: float,
        y: float,
        *,
        button: MouseButton = "left",
        count: int = 1,
        modifiers: tuple[str, ...] = (),
        held_buttons: tuple[MouseButton, ...] = (),
        delta: tuple[float, float] = (0, 0),
    ) -> None:
        """Dispatch trusted mouse input at a point of the viewport.

        It goes to the frame at that point.

        Args:
            kind: `click` is a press and a release of `count` clicks; it moves there first.
            x: CSS pixels from the left edge of the viewport.
            y: CSS pixels from its top edge.
            button: The button of `down`, `up` and `click`.
            count: 2 for a double click.
            modifiers: Held keys: Alt, Control, Meta, Shift.
            held_buttons: Buttons held during a `move` (a drag).
            delta: CSS pixels that a `wheel` scrolls, right and down.
        """
        point = {
            "x": x,
            "y": y,
            "modifiers": self._held_modifiers | sum(MODIFIER_BITS[modifier] for modifier in modifiers),
        }
        down = point | {"type": "mousePressed", "button": button, "buttons": BUTTON_BITS[button]}
        up = point | {"type": "mouseReleased", "button": button, "buttons": 0}
        if kind == "move":
            held_bits = sum(BUTTON_BITS[held_button] for held_button in held_buttons)
            pressed = {"button": held_buttons[0] if held_buttons else "none", "buttons": held_bits}
            events = [point | pressed | {"type": "mouseMoved"}]
        elif kind == "wheel":
            events = [point | {"type": "mouseWheel", "deltaX": delta[0], "deltaY": delta[1]}]
        elif kind == "click":
            events = [point | {"type": "mouseMoved"}]
            for number in range(1, count + 1):
                events += [down | {"clickCount": number}, up | {"clickCount": number}]
        else:
            events = [(down if kind == "down" else up) | {"clickCount": count}]
        self.mouse_at = (x, y)
        first, *presses = events
        await self.channel.send("Input.dispatchMouseEvent", first, timeout=INPUT_TIMEOUT_S)
        if kind == "click":  # frameworks render the hover state a task later, and star ratings read it
            await asyncio.sleep(0.01)
        # Send the rest at once: the browser keeps their order, and only one round trip is awaited.
        sent = [self.channel.send("Input.dispatchMouseEvent", event, timeout=INPUT_TIMEOUT_S) for event in presses]
        await asyncio.gather(*sent)

    async def dispatch_key(self, chord: str, kind: KeyAction = "press") -> None:
        """Dispatch trusted keys: `Enter`, `a`, `Control+a`, `Shift+ArrowDown`. Raises InvalidInput."""
        if self.clipboard is None:
            await self._dispatch_chord(chord, kind)
            return
        async with self.clipboard.isolate_press(chord):
            await self._dispatch_chord(chord, kind)

    async def _dispatch_chord(self, chord: str, kind: KeyAction) -> None:
        held_keys, last = parse_chord(chord)
        modifiers = self._held_modifiers
        events: list[dict[str, Any]] = []
        if kind != "up":
            for key in held_keys:
                modifiers |= MODIFIER_BITS[key.name]
                events.append(key.build_event("down", modifiers))
            modifiers |= MODIFIER_BITS.get(last.name, 0)
            events.append(last.build_event("down", modifiers))
        else:
            modifiers |= sum(MODIFIER_BITS[key.name] for key in held_keys)
        if kind != "down":
            for key in (last, *reversed(held_keys)):
                modifiers &= ~MODIFIER_BITS.get(key.name, 0)
                events.append(key.build_event("up", modifiers))
        # Held keys also apply to the mouse and to later keys.
        self._held_modifiers = modifiers
        sent = [self.channel.send("Input.dispatchKeyEvent", event, timeout=INPUT_TIMEOUT_S) for event in events]
        await asyncio.gather(*sent)

    async def insert_text(self, text: str) -> None:
        """Type a text into the focused element as one input event, like an input method."""
        await self.channel.send("Input.insertText", {"text": text}, timeout=INPUT_TIMEOUT_S)

    async def measure_offset(self, frame: Frame) -> tuple[float, float]:
        """Return the position of a frame's origin in the page's viewport, in CSS pixels."""
        x, y = 0.0, 0.0
        while frame.parent is not None:
            owner = await frame.parent.channel.send("DOM.getFrameOwner", {"frameId": frame.id})
            box = await frame.parent.channel.send("DOM.getBoxModel", {"backendNodeId": owner["backendNodeId"]})
            x, y = x + box["model"]["content"][0], y + box["model"]["content"][1]
            frame = frame.parent
            while not frame.is_root_of_process and frame.parent is not None:
                frame = frame.parent
        return x, y

    async def find_frame_owner(self, frame: Frame, world: str = MAIN_WORLD) -> Handle:
        """Return a handle to the element that embeds a frame.

        The handle belongs to a world of the parent frame.
        """
        assert frame.parent is not None, "the main frame has no owner element"
        channel = frame.parent.channel
        owner = await channel.send("DOM.getFrameOwner", {"frameId": frame.id})
        context = await frame.parent.ensure_context(world)
        answer = await channel.send(
            "DOM.resolveNode", {"backendNodeId": owner["backendNodeId"], "executionContextId": context}
        )
        return Handle(answer["object"]["objectId"], "node")

    async def _adopt_channel(self, channel: TargetChannel, parent: Frame | None) -> None:
        """Set up the page's target, or that of a cross-origin frame, and let it run.

        All commands go out before the first answer is awaited: a target that waits for the debugger answers
        some of them only once `Runtime.runIfWaitingForDebugger` lets it run.
        """
        self.frames.follow_channel(channel)
        self.loading.follow_channel(
            channel, lambda frame_id: self.frames.main is None or self.frames.main.id == frame_id
        )
        channel.on("Target.attachedToTarget", lambda event: self._handle_target_attached(channel, event))
        channel.on("Target.detachedFromTarget", self._handle_target_detached)
        channel.on("Inspector.targetCrashed", lambda _: self._handle_crash(channel))

        def load_tree(answer: dict[str, Any]) -> None:
            self.frames.load_tree(channel, answer["frameTree"], parent)

        attach = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True, "filter": AUTO_ATTACH_FILTER}
        sent = [
            channel.send("Page.enable"),
            channel.send("Page.getFrameTree", then=load_tree),
            channel.send("Page.setLifecycleEventsEnabled", {"enabled": True}),
            channel.send("Network.enable", {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0}),
            channel.send("Inspector.enable"),
            channel.send("Target.setAutoAttach", attach),
            *(
                channel.send("Page.addScriptToEvaluateOnNewDocument", {"source": source, "worldName": world})
                for world, source in self._scripts
            ),
            *(answer for setup in self._channel_setups for answer in setup(channel)),
            channel.send("Runtime.enable"),
            channel.send("Runtime.runIfWaitingForDebugger"),
        ]
        await asyncio.gather(*sent)

    def _handle_target_attached(self, parent: TargetChannel, event: dict[str, Any]) -> None:
        """Adopt a cross-origin frame; let any other target run unobserved."""
        channel, info = parent.connection.get_channel(event["sessionId"]), event["targetInfo"]
        if info["type"] != "iframe":
            channel.send_and_forget("Runtime.runIfWaitingForDebugger")
            return
        self._channels.append(channel)
        known = self.frames.get(info["targetId"])  # a frame's target id is its frame id
        work = self._adopt_channel(channel, known.parent if known else None)
        parent.connection.spawn_task(work, "a cross-origin frame")

    def _handle_target_detached(self, event: dict[str, Any]) -> None:
        detached = [channel for channel in self._channels if channel.session_id == event["sessionId"]]
        for channel in detached:
            self._drop_frames(channel, "the frame has been closed")
        if not detached:
            self.channel.connection.drop_channel(event["sessionId"], "the worker has ended")

    def _handle_crash(self, channel: TargetChannel) -> None:
        if channel is not self.channel:
            self._drop_frames(channel, "the frame has crashed")
            return
        url = self.frames.main.url if self.frames.main else "about:blank"
        hint = "reopen the session where it was, or navigate to another address"
        error = PageGone(f"the page at {url} has crashed", code="page_crashed", hint=hint, details={"url": url})
        self.mark_lost(error, crashed=True)

    def _drop_frames(self, channel: TargetChannel, reason: str) -> None:
        self._channels.remove(channel)
        self.frames.drop_channel_frames(channel)
        channel.connection.drop_channel(channel.session_id, reason)


def _read_run_delay(process: int) -> float:
    """Return how many seconds a process waited for a processor; 0 if the system does not say.

    It is the second number of `/proc/PID/schedstat`, in nanoseconds, of the main thread, which runs the page's scripts.
    """
    try:
        return int(Path(f"/proc/{process}/schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0
