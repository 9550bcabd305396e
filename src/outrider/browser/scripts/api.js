// What the other side may call by name, and what it must know to splice documents together.

function nameFrame(element) {
  return refOf(element);
}

function openRoot(host, root) {
  closedRoots.set(host, root);
}

function markListening(...elements) {
  for (const element of elements) if (element?.nodeType === Node.ELEMENT_NODE) listening.add(element);
  anyListening = true;
}

const askedRoots = new WeakSet();

// Elements that may hide a closed shadow root: custom elements, and empty ones that yet take room.
function mayHide(element) {
  return looksClosed(element) && !askedRoots.has(element) && !shadowOf(element);
}

function suspects(limit = 40) {
  const found = [];
  for (const element of everyElement(document.documentElement)) {
    if (!mayHide(element)) continue;
    askedRoots.add(element);
    found.push(element);
    if (found.length >= limit) break;
  }
  return found;
}

const HOSTS = new Set(["div", "span", "section", "article", "aside", "p", "header", "footer", "main", "nav", "blockquote"]);

function looksClosed(element) {
  if (tagOf(element).includes("-")) return true;
  return HOSTS.has(tagOf(element)) && !element.firstChild && element.offsetHeight > 8 && element.offsetWidth > 8;
}

function begin(prefix) {
  refPrefix = prefix;
}

const api = {
  snapshot, aim, observe, settle, rest, prepareFill, afterFill, choose, fileField, filesOf, interactable, domMap, composedHtml,
  selectedText, throughFrame, boxes, position,
};

globalThis.outrider = {
  begin, prefix: () => refPrefix, nameFrame, openRoot, markListening, suspects, elementOf, refOf,
  async call(name, args) {
    const value = await api[name](...args);
    return { value, prefix: refPrefix };
  },
};
