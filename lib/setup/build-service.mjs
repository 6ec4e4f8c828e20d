/** Bundles the service for production. A bundle of few files starts twice as fast as the two thousand modules in it. */
import { readFileSync, rmSync } from "node:fs";
import { basename, dirname, relative, sep } from "node:path";

/** The program of the built service. `next build` empties `.next`, so the service must be built after the pages. */
export const SERVICE_PROGRAM = ".next/service/main.mjs";

const OUTPUT = dirname(SERVICE_PROGRAM);

/** Scripts of threads, and of processes that the service starts. Each is built as a file of its own, in the folder of the program. */
const THREADS = [
  "lib/api/http/body/body-worker.ts",
  "lib/browser-host/host-worker.ts",
  "lib/deliverable/admission/schema-worker.ts",
  "lib/mcp-server/tools/page-worker.ts",
  "lib/porting/read-worker.ts",
  "lib/receipts/receipts-worker.ts",
  "lib/server/reference/reference-worker.ts",
  "lib/tools/browser/compare/difference-worker.ts",
];

/** Packages that stay in node_modules, because they contain native code or find their own files by their path. */
const EXTERNAL = ["next", "playwright", "playwright-core", "sharp", "@vercel/sandbox", "pg-native"];

/**
 * Replaces `import.meta.url` and `import.meta.dirname` in our modules, because they would mean the bundle's file. Each
 * module gets the address of its source file instead, so that it finds the files next to that file. The URL of a
 * thread's script becomes the URL of the built script. All addresses are relative to the bundle, so that the project's
 * folder can be moved.
 * @type {import("esbuild").Plugin}
 */
const moduleAddresses = {
  name: "module addresses",
  setup({ onLoad }) {
    const threads = new Set(THREADS.map((path) => basename(path)));
    onLoad({ filter: /\.ts$/ }, ({ path }) => {
      const source = relative(".", path).replaceAll(sep, "/");
      if (source.startsWith("node_modules")) return undefined;
      const text = readFileSync(path, "utf8");
      if (!text.includes("import.meta.")) return undefined;
      const contents = text
        .replace(/new URL\("\.\/([\w-]+-worker)\.ts", import\.meta\.url\)/g, (_address, name) => {
          if (!threads.has(`${name}.ts`))
            throw new Error(`${source}: ${name}.ts is not in the list of threads`);
          return `new URL("./${name}.mjs", import.meta["url"])`;
        })
        .replaceAll("import.meta.url", () => `bundleSourceUrl(${JSON.stringify(source)})`)
        .replaceAll("import.meta.dirname", () => `bundleSourceFolder(${JSON.stringify(dirname(source))})`);
      return { contents, loader: "ts" };
    });
  },
};

/**
 * Begins each file of a bundle. The CommonJS packages in the bundle call `require`, which ECMAScript modules do not
 * have. The other two functions are for `moduleAddresses`.
 * @param {string} output
 */
const bannerOf = (output) => `import { createRequire as createBundleRequire } from "node:module";
import { fileURLToPath as bundlePathOf } from "node:url";
const require = createBundleRequire(import.meta.url);
const bundleSourceUrl = (path) => new URL("${relative(output, ".").replaceAll(sep, "/")}/" + path, import.meta.url).href;
const bundleSourceFolder = (path) => bundlePathOf(bundleSourceUrl(path));`;

/**
 * How programs of the service are bundled.
 * @param {string} output the folder of the bundle, relative to the folder with the layout of the project
 * @returns {import("esbuild").BuildOptions}
 */
export const bundleOptions = (output) => ({
  entryNames: "[name]",
  outExtension: { ".js": ".mjs" },
  bundle: true,
  // Code that is imported dynamically stays in files of its own, which are loaded when they are needed.
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node24",
  external: EXTERNAL,
  legalComments: "none",
  plugins: [moduleAddresses],
  banner: { js: bannerOf(output) },
});

/** Builds the service into the folder of `SERVICE_PROGRAM`. */
export async function buildService() {
  const { build } = await import("esbuild");
  rmSync(OUTPUT, { recursive: true, force: true });
  await build({
    ...bundleOptions(OUTPUT),
    entryPoints: ["lib/server/main.ts", ...THREADS],
    outdir: OUTPUT,
    sourcemap: true,
    sourcesContent: false,
  });
}
