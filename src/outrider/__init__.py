"""Outrider: the web, a browser and more for any LLM agent.

A page's source as Markdown, without a network; it blocks for some milliseconds, so event loops give it a thread:

    from outrider import extract

    document = extract(source, url="https://example.com/tides")
    print(document.title, document.markdown)

Every tool that hosts get:

    from outrider import open_app

    async with open_app() as app:
        found = await app.call("web_search", query="sqlite wal mode")
        page = await app.call("web_fetch", url=found.data["results"][0]["url"], query="checkpoint")
        print(page.text)

What goes wrong there is an `OutriderError`, whose `hint` is the remedy: `InvalidInput`, `NotConfigured`, `NotFound`,
`Refused` or `Unavailable`.
"""

# As the one of `typing`, which takes a third of the start of `outrider mcp` to load.
TYPE_CHECKING = False

__version__ = "0.1.0"
__all__ = [
    "App",
    "Call",
    "Document",
    "InvalidInput",
    "NotConfigured",
    "NotFound",
    "OutriderError",
    "Refused",
    "Result",
    "Toolset",
    "Unavailable",
    "extract",
    "load",
    "open_app",
]

if TYPE_CHECKING:
    from typing import Any

    from outrider.app import App, open_app
    from outrider.core.context import Call
    from outrider.core.errors import InvalidInput, NotConfigured, NotFound, OutriderError, Refused, Unavailable
    from outrider.core.result import Result
    from outrider.core.tool import Toolset
    from outrider.pages.document import Document
    from outrider.pages.extract import extract
    from outrider.settings import load

# Where each public name lives. They are imported when first asked for, because the command must be
# able to guard standard output before anything else is imported, and `import outrider` comes first.
_PUBLIC_MODULES = {
    "App": "outrider.app",
    "Call": "outrider.core.context",
    "Document": "outrider.pages.document",
    "Result": "outrider.core.result",
    "Toolset": "outrider.core.tool",
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
