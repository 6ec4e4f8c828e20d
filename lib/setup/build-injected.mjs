/**
 * Bundles the code of `lib/injected`, which the service runs inside pages. Each entry of `bundles.json` becomes one file.
 * The files are not committed: every command that needs them builds them if they are not current.
 */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hashFile, readStamp, writeStamp } from "./stamp.mjs";

const SOURCES = "lib/injected";
const MANIFEST = `${SOURCES}/bundles.json`;
/** The folder with the built files. */
const OUTPUT = ".injected";
const STAMP = `${OUTPUT}/stamp.json`;
/** Files that have an effect on the bundles, and that esbuild does not report as inputs. */
const ALSO_READ = [MANIFEST, "lib/setup/build-injected.mjs", "node_modules/esbuild/package.json"];

/**
 * Builds the bundles, unless a stamp shows that the content of all files that were read and written is unchanged.
 * @returns {Promise<string[]>} the paths of the bundles
 */
export async function ensureInjected() {
  /** @type {Record<string, string>} */
  const entries = JSON.parse(readFileSync(MANIFEST, "utf8"));
  const paths = Object.keys(entries).map((name) => `${OUTPUT}/${name}.js`);
  const stamped = Object.entries(readStamp(STAMP) ?? {});
  const isCurrent = stamped.length > 0 && stamped.every(([path, hash]) => hashFile(path) === hash);
  if (!isCurrent) await buildInjected(entries);
  return paths;
}

/** @param {Record<string, string>} entries path of the entry point by the name of the bundle */
async function buildInjected(entries) {
  const { build } = await import("esbuild");
  const { outputFiles, metafile } = await build({
    entryPoints: Object.fromEntries(
      Object.entries(entries).map(([name, path]) => [name, join(SOURCES, path)]),
    ),
    outdir: OUTPUT,
    bundle: true,
    format: "iife",
    // The service wraps the bundle in a function, so pages have no variable with this name.
    globalName: "injected",
    platform: "browser",
    target: "es2023",
    minify: true,
    legalComments: "none",
    metafile: true,
    write: false,
  });
  mkdirSync(OUTPUT, { recursive: true });
  for (const { path, contents } of outputFiles) {
    const draft = `${path}.${process.pid}`;
    writeFileSync(draft, contents);
    renameSync(draft, path);
  }
  const files = [...ALSO_READ, ...Object.keys(metafile.inputs), ...Object.keys(metafile.outputs)];
  writeStamp(STAMP, Object.fromEntries(files.map((path) => [path, hashFile(path)])));
}
