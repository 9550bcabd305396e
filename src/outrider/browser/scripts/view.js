// Finds what is in the viewport, by hit-testing and by boxes, and summarizes the rest.

const PROBE_COLUMNS = 6;
const PROBE_ROWS = 10;
const MAX_HEADINGS = 4;

class ViewportFilter {
  constructor() {
    this.hits = new Set();
    this.above = new OutsideSummary();
    this.below = new OutsideSummary();
    for (let row = 0; row < PROBE_ROWS; row++) for (let column = 0; column < PROBE_COLUMNS; column++) this.probe(row, column);
  }

  probe(row, column) {
    const hit = elementAtPoint(((column + 0.5) / PROBE_COLUMNS) * innerWidth, ((row + 0.5) / PROBE_ROWS) * innerHeight);
    for (let each = hit; each && !this.hits.has(each); each = parentOf(each)) this.hits.add(each);
  }

  skips(element) {
    if (this.hits.has(element)) return false;
    const { top, bottom, left, right, width, height } = rectOf(element);
    if (bottom >= 0 && top <= innerHeight && right >= 0 && left <= innerWidth) return false;
    if (width === 0 && height === 0) return false;
    (bottom < 0 ? this.above : this.below).add(element);
    return true;
  }
}

class OutsideSummary {
  constructor() {
    this.headings = [];
    this.counts = { row: 0, link: 0, button: 0, field: 0, "list item": 0 };
  }

  add(element) {
    const tag = tagOf(element);
    if (tag === "tr") return this.addRow();
    if (tag === "li") this.counts["list item"] += 1;
    if (/^h[1-6]$/.test(tag)) this.addHeading(element);
    if (!firstElementOf(element)) return;
    for (const each of selectAll(element, "h1,h2,h3,h4")) this.addHeading(each);
    for (const [kind, selector] of Object.entries(SUMMARY_SELECTORS)) this.counts[kind] += selectAll(element, selector).length;
  }

  addRow() {
    this.counts.row += 1;
  }

  addHeading(element) {
    const text = isReadable(element) ? shorten(collapseSpace(readShownText(element)), 60) : "";
    if (text) this.headings.push(text);
  }

  describe() {
    const parts = this.headings.slice(0, MAX_HEADINGS).map(plainLine);
    const more = this.headings.length - parts.length;
    if (more > 0) parts.push(`${more} more headings`);
    for (const [kind, count] of Object.entries(this.counts)) if (count) parts.push(`${count} ${kind}${count > 1 ? "s" : ""}`);
    return parts.join(", ");
  }
}

const SUMMARY_SELECTORS = {
  row: "tr", link: "a[href]", button: "button,[role=button],input[type=submit],input[type=button]",
  field: "input:not([type=hidden],[type=submit],[type=button]),select,textarea", "list item": "li",
};
