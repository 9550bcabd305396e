// Explains why an element cannot be acted on now: the first obstacle, and how to remove it.

function findObstacle(element, action) {
  return (
    checkDisabled(element, action) ||
    checkDropDownOption(element) ||
    checkDisplayed(element) ||
    checkInert(element) ||
    checkSize(element) ||
    checkReadOnly(element, action) ||
    null
  );
}

function checkDisabled(element, action) {
  const target = tagOf(element) === "label" && element.control ? element.control : element;
  if (action === "hover") return null;
  const native = findClosest(target, (each) => matchesSelector(each, ":disabled"));
  if (native && (native === target || tagOf(native) === "button")) return explainDisabled(native);
  const aria = findClosest(target, (each) => attributeOf(each, "aria-disabled") === "true");
  if (!aria) return null;
  const subject = aria === target ? "it has" : `${describeElement(aria)} around it has`;
  return buildFailure("disabled", `disabled: ${subject} aria-disabled="true"`, suggestEnabling(target));
}

function explainDisabled(element) {
  const fieldset = findClosest(element, (each) => tagOf(each) === "fieldset" && each.disabled);
  const message = hasAttribute(element, "disabled")
    ? "disabled: it has the attribute disabled"
    : `disabled by ${fieldset ? describeElement(fieldset) : "its group"}`;
  return buildFailure("disabled", message, suggestEnabling(element));
}

// A form's button is usually disabled until its required fields are filled.
function suggestEnabling(element) {
  const form = element.form || closestOf(element, "form");
  const open = form ? [...form.elements].filter((each) => each.willValidate && !each.validity.valid) : [];
  if (!open.length) return "something else on the page must enable it first";
  return `first fill ${open.slice(0, 3).map((each) => `${refOf(each)} ${describeElement(each)}`).join(", ")}`;
}

function checkDisplayed(element) {
  const details = findClosedDetails(element);
  if (details) return explainClosedDetails(details);
  const none = findClosest(element, (each) => getComputedStyle(each).display === "none");
  if (none) return explainHidden(element, none, "display: none");
  if (!checkVisibilityOf(element)) return buildFailure("hidden", "not rendered: a content-visibility: hidden or unassigned part", suggestOpener(element));
  const style = getComputedStyle(element);
  if (style.visibility !== "visible") return explainHidden(element, findHidingAncestor(element, style.visibility), `visibility: ${style.visibility}`);
  return null;
}

// The browser draws the list of a <select> outside the page, where no press reaches it.
function checkDropDownOption(option) {
  const select = tagOf(option) === "option" ? closestOf(option, "select") : null;
  if (!select || select.multiple || select.size > 1) return null;
  const next = `select ${quote(collapseSpace(option.label))} in ${refOf(select)} ${describeElement(select)}`;
  return buildFailure("hidden", "an option of a drop-down list cannot be clicked", next);
}

function findClosedDetails(element) {
  return findClosest(element, (each) => {
    const parent = parentElementOf(each);
    return parent?.localName === "details" && !parent.open && each !== findSummary(parent);
  });
}

function findSummary(details) {
  return [...elementsOf(details)].find((child) => tagOf(child) === "summary");
}

function explainClosedDetails(inner) {
  const details = parentElementOf(inner);
  const summary = findSummary(details);
  const name = summary ? ` ${quote(nameFromContent(summary))}` : "";
  const next = summary ? `click its summary ${refOf(summary)} first` : "open it first";
  return buildFailure("hidden", `inside a closed <details>${name}`, next);
}

function findHidingAncestor(element, value) {
  let hiding = element;
  for (let each = parentElementOf(element); each; each = parentElementOf(each)) {
    if (getComputedStyle(each).visibility !== value) break;
    hiding = each;
  }
  return hiding;
}

function explainHidden(element, hiding, style) {
  const subject = hiding === element ? "it has" : `${describeElement(hiding)} around it has`;
  return buildFailure("hidden", `hidden: ${subject} ${style}`, suggestOpener(hiding));
}

// Finds the control whose markup says that it opens a container of the element.
function suggestOpener(element) {
  const drawn = FORM_CONTROL_TAGS.has(tagOf(element)) ? suggestDrawnSibling(element) : "";
  if (drawn) return drawn;
  const opened = findClosest(element, (each) => idOf(each) && findOpenerOf(idOf(each)));
  const control = opened ? findOpenerOf(idOf(opened)) : null;
  return control ? `maybe first click ${refOf(control)} ${describeElement(control)}` : "something on the page must show it first";
}

const FORM_CONTROL_TAGS = new Set(["input", "select", "textarea"]);

function findOpenerOf(id) {
  const name = CSS.escape(id);
  return document.querySelector(
    `[aria-controls~="${name}"],[aria-owns~="${name}"],[popovertarget="${name}"],[commandfor="${name}"],[href="#${name}"],[data-target="#${name}"],[data-bs-target="#${name}"]`,
  );
}

function checkInert(element) {
  const inert = findClosest(element, (each) => hasAttribute(each, "inert"));
  if (inert) {
    const subject = inert === element ? "it is" : `${describeElement(inert)} around it is`;
    const dialog = [...selectAll(document, "dialog[open],[role=dialog],[role=alertdialog]")].find((each) => isVisible(each) && !containsNode(inert, each));
    const hint = dialog ? `${describeElement(dialog)} is open: ${suggestDismissal(dialog)}` : "something on the page must release it first";
    return buildFailure("disabled", `${subject} inert`, hint, { cause: "inert" });
  }
  const modal = findModalDialog();
  if (!modal || containsNode(modal, element) || isInPopover(element)) return null;
  return buildFailure("covered", `the modal dialog ${describeElement(modal)} is open above it`, suggestDismissal(modal), describeCover(modal));
}

function isInPopover(element) {
  return findClosest(element, (each) => matchesSelector(each, ":popover-open")) !== null;
}

function describeCover(element) {
  return { covered_by: formatSignature(element), suggestions: [suggestDismissal(element)] };
}

function checkSize(element) {
  if (tagOf(element) === "area" || getComputedStyle(element).display === "contents") return null;
  const { width, height } = rectOf(element);
  if (width >= 1 && height >= 1) return null;
  if (firstElementOf(element) && [...selectAll(element, "*")].some(isVisible)) return null;
  const problem = width > 0 || height > 0 ? "too small to act on" : "without size";
  return buildFailure("zero_size", `${problem}: ${roundToTenth(width)} × ${roundToTenth(height)} pixels`, suggestOpener(element));
}

function checkReadOnly(element, action) {
  if (action !== "fill" || !isReadOnly(element)) return null;
  return buildFailure("read_only", "read-only: its text cannot be changed", suggestOtherInput(element));
}

function suggestOtherInput(element) {
  return computeRole(element) === "combobox" ? "click it, then click the option that appears" : "click it if that opens a choice, else change what it is derived from";
}

const DISMISS_NAMES = /^(close|dismiss|accept|agree|allow|ok|okay|got it|no,? thanks|not now|later|skip|reject|decline|cancel|continue|×|✕|✖|x)\b|^(close|×|✕|✖|x)$|\b(dismiss|close|accept|reject)\b/i;

function suggestDismissal(cover) {
  for (const element of iterElements(cover)) {
    if (!isElement(element) || !matchesSelector(element, ACTIONABLE_SELECTOR) || !isVisible(element)) continue;
    const name = computeName(element);
    if (DISMISS_NAMES.test(name.trim())) return `maybe first click ${refOf(element)} ${quote(shorten(name, 40))}`;
  }
  return "close or finish it first (perhaps with the key Escape)";
}
