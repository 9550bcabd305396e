"""Measure how a page has loaded: milestones, Web Vitals, long tasks and slow resources."""

from dataclasses import dataclass
from typing import Any

from outrider.browser.protocol.page import BrowserPage
from outrider.browser.protocol.redact import redact_url
from outrider.browser.protocol.scripts import ISOLATED_WORLD

# Layout shifts add up in windows of at most 5 s with gaps below 1 s; the worst one counts (web.dev/articles/cls).
# INP is taken as the slowest interaction, which is exact below 50 interactions (web.dev/articles/inp).
# Of past interactions, the browser keeps the first, and those of at least 104 ms (w3.org/TR/event-timing).
MEASURE_SCRIPT = """async () => {
  const read = (type, options = {}) => new Promise(done => {
    if (!PerformanceObserver.supportedEntryTypes.includes(type)) return done([])
    const entries = []
    const observer = new PerformanceObserver(list => entries.push(...list.getEntries()))
    observer.observe({type, buffered: true, ...options})
    setTimeout(() => { entries.push(...observer.takeRecords()); observer.disconnect(); done(entries) }, 50)
  })
  const [paints, shifts, tasks, events, first] = await Promise.all([read('largest-contentful-paint'),
    read('layout-shift'), read('longtask'), read('event', {durationThreshold: 16}), read('first-input')])
  let cls = 0, sum = 0, start = -Infinity, last = -Infinity
  for (const {startTime, value, hadRecentInput} of shifts) {
    if (hadRecentInput) continue
    if (startTime - last > 1000 || startTime - start > 5000) { sum = 0; start = startTime }
    sum += value; last = startTime; cls = Math.max(cls, sum)
  }
  const navigation = performance.getEntriesByType('navigation')[0]
  const largest = paints.at(-1), slow = [...performance.getEntriesByType('resource')]
  const interactions = [...events.filter(each => each.interactionId), ...first].map(each => each.duration)
  const element = largest?.element
  return {
    ttfb: navigation?.responseStart ?? 0, parsed: navigation?.domContentLoadedEventEnd ?? 0,
    load: navigation?.loadEventEnd ?? 0, bytes: navigation?.transferSize ?? 0,
    fcp: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null,
    lcp: largest?.startTime ?? null,
    element: element ? `<${element.localName}${element.id ? ` id=${element.id}` : ''}>` : '',
    cls, inp: interactions.length ? Math.max(...interactions) : null,
    tasks: tasks.map(each => [each.startTime, each.duration]),
    resources: slow.length,
    slowest: slow.sort((one, other) => other.duration - one.duration).slice(0, 5)
      .map(each => [each.name, each.initiatorType, each.duration, each.transferSize]),
  }
}"""
# Upper limit of good and lower limit of poor values, in ms (CLS: a score) (web.dev/articles/vitals).
RATINGS: dict[str, tuple[float, float]] = {
    "ttfb": (800, 1_800),
    "fcp": (1_800, 3_000),
    "lcp": (2_500, 4_000),
    "cls": (0.1, 0.25),
    "inp": (200, 500),
}


@dataclass(frozen=True)
class PerformanceReport:
    """The loading times of the current document; `values` are those that `MEASURE_SCRIPT` returns."""

    values: dict[str, Any]

    def rate_value(self, name: str) -> str:
        """Return `good`, `needs improvement` or `poor`."""
        good, poor = RATINGS[name]
        value = self.values[name]
        return "good" if value <= good else "poor" if value > poor else "needs improvement"

    def describe_findings(self) -> list[str]:
        """Return a sentence for each finding."""
        values = self.values
        sentences = [f"The first byte came after {values['ttfb']:.0f} ms ({self.rate_value('ttfb')})."]
        for name, moment in (("parsed", "parsed"), ("load", "loaded")):
            sentences.append(f"The document was {moment} after {values[name]:.0f} ms." if values[name] else "")
        if values["fcp"] is not None:
            sentences.append(
                f"FCP: the first content was painted after {values['fcp']:.0f} ms ({self.rate_value('fcp')})."
            )
        if values["lcp"] is not None:
            part = f", {values['element']}," if values["element"] else ""
            text = (
                f"LCP: the largest content{part} was painted after {values['lcp']:.0f} ms ({self.rate_value('lcp')})."
            )
            sentences.append(text)
        sentences.append(f"CLS: the layout shifted by {values['cls']:.3f} ({self.rate_value('cls')}).")
        if values["inp"] is None:
            sentences.append("INP: not seen yet; it needs a click, a tap or a key.")
        else:
            rating = self.rate_value("inp")
            sentences.append(f"INP: the slowest interaction took {values['inp']:.0f} ms ({rating}).")
        if not (tasks := values["tasks"]):
            sentences.append("No task blocked the page for more than 50 ms.")
        else:
            start, longest = max(tasks, key=lambda task: task[1])
            total = sum(duration for _, duration in tasks)
            head = f"Tasks of more than 50 ms: {len(tasks)}, {total:.0f} ms in all"
            sentences.append(f"{head}; the longest, of {longest:.0f} ms, began at {start:.0f} ms.")
        sentences += [f"Resources: {values['resources']}; the slowest:"] if values["slowest"] else []
        sentences += [
            f"- {duration:.0f} ms, {size:,.0f} B, {kind}: {redact_url(url)}"
            for url, kind, duration, size in values["slowest"]
        ]
        return [*filter(None, sentences)]


async def measure_performance(page: BrowserPage) -> PerformanceReport:
    """Measure the document that the page shows, from its navigation until now."""
    # Chromium reports an interaction when the frame after it is shown, which a hidden page does not get.
    pixel = {"x": 0, "y": 0, "width": 1, "height": 1, "scale": 1}
    await page.send("Page.captureScreenshot", {"clip": pixel}, timeout=15.0)
    return PerformanceReport(await page.evaluate_in(ISOLATED_WORLD, MEASURE_SCRIPT, timeout=15.0))
