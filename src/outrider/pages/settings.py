"""Settings of the pages package."""

from typing import Literal

from pydantic import BaseModel, Field

RobotsMode = Literal["respect", "ignore"]


class PagesSettings(BaseModel, extra="forbid", defer_build=True):
    """The `pages` part of the settings."""

    seconds: float = Field(25.0, gt=0, le=600, description="Time for one page, with its retries and its reading")
    max_bytes: int = Field(5_000_000, ge=1_000, description="Decoded bytes of a page; what is beyond is cut")
    pdf_max_bytes: int = Field(
        50_000_000, ge=1_000, description="Bytes of a PDF or another document that cannot be cut"
    )
    pdf_max_pages: int = Field(500, ge=1, description="Pages of a PDF, or slides, that are read")
    robots: RobotsMode = Field("ignore", description="Whether robots.txt binds pages that a person or model named")
    crawl_robots: RobotsMode = Field("respect", description="Whether robots.txt binds crawls")
    user_agent: str | None = Field(None, description="How we introduce ourselves; default: the name of the product")
    attempts: int = Field(3, ge=1, le=10, description="How often a page is asked for while its server is in trouble")
    max_age: float = Field(300.0, ge=0, description="Seconds for which a page is not asked for again")
    freshness_cap: float = Field(86_400.0, ge=0, description="Seconds for which a server's own word may keep it fresh")
    stale_if_error: float = Field(
        604_800.0, ge=0, description="Age up to which a copy stands in for a server in trouble"
    )
    cache_bytes: int = Field(200_000_000, ge=0, description="Size of the page cache; 0 turns it off")
    per_host_concurrency: int = Field(4, ge=1, description="Requests to one host at the same time")
    per_host_rate: float = Field(8.0, gt=0, description="Requests to one host in a second")
    images_max_bytes: int = Field(20_000_000, ge=1_000, description="Size of an image that is saved")
    extract_chars: int = Field(5_000_000, ge=1_000, description="Bytes of a source in UTF-8 that are looked at")
    extract_tags: int = Field(100_000, ge=100, description="Tags of an HTML page that are looked at")
