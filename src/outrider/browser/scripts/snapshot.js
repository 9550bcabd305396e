// A snapshot: the outline of a document, or of one element in it, with where it was looked at.

// With `both`, also the outline that later ones are compared with, where it is another one than was asked for.
function snapshot({ mode = "full", root = "", urls = false, telling = true, both = false } = {}) {
  const top = root ? elementOf(root) : bodyOf(document) || document.documentElement;
  const where = position();
  if (!top) return { lines: "", gone: Boolean(root), ...where };
  const told = outlined(top, { mode, root, urls, telling });
  const other = where.elements < LARGE ? "full" : "viewport";
  if (both && other !== mode) told.kept = outlined(top, { mode: other, telling: false }).lines;
  return { ...told, ...where };
}

// Elements from which on a document is compared by its viewport only: `LARGE` in snapshot.py.
const LARGE = 6000;

function outlined(top, { mode, root = "", urls = false, telling }) {
  const view = mode === "viewport" && !root ? new View() : null;
  const out = new Outline({ view, urls, whole: Boolean(root), telling });
  if (root) walkRoot(top, out);
  else walk(top, out, new Around(getComputedStyle(document.documentElement)));
  out.flush();
  return answer(out, view);
}

function walkRoot(top, out) {
  if (top.localName === "select") return walkOptions(top, out);
  walk(top, out, new Around(getComputedStyle(parentElementOf(top) || top)));
}

function walkOptions(select, out) {
  emitField(select, out, getComputedStyle(select), roleOf(select));
  out.flush();
  for (const option of select.options) {
    out.line(`- ${collapse(option.label)}${option.selected ? " selected" : ""}${option.disabled ? " disabled" : ""}`);
  }
}

function answer(out, view) {
  const lines = cleaned(out.lines.join("\n"));
  const rest = view ? { above: cleaned(view.above.told()), below: cleaned(view.below.told()) } : {};
  return { lines, count: out.count, suspects: out.suspects, shadows: out.shadows, modal: modalDialog() !== null, ...rest };
}

// Nothing that only machines see may reach a reader: see `core/untrusted.py`.
function cleaned(text) {
  const plain = text.normalize("NFC");
  if (!/[^\n -~]/.test(plain)) return plain;
  return plain.replace(INVISIBLE, (sign) => (KEPT.has(sign) ? sign : "")).replace(JOINERS, "");
}

const KEPT = new Set(["\n", "\u0001", "\u200c", "\u200d"]);

function position() {
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

function modalDialog() {
  const open = document.querySelectorAll("dialog:modal");
  return open.length ? open[open.length - 1] : null;
}
