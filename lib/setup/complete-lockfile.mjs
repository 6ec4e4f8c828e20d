/**
 * Makes package-lock.json usable on every machine. Run it with `npm run lockfile`.
 *
 * A package such as Next has one optional dependency per platform. npm omits dependencies that the current registry
 * does not have, and `npm ci` then refuses the lockfile on other machines ("Missing: … from lock file"). This script
 * adds an entry (version, os, cpu, optional) for each omitted package. npm installs that package only on its own
 * platform. It also adds the checksum (integrity) of every package that has none, because npm installs such a package
 * without checking it.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";
import { runCommand } from "./command.mjs";
import { SetupError } from "./setup-error.mjs";

/**
 * @typedef {object} LockedPackage
 * @property {string} [version]
 * @property {string} [resolved]
 * @property {string} [integrity]
 * @property {boolean} [link]
 * @property {boolean} [inBundle] whether another package contains it, so that it is not fetched
 * @property {string} [name] only if the folder has another name than the package
 * @property {string | string[]} [os]
 * @property {string | string[]} [cpu]
 * @property {string[]} [libc]
 * @property {boolean} [dev]
 * @property {boolean} [optional]
 * @property {Record<string, string>} [optionalDependencies]
 */
/** @typedef {{ packages: Record<string, LockedPackage> }} Lockfile */

const systems = new Set([
  "aix",
  "android",
  "darwin",
  "freebsd",
  "linux",
  "netbsd",
  "openbsd",
  "sunos",
  "win32",
]);
const processors = new Set(["arm", "arm64", "ia32", "loong64", "ppc64", "riscv64", "s390x", "wasm32", "x64"]);
/** @type {Record<string, string>} */
const libraries = { musl: "musl", gnu: "glibc", gnueabihf: "glibc" };

/**
 * Lists the optional dependencies that locked packages declare but the lockfile does not contain.
 * @param {Lockfile} lockfile
 * @returns {{ name: string, version: string, neededBy: string }[]}
 */
export function listMissingOptionals(lockfile) {
  const missing = [];
  for (const [neededBy, entry] of Object.entries(lockfile.packages)) {
    for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
      if (!isLocked(lockfile, neededBy, name)) missing.push({ name, version, neededBy });
    }
  }
  return missing;
}

/**
 * Lists the paths of entries with a registry URL. Such a URL would bind every clone of the project to that registry.
 * @param {Lockfile} lockfile
 * @returns {string[]}
 */
export function listRegistryHosts(lockfile) {
  return Object.entries(lockfile.packages)
    .filter(([, entry]) => entry.resolved !== undefined)
    .map(([path]) => path);
}

/**
 * Lists the entries of packages that npm fetches and does not check, because they have no checksum.
 * @param {Lockfile} lockfile
 * @returns {{ path: string, name: string, version: string }[]}
 */
export function listUnchecked(lockfile) {
  return Object.entries(lockfile.packages).flatMap(([path, { name, version = "", ...entry }]) => {
    const isFetched = path.includes("node_modules/") && !entry.link && !entry.inBundle;
    if (!isFetched || entry.integrity !== undefined) return [];
    return [{ path, name: name ?? path.slice(path.lastIndexOf("node_modules/") + 13), version }];
  });
}

/**
 * Adds the checksums that are missing.
 * @param {Lockfile} lockfile
 * @param {(spec: string) => Promise<string>} readIntegrity returns the checksum of `<name>@<version>`
 * @returns {Promise<{ lockfile: Lockfile, checked: string[] }>} a copy of the lockfile, and the packages that got a
 *   checksum as `<name>@<version>`
 */
export async function addIntegrity(lockfile, readIntegrity) {
  const packages = structuredClone(lockfile.packages);
  const checked = [];
  for (const { path, name, version } of listUnchecked(lockfile)) {
    const spec = `${name}@${version}`;
    // In npm's order of the fields: the integrity follows the version.
    packages[path] = { version, integrity: await readIntegrity(spec), ...packages[path] };
    checked.push(spec);
  }
  return { lockfile: { ...lockfile, packages }, checked };
}

/**
 * Reads the checksum of a package from the npm registry.
 * @param {string} spec `<name>@<version>`
 * @throws {SetupError} if the registry does not have it
 */
async function readRegistryIntegrity(spec) {
  const { ok, output } = await runCommand("npm", ["view", spec, "dist.integrity", "--loglevel=error"], {
    timeoutMs: 60_000,
  });
  const integrity = output.trim();
  if (!ok || !/^sha512-[\w+/]+=*$/.test(integrity))
    throw new SetupError(
      `The npm registry (\`npm config get registry\`) has no checksum of ${spec}, so package-lock.json stays as it was. Use a registry that has all packages.`,
      output,
    );
  return integrity;
}

/**
 * Adds an entry for every missing optional dependency, and removes all registry URLs.
 * @param {Lockfile} lockfile
 * @returns {{ lockfile: Lockfile, added: string[] }} a copy of the lockfile with packages in npm's order, and the added
 *   packages as `<name>@<version>`
 * @throws {Error} if a missing package has no exact version, or if its name does not contain a processor such as "x64"
 */
export function completeLockfile(lockfile) {
  const packages = structuredClone(lockfile.packages);
  for (const entry of Object.values(packages)) delete entry.resolved;
  const added = [];
  for (const { name, version, neededBy } of listMissingOptionals(lockfile)) {
    const path = `node_modules/${name}`;
    packages[path] = describePlatformPackage(name, version, packages[neededBy]?.dev === true);
    added.push(`${name}@${version}`);
  }
  const sorted = Object.entries(packages).sort(([a], [b]) => a.localeCompare(b, "en"));
  return { lockfile: { ...lockfile, packages: Object.fromEntries(sorted) }, added };
}

/**
 * @param {string} name
 * @param {string} version
 * @param {boolean} isDev
 * @returns {LockedPackage}
 */
function describePlatformPackage(name, version, isDev) {
  const words = name.split(/[-/]/);
  const os = words.filter((word) => systems.has(word));
  const cpu = words
    .map((word) => (word === "gnueabihf" ? "arm" : word))
    .filter((word) => processors.has(word));
  const libc = words.flatMap((word) => libraries[word] ?? []);
  if (!/^\d+\.\d+\.\d+[\w.+-]*$/.test(version) || cpu.length === 0) {
    throw new Error(
      `${name}@${version} is missing from package-lock.json, and no stub can be created for it.`,
    );
  }
  return {
    version,
    cpu: [...new Set(cpu)],
    ...(isDev ? { dev: true } : {}),
    ...(libc.length > 0 ? { libc } : {}),
    optional: true,
    ...(os.length > 0 ? { os } : {}),
  };
}

/**
 * Whether the lockfile contains the package `name` as a dependency of the package at the path `from`. As Node does,
 * searches that package's own node_modules folder first, then the node_modules folder of each parent folder.
 * @param {Lockfile} lockfile
 * @param {string} from
 * @param {string} name
 */
function isLocked(lockfile, from, name) {
  for (let base = from; ; base = base.slice(0, Math.max(0, base.lastIndexOf("/node_modules/")))) {
    if (`${base === "" ? "" : `${base}/`}node_modules/${name}` in lockfile.packages) return true;
    if (base === "") return false;
  }
}

async function main() {
  const path = "package-lock.json";
  const { lockfile: complete, added } = completeLockfile(JSON.parse(readFileSync(path, "utf8")));
  const { lockfile, checked } = await addIntegrity(complete, readRegistryIntegrity);
  writeFileSync(path, `${JSON.stringify(lockfile, null, 2)}\n`);
  if (added.length > 0) console.log(`Added to package-lock.json: ${added.join(", ")}`);
  if (checked.length > 0) console.log(`Added the checksums of: ${checked.join(", ")}`);
  console.log("package-lock.json is complete.");
}

if (argv[1] === fileURLToPath(import.meta.url)) {
  await main().catch((error) => {
    if (!(error instanceof SetupError)) throw error;
    console.error(`${error.details.trimEnd()}\n${error.message}`);
    process.exitCode = 1;
  });
}
