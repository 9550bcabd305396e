"""The house: settings in, services and servers out. The only place where parts meet.

`async with open_app() as app` opens it; `building` says what it is made of, `views` what one domain sees of another.
"""

from outrider.app.app import App
from outrider.app.lifecycle import open_app

__all__ = ["App", "open_app"]
