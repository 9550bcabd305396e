// Collects evidence that identifies an element, so that a later run finds the same one, or sees that it is gone.

const STABLE_ATTRIBUTES = ["id", "name", "type", "data-testid", "data-test", "data-test-id", "data-cy", "data-qa", "data-action", "placeholder", "autocomplete"];
const GENERATED_VALUE = /\d{4,}|[0-9a-f]{8}|^:|^(ember|react|radix|mui|headlessui)[-_:]?\w*\d/i;
const PLACE_SELECTOR = "main,nav,header,footer,aside,dialog,form,search,[role=main],[role=navigation],[role=banner],[role=contentinfo],[role=dialog],[role=alertdialog],[role=search],[role=form]";
const SECTION_SELECTOR = `body,section,fieldset,${PLACE_SELECTOR}`;
const LIST_SELECTOR = "ul,ol,dl,table,select,datalist,[role=list],[role=table],[role=grid],[role=listbox],[role=tree],[role=feed]";
const OWN_SECTION_SELECTOR = "section,article,aside,nav,fieldset,dialog,[role=region],[role=group],[role=article],[role=dialog]";
const HEADING_SELECTOR = "h1,h2,h3,h4,h5,h6,legend,[role=heading]";
const CONTROL_SELECTOR = "button,input,select,textarea,a[href],[role=button]";
const MAX_NEAR_CHARS = 160;
const MAX_EQUALS = 300;

function describeEvidence(element) {
  const role = computeRole(element);
  const name = shorten(nameToRecord(element, role), 160);
  const equals = listEquals(element, role, name);
  return {
    role, name, tag: tagOf(element), secret: isSecret(element), attributes: readStableAttributes(element),
    row: nameRow(element), near: readTextNearby(element), under: findHeadingAbove(element), inside: describePlace(element),
    path: describePath(element), equals: equals.length, target: readTargetAddress(element), traits: describeTraits(element, equals),
  };
}

function readStableAttributes(element) {
  const found = {};
  for (const name of STABLE_ATTRIBUTES) {
    const value = (attributeOf(element, name) || "").trim();
    if (value && value.length <= 100 && !GENERATED_VALUE.test(value)) found[name] = value;
  }
  const value = isToggle(element) ? attributeOf(element, "value") : "";
  if (value) found.value = shorten(value, 100);
  const path = readLinkPath(element);
  if (path) found.href = path;
  return found;
}

// The path of a link to another page or route; a link within this page does not show what a press does.
function readLinkPath(element) {
  if (tagOf(element) !== "a" || !/^https?:/.test(element.href)) return "";
  const isRoute = /^#[!/]/.test(element.hash);
  if (!isRoute && element.href.split("#")[0] === location.href.split("#")[0]) return "";
  return shorten(element.pathname + (isRoute ? element.hash : ""), 300);
}

// The address that a press may lead to, according to the markup.
function readTargetAddress(element) {
  if (tagOf(element) === "a") return readLinkPath(element) ? element.href : "";
  const submits = element.form && (element.type === "submit" || element.type === "image");
  if (!submits) return "";
  return hasAttribute(element, "formaction") ? element.formAction : new URL(attributeOf(element.form, "action") || "", document.baseURI).href;
}

// If a row begins with the element, such as a check box, it is named by its first heading or link.
function nameRow(element) {
  const parent = parentElementOf(element);
  const row = parent && closestOf(parent, ROW_SELECTOR);
  const title = row && [...selectAll(row, `${HEADING_SELECTOR},a[href]`)].find((each) => !containsNode(each, element) && isVisible(each));
  return nameOfRow(element) || (title && title !== element && element.compareDocumentPosition(title) & Node.DOCUMENT_POSITION_FOLLOWING ? shorten(cleanText(collapseSpace(title.innerText || "")), MAX_ROW_NAME) : "");
}

// The text of the nearest box around an element with more text than its name, up to its section.
function readTextNearby(element) {
  const own = toComparableName(computeName(element));
  for (let box = parentElementOf(element); box && !matchesSelector(box, SECTION_SELECTOR); box = parentElementOf(box)) {
    // The heading of a box identifies it.
    if (selectFirst(box, HEADING_SELECTOR)) return "";
    const text = collectTextAround(box, element);
    if (text && toComparableName(text) !== own) return text.length <= MAX_NEAR_CHARS ? text : "";
  }
  return "";
}

// Lists, other controls and people's input are left out, because they differ between visits.
function collectTextAround(box, element) {
  const pieces = [];
  const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT, (node) => {
    if (nodeTypeOf(node) === Node.TEXT_NODE) return NodeFilter.FILTER_ACCEPT;
    if (node === element || UNRENDERED_TAGS.has(tagOf(node)) || matchesSelector(node, "textarea,[contenteditable]")) return NodeFilter.FILTER_REJECT;
    const isOther = matchesSelector(node, `${LIST_SELECTOR},${CONTROL_SELECTOR},[role=option],[role=menuitem],[role=tab]`) || selectFirst(node, CONTROL_SELECTOR) !== null;
    if (isOther && !containsNode(node, element)) return NodeFilter.FILTER_REJECT;
    return checkVisibilityOf(node, { visibilityProperty: true }) ? NodeFilter.FILTER_SKIP : NodeFilter.FILTER_REJECT;
  });
  let length = 0;
  while (walker.nextNode() && length <= MAX_NEAR_CHARS) {
    const text = collapseSpace(cleanText(walker.currentNode.data));
    if (!text) continue;
    pieces.push(text);
    length += text.length + 1;
  }
  return pieces.join(" · ");
}

// The nearest heading before an element, or the legend of its group.
function findHeadingAbove(element) {
  for (let each = element; each && tagOf(each) !== "body"; each = parentElementOf(each)) {
    for (let before = each.previousElementSibling; before; before = before.previousElementSibling) {
      // A box with its own controls is another section, whose heading does not apply to what follows.
      const isOther = !matchesSelector(before, HEADING_SELECTOR) && selectFirst(before, CONTROL_SELECTOR) !== null;
      const inside = matchesSelector(before, HEADING_SELECTOR) ? [before] : isOther ? [] : [...selectAll(before, HEADING_SELECTOR)];
      const heading = inside.filter((each) => isVisible(each) && !isInSectionOf(before, each)).pop();
      if (heading) return readHeading(heading);
    }
  }
  return "";
}

// The heading of a section only applies to that section.
function isInSectionOf(box, heading) {
  const section = closestOf(heading, OWN_SECTION_SELECTOR);
  return section !== null && containsNode(box, section);
}

// A number in a separate box at the end is a count, which is written in brackets.
function readHeading(heading) {
  const text = shorten(cleanText(collapseSpace(heading.innerText || textContentOf(heading))), 100);
  const last = [...elementsOf(heading)].pop();
  const count = last ? collapseSpace(textContentOf(last)) : "";
  return /^\d+$/.test(count) && text.endsWith(` ${count}`) ? `${text.slice(0, -count.length)}(${count})` : text;
}

// The landmark, form or dialog around an element, in one word.
function describePlace(element) {
  const parent = parentElementOf(element);
  const place = parent && closestOf(parent, PLACE_SELECTOR);
  return place ? attributeOf(place, "role") || tagOf(place) : "";
}

const WRAPPER_TAGS = new Set(["div", "span", "p", "center", "b", "i", "em", "strong", "font", "html", "body"]);

// The chain of meaningful tags, which a new wrapper does not change.
function describePath(element) {
  const tags = [];
  for (let each = element; each && tags.length < 6; each = parentElementOf(each)) {
    if (!WRAPPER_TAGS.has(tagOf(each)) || each === element) tags.unshift(tagOf(each));
  }
  return tags.join(" > ");
}

// The visible elements of the same role and name, including itself.
function listEquals(element, role, name) {
  const wanted = toComparableName(name);
  const same = [];
  let looked = 0;
  for (const each of document.getElementsByTagName(tagOf(element))) {
    if (++looked > MAX_EQUALS) break;
    if (each !== element && computeRole(each) === role && toComparableName(nameToRecord(each, role)) === wanted && isVisible(each)) same.push(each);
  }
  return [element, ...same];
}

// A count in brackets at the end, such as that of messages, changes daily and is not part of the name.
function toComparableName(name) {
  return toComparable(name).replace(/\s*[([]\d+[)\]]$/, "").replace(/[\s:*…]+$/, "");
}

const GROUP_SELECTOR = `body,section,fieldset,tr,li,article,${PLACE_SELECTOR}`;
const CONTROL_ROLE_SELECTOR = `${CONTROL_SELECTOR},[role=link],[role=checkbox],[role=switch],[role=radio],[role=tab],[role=menuitem],[role=option],[role=textbox],[contenteditable=true]`;
const ICON_CLASS = /^(?:icon|fa|bi|mdi|glyphicon)-[a-z-]+$/;
const MAX_GROUP_CONTROLS = 80;
const MAX_FORM_FIELDS = 12;

// Evidence that remains when texts change: the order of the controls around it, what its form sends, its icon.
function describeTraits(element, equals) {
  const speaker = findClosest(element, (each) => attributeOf(each, "lang")) || document.documentElement;
  const language = (attributeOf(speaker, "lang") || "").split("-")[0].toLowerCase();
  const role = computeRole(element);
  const traits = { ...describeOrder(element), ...describeForm(element), column: nameColumn(element, equals), head: nameHead(element), caption: nameMonth(element), on: readToggled(element), choices: describeChoices(element, role), costs: readCosts(element), twins: countTwins(element, equals), price: role === "button" ? readPrice(closestOf(element, ROW_SELECTOR)) : "", icon: describeIcon(element), language };
  return Object.fromEntries(Object.entries(traits).filter(([, value]) => value));
}

// The number of its namesakes in rows of the same name, such as mails of one sender; empty if its row is the only one.
function countTwins(element, equals) {
  const row = nameRow(element);
  const count = row ? equals.filter((each) => nameRow(each) === row).length : 0;
  return count > 1 ? String(count) : "";
}

const COLUMN_SELECTOR = "section,fieldset,[role=region],[role=group],[role=list],ul,ol";

// The name of the list or section around it, if several contain elements of its name, as on a board of cards.
function nameColumn(element, equals) {
  const root = rootOf(element);
  const peers = root instanceof ShadowRoot ? [...document.getElementsByTagName(tagOf(root.host))].slice(0, MAX_EQUALS) : equals;
  const nameAround = (each) => {
    const column = peers.length > 1 && findClosest(each, (box) => matchesSelector(box, COLUMN_SELECTOR) && computeName(box) !== "");
    return column ? shorten(computeName(column), 60) : "";
  };
  return new Set(peers.map(nameAround)).size > 1 ? nameAround(element) : "";
}

// The heading of the column of a field, which may contain the unit.
function nameHead(element) {
  const cell = CELL_FIELD_TAGS.has(tagOf(element)) && closestOf(element, CELL_SELECTOR);
  const row = cell && closestOf(cell, "tr,[role=row]");
  const table = row && closestOf(row, "table,[role=grid],[role=treegrid],[role=table]");
  const first = table && selectFirst(table, "tr,[role=row]");
  if (!first || first === row) return "";
  const heads = [...elementsOf(first)];
  const head = heads[[...elementsOf(row)].indexOf(cell)];
  const isHead = head && (matchesSelector(head, "th,[role=columnheader]") || (heads.length > 2 && heads.length === elementsOf(row).length && !selectFirst(first, CONTROL_SELECTOR)));
  return isHead ? shorten(cleanText(collapseSpace(head.innerText || "")), 60) : "";
}

const DAY_NAME = /^\D{0,2}\d{1,2}\D{0,2}$/;
const YEAR = /(?<!\d)(19|20)\d{2}(?!\d)/;
const MAX_MONTH_CHARS = 40;

// The month and year above a day of a calendar, if they are not in a heading.
function nameMonth(element) {
  if (!DAY_NAME.test(computeName(element).trim())) return "";
  for (let each = element; each && tagOf(each) !== "body"; each = parentElementOf(each)) {
    for (let before = each.previousElementSibling; before; before = before.previousElementSibling) {
      const text = readTextBesideControls(before);
      if (text.length <= MAX_MONTH_CHARS && YEAR.test(text)) return text;
    }
    if (matchesSelector(each, SECTION_SELECTOR)) return "";
  }
  return "";
}

function readTextBesideControls(box) {
  const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
  const pieces = [];
  while (walker.nextNode() && pieces.length < 10) {
    const parent = parentElementOf(walker.currentNode);
    const text = collapseSpace(cleanText(walker.currentNode.data));
    if (text && !closestOf(parent, CONTROL_SELECTOR) && isVisible(parent)) pieces.push(text);
  }
  return pieces.join(" ");
}

const CELL_FIELD_TAGS = new Set(["input", "select", "textarea"]);

// Whether the thing that a press switches is on.
function readToggled(element) {
  return isToggle(element) ? "" : attributeOf(element, "aria-checked") || attributeOf(element, "aria-pressed") || "";
}

const CHOICE_SELECTOR = "select,input[type=checkbox],input[type=radio],[role=switch],[role=checkbox]";
const MAX_CHOICES = 12; // with more, none are recorded
const MAX_FORM_CHOICES = 60;

// The choices in the form of a button, which a press of the button submits.
function describeChoices(element, role) {
  if (role !== "button" || matchesSelector(element, "select,[aria-checked],[aria-pressed],[aria-expanded],[aria-haspopup]")) return "";
  const box = element.form || findFieldBox(element);
  const row = closestOf(element, ROW_SELECTOR);
  // Lists of settings have a switch in each item; check boxes in rows only select rows.
  const isInReach = (each) => [null, row].includes(closestOf(each, ROW_SELECTOR)) || (!row && attributeOf(each, "role") === "switch");
  const belongs = (each) => isPresented(each) && !isDisabled(each) && (element.form || isInReach(each));
  const found = box ? [...selectAll(box, CHOICE_SELECTOR)] : [];
  const choices = found.length <= MAX_FORM_CHOICES ? found.filter(belongs) : [];
  if (choices.length > MAX_CHOICES) return "";
  return [...new Set(choices.map(describeChoice).filter(Boolean))].join("; ");
}

// The nearest box with fields around a button.
function findFieldBox(element) {
  for (let box = parentElementOf(element); box && tagOf(box) !== "body"; box = parentElementOf(box)) {
    if (selectFirst(box, "input:not([type=hidden]),select,textarea,[role=switch],[role=checkbox]")) return box;
    if (matchesSelector(box, SECTION_SELECTOR)) return null;
  }
  return null;
}

const PRICE = /(?:[€$£¥₹]\s?\d[\d.,]*|\d[\d.,]*\s?(?:[€$£¥₹円]|EUR\b|USD\b|GBP\b|CHF\b))/;

// A price in the form or dialog of a button, which a press may cost.
function readCosts(element) {
  if (computeRole(element) !== "button") return "";
  return readPrice(element.form || closestOf(element, "dialog,[role=dialog],[role=alertdialog]"));
}

function readPrice(box) {
  const found = box && isVisible(box) && textContentOf(box).length <= MAX_COST_CHARS && PRICE.exec(box.innerText || "");
  return found ? found[0] : "";
}

const MAX_COST_CHARS = 5000;

function describeChoice(element) {
  const { name, id } = readStableAttributes(element);
  const key = name || id || nameToRecord(element, computeRole(element));
  const isRadio = element.type === "radio";
  if (!key || /[;=]/.test(key) || (isRadio && !element.checked)) return "";
  const value = tagOf(element) === "select" || isRadio ? element.value : readChecked(element) || "";
  return shorten(value, 60) && `${shorten(key, 60)}=${shorten(value, 60).replaceAll(";", ",")}`;
}

// Its number among the controls of the nearest group with several, and the names of its neighbours.
function describeOrder(element) {
  for (let group = parentElementOf(element); group; group = parentElementOf(group)) {
    if (!matchesSelector(group, GROUP_SELECTOR)) continue;
    const controls = listGroupControls(group, element);
    const index = controls.indexOf(element);
    if (controls.length < 2 || index < 0) continue;
    const nameAt = (each) => (each ? shorten(nameToRecord(each, computeRole(each)), 40) : "");
    return { order: `${index + 1} of ${controls.length}`, after: nameAt(controls[index - 1]), before: nameAt(controls[index + 1]) };
  }
  return {};
}

function listGroupControls(group, element) {
  const controls = [];
  for (const each of iterElements(group)) {
    if (each !== element && !(isElement(each) && matchesSelector(each, CONTROL_ROLE_SELECTOR) && isPresented(each))) continue;
    controls.push(each);
    if (controls.length > MAX_GROUP_CONTROLS) return [];
  }
  return controls;
}

// The address that a form sends to, and the names of its fields.
function describeForm(element) {
  const form = element.form || closestOf(element, "form");
  if (!form) return {};
  const address = new URL(attributeOf(form, "action") || "", document.baseURI);
  const names = [...form.elements].map((each) => each.name).filter((name) => name && !GENERATED_VALUE.test(name));
  return { form: shorten(`${form.method} ${address.pathname}`, 100), sends: [...new Set(names)].slice(0, MAX_FORM_FIELDS).join(" ") };
}

function describeIcon(element) {
  const use = selectFirst(element, "use");
  if (use) return shorten(attributeOf(use, "href") || attributeOf(use, "xlink:href") || "", 80);
  const image = selectFirst(element, "img[src]");
  if (image && !image.src.startsWith("data:")) return shorten(image.src.split(/[?#]/)[0].split("/").pop(), 80);
  const path = selectFirst(element, "svg path[d]");
  if (path) return `path ${[...attributeOf(path, "d")].reduce((sum, mark) => (sum * 33 + mark.charCodeAt(0)) >>> 0, 5381).toString(36)}`;
  const drawn = [element, ...selectAll(element, "i,span")].flatMap((each) => [...classListOf(each)]);
  return drawn.find((each) => ICON_CLASS.test(each)) || "";
}

const SAME_PURPOSE_ROLES = [new Set(["button", "link"]), new Set(["textbox", "searchbox", "combobox"]), new Set(["checkbox", "switch"])];

const MAX_CANDIDATES = 60;

// Lists candidates for an element: elements of its role and name, or with one of its attributes. If none has the name
// in the same surroundings, elements of the same purpose are added, because it may have been renamed.
function listEvidenceMatches({ role = "", name = "", row = "", near = "", under = null, path = "", attributes = {} }) {
  const wanted = toComparableName(name);
  const roles = SAME_PURPOSE_ROLES.find((each) => each.has(role)) || new Set([role]);
  const isInWantedRow = (element) => !row || toComparable(nameRow(element)) === toComparable(row);
  const isInSameSurroundings = (element) => (row ? isInWantedRow(element) : !near || toComparable(readTextNearby(element)) === toComparable(near)) && (under === null || toComparable(findHeadingAbove(element)) === toComparable(under));
  const matches = [];
  const others = [];
  let isNamed = false;
  for (const element of iterElements(document.documentElement)) {
    const found = matchEvidence(element, { role, roles, wanted, name, path, attributes });
    if (found && isPresented(element)) {
      matches.push(element);
      isNamed ||= found === "name" && isInSameSurroundings(element);
    } else if (!found && !isNamed && role && roles.has(computeRole(element)) && isPresented(element) && isInWantedRow(element)) others.push(element);
    if (matches.length >= MAX_CANDIDATES) break;
  }
  return [...dropBoxesAround(matches), ...(isNamed ? [] : others.slice(0, MAX_CANDIDATES))].map(presentCandidate);
}

// Scrolls lists on, because some only render visible rows; returns false if all are at their end.
function scrollLists(isFromTop) {
  const minHeight = 40;
  const share = 0.8; // so that no row is skipped between two positions
  const isScrollable = (each) => each.clientHeight >= minHeight && each.scrollHeight > each.clientHeight + 1 && (each === document.scrollingElement || /auto|scroll/.test(getComputedStyle(each).overflowY));
  let hasMoved = false;
  for (const each of [...iterElements(document.documentElement)].filter((one) => isElement(one) && tagOf(one) !== "textarea" && isScrollable(one))) {
    const before = each.scrollTop;
    each.scrollTo({ top: isFromTop ? 0 : before + each.clientHeight * share, behavior: "instant" });
    hasMoved ||= each.scrollTop !== before;
  }
  return hasMoved;
}

// A box and the boxes around it without more text count as one: the innermost one on which the page acts.
function dropBoxesAround(matches) {
  const boxes = matches.filter((each) => !computeRole(each));
  const isAround = (each) => {
    const inner = boxes.filter((other) => other !== each && containsNode(each, other));
    return inner.some(isActedOn) || (inner.length > 0 && !isActedOn(each));
  };
  const isInside = (each) => boxes.some((other) => other !== each && containsNode(other, each) && isActedOn(other)) && !isActedOn(each);
  return matches.filter((each) => !boxes.includes(each) || !(isAround(each) || isInside(each)));
}

const TELLING_ATTRIBUTES = new Set(["id", "name", "href", ...STABLE_ATTRIBUTES.filter((name) => name.startsWith("data-"))]);

function readAttribute(element, key) {
  return key === "href" ? readLinkPath(element) : (attributeOf(element, key) || "").trim();
}

function matchEvidence(element, { role, roles, wanted, name, path, attributes }) {
  const own = computeRole(element);
  const isRole = role ? roles.has(own) : ACTIVE_ROLES.has(own) || (path && !own); // boxes have a recorded path, too
  if (isRole && name && toComparableName(nameToRecord(element, own)) === wanted) return "name";
  return Object.entries(attributes).some(([key, value]) => TELLING_ATTRIBUTES.has(key) && readAttribute(element, key) === value) ? "attribute" : "";
}

// Whether a press is meant for this element, and not only for something inside or around it.
function isActedOn(element) {
  const parent = parentElementOf(element) || element;
  return whyActionable(element, computeRole(element), getComputedStyle(element), new ParentContext(getComputedStyle(parent), parent)) !== "";
}

// A check box or file field may be drawn by another element, which is then pressed.
function isPresented(element) {
  return isVisible(element) || isToggle(element) || element.type === "file" || (isHiddenField(element) && findStandIn(element, { reach: false }) !== null);
}

function presentCandidate(element) {
  const evidence = describeEvidence(element);
  const ref = refOf(element);
  recordShown(ref, element);
  return { ref, ...evidence, disabled: isDisabled(element), title: describeElement(element) };
}

function describeFocusEvidence() {
  const element = focusedElement();
  return { evidence: element ? describeEvidence(element) : null, milestones: readMilestones() };
}

// The fields and the button of a form that the page offers as a tool; null if presses could not replace the tool.
function describeFormTool(tool, names) {
  const form = selectFirst(bodyOf(document), `form[toolname="${CSS.escape(tool)}"]`);
  const send = form && selectFirst(form, "button:not([type=button]):not([type=reset]),input[type=submit]");
  if (!send) return null;
  const fields = {};
  for (const name of names) {
    const field = selectFirst(form, `[name="${CSS.escape(name)}"]`);
    if (!field || ["radio", "file", "hidden"].includes(attributeOf(field, "type"))) return null;
    const options = tagOf(field) === "select" ? [...selectAll(field, "option")].slice(0, 300) : [];
    fields[name] = { evidence: describeEvidence(field), labels: Object.fromEntries(options.map((each) => [each.value, each.label])) };
  }
  return { fields, send: describeEvidence(send) };
}

const MESSAGE_SELECTOR = "[role=alert],[role=status],[aria-live=polite],[aria-live=assertive],output,dialog[open],[role=dialog],[role=alertdialog]";

// The parts that a person would read to recognize the state of the page.
function readMilestones() {
  const read = (element) => shorten(cleanText(collapseSpace(element.innerText || "")), 160);
  // The texts of a dialog's controls are not messages, and its title says as much as its question.
  const tell = (element) => (selectAll(element, CONTROL_SELECTOR).length > 1 && (computeName(element) || (selectFirst(element, HEADING_SELECTOR) && read(selectFirst(element, HEADING_SELECTOR))))) || read(element);
  const messages = [...document.querySelectorAll(MESSAGE_SELECTOR)].filter(isVisible).map(tell).filter(Boolean).slice(0, 5);
  const headings = [...document.querySelectorAll("h1,h2")].filter(isVisible).map(read).filter(Boolean).slice(0, 5);
  const person = [...document.querySelectorAll("input[type=password]")].some(isVisible) || document.querySelector("iframe[src*=captcha],iframe[src*=challenges]") !== null;
  const alerts = [...document.querySelectorAll("[role=alert],[role=alertdialog],[aria-live=assertive]")].filter(isVisible).map(read).filter(Boolean).slice(0, 5);
  return { url: location.href, title: titleOf(document), headings, messages, alerts, person };
}
