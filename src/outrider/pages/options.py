"""Options for reading one page."""

from dataclasses import dataclass
from typing import Literal

from outrider.pages.settings import RobotsMode

RenderMode = Literal["auto", "always", "never"]


@dataclass(frozen=True)
class ReadOptions:
    """How `Pages.read` reads one address.

    Attributes:
        max_age: Seconds within which a cached copy is returned without asking the server; 0 always asks. By default
            the setting `pages.max_age`, or longer if the server says that the page stays fresh.
        main: Whether to leave out navigation and everything else around the main content.
        robots: Whether to obey robots.txt; by default what the setting `pages.robots` says.
        render: Whether a browser runs the page's scripts first. `auto` renders pages that are nearly empty without
            their scripts or hide behind a bot check.
        remote_reader: Whether the service of the setting `pages.reader_url` may be asked for a page that refuses us.
            Only for callers that show `FetchedPage.read_through`.
        accepts_stale: Whether a copy of up to a week may stand in for a page whose server fails.
        markdown_first: Whether a site known for good Markdown may be asked for Markdown alone. Only for callers
            that need no source.
    """

    max_age: float | None = None
    main: bool = True
    robots: RobotsMode | None = None
    render: RenderMode = "auto"
    remote_reader: bool = False
    accepts_stale: bool = True
    markdown_first: bool = False


DEFAULT_READ_OPTIONS = ReadOptions()
