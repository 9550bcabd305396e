"""What the holder does to a session besides mouse and keys: history, tabs, dialogs."""

from collections.abc import Awaitable, Callable
from typing import Any

from outrider.browser import Session
from outrider.browser.control import Ack
from outrider.core.errors import OutriderError


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


WAYS: dict[str, Callable[[Session, dict[str, Any]], Awaitable[None]]] = {
    "back": _back, "forward": _forward, "reload": _reload, "goto": _goto, "tab": _tab, "dialog": _dialog,
}  # fmt: skip


async def steer(session: Session, who: str, data: object) -> Ack:
    """Does one of `WAYS` for the holder: `{do: "goto", url}`, `{do: "tab", tab}`, `{do: "dialog", accept, text}`.

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
