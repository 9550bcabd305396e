// Functions that Python calls by name, and the helpers that it needs to join documents together.

function openRoot(host, root) {
  closedRoots.set(host, root);
}

// `kinds` has a character for each element: d if it listens for double clicks, g for the start of a drag, b for both.
function markListening(kinds, ...elements) {
  elements.forEach((element, index) => {
    if (element?.nodeType !== Node.ELEMENT_NODE) return;
    listeningElements.add(element);
    if ("db".includes(kinds[index])) doubleClickedElements.add(element);
    if ("gb".includes(kinds[index])) grabbedElements.add(element);
  });
  hasListeningElements = true;
}

const checkedHosts = new WeakSet();

// Returns elements that may have a closed shadow root, each only once: custom elements, and empty ones with a size.
function findSuspects(limit = 40) {
  const found = [];
  for (const element of iterElements(document.documentElement)) {
    if (!mayHideRoot(element)) continue;
    checkedHosts.add(element);
    found.push(element);
    if (found.length >= limit) break;
  }
  return found;
}

function mayHideRoot(element) {
  return looksLikeClosedHost(element) && !checkedHosts.has(element) && !shadowOf(element);
}

const POSSIBLE_HOST_TAGS = new Set(["div", "span", "section", "article", "aside", "p", "header", "footer", "main", "nav", "blockquote"]);

function looksLikeClosedHost(element) {
  if (tagOf(element).includes("-")) return true;
  return POSSIBLE_HOST_TAGS.has(tagOf(element)) && !element.firstChild && element.offsetHeight > 8 && element.offsetWidth > 8;
}

// A document keeps its first prefix.
function adoptPrefix(prefix) {
  refPrefix ||= prefix;
  return refPrefix;
}

const api = {
  takeSnapshot, readPosition, locate, mapThroughFrame, startObserving, reportEffects, waitUntilQuiet, prepareFill, hideFieldValue, pasteText, readSlider, measureSliderDrag,
  checkFilled, selectOptions, findFileField, describeFileField, listFileNames, listInteractable, buildDomMap, readComposedHtml, readSelection, listBoxes, describePoint,
  listEvidenceMatches, scrollLists, describeFocusEvidence, restoreFocus, describeFormTool, readMilestones, readRecords,
};

function queryAll(selector) {
  startSearchClock();
  forgetBackgrounds();
  forgetBoxes();
  return queryDeep(selector);
}

globalThis.outrider = {
  adoptPrefix, prefix: () => refPrefix, queryAll, isTextSelector, openRoot, markListening, findSuspects, findComponents, adoptInternals, elementOf, refOf,
  recordPerson, reportTypedText,
  async call(name, args) {
    startSearchClock();
    forgetBackgrounds();
    forgetBoxes();
    const value = await api[name](...args);
    return { value, prefix: refPrefix };
  },
};
