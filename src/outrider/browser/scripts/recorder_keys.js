// Reports a person's key presses that do more than enter text.

const KEYS_OF_LISTS = new Set(["ArrowDown", "ArrowUp", "Escape"]);
const LIST_KEY_SELECTOR = "[aria-activedescendant],[aria-expanded=true],[role=combobox],[role=listbox],[role=option],[role=menuitem],[role=tab],[role=treeitem]";
const SILENT_KEYS = new Set(["Control", "Shift", "Alt", "Meta", "AltGraph", "CapsLock", "Dead", "Process", "Unidentified"]);
const EDITING_KEYS = new Set(["a", "c", "v", "x", "y", "z", "Backspace", "Delete", "Home", "End", "ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]);
const FORMAT_KEYS = new Set(["b", "i", "u"]);
const EMPTIED_AFTER_MS = 50;
const OPEN_SELECTOR = "dialog[open],[role=dialog],[role=alertdialog],[popover]:popover-open";
let keyNow = null; // an Enter or Space without a click so far

function noteKey(event) {
  const hit = targetOf(event);
  keyNow = null;
  if (!hit || event.isComposing || SILENT_KEYS.has(event.key)) return;
  const field = findPersonField(hit);
  if (isDrawnSlider(hit)) return noteSlider(hit);
  if (event.repeat) return field || missAfterPage(event, "a key that was held down");
  forgetHover();
  if (event.ctrlKey || event.metaKey || event.altKey) return noteShortcut(event, hit, field);
  const isList = KEYS_OF_LISTS.has(event.key) && !matchesSelector(hit, "input[type=radio],select") && closestOf(hit, LIST_KEY_SELECTOR);
  if (isList) return reportKey(event.key, describeMoment(hit));
  if (event.key === "Enter" && field) return noteEnter(field);
  if (["Enter", " "].includes(event.key) || hit.type === "radio") return notePressingKey(event, hit, field);
  noteOtherKey(event, hit, field);
}

const waitingReports = []; // with their events, which the page has not received yet

// Calls back once the page has received an event, at the latest before the next key or press.
function afterPage(event, report) {
  waitingReports.push({ event, report });
  setTimeout(sendWaitingReports, 0);
}

function sendWaitingReports(current = null) {
  while (waitingReports.length && waitingReports[0].event !== current) waitingReports.shift().report();
}

function missAfterPage(event, what) {
  const milestones = readMilestones();
  afterPage(event, () => event.defaultPrevented && reportMissed(what, milestones));
}

// A native button turns the key into a click; a button drawn by the page may handle the key itself.
function notePressingKey(event, hit, field) {
  const element = isDisabled(hit) || field ? null : findPressed(hit);
  const moment = describeMoment(hit);
  const press = element && { hit, element, checked: readChecked(element), moment: describeMoment(element) };
  keyNow = press;
  if (field) return;
  const watch = matchesSelector(hit, NATIVE_SELECTOR) ? null : new ChangeWatch();
  afterPage(event, () => {
    const isTaken = watch?.finish() || event.defaultPrevented;
    if (isTaken && !press?.isClicked) reportKey(event.key === " " ? "Space" : event.key, moment);
  });
}

const NATIVE_SELECTOR = "a[href],button,input,summary,video,audio";

// Keys such as Control+s, if the page has handled them; keys that only edit a field are part of its text.
function noteShortcut(event, hit, field) {
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const isText = event.getModifierState("AltGraph") || (event.altKey && event.ctrlKey);
  if (field && (isText || EDITING_KEYS.has(key))) return;
  if (field?.isContentEditable && FORMAT_KEYS.has(key)) return reportMissed(`the format of a text in ${describeElement(field)}`);
  const moment = describeMoment(hit);
  afterPage(event, () => event.defaultPrevented && reportKey([...listModifiers(event), key].join("+"), moment));
}

// Letters typed outside fields may be a secret, so they are not kept.
function noteOtherKey(event, hit, field) {
  const isLetter = event.key.length === 1;
  if (isLetter ? field : event.key === "Tab" || (field && !KEYS_OF_LISTS.has(event.key))) return;
  if (isLetter) return missAfterPage(event, "keys that were typed outside fields");
  const moment = describeMoment(hit);
  const isClosing = event.key === "Escape" && selectFirst(document, OPEN_SELECTOR) !== null;
  afterPage(event, () => (isClosing || event.defaultPrevented) && reportKey(event.key, moment));
}

function reportKey(key, moment) {
  reportTypedText();
  reportAction("press", moment, { key });
}

// In a multi-line text, Enter ends a line, unless it clears the text, as in a chat.
function noteEnter(field) {
  if (tagOf(field) === "select") return;
  if (tagOf(field) === "input") {
    if (!reportText(field, { submit: true })) reportKey("Enter", describeMoment(field));
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
