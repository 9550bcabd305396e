"""Build the browser's command line.

The egress proxy is its only network access.

Flags: https://peter.sh/experiments/chromium-command-line-switches/. Each network path that the egress flags
close has a test in `tests/e2e/browser/engine/test_egress.py`.
"""

import os
import sys
from pathlib import Path

# Turn off features for people, and the browser's own network traffic and renderers.
QUIET_FLAGS = (
    "--no-first-run",
    "--no-default-browser-check",
    "--no-service-autorun",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-component-extensions-with-background-pages",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-sync",
    "--disable-domain-reliability",
    "--disable-client-side-phishing-detection",
    "--disable-field-trial-config",
    "--disable-breakpad",
    "--disable-search-engine-choice-screen",
    "--metrics-recording-only",
    "--no-pings",
    "--password-store=basic",
    "--use-mock-keychain",
    "--export-tagged-pdf",
    "--force-color-profile=srgb",
    "--hide-crash-restore-bubble",
)
# Pages in the background keep working at full speed.
NO_THROTTLING_FLAGS = (
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-hang-monitor",
    "--disable-prompt-on-repost",
    "--disable-ipc-flooding-protection",
)
# The two WebUI features would keep one hidden renderer per context. The back/forward cache keeps a renderer for each
# page that was left, and starts another for each opened page, which doubles the processor time. A new frame for each
# document and a spare renderer for the next site together cost a quarter of the processor time of opening pages.
DISABLED_FEATURES = (
    "AcceptCHFrame",
    "AutofillServerCommunication",
    "BackForwardCache",
    "CertificateTransparencyComponentUpdater",
    "DestroyProfileOnBrowserClose",
    "DialMediaRouteProvider",
    "GlobalMediaControls",
    "HttpsUpgrades",
    "InterestFeedContentSuggestions",
    "MediaRouter",
    "OptimizationHints",
    "PaintHolding",
    "RenderDocument",
    "SpareRendererForSitePerProcess",
    "Translate",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxPopup",
)
# Close what bypasses the proxy: WebRTC's own sockets, QUIC, and the browser's own name resolution.
EGRESS_FLAGS = (
    "--proxy-bypass-list=<-loopback>",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--disable-features=AsyncDns,DnsOverHttpsUpgrade",
)
DISCARD_PROXY_URL = "http://127.0.0.1:9"  # the discard port: traffic outside sessions goes nowhere


def build_command_line(
    profile: Path, *, headless: bool, sandbox: bool, proxy: str | None, extra: tuple[str, ...] = ()
) -> list[str]:
    """Build the arguments after the program's name.

    Args:
        profile: The profile directory of this run.
        headless: Without windows.
        sandbox: Whether Chromium's own sandbox is on.
        proxy: The proxy for traffic outside sessions, as `http://host:port`; None for direct connections.
        extra: The operator's flags, which come last and win.
    """
    # Turn off pasting by the middle button, which would paste text selected in another session.
    clipboard_flags = ("--blink-settings=selectionClipboardBufferAvailable=false",)
    cache_flags = ("--disk-cache-size=33554432", "--media-cache-size=1048576", "--disable-dev-shm-usage")
    egress = () if proxy is None else (f"--proxy-server={proxy}", *EGRESS_FLAGS)
    flags = [
        *QUIET_FLAGS,
        *NO_THROTTLING_FLAGS,
        *cache_flags,
        *egress,
        "--remote-debugging-pipe",
        f"--user-data-dir={profile}",
    ]
    flags += ["--headless=new", "--hide-scrollbars", "--mute-audio", *clipboard_flags] if headless else []
    flags += [] if not headless or has_graphics() else ["--disable-gpu"]
    flags += [] if sandbox else ["--no-sandbox"]
    # The browser uses only the last list of features, so all are joined.
    flags, name = [*flags, *extra], "--disable-features="
    disabled = [feature for flag in flags if flag.startswith(name) for feature in flag.removeprefix(name).split(",")]
    features = name + ",".join(dict.fromkeys([*DISABLED_FEATURES, *disabled]))
    return [*(flag for flag in flags if not flag.startswith(name)), features, "--no-startup-window"]


def can_sandbox() -> bool:
    """Return whether Chromium's own sandbox works here; it refuses to for root."""
    return sys.platform != "linux" or os.geteuid() != 0


def has_graphics() -> bool:
    """Return whether there may be a graphics card.

    Without one, the browser need not look for it, which saves memory; pages still have WebGL.
    """
    return sys.platform != "linux" or any(Path("/dev", name).exists() for name in ("dri", "nvidia0", "dxg"))


def has_display() -> bool:
    """Return whether a window can be shown."""
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
