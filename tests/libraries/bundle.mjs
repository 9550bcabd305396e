// Bundles the page of one library into its folder `dist`: `node bundle.mjs FOLDER`.
import { existsSync } from "node:fs";
import { join } from "node:path";
import * as esbuild from "esbuild";
import svelte from "esbuild-svelte";

const folder = process.argv[2];
const entry = ["page.jsx", "page.ts", "page.js"].map((name) => join(folder, name)).find(existsSync);
const files = Object.fromEntries([".svg", ".png", ".gif", ".woff", ".woff2", ".ttf", ".eot"].map((end) => [end, "dataurl"]));

await esbuild.build({
  entryPoints: { page: entry },
  outdir: join(folder, "dist"),
  bundle: true,
  format: "iife",
  target: "es2022",
  jsx: "automatic",
  loader: files,
  logLevel: "error",
  conditions: ["svelte", "browser", "production"],
  mainFields: ["svelte", "browser", "module", "main"],
  alias: { vue: "vue/dist/vue.esm-bundler.js" }, // it compiles templates in the page
  define: {
    "process.env.NODE_ENV": '"production"',
    "process.env": "{}",
    __VUE_OPTIONS_API__: "true",
    __VUE_PROD_DEVTOOLS__: "false",
    __VUE_PROD_HYDRATION_MISMATCH_DETAILS__: "false",
  },
  tsconfigRaw: { compilerOptions: { experimentalDecorators: true, useDefineForClassFields: false } },
  plugins: [svelte({ compilerOptions: { css: "injected" } })],
});
