"""Tells a page that lets nobody in from one that works: robot checks, as they show themselves to a person."""

import re
from collections.abc import Iterable

SHORT = 1_500  # characters of text that a page which only asks for a proof has at most
TITLES = re.compile(
    r"^\s*(?:just a moment|attention required|ddos-guard|access to this page has been denied|robot check"
    r"|human verification|security check|pardon our interruption|are you a robot|verify you are human)",
    re.IGNORECASE,
)
WORDS = re.compile(
    r"captcha|verify (?:that )?you are (?:a )?human|are you a robot|(?:not|aren't) a robot|unusual traffic"
    r"|checking your browser|prove you(?:'re| are) human",
    re.IGNORECASE,
)
FRAMES = re.compile(
    r"//challenges\.cloudflare\.com/|//geo\.captcha-delivery\.com/|/recaptcha/api2/bframe|hcaptcha\.com/captcha/.*challenge"
)


def is_wall(title: str, text: str, frames: Iterable[str] = ()) -> bool:
    """Whether a page is nothing but a robot check.

    Args:
        title: The document's.
        text: What can be read of it; longer pages only mention such checks.
        frames: Addresses of its frames that can be seen.
    """
    if TITLES.search(title):
        return True
    return len(text) <= SHORT and bool(WORDS.search(text) or any(FRAMES.search(each) for each in frames))
