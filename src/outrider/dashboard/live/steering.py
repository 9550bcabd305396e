"""Commands of the controlling viewer: history, tabs, dialogs."""

from collections.abc import Awaitable, Callable
from typing import Any

from outrider.browser.live.control import Ack
from outrider.browser.live.control_choice import choose_option
from outrider.browser.live.control_input import InputRejected, parse_input
from outrider.browser.session.session import Session
from outrider.core.errors import InvalidInput, OutriderError


async def _switch_tab(session: Session, data: dict[str, Any]) -> None:
    number = data.get("tab")
    await session.switch_tab(number if isinstance(number, int) else 0, gated=False)


async def _answer_dialog(session: Session, data: dict[str, Any]) -> None:
    text = data.get("text")
    await session.dialogs.answer(accept=data.get("accept") is True, text=text if isinstance(text, str) else None)


async def _choose_option(session: Session, data: dict[str, Any]) -> None:
    page, index = session.tabs.alive_page, data.get("index")
    try:
        at = parse_input("move", {name: data.get(name) for name in ("x", "y")})
    except InputRejected as rejected:
        raise InvalidInput("x, y: not a point on the page", code=rejected.code) from None
    if page is None or not isinstance(index, int):
        raise InvalidInput("index: is required", code="invalid_payload")
    await choose_option(page, at.x, at.y, index)


STEER_COMMANDS: dict[str, Callable[[Session, dict[str, Any]], Awaitable[object]]] = {
    "back": lambda session, _: session.go_back(gated=False),
    "forward": lambda session, _: session.go_forward(gated=False),
    "reload": lambda session, _: session.reload(gated=False),
    "goto": lambda session, data: session.goto(str(data.get("url", ""))[:8_000], gated=False),
    "tab": _switch_tab,
    "dialog": _answer_dialog,
    "choose": _choose_option,
}


async def steer_session(session: Session, connection_id: str, data: object) -> Ack:
    """Run a command of the viewer.

    One of `{do: "goto", url}`, `{do: "tab", tab}`, `{do: "dialog", accept, text}`, `{do: "choose", x, y, index}`.

    It is refused in the same cases as input. Errors of the browser, such as a forbidden address, also return their
    message.
    """
    if session.control.holder != connection_id:
        return Ack("not_holder")
    if not session.control.paused:
        return Ack("not_paused")
    if not isinstance(data, dict) or data.get("do") not in STEER_COMMANDS:
        return Ack("invalid_payload")
    try:
        await STEER_COMMANDS[data["do"]](session, data)
    except OutriderError as error:
        return Ack(error.code, message=str(error))
    return Ack()
