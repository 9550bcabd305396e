"""Settings of the pages package."""

from typing import Literal

from pydantic import BaseModel, Field

RobotsMode = Literal["respect", "ignore"]  # of one page or crawl


class PagesSettings(BaseModel, extra="forbid", defer_build=True):
    """The `pages` part of the settings."""

    timeout_s: float = Field(25.0, gt=0, le=600, description="Seconds for one page, including retries and extraction")
    max_bytes: int = Field(5_000_000, ge=1_000, description="Maximum decoded bytes of a page; the rest is cut")
    document_max_bytes: int = Field(
        50_000_000,
        ge=1_000,
        description="Maximum bytes of a PDF, local file or other document that cannot be cut",
    )
    robots: Literal["respect", "crawls", "ignore"] = Field(
        "crawls",
        description="Whether to obey robots.txt: `respect` always, `crawls` in crawls and watches but not for a page "
        "that a person or model names, `ignore` never",
    )
    user_agent: str | None = Field(None, description="User-Agent header; default: the product's name")
    reader_url: str = Field(
        "",
        pattern="^(https?://.+)?$",
        description="Reader service that speaks the protocol of Jina Reader (https://r.jina.ai, for instance), asked "
        "for public pages that refuse Outrider; it receives their addresses; empty means none",
    )
    max_age: float = Field(300.0, ge=0, description="Seconds for which a cached page is used without asking again")
    cache_bytes: int = Field(200_000_000, ge=0, description="Size of the page cache; 0 turns it off")
    per_host_rate: float = Field(
        8.0, gt=0, description="Requests per second to one host; half as many run at the same time"
    )

    @property
    def per_host_concurrency(self) -> int:
        """Maximum concurrent requests to one host, 1 to 64."""
        return int(min(max(self.per_host_rate / 2, 1), 64))

    @property
    def page_robots(self) -> RobotsMode:
        """Whether robots.txt binds pages that a person or model names."""
        return "respect" if self.robots == "respect" else "ignore"

    @property
    def crawl_robots(self) -> RobotsMode:
        """Whether robots.txt binds crawls and watches."""
        return "ignore" if self.robots == "ignore" else "respect"
