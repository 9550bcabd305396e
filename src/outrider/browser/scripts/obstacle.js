// Why an element cannot be acted on as it is: the first reason that holds, with the way out of it.

function obstacle(element, action) {
  return (
    disabledBy(element, action) ||
    insideList(element) ||
    notDisplayed(element) ||
    inertBy(element) ||
    withoutSize(element) ||
    readOnlyFor(element, action) ||
    null
  );
}

function disabledBy(element, action) {
  const target = tagOf(element) === "label" && element.control ? element.control : element;
  if (action === "hover") return null;
  const native = closestWhere(target, (each) => each.matches(":disabled"));
  if (native && (native === target || tagOf(native) === "button")) return nativelyDisabled(native);
  const aria = closestWhere(target, (each) => each.getAttribute("aria-disabled") === "true");
  if (!aria) return null;
  const whose = aria === target ? "it has" : `${describe(aria)} around it has`;
  return failing("disabled", `disabled: ${whose} aria-disabled="true"`, whatEnables(target));
}

function nativelyDisabled(element) {
  const fieldset = closestWhere(element, (each) => tagOf(each) === "fieldset" && each.disabled);
  const message = element.hasAttribute("disabled")
    ? "disabled: it has the attribute disabled"
    : `disabled by ${fieldset ? describe(fieldset) : "its group"}`;
  return failing("disabled", message, whatEnables(element));
}

// A form's button is mostly off until its required fields are filled.
function whatEnables(element) {
  const form = element.form || element.closest("form");
  const open = form ? [...form.elements].filter((each) => each.willValidate && !each.validity.valid) : [];
  if (!open.length) return "something else on the page must enable it first";
  return `first fill ${open.slice(0, 3).map((each) => `${refOf(each)} ${describe(each)}`).join(", ")}`;
}

function notDisplayed(element) {
  const details = closedDetails(element);
  if (details) return insideDetails(details);
  const none = closestWhere(element, (each) => getComputedStyle(each).display === "none");
  if (none) return hiddenBy(element, none, "display: none");
  if (!element.checkVisibility()) return failing("hidden", "not rendered: a content-visibility: hidden or unassigned part", opener(element));
  const style = getComputedStyle(element);
  if (style.visibility !== "visible") return hiddenBy(element, whoHides(element, style.visibility), `visibility: ${style.visibility}`);
  return null;
}

// The list that drops from a <select> is drawn by the browser, out of any hand's reach.
function insideList(option) {
  const select = tagOf(option) === "option" ? option.closest("select") : null;
  if (!select || select.multiple || select.size > 1) return null;
  const next = `select ${quoted(collapse(option.label))} in ${refOf(select)} ${describe(select)}`;
  return failing("hidden", "an option of a drop-down list cannot be clicked", next);
}

function closedDetails(element) {
  return closestWhere(element, (each) => {
    const parent = parentElementOf(each);
    return parent?.localName === "details" && !parent.open && each !== firstSummary(parent);
  });
}

function firstSummary(details) {
  return [...details.children].find((child) => tagOf(child) === "summary");
}

function insideDetails(inner) {
  const details = parentElementOf(inner);
  const summary = firstSummary(details);
  const name = summary ? ` ${quoted(contentName(summary))}` : "";
  const next = summary ? `click its summary ${refOf(summary)} first` : "open it first";
  return failing("hidden", `inside a closed <details>${name}`, next);
}

function whoHides(element, value) {
  let who = element;
  for (let each = parentElementOf(element); each; each = parentElementOf(each)) {
    if (getComputedStyle(each).visibility !== value) break;
    who = each;
  }
  return who;
}

function hiddenBy(element, who, how) {
  const whose = who === element ? "it has" : `${describe(who)} around it has`;
  return failing("hidden", `hidden: ${whose} ${how}`, opener(who === element ? element : who));
}

// The control that says it opens what the element is in.
function opener(element) {
  const opened = closestWhere(element, (each) => idOf(each) && opensId(idOf(each)));
  const control = opened ? opensId(idOf(opened)) : null;
  return control ? `maybe first click ${refOf(control)} ${describe(control)}` : "something on the page must show it first";
}

function opensId(id) {
  const name = CSS.escape(id);
  return document.querySelector(
    `[aria-controls~="${name}"],[aria-owns~="${name}"],[popovertarget="${name}"],[commandfor="${name}"],[href="#${name}"],[data-target="#${name}"],[data-bs-target="#${name}"]`,
  );
}

function inertBy(element) {
  const inert = closestWhere(element, (each) => each.inert);
  if (inert) {
    const whose = inert === element ? "it is" : `${describe(inert)} around it is`;
    return failing("disabled", `${whose} inert`, "something on the page must release it first", { cause: "inert" });
  }
  const modal = modalDialog();
  if (!modal || holds(modal, element) || holdsPopover(element)) return null;
  return failing("covered", `the modal dialog ${describe(modal)} is open above it`, dismissal(modal), coveredBy(modal));
}

function holdsPopover(element) {
  return closestWhere(element, (each) => each.matches(":popover-open")) !== null;
}

function coveredBy(element) {
  return { covered_by: signature(element), suggestions: [dismissal(element)] };
}

function withoutSize(element) {
  if (tagOf(element) === "area" || getComputedStyle(element).display === "contents") return null;
  const { width, height } = element.getBoundingClientRect();
  if (width >= 1 && height >= 1) return null;
  if (element.firstElementChild && [...element.querySelectorAll("*")].some(isSeen)) return null;
  const what = width > 0 || height > 0 ? "too small to act on" : "without size";
  return failing("zero_size", `${what}: ${tenth(width)} × ${tenth(height)} pixels`, opener(element));
}

function readOnlyFor(element, action) {
  if (action !== "fill") return null;
  const read = element.readOnly || element.getAttribute("aria-readonly") === "true";
  return read ? failing("read_only", "read-only: its text cannot be changed", "change what it is derived from") : null;
}

const DISMISSING = /^(close|dismiss|accept|agree|allow|ok|okay|got it|no,? thanks|not now|later|skip|reject|decline|cancel|continue|×|✕|✖|x)\b|^(close|×|✕|✖|x)$|\b(dismiss|close|accept|reject)\b/i;

function dismissal(cover) {
  for (const element of everyElement(cover)) {
    if (!element.matches?.(NESTED) || !isSeen(element)) continue;
    const name = nameOf(element);
    if (DISMISSING.test(name.trim())) return `maybe first click ${refOf(element)} ${quoted(shorten(name, 40))}`;
  }
  return "close or finish it first (perhaps with the key Escape)";
}
