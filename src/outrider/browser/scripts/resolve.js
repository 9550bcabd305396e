// From a CSS selector or a reference to the one element that is meant, or why there is none.

const MANY = 8;

function resolve(target, { strict = true } = {}) {
  return target.ref ? resolveRef(target.ref, strict) : resolveSelector(target.selector);
}

function resolveRef(ref, strict) {
  const element = elementOf(ref);
  if (!element) return { failure: goneRef(ref) };
  const change = strict ? changeSince(ref, element) : null;
  return change ? { element, failure: changedRef(ref, change) } : { element };
}

function goneRef(ref) {
  const before = shownAs.get(ref);
  if (!elementOfRef.has(ref) && !before) {
    return failing("not_found", `there is no ${ref} on this page`, "take a snapshot for the current references");
  }
  const twin = before ? twinOf(before) : null;
  const name = before ? ` ${describedAs(before.role, before.name)}` : "";
  const next = twin ? whatTwinIs(twin, before) : "take a snapshot";
  return failing("not_found", `${ref}${name} is no longer on the page`, next, { suggestions: [next] });
}

// One that the model has seen beside the lost one is another; one that it has not is the same drawn anew.
function whatTwinIs(twin, before) {
  const known = shownAs.has(refOfElement.get(twin) || "");
  const name = describedAs(before.role, before.name);
  return known ? `take a snapshot; ${refOf(twin)} is another ${name}` : `${refOf(twin)} is now ${name}`;
}

// A page that draws itself anew has an element of the same role and name where the old one was.
function twinOf({ role, name }) {
  const same = [];
  for (const element of everyElement(bodyOf(document) || document.documentElement)) {
    if (roleOf(element) === role && nameOf(element, role) === name && isSeen(element)) same.push(element);
    if (same.length > 1) return null;
  }
  return same[0] || null;
}

function changedRef(ref, { was, is }) {
  const message = `${ref} was ${was} in the snapshot and is now ${is}`;
  return failing("changed", message, `call again with ${ref} if that is what you want`);
}

function resolveSelector(selector) {
  let found;
  try {
    found = deepQuery(selector);
  } catch (error) {
    return { failure: failing("invalid_selector", `${selector} is not a valid CSS selector`, selectorHint(selector)) };
  }
  if (found.length === 1) return { element: found[0] };
  if (!found.length) return { failure: notFound(selector) };
  const seen = found.filter(isSeen);
  return seen.length === 1 ? { element: seen[0], matched: found.length } : { failure: ambiguous(selector, found, seen) };
}

function deepQuery(selector) {
  const direct = [...document.querySelectorAll(selector)];
  if (direct.length) return direct;
  const found = [];
  for (const element of everyElement(document.documentElement)) {
    const root = shadowOf(element);
    if (root) found.push(...root.querySelectorAll(selector));
  }
  return found;
}

function selectorHint(selector) {
  const text = /:(?:contains|has-text|text)\(\s*['"]?([^'")]+)/.exec(selector) || /^text=(.+)/.exec(selector);
  if (text) return `CSS cannot search by text: take a snapshot with find=${quoted(text[1])} and use the ref`;
  if (/^\/|^\(\/|^xpath=/.test(selector)) return "XPath is not accepted: use a CSS selector or a ref from a snapshot";
  const id = /#(\d[\w-]*)/.exec(selector);
  if (id) return `an id that begins with a digit is written [id="${id[1]}"]`;
  return "check brackets and quotes, or use a ref from a snapshot";
}

function notFound(selector) {
  const near = nearest(selector);
  const suggestions = near.map((each) => `${refOf(each)} ${describe(each)}`);
  const hint = near.length ? `closest: ${suggestions.join(", ")}` : "take a snapshot to see what is there";
  return failing("not_found", `nothing matches ${selector}`, hint, { suggestions, ready: document.readyState });
}

// Elements whose id, name, class or words share the selector's own words.
function nearest(selector) {
  const words = selector.toLowerCase().match(/[a-z0-9]{3,}/g) || [];
  if (!words.length) return [];
  const scored = [];
  for (const element of candidates()) {
    const told = `${element.id} ${element.getAttribute("name") || ""} ${element.getAttribute("class") || ""} ${nameOf(element)}`;
    const text = `${told} ${tagOf(element)}`.toLowerCase();
    const score = words.filter((word) => text.includes(word)).length;
    if (score && isSeen(element)) scored.push({ element, score });
  }
  scored.sort((one, other) => other.score - one.score);
  return scored.slice(0, 3).map((each) => each.element);
}

function candidates() {
  return [...document.querySelectorAll(NESTED)].slice(0, 500);
}

function ambiguous(selector, found, seen) {
  const shown = (seen.length ? seen : found).slice(0, MANY);
  const suggestions = shown.map((each) => `${refOf(each)} ${describe(each)}`);
  const message = `${selector} matches ${found.length} elements${seen.length < found.length ? `, ${seen.length} of them visible` : ""}`;
  return failing("ambiguous", message, `use one of the refs: ${suggestions.join(", ")}`, { count: found.length, suggestions });
}

// tag#id.class "name": enough to recognise an element in a sentence.
function describe(element) {
  const name = nameOf(element) || contentName(element);
  return `<${signature(element)}>${name ? ` ${quoted(shorten(name, 40))}` : ""}`;
}

function signature(element) {
  const first = (element.getAttribute("class") || "").trim().split(/\s+/)[0];
  const id = idOf(element) ? `#${shorten(idOf(element), 40)}` : "";
  return `${tagOf(element)}${id}${!id && first ? `.${shorten(first, 40)}` : ""}`;
}

function failing(reason, message, hint = "", more = {}) {
  return { reason, message, hint, suggestions: more.suggestions || (hint ? [hint] : []), ...more };
}
