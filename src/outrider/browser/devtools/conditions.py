"""Emulate conditions of a session's pages: network, processor, location, preferences, permissions and headers."""

import re
from asyncio import Future
from dataclasses import dataclass, field
from typing import Any, Literal

from outrider.browser.protocol.cdp import TargetChannel
from outrider.core.errors import InvalidInput

NetworkSpeed = Literal["online", "offline", "slow-3g", "fast-3g", "4g"]
PermissionName = Literal["geolocation", "notifications", "sensors", "idle-detection", "persistent-storage"]
# Latency in milliseconds, bytes a second down and up, as in Chrome's developer tools.
NETWORK_SPEEDS: dict[NetworkSpeed, tuple[float, int, int]] = {
    "online": (0, -1, -1),
    "offline": (0, 0, 0),
    "slow-3g": (2_000, 50_000, 50_000),
    "fast-3g": (562.5, 180_000, 84_375),
    "4g": (165, 1_012_500, 168_750),
}
# Camera, microphone and clipboard are left out, because they are the user's own, or shared with other sessions.
PERMISSIONS: dict[PermissionName, str] = {
    "geolocation": "geolocation",
    "notifications": "notifications",
    "sensors": "sensors",
    "idle-detection": "idleDetection",
    "persistent-storage": "durableStorage",
}
# Headers for the connection, for the egress proxy's credential, or with facts that only the browser knows.
REFUSED_HEADER_PATTERN = re.compile(
    r"(?i)(?:proxy-.*|sec-.*|host|connection|content-length|transfer-encoding|cookie|te)"
)
HEADER_NAME_PATTERN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")


@dataclass(frozen=True)
class Conditions:
    """Conditions that hold for every page of a session; the defaults are the browser's own.

    Attributes:
        geolocation: Latitude and longitude in degrees.
        cpu_slowdown: The factor by which the processor seems slower.
        headers: Sent with every request to every site.
    """

    network: NetworkSpeed = "online"
    cpu_slowdown: float = 1.0
    geolocation: tuple[float, float] | None = None
    color_scheme: Literal["", "light", "dark"] = ""
    reduced_motion: bool = False
    permissions: tuple[PermissionName, ...] = ()
    headers: dict[str, str] = field(default_factory=dict)

    def validate(self) -> None:
        """Raise InvalidInput that names the field with an impossible value."""
        if self.geolocation and not (abs(self.geolocation[0]) <= 90 and abs(self.geolocation[1]) <= 180):
            raise InvalidInput("geolocation: is not on Earth", hint="latitude,longitude in degrees: 48.21,16.37")
        for name, value in self.headers.items():
            if not HEADER_NAME_PATTERN.fullmatch(name) or REFUSED_HEADER_PATTERN.fullmatch(name):
                raise InvalidInput(f"headers: {name[:100]!r} cannot be set", hint="leave it out")
            if re.search(r"[\r\n\0]", value) or len(value) > 4_000:
                raise InvalidInput(f"headers: the value of {name} is not one line of at most 4,000 characters")

    def set_up_channel(self, channel: TargetChannel, *, is_page: bool) -> list[Future[dict[str, Any]]]:
        """Send the conditions to a new channel; `is_page` is False for a cross-origin frame."""
        return [] if self == Conditions() else self.apply_to_channel(channel, is_page=is_page)

    def apply_to_channel(self, channel: TargetChannel, *, is_page: bool) -> list[Future[dict[str, Any]]]:
        """Send every condition to a channel, including those that return to the browser's own."""
        latency_ms, down, up = NETWORK_SPEEDS[self.network]
        network = {"offline": self.network == "offline", "latency": latency_ms}
        features = [
            {"name": "prefers-color-scheme", "value": self.color_scheme},
            {"name": "prefers-reduced-motion", "value": "reduce" if self.reduced_motion else ""},
        ]
        place = dict(zip(("latitude", "longitude"), self.geolocation, strict=True)) if self.geolocation else {}
        commands: list[tuple[str, dict[str, Any]]] = [
            ("Network.emulateNetworkConditions", network | {"downloadThroughput": down, "uploadThroughput": up}),
            ("Network.setExtraHTTPHeaders", {"headers": self.headers}),
            ("Emulation.setEmulatedMedia", {"features": features}),
        ]
        if is_page:
            commands.append(("Emulation.setCPUThrottlingRate", {"rate": self.cpu_slowdown}))
            if place:
                commands.append(("Emulation.setGeolocationOverride", place | {"accuracy": 10}))
            else:
                commands.append(("Emulation.clearGeolocationOverride", {}))
        return [channel.send(method, params) for method, params in commands]

    def list_facts(self) -> list[str]:
        """Return each condition that differs from the browser's own; of headers only the names."""
        facts = {
            f"network {self.network}": self.network != "online",
            f"CPU {self.cpu_slowdown:g} times slower": self.cpu_slowdown != 1,
            f"geolocation {self.geolocation}": self.geolocation is not None,
            f"colour scheme {self.color_scheme}": bool(self.color_scheme),
            "reduced motion": self.reduced_motion,
            f"permissions {', '.join(self.permissions)}": bool(self.permissions),
            f"extra headers {', '.join(self.headers)}": bool(self.headers),
        }
        return [fact for fact, holds in facts.items() if holds]
