"""What the browser's tools have in common: the caller's session, failures in their words, outcomes as results."""

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from outrider.browser.browsers import Browsers
from outrider.core.context import Call
from outrider.core.errors import OutriderError, Refused, Unavailable
from outrider.core.result import Result, Text
from outrider.core.untrusted import clean
from outrider.toolsets.choices import Choices

if TYPE_CHECKING:
    from outrider.browser.grip import Grip
    from outrider.browser.outcome import Outcome
    from outrider.browser.session import Session

Selector = Annotated[str, Field(description="CSS or ref")]
LOST = ("page_crashed", "page_hangs", "browser_gone", "page_gone")
REASONS = {
    "hung": "timeout",
    "page_hangs": "timeout",
    "script_error": "execution_error",
    "page_gone": "execution_error",
}
# The browser's own words for what to do next, and the tools that do it; a longer beginning stands first.
TOOLS = {
    "use check or uncheck": "use selectOption with checked",
    "use check": "use selectOption with checked",
    "use select": "use selectOption",
    "use upload": "use uploadFiles",
    "use click": "use clickElement",
    "take a snapshot": "call snapshotPage",
}
CHANGES = ("+ ", "~ ", "- ", "… ")  # how the lines of a difference begin


@dataclass(frozen=True)
class Work:
    """A session's page in front, ready to be worked on."""

    session: "Session"
    grip: "Grip"


@asynccontextmanager
async def at_work(browsers: Browsers, call: Call, session_id: str, asked: str | None = None) -> AsyncGenerator[Work]:
    """The caller's session, for one call at a time.

    Args:
        browsers: All sessions.
        call: Who calls.
        session_id: Which session.
        asked: The selector or reference that the call is about, for the details of errors; None if it is about none.

    Raises:
        OutriderError: with `details.reason` where the call is about an element.
    """
    async with in_words(asked):
        session = browsers.get(call.session, session_id)
        await session.control.gate.passed()
        if dialog := session.dialogs.waiting:
            message = f"a {dialog.kind} dialog is open: {line(dialog.message)}"
            raise Refused(message, code="dialog_open", hint="answerDialog first")
        async with session.use() as page:
            from outrider.browser.grip import grip

            yield Work(session, grip(page))


@asynccontextmanager
async def in_words(asked: str | None = None) -> AsyncGenerator[None]:
    """Says what goes wrong in the browser as an error that a model can act on."""
    from outrider.browser.cdp import ContextGone, ProtocolError

    try:
        yield
    except OutriderError as error:
        raise _told(error, asked) from None
    except ContextGone:
        message, hint = "the page was replaced while it was worked on", "call snapshotPage, then go on"
        raise _told(Unavailable(message, code="execution_error", hint=hint), asked) from None
    except ProtocolError as error:
        raise _told(Unavailable(f"the browser refused: {error}", code="execution_error"), asked) from error
    except TimeoutError:
        raise _told(Unavailable("the browser did not answer in time", code="timeout"), asked) from None


def _told(error: OutriderError, asked: str | None) -> OutriderError:
    if error.code in LOST:
        at = error.details.get("url")
        error.hint = f"navigateToUrl opens the session again{f'; it was at {at}' if at else ''}"
    if error.code == "session_not_found" and "create" in error.hint:
        error.hint = "createSession first"
    if error.code == "hung":
        error.hint = "the page may be busy with itself: try once more, else navigateToUrl opens the session again"
    error.hint = by_tool(error.hint)
    if "suggestions" in error.details:
        error.details = error.details | {"suggestions": [by_tool(each) for each in error.details["suggestions"]]}
    if asked is not None and "ok" not in error.details:
        reason = REASONS.get(error.code, error.code)
        error.details = {"ok": False, "reason": reason, "selector": asked} | error.details
    return error


def by_tool(hint: str) -> str:
    """The browser's advice in names of tools."""
    for words, tool in TOOLS.items():
        if hint.startswith(words):
            return tool + hint.removeprefix(words)
    return hint


def acted(choices: Choices, session: "Session", outcome: "Outcome") -> Result:
    """What an action did, to be read; the facts for programs in `_meta`."""
    facts = {name: fact for name, fact in outcome.to_dict().items() if name != "changes"}
    return Result((Text(_text(choices, outcome, notes_of(session))),), meta={"outrider/outcome": facts})


def acted_as_data(choices: Choices, session: "Session", outcome: "Outcome", *always: str) -> Result:
    """What an action did as data, complete by itself, and the same as text.

    Args:
        choices: How page text is marked.
        session: Where.
        outcome: What.
        *always: Facts that the contract promises even where they are empty.
    """
    facts = outcome.to_dict()
    hidden = ("rect", "viewport", "ref", "action")
    data = {name: fact for name, fact in facts.items() if name not in hidden}
    data |= {name: [] for name in always if name not in data}
    data["dialogs"] = [{"type": each["type"], "message": each["message"]} for each in data.get("dialogs", [])]
    data = {name: fact for name, fact in data.items() if fact or name in always or isinstance(fact, bool)}
    notes = notes_of(session)
    text = _text(choices, outcome, notes)
    meta = {f"outrider/{name}": facts[name] for name in ("rect", "viewport", "ref") if name in facts}
    return Result((Text(text),), data=data | ({"notes": notes} if notes else {}), meta=meta)


def _text(choices: Choices, outcome: "Outcome", notes: list[str]) -> str:
    dialogs = [each | {"message": line(each["message"])} for each in outcome.dialogs]
    shown = replace(outcome, dialogs=dialogs, changes=_marked(choices, outcome), element=line(outcome.element))
    return "\n".join([str(shown), *_consequences(outcome), *(f"Note: {note}" for note in notes)])


def _marked(choices: Choices, outcome: "Outcome") -> str:
    """A whole outline is marked as the page's; the lines of a difference already stand out by how they begin."""
    lines = outcome.changes.split("\n")
    if not outcome.changes or (not outcome.navigated and all(each.startswith(CHANGES) for each in lines)):
        return outcome.changes
    return choices.mark(outcome.changes, outcome.url)


def _consequences(outcome: "Outcome") -> list[str]:
    lines = ["the new page is a tab in the background: manageTabs switches to it"] if outcome.new_pages else []
    return [*lines, *(["readLogs kind=downloads says where the file is"] if outcome.downloads else [])]


def notes_of(session: "Session") -> list[str]:
    """What happened in a session without being asked for; told once."""
    notes, session.notes = session.notes, []
    return notes


def line(text: str, limit: int = 500) -> str:
    """Somebody else's words on one line."""
    return " ".join(clean(text).split())[:limit]


def moment(at: float) -> str:
    """Seconds since the epoch as ISO 8601 in UTC."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
