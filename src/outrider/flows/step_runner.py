"""Do one step on a page: find its elements, act, and check; stop rather than guess."""

import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import anyio

from outrider.core.errors import OutriderError
from outrider.flows.conditions import PageMessages, PageView, find_success, find_translation, find_unmet
from outrider.flows.evidence import ElementCandidate, find_other_choice, has_other_language, name_choice
from outrider.flows.extraction import Extraction, ExtractionMismatch, StructureReport, Value, read_rows
from outrider.flows.flow import FlowCondition, FlowStep, Target
from outrider.flows.matching import Match, match_target
from outrider.flows.name_words import KNOWN_LANGUAGES
from outrider.flows.origins import is_named_origin, read_origin
from outrider.flows.run import StopReason

POLL_INTERVAL_S = 0.1
# The reasons for errors of the browser; others are `failed`.
STOP_REASONS: Mapping[str, StopReason] = {
    "not_found": "not_found",
    "ambiguous": "ambiguous",
    "changed": "changed",
    "no_option": "changed",
    "dialog_open": "dialog_open",
    "no_effect": "no_effect",
    "covered": "blocked",
    "hidden": "blocked",
    "disabled": "blocked",
    "pointer_events_none": "blocked",
    "off_screen": "blocked",
    "zero_size": "blocked",
    "read_only": "blocked",
    "no_focus": "blocked",
}


@dataclass(frozen=True)
class PageTool:
    """A tool that a page offers; the page may say that a person should confirm it."""

    origin: str
    is_consequential: bool = False


class FlowPage(Protocol):
    """The page on which a flow acts."""

    async def read_view(self) -> PageView:
        """Return address, title and text."""
        ...

    async def list_candidates(self, target: Target) -> Sequence[ElementCandidate]:
        """Return the elements of all frames that may be the target."""
        ...

    async def scroll_lists(self, *, is_from_top: bool) -> bool:
        """Scroll all lists on, or to their beginning; return whether any moved."""
        ...

    async def read_messages(self) -> PageMessages:
        """Return the visible messages and headings."""
        ...

    async def list_page_tools(self, name: str) -> Sequence[PageTool]:
        """Return the tools of this name that the page offers."""
        ...

    async def perform_step(self, step: FlowStep, ref: str, to_ref: str, secret: str) -> None:
        """Do a step on the elements with these references; `ref` of a tool is its origin. Raises OutriderError.

        With `secret`, `fill` writes it instead of the step's text, and nothing may show it afterwards.
        """
        ...

    async def read_structures(self, extraction: Extraction) -> Sequence[StructureReport]:
        """Return the tables, lists or values of all frames that may match."""
        ...

    def take_unexpected_dialog(self, *, is_open: bool = False) -> str:
        """Return the message of an unexpected dialog that was dismissed, once.

        With `is_open`, an open dialog is reported, too.
        """
        ...

    async def read_outline(self) -> str:
        """Return the snapshot of the page, as a model reads it."""
        ...


class Stopped(Exception):
    """A step cannot be done; with `is_done` it was done, but with an unexpected result."""

    def __init__(self, reason: StopReason, message: str, *, is_done: bool = False, code: str = "") -> None:
        super().__init__(message)
        self.reason: StopReason = reason
        self.message, self.is_done, self.code = message, is_done, code


@dataclass(frozen=True)
class FoundElements:
    """The elements of a step on the page.

    Attributes:
        refs: Their references; empty if the step has no elements.
        notes: How they had changed.
        matched: Their roles and names, for people.
        is_consequential: Whether the page says that a person should confirm it.
    """

    refs: tuple[str, str]
    notes: tuple[str, ...] = ()
    matched: str = ""
    is_consequential: bool = False


@dataclass
class ListSearch:
    """The progress of scrolling lists in search of a row."""

    scrolls: int = 0
    is_going_on: bool = False

    async def scroll_on(self, page: FlowPage) -> None:
        """Scroll lists once from beginning to end, because some only render visible rows."""
        max_scrolls = 200
        if self.is_going_on or self.scrolls == 0:
            has_moved = await page.scroll_lists(is_from_top=self.scrolls == 0)
            self.is_going_on = (has_moved or self.scrolls == 0) and self.scrolls < max_scrolls
            self.scrolls += 1


class StepRunner:
    """Does the steps of a flow on one page.

    Args:
        page: The page.
        patience_s: How long to wait for an element.
        secrets: Texts that must never be shown.
        steps: All steps of the flow.
    """

    def __init__(
        self,
        page: FlowPage,
        patience_s: float = 10.0,
        secrets: Collection[str] = (),
        steps: Iterable[FlowStep] = (),
    ) -> None:
        self.page = page
        self._patience_s = patience_s
        self._secrets = secrets
        self._known_url = ""  # of the page on which an element was found last
        self._messages: PageMessages | None = None  # before a press, if a text is expected after it
        self._is_translated = False
        self._chosen: set[str] = set()  # fields that were set on this page
        self._settable = {name_choice(each.target.attributes, each.target.name) for each in steps if each.target}
        self._translations: dict[str, str] = {}  # messages that replaced an expected text

    async def find_elements(self, step: FlowStep, origins: Sequence[str]) -> FoundElements:
        """Return the elements of a step, or its tool. Raises Stopped."""
        if step.tool is not None:
            tool = await self.find_tool(step.tool, origins, self._patience_s)
            if tool is None:
                raise Stopped("not_found", f"the page offers no tool {step.tool}")
            return FoundElements((tool.origin, ""), (), f"tool {step.tool}", tool.is_consequential)
        self._messages, self._is_translated = None, False
        refs, titles = ["", ""], list[str]()
        notes: list[str] = []
        for index, target in enumerate((step.target, step.to)):
            if target is not None:
                match = await self._find_element(target, step.kind)
                assert match.candidate is not None
                self._chosen.add(name_choice(match.candidate.attributes, match.candidate.name))
                refs[index] = match.candidate.ref
                notes += match.healed
                is_known = match.candidate.traits.get("language") in KNOWN_LANGUAGES
                self._is_translated |= is_known and has_other_language(target, match.candidate)
                titles.append(match.candidate.title)
                _require_safe_address(step, match.candidate, origins)
                frame_url = match.candidate.frame_url
                if frame_url and self.is_secret(step) and not is_named_origin(frame_url, origins):
                    place = f"{match.candidate.title} is in a frame of {read_origin(frame_url) or frame_url[:100]}"
                    raise Stopped("origin_refused", f"{place}, where the secret must not be typed")
        sends = step.kind in ("click", "press") or step.submit
        if (self._is_translated or sends) and step.expect and step.expect.text:
            self._messages = await self.page.read_messages()
        return FoundElements((refs[0], refs[1]), tuple(notes), " → ".join(titles))

    async def find_tool(self, name: str, origins: Sequence[str], patience_s: float = 2.0) -> PageTool | None:
        """Return the tool of this name on a site of the flow; None if none appears in time."""
        deadline = time.monotonic() + min(patience_s, self._patience_s)
        while True:
            offered = await self.page.list_page_tools(name)
            if tool := next((each for each in offered if is_named_origin(each.origin, origins)), None):
                return tool
            if time.monotonic() >= deadline:
                return None
            await anyio.sleep(POLL_INTERVAL_S)

    def is_secret(self, step: FlowStep) -> bool:
        """Return whether a step types a secret."""
        return step.secret is not None or any(secret in (step.text or "") for secret in self._secrets)

    async def find_next_page(self, press: FlowStep, origins: Sequence[str]) -> FoundElements | None:
        """Return the elements of the press to the next page; None if it is gone. Raises Stopped."""
        patience_s, self._patience_s = self._patience_s, 2.0  # the page was read, so its pager must be there
        try:
            return await self.find_elements(press, origins)
        except Stopped as stopped:
            if stopped.reason == "not_found":
                return None
            raise
        finally:
            self._patience_s = patience_s

    async def perform(self, step: FlowStep, refs: Sequence[str], secret: str = "", *, waits: bool = True) -> None:
        """Do a step: wait for conditions here, and let the page do everything else. Raises Stopped.

        Args:
            step: The step.
            refs: Its elements.
            secret: The text that `fill` writes instead of the step's.
            waits: Whether to wait for an element that is still hidden, covered or disabled.
        """
        if step.wait:
            if unmet := await self.wait_for(step.wait):
                raise Stopped("check_failed", unmet)
            return
        text = secret or (step.text or "" if self.is_secret(step) else "")
        deadline = time.monotonic() + (self._patience_s if waits else 0.0)
        try:
            await self._perform_when_free(step, refs, text, deadline)
        except OutriderError as error:
            reason = STOP_REASONS.get(error.code, "failed")
            is_refused = error.code == "egress"  # nothing was sent, and only the operator can continue
            is_done = reason in ("no_effect", "failed") and not is_refused
            message = f"{error.message}; {error.hint}" if is_refused else error.message
            self.require_no_dialog()
            raise Stopped(reason, message, is_done=is_done, code=error.code) from None
        self.require_no_dialog()

    async def _perform_when_free(self, step: FlowStep, refs: Sequence[str], text: str, deadline: float) -> None:
        """Do a step; retry while it is blocked or its list is still being filled. Raises OutriderError."""
        while True:
            try:
                await self.page.perform_step(step, refs[0], refs[1], text)
            except OutriderError as error:
                is_early = STOP_REASONS.get(error.code) == "blocked" or error.code == "no_option"
                if not is_early or time.monotonic() >= deadline:
                    raise
            else:
                return
            await anyio.sleep(POLL_INTERVAL_S)

    def require_no_dialog(self, *, is_open: bool = False) -> None:
        """Stop if the page has shown a dialog that the flow does not answer. Raises Stopped."""
        if question := self.page.take_unexpected_dialog(is_open=is_open):
            message = f"{question}, and the flow does not answer it: add `dialog: accept` or `dismiss` before the step"
            raise Stopped("unexpected_dialog", message)

    async def turn_page(self, press: FlowStep, refs: Sequence[str]) -> bool:
        """Press the button to the next page; return False if it is disabled. Raises Stopped if the page stays."""
        before = await self.page.read_view()
        try:
            await self.perform(press, refs, waits=False)
        except Stopped as stopped:
            if stopped.code == "disabled":
                return False
            raise
        deadline = time.monotonic() + self._patience_s
        while await self.page.read_view() == before:
            if time.monotonic() >= deadline:
                raise Stopped("no_effect", f"the page is the same after {press}", is_done=True)
            await anyio.sleep(POLL_INTERVAL_S)
        return True

    async def extract_rows(
        self, extraction: Extraction, page_before: Sequence[Mapping[str, Value]] = ()
    ) -> list[dict[str, Value]]:
        """Return the rows once they are stable; wait while the page may still be loading.

        Args:
            extraction: The wanted rows.
            page_before: The rows of the previous page in a loop over pages, so that they are not read again.

        Raises:
            Stopped: The rows do not appear, or have another structure.
        """
        deadline = time.monotonic() + self._patience_s
        last: list[dict[str, Value]] | None = None
        problem = ""
        while True:
            try:
                rows = read_rows(extraction, await self.page.read_structures(extraction))
                is_old = bool(rows) and rows == list(page_before)
                problem = "the rows are still those of the previous page" if is_old else "the rows keep changing"
                if rows == last and not is_old:
                    return rows
                last = rows
            except ExtractionMismatch as mismatch:
                problem, last = str(mismatch), None
            if time.monotonic() >= deadline:
                raise Stopped("data_mismatch", problem)
            await anyio.sleep(POLL_INTERVAL_S)

    async def _find_element(self, target: Target, kind: str) -> Match:
        """Find the one certain element; wait for it while the page may still be loading."""
        settled_s = 2.0  # how long an ambiguous page may still change
        deadline = time.monotonic() + self._patience_s
        last, since = "", time.monotonic()
        lists = ListSearch()
        while True:
            match = match_target(target, await self.page.list_candidates(target), kind)
            if (
                match.candidate
                and kind in ("click", "press")
                and (other := find_other_choice(target, match.candidate, self._chosen, self._settable))
            ):
                match = Match("changed", message=f"{match.candidate.title}: {other}")
            now = time.monotonic()
            if match.message != last:
                last, since = match.message, now
            is_settled = match.reason != "not_found" and now - since >= min(settled_s, self._patience_s)
            is_over = (now >= deadline and not lists.is_going_on) or is_settled
            # A page that is still loading may enable it.
            if match.candidate is not None and (is_over or not match.candidate.disabled):
                self._known_url = (await self.page.read_view()).url
                return match
            if is_over:
                break
            if match.reason == "not_found" and target.row and now - since >= settled_s / 2:
                await lists.scroll_on(self.page)
            await anyio.sleep(POLL_INTERVAL_S)
        view = await self.page.read_view()
        # A sign-in page instead of the expected page needs a person; a password field among the expected fields does
        # not.
        if match.reason == "not_found" and view.needs_person and view.url != self._known_url:
            raise Stopped("needs_person", f"{match.message}; the page asks for a sign-in or a check that you are human")
        assert match.reason != "found"
        raise Stopped(match.reason, match.message)

    async def require_origin(self, step: FlowStep | None, origins: Sequence[str]) -> None:
        """Stop on a site that the flow does not name, before or after a step. Raises Stopped."""
        url = step.open if step and step.open else (await self.page.read_view()).url
        is_leaving = step is not None and step.kind in ("open", "tab", "back", "forward")
        is_start = url == "about:blank" and (step is None or is_leaving)
        if is_start or is_named_origin(url, origins) or (is_leaving and not (step and step.open)):
            return
        message = f"{read_origin(url) or url[:100]} is not among the flow's origins ({', '.join(origins)})"
        raise Stopped("origin_refused", message, is_done=step is None)

    async def require_effect(self, step: FlowStep) -> None:
        """Wait for the required effect of a step. Raises Stopped."""
        if step.expect is None or not (unmet := await self.wait_for(step.expect, before=self._messages)):
            return
        self.require_no_dialog(is_open=True)
        view = await self.page.read_view()
        is_sign_in = view.needs_person and view.url != self._known_url
        raise Stopped("needs_person" if is_sign_in else "check_failed", f"after it, {unmet}", is_done=True)

    async def wait_for(
        self, condition: FlowCondition, seconds: float | None = None, *, before: PageMessages | None = None
    ) -> str:
        """Wait for a condition; return the part that does not hold, or an empty text.

        Args:
            condition: The condition.
            seconds: How long to wait; the condition's own time by default.
            before: The messages before a press; a new one may then take the place of the expected text.
        """
        max_seconds = condition.seconds if seconds is None else seconds
        started, own_text_s = time.monotonic(), min(2.0, max_seconds / 2)  # until then, only the expected text counts
        while unmet := find_unmet(self._translate(condition), await self.page.read_view()):
            waited_s = time.monotonic() - started
            is_unknown = before and condition.text and condition.text not in self._translations
            if before and is_unknown and (self._is_translated or waited_s >= own_text_s):
                find = find_translation if self._is_translated else find_success
                if seen := find(before, await self.page.read_messages()):
                    self._translations[condition.text or ""] = seen
                    continue
            if waited_s >= max_seconds:
                return unmet
            await anyio.sleep(POLL_INTERVAL_S)
        return ""

    def _translate(self, condition: FlowCondition) -> FlowCondition:
        """Return a condition with the page's translation of its text, if any."""
        seen = self._translations.get(condition.text or "")
        return condition.model_copy(update={"text": seen}) if seen else condition

    async def describe_page(self) -> tuple[str, str]:
        """Return the page's snapshot and address."""
        try:
            return await self.page.read_outline(), (await self.page.read_view()).url
        except OutriderError as error:
            return f"the page does not answer: {error.message}", ""


def _require_safe_address(step: FlowStep, candidate: ElementCandidate, origins: Sequence[str]) -> None:
    """Stop before a press that would lead to another site."""
    sends = step.kind in ("click", "press") or step.submit
    if sends and candidate.address and not is_named_origin(candidate.address, origins):
        message = f"{candidate.title} leads to {read_origin(candidate.address)}, which the flow does not name"
        raise Stopped("origin_refused", message)
