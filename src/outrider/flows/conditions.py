"""Conditions on what a page shows; `*` stands for any text."""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from outrider.flows.flow import FlowCondition


@dataclass(frozen=True)
class PageView:
    """What a page shows.

    Attributes:
        needs_person: Whether it asks for a password or shows a challenge.
    """

    url: str
    title: str = ""
    text: str = ""
    needs_person: bool = False


def find_unmet(condition: FlowCondition, view: PageView) -> str:
    """Return the part of a condition that does not hold, as a sentence; empty where all hold."""
    if condition.url and not _matches_address(condition.url, view.url):
        return f"the address is {view.url[:200]}, not {condition.url}"
    if condition.title and not _holds_text(condition.title, view.title):
        return f"the title is {view.title[:100]!r}, not {condition.title!r}"
    if condition.text and not _holds_text(condition.text, view.text):
        return f"the page does not show {condition.text!r}"
    if condition.gone and _holds_text(condition.gone, view.text):
        return f"the page still shows {condition.gone!r}"
    return ""


def _matches_address(wanted: str, url: str) -> bool:
    """Compare with the whole address, or only with its path and fragment if no site is given."""
    parts = urlsplit(url)
    if "://" in wanted:
        return _build_pattern(wanted).fullmatch(url) is not None
    path = parts.path + (f"?{parts.query}" if "?" in wanted else "") + (f"#{parts.fragment}" if "#" in wanted else "")
    return _build_pattern(wanted).fullmatch(path or "/") is not None


def _holds_text(wanted: str, text: str) -> bool:
    return _build_pattern(" ".join(wanted.split()).casefold()).search(" ".join(text.split()).casefold()) is not None


def _build_pattern(wanted: str) -> re.Pattern[str]:
    return re.compile(".*?".join(re.escape(piece) for piece in wanted.split("*")), re.DOTALL)
