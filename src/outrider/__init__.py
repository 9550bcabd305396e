"""Outrider: the web, a browser and more for any LLM agent.

from outrider import open_app

async with open_app() as app:
found = await app.call("web_search", query="sqlite wal mode")
page = await app.call("web_fetch", url=found.data["results"][0]["url"], query="checkpoint")
print(page.text)
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
    from outrider.pages import Document, extract
    from outrider.settings import load

# Where each public name lives. They are imported when first asked for, because the command must be
# able to guard standard output before anything else is imported, and `import outrider` comes first.
_HOMES = {
    "App": "outrider.app",
    "Call": "outrider.core.context",
    "Document": "outrider.pages",
    "Result": "outrider.core.result",
    "Toolset": "outrider.core.tool",
    "extract": "outrider.pages",
    "load": "outrider.settings",
    "open_app": "outrider.app",
}


def __getattr__(name: str) -> "Any":
    import importlib

    if name not in __all__:
        raise AttributeError(f"module 'outrider' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES.get(name, "outrider.core.errors")), name)
