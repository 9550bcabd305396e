// What lies in the viewport: found by hit-testing, then by boxes; the rest is only outlined.

const COLUMNS = 6;
const ROWS = 10;
const REST_HEADINGS = 4;

class View {
  constructor() {
    this.hits = new Set();
    this.above = new Rest();
    this.below = new Rest();
    for (let row = 0; row < ROWS; row++) for (let column = 0; column < COLUMNS; column++) this.probe(row, column);
  }

  probe(row, column) {
    const hit = hitAt(((column + 0.5) / COLUMNS) * innerWidth, ((row + 0.5) / ROWS) * innerHeight);
    for (let each = hit; each && !this.hits.has(each); each = parentOf(each)) this.hits.add(each);
  }

  skips(element) {
    if (this.hits.has(element)) return false;
    const { top, bottom, left, right, width, height } = element.getBoundingClientRect();
    if (bottom >= 0 && top <= innerHeight && right >= 0 && left <= innerWidth) return false;
    if (width === 0 && height === 0) return false;
    (bottom < 0 ? this.above : this.below).add(element);
    return true;
  }
}

class Rest {
  constructor() {
    this.headings = [];
    this.counts = { row: 0, link: 0, button: 0, field: 0, "list item": 0 };
    this.letters = 0;
  }

  add(element) {
    const tag = tagOf(element);
    if (tag === "tr") return this.addRow();
    if (tag === "li") this.counts["list item"] += 1;
    if (/^h[1-6]$/.test(tag)) this.heading(element);
    if (!element.firstElementChild) return;
    for (const each of element.querySelectorAll("h1,h2,h3,h4")) this.heading(each);
    for (const [kind, selector] of Object.entries(REST_KINDS)) this.counts[kind] += element.querySelectorAll(selector).length;
  }

  addRow() {
    this.counts.row += 1;
  }

  heading(element) {
    const text = shorten(collapse(element.textContent), 60);
    if (text) this.headings.push(text);
  }

  told() {
    const parts = this.headings.slice(0, REST_HEADINGS);
    const more = this.headings.length - parts.length;
    if (more > 0) parts.push(`${more} more headings`);
    for (const [kind, count] of Object.entries(this.counts)) if (count) parts.push(`${count} ${kind}${count > 1 ? "s" : ""}`);
    return parts.join(", ");
  }
}

const REST_KINDS = {
  row: "tr", link: "a[href]", button: "button,[role=button],input[type=submit],input[type=button]",
  field: "input:not([type=hidden],[type=submit],[type=button]),select,textarea", "list item": "li",
};
