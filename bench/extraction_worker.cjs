// One extractor of Node in a process of its own: the same lines in and out as extraction_worker.py.
"use strict";
const TINY =
  "<html><body><article><h1>Title</h1><p>Some words of a small page, to begin with.</p></article></body></html>";
const { createInterface } = require("node:readline");
const { readFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { pathToFileURL } = require("node:url");

const [modules, name] = process.argv.slice(2);
const library = createRequire(modules + "/x.js");
const cpu = (since) => {
  const used = process.cpuUsage(since);
  return (used.user + used.system) / 1e3; // milliseconds
};

function writer() {
  const Turndown = library("turndown");
  const { gfm } = library("@joplin/turndown-plugin-gfm");
  const turndown = new Turndown({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-" });
  turndown.use(gfm);
  return turndown;
}

const readability = (parse) => {
  const { Readability } = library("@mozilla/readability");
  const turndown = writer();
  return (html, url) => {
    const { document, close } = parse(html, url);
    try {
      const found = new Readability(document).parse();
      return found ? `# ${found.title}\n\n` + turndown.turndown(found.content) : "";
    } finally {
      close();
    }
  };
};

const EXTRACTORS = {
  "readability-linkedom": () => {
    const { parseHTML } = library("linkedom");
    return readability((html, url) => {
      const { document } = parseHTML(html);
      if (url) {
        const base = document.querySelector("base") || document.head?.appendChild(document.createElement("base"));
        if (base && !base.getAttribute("href")) base.setAttribute("href", url);
      }
      Object.defineProperty(document, "baseURI", { value: url || "about:blank", configurable: true });
      Object.defineProperty(document, "documentURI", { value: url || "about:blank", configurable: true });
      return { document, close() {} };
    });
  },
  "readability-jsdom": () => {
    const { JSDOM, VirtualConsole } = library("jsdom");
    const virtualConsole = new VirtualConsole();
    return readability((html, url) => {
      const { window } = new JSDOM(html, { url: url || undefined, virtualConsole });
      return { document: window.document, close: () => window.close() };
    });
  },
  defuddle: async () => {
    const { parseHTML } = library("linkedom");
    const { Defuddle } = await import(pathToFileURL(modules + "/defuddle/dist/node.js"));
    return async (html, url) => {
      const found = await Defuddle(parseHTML(html).document, url || undefined, { markdown: true, useAsync: false });
      return found.contentMarkdown || found.content || "";
    };
  },
};

function decode(bytes) {
  const declared = /charset\s*=\s*["']?\s*([\w-]+)/i.exec(bytes.subarray(0, 2048).toString("latin1"));
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    try {
      return new TextDecoder(declared ? declared[1] : "windows-1252").decode(bytes);
    } catch {
      return new TextDecoder().decode(bytes);
    }
  }
}

async function attempt(extract, html, url) {
  try {
    return (await extract(html, url)) || "";
  } catch {
    return ""; // a page that an extractor fails on counts as empty
  }
}

function peak() {
  try {
    return Number(/VmHWM:\s*(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]) / 1024;
  } catch {
    return process.resourceUsage().maxRSS / 1024;
  }
}

async function main() {
  const told = process.stdout.write.bind(process.stdout);
  const tell = (data) => told(JSON.stringify(data) + "\n");
  process.stdout.write = process.stderr.write.bind(process.stderr);
  for (const each of ["log", "info", "debug", "warn", "error"]) console[each] = () => {};
  const started = process.cpuUsage();
  const extract = await EXTRACTORS[name]();
  await attempt(extract, TINY, "https://site.example/");
  tell({ ready: cpu(started) / 1e3 });
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    if (!line.trim()) {
      tell({ peak: peak() });
      continue;
    }
    const asked = JSON.parse(line);
    const html = decode(Buffer.from(asked.html, "base64"));
    const before = process.cpuUsage();
    const markdown = await attempt(extract, html, asked.url);
    tell({ ms: cpu(before), markdown, text: null });
  }
}

main();
