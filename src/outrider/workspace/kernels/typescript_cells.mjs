// Run cells of TypeScript in one global scope, as notebooks do.
//
// Deno runs it from a file outside the workspace. Requests and replies are those of python_cells.py. A cell ends when
// nothing is left to wait for: timers and calls that it does not await belong to it, as they do to a script.

import { statSync } from "node:fs";
import inspector from "node:inspector";
import { stripTypeScriptTypes } from "node:module";
import process from "node:process";

const MAX_VALUE_CHARS = 200_000;
const { stdin, stdout, stderr, inspect, openSync } = Deno; // a cell may replace what Deno offers
const session = new inspector.Session();
const initialNames = new Set(Object.getOwnPropertyNames(globalThis));
const pendingBytes = [];
const firstTimes = new Map();
let mark = "";
let count = 0;
let outcome = { exit_code: 0, value: null };

class ExitSignal {
  constructor(code) {
    this.code = code;
  }
}

// V8's inspector evaluates as the console of a browser does: names may be declared again, and `await` stands anywhere.
function post(method, parameters) {
  return new Promise((resolve, reject) =>
    session.post(method, parameters, (error, answer) => (error ? reject(error) : resolve(answer)))
  );
}

function stripTypes(code) {
  try {
    return stripTypeScriptTypes(code);
  } catch {
    // Enums and namespaces are more than types; this removes imports that the cell does not use, too.
    return stripTypeScriptTypes(code, { mode: "transform" });
  }
}

// Code that is not a module would look for `./file.ts` beside the workspace. A file that has changed since it was first
// imported gets an address of its own, because modules are loaded once.
function resolveSpecifier(specifier) {
  if (!/^\.\.?\//.test(specifier)) return JSON.stringify(specifier);
  const url = new URL(specifier, `file://${Deno.cwd()}/`);
  const changedAt = statSync(url, { throwIfNoEntry: false })?.mtimeMs;
  if (!firstTimes.has(url.href)) firstTimes.set(url.href, changedAt);
  if (firstTimes.get(url.href) !== changedAt) url.search = `?changed=${changedAt}`;
  return JSON.stringify(url.href);
}

function resolveImportCalls(code) {
  return code.replace(
    /\bimport\(\s*(["'])(\.\.?\/[^"'\n]*)\1/g,
    (_, __, specifier) => `import(${resolveSpecifier(specifier)}`,
  );
}

const NAME = "[\\w$]+";
const IMPORT = new RegExp(
  `(?<=^|;)[ \\t]*import\\s+(?:(?:(${NAME})\\s*,?\\s*)?(?:\\*\\s*as\\s+(${NAME})|(\\{[^{}]*\\}))?\\s*from\\s*)?(["'])([^"'\\n]+)\\4([^\\n;]*);?`,
  "gm",
);

// Scripts have no import statements, so they become calls; names stay for later cells.
function rewriteImports(code) {
  return code.replace(IMPORT, (_, standard, whole, names, __, specifier, attributes) => {
    const options = /^\s*with\s*(\{[^{}]*\})/.exec(attributes);
    const call = `await import(${resolveSpecifier(specifier)}${options ? `, { with: ${options[1]} }` : ""})`;
    if (whole) return `const ${whole} = ${call}${standard ? `, ${standard} = ${whole}.default` : ""};`;
    const picked = names ? names.slice(1, -1).replace(new RegExp(`(${NAME})\\s+as\\s+`, "g"), "$1: ") : "";
    const fields = [standard ? `default: ${standard}` : "", picked].filter((field) => field.trim());
    return fields.length ? `const { ${fields.join(", ")} } = ${call};` : `${call};`;
  });
}

function rewriteModule(code) {
  return rewriteImports(code)
    .replace(/^export\s+(?=(?:async|abstract|class|const|enum|function|let|var)\b)/gm, "")
    .replace(/\bimport\.meta\.url\b/g, () => JSON.stringify(`file://${Deno.cwd()}/main.ts`));
}

async function evaluate(code) {
  const script = `${code}\n//# sourceURL=file://${Deno.cwd()}/cell-${count}.ts`;
  const parameters = { expression: script, replMode: true, awaitPromise: true, objectGroup: "cell" };
  return await post("Runtime.evaluate", parameters);
}

function isModuleError(answer) {
  const description = answer.exceptionDetails?.exception?.description ?? "";
  return /^SyntaxError: (Cannot use (import statement|'import\.meta') outside a module|Unexpected token 'export')/.test(
    description,
  );
}

async function runCell(code) {
  count += 1;
  const script = resolveImportCalls(stripTypes(code));
  let answer = await evaluate(script);
  if (isModuleError(answer)) answer = await evaluate(rewriteModule(script));
  if (answer.exceptionDetails) throw await takeValue(answer.exceptionDetails.exception);
  const isHandle = answer.result.subtype === "promise" || ["Timeout", "Immediate"].includes(answer.result.className);
  if (isHandle || answer.result.type === "undefined") return null;
  const text = inspect(await takeValue(answer.result), { depth: 6, strAbbreviateSize: MAX_VALUE_CHARS });
  const half = MAX_VALUE_CHARS / 2;
  if (text.length <= MAX_VALUE_CHARS) return text;
  return `${text.slice(0, half)}\n… (${text.length - 2 * half} characters are left out here) …\n${text.slice(-half)}`;
}

// The inspector describes values; a function that it calls with one can keep it.
async function takeValue(description) {
  let taken;
  const key = Symbol.for("outrider.take");
  globalThis[key] = (value) => {
    taken = value;
  };
  await post("Runtime.callFunctionOn", {
    functionDeclaration: `function (value) { globalThis[Symbol.for("outrider.take")](value); }`,
    executionContextId: 1,
    arguments: [description.objectId ? { objectId: description.objectId } : pickPrimitive(description)],
  });
  delete globalThis[key];
  return taken;
}

function pickPrimitive({ value, unserializableValue }) {
  return unserializableValue === undefined ? { value } : { unserializableValue };
}

function failCell(error) {
  if (error instanceof ExitSignal) {
    outcome.exit_code = error.code;
    return;
  }
  outcome.exit_code = 1;
  const text = error instanceof Error ? inspect(error) : `Uncaught ${inspect(error)}`;
  const own = new URL(import.meta.url).pathname;
  const isOurs = (line) => line.includes(own) || /^\s+at (new Promise \(<anonymous>\)$|.*\b(ext:|node:))/.test(line);
  const lines = text.replaceAll("file:///stripTypeScriptTypes.ts", "<anonymous>").split("\n")
    .filter((line) => !isOurs(line));
  if (/^SyntaxError: Identifier .* has already been declared/.test(text)) {
    lines.push("An earlier call has declared it: use the same keyword, a new name, or reset.");
  }
  writeAll(stderr, new TextEncoder().encode(`${lines.join("\n")}\n`));
}

async function listNames() {
  const { names } = await post("Runtime.globalLexicalScopeNames", {});
  const properties = Object.getOwnPropertyNames(globalThis).filter((name) => !initialNames.has(name));
  return [...new Set([...names, ...properties])].slice(0, 500);
}

function writeAll(stream, bytes) {
  for (let start = 0; start < bytes.length;) start += stream.writeSync(bytes.subarray(start));
}

async function reply() {
  const encoder = new TextEncoder();
  outcome.exit_code ||= Number(process.exitCode ?? 0) & 0xff;
  process.exitCode = undefined;
  const body = encoder.encode(JSON.stringify({ ...outcome, names: await listNames() }));
  writeAll(stderr, encoder.encode(mark));
  writeAll(stdout, encoder.encode(mark + body.length.toString(16).padStart(8, "0")));
  writeAll(stdout, body);
  mark = "";
}

function readRequest() {
  const block = new Uint8Array(65_536);
  let end;
  while ((end = pendingBytes.indexOf(10)) < 0) {
    const size = stdin.readSync(block);
    if (size === null) return null;
    for (let index = 0; index < size; index++) pendingBytes.push(block[index]);
  }
  return JSON.parse(new TextDecoder().decode(new Uint8Array(pendingBytes.splice(0, end + 1))));
}

async function beginCell() {
  if (mark) await reply();
  await post("Runtime.releaseObjectGroup", { objectGroup: "cell" });
  const request = readRequest();
  if (request === null) exitProcess(0);
  ({ mark } = request);
  outcome = { exit_code: 0, value: null };
  try {
    outcome.value = await runCell(request.code);
  } catch (error) {
    failCell(error);
  }
}

const exitProcess = Deno.exit;
Deno.exit = (code) => {
  throw new ExitSignal((code ?? Deno.exitCode) & 0xff);
};
process.exit = (code) => Deno.exit(Number(code ?? process.exitCode ?? 0));
Object.defineProperty(Deno, "stdin", { value: openSync("/dev/null") });
for (const [event, key] of [["error", "error"], ["unhandledrejection", "reason"]]) {
  globalThis.addEventListener(event, (happened) => {
    happened.preventDefault();
    failCell(happened[key]);
  });
}
session.connect();
// Each time that nothing is left to do, the cell has ended and the next one begins.
process.on("beforeExit", () => setImmediate(beginCell));
