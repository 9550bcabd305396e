"""Browser tools that act on the page: click, type, choose, scroll, wait."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from outrider.browser.protocol.keys import parse_modifiers
from outrider.browser.session.browsers import Browsers
from outrider.core.context import Call
from outrider.core.errors import InvalidInput
from outrider.core.result import Result
from outrider.toolsets.browser.results import (
    Selector,
    build_action_data,
    build_action_result,
    escape_line,
    translate_errors,
    use_page,
)
from outrider.toolsets.browser.sessions import browser
from outrider.toolsets.options import ToolOptions
from outrider.toolsets.parameters import UpToSecond

MAX_WAIT_S = 60  # of waitFor


@browser.tool(effect="act", stake="low", title="Click", open_world=True, untrusted=True, timeout=60)
async def clickElement(
    browsers: Browsers,
    tool_options: ToolOptions,
    call: Call,
    /,
    sessionId: str,
    selector: Selector,
    within: Annotated[str | None, Field(description="Text of its row or card")] = None,
    button: Literal["left", "right", "middle"] = "left",
    clicks: Annotated[int, Field(ge=1, le=3)] = 1,
    at: Annotated[list[float] | None, Field(description="[x, y] px from its corner")] = None,
    modifiers: Annotated[list[str] | None, Field(description="e.g. Shift")] = None,
    holdMs: int = 0,
    settle: Annotated[bool, Field(description="Wait for its effects")] = True,
) -> Result:
    """Click an element; fails if something covers it."""
    if at is not None and len(at) != 2:
        raise InvalidInput("at: needs two numbers", hint="send [x, y], pixels from the element's top left corner")
    point = (at[0], at[1]) if at else None
    async with use_page(browsers, call, sessionId, selector) as active:
        outcome = await active.tools.pointer.click(
            selector,
            button=button,
            count=clicks,
            modifiers=parse_modifiers(modifiers or ()),
            at=point,
            hold_s=limit_hold(holdMs),
            within=(within or "").strip(),
            settle="auto" if settle else "none",
        )
        return build_action_data(tool_options, active.session, outcome, selector)


@browser.tool(
    effect="act", stake="low", title="Type", open_world=True, untrusted=True, timeout=120, private=frozenset({"text"})
)
async def inputText(
    browsers: Browsers,
    tool_options: ToolOptions,
    call: Call,
    /,
    sessionId: str,
    selector: Selector,
    text: str,
    mode: Literal["replace", "append"] = "replace",
    submit: bool = False,
    delayMs: UpToSecond = 0,
) -> Result:
    """Type into a field or editor; `submit` presses Enter."""
    append = mode == "append"
    async with use_page(browsers, call, sessionId, selector) as active:
        outcome = await active.tools.forms.type(selector, text, append=append, submit=submit, delay=delayMs / 1_000)
        return build_action_data(tool_options, active.session, outcome, selector)


@browser.tool(effect="act", stake="low", title="Choose", open_world=True, untrusted=True, timeout=60)
async def selectOption(
    browsers: Browsers,
    tool_options: ToolOptions,
    call: Call,
    /,
    sessionId: str,
    selector: Selector,
    options: Annotated[list[str] | None, Field(description="Labels or values")] = None,
    checked: bool | None = None,
) -> Result:
    """Choose `options` of a <select>, or set a check box, radio button or switch to `checked`."""
    async with use_page(browsers, call, sessionId, selector) as active:
        if options is not None:
            outcome = await active.tools.forms.select(selector, *options)
        elif checked is not None:
            outcome = await active.tools.forms.check(selector, checked=checked)
        else:
            raise InvalidInput("options: is required, or checked", hint="give the labels to choose, or checked")
        return build_action_result(tool_options, active.session, outcome, selector)


@browser.tool(effect="act", stake="low", title="Press keys", open_world=True, untrusted=True, timeout=60)
async def pressKey(
    browsers: Browsers,
    tool_options: ToolOptions,
    call: Call,
    /,
    sessionId: str,
    key: Annotated[str, Field(description="e.g. Enter, Control+a")],
    action: Literal["press", "down", "up"] = "press",
) -> Result:
    """Press a key or chord where the focus is, or only hold or release it."""
    async with use_page(browsers, call, sessionId) as active:
        return build_action_result(tool_options, active.session, await active.tools.pointer.press_keys(key, action))


@browser.tool(effect="act", stake="low", title="Hover", open_world=True, untrusted=True, timeout=60)
async def hoverElement(
    browsers: Browsers, tool_options: ToolOptions, call: Call, /, sessionId: str, selector: str
) -> Result:
    """Move the pointer onto an element."""
    async with use_page(browsers, call, sessionId, selector) as active:
        outcome = await active.tools.pointer.hover(selector)
        return build_action_result(tool_options, active.session, outcome, selector)


@browser.tool(effect="act", stake="low", title="Drag", open_world=True, untrusted=True, timeout=60)
async def dragElement(
    browsers: Browsers, tool_options: ToolOptions, call: Call, /, sessionId: str, selector: str, to: str
) -> Result:
    """Drag one element onto another."""
    async with use_page(browsers, call, sessionId, selector) as active:
        return build_action_result(tool_options, active.session, await active.tools.pointer.drag(selector, to))


@browser.tool(effect="act", stake="low", title="Upload files", open_world=True, untrusted=True, timeout=60)
async def uploadFiles(
    browsers: Browsers,
    tool_options: ToolOptions,
    call: Call,
    /,
    sessionId: str,
    selector: str,
    paths: list[str],
) -> Result:
    """Give workspace files to a file field, or to a control that opens a file chooser."""
    async with use_page(browsers, call, sessionId, selector) as active:
        files = await active.session.stage_uploads(paths)
        return build_action_result(tool_options, active.session, await active.tools.forms.upload(selector, *files))


@browser.tool(effect="act", stake="low", title="Answer a dialog", open_world=True, untrusted=True, timeout=30)
async def answerDialog(
    browsers: Browsers,
    call: Call,
    /,
    sessionId: str,
    accept: bool,
    text: Annotated[str | None, Field(description="For prompt()")] = None,
) -> str:
    """Answer the open or the next dialog (default: dismiss)."""
    async with translate_errors():
        session = browsers.get_session(call.session, sessionId)
        await session.control.gate.wait_until_open()
        action = "accepted" if accept else "dismissed"
        if session.dialogs.unanswered is None:
            session.dialogs.preset_answer(accept=accept, text=text)
            session.actions.add("dialog", {"accept": accept, "next": True} | ({"text": text} if text else {}))
            return f"The next confirm or prompt will be {action}."
        dialog = await session.dialogs.answer(accept=accept, text=text)
        session.actions.add("dialog", {"accept": accept} | ({"text": text} if text else {}))
    return f"The {dialog.kind} {escape_line(dialog.message)!r} was {action}."


@browser.tool(effect="write", title="Scroll", open_world=True, untrusted=True, timeout=60)
async def scrollPage(
    browsers: Browsers,
    tool_options: ToolOptions,
    call: Call,
    /,
    sessionId: str,
    direction: Literal["up", "down", "left", "right"],
    amount: Annotated[float, Field(description="Pixels")] = 500,
    selector: Annotated[str | None, Field(description="Element to scroll")] = None,
) -> Result:
    """Scroll the page or an element in it."""
    from outrider.browser.actions.scroll import scroll_page

    async with use_page(browsers, call, sessionId, selector or None) as active:
        position, outcome = await scroll_page(active.tools, direction, amount, selector or "")
        ends = [name for name in ("top", "bottom") if position[f"at{name.capitalize()}"]]
        outcome.note = f"x={position['x']} y={position['y']} of {position['scrollWidth']}×{position['scrollHeight']}"
        outcome.note += f", at the {' and the '.join(ends)}" if ends else ""
        handled = position.pop("handled")
        outcome.note += (
            "; the page handled the wheel itself" if handled else "" if position["moved"] else "; nothing moved"
        )
        result = build_action_data(tool_options, active.session, outcome, selector or "")
        data = {name: result.data[name] for name in ("ok", "url", "changes", "notes") if name in result.data}
        return Result(result.content, data=data | {"position": position})


@browser.tool(title="Wait", open_world=True, untrusted=True, timeout=MAX_WAIT_S + 30)
async def waitFor(
    browsers: Browsers,
    tool_options: ToolOptions,
    call: Call,
    /,
    sessionId: str,
    text: str | None = None,
    selector: str | None = None,
    url: Annotated[str | None, Field(description="Part of the address")] = None,
    gone: Annotated[bool, Field(description="Until it disappears")] = False,
    seconds: Annotated[float, Field(le=MAX_WAIT_S)] = 10,
) -> Result:
    """Wait until something appears on the page, or just wait."""
    from outrider.browser.actions.wait import WaitCondition, wait_for

    async with use_page(browsers, call, sessionId, selector or None) as active:
        conditions = [(value or "").strip() for value in (text, selector, url)]
        outcome = await wait_for(active.tools, WaitCondition(*conditions, gone=gone), seconds)
        return build_action_result(tool_options, active.session, outcome)


def limit_hold(milliseconds: int) -> float:
    """Return the seconds that a button is held, at most five."""
    max_hold_ms = 5_000
    return min(max(milliseconds, 0), max_hold_ms) / 1_000


def list_points(points: Any) -> Any:
    """Return one point `[x, y]` as a list of points."""
    is_point = isinstance(points, list) and points and all(isinstance(each, int | float) for each in points)
    return [points] if is_point else points


def read_times(action: str, points: list[list[float]]) -> tuple[float, ...]:
    """Return the seconds for the way to each point; empty if none is given. Raises InvalidInput."""
    max_total_ms = 20_000
    times = [point[2] if len(point) > 2 else 0.0 for point in points]
    if not any(times):
        return ()
    if action in ("click", "wheel"):
        raise InvalidInput(f"points: {action} takes no milliseconds", hint="send [[x, y], …]; move there before")
    if min(times) < 0 or sum(times) > max_total_ms:
        message = "points: all moves together take 0 to 20,000 ms"
        raise InvalidInput(message, hint="send shorter times, or several calls")
    return tuple(each / 1_000 for each in times)


PointList = Annotated[list[list[float]], BeforeValidator(list_points)]


@browser.tool(effect="act", stake="low", title="Mouse", open_world=True, untrusted=True, timeout=60)
async def useMouse(
    browsers: Browsers,
    tool_options: ToolOptions,
    call: Call,
    /,
    sessionId: str,
    action: Literal["click", "drag", "move", "down", "up", "wheel"],
    points: Annotated[PointList, Field(description="[[x, y], …] px; [x, y, ms] moves slowly")],
    selector: Annotated[str | None, Field(description="Points are relative to its corner")] = None,
    button: Literal["left", "right", "middle"] = "left",
    clicks: Annotated[int, Field(ge=1, le=3)] = 1,
    holdMs: int = 0,
    wheel: Annotated[list[float] | None, Field(description="[right, down], px")] = None,
) -> Result:
    """Use the mouse at points of the viewport or along a path."""
    from outrider.browser.actions.mouse import MouseGesture, use_mouse

    if any(len(point) not in (2, 3) for point in points) or len(wheel or [0, 0]) != 2:
        hint = "send [[x, y], …] or [[x, y, ms], …], and wheel as [right, down]"
        raise InvalidInput("points: each needs two or three numbers", hint=hint)
    if action == "wheel" and not any(wheel or []):
        raise InvalidInput("wheel: is required", hint="send [right, down] in pixels, e.g. [0, 300]")
    delta = (wheel[0], wheel[1]) if wheel else (0.0, 0.0)
    places = [(point[0], point[1]) for point in points]
    times = read_times(action, points)
    gesture = MouseGesture(action, places, button, clicks, hold_s=limit_hold(holdMs), delta=delta, times_s=times)
    async with use_page(browsers, call, sessionId, selector or None) as active:
        outcome = await use_mouse(active.tools.pointer, gesture, selector or "")
        return build_action_result(tool_options, active.session, outcome)
