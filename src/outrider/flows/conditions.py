"""Conditions on what a page shows; `*` matches any text."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from outrider.flows.flow import FlowCondition
from outrider.flows.name_words import ALTERING_WORDS, FAILURE_WORDS, RISKY_ACTIONS, list_meanings, split_words


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


@dataclass(frozen=True)
class PageMessages:
    """The visible messages and headings of a page, and which of them are alerts."""

    messages: tuple[str, ...] = ()
    alerts: tuple[str, ...] = ()


def find_translation(before: PageMessages, after: PageMessages) -> str:
    """Return a new message that may translate the expected text; empty if it may report a failure."""
    news = [each for each in after.messages if each not in before.messages]
    is_failure = any(split_words(each) & FAILURE_WORDS for each in news) or set(after.alerts) - set(before.alerts)
    return news[0] if news and not is_failure else ""


def find_success(before: PageMessages, after: PageMessages) -> str:
    """Return a short new message of success that replaces the expected text."""
    max_words = 8
    news = [each for each in after.messages if each not in before.messages]
    words = split_words(news[0]) if len(news) == 1 else set()
    is_plain = words & SUCCESS_WORDS and len(words) <= max_words and not words & (ALTERING_WORDS | DOUBT_WORDS)
    has_other_meaning = bool(list_meanings(words) & RISKY_ACTIONS) or "?" in "".join(news)
    return find_translation(before, after) if is_plain and not has_other_meaning else ""


SUCCESS_WORDS = split_words(
    "done success successful successfully thanks thank completed fertig erledigt danke erfolgreich gracias hecho listo "
    "merci terminé grazie fatto obrigado obrigada feito bedankt gelukt klaar"
)
DOUBT_WORDS = split_words(
    "nothing nobody but however pending draft soon wait waiting already unless until if still yet"
)


def find_unmet(condition: FlowCondition, view: PageView) -> str:
    """Return the first part of a condition that does not hold, as a sentence; empty if all parts hold."""
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
    """Compare the whole address, or only its path and fragment.

    The latter is for wanted addresses without a site.
    """
    parts = urlsplit(url)
    if "://" in wanted:
        return _fits_whole(wanted, url)
    path = parts.path + (f"?{parts.query}" if "?" in wanted else "") + (f"#{parts.fragment}" if "#" in wanted else "")
    return _fits_whole(wanted, path or "/")


def _fits_whole(wanted: str, text: str) -> bool:
    """Match the whole text; `fnmatch` would interpret `?` and `[`, which addresses contain."""
    first, *others = wanted.split("*")
    if not others:
        return text == wanted
    *middle, last = others
    end = _find_in_order(middle, text, len(first))
    return text.startswith(first) and text.endswith(last) and 0 <= end <= len(text) - len(last)


def _holds_text(wanted: str, text: str) -> bool:
    pieces = " ".join(wanted.split()).casefold().split("*")
    return _find_in_order(pieces, " ".join(text.split()).casefold(), 0) >= 0


def _find_in_order(pieces: Sequence[str], text: str, start: int) -> int:
    """Return the end of the last piece, or -1; in one pass, since a page could make a regular expression slow."""
    for piece in pieces:
        found = text.find(piece, start)
        if found < 0:
            return -1
        start = found + len(piece)
    return start
