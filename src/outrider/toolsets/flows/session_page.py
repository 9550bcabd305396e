"""A browser session as the page on which a flow acts (`flows.runner.FlowPage`)."""

from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import anyio

from outrider.browser.protocol.cdp import ContextGone, PageGone, ProtocolError
from outrider.browser.protocol.keys import parse_modifiers
from outrider.browser.protocol.values import ScriptError
from outrider.core.errors import InvalidInput, NotConfigured, OutriderError, Refused
from outrider.flows.conditions import PageMessages, PageView
from outrider.flows.evidence import ElementCandidate
from outrider.flows.extraction import Extraction, ExtractionMismatch, StructureReport
from outrider.flows.flow import FlowStep, Target
from outrider.flows.run import MAX_PICTURE_BYTES, RunPicture
from outrider.flows.step_runner import PageTool
from outrider.toolsets.browser.results import escape_line, translate_errors
from outrider.toolsets.flows.secret_parameters import SecretFilter

if TYPE_CHECKING:
    from outrider.browser.actions.page_tools import PageTools
    from outrider.browser.protocol.frames import Frame
    from outrider.browser.session.session import Session

TEXT_SCRIPT = """(limit) => ({
  url: location.href, title: document.title,
  text: [...document.querySelectorAll('dialog[open],[role=dialog],[role=alertdialog]')]
    .map((each) => (each.checkVisibility() && each.getAttribute('aria-label')) || '').join('\\n').slice(0, 10000)
    + '\\n' + (document.body?.innerText ?? '').slice(0, limit),
  person: [...document.querySelectorAll('input[type=password]')].some((each) => each.checkVisibility())
    || document.querySelector('iframe[src*=captcha],iframe[src*=challenges]') !== null,
})"""
ActionFunction = Callable[["PageTools", FlowStep, str, str, str], Coroutine[Any, Any, object]]


class SessionPage:
    """The current tab of a session.

    Args:
        session: The session.
    """

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._known_dialogs = session.dialogs.total

    async def read_view(self) -> PageView:
        """Return address, title and text; only the address while a dialog blocks the page."""
        max_chars = 200_000
        if self._session.dialogs.unanswered:
            return PageView(self._session.url)
        texts: list[str] = []
        view: dict[str, Any] = {}
        async with self._use_tools() as tools:
            for frame in list(tools.page.frames):
                try:
                    report = await frame.evaluate("outrider", TEXT_SCRIPT, max_chars, timeout=5.0)
                except (ContextGone, PageGone, ProtocolError, ScriptError, OutriderError):
                    continue  # the frame is being replaced; the next read sees the new one
                view = report if frame.parent is None else view
                texts.append(str(report["text"]))
            url = str(view.get("url") or tools.page.url)
        return PageView(url, str(view.get("title", "")), "\n".join(texts), bool(view.get("person")))

    async def list_candidates(self, target: Target) -> Sequence[ElementCandidate]:
        """Return the elements of all frames that may be the target."""
        names = ("role", "name", "row", "near", "under", "path", "attributes")
        query = {name: getattr(target, name) for name in names}
        found: list[ElementCandidate] = []
        async with self._use_tools() as tools:
            await tools.snapshotter.ensure_baseline()  # this opens closed shadow roots and finds listeners
            for frame in list(tools.page.frames):
                try:
                    reports = await tools.snapshotter.scripts.invoke(frame, "listEvidenceMatches", query)
                except (ContextGone, PageGone, ProtocolError, ScriptError):
                    continue
                url = read_document_url(frame) if frame.parent else ""
                found += [replace(ElementCandidate.from_evidence(report), frame_url=url) for report in reports]
        return found

    async def scroll_lists(self, *, is_from_top: bool) -> bool:
        """Scroll all lists on, or to their beginning; return whether any moved."""
        has_moved = False
        async with self._use_tools() as tools:
            for frame in list(tools.page.frames):
                with suppress(ContextGone, PageGone, ProtocolError, ScriptError):
                    has_moved |= bool(await tools.snapshotter.scripts.invoke(frame, "scrollLists", is_from_top))
        return has_moved

    async def read_messages(self) -> PageMessages:
        """Return headings and messages; none while a dialog blocks the page, or it cannot answer."""
        from outrider.browser.actions.outcome import read_milestones

        if self._session.dialogs.unanswered:
            return PageMessages()
        messages, alerts = list[str](), list[str]()
        async with self._use_tools() as tools:
            for frame in list(tools.page.frames):
                if shown := await read_milestones(tools.snapshotter.scripts, frame):
                    messages += (*shown.messages, *shown.headings)
                    alerts += shown.alerts
        return PageMessages(tuple(messages), tuple(alerts))

    async def read_structures(self, extraction: Extraction) -> Sequence[StructureReport]:
        """Return the structures of all frames that may match."""
        if self._session.dialogs.unanswered:
            return []
        found: list[StructureReport] = []
        async with self._use_tools() as tools:
            for frame in list(tools.page.frames):
                if extraction.page and frame.parent is not None:
                    continue
                try:
                    reports = await tools.snapshotter.scripts.invoke(frame, "readRecords", extraction.to_query())
                except (ContextGone, PageGone, ProtocolError):
                    continue
                except ScriptError as error:
                    raise ExtractionMismatch(f"the page cannot be read: {str(error)[:200]}") from None
                found += [StructureReport(each["name"], each["records"], each["missing"]) for each in reports]
        return found

    async def list_page_tools(self, name: str) -> Sequence[PageTool]:
        """Return the page's tools of this name; none if the operator has not turned them on."""
        offered = self._session.offered_tools
        if offered is None or self._session.dialogs.unanswered:
            return []
        async with self._use_tools() as tools:
            found = [each for each in offered.list_tools(tools.page) if each.name == name]
        return [PageTool(each.origin, each.is_consequential) for each in found]

    async def perform_step(self, step: FlowStep, ref: str, to_ref: str, secret: str) -> None:
        """Do a step. Raises OutriderError."""
        session = self._session
        async with translate_errors(ref if ref and step.tool is None else None):
            if step.kind in SESSION_ACTIONS:
                await SESSION_ACTIONS[step.kind](session, step)
                return
            if dialog := session.dialogs.unanswered:
                message = f"a {dialog.kind} dialog is open: {escape_line(dialog.message)}"
                raise Refused(message, code="dialog_open", hint="add a step `dialog: accept` or `dialog: dismiss`")
            files = await session.stage_uploads(step.files) if step.files else []
            async with self._use_tools() as tools:
                if step.tool is not None:
                    await self._call_page_tool(tools, step.tool, step.arguments, origin=ref)
                elif files:
                    await tools.forms.upload(ref, *files)
                else:
                    await PAGE_ACTIONS[step.kind](tools, step, ref, to_ref, secret)

    async def _call_page_tool(self, tools: "PageTools", name: str, arguments: dict[str, Any], origin: str) -> None:
        from outrider.browser.devtools.web_mcp import call_offered_tool

        offered = self._session.offered_tools
        if offered is None:
            raise NotConfigured("tools of pages are off (setting browser.web_mcp)", hint="the operator can turn it on")
        await call_offered_tool(tools.page, offered.find_tool(tools.page, origin, name), arguments, seconds=30.0)

    def take_unexpected_dialog(self, *, is_open: bool = False) -> str:
        """Return the message of an unexpected dialog that was dismissed, once.

        With `is_open`, an open dialog is reported, too.
        """
        dialogs = self._session.dialogs
        news, self._known_dialogs = dialogs.list_since(self._known_dialogs), dialogs.total
        asked = next((each for each in news if each.is_unexpected), dialogs.unanswered if is_open else None)
        return f"a {asked.kind} dialog asks {escape_line(asked.message)!r}" if asked else ""

    async def read_outline(self, max_chars: int = 3_000) -> str:
        """Return an outline of the viewport."""
        if dialog := self._session.dialogs.unanswered:
            return f"a {dialog.kind} dialog: {escape_line(dialog.message)}"
        async with translate_errors(), self._use_tools() as tools:
            return str(await tools.snapshotter.take_snapshot("viewport", limit=max_chars))

    async def take_picture(self, hidden: SecretFilter) -> RunPicture | None:
        """Take a picture of the viewport; return None if that fails or would show a secret."""
        from outrider.browser.page.screenshot import take_fitting_screenshot

        timeout_s, max_side_px = 20.0, 1_280
        with suppress(OutriderError), anyio.move_on_after(timeout_s):
            # An open dialog blocks the page. Fields with secrets show dots, but the page itself may repeat a secret.
            if self._session.dialogs.unanswered or await self._shows_secret(hidden):
                return None
            async with translate_errors(), self._session.acquire_page() as page:
                shot = await take_fitting_screenshot(page, max_side_px=max_side_px, max_bytes=MAX_PICTURE_BYTES)
            # The page may have changed since it was read.
            if len(shot.data) <= MAX_PICTURE_BYTES and not await self._shows_secret(hidden):
                return RunPicture(shot.data, shot.mime_type)
        return None

    async def _shows_secret(self, hidden: SecretFilter) -> bool:
        """Return whether the page shows a secret's value.

        It may be text or in a field.
        """
        max_chars = 200_000
        if not hidden.values:
            return False
        view = await self.read_view()
        shown = f"{view.title}\n{view.text}\n{await self.read_outline(max_chars)}"
        return hidden.hide(shown) != shown

    @asynccontextmanager
    async def _use_tools(self) -> "AsyncGenerator[PageTools]":
        from outrider.browser.actions.page_tools import get_page_tools

        async with self._session.acquire_page() as page:
            yield get_page_tools(page)


async def click_element(tools: "PageTools", step: FlowStep, ref: str, _to: str, _secret: str) -> None:
    await tools.pointer.click(
        ref,
        button=step.button,
        count=step.count,
        modifiers=parse_modifiers(step.modifiers),
        hold_s=step.hold_ms / 1_000,
    )


def read_document_url(frame: "Frame") -> str:
    """Return the address of a frame's document, or else of its parent's."""
    while frame.parent is not None and frame.url.partition(":")[0] in ("", "about"):
        frame = frame.parent
    return frame.url


async def fill_field(tools: "PageTools", step: FlowStep, ref: str, _to: str, secret: str) -> None:
    if secret:
        await tools.forms.hide_value(ref)
    await tools.forms.type(ref, secret or step.text or "", append=step.append, submit=step.submit)


async def scroll_view(tools: "PageTools", step: FlowStep, _ref: str, _to: str, _secret: str) -> None:
    from outrider.browser.actions.scroll import scroll_page

    assert step.scroll is not None
    await scroll_page(tools, step.scroll, step.amount)


PAGE_ACTIONS: dict[str, ActionFunction] = {
    "click": click_element,
    "fill": fill_field,
    "scroll": scroll_view,
    "select": lambda tools, step, ref, _to, _secret: tools.forms.select(ref, *step.options, named=True),
    "check": lambda tools, _step, ref, _to, _secret: tools.forms.check(ref),
    "uncheck": lambda tools, _step, ref, _to, _secret: tools.forms.check(ref, checked=False),
    "hover": lambda tools, _step, ref, _to, _secret: tools.pointer.hover(ref),
    "drag": lambda tools, _step, ref, to, _secret: tools.pointer.drag(ref, to),
    "press": lambda tools, step, ref, _to, _secret: tools.pointer.press_keys(step.press or "", ref=ref),
}


async def open_address(session: "Session", step: FlowStep) -> None:
    await session.goto(step.open or "")


async def step_through_history(session: "Session", step: FlowStep) -> None:
    arrival = await (session.go_back() if step.back else session.go_forward())
    if not arrival.moved:
        raise InvalidInput(f"the session has no page to go {step.kind} to", code="no_effect")


async def switch_tab(session: "Session", step: FlowStep) -> None:
    """Open a tab, or switch to one, which a press may have opened just now."""
    if step.tab == "new":
        await session.open_tab()
        return
    number, tries = int(step.tab or 0), 30
    while len(session.tabs) < number and tries:
        tries -= 1
        await anyio.sleep(0.1)
    await session.switch_tab(number)


async def answer_dialog(session: "Session", step: FlowStep) -> None:
    accept = step.dialog == "accept"
    if session.dialogs.unanswered is None:
        session.dialogs.preset_answer(accept=accept, text=step.text)
    else:
        await session.dialogs.answer(accept=accept, text=step.text)


async def reload_page(session: "Session", _step: FlowStep) -> None:
    await session.reload()


SESSION_ACTIONS: dict[str, Callable[["Session", FlowStep], Coroutine[Any, Any, None]]] = {
    "open": open_address,
    "back": step_through_history,
    "forward": step_through_history,
    "reload": reload_page,
    "tab": switch_tab,
    "dialog": answer_dialog,
}
