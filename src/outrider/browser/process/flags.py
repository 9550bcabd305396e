"""The browser's command line: quiet, small, and with no way out but the proxy.

Flags: https://peter.sh/experiments/chromium-command-line-switches/. The ways out that the egress
flags close are each held by a test (`tests/e2e/browser/engine/test_egress.py`).
"""

import os
import sys
from pathlib import Path

# Nothing that a person would want and an agent does not: no traffic and no renderers of the browser's own.
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
# A page that is not in front is still at work.
NO_THROTTLING_FLAGS = (
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-hang-monitor",
    "--disable-prompt-on-repost",
    "--disable-ipc-flooding-protection",
)
# The two WebUI features keep one hidden renderer for each context.
DISABLED_FEATURES = (
    "AcceptCHFrame",
    "AutofillServerCommunication",
    "CertificateTransparencyComponentUpdater",
    "DestroyProfileOnBrowserClose",
    "DialMediaRouteProvider",
    "GlobalMediaControls",
    "HttpsUpgrades",
    "InterestFeedContentSuggestions",
    "MediaRouter",
    "OptimizationHints",
    "PaintHolding",
    "Translate",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxPopup",
)
# What remains after the proxy: WebRTC's own sockets, QUIC, and names that the browser would resolve itself.
EGRESS_FLAGS = (
    "--proxy-bypass-list=<-loopback>",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--disable-features=AsyncDns,DnsOverHttpsUpgrade",
)
DISCARD_PROXY_URL = "http://127.0.0.1:9"  # the discard port: whatever belongs to no session gets nowhere


def build_command_line(
    profile: Path, *, headless: bool, sandbox: bool, proxy: str | None, extra: tuple[str, ...] = ()
) -> list[str]:
    """The arguments after the program's name.

    Args:
        profile: The directory of this run's own profile.
        headless: Without windows.
        sandbox: Whether the browser shuts its renderers in.
        proxy: Where traffic goes that belongs to no session, as `http://host:port`; None for a direct way.
        extra: The operator's own flags, which come last and win.
    """
    # Pasting by the middle button: what is marked in one session would land in another.
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
    return [
        *_merge_disabled_features([*flags, f"--disable-features={','.join(DISABLED_FEATURES)}", *extra]),
        "--no-startup-window",
    ]


def can_sandbox() -> bool:
    """Whether Chromium's own sandbox can work here; it refuses to for root."""
    return sys.platform != "linux" or os.geteuid() != 0


def has_graphics() -> bool:
    """Whether there may be a graphics card.

    Without one the browser need not look for it: pages have WebGL all the same, and ten sessions held 600 MB, not 679.
    """
    return sys.platform != "linux" or any(Path("/dev", name).exists() for name in ("dri", "nvidia0", "dxg"))


def has_display() -> bool:
    """Whether a window could be shown."""
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _merge_disabled_features(flags: list[str]) -> list[str]:
    """One `--disable-features`: of several the browser obeys only the last."""
    name = "--disable-features="
    features = [feature for flag in flags if flag.startswith(name) for feature in flag.removeprefix(name).split(",")]
    return [*(flag for flag in flags if not flag.startswith(name)), name + ",".join(dict.fromkeys(features))]
