"""One page (a tab): its frames, its scripts, and trusted input."""

import asyncio
from typing import Any, Literal

from outrider.browser.cdp import DEADLINE, Channel
from outrider.browser.frames import MAIN, Frame, Frames
from outrider.browser.keys import MODIFIERS, read_chord
from outrider.browser.values import Handle
from outrider.core.errors import Unavailable

Button = Literal["left", "right", "middle", "back", "forward", "none"]
MouseKind = Literal["move", "down", "up", "click", "wheel"]
BUTTONS = {"none": 0, "left": 1, "right": 2, "middle": 4, "back": 8, "forward": 16}
INPUT_SECONDS = 10.0


class Page:
    """A page, attached and ready.

    Attributes:
        target_id: The browser's name of it.
        channel: The conversation with it.
        frames: All its frames; `frames.main` is the page itself.
    """

    def __init__(self, target_id: str, channel: Channel) -> None:
        self.target_id = target_id
        self.channel = channel
        self.frames = Frames()
        self._scripts: list[tuple[str, str]] = []

    async def attach(self) -> None:
        """Takes the page over: its frames, its worlds, and what it is still to load."""
        await self._adopt(self.channel, None)

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
        self, method: str, params: dict[str, Any] | None = None, *, timeout: float = DEADLINE
    ) -> asyncio.Future[dict[str, Any]]:
        """A protocol command to the page's own target, sent at once; await it for the answer."""
        return self.channel.send(method, params, timeout=timeout)

    async def evaluate_in(
        self,
        world: str,
        function: str,
        *args: object,
        frame: Frame | None = None,
        timeout: float = DEADLINE,  # noqa: ASYNC109
    ) -> Any:
        """What a function returns in a world of the page (or of one of its frames): see `Frame.evaluate`."""
        return await (frame or self.main).evaluate(world, function, *args, timeout=timeout)

    async def handle_in(
        self,
        world: str,
        function: str,
        *args: object,
        frame: Frame | None = None,
        timeout: float = DEADLINE,  # noqa: ASYNC109
    ) -> Handle:
        """As `evaluate_in`, but the object stays in the page: see `Frame.handle`."""
        return await (frame or self.main).handle(world, function, *args, timeout=timeout)

    async def install(self, world: str, source: str) -> None:
        """Runs a script in a world of every frame: now, and first thing in every document to come.

        The script's result is dropped; what it leaves in `globalThis` is there for `evaluate_in`.
        """
        self._scripts.append((world, source))
        channels = {frame.channel.session_id: frame.channel for frame in self.frames}.values()
        for channel in channels:
            await channel.send("Page.addScriptToEvaluateOnNewDocument", {"source": source, "worldName": world})
        run = f"() => {{ {source}\n }}"
        await asyncio.gather(*(frame.evaluate(world, run) for frame in self.frames), return_exceptions=True)

    async def mouse(
        self,
        kind: MouseKind,
        x: float,
        y: float,
        *,
        button: Button = "left",
        count: int = 1,
        modifiers: tuple[str, ...] = (),
        held: tuple[Button, ...] = (),
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
        where = {"x": x, "y": y, "modifiers": sum(MODIFIERS[each] for each in modifiers)}
        if kind == "move":
            pressed = {"button": held[0] if held else "none", "buttons": sum(BUTTONS[each] for each in held)}
            await self._mouse(where | pressed, "mouseMoved")
        elif kind == "wheel":
            await self._mouse(where | {"deltaX": delta[0], "deltaY": delta[1]}, "mouseWheel")
        elif kind == "click":
            await self._click(where, button, count)
        else:
            buttons = BUTTONS[button] if kind == "down" else 0
            pressed = {"button": button, "clickCount": count, "buttons": buttons}
            await self._mouse(where | pressed, "mousePressed" if kind == "down" else "mouseReleased")

    async def _click(self, where: dict[str, Any], button: Button, count: int) -> None:
        """All events at once: the browser keeps their order, and one answer is waited for instead of three."""
        sent = [self._mouse(where, "mouseMoved")]
        for number in range(1, count + 1):
            pressed = where | {"button": button, "clickCount": number}
            sent.append(self._mouse(pressed | {"buttons": BUTTONS[button]}, "mousePressed"))
            sent.append(self._mouse(pressed | {"buttons": 0}, "mouseReleased"))
        await asyncio.gather(*sent)

    def _mouse(self, params: dict[str, Any], kind: str) -> asyncio.Future[dict[str, Any]]:
        return self.send("Input.dispatchMouseEvent", params | {"type": kind}, timeout=INPUT_SECONDS)

    async def key(self, chord: str, kind: Literal["press", "down", "up"] = "press") -> None:
        """Trusted keys: `Enter`, `a`, `Control+a`, `Shift+ArrowDown`. Raises InvalidInput."""
        held, last = read_chord(chord)
        bits, sent = 0, []
        for each in held:
            bits |= MODIFIERS[each.name]
            sent += [self._key(each.event("down", bits))] if kind != "up" else []
        bits |= MODIFIERS.get(last.name, 0) if kind != "up" else 0
        sent += [self._key(last.event("down", bits))] if kind != "up" else []
        bits &= ~MODIFIERS.get(last.name, 0)
        sent += [self._key(last.event("up", bits))] if kind != "down" else []
        for each in reversed(held):
            bits &= ~MODIFIERS[each.name]
            sent += [self._key(each.event("up", bits))] if kind != "down" else []
        await asyncio.gather(*sent)

    def _key(self, params: dict[str, Any]) -> asyncio.Future[dict[str, Any]]:
        return self.send("Input.dispatchKeyEvent", params, timeout=INPUT_SECONDS)

    async def insert_text(self, text: str) -> None:
        """Types a text into what has the focus as one input event, as an input method would."""
        await self.send("Input.insertText", {"text": text}, timeout=INPUT_SECONDS)

    async def offset(self, frame: Frame) -> tuple[float, float]:
        """Where a frame's own (0, 0) lies in the page's viewport, in CSS pixels."""
        x, y = 0.0, 0.0
        while frame.parent is not None:
            owner = await frame.parent.channel.send("DOM.getFrameOwner", {"frameId": frame.id})
            box = await frame.parent.channel.send("DOM.getBoxModel", {"backendNodeId": owner["backendNodeId"]})
            x, y = x + box["model"]["content"][0], y + box["model"]["content"][1]
            frame = _root_of_process(frame.parent)
        return x, y

    async def owner(self, frame: Frame, world: str = MAIN) -> Handle:
        """The element in the parent frame that shows a frame, in a world of the parent."""
        assert frame.parent is not None, "the page itself has no owner"
        channel = frame.parent.channel
        owner = await channel.send("DOM.getFrameOwner", {"frameId": frame.id})
        context = await frame.parent.context(world)
        answer = await channel.send(
            "DOM.resolveNode", {"backendNodeId": owner["backendNodeId"], "executionContextId": context}
        )
        return Handle(answer["object"]["objectId"], "node")

    async def _adopt(self, channel: Channel, parent: Frame | None) -> None:
        """Sets up the page's target, or that of a cross-origin frame, all in one breath, and lets it run."""
        self.frames.follow(channel)
        channel.on("Target.attachedToTarget", lambda event: self._attached(channel, event))
        channel.on("Target.detachedFromTarget", self._detached)
        sent = [
            channel.send("Page.enable"),
            channel.send("Page.getFrameTree"),
            channel.send("Target.setAutoAttach", {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True}),
            *(
                channel.send("Page.addScriptToEvaluateOnNewDocument", {"source": source, "worldName": world})
                for world, source in self._scripts
            ),
        ]
        tree = (await sent[1])["frameTree"]
        self.frames.take(channel, tree, parent)
        sent.append(channel.send("Runtime.enable"))
        sent.append(channel.send("Runtime.runIfWaitingForDebugger"))
        await asyncio.gather(*sent)

    def _attached(self, parent: Channel, event: dict[str, Any]) -> None:
        """A frame or worker below: each waits until it is told to go on."""
        channel = parent.connection.channel(event["sessionId"])
        info = event["targetInfo"]
        if info["type"] == "iframe":
            around = self.frames.get(info["targetId"])
            parent.connection.spawn(self._adopt(channel, around.parent if around else None), "a cross-origin frame")
            return
        channel.tell("Runtime.runIfWaitingForDebugger")
        channel.tell("Target.setAutoAttach", {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": True})

    def _detached(self, event: dict[str, Any]) -> None:
        channel = self.channel.connection.channel(event["sessionId"])
        self.frames.lose(channel)
        self.channel.connection.drop(event["sessionId"], "the frame has been closed")


def _root_of_process(frame: Frame) -> Frame:
    while not frame.is_root_of_process and frame.parent is not None:
        frame = frame.parent
    return frame
