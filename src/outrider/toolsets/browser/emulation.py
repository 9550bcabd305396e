"""Tools that change the environment of pages: device, conditions, and stored data of the site."""

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from outrider.browser.session.browsers import Browsers
from outrider.core.context import Call
from outrider.core.errors import InvalidInput
from outrider.core.parameter_names import OtherNames
from outrider.core.result import Result, TextBlock
from outrider.toolsets.browser.network import browser_devtools
from outrider.toolsets.browser.results import escape_line, take_notes, translate_errors, use_page
from outrider.toolsets.browser.sessions import parse_viewport
from outrider.toolsets.options import ToolOptions

if TYPE_CHECKING:
    from outrider.browser.devtools.conditions import Conditions
    from outrider.browser.session.session import Session


@browser_devtools.tool(effect="write", title="Emulate", private=frozenset({"headers"}))
async def emulateDevice(
    browsers: Browsers,
    call: Call,
    /,
    sessionId: str,
    device: Literal["iphone", "ipad", "pixel", "galaxy", "laptop", "desktop"] | None = None,
    viewport: Annotated[str | None, Field(description="e.g. 390x844")] = None,
    locale: str | None = None,
    timezone: str | None = None,
    userAgent: Annotated[str | None, Field(max_length=500, pattern=r"^[^\r\n]*$")] = None,
    geolocation: Annotated[str | None, Field(description="latitude,longitude")] = None,
    colorScheme: Literal["light", "dark"] | None = None,
    reducedMotion: bool | None = None,
    network: Literal["online", "offline", "slow-3g", "fast-3g", "4g"] | None = None,
    cpuSlowdown: Annotated[float | None, Field(ge=1, le=20)] = None,
    permissions: Annotated[
        list[Literal["geolocation", "notifications", "sensors", "idle-detection", "persistent-storage"]] | None,
        Field(description="All to grant"),
    ] = None,
    headers: Annotated[dict[str, str] | None, Field(description="Sent to every site")] = None,
    reset: Annotated[bool, Field(description="First undo all emulation")] = False,
) -> Result:
    """Emulate a device or conditions until reset; omitted settings stay. Without arguments: show the emulation."""
    async with translate_errors():
        session = browsers.get_session(call.session, sessionId)
        fields = _build_emulation_fields(session, device, viewport, locale, timezone, userAgent)
        changes = {
            "geolocation": _parse_geolocation(geolocation) if geolocation is not None else None,
            "color_scheme": colorScheme,
            "reduced_motion": reducedMotion,
            "network": network,
            "cpu_slowdown": cpuSlowdown,
            "permissions": tuple(permissions) if permissions is not None else None,
            "headers": headers,
        }
        changes = {name: value for name, value in changes.items() if value is not None}
        if reset or fields or changes:
            conditions = _update_conditions(session, changes, reset=reset)
            await session.change_emulation(fields, conditions, reset=reset)
    return Result((TextBlock("\n".join([_describe_emulation(session), *take_notes(session)])),))


@browser_devtools.tool(effect="write", title="Site storage", untrusted=True, private=frozenset({"value"}))
async def manageStorage(
    browsers: Browsers,
    options: ToolOptions,
    call: Call,
    /,
    sessionId: str,
    area: Literal["cookies", "localStorage", "sessionStorage"] = "cookies",
    action: Literal["list", "set", "delete", "clear"] = "list",
    name: Annotated[str, Field(max_length=1_000), OtherNames(("key",))] = "",
    value: Annotated[str, Field(max_length=100_000)] = "",
    maxAgeSeconds: Annotated[int | None, Field(ge=0, description="For cookies")] = None,
) -> Result:
    """List, set or remove cookies or storage of the page's site; credentials are not shown."""
    from outrider.browser.devtools.site_storage import list_items, remove_items, set_item

    if action in ("set", "delete") and not name:
        raise InvalidInput(f"name: is required for action={action}", hint="action=list shows the names")
    async with use_page(browsers, call, sessionId) as active:
        page = active.tools.page
        head = ""
        if action == "set":
            await set_item(page, area, name, value, maxAgeSeconds)
        elif action != "list":
            head = f"Removed {await remove_items(page, area, name if action == 'delete' else '')}. "
        items = await list_items(page, area)
        url = page.url
    lines = [
        escape_line(f"{item.name}={item.value[:200]} ({item.size} characters{', ' if item.facts else ''}{item.facts})")
        for item in items[:200]
    ]
    head += f"{len(items)} {area}" + (", the first 200" if len(items) > len(lines) else "")
    text = f"{head}\n{options.mark_untrusted(chr(10).join(lines), url)}" if lines else head
    return Result((TextBlock(text),))


def _build_emulation_fields(
    session: "Session",
    device: Any,
    viewport: str | None,
    locale: str | None,
    timezone: str | None,
    user_agent: str | None,
) -> dict[str, Any]:
    """Return the fields of the session's `Emulation` that change. Raises InvalidInput."""
    from outrider.browser.devtools.devices import DEVICES

    if (device or viewport) and session.emulation.window:
        field, hint = "device" if device else "viewport", "open a session with headless=true"
        raise InvalidInput(f"{field}: this session has a window, whose size its pages follow", hint=hint)
    fields = DEVICES[device].build_emulation(session.own_user_agent) if device else {}
    texts = {"locale": locale, "timezone": timezone, "user_agent": user_agent}
    fields |= {"size": parse_viewport(viewport)} if viewport else {}
    return fields | {name: text for name, text in texts.items() if text is not None}


def _update_conditions(session: "Session", changes: dict[str, Any], *, reset: bool) -> "Conditions":
    from outrider.browser.devtools.conditions import Conditions

    conditions = replace(Conditions() if reset else session.conditions, **changes)
    if conditions.geolocation and "geolocation" not in conditions.permissions:  # pages need it
        conditions = replace(conditions, permissions=(*conditions.permissions, "geolocation"))
    conditions.validate()
    return conditions


def _parse_geolocation(text: str) -> tuple[float, float]:
    try:
        latitude, longitude = map(float, text.split(","))
    except ValueError:
        hint = "latitude,longitude in degrees, for instance 48.21,16.37"
        raise InvalidInput(f"geolocation: {text[:60]!r} is not a place", hint=hint) from None
    return latitude, longitude


def _describe_emulation(session: "Session") -> str:
    emulation = session.emulation
    width, height = emulation.size
    screen = f"viewport {width}x{height}, device pixel ratio {emulation.scale:g}"
    facts = ["size of the window" if emulation.window else screen]
    facts += ["mobile with touch"] if emulation.mobile else []
    facts += [f"locale {emulation.locale}"] if emulation.locale else []
    facts += [f"time zone {emulation.timezone}"] if emulation.timezone else []
    facts += [f"user agent {emulation.user_agent}"] if emulation.user_agent != session.own_user_agent else []
    return "Emulated: " + "; ".join([*facts, *session.conditions.list_facts()])
