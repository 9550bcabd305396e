"""Settings that several tools read."""

from dataclasses import dataclass
from typing import Literal

from outrider.core.untrusted import disarm_marks, wrap_untrusted


@dataclass(frozen=True)
class ToolOptions:
    """Operator settings for files and results of tools.

    Attributes:
        images_path: Where images go, relative to the workspace.
        boundary: Whether text from pages is wrapped in a random boundary.
        mime_prefix: The vendor tree of typed resources.
        crawl_robots: Whether robots.txt binds crawls.
    """

    images_path: str = "./images"
    boundary: bool = True
    mime_prefix: str = "application/vnd.dust"
    crawl_robots: Literal["respect", "ignore"] = "respect"

    def mark_untrusted(self, text: str, origin: str) -> str:
        """Disarm the marks in text from other people, and wrap it in a boundary if the operator wants that."""
        disarmed = disarm_marks(text)
        return wrap_untrusted(disarmed, origin) if self.boundary else disarmed

    def build_output_type(self, name: str) -> str:
        """Return the MIME type of a typed result resource, e.g. for `websearch-result`."""
        return f"{self.mime_prefix}.tool-output.{name}"
