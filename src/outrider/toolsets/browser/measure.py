"""Tools that measure pages: visual differences, performance and accessibility."""

from contextlib import suppress
from typing import Annotated

import anyio
from pydantic import Field

from outrider.browser.page.downloads import DOWNLOADS_FOLDER
from outrider.browser.page.file_names import make_safe_name
from outrider.browser.session.browsers import Browsers
from outrider.core.context import Call
from outrider.core.errors import InvalidInput, NotFound
from outrider.core.result import FILES_META_KEY, ImageBlock, Result, TextBlock
from outrider.toolsets.browser.network import browser_devtools
from outrider.toolsets.browser.results import escape_line, use_page
from outrider.toolsets.options import ToolOptions
from outrider.workspace import SessionWorkspaces


@browser_devtools.tool(effect="write", title="Compare pictures", open_world=True, untrusted=True, timeout=120)
async def compareScreenshot(
    browsers: Browsers,
    workspaces: SessionWorkspaces,
    call: Call,
    /,
    sessionId: str,
    name: Annotated[str, Field(min_length=1, max_length=100, description="Of the baseline")],
    selector: Annotated[str | None, Field(description="Only this")] = None,
    fullPage: bool = False,
    tolerance: Annotated[int, Field(ge=0, le=255)] = 16,
    replace: Annotated[bool, Field(description="Save a new baseline")] = False,
) -> Result:
    """Save a baseline screenshot on the first call; later calls show what changed and the share of pixels."""
    from outrider.browser.actions.page_tools import find_element
    from outrider.browser.devtools.image_difference import compare_images
    from outrider.browser.page.screenshot import take_screenshot

    files = (await anyio.to_thread.run_sync(workspaces.ensure_workspace, call)).files
    path = f"{DOWNLOADS_FOLDER}/{make_safe_name(f'{name}.png', 'page')}"
    async with use_page(browsers, call, sessionId, selector) as active:
        element = (await find_element(active.tools, selector))[1] if selector else None
        shot = await take_screenshot(active.tools.page, full=fullPage, element=element)
        before = None
        if not replace:
            with suppress(NotFound):  # there is no baseline yet
                before = await anyio.to_thread.run_sync(files.read_bytes, path)
        if before is None:
            await anyio.to_thread.run_sync(files.write_bytes, path, shot.data)
            text = f"Saved {path}, {shot.width}×{shot.height}; the next call with this name compares with it"
            return Result((TextBlock(text),), meta={FILES_META_KEY: [{"path": path}]})
        difference = await compare_images(active.tools.page, before, shot.data, tolerance=tolerance)
    if difference.box is None:
        return Result((TextBlock(f"No pixel differs from {path}."),))
    difference_path = f"{path.removesuffix('.png')}-difference.png"
    await anyio.to_thread.run_sync(files.write_bytes, difference_path, difference.picture)
    text = f"{difference} from {path}; saved {difference_path}"
    content = (TextBlock(text), ImageBlock(difference.picture, "image/png"))
    return Result(content, meta={FILES_META_KEY: [{"path": difference_path}]})


@browser_devtools.tool(title="Performance", open_world=True, untrusted=True, timeout=60)
async def measurePerformance(browsers: Browsers, options: ToolOptions, call: Call, /, sessionId: str) -> Result:
    """Measure how the page loaded: milestones, Web Vitals, long tasks and the slowest resources."""
    from outrider.browser.devtools.performance import measure_performance

    async with use_page(browsers, call, sessionId) as active:
        report = await measure_performance(active.tools.page)
        url = active.tools.page.url
    lines = [escape_line(line, 2_200) for line in report.describe_findings()]
    vitals = {name: report.values[name] for name in ("ttfb", "fcp", "lcp", "cls", "inp")}
    return Result((TextBlock(options.mark_untrusted("\n".join(lines), url)),), meta={"outrider/vitals": vitals})


@browser_devtools.tool(title="Accessibility", open_world=True, untrusted=True, timeout=90)
async def auditAccessibility(
    browsers: Browsers,
    options: ToolOptions,
    call: Call,
    /,
    sessionId: str,
    selector: Annotated[str | None, Field(description="CSS: only inside")] = None,
    bestPractices: bool = False,
) -> Result:
    """Check the page against WCAG 2.2 AA with axe-core: broken rules, worst first, with their elements."""
    from outrider.browser.devtools.accessibility_audit import audit_accessibility

    async with use_page(browsers, call, sessionId, selector) as active:
        page = active.tools.page
        report = await audit_accessibility(page, selector or "", best_practices=bestPractices)
        url = page.url
    if report is None:
        raise InvalidInput(f"selector: nothing matches {selector!r}", hint="call snapshotPage, or leave it out")
    broken, unclear = len(report.violations), len(report.unclear)
    head = f"rules: {broken} broken, {unclear} for a person to decide, {report.passed} passed"
    lines: list[str] = []
    for each in report.violations:
        lines.append(f"{each.impact or 'unrated'}: {each.help} ({each.rule}, {each.url.partition('?')[0]})")
        lines += [escape_line(f"  {selector}: {markup}") for selector, markup in each.elements]
        lines += [f"  and {rest} more"] if (rest := each.count - len(each.elements)) else []
    lines += [f"To check: {escape_line(each.help)} ({each.count} elements)" for each in report.unclear]
    text = f"{head}\n{options.mark_untrusted(chr(10).join(lines), url)}" if lines else head
    return Result(
        (TextBlock(text),), meta={"outrider/violations": {each.rule: each.count for each in report.violations}}
    )
