// What reached the page, for the tests to ask: every click, input and change with the id it happened on.
globalThis.log = [];
for (const kind of ["click", "dblclick", "contextmenu", "input", "change", "drop", "submit"]) {
  document.addEventListener(kind, (event) => log.push(`${kind} ${event.target.id || event.target.localName}`), true);
}
