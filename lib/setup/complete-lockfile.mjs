/**
 * Makes package-lock.json usable on every machine. Run it with `npm run lockfile`.
 *
 * A package such as Next has one optional dependency per platform. npm omits dependencies that the current registry
 * does not have, and `npm ci` then refuses the lockfile on other machines ("Missing: … from lock file"). This script
 * adds an entry (version, os, cpu, optional) for each omitted package. npm installs that package only on its own
 * platform.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";

/**
 * @typedef {object} LockedPackage
 * @property {string} [version]
 * @property {string} [resolved]
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

if (argv[1] === fileURLToPath(import.meta.url)) {
  const path = "package-lock.json";
  const { lockfile, added } = completeLockfile(JSON.parse(readFileSync(path, "utf8")));
  writeFileSync(path, `${JSON.stringify(lockfile, null, 2)}\n`);
  console.log(
    added.length === 0 ? "package-lock.json is complete." : `Added to package-lock.json: ${added.join(", ")}`,
  );
}
