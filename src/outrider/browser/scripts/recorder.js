// Reports what a person does in this document. Pages can make trusted `change` and `input` events, so that each report
// needs a key or a press before it, which only a person's input brings.

const KEYS_OF_LISTS = new Set(["ArrowDown", "ArrowUp", "Escape"]);
const LIST_KEY_SELECTOR = "[aria-activedescendant],[aria-expanded=true],[role=combobox],[role=listbox],[role=option],[role=menuitem],[role=tab],[role=treeitem],[role=slider]";
const EMPTIED_AFTER_MS = 50;
const MAX_RECORDED_CHARS = 100_000; // of a text; longer ones are left out
const typedFields = new Map(); // fields whose text a person has changed and that is not reported yet
let sendReport = null;
let personField = null; // the field that the person's last key or press was for
let momentBefore = null; // and what it was before
let pressNow = null;
let keyNow = null;

// The binding is of this world alone, so that the page can neither see nor call it.
function recordPerson(binding) {
  sendReport ||= globalThis[binding];
  for (const kind of ["keydown", "beforeinput", "compositionstart", "paste", "cut", "drop"]) listenToPerson(kind, noteField);
  listenToPerson("pointerdown", notePress);
  listenToPerson("keydown", noteKey);
  listenToPerson("input", noteInput);
  listenToPerson("change", noteChange);
  listenToPerson("click", noteClick);
  for (const kind of ["focusout", "pagehide"]) listenToPerson(kind, noteLeaving);
}

const personListeners = new Map();

// `document.open()` takes listeners away; adding one again changes nothing where it is still there.
function listenToPerson(kind, handle) {
  const key = `${kind} ${handle.name}`;
  if (!personListeners.has(key)) personListeners.set(key, (event) => event.isTrusted && handle(event));
  addEventListener(kind, personListeners.get(key), { capture: true, passive: true });
}

function targetOf(event) {
  const hit = event.composedPath()[0];
  if (!(hit instanceof Node) || !isElement(hit)) return null;
  return event instanceof MouseEvent ? findDeepestTarget(hit, event) : hit;
}

function reportAction(kind, moment, values = {}) {
  sendReport?.(JSON.stringify({ kind, ...moment, ...values }));
}

function describeMoment(element) {
  startSearchClock();
  forgetBackgrounds();
  forgetBoxes();
  return { evidence: describeEvidence(element), milestones: readMilestones() };
}

function findPersonField(hit) {
  const select = findClosest(hit, (each) => tagOf(each) === "select");
  return select || (isToggle(hit) || tagOf(hit) === "label" ? null : findEditable(hit));
}

// What a press on an element is meant for: the field of a label, the list of an option, the button around an icon.
function findPressed(hit) {
  const isActedOn = (each) => {
    const parent = parentElementOf(each) || each;
    return whyActionable(each, computeRole(each), getComputedStyle(each), new ParentContext(getComputedStyle(parent), parent)) !== "";
  };
  const select = findClosest(hit, (each) => tagOf(each) === "select");
  if (select) return select;
  const acted = findClosest(hit, isActedOn);
  const label = findClosest(hit, (each) => tagOf(each) === "label");
  return label?.control && !(acted && containsNode(label, acted)) ? label.control : acted;
}

function noteField(event) {
  const hit = targetOf(event);
  const field = hit && findPersonField(hit);
  if (field && isSecret(field)) hiddenFields.add(field); // also after the page has made it readable
  if (field && field !== personField) momentBefore = describeMoment(field);
  personField = field;
}

function noteInput(event) {
  const hit = targetOf(event);
  const field = hit && findPersonField(hit);
  if (!field || field !== personField || tagOf(field) === "select") return;
  if (isSecret(field)) hiddenFields.add(field);
  if (!typedFields.has(field)) typedFields.set(field, momentBefore || describeMoment(field));
}

function reportText(field, values = {}) {
  const moment = typedFields.get(field);
  if (!moment) return false;
  typedFields.delete(field);
  reportAction("fill", { ...moment, evidence: { ...moment.evidence, secret: isSecret(field) } }, { text: readFieldText(field).slice(0, MAX_RECORDED_CHARS + 1), ...values });
  return true;
}

function reportTypedText(except = null) {
  for (const field of [...typedFields.keys()]) if (field !== except) reportText(field);
}

function noteLeaving(event) {
  const hit = event.type === "focusout" ? targetOf(event) : null;
  if (hit) reportText(findPersonField(hit) || hit);
  else reportTypedText();
}

function noteChange(event) {
  const hit = targetOf(event);
  if (!hit) return;
  if (tagOf(hit) !== "select") reportText(hit);
  else if (hit === personField) reportAction("select", describeMoment(hit), { options: Array.from(hit.selectedOptions, (each) => collapseSpace(each.label)) });
}

function notePress(event) {
  const hit = targetOf(event);
  const field = hit && findPersonField(hit);
  reportTypedText(field);
  pressNow = null;
  if (!hit) return;
  if (field !== personField) momentBefore = field ? describeMoment(field) : null;
  personField = field;
  const element = event.button === 0 ? findPressed(hit) : null;
  if (element && !isDisabled(element)) pressNow = { hit, element, checked: readChecked(element), moment: describeMoment(element) };
}

// Other clicks than that of the last press or key are those that a page or a label makes of it.
function noteClick(event) {
  const hit = targetOf(event);
  const press = event.detail === 0 ? keyNow : pressNow;
  if (!hit || !press || !(containsNode(hit, press.hit) || !press.hit.isConnected || isChosenRadio(event, hit, press))) return;
  keyNow = null;
  if (event.detail > 0) pressNow = null;
  reportPress(isChosenRadio(event, hit, press) ? { ...press, element: hit, moment: describeMoment(hit) } : press, event.detail);
}

// Arrow keys choose another radio button of the group, and click it.
function isChosenRadio(event, hit, press) {
  return event.detail === 0 && hit.type === "radio" && press.hit.type === "radio" && hit.name === press.hit.name;
}

function reportPress({ element, checked, moment }, count) {
  if (tagOf(element) === "select") return;
  if (element.type === "file") return reportAction("upload", moment);
  if (isToggle(element)) return reportAction(checked === "true" && element.type === "checkbox" ? "uncheck" : "check", moment);
  reportAction("click", moment, { count: Math.max(count, 1), field: findPersonField(element) !== null && !element.readOnly });
}

function noteKey(event) {
  const hit = targetOf(event);
  const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.isComposing && !event.repeat;
  keyNow = null;
  if (!hit || !isPlain) return;
  const field = findPersonField(hit);
  const isList = KEYS_OF_LISTS.has(event.key) && !matchesSelector(hit, "input[type=radio],select") && closestOf(hit, LIST_KEY_SELECTOR);
  if (isList) return reportKey(hit, event.key);
  if (event.key === "Enter" && field) return noteEnter(field);
  if (isDisabled(hit) || !(["Enter", " "].includes(event.key) || hit.type === "radio")) return;
  const element = findPressed(hit);
  if (element) keyNow = { hit, element, checked: readChecked(element), moment: describeMoment(element) };
}

function reportKey(field, key) {
  reportTypedText();
  reportAction("press", describeMoment(field), { key });
}

// In a text of several lines Enter ends a line, unless the text is gone then, as in a chat.
function noteEnter(field) {
  if (tagOf(field) === "select") return;
  if (tagOf(field) === "input") {
    if (!reportText(field, { submit: true })) reportKey(field, "Enter");
    return;
  }
  const moment = typedFields.get(field);
  const text = readFieldText(field).slice(0, MAX_RECORDED_CHARS + 1);
  if (moment && text.trim()) setTimeout(() => {
    if (field.isConnected && readFieldText(field).trim()) return;
    typedFields.delete(field);
    reportAction("fill", moment, { text, submit: true });
  }, EMPTIED_AFTER_MS);
}
