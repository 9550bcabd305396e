"""One page (a tab): its frames, its scripts, and trusted input."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Literal, Protocol

from outrider.browser.protocol.cdp import COMMAND_TIMEOUT_S, CommandTimeout, PageGone, ProtocolError, TargetChannel
from outrider.browser.protocol.frames import MAIN_WORLD, Frame, Frames
from outrider.browser.protocol.keys import MODIFIER_BITS, parse_chord
from outrider.browser.protocol.loading import LoadTracker
from outrider.browser.protocol.values import Handle
from outrider.core.errors import OutriderError, Unavailable

MouseButton = Literal["left", "right", "middle", "back", "forward", "none"]
MouseKind = Literal["move", "down", "up", "click", "wheel"]
# Asks for what somebody wants of every channel of a page, before its first document runs.
ChannelSetup = Callable[[TargetChannel], list[asyncio.Future[dict[str, Any]]]]
# What is attached to below a page: everything but pages. What is left out (workers, say) is made to wait
# for a debugger all the same, and would never begin.
AUTO_ATTACH_FILTER = [*({"type": kind, "exclude": True} for kind in ("page", "tab", "browser")), {}]
BUTTON_BITS = {"none": 0, "left": 1, "right": 2, "middle": 4, "back": 8, "forward": 16}
INPUT_TIMEOUT_S = 10.0


class ClipboardIsolation(Protocol):
    """Whoever keeps sessions' clipboards apart: see `clipboard.Share`."""

    def isolate_press(self, chord: str) -> AbstractAsyncContextManager[None]:
        """Around a press of these keys."""
        ...


class BrowserPage:
    """A page, attached and ready.

    Attributes:
        target_id: The browser's name of it.
        channel: The conversation with it.
        frames: All its frames; `frames.main` is the page itself.
        loading: What its documents and requests are doing.
        opener: The page that opened it, for a pop-up.
        clipboard: Sees to it that keys copy and paste within its session; None leaves it to the browser.
        patience: Seconds that an action waits for the document to which it leads.
        lost: Why nothing can be asked of it any more: closed, or crashed.
    """

    def __init__(self, target_id: str, channel: TargetChannel) -> None:
        default_patience_s = 10.0
        self.target_id = target_id
        self.channel = channel
        self.frames = Frames()
        self.loading = LoadTracker()
        self.opener: str | None = None
        self.patience = default_patience_s
        self.lost: PageGone | None = None
        self.crashed = False
        self.clipboard: ClipboardIsolation | None = None
        self._scripts: list[tuple[str, str]] = []
        self._channel_setups: list[ChannelSetup] = []
        self._channels = [channel]
        self._on_lost: list[Callable[[BrowserPage], None]] = []
        self._is_attached = False

    async def attach(self) -> None:
        """Takes the page over: its frames, its worlds, and what it is still to load."""
        self._is_attached = True
        await self._adopt_channel(self.channel, None)

    async def add_channel_setup(self, setup: ChannelSetup) -> None:
        """Sets something up on every channel that the page has and will have (logs, a time zone)."""
        self._channel_setups.append(setup)
        if self._is_attached:
            await asyncio.gather(*(each for channel in list(self._channels) for each in setup(channel)))

    def on_lost(self, watcher: "Callable[[BrowserPage], None]") -> None:
        """Calls `watcher` once when the page is closed or crashes; `lost` says which."""
        self._on_lost.append(watcher)

    def mark_lost(self, reason: PageGone, *, crashed: bool = False) -> None:
        """Nothing more can be asked: whatever waits for the page fails now."""
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
        """The page's own frame. Raises Unavailable before there is one."""
        if self.frames.main is None:
            raise Unavailable("the page has not begun to load", code="page_gone")
        return self.frames.main

    @property
    def url(self) -> str:
        """The address of what it shows, with fragment."""
        return self.main.url

    def send(
        self, method: str, params: dict[str, Any] | None = None, *, timeout: float = COMMAND_TIMEOUT_S
    ) -> asyncio.Future[dict[str, Any]]:
        """A protocol command to the page's own target, sent at once; await it for the answer."""
        return self.channel.send(method, params, timeout=timeout)

    def stop_loading(self) -> None:
        """Ends what it is on its way to. Until the server answers, the browser keeps all that it is asked from it."""
        self.channel.send_and_forget("Page.stopLoading")

    async def is_responsive(self, seconds: float) -> bool:
        """Whether the page still runs what it is given: False when a script of its own never lets anything else in."""
        try:
            await self.send("Runtime.evaluate", {"expression": "1", "returnByValue": True}, timeout=seconds)
        except CommandTimeout:
            return False
        except (OutriderError, ProtocolError):
            return True
        return True

    async def evaluate_in(
        self,
        world: str,
        function: str,
        *args: object,
        frame: Frame | None = None,
        timeout: float = COMMAND_TIMEOUT_S,  # noqa: ASYNC109
    ) -> Any:
        """What a function returns in a world of the page (or of one of its frames): see `Frame.evaluate`."""
        return await (frame or self.main).evaluate(world, function, *args, timeout=timeout)

    async def evaluate_handle_in(
        self,
        world: str,
        function: str,
        *args: object,
        frame: Frame | None = None,
        timeout: float = COMMAND_TIMEOUT_S,  # noqa: ASYNC109
    ) -> Handle:
        """As `evaluate_in`, but the object stays in the page: see `Frame.handle`."""
        return await (frame or self.main).evaluate_handle(world, function, *args, timeout=timeout)

    async def install_script(self, world: str, source: str) -> None:
        """Runs a script in a world of every frame: now, and first thing in every document to come.

        The script's result is dropped; what it leaves in `globalThis` is there for `evaluate_in`.
        """
        self._scripts.append((world, source))
        channels = {frame.channel.session_id: frame.channel for frame in self.frames}.values()
        for channel in channels:
            await channel.send("Page.addScriptToEvaluateOnNewDocument", {"source": source, "worldName": world})
        run = f"() => {{ {source}\n }}"
        await asyncio.gather(*(frame.evaluate(world, run) for frame in self.frames), return_exceptions=True)

    async def dispatch_mouse(
        self,
        kind: MouseKind,
        x: float,
        y: float,
        *,
        button: MouseButton = "left",
        count: int = 1,
        modifiers: tuple[str, ...] = (),
        held: tuple[MouseButton, ...] = (),
        delta: tuple[float, float] = (0, 0),
    ) -> None:
        """Trusted mouse input at CSS pixels of the viewport, through to whichever frame lies there.

        Args:
            kind: `click` is a press and a release of `count` clicks; it moves there first.
            x: From the left edge of the viewport.
            y: From its top edge.
            button: For down, up and click.
            count: 2 for a double click.
            modifiers: Keys held meanwhile: Alt, Control, Meta, Shift.
            held: Buttons held during a `move` (a drag).
            delta: How far a `wheel` turns, right and down.
        """
        where = {"x": x, "y": y, "modifiers": sum(MODIFIER_BITS[each] for each in modifiers)}
        if kind == "move":
            pressed = {"button": held[0] if held else "none", "buttons": sum(BUTTON_BITS[each] for each in held)}
            await self._dispatch_mouse_event(where | pressed, "mouseMoved")
        elif kind == "wheel":
            await self._dispatch_mouse_event(where | {"deltaX": delta[0], "deltaY": delta[1]}, "mouseWheel")
        elif kind == "click":
            await self._click_at(where, button, count)
        else:
            buttons = BUTTON_BITS[button] if kind == "down" else 0
            pressed = {"button": button, "clickCount": count, "buttons": buttons}
            await self._dispatch_mouse_event(where | pressed, "mousePressed" if kind == "down" else "mouseReleased")

    async def _click_at(self, where: dict[str, Any], button: MouseButton, count: int) -> None:
        """All events at once: the browser keeps their order, and one answer is waited for instead of three."""
        sent = [self._dispatch_mouse_event(where, "mouseMoved")]
        for number in range(1, count + 1):
            pressed = where | {"button": button, "clickCount": number}
            sent.append(self._dispatch_mouse_event(pressed | {"buttons": BUTTON_BITS[button]}, "mousePressed"))
            sent.append(self._dispatch_mouse_event(pressed | {"buttons": 0}, "mouseReleased"))
        await asyncio.gather(*sent)

    def _dispatch_mouse_event(self, params: dict[str, Any], kind: str) -> asyncio.Future[dict[str, Any]]:
        return self.send("Input.dispatchMouseEvent", params | {"type": kind}, timeout=INPUT_TIMEOUT_S)

    async def dispatch_key(self, chord: str, kind: Literal["press", "down", "up"] = "press") -> None:
        """Trusted keys: `Enter`, `a`, `Control+a`, `Shift+ArrowDown`. Raises InvalidInput."""
        if self.clipboard is None:
            await self._dispatch_chord(chord, kind)
            return
        async with self.clipboard.isolate_press(chord):
            await self._dispatch_chord(chord, kind)

    async def _dispatch_chord(self, chord: str, kind: Literal["press", "down", "up"]) -> None:
        held, last = parse_chord(chord)
        bits, sent = 0, []
        for each in held:
            bits |= MODIFIER_BITS[each.name]
            sent += [self._dispatch_key_event(each.build_event("down", bits))] if kind != "up" else []
        bits |= MODIFIER_BITS.get(last.name, 0) if kind != "up" else 0
        sent += [self._dispatch_key_event(last.build_event("down", bits))] if kind != "up" else []
        bits &= ~MODIFIER_BITS.get(last.name, 0)
        sent += [self._dispatch_key_event(last.build_event("up", bits))] if kind != "down" else []
        for each in reversed(held):
            bits &= ~MODIFIER_BITS[each.name]
            sent += [self._dispatch_key_event(each.build_event("up", bits))] if kind != "down" else []
        await asyncio.gather(*sent)

    def _dispatch_key_event(self, params: dict[str, Any]) -> asyncio.Future[dict[str, Any]]:
        return self.send("Input.dispatchKeyEvent", params, timeout=INPUT_TIMEOUT_S)

    async def insert_text(self, text: str) -> None:
        """Types a text into what has the focus as one input event, as an input method would."""
        await self.send("Input.insertText", {"text": text}, timeout=INPUT_TIMEOUT_S)

    async def measure_offset(self, frame: Frame) -> tuple[float, float]:
        """Where a frame's own (0, 0) lies in the page's viewport, in CSS pixels."""
        x, y = 0.0, 0.0
        while frame.parent is not None:
            owner = await frame.parent.channel.send("DOM.getFrameOwner", {"frameId": frame.id})
            box = await frame.parent.channel.send("DOM.getBoxModel", {"backendNodeId": owner["backendNodeId"]})
            x, y = x + box["model"]["content"][0], y + box["model"]["content"][1]
            frame = _find_process_root(frame.parent)
        return x, y

    async def find_frame_owner(self, frame: Frame, world: str = MAIN_WORLD) -> Handle:
        """The element in the parent frame that shows a frame, in a world of the parent."""
        assert frame.parent is not None, "the page itself has no owner"
        channel = frame.parent.channel
        owner = await channel.send("DOM.getFrameOwner", {"frameId": frame.id})
        context = await frame.parent.ensure_context(world)
        answer = await channel.send(
            "DOM.resolveNode", {"backendNodeId": owner["backendNodeId"], "executionContextId": context}
        )
        return Handle(answer["object"]["objectId"], "node")

    async def _adopt_channel(self, channel: TargetChannel, parent: Frame | None) -> None:
        """Sets up the page's target, or that of a cross-origin frame, all in one breath, and lets it run.

        Nothing may be awaited before it is let go: some of it is answered only by a renderer that runs.
        """
        self._listen(channel)
        follow = {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True, "filter": AUTO_ATTACH_FILTER}
        sent = [
            channel.send("Page.enable"),
            channel.send("Page.getFrameTree", then=lambda got: self._take(channel, got["frameTree"], parent)),
            channel.send("Page.setLifecycleEventsEnabled", {"enabled": True}),
            channel.send("Network.enable", {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0}),
            channel.send("Inspector.enable"),
            channel.send("Target.setAutoAttach", follow),
            *(
                channel.send("Page.addScriptToEvaluateOnNewDocument", {"source": source, "worldName": world})
                for world, source in self._scripts
            ),
            *(each for dress in self._channel_setups for each in dress(channel)),
            channel.send("Runtime.enable"),
            channel.send("Runtime.runIfWaitingForDebugger"),
        ]
        await asyncio.gather(*sent)

    def _take(self, channel: TargetChannel, tree: dict[str, Any], parent: Frame | None) -> None:
        self.frames.load_tree(channel, tree, parent)

    def _listen(self, channel: TargetChannel) -> None:
        self.frames.follow_channel(channel)
        self.loading.follow_channel(
            channel, lambda frame_id: self.frames.main is None or self.frames.main.id == frame_id
        )
        channel.on("Target.attachedToTarget", lambda event: self._handle_target_attached(channel, event))
        channel.on("Target.detachedFromTarget", self._handle_target_detached)
        channel.on("Inspector.targetCrashed", lambda _: self._handle_crash(channel))

    def _handle_target_attached(self, parent: TargetChannel, event: dict[str, Any]) -> None:
        """A frame below: it waits until it is told to go on."""
        channel, info = parent.connection.get_channel(event["sessionId"]), event["targetInfo"]
        if info["type"] != "iframe":
            channel.send_and_forget("Runtime.runIfWaitingForDebugger")
            return
        self._channels.append(channel)
        around = self.frames.get(info["targetId"])
        parent.connection.spawn_task(
            self._adopt_channel(channel, around.parent if around else None), "a cross-origin frame"
        )

    def _handle_target_detached(self, event: dict[str, Any]) -> None:
        found = [channel for channel in self._channels if channel.session_id == event["sessionId"]]
        for channel in found:
            self._drop_frames(channel, "the frame has been closed")
        if not found:
            self.channel.connection.drop_channel(event["sessionId"], "the worker has ended")

    def _handle_crash(self, channel: TargetChannel) -> None:
        if channel is self.channel:
            message = f"the page has crashed; it was at {self._get_url()}"
            hint = "open the session again where it was, or navigate elsewhere"
            details = {"url": self._get_url()}
            self.mark_lost(PageGone(message, code="page_crashed", hint=hint, details=details), crashed=True)
        else:
            self._drop_frames(channel, "the frame has crashed")

    def _drop_frames(self, channel: TargetChannel, reason: str) -> None:
        self._channels.remove(channel)
        self.frames.drop_channel_frames(channel)
        channel.connection.drop_channel(channel.session_id, reason)

    def _get_url(self) -> str:
        return self.frames.main.url if self.frames.main else "about:blank"


def _find_process_root(frame: Frame) -> Frame:
    while not frame.is_root_of_process and frame.parent is not None:
        frame = frame.parent
    return frame
