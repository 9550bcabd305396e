// Resolves a selector or a reference to exactly one element, or explains why there is none.

const MAX_SUGGESTIONS = 8;

function resolveTarget(target, { strict = true } = {}) {
  if (!target.ref) return resolveSelector(target.selector, target.within);
  const found = resolveRef(target.ref, strict);
  return found.failure || !target.within || isInRow(found.element, target.within) ? found : { failure: explainOtherRow(target.ref, target.within) };
}

function resolveRef(ref, strict) {
  const element = elementOf(ref);
  if (!element) return { failure: explainGoneRef(ref) };
  const change = strict ? findChange(ref, element) : null;
  return change ? { element, failure: explainChangedRef(ref, change) } : { element };
}

function explainGoneRef(ref) {
  const before = shownNames.get(ref);
  if (!elementOfRef.has(ref) && !before) {
    return buildFailure("not_found", `there is no ${ref} on this page`, "take a snapshot for the current references");
  }
  const twin = before ? findTwin(before) : null;
  const name = before ? ` ${describeShown(before)}` : "";
  const next = twin ? describeTwin(twin, before) : "take a snapshot";
  return buildFailure("not_found", `${ref}${name} has left the page`, next, { suggestions: [next] });
}

// A twin that the model has already seen is another element; an unseen one is the same element, redrawn.
function describeTwin(twin, before) {
  const known = shownNames.has(refOfElement.get(twin) || "");
  const name = describeShown(before);
  return known ? `take a snapshot; ${refOf(twin)} is another ${name}` : `${refOf(twin)} is now ${name}`;
}

function findUnseenTwin(ref) {
  const before = shownNames.get(ref);
  const twin = before ? findTwin(before) : null;
  return twin && !shownNames.has(refOfElement.get(twin) || "") ? twin : null;
}

// A page that redraws itself has an element of the same role and name in place of the old one.
function findTwin({ role, name, row }) {
  const same = [];
  for (const element of iterElements(bodyOf(document) || document.documentElement)) {
    const isSame = computeRole(element) === role && nameToRecord(element, role) === name && nameOfRow(element) === row;
    if (isSame && isVisible(element)) same.push(element);
    if (same.length > 1) return null;
  }
  return same[0] || null;
}

function explainChangedRef(ref, { was, is }) {
  const message = `${ref} was ${was} in the snapshot and is now ${is}`;
  return buildFailure("changed", message, `call again with ${ref} if that is what you want`);
}

function resolveSelector(selector, within = "") {
  let found;
  try {
    found = queryDeep(selector);
  } catch {
    return { failure: buildFailure("invalid_selector", `${selector} is not a valid CSS selector`, hintForSelector(selector)) };
  }
  if (within && found.length) {
    found = filterByRow(found.filter(isVisible), within);
    if (!found.length) return { failure: explainOtherRow(selector, within) };
  }
  if (!found.length) found = findNamed(selector);
  if (found.length === 1) return { element: found[0] };
  if (!found.length) return { failure: explainNotFound(selector) };
  const seen = found.filter(isVisible);
  return seen.length === 1 ? { element: seen[0], matched: found.length } : { failure: explainAmbiguous(selector, found, seen) };
}

function queryDeep(selector) {
  const wanted = parseTextSelector(selector);
  if (wanted) return findByText(wanted);
  const path = /^(?:xpath=)?(\(*\.?\/.*)$/s.exec(selector);
  if (path) return evaluatePath(path[1]);
  const direct = [...document.querySelectorAll(selector)];
  if (direct.length) return direct;
  const found = [];
  for (const element of iterElements(document.documentElement)) {
    const root = shadowOf(element);
    if (root) found.push(...selectAll(root, selector));
  }
  return found;
}

function evaluatePath(path) {
  const result = Document.prototype.evaluate.call(document, path, document, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE);
  const found = [];
  for (let place = 0; place < result.snapshotLength; place++) {
    if (isElement(result.snapshotItem(place))) found.push(result.snapshotItem(place));
  }
  return found;
}

// Words that match no element as CSS, but name one control on the page: `Send order`, or a field's label.
function findNamed(selector) {
  if (!/^[\p{L}\p{N}][^#.[\]>:=*"\\/{}()]{0,100}$/u.test(selector)) return [];
  const name = toComparable(selector);
  return listCandidates().filter((element) => toComparable(computeName(element)) === name && isVisible(element));
}

function hintForSelector(selector) {
  const text = /:(?:contains|has-text|text)\(\s*['"]?([^'")]+)/.exec(selector);
  if (text) return `CSS cannot search by text: use text=${plainLine(text[1])}`;
  if (/^\/|^\(\/|^xpath=/.test(selector)) return "check the XPath, or use a ref from a snapshot";
  const id = /#(\d[\w-]*)/.exec(selector);
  if (id) return `an id that begins with a digit is written [id="${id[1]}"]`;
  return "check brackets and quotes, or use a ref from a snapshot";
}

function explainNotFound(selector) {
  const near = findNearest(selector);
  const suggestions = near.map((each) => `${refOf(each)} ${describeElement(each)}`);
  const hint = near.length ? `closest: ${suggestions.join(", ")}` : "take a snapshot to see what is there";
  return buildFailure("not_found", `nothing matches ${selector}`, hint, { suggestions, ready: document.readyState });
}

// Elements whose id, name, class or text share words with the selector.
function findNearest(selector) {
  const words = selector.toLowerCase().match(/[a-z0-9]{3,}/g) || [];
  if (!words.length) return [];
  const scored = [];
  for (const element of listCandidates()) {
    const attributes = `${element.id} ${attributeOf(element, "name") || ""} ${attributeOf(element, "class") || ""}`;
    const text = `${attributes} ${computeName(element)} ${tagOf(element)}`.toLowerCase();
    const score = words.filter((word) => text.includes(word)).length;
    if (score && isVisible(element)) scored.push({ element, score });
  }
  scored.sort((one, other) => other.score - one.score);
  return scored.slice(0, 3).map((each) => each.element);
}

function listCandidates() {
  return [...document.querySelectorAll(ACTIONABLE_SELECTOR)].slice(0, 500);
}

function explainAmbiguous(selector, found, seen) {
  const shown = (seen.length ? seen : found).slice(0, MAX_SUGGESTIONS);
  const suggestions = shown.map((each) => `${refOf(each)} ${describeElement(each)}`);
  const message = `${selector} matches ${found.length} elements${seen.length < found.length ? `, ${seen.length} of them visible` : ""}`;
  return buildFailure("ambiguous", message, `use one of the refs: ${suggestions.join(", ")}`, { count: found.length, suggestions });
}

// tag#id.class "name": enough to recognise an element in a message.
function describeElement(element) {
  const name = computeName(element) || nameFromContent(element);
  return `<${formatSignature(element)}>${name ? ` ${quote(shorten(name, 40))}` : ""}`;
}

function formatSignature(element) {
  const first = (attributeOf(element, "class") || "").trim().split(/\s+/)[0];
  const id = idOf(element) ? `#${shorten(idOf(element), 40)}` : "";
  const signature = `${tagOf(element)}${id}${!id && first ? `.${shorten(first, 40)}` : ""}`;
  return escapeRefs(collapseSpace(cleanText(signature)));
}

function buildFailure(reason, message, hint = "", more = {}) {
  return { reason, message, hint, suggestions: more.suggestions || (hint ? [hint] : []), ...more };
}
