// Reports a person's actions in this document. Pages can cause trusted `change` and `input` events, so each report
// needs a key or a press before it, which only a person can make.

const MAX_RECORDED_CHARS = 100_000; // of a text; longer ones are left out
const typedFields = new Map(); // fields with text changed by a person and not reported yet
let sendReport = null;
let personField = null; // the field that the person's last key or press was for
let momentBefore = null; // the milestones before it
let pressNow = null;

// The binding only exists in this world, so the page can neither see nor call it.
function recordPerson(binding) {
  sendReport ||= globalThis[binding];
  for (const kind of ["keydown", "beforeinput", "compositionstart", "paste", "cut", "drop"]) listenToPerson(kind, noteField);
  for (const kind of ["pointerdown", "keydown"]) listenToPerson(kind, sendWaitingReports);
  listenToPerson("pointerdown", notePress);
  listenToPerson("keydown", noteKey);
  listenToPerson("input", noteInput);
  listenToPerson("change", noteChange);
  for (const kind of ["click", "auxclick"]) listenToPerson(kind, noteClick);
  listenToPerson("contextmenu", noteMenu);
  listenToPerson("dragstart", noteDragStart);
  listenToPerson("drop", noteDrop);
  listenToPerson("pointerover", noteHover);
  listenToPerson("pointerup", noteRelease);
  for (const kind of ["focusout", "pagehide"]) listenToPerson(kind, noteLeaving);
}

const personListeners = new Map();

// `document.open()` removes listeners; adding one that still exists has no effect.
function listenToPerson(kind, handle) {
  const key = `${kind} ${handle.name}`;
  if (!personListeners.has(key)) personListeners.set(key, (event) => event.isTrusted && handle(event));
  addEventListener(kind, personListeners.get(key), { capture: true, passive: true });
}

function targetOf(event) {
  const hit = event.composedPath()[0];
  if (!(hit instanceof Node) || !isElement(hit)) return null;
  return event instanceof MouseEvent ? findDeepestTarget(hit, event) : findFocusInside(hit);
}

// Events of a closed shadow root name its host.
function findFocusInside(host) {
  const inner = closedRoots.get(host)?.activeElement;
  return inner ? findFocusInside(inner) : host;
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

// The element that a press is meant for: the field of a label, the list of an option, the button around an icon.
function findPressed(hit) {
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
  if (field !== personField) {
    reportTypedText(field); // between fields of a closed shadow root there is no event for leaving one
    momentBefore = field && describeMoment(field);
  }
  personField = field;
}

function noteInput(event) {
  const hit = targetOf(event);
  if (hit?.type === "file") return reportFiles(hit);
  const field = hit && findPersonField(hit);
  if (!field || field !== personField) return;
  if (tagOf(field) === "select") return reportOptions(field);
  if (isSecret(field)) hiddenFields.add(field);
  if (!typedFields.has(field)) typedFields.set(field, momentBefore || describeMoment(field));
}

function reportText(field, values = {}) {
  const moment = typedFields.get(field);
  if (!moment) return false;
  typedFields.delete(field);
  if (moment.value === readSliderValue(field)) return false;
  const text = isDrawnSlider(field) ? attributeOf(field, "aria-valuenow") : readFieldText(field);
  reportAction("fill", { ...moment, evidence: { ...moment.evidence, secret: isSecret(field) } }, { text: text.slice(0, MAX_RECORDED_CHARS + 1), ...values });
  return true;
}

function reportTypedText(except = null) {
  for (const field of [...typedFields.keys()]) if (field !== except) reportText(field);
}

// A slider drawn by the page has its value in an attribute.
function noteSlider(element) {
  if (!typedFields.has(element)) typedFields.set(element, { ...describeMoment(element), value: readSliderValue(element) });
}

function noteLeaving(event) {
  const hit = event.type === "focusout" ? targetOf(event) : null;
  if (hit && !closedRoots.has(hit)) reportText(findPersonField(hit) || hit);
  else reportTypedText();
}

// In a date field, each typed digit is a change.
function noteChange(event) {
  const hit = targetOf(event);
  if (hit && !(hit.type in DATE_FORMATS)) reportText(hit);
}

function reportOptions(field) {
  const options = Array.from(field.selectedOptions, nameOption);
  if (options.length) reportAction("select", describeMoment(field), { options });
  else reportMissed(`that nothing is chosen in ${describeElement(field)}`);
}

function reportFiles(field) {
  reportTypedText();
  if (!field.files.length) return reportMissed(`that files were taken back from ${describeElement(field)}`);
  reportAction("upload", describeMoment(field), { paths: Array.from(field.files, (each) => each.name), shown: isVisible(field) });
}

function notePress(event) {
  const hit = targetOf(event);
  const field = hit && findPersonField(hit);
  reportTypedText(field);
  pressNow?.watch.finish();
  pressNow = null;
  if (!hit) return;
  if (field !== personField) momentBefore = field ? describeMoment(field) : null;
  personField = field;
  const element = findPressed(hit) || (event.button === 2 ? hit : null);
  if (element && !isDisabled(element)) pressNow = { hit, element, ...describePress(event, element) };
  if (element && isDrawnSlider(element)) noteSlider(element);
  forgetHover();
}

const BUTTON_NAMES = ["left", "middle", "right"];

function describePress(event, element) {
  const start = { x: event.clientX, y: event.clientY, startedAt: event.timeStamp, button: BUTTON_NAMES[event.button], modifiers: listModifiers(event) };
  const hovers = listHovers(element).map(describeMoment);
  return { checked: readChecked(element), moment: describeMoment(element), hovers, box: rectOf(element), watch: new ChangeWatch(), ...start };
}

function listModifiers(event) {
  return ["Alt", "Control", "Meta", "Shift"].filter((name) => event.getModifierState(name));
}

// Clicks other than that of the last press or key are caused by a page or a label.
function noteClick(event) {
  if (event.button > 1) return;
  const hit = targetOf(event);
  const press = event.detail === 0 ? keyNow : pressNow;
  if (!hit || !press || !(containsNode(hit, press.hit) || !press.hit.isConnected || isChosenRadio(event, hit, press))) return;
  press.isClicked = true;
  keyNow = null;
  if (event.detail > 0) pressNow = null;
  const held = event.detail > 0 && event.timeStamp - press.startedAt > MIN_HOLD_MS ? { hold_s: Math.min(event.timeStamp - press.startedAt, MAX_HOLD_MS) / 1000 } : {};
  reportPress(isChosenRadio(event, hit, press) ? { ...press, element: hit, moment: describeMoment(hit) } : press, event.detail, held);
}

const MIN_HOLD_MS = 1_000; // longer presses may mean more than a click
const MAX_HOLD_MS = 10_000; // of a step

// Arrow keys choose another radio button of the group, and click it.
function isChosenRadio(event, hit, press) {
  return event.detail === 0 && hit.type === "radio" && press.hit.type === "radio" && hit.name === press.hit.name;
}

function reportPress({ element, checked, moment, hovers = [], button = "left", modifiers = [] }, count, held = {}) {
  const tag = tagOf(element);
  if (tag === "select" || element.type === "file" || isSlider(element)) return;
  if (tag === "canvas" || tag === "map" || tag === "area") return reportMissed(`a press at a place of ${describeElement(element)}`);
  for (const each of hovers) reportAction("hover", each);
  if (button !== "left" || modifiers.length) return reportAction("click", moment, { button, modifiers });
  if (isToggle(element)) return reportAction(checked === "true" && element.type === "checkbox" ? "uncheck" : "check", moment);
  reportAction("click", moment, { count: Math.min(Math.max(count, 1), 3), field: findPersonField(element) !== null && !element.readOnly, ...held });
}

function isSlider(element) {
  return element.type === "range" || isDrawnSlider(element);
}

function reportMissed(what, milestones = readMilestones()) {
  sendReport?.(JSON.stringify({ kind: "missed", what, milestones }));
}
