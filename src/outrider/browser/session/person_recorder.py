"""Record a person's actions in a session's window, as reported by `scripts/recorder.js`."""

import asyncio
import json
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from outrider.browser.actions.outcome import (
    ActionLog,
    PageMilestones,
    hide_secret,
    is_secret_field,
    read_milestones,
)
from outrider.browser.actions.page_tools import get_page_tools
from outrider.browser.page.tabs import Tabs
from outrider.browser.protocol.cdp import ContextGone, ProtocolError, TargetChannel
from outrider.browser.protocol.condition import Condition
from outrider.browser.protocol.frames import Frame
from outrider.browser.protocol.keys import parse_chord
from outrider.browser.protocol.page import BrowserPage
from outrider.browser.protocol.redact import record_url
from outrider.browser.protocol.scripts import IS_INSTALLED, ISOLATED_WORLD, load_source
from outrider.browser.protocol.values import ScriptError
from outrider.core.errors import InvalidInput, OutriderError

BINDING = "outriderReport"
# Some keys are only reported after the page has received them.
PAGE_ERRORS = (OutriderError, ProtocolError, ContextGone, ScriptError)
MAX_TEXT_CHARS = 100_000
HISTORY_TIMEOUT_S = 2.0


@dataclass
class _RecordedInput:
    """An action that is kept until the next one.

    Only then is its effect known.
    """

    kind: str
    values: dict[str, Any]
    element: dict[str, Any]
    before: PageMilestones
    goal: dict[str, Any] | None = None
    is_focus: bool = False


@dataclass(frozen=True)
class _History:
    """The position of a page in its history."""

    index: int
    ids: frozenset[int]

    def explain_move(self, index: int, entry: dict[str, Any]) -> str:
        """Return the kind of step that leads from here to an entry; empty if a press or the page did."""
        if entry["id"] in self.ids:
            is_reload = index == self.index and entry["transitionType"] == "reload"
            return {-1: "back", 1: "forward"}.get(index - self.index, "reload" if is_reload else "")
        return "open" if entry["transitionType"] in ("typed", "generated", "auto_bookmark", "keyword") else ""


class PersonRecorder:
    """Adds a person's actions to the log of a session.

    Args:
        log: The log.
        tabs: The session's pages.
        on_step: Called with one line on each step.

    Attributes:
        missed: Actions of the person that no step can repeat.
        notes: Further remarks on the steps, for the person.
    """

    def __init__(self, log: ActionLog, tabs: Tabs, on_step: Callable[[str], None]) -> None:
        self.changed = Condition()
        self.missed: list[str] = []
        self.notes: list[str] = []
        self._log, self._tabs, self._on_step = log, tabs, on_step
        self._reports: deque[tuple[BrowserPage, dict[str, Any]]] = deque()
        self._pending: _RecordedInput | None = None
        self._page: BrowserPage | None = None
        self._frame: Frame | None = None  # of the last action
        self._view: PageMilestones | None = None
        self._histories: dict[BrowserPage, _History] = {}
        self._secrets: set[str] = set()
        self._number = 0

    @property
    def has_reports(self) -> bool:
        """Whether there is something that `process_reports` has not added yet."""
        return bool(self._reports)

    def set_up_channel(self, page: BrowserPage, channel: TargetChannel) -> list[asyncio.Future[dict[str, Any]]]:
        """Install the script on a channel, before its documents run."""
        dialogs: list[str] = []

        def add_report(event: dict[str, Any]) -> None:
            worlds = {frame.worlds.get(ISOLATED_WORLD): frame for frame in page.frames if frame.channel is channel}
            frame = worlds.get(event["executionContextId"])
            if event["name"] != BINDING or frame is None or frame.failed:
                return
            report = json.loads(event["payload"])
            self._add_report(page, report | {"frame": frame})

        def add_answer(event: dict[str, Any]) -> None:
            if dialogs and dialogs.pop() in ("confirm", "prompt"):
                accepted, text = bool(event.get("result")), str(event.get("userInput", ""))
                self._add_report(page, {"kind": "dialog", "accept": accepted, "text": text if accepted else ""})

        def add_navigation(event: dict[str, Any]) -> None:
            if "parentId" not in event["frame"]:
                history = channel.send("Page.getNavigationHistory", timeout=HISTORY_TIMEOUT_S)
                history.add_done_callback(lambda future: future.cancelled() or future.exception())
                self._add_report(page, {"kind": "navigate", "history": history, "url": event["frame"]["url"]})

        channel.on("Page.frameNavigated", add_navigation)
        channel.on("Runtime.bindingCalled", add_report)
        channel.on("Page.javascriptDialogOpening", lambda event: dialogs.append(event.get("type", "")))
        channel.on("Page.javascriptDialogClosed", add_answer)
        start = f"if (!{IS_INSTALLED}) ({load_source()})(); outrider.recordPerson({json.dumps(BINDING)});"
        script = {"source": start, "worldName": ISOLATED_WORLD, "runImmediately": True}
        return [
            channel.send("Runtime.addBinding", {"name": BINDING, "executionContextName": ISOLATED_WORLD}),
            channel.send("Page.addScriptToEvaluateOnNewDocument", script),
        ]

    async def watch(self) -> None:
        """Read the current page: its address, its messages, and its listeners."""
        page = self._tabs.alive_page
        if page is None or page.loading.navigating is not None:
            return
        with suppress(*PAGE_ERRORS):
            if page is (self._page or page):
                scripts = get_page_tools(page).snapshotter.scripts
                self._view = self._clean_page(await read_milestones(scripts, self._frame))
            for frame in page.frames:
                snapshotter = get_page_tools(page).snapshotter
                await snapshotter.prepare_frame(frame)
                await snapshotter.open_shadow_roots(frame)
                await frame.evaluate(ISOLATED_WORLD, f"() => outrider.recordPerson({json.dumps(BINDING)})")

    async def process_reports(self) -> None:
        """Add the scripts' reports to the log."""
        while self._reports:
            page, report = self._reports.popleft()
            if report["kind"] == "navigate":
                if answer := await _read_history(page, report):
                    self._record_navigation(page, answer)
            elif report["kind"] == "dialog":  # its press is still pending, and flows answer before it
                self._log.add("dialog", {name: report[name] for name in ("accept", "text")})
                self._tell(f"dialog: {'accept' if report['accept'] else 'dismiss'}")
            elif report["kind"] == "missed":
                milestones = self._clean_page(PageMilestones.from_report(report["milestones"]))
                self._add_pending(self._view if report["frame"].parent else milestones)
                self._miss(str(self._clean_report({"what": report["what"]})["what"]))
            else:
                self._record_input(page, report)

    async def finish(self) -> None:
        """Add the text that is still in a field, and the last action."""
        script = "() => new Promise((done) => setTimeout(done, 0)).then(() => outrider.reportTypedText())"
        for page in self._tabs:
            for frame in page.frames if page.lost is None else ():
                with suppress(*PAGE_ERRORS):
                    await frame.evaluate(ISOLATED_WORLD, script, timeout=1.0)
        await self.process_reports()
        await self.watch()
        if self._pending and self._pending.is_focus:
            self._pending = None
        self._add_pending(self._view)

    def _add_report(self, page: BrowserPage, report: dict[str, Any]) -> None:
        self._reports.append((page, report))
        self.changed.notify_all()

    def _record_input(self, page: BrowserPage, report: dict[str, Any]) -> None:
        """Keep an action until the next one, and add the previous one."""
        names = ("text", "submit", "options", "key", "count", "button", "modifiers", "paths", "hold_s")
        values = {name: report[name] for name in names if report.get(name)}
        if report["kind"] == "fill":
            values = {"text": "", **values}
        if missed := _find_obstacle(values):
            self._miss(missed)
            return
        is_known = values.get("text") in self._secrets
        if report["kind"] == "fill" and (is_known or is_secret_field(report["evidence"])):
            self._secrets.add(values.pop("text"))
            values["secret"] = True
        frame: Frame = report.pop("frame")
        report = self._clean_report(report)
        element, milestones = report["evidence"], self._clean_page(PageMilestones.from_report(report["milestones"]))
        view = self._view if frame.parent else milestones
        before = view or PageMilestones(record_url(page.url))
        if frame.parent and milestones:
            element["frame"], before = milestones.url, before.add_frame(milestones)
        self._frame = frame
        new = _RecordedInput(report["kind"], values, element, before)
        new.goal, new.is_focus = report.get("goal"), bool(report.get("field"))
        if new.kind == "upload":
            self._add_files(new, is_shown=bool(report["shown"]))
        if self._pending and _is_replaced(self._pending, new):
            new.before, self._pending = self._pending.before, None
        self._add_pending(view if page is self._page else self._view)
        self._switch_page(page)
        self._pending, self._view = new, None
        self._tell("" if new.is_focus else self._describe_input(new))

    def _add_pending(self, after: PageMilestones | None) -> None:
        last, self._pending = self._pending, None
        if last is None:
            return
        if last.is_focus:
            self._tell(self._describe_input(last))
        values = {name: value for name, value in last.values.items() if (name, value) != ("count", 1)}
        self._log.add(last.kind, values, element=last.element, goal=last.goal, before=last.before, after=after)

    def _add_files(self, upload: _RecordedInput, *, is_shown: bool) -> None:
        """Name the files of an upload; for a hidden field, use the press that opened the chooser."""
        files = ", ".join(upload.values.get("paths", ())) or "no file"
        self.notes.append(f"the flow takes {files} from the workspace: put it there, or change the parameter")
        if self._pending and self._pending.kind == "click" and not is_shown:
            upload.element, upload.before = self._pending.element, self._pending.before
            self._pending = None

    def _miss(self, description: str) -> None:
        self.missed.append(description)
        self._on_step(f"not recorded: {description}")

    def _switch_page(self, page: BrowserPage) -> None:
        """Add a step for another tab."""
        is_other = self._page not in (None, page)
        self._page = page
        if self._tabs.current is not page:
            self._tabs.current = page
        if is_other:
            number = self._tabs.find_number(page)
            self._log.add("tab", {"number": number}, after=PageMilestones(record_url(page.url)))
            self._tell(f"tab {number}")

    def _record_navigation(self, page: BrowserPage, answer: dict[str, Any]) -> None:
        """Add a step if the person typed an address or went back; following a link adds none."""
        before, entries, index = self._histories.get(page), answer["entries"], int(answer["currentIndex"])
        self._histories[page] = _History(index, frozenset(entry["id"] for entry in entries))
        entry = entries[index]
        kind = before.explain_move(index, entry) if before and entry["url"] != "about:blank" else ""
        if not kind:
            return
        self._add_pending(self._view)
        self._switch_page(page)
        url = record_url(entry["url"])
        self._log.add(kind, {"url": url} if kind == "open" else {}, after=PageMilestones(url))
        self._view = None
        self._tell(f"open {url}" if kind == "open" else kind)

    def _clean_report(self, report: dict[str, Any]) -> dict[str, Any]:
        """Return a report without the secrets that were typed before, which a page may repeat."""
        min_secret_chars = 4  # shorter ones are in many texts by chance
        text = json.dumps(report, ensure_ascii=False)
        for secret in self._secrets:
            if len(secret) >= min_secret_chars:
                text = text.replace(json.dumps(secret, ensure_ascii=False)[1:-1], "[removed]")
        return dict(json.loads(text))

    def _clean_page(self, page: PageMilestones | None) -> PageMilestones | None:
        for secret in self._secrets:
            page = hide_secret(page, secret) if secret else page
        return page

    def _describe_input(self, action: _RecordedInput) -> str:
        """Return one line on an action, with dots for a secret."""
        element, values = action.element, action.values
        name = f' "{element["name"]}"' if element.get("name") else ""
        words = [
            action.kind,
            *([values["key"], "in"] if "key" in values else []),
            f"{element.get('role', '')}{name}".strip(),
        ]
        words[0] = "+".join([*values.get("modifiers", ()), words[0]])
        words[:0] = [values["button"]] if values.get("button", "left") != "left" else []
        words += ["to", f'{action.goal.get("role", "")} "{action.goal.get("name", "")}"'.strip()] if action.goal else []
        text = str(values.get("text", "")) or ", ".join(values.get("options") or values.get("paths", ()))
        text = "●" * 8 if values.get("secret") or self._log.is_secret(text) else " ".join(text[:200].split())
        ends = [f": {text}" if text else "", ", Enter" if values.get("submit") else ""]
        return " ".join(words) + "".join([*ends, ", twice" if values.get("count", 1) > 1 else ""])

    def _tell(self, line: str) -> None:
        if line:
            self._number += 1
            self._on_step(f"{self._number}: {line}")


def _find_obstacle(values: Mapping[str, Any]) -> str:
    """Describe the part of an input that no step can repeat; empty if there is none."""
    if len(values.get("text", "")) > MAX_TEXT_CHARS:
        return f"a text of more than {MAX_TEXT_CHARS:,} characters"
    with suppress(InvalidInput):
        parse_chord(values.get("key", "a"))
        return ""
    return f"the key {values['key'][:40]}"  # some keys, such as those for the volume, are unknown to steps


def _is_replaced(action: _RecordedInput, new: _RecordedInput) -> bool:
    """Return whether a later action replaces this one: typing after a press on a field, or a double click."""
    if not _is_same_element(action.element, new.element):
        return False
    if new.kind == "fill":
        return action.is_focus or (action.kind == "fill" and not action.values.get("submit"))
    return new.kind == action.kind == "click" and new.values.get("count", 1) > action.values.get("count", 1)


def _is_same_element(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return all(one.get(name) == other.get(name) for name in ("role", "name", "path", "attributes", "row"))


async def _read_history(page: BrowserPage, report: dict[str, Any]) -> dict[str, Any] | None:
    """Return the history after a navigation; None if the browser does not say.

    While documents change, the browser refuses to answer or does not include the new one, and the person may already be
    on another page.
    """
    max_attempts, min_attempts, interval_s = 20, 3, 0.05
    request = report["history"]
    for attempt in range(max_attempts):
        with suppress(*PAGE_ERRORS):
            answer = dict(await request)
            urls = [entry["url"].partition("#")[0] for entry in answer["entries"]]
            if urls[answer["currentIndex"]] == report["url"]:
                return answer
            if attempt >= min_attempts and report["url"] in urls:
                index = len(urls) - 1 - urls[::-1].index(report["url"])
                return {"entries": answer["entries"][: index + 1], "currentIndex": index}
        if page.lost:
            return None
        await asyncio.sleep(interval_s)
        request = page.send("Page.getNavigationHistory", timeout=HISTORY_TIMEOUT_S)
    return None
