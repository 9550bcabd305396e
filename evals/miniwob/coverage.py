"""Measure how much of a page a snapshot shows.

The truth does not come from the code under test: the pages are served with a first script that records listeners for
pointer events, and the rest is read from the rendered page. Elements that a pointer cannot hit do not count.
"""

import re
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

# Runs before the page's own scripts and records listeners.
NOTE_LISTENERS = """<script>(() => {
  const kinds = new Set(['click', 'dblclick', 'mousedown', 'mouseup', 'pointerdown', 'pointerup', 'touchstart']);
  const add = EventTarget.prototype.addEventListener;
  const heard = window.heardBy = new Set();
  EventTarget.prototype.addEventListener = function (kind, ...rest) {
    if (kinds.has(kind) && this instanceof Element) heard.add(this);
    return add.call(this, kind, ...rest);
  };
})()</script>"""
# Runs in the world of our scripts, which know the references; everything else uses plain DOM.
FIND_CLICKABLE = """(refs, native) => {
  const named = new Set(refs.map((ref) => outrider.elementOf(ref)).filter(Boolean));
  const middle = (element) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    return document.elementFromPoint(left + width / 2, top + height / 2);
  };
  const hand = (element) => getComputedStyle(element).cursor === 'pointer' &&
    getComputedStyle(element.parentElement).cursor !== 'pointer' && element.localName !== 'label';
  const sets = (element) => ['onclick', 'onmousedown', 'onmouseup'].some((name) => element[name]);
  const reached = (element) => { const hit = middle(element); return hit && element.contains(hit); };
  const shown = (element) => {
    if (named.has(element) || [...(element.labels || [])].some((label) => named.has(label))) return true;
    for (const each of named) if (element.contains(each) || (each.contains(element) && element.contains(middle(each)))) return true;
    return false;
  };
  const found = [...document.body.querySelectorAll('*')].filter((element) =>
    element.localName !== 'option' && (element.matches(native) || hand(element) || sets(element)) &&
    element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && reached(element));
  const missing = found.filter((element) => !shown(element));
  return { total: found.length, missing: missing.map((element) => element.outerHTML.slice(0, 120)) };
}"""
READ_VISIBLE_TEXT = """() => {
  const unread = 'script,style,noscript,template,option,textarea,title,desc';
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  const found = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    if (!node.data.trim() || parent.closest(unread)) continue;
    if (!parent.checkVisibility({ visibilityProperty: true, opacityProperty: true })) continue;
    range.selectNodeContents(node);
    if ([...range.getClientRects()].some((box) => box.width > 0 && box.height > 0)) found.push(node.data);
  }
  return found;
}"""
REF_PATTERN = re.compile(r"(?<=[ <(\[])((?:e[a-z]*|f[a-z]+)[1-9]\d*)(?=[ >\])]|$)", re.MULTILINE)
Evaluate = Callable[..., Awaitable[Any]]


@dataclass(frozen=True)
class Coverage:
    """Counts for one page.

    Attributes:
        clickable: Elements that a pointer can reach and that react to it.
        missing: The sources of clickable elements without a reference.
        words: Visible words.
        missing_words: Visible words that the snapshot lacks.
    """

    clickable: int
    missing: tuple[str, ...]
    words: int
    missing_words: tuple[str, ...]


async def measure_coverage(evaluate: Evaluate, text: str) -> Coverage:
    """Compare a page with a snapshot of all of it.

    Args:
        evaluate: Evaluates a function in a world of the page: its name, the function, arguments.
        text: The snapshot.
    """
    clickable_selector = (
        "a[href],button,input:not([type=hidden]),select,textarea,summary,[contenteditable=true],[role=button],[role=link],"
        "[role=checkbox],[role=radio],[role=tab],[role=menuitem],[role=option],[role=switch],[role=slider],[data-heard],"
        "[onclick],[onmousedown],[onmouseup]"
    )
    unmark_listeners = "() => { for (const each of window.heardBy) each.removeAttribute('data-heard'); }"
    mark_listeners = "() => { for (const each of window.heardBy) each.setAttribute('data-heard', ''); }"
    await evaluate("", mark_listeners)
    try:
        found = await evaluate("outrider", FIND_CLICKABLE, REF_PATTERN.findall(text), clickable_selector)
    finally:
        await evaluate("", unmark_listeners)
    seen, told = _count_words(" ".join(await evaluate("", READ_VISIBLE_TEXT))), _count_words(text)
    missing_words = seen - told
    return Coverage(found["total"], tuple(found["missing"]), seen.total(), tuple(missing_words.elements()))


def _count_words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text))
