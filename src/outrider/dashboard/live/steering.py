"""What the holder does to a session besides mouse and keys: history, tabs, dialogs."""

from collections.abc import Awaitable, Callable
from typing import Any

from outrider.browser import Session
from outrider.browser.control import Ack
from outrider.browser.control_choice import choose
from outrider.browser.control_input import Rejected, read_input
from outrider.core.errors import InvalidInput, OutriderError


async def _back(session: Session, _: dict[str, Any]) -> None:
    await session.back(gated=False)


async def _forward(session: Session, _: dict[str, Any]) -> None:
    await session.forward(gated=False)


async def _reload(session: Session, _: dict[str, Any]) -> None:
    await session.reload(gated=False)


async def _goto(session: Session, data: dict[str, Any]) -> None:
    await session.goto(str(data.get("url", ""))[:8_000], gated=False)


async def _tab(session: Session, data: dict[str, Any]) -> None:
    number = data.get("tab")
    await session.switch(number if isinstance(number, int) else 0, gated=False)


async def _dialog(session: Session, data: dict[str, Any]) -> None:
    text = data.get("text")
    await session.dialogs.answer(accept=data.get("accept") is True, text=text if isinstance(text, str) else None)


async def _choose(session: Session, data: dict[str, Any]) -> None:
    page, index = session.tabs.lively, data.get("index")
    try:
        at = read_input("move", {name: data.get(name) for name in ("x", "y")})
    except Rejected as rejected:
        raise InvalidInput("x, y: no point of the page", code=rejected.code) from None
    if page is None or not isinstance(index, int):
        raise InvalidInput("index: say which option", code="invalid_payload")
    await choose(page, at.x, at.y, index)


WAYS: dict[str, Callable[[Session, dict[str, Any]], Awaitable[None]]] = {
    "back": _back, "forward": _forward, "reload": _reload, "goto": _goto, "tab": _tab, "dialog": _dialog,
    "choose": _choose,
}  # fmt: skip


async def steer(session: Session, who: str, data: object) -> Ack:
    """Does one of `WAYS` for the holder: `{do: "goto", url}`, `{do: "tab", tab}`, `{do: "dialog", accept, text}`,
    `{do: "choose", x, y, index}`.

    Refused as an input is, besides with the words of the error: an address that may not be reached, for instance.
    """
    if session.control.holder != who:
        return Ack("not_holder")
    if not session.control.paused:
        return Ack("not_paused")
    if not isinstance(data, dict) or data.get("do") not in WAYS:
        return Ack("invalid_payload")
    try:
        await WAYS[data["do"]](session, data)
    except OutriderError as error:
        return Ack(error.code, message=str(error))
    return Ack()
