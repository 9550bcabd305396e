// Takes a snapshot: the outline of a document or of one element in it, with the scroll position.

// `withBaseline` adds the outline for later comparisons, if it differs from the one that is asked for.
function takeSnapshot({ mode = "full", root = "", urls = false, shown = true, withBaseline = false } = {}) {
  const top = root ? elementOf(root) : bodyOf(document) || document.documentElement;
  const current = readPosition();
  if (!top) return { lines: "", gone: Boolean(root), ...current };
  const report = buildOutline(top, { mode, root, urls, shown });
  const baselineMode = current.elements < LARGE_PAGE_ELEMENTS ? "full" : "viewport";
  if (withBaseline && baselineMode !== mode) report.baseline = buildOutline(top, { mode: baselineMode, shown: false }).lines;
  return { ...report, ...current };
}

// Larger documents are compared by their viewport only: the same number as in snapshot.py.
const LARGE_PAGE_ELEMENTS = 6000;

function buildOutline(top, { mode, root = "", urls = false, shown }) {
  const view = mode === "viewport" && !root ? new ViewportFilter() : null;
  const out = new OutlineWriter({ view, urls, whole: Boolean(root), shown });
  if (root) walkRoot(top, out);
  else walkElement(top, out, new ParentContext(getComputedStyle(document.documentElement)));
  out.flush();
  return buildReport(out, view);
}

function walkRoot(top, out) {
  if (top.localName === "select") return walkOptions(top, out);
  walkElement(top, out, new ParentContext(getComputedStyle(parentElementOf(top) || top)));
}

function walkOptions(select, out) {
  emitField(select, out, getComputedStyle(select), computeRole(select));
  out.flush();
  for (const option of select.options) {
    out.line(`- ${collapseSpace(option.label)}${option.selected ? " selected" : ""}${option.disabled ? " disabled" : ""}`);
  }
}

function buildReport(out, view) {
  const lines = cleanText(out.lines.join("\n"));
  const outside = view ? { above: cleanText(view.above.describe()), below: cleanText(view.below.describe()) } : {};
  return { lines, count: out.count, suspects: out.suspects, shadows: out.shadows, modal: findModalDialog() !== null, ...outside };
}

// Removes characters that only machines see: see `core/untrusted.py`.
function cleanText(text) {
  const plain = text.normalize("NFC");
  if (!/[^\n -~]/.test(plain)) return plain;
  return plain.replace(INVISIBLE_CHARACTERS, (character) => (KEPT_CHARACTERS.has(character) ? character : "")).replace(STRAY_JOINERS, "");
}

const KEPT_CHARACTERS = new Set(["\n", "\u0001", "\u200c", "\u200d"]);

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
