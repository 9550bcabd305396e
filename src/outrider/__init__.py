"""Outrider: the web, a browser and more for any LLM agent.

Convert a page's source to Markdown, without network; this blocks for milliseconds, so run it in a thread in async code:

    from outrider import extract

    document = extract(source, url="https://example.com/tides")
    print(document.title, document.markdown)

Call the tools that hosts get:

    from outrider import open_app

    async with open_app() as app:
        search = await app.call("web_search", query="sqlite wal mode")
        page = await app.call("web_fetch", url=search.data["results"][0]["url"], query="checkpoint")
        print(page.text)

Call them in the process that terminal and hosts share, with their sessions:

    from outrider import connect

    with connect() as client:
        client.call("navigateToUrl", url="https://example.com")
        print(client.call("extractPageContent").text)

Errors are of type `OutriderError`, with the remedy in `hint`: `InvalidInput`, `NotConfigured`, `NotFound`,
`Refused` or `Unavailable`.
"""

# Type checkers treat this name as true. Importing it from `typing` would slow down the start of `outrider mcp`.
TYPE_CHECKING = False

__version__ = "0.1.0"
__all__ = [
    "App",
    "AsyncClient",
    "Call",
    "Client",
    "Document",
    "InvalidInput",
    "NotConfigured",
    "NotFound",
    "OutriderError",
    "Refused",
    "Result",
    "Toolset",
    "Unavailable",
    "connect",
    "connect_async",
    "extract",
    "load",
    "open_app",
]

if TYPE_CHECKING:
    from typing import Any

    from outrider.app import App, open_app
    from outrider.connection import AsyncClient, Client, connect, connect_async
    from outrider.core.context import Call
    from outrider.core.errors import InvalidInput, NotConfigured, NotFound, OutriderError, Refused, Unavailable
    from outrider.core.result import Result
    from outrider.core.tool import Toolset
    from outrider.pages.document import Document
    from outrider.pages.extract import extract
    from outrider.settings import load

# The modules of the public names. They are imported at first use, because the command must be able to
# protect standard output before anything else is imported, and `import outrider` comes first.
_PUBLIC_MODULES = {
    "App": "outrider.app",
    "AsyncClient": "outrider.connection",
    "Client": "outrider.connection",
    "Call": "outrider.core.context",
    "Document": "outrider.pages.document",
    "Result": "outrider.core.result",
    "Toolset": "outrider.core.tool",
    "connect": "outrider.connection",
    "connect_async": "outrider.connection",
    "extract": "outrider.pages.extract",
    "load": "outrider.settings",
    "open_app": "outrider.app",
}


def __getattr__(name: str) -> "Any":
    import importlib

    if name not in __all__:
        raise AttributeError(f"module 'outrider' has no attribute {name!r}")
    return getattr(importlib.import_module(_PUBLIC_MODULES.get(name, "outrider.core.errors")), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
