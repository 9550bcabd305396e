// Finds web components that may set their role through ElementInternals, and keeps the browser's data about it.

const MAX_COMPONENTS = 200;
const speaksByTag = new Map(); // whether the first component of a tag had a role

function mayHaveInternals(element) {
  return tagOf(element).includes("-") && !hasAttribute(element, "role") && (!speaksByTag.has(tagOf(element)) || (speaksByTag.get(tagOf(element)) && !internalsOf.has(element)));
}

// One shown component of each unknown tag, and all components of tags that have a role.
function findComponents() {
  const found = [];
  const asked = new Set();
  for (const element of iterElements(document.documentElement)) {
    const tag = tagOf(element);
    if (!tag.includes("-") || hasAttribute(element, "role") || !matchesSelector(element, ":defined")) continue;
    if (speaksByTag.has(tag) ? !speaksByTag.get(tag) : asked.has(tag)) continue;
    if (!checkVisibilityOf(element) || closestOf(element, "[aria-hidden=true],[inert]")) continue;
    asked.add(tag);
    found.push(element);
    if (found.length >= MAX_COMPONENTS) break;
  }
  return found;
}

// Returns whether any has a role. A name from its content is not kept, because the content is written anyway.
function adoptInternals(attributes, components) {
  components.forEach((element, at) => {
    const given = attributes[at];
    const tag = tagOf(element);
    if (!speaksByTag.has(tag)) speaksByTag.set(tag, Boolean(given.role));
    if (!given.role) return internalsOf.delete(element);
    const isContent = NAMED_BY_CONTENT.has(given.role) && collapseSpace(textContentOf(element)).includes(collapseSpace(given["aria-label"] || ""));
    if (isContent) delete given["aria-label"];
    internalsOf.set(element, new Map(Object.entries(given)));
    hasInternals = true;
  });
  return hasInternals;
}
