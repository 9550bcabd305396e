"""Frame tree of a page and the JavaScript worlds of each frame.

A cross-origin frame has its own process, target and channel; its parent reports it too. A world is the
page's own (`MAIN_WORLD`) or an isolated one: the same document with other globals, invisible to the page.
"""

import asyncio
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from outrider.browser.protocol.cdp import COMMAND_TIMEOUT_S, ContextGone, TargetChannel
from outrider.browser.protocol.values import Handle, require_result, to_call_argument
from outrider.core.errors import NotFound

MAIN_WORLD = ""


@dataclass(eq=False)
class Frame:
    """One frame of a page.

    Attributes:
        id: The CDP frame id; stays the same over navigations and changes of process.
        parent: The frame around it; None for the main frame.
        channel: The channel of the target that renders it.
        url: The document's address, with fragment.
        name: The `name` attribute.
        loader: The CDP loader id, which names the document; each navigation brings a new one.
        worlds: World name to execution context id, in this document.
        detached: Whether it has been removed from the page.
        failed: Whether it shows the browser's own error page.
    """

    id: str
    parent: "Frame | None"
    channel: TargetChannel
    url: str = ""
    name: str = ""
    loader: str = ""
    origin: str = ""
    worlds: dict[str, int] = field(default_factory=dict)
    detached: bool = False
    failed: bool = False

    @property
    def is_root_of_process(self) -> bool:
        """Whether its coordinates start at its own corner: the main frame, or a frame of another process."""
        return self.parent is None or self.parent.channel is not self.channel

    async def evaluate(self, world: str, function: str, *args: object, timeout: float = COMMAND_TIMEOUT_S) -> Any:  # noqa: ASYNC109
        """Run a function in this frame and return its result as JSON values; promises are awaited.

        Args:
            world: `MAIN_WORLD` or the name of an isolated world.
            function: The source of a JavaScript function.
            *args: JSON values and `Handle`s.
            timeout: Seconds.

        Raises:
            ScriptError: The function threw.
            ContextGone: The document was replaced while it ran.
            PageGone, BrowserGone, CommandTimeout: See `CdpConnection.send`.
        """
        special_numbers = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf, "-0": -0.0}
        result = await self._call_function(world, function, args, by_value=True, seconds=timeout)
        special = result.get("unserializableValue")
        return result.get("value") if special is None else special_numbers.get(special, special)

    async def evaluate_handle(
        self,
        world: str,
        function: str,
        *args: object,
        timeout: float = COMMAND_TIMEOUT_S,  # noqa: ASYNC109
        group: str = "",
    ) -> Handle:
        """Run a function and return a handle to its result.

        It lasts until the document ends, or until its `group` is released (Runtime.releaseObjectGroup).
        """
        result = await self._call_function(world, function, args, by_value=False, seconds=timeout, group=group)
        kind = result.get("subtype") or result.get("type", "undefined")
        return Handle(result.get("objectId", ""), kind, result.get("value"))

    async def _call_function(
        self, world: str, function: str, args: tuple[object, ...], *, by_value: bool, seconds: float, group: str = ""
    ) -> dict[str, Any]:
        params: dict[str, Any] = {
            "objectGroup": group,
            "functionDeclaration": function,
            "arguments": [to_call_argument(argument) for argument in args],
            "returnByValue": by_value,
            "awaitPromise": True,
            "userGesture": True,
        }
        for is_last_attempt in (False, True):
            params["executionContextId"] = context = await self.ensure_context(world, timeout=seconds)
            try:
                return require_result(await self.channel.send("Runtime.callFunctionOn", params, timeout=seconds))
            except ContextGone as error:
                if self.worlds.get(world) == context:
                    del self.worlds[world]
                # Try again only where the function has certainly not started.
                if is_last_attempt or "Cannot find context" not in error.message:
                    raise
        raise AssertionError("unreachable")

    async def ensure_context(self, world: str, *, timeout: float = COMMAND_TIMEOUT_S) -> int:  # noqa: ASYNC109
        """Return a world's execution context id; create an isolated world on first use."""
        if (known := self.worlds.get(world)) is not None:
            return known
        if self.detached:
            raise NotFound("the frame is gone", code="frame_gone", hint="take a snapshot")
        if world == MAIN_WORLD:
            # The browser announces it; between two documents it is briefly missing.
            for _ in range(200):
                if MAIN_WORLD in self.worlds:
                    return self.worlds[MAIN_WORLD]
                await asyncio.sleep(0.01)
            raise ContextGone("Runtime.callFunctionOn", -32000, "the frame has no document")
        params = {"frameId": self.id, "worldName": world}
        answer = await self.channel.send("Page.createIsolatedWorld", params, timeout=timeout)
        self.worlds[world] = answer["executionContextId"]
        return self.worlds[world]


class Frames:
    """All frames of a page, kept up to date by the events of its channels."""

    def __init__(self) -> None:
        self._frames: dict[str, Frame] = {}
        self._watchers: list[Callable[[str], None]] = []
        self.main: Frame | None = None

    def __iter__(self) -> Iterator[Frame]:
        return iter(list(self._frames.values()))

    def __len__(self) -> int:
        return len(self._frames)

    def get(self, frame_id: str) -> Frame | None:
        """Return the frame of that id, or None."""
        return self._frames.get(frame_id)

    def list_children(self, frame: Frame) -> list[Frame]:
        """List the direct child frames of a frame."""
        return [child for child in self._frames.values() if child.parent is frame]

    def on_navigation(self, watcher: Callable[[str], None]) -> None:
        """Call `watcher` with the address of each document that a frame starts to show."""
        self._watchers.append(watcher)

    def follow_channel(self, channel: TargetChannel) -> None:
        """Subscribe to a channel's frame events; call this before `Page.enable`."""
        channel.on("Page.frameAttached", lambda event: self._handle_attached(channel, event))
        channel.on("Page.frameDetached", lambda event: self._handle_detached(channel, event))
        channel.on("Page.frameNavigated", lambda event: self._handle_navigated(channel, event["frame"]))
        channel.on("Page.navigatedWithinDocument", self._handle_url_change)
        channel.on(
            "Runtime.executionContextCreated", lambda event: self._handle_context_created(channel, event["context"])
        )
        channel.on(
            "Runtime.executionContextDestroyed",
            lambda event: self._forget_worlds(channel, event["executionContextId"]),
        )
        channel.on("Runtime.executionContextsCleared", lambda _: self._forget_worlds(channel))

    def load_tree(self, channel: TargetChannel, tree: dict[str, Any], parent: Frame | None = None) -> Frame | None:
        """Add the frames of a `Page.getFrameTree` answer; return its root, or None past the frame limit."""
        payload = tree["frame"]
        known = self._frames.get(payload["id"])
        frame = self._ensure_frame(channel, payload["id"], parent or (known.parent if known else None))
        if frame is None:
            return None
        self._update_frame(frame, payload)
        for child in tree.get("childFrames", ()):
            self.load_tree(channel, child, frame)
        return frame

    def drop_channel_frames(self, channel: TargetChannel) -> None:
        """Remove the frames of a process that is gone.

        Its root frame stays, because it may get another process.
        """
        for frame in [frame for frame in self._frames.values() if frame.channel is channel]:
            frame.worlds.clear()
            if not frame.is_root_of_process:
                self._remove_frame(frame)

    def _ensure_frame(self, channel: TargetChannel, frame_id: str, parent: Frame | None) -> Frame | None:
        max_frames = 500  # of one page; further ones are ignored
        frame = self._frames.get(frame_id)
        if frame is None:
            if len(self._frames) >= max_frames:
                return None
            frame = self._frames[frame_id] = Frame(frame_id, parent, channel)
        elif frame.channel is not channel:
            frame.worlds.clear()
            frame.channel = channel
        if parent is None and frame.parent is None:
            self.main = frame
        return frame

    def _update_frame(self, frame: Frame, payload: dict[str, Any]) -> None:
        # A document that failed to load has an internal address (chrome-error://).
        frame.url = payload.get("unreachableUrl") or payload.get("url", "") + payload.get("urlFragment", "")
        frame.failed = bool(payload.get("unreachableUrl"))
        frame.name, frame.loader = payload.get("name", ""), payload.get("loaderId", "")
        frame.origin = payload.get("securityOrigin", "")

    def _handle_attached(self, channel: TargetChannel, event: dict[str, Any]) -> None:
        known = self._frames.get(event["frameId"])
        if known is None or known.channel.lost is not None:
            self._ensure_frame(channel, event["frameId"], self._frames.get(event["parentFrameId"]))

    def _handle_detached(self, channel: TargetChannel, event: dict[str, Any]) -> None:
        frame = self._frames.get(event["frameId"])
        if frame is None:
            return
        if event.get("reason") == "swap":  # it moves to another process
            if frame.channel is channel:
                frame.worlds.clear()
                self._remove_children(frame)
            return
        self._remove_frame(frame)

    def _handle_navigated(self, channel: TargetChannel, payload: dict[str, Any]) -> None:
        parent = self._frames.get(payload.get("parentId", ""))
        known = self._frames.get(payload["id"])
        frame = self._ensure_frame(channel, payload["id"], parent or (known.parent if known else None))
        if frame is not None:
            self._remove_children(frame)
            self._update_frame(frame, payload)
            for watcher in self._watchers:
                watcher(frame.url)

    def _handle_url_change(self, event: dict[str, Any]) -> None:
        if frame := self._frames.get(event["frameId"]):
            frame.url = event["url"]

    def _remove_children(self, frame: Frame) -> None:
        for child in self.list_children(frame):
            self._remove_frame(child)

    def _remove_frame(self, frame: Frame) -> None:
        self._remove_children(frame)
        frame.detached = True
        frame.worlds.clear()
        self._frames.pop(frame.id, None)

    def _handle_context_created(self, channel: TargetChannel, context: dict[str, Any]) -> None:
        owner = context.get("auxData", {})
        frame = self._frames.get(owner.get("frameId", ""))
        if frame is not None and frame.channel is channel:
            frame.worlds[MAIN_WORLD if owner.get("isDefault") else context["name"]] = context["id"]

    def _forget_worlds(self, channel: TargetChannel, destroyed: int | None = None) -> None:
        """Forget one execution context of a channel; all of them without one."""
        for frame in self._frames.values():
            if frame.channel is channel:
                for name in [name for name, context in frame.worlds.items() if destroyed in (None, context)]:
                    del frame.worlds[name]
