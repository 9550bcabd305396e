"""Settings of the browser domain."""

from typing import Literal

from pydantic import BaseModel, Field, SecretStr

OWN_CHROME = "chrome"  # in `cdp_urls`: the user's own running Chrome
DialogPolicy = Literal["dismiss", "accept", "ask"]


class BrowserSettings(BaseModel, extra="forbid", defer_build=True):
    """What an operator can configure about the browser."""

    executable: str = Field("", description="Browser to start; empty means the first one installed")
    cdp_urls: list[SecretStr] = Field(
        [],
        description="Use these browsers instead of starting one: ws://…, http://host:port, or `chrome` alone for your "
        "own running Chrome. A new session goes to the browser with the fewest sessions; one that fails is skipped "
        "until it answers again. The egress guard does not cover them",
    )
    cdp_profile: Literal["new", "own"] = Field(
        "new",
        description="In browsers of cdp_urls: `new` gives each session its own cookies; `own` opens tabs next to "
        "yours, with your sign-ins, as `chrome` always does",
    )
    headless: bool = Field(True, description="Run without windows, unless a session asks for one")
    sandbox: bool | None = Field(None, description="Chromium's own sandbox; empty means wherever it can run")
    flags: list[str] = Field([], description="Further command-line flags of the browser")
    web_mcp: bool = Field(
        False,
        description="Let agents use tools that pages register (WebMCP), which Chromium has as an experimental feature",
    )
    viewport: str = Field("1200x800", pattern=r"^\d{2,5}x\d{2,5}$", description="Size of a page in CSS pixels")
    dialogs: DialogPolicy = Field(
        "dismiss", description="confirm() and prompt(): dismiss, accept, or ask (stays open until answered)"
    )
    max_sessions: int = Field(50, ge=1, le=500, description="Maximum open sessions, parked ones included")
    park_s: float = Field(
        300, gt=0, description="Idle seconds after which a session's pages are unloaded until its next call"
    )
    idle_s: float = Field(3_600, gt=0, description="Idle seconds after which a session is closed")
    download_bytes: int = Field(200_000_000, ge=0, description="Largest download; 0 refuses downloads")
    state_key: SecretStr | None = Field(None, description="Passphrase that encrypts saved states")

    @property
    def uses_own_profile(self) -> bool:
        """Whether sessions open in the user's own profile, next to their pages."""
        urls = [url.get_secret_value() for url in self.cdp_urls]
        return bool(urls) and (self.cdp_profile == "own" or urls == [OWN_CHROME])

    @property
    def viewport_size(self) -> tuple[int, int]:
        """Width and height of the viewport in CSS pixels."""
        width, _, height = self.viewport.partition("x")
        return int(width), int(height)
