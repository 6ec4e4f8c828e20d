/**
 * Bundles the browser host for the machines of Vercel Sandbox, which have neither the service's sources nor its packages.
 * The result is a folder with the layout of the project: the bundle, and the files that it finds by their path.
 * The folder is not committed: every command that needs it builds it if it is not current.
 */
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ensureInjected } from "./build-injected.mjs";
import { bundleOptions } from "./build-service.mjs";
import { hashFile, listFiles, readStamp, writeStamp } from "./stamp.mjs";

/** The folder with the built files. */
export const BOX_PROGRAM = ".box-program";
const STAMP = `${BOX_PROGRAM}/stamp.json`;
/** The folder of the bundle, in the folder of the program. */
const BUNDLE = "program";
const ENTRIES = [
  "lib/browser-host/boxed-host-worker.ts",
  "lib/sandbox/vercel/egress-worker.ts",
  "lib/tools/browser/compare/difference-worker.ts",
];
/** Packages that the machine gets from npm, because they contain native code or find their own files by their path. */
const PACKAGES = ["playwright", "playwright-core", "sharp"];
/** Further files that the program finds by their path. */
const FILES = ["package.json", "public/variant-runtime.js"];
const ALSO_READ = ["lib/setup/build-box-program.mjs", "lib/setup/build-service.mjs", "package-lock.json"];

/**
 * Builds the program, unless a stamp shows that the content of all files that were read is unchanged.
 * `manifest.json` has the hash and the paths of the files, and the versions of the packages that they need.
 * @returns {Promise<string[]>} the paths of the manifest and of all files
 */
export async function ensureBoxProgram() {
  const injected = await ensureInjected();
  const stamped = Object.entries(readStamp(STAMP) ?? {});
  const isCurrent = stamped.length > 0 && stamped.every(([path, hash]) => hashFile(path) === hash);
  if (!isCurrent) await buildBoxProgram(injected);
  return [`${BOX_PROGRAM}/manifest.json`, ...readManifest().files.map((path) => `${BOX_PROGRAM}/${path}`)];
}

/** @returns {{ files: string[] }} */
const readManifest = () => JSON.parse(readFileSync(`${BOX_PROGRAM}/manifest.json`, "utf8"));

/** @param {string[]} injected paths of the code that runs inside pages */
async function buildBoxProgram(injected) {
  const { build } = await import("esbuild");
  // Built in another folder and then renamed, because several processes may build it.
  const draft = `${BOX_PROGRAM}.${process.pid}`;
  rmSync(draft, { recursive: true, force: true });
  const { metafile } = await build({
    ...bundleOptions(BUNDLE),
    entryPoints: ENTRIES,
    outdir: join(draft, BUNDLE),
    sourcemap: false,
    metafile: true,
  });
  const copied = [...injected, ...listFiles("lib/tools/browser/script/child"), ...FILES].filter(
    (path) => !path.endsWith(".test.ts"),
  );
  for (const path of copied) {
    mkdirSync(dirname(join(draft, path)), { recursive: true });
    cpSync(path, join(draft, path));
  }
  const built = listFiles(join(draft, BUNDLE)).map((path) => path.slice(draft.length + 1));
  const files = [...built, ...copied].sort();
  const packages = Object.fromEntries(PACKAGES.map((name) => [name, versionOf(name)]));
  const hash = createHash("sha256").update(JSON.stringify(packages));
  for (const path of files) hash.update(`${path}\0`).update(readFileSync(join(draft, path)));
  const manifest = { hash: hash.digest("hex").slice(0, 32), files, packages };
  writeFileSync(join(draft, "manifest.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  const read = [...ALSO_READ, ...copied, ...Object.keys(metafile.inputs)];
  rmSync(BOX_PROGRAM, { recursive: true, force: true });
  renameSync(draft, BOX_PROGRAM);
  writeStamp(STAMP, Object.fromEntries([...new Set(read)].map((path) => [path, hashFile(path)])));
}

/** @param {string} name */
const versionOf = (name) => JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8")).version;
