// Takes a snapshot: the outline of a document or of one element in it, with the scroll position.

// `withBaseline` adds the outline for later comparisons, if it differs from the requested one.
function takeSnapshot({ mode = "full", root = "", urls = false, shown = true, withBaseline = false, budgetMs = Infinity } = {}) {
  const top = root ? elementOf(root) : bodyOf(document) || document.documentElement;
  const current = readPosition();
  if (!top) return { lines: "", gone: Boolean(root), ...current };
  const report = buildOutline(top, { mode, root, urls, shown, budgetMs });
  const baselineMode = current.elements < LARGE_PAGE_ELEMENTS ? "full" : "viewport";
  if (withBaseline && baselineMode !== mode) report.baseline = buildOutline(top, { mode: baselineMode, shown: false, budgetMs }).lines;
  return { ...report, ...current };
}

// Larger documents are compared by their viewport only: the same number as in snapshot.py.
const LARGE_PAGE_ELEMENTS = 6000;

function buildOutline(top, { mode, root = "", urls = false, shown, budgetMs }) {
  const view = mode === "viewport" && !root && !isFrameInFull() ? new ViewportFilter() : null;
  const out = new OutlineWriter({ view, urls, valueLimit: root ? chooseValueLimit(top) : undefined, shown, budgetMs });
  forgetStyledElements();
  forgetCounters();
  searchStyledElements(document);
  if (root) walkRoot(top, out);
  else walkElement(top, out, new ParentContext(getComputedStyle(document.documentElement), document.documentElement));
  out.flush();
  return buildReport(out, view);
}

// Only a field that is requested alone is shown in full, because a page can have thousands.
function chooseValueLimit(top) {
  return tagOf(top) === "textarea" || tagOf(top) === "input" || isEditingHost(top) ? MAX_ROOT_VALUE_CHARS : 5000;
}

// Hit-testing in a frame needs a layout of all frames, and is useless for a frame that shows its whole document.
function isFrameInFull() {
  const page = document.scrollingElement || document.documentElement;
  return window.parent !== window && page.scrollHeight <= innerHeight && page.scrollWidth <= innerWidth;
}

function walkRoot(top, out) {
  if (top.localName === "select") return walkOptions(top, out);
  const parent = parentElementOf(top) || top;
  walkElement(top, out, new ParentContext(getComputedStyle(parent), parent));
}

function walkOptions(select, out) {
  emitField(select, out, getComputedStyle(select), computeRole(select));
  out.flush();
  for (const option of select.options) {
    out.line(`- ${plainLine(option.label)}${option.selected ? " selected" : ""}${option.disabled ? " disabled" : ""}`);
  }
}

function buildReport(out, view) {
  const lines = out.lines.join("\n");
  const outside = view ? { above: view.above.describe(), below: view.below.describe() } : {};
  return { lines, count: out.count, stopped: out.stopped ? out.elements : 0, focus: describeFocus(), suspects: out.suspects, components: out.components, shadows: out.shadows, modal: findModalDialog() !== null, ...outside };
}

// The reference of the focused element; lines omit it, so that moving the focus does not change them.
function describeFocus() {
  const element = focusedElement();
  return (element && tagOf(element) !== "iframe" && refOfElement.get(element)) || "";
}

function readPosition() {
  const page = document.scrollingElement || document.documentElement;
  return {
    title: titleOf(document),
    url: location.href,
    x: Math.round(scrollX),
    y: Math.round(scrollY),
    width: innerWidth,
    height: innerHeight,
    scrollWidth: page?.scrollWidth || 0,
    scrollHeight: page?.scrollHeight || 0,
    elements: document.getElementsByTagName("*").length,
    state: document.readyState,
  };
}

function findModalDialog() {
  const open = document.querySelectorAll("dialog:modal");
  return open.length ? open[open.length - 1] : null;
}
