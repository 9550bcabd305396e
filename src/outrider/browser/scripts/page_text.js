// Cleans text of a page, and keeps it from looking like an element's line in an outline.

const INVISIBLE_CHARACTERS = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}]/gu;
const KEPT_CHARACTERS = new Set(["\n", "\t", "\u200c", "\u200d"]);

// Removes invisible characters. Same as `core/untrusted.py`, whose patterns `scripts.py` puts in front.
function cleanText(text) {
  if (!/[^\n -~]/.test(text)) return text;
  const lines = text.replace(/\u2029/g, "\n\n").replace(/\r\n|[\r\v\f\x85\u2028]/g, "\n");
  const visible = lines.replace(INVISIBLE_CHARACTERS, (character) => (KEPT_CHARACTERS.has(character) ? character : ""));
  const plain = visible.replace(BLANK_LETTERS, "").normalize("NFC").replace(STRAY_SELECTOR, "");
  return /[\u200c\u200d]/.test(plain) ? removeJoiners(plain) : plain.normalize("NFC");
}

function removeJoiners(text) {
  let plain = text;
  for (let round = 0; round < 3; round++) {
    const before = plain;
    plain = plain.replace(REPEATED_JOINERS, "$1").replace(STRAY_JOINER, "").normalize("NFC");
    if (plain === before) return plain;
  }
  return plain.replace(/[\u200c\u200d]/g, "").normalize("NFC");
}

// Puts a backslash into text that looks like a reference, so that only an outline's own references are intact: see
// `refs.py`.
function escapeRefs(text) {
  return text.replace(REF_LIKE, "$1\\");
}

// A page's text on one line. If it contains something like a reference, it is quoted, which elements never are.
function plainLine(text) {
  const clean = collapseSpace(cleanText(text));
  const escaped = escapeRefs(clean);
  return escaped === clean ? clean : `"${escaped.replace(/"/g, "”")}"`;
}

// Like `plainLine`, but with the spaces at its ends, which separate it from adjacent text.
function plainRun(text) {
  const clean = cleanText(text);
  if (escapeRefs(clean) === clean) return clean;
  return `${/^\s/.test(clean) ? " " : ""}${plainLine(clean)}${/\s$/.test(clean) ? " " : ""}`;
}

function quote(text) {
  return `"${escapeRefs(collapseSpace(cleanText(text))).replace(/"/g, "”")}"`;
}
