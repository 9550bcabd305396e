"""Audit a page's accessibility with axe-core (https://github.com/dequelabs/axe-core), which is shipped unchanged."""

import gzip
from dataclasses import dataclass
from pathlib import Path

import anyio

from outrider.browser.protocol.page import BrowserPage

AUDIT_WORLD = "outrider-audit"
# Frames of other sites are only audited when their own document is opened.
AUDIT_SCRIPT = """async (selector, tags) => {
  const part = selector ? document.querySelector(selector) : document
  if (!part) return null
  const {violations, incomplete, passes} = await axe.run(part, {
    iframes: false, runOnly: tags, resultTypes: ['violations', 'incomplete'],
  })
  const shorten = rule => ({
    rule: rule.id, impact: rule.impact ?? '', help: rule.help, url: rule.helpUrl, count: rule.nodes.length,
    elements: rule.nodes.slice(0, 5).map(node => [node.target.flat().join(' '), node.html.slice(0, 200)]),
  })
  return {violations: violations.map(shorten), incomplete: incomplete.map(shorten), passed: passes.length}
}"""
IMPACTS = ("critical", "serious", "moderate", "minor", "")
STANDARD_TAGS = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa")


@dataclass(frozen=True)
class Violation:
    """A rule that elements break. `elements` are selector and markup of the first five of `count`."""

    rule: str
    impact: str
    help: str
    url: str
    count: int
    elements: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class AccessibilityReport:
    """The result of an audit.

    It has the violations (worst first), the rules that a person must check, and the number of rules that pass.
    """

    violations: tuple[Violation, ...]
    unclear: tuple[Violation, ...]
    passed: int


async def audit_accessibility(
    page: BrowserPage, selector: str = "", *, best_practices: bool = False
) -> AccessibilityReport | None:
    """Audit a page or element by WCAG 2.0 to 2.2 (A, AA).

    Args:
        page: The page; it cannot see the audit, which runs in an isolated world.
        selector: Only inside this element; None is returned if there is none.
        best_practices: Include rules that no standard demands.
    """
    if not await page.evaluate_in(AUDIT_WORLD, "() => 'axe' in globalThis"):
        packed = await anyio.Path(Path(__file__).with_name("axe.min.js.gz")).read_bytes()
        source = gzip.decompress(packed).decode()
        await page.evaluate_in(AUDIT_WORLD, f"() => {{ {source}\n }}")
    tags = [*STANDARD_TAGS, *(["best-practice"] if best_practices else [])]
    found = await page.evaluate_in(AUDIT_WORLD, AUDIT_SCRIPT, selector, tags, timeout=60.0)
    if found is None:
        return None
    violations, unclear = (
        tuple(
            Violation(**(rule | {"elements": tuple((where, markup) for where, markup in rule["elements"])}))
            for rule in sorted(found[kind], key=lambda rule: IMPACTS.index(rule["impact"]))
        )
        for kind in ("violations", "incomplete")
    )
    return AccessibilityReport(violations, unclear, found["passed"])
