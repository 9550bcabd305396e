"""Assemble the application from its settings; the only package that knows all others.

`async with open_app() as app` opens it. `container` builds the components, `adapters` connects packages that do not
know each other.
"""

from outrider.app.app import App
from outrider.app.lifecycle import open_app

__all__ = ["App", "open_app"]
