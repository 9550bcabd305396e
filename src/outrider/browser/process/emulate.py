"""Emulate viewport, language, time zone and user agent of pages."""

import re
from asyncio import Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from outrider.browser.protocol.cdp import ProtocolError, TargetChannel
from outrider.core.errors import InvalidInput

LOCALE_PATTERN = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*")
TIMEZONE_PATTERN = re.compile(r"[A-Za-z0-9_+-]+(/[A-Za-z0-9_+-]+){0,2}")


@dataclass(frozen=True)
class Emulation:
    """Emulation settings of a session's pages.

    Attributes:
        size: Width and height of the viewport in CSS pixels.
        locale: For instance `de-AT`; empty for the browser's.
        timezone: For instance `Europe/Vienna`; empty for the system's.
        user_agent: The user agent string; empty for the browser's own.
        version: The browser's version, for the client hints that go with the user agent.
        scale: Device pixels per CSS pixel.
        mobile: Pages are laid out as on a phone, and get touches.
        window: Pages follow the size of their window, which a person may resize; `size` is the initial one.
    """

    size: tuple[int, int] = (1200, 800)
    locale: str = ""
    timezone: str = ""
    user_agent: str = ""
    version: str = ""
    scale: float = 1.0
    mobile: bool = False
    window: bool = False

    def validate(self) -> None:
        """Raise InvalidInput that names the field with an impossible value."""
        if not all(50 <= length <= 10_000 for length in self.size):
            raise InvalidInput("viewport: width and height must be 50 to 10,000 pixels", hint="for instance 1200x800")
        if self.locale and not LOCALE_PATTERN.fullmatch(self.locale):
            raise InvalidInput(f"locale: {self.locale!r} is not a locale", hint="for instance de-AT")
        if self.timezone and not _is_known_timezone(self.timezone):
            raise InvalidInput(f"timezone: {self.timezone!r} is not a time zone", hint="for instance Europe/Vienna")

    def set_up_channel(self, channel: TargetChannel, *, is_page: bool) -> list[Future[dict[str, Any]]]:
        """Send the settings to a channel; `is_page` is False for a cross-origin frame."""
        if self.timezone:  # refused if another page of the same process has already set it
            channel.send_and_forget("Emulation.setTimezoneOverride", {"timezoneId": self.timezone})
        if self.locale:
            channel.send_and_forget("Emulation.setLocaleOverride", {"locale": self.locale.replace("-", "_")})
        if self.user_agent or self.locale:
            params: dict[str, Any] = {"userAgent": self.user_agent}
            if self.locale:
                language = self.locale.partition("-")[0]
                params["acceptLanguage"] = self.locale if language == self.locale else f"{self.locale},{language}"
            if "Chrome/" in self.user_agent:
                params["userAgentMetadata"] = _build_client_hints(self.user_agent, self.version, mobile=self.mobile)
            channel.send_and_forget("Emulation.setUserAgentOverride", params)
        if not is_page:
            return []
        channel.send_and_forget("Emulation.setFocusEmulationEnabled", {"enabled": True})
        if self.window:
            return []
        width, height = self.size
        metrics = {"width": width, "height": height, "deviceScaleFactor": self.scale, "mobile": self.mobile}
        touch = [channel.send("Emulation.setTouchEmulationEnabled", {"enabled": True})] if self.mobile else []
        return [channel.send("Emulation.setDeviceMetricsOverride", metrics), *touch]

    def replace_on_channel(self, channel: TargetChannel, *, is_page: bool) -> list[Future[dict[str, Any]]]:
        """Send the settings to a channel that has had others."""
        for method in ("Emulation.setTimezoneOverride", "Emulation.setLocaleOverride"):
            channel.send_and_forget(method, {"timezoneId": ""} if "Timezone" in method else {})
        if not self.user_agent:
            channel.send_and_forget("Emulation.setUserAgentOverride", {"userAgent": ""})
        if is_page and not self.window:
            channel.send_and_forget("Emulation.setTouchEmulationEnabled", {"enabled": False})
        return self.set_up_channel(channel, is_page=is_page)


async def fit_window(channel: TargetChannel, size: tuple[int, int]) -> None:
    """Resize the window to give a page its size, if supported."""
    with suppress(ProtocolError):
        window = (await channel.send("Browser.getWindowForTarget"))["windowId"]
        await channel.send("Browser.setContentsSize", {"windowId": window, "width": size[0], "height": size[1]})


def strip_headless_marker(user_agent: str) -> str:
    """Return the user agent without the marker of headless mode."""
    return user_agent.replace("HeadlessChrome/", "Chrome/")


def _build_client_hints(user_agent: str, version: str, *, mobile: bool) -> dict[str, Any]:
    """Build the client hints that match the user agent (https://wicg.github.io/ua-client-hints/)."""
    major = re.search(r"Chrome/(\d+)", user_agent)
    number = major.group(1) if major else "0"
    system = (
        "Android"
        if "Android" in user_agent
        else "Windows"
        if "Windows" in user_agent
        else "macOS"
        if "Mac OS X" in user_agent
        else "Linux"
    )
    brands = [{"brand": "Chromium", "version": number}, {"brand": "Not=A?Brand", "version": "24"}]
    full = [{"brand": "Chromium", "version": version.partition("/")[2] or number}]
    return {
        "brands": brands,
        "fullVersionList": full,
        "platform": system,
        "platformVersion": "",
        "architecture": "" if mobile else "x86",
        "model": "",
        "mobile": mobile,
    }


def _is_known_timezone(name: str) -> bool:
    if not TIMEZONE_PATTERN.fullmatch(name):
        return False
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return False
    return True
