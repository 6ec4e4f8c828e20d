/** Bundles the service for production. A bundle of few files starts twice as fast as the two thousand modules in it. */
import { readFileSync, rmSync } from "node:fs";
import { basename, dirname, relative } from "node:path";
import { pathToFileURL } from "node:url";

/** The program of the built service. `next build` empties `.next`, so the service must be built after the pages. */
export const SERVICE_PROGRAM = ".next/service/main.mjs";

const OUTPUT = dirname(SERVICE_PROGRAM);

/** Scripts of threads. Each is built as a file of its own, in the folder of the program. */
const THREADS = [
  "lib/api/http/body/body-worker.ts",
  "lib/deliverable/admission/schema-worker.ts",
  "lib/mcp-server/tools/page-worker.ts",
  "lib/porting/read-worker.ts",
  "lib/tools/browser/compare/difference-worker.ts",
];

/** Packages that stay in node_modules, because they contain native code or find their own files by their path. */
const EXTERNAL = [
  "next",
  "playwright",
  "playwright-core",
  "sharp",
  "axe-core",
  "@vercel/sandbox",
  "pg-native",
];

/**
 * Replaces `import.meta.url` and `import.meta.dirname` in our modules, because they would mean the bundle's file. Each
 * module gets the address of its source file instead, so that it finds the files next to that file. The URL of a
 * thread's script becomes the URL of the built script.
 * @type {import("esbuild").Plugin}
 */
const moduleAddresses = {
  name: "module addresses",
  setup({ onLoad }) {
    const threads = new Set(THREADS.map((path) => basename(path)));
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      if (relative(".", path).startsWith("node_modules")) return undefined;
      const source = readFileSync(path, "utf8");
      if (!source.includes("import.meta.")) return undefined;
      const contents = source
        .replace(/new URL\("\.\/([\w-]+\.ts)", import\.meta\.url\)/g, (address, name) =>
          threads.has(name) ? `new URL("./${name.replace(/ts$/, "mjs")}", import.meta["url"])` : address,
        )
        .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(path).href))
        .replaceAll("import.meta.dirname", JSON.stringify(dirname(path)));
      return { contents, loader: "ts" };
    });
  },
};

/** Builds the service into the folder of `SERVICE_PROGRAM`. */
export async function buildService() {
  const { build } = await import("esbuild");
  rmSync(OUTPUT, { recursive: true, force: true });
  await build({
    entryPoints: ["lib/server/main.ts", ...THREADS],
    outdir: OUTPUT,
    entryNames: "[name]",
    outExtension: { ".js": ".mjs" },
    bundle: true,
    // Code that is imported dynamically stays in files of its own, which are loaded when they are needed.
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node24",
    external: EXTERNAL,
    sourcemap: true,
    sourcesContent: false,
    legalComments: "none",
    plugins: [moduleAddresses],
    // The CommonJS packages in the bundle call `require`, which ECMAScript modules do not have.
    banner: {
      js: 'import { createRequire as createBundleRequire } from "node:module"; const require = createBundleRequire(import.meta.url);',
    },
  });
}
