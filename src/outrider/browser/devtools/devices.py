"""Devices that a session can emulate."""

import re
from dataclasses import dataclass
from typing import Any, Literal

DeviceName = Literal["iphone", "ipad", "pixel", "galaxy", "laptop", "desktop"]
IOS_USER_AGENT = (
    "Mozilla/5.0 ({model}; CPU {system} 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) "
    "Version/18.5 Mobile/15E148 Safari/604.1"
)


@dataclass(frozen=True)
class Device:
    """A screen in CSS pixels, its pixel ratio, and its browser's user agent."""

    size: tuple[int, int]
    scale: float = 1.0
    mobile: bool = False
    ios: tuple[str, str] | None = None

    def build_emulation(self, browser_user_agent: str) -> dict[str, Any]:
        """Return the fields of `Emulation` for the device."""
        user_agent = browser_user_agent
        if self.ios:
            user_agent = IOS_USER_AGENT.format(model=self.ios[0], system=self.ios[1])
        elif self.mobile:  # as Chrome's reduced user agent on every Android phone
            user_agent = re.sub(r"\([^)]*\)", "(Linux; Android 10; K)", browser_user_agent, count=1)
            user_agent = user_agent.replace(" Safari/", " Mobile Safari/")
        return {"size": self.size, "scale": self.scale, "mobile": self.mobile, "user_agent": user_agent}


DEVICES: dict[DeviceName, Device] = {
    "iphone": Device((390, 844), 3, mobile=True, ios=("iPhone", "iPhone OS")),
    "ipad": Device((820, 1180), 2, mobile=True, ios=("iPad", "OS")),
    "pixel": Device((412, 915), 2.625, mobile=True),
    "galaxy": Device((360, 780), 3, mobile=True),
    "laptop": Device((1366, 768)),
    "desktop": Device((1920, 1080)),
}
