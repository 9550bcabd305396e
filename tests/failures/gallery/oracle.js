// Tells what a reader of the page sees and can operate, by other means than the scripts that outline it: boxes of the
// text itself, the flattened tree, computed styles. `isReferred` says whether an element has a reference.
(isReferred) => {
  const words = [], unreferred = [];
  let operable = 0;
  const NATIVE = "a[href],button,input:not([type=hidden]),select,textarea,summary,canvas,[contenteditable=true],[draggable=true]";
  const ROLES = /^(button|link|checkbox|radio|tab|menuitem|option|switch|textbox|combobox|treeitem|slider|spinbutton|listbox)( |$)/;
  const SKIPPED = /^(script|style|template|head|title|noscript|option|optgroup|textarea)$/;
  const add = (text) => words.push(...(text.toLowerCase().match(/[\p{L}\p{N}]+/gu) || []));
  const childrenOf = (element) => {
    if (element.shadowRoot) return element.shadowRoot.childNodes;
    return element.localName === "slot" && element.assignedNodes().length ? element.assignedNodes() : element.childNodes;
  };
  const isClipped = (element) => {
    const { overflowX, overflowY, clipPath } = getComputedStyle(element), { width, height } = element.getBoundingClientRect();
    return clipPath.startsWith("inset(50%") || ((overflowX === "hidden" || overflowY === "hidden") && (width <= 1 || height <= 1));
  };
  const isSeen = (box) => box.width >= 1 && box.height >= 1 && box.right + scrollX > 0 && box.bottom + scrollY > 0;
  const readField = (field) => {
    if (field.localName === "select") return [...field.selectedOptions].map((each) => each.label).join(" ");
    return /^(checkbox|radio|range|color|file|password|submit|button)$/.test(field.type) ? "" : field.value || field.placeholder;
  };
  const readPainted = (element) => ["::before", "::after"].map((part) => { const { content, display, opacity } = getComputedStyle(element, part); return display === "none" || opacity === "0" ? "" : /^"(.*)"$/.exec(content)?.[1] || "" });
  const isOperable = (element) => element.matches(NATIVE) || ROLES.test(element.getAttribute("role")) || (element.hasAttribute("tabindex") && element.tabIndex >= 0) || element.hasAttribute("onclick") || element.dataset.operable !== undefined;
  const walk = (element) => {
    const { opacity, visibility, display, contentVisibility } = getComputedStyle(element);
    if ((SKIPPED.test(element.localName) && element.localName !== "textarea") || display === "none" || opacity === "0" || isClipped(element)) return;
    const shown = visibility === "visible", box = element.getBoundingClientRect();
    if (shown && (isSeen(box) || display === "contents")) {
      if (element.matches("input:not([type=hidden]),select,textarea")) add(readField(element));
      if (element.localName === "img") add(element.alt);
      add(readPainted(element).join(" "));
      const labels = [...(element.labels || [])], isLabel = element.localName === "label" && element.control;
      if (isOperable(element) && !isLabel) {
        operable += 1;
        if (![element, ...labels].some(isReferred)) unreferred.push(element.outerHTML.slice(0, 100));
      }
    }
    for (const child of contentVisibility === "hidden" ? [] : childrenOf(element)) {
      if (child.nodeType === 1) walk(child);
      if (child.nodeType !== 3 || !shown || SKIPPED.test(element.localName)) continue;
      const range = document.createRange();
      range.selectNodeContents(child);
      if ([...range.getClientRects()].some(isSeen)) add(child.data);
    }
  };
  walk(document.body);
  return { words, unreferred, operable };
}
