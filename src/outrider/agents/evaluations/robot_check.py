"""Tells a page that lets nobody in from one that works: robot checks, as they show themselves to a person."""

import re
from collections.abc import Iterable

TITLE_PATTERN = re.compile(
    r"^\s*(?:just a moment|attention required|ddos-guard|access to this page has been denied|robot check"
    r"|human verification|security check|pardon our interruption|are you a robot|verify you are human)",
    re.IGNORECASE,
)
TEXT_PATTERN = re.compile(
    r"captcha|verify (?:that )?you are (?:a )?human|are you a robot|(?:not|aren't) a robot|unusual traffic"
    r"|checking your browser|prove you(?:'re| are) human",
    re.IGNORECASE,
)
FRAME_URL_PATTERN = re.compile(
    r"//challenges\.cloudflare\.com/|//geo\.captcha-delivery\.com/|/recaptcha/api2/bframe|hcaptcha\.com/captcha/.*challenge"
)


def is_robot_check(title: str, text: str, frames: Iterable[str] = ()) -> bool:
    """Whether a page is nothing but a robot check.

    Args:
        title: The document's.
        text: What can be read of it; longer pages only mention such checks.
        frames: Addresses of its frames that can be seen.
    """
    max_chars = 1_500  # characters of text that a page which only asks for a proof has at most
    if TITLE_PATTERN.search(title):
        return True
    return len(text) <= max_chars and bool(
        TEXT_PATTERN.search(text) or any(FRAME_URL_PATTERN.search(each) for each in frames)
    )
