// Distinguishes rows, items and cards by their texts, because their buttons often have the same names.

const ROW_SELECTOR = "tr,li,article,[role=row],[role=listitem],[role=article],[role=option],[role=treeitem]";
const MAX_ROW_NAME = 60;

// Returns the first text of the row around an element, if it comes before the element.
function nameOfRow(element) {
  const parent = element && parentElementOf(element);
  const row = parent && closestOf(parent, ROW_SELECTOR);
  if (!row) return "";
  const walker = document.createTreeWalker(row, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (element.contains(node) || element.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING) return "";
    const text = collapseSpace(node.data);
    if (text && !UNRENDERED_TAGS.has(tagOf(node.parentElement))) return shorten(cleanText(text), MAX_ROW_NAME);
  }
  return "";
}

// Keeps the elements whose row contains a text. A row is the largest box around one of them without another.
function filterByRow(found, text) {
  const wanted = toComparable(text);
  if (found.length === 1) return isInRow(found[0], text) ? found : [];
  return found.filter((element) => {
    let row = element;
    for (let box = parentElementOf(element); box && !found.some((each) => each !== element && containsNode(box, each)); box = parentElementOf(box)) row = box;
    return toComparable(readShownText(row)).includes(wanted);
  });
}

// Without a row around it, an element counts as in the nearest box that has more text than itself.
function isInRow(element, text) {
  const parent = parentElementOf(element);
  let row = parent && (closestOf(parent, ROW_SELECTOR) || parent);
  const own = toComparable(readShownText(element));
  while (row && toComparable(readShownText(row)) === own && parentElementOf(row)) row = parentElementOf(row);
  return row !== null && toComparable(readShownText(row)).includes(toComparable(text));
}

function explainOtherRow(selector, text) {
  return buildFailure("not_found", `nothing that matches ${selector} is in a row or card with ${quote(shorten(text, 60))}`, "take a snapshot to see the rows");
}
