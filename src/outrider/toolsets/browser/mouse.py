"""The browser tool that uses the mouse at points."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from outrider.browser.session.browsers import Browsers
from outrider.core.context import Call
from outrider.core.errors import InvalidInput
from outrider.core.result import Result
from outrider.toolsets.browser.results import build_action_result, use_page
from outrider.toolsets.browser.sessions import browser
from outrider.toolsets.options import ToolOptions


def limit_hold(milliseconds: int) -> float:
    """Return the seconds that a button is held, at most five."""
    max_hold_ms = 5_000
    return min(max(milliseconds, 0), max_hold_ms) / 1_000


def list_points(points: Any) -> Any:
    """Return one point `[x, y]` as a list of points."""
    is_point = isinstance(points, list) and points and all(isinstance(each, int | float) for each in points)
    return [points] if is_point else points


def read_times(action: str, points: list[list[float]]) -> tuple[float, ...]:
    """Return the seconds of the way to each point; empty if none is given. Raises InvalidInput."""
    max_total_ms = 20_000
    times = [point[2] if len(point) > 2 else 0.0 for point in points]
    if not any(times):
        return ()
    if action in ("click", "wheel"):
        raise InvalidInput(f"points: {action} takes no milliseconds", hint="send [[x, y], …]; move there before")
    if min(times) < 0 or sum(times) > max_total_ms:
        raise InvalidInput("points: the ways take 0 to 20000 ms together", hint="send shorter times, or several calls")
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
    selector: Annotated[str | None, Field(description="Points count from its corner")] = None,
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
