// Shared by all pages: readable times, keys, messages, and requests to the server.

const root = document.documentElement.dataset.root;

// A path below the dashboard's root, wherever it is mounted.
export const path = (rest) => `${root}${rest}`;

// Creates an element with attributes and children. Strings become text, never markup.
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// Sends JSON and returns the JSON of the answer. Throws an Error with the server's message, to show to the person.
export async function send(where, body = {}) {
  const answer = await fetch(where, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify(body),
  });
  const said = await answer.json().catch(() => ({}));
  if (answer.ok) return said;
  const { message = `The server answered ${answer.status}.`, hint = "", code = "" } = said.error ?? {};
  throw Object.assign(new Error(hint ? `${message} ${hint}` : message), { code, status: answer.status });
}

// Turns a fragment of HTML from our own server (`render.fragment`), which escapes it, into one element.
export async function fragment(where) {
  const answer = await fetch(where, { headers: { accept: "text/html" } });
  if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
  const parsed = new DOMParser().parseFromString(await answer.text(), "text/html");
  return document.adoptNode(parsed.body.firstElementChild);
}

// Shows a short message in the corner, which screen readers announce too.
export function toast(text, milliseconds = 6000) {
  const shown = element("div", { class: "toast" }, text);
  document.getElementById("toasts").append(shown);
  setTimeout(() => shown.remove(), milliseconds);
}

const STEPS = [[60, 1, "second"], [3600, 60, "minute"], [86400, 3600, "hour"], [Infinity, 86400, "day"]];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });

// Formats a date as "3 min. ago".
export function ago(date) {
  const seconds = (date - Date.now()) / 1000;
  const [, unit, name] = STEPS.find(([limit]) => Math.abs(seconds) < limit);
  return relative.format(Math.trunc(seconds / unit), name);
}

// Creates a <time> that stays up to date; `seconds` since the epoch.
export function time(seconds) {
  const made = element("time", { datetime: new Date(seconds * 1000).toISOString() });
  tell(made);
  return made;
}

function tell(each) {
  const date = new Date(each.dateTime);
  if (Number.isNaN(date.valueOf())) return;
  each.title = date.toLocaleString();
  const text = each.dataset.exact === undefined ? ago(date) : date.toLocaleTimeString();
  if (each.textContent !== text) each.textContent = text;
}

const tellAll = () => document.querySelectorAll("time[datetime]").forEach(tell);
tellAll();
setInterval(tellAll, 5000);
document.addEventListener("outrider:shown", tellAll); // a script has added times to the page

// Forms with data-confirm ask first; selects with data-submit send their form at once.
document.addEventListener("submit", (event) => {
  const question = event.target.dataset.confirm ?? event.submitter?.dataset.confirm;
  if (question && !confirm(question)) event.preventDefault();
});
document.addEventListener("change", (event) => {
  if (event.target.dataset.submit !== undefined) event.target.form.requestSubmit();
});
// Leave empty filters out of the address.
document.addEventListener("formdata", (event) => {
  if (event.target.method !== "get") return;
  for (const [key, value] of [...event.formData]) if (value === "") event.formData.delete(key);
});

// Keys: `g` and a page's letter opens that page, `/` searches, `?` lists the keys.
let leading = false;
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (event.target.closest("input, textarea, select, [contenteditable], [data-keys-taken]")) return;
  if (leading) {
    leading = false;
    const link = document.querySelector(`.pages a[data-key="${CSS.escape(event.key)}"]`);
    if (link) link.click();
  } else if (event.key === "g") {
    leading = true;
    setTimeout(() => { leading = false; }, 1500);
  } else if (event.key === "/") {
    const search = document.querySelector('input[type="search"]');
    if (search) { event.preventDefault(); search.focus(); search.select(); }
  } else if (event.key === "?") {
    help();
  }
});

function help() {
  const open = document.querySelector("dialog.keys");
  if (open) { open.close(); return; }
  const rows = [...document.querySelectorAll(".pages a[data-key]")].map((link) => [`g ${link.dataset.key}`, link.firstChild.textContent]);
  rows.push(["/", "Search this page's list"], ["?", "These keys"]);
  const table = element("table", { class: "table" }, element("tbody", {}, ...rows.map(([keys, what]) =>
    element("tr", {}, element("td", {}, ...keys.split(" ").flatMap((key) => [element("kbd", {}, key), " "])), element("td", {}, what)))));
  const close = element("button", { class: "button", autofocus: true, onclick: () => dialog.close() }, "Close");
  const dialog = element("dialog", { class: "keys", "aria-label": "Keys" }, element("h2", {}, "Keys"), table, close);
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
