"""Recognize pages that only ask visitors to prove that they are human."""

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
    """Return whether a page is only a bot check.

    Args:
        title: The title of the document.
        text: Its visible text.
        frames: The URLs of its visible frames.
    """
    max_chars = 1_500  # longer pages only mention such checks
    if TITLE_PATTERN.search(title):
        return True
    if len(text) > max_chars:
        return False
    return bool(TEXT_PATTERN.search(text)) or any(FRAME_URL_PATTERN.search(url) for url in frames)
