import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import {
  addIntegrity,
  completeLockfile,
  listMissingOptionals,
  listRegistryHosts,
  listUnchecked,
} from "./complete-lockfile.mjs";

const read = (path: string) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));
const lockfile = read("../../package-lock.json");
/** Every lockfile from which the service installs packages. */
const lockfiles = {
  "package-lock.json": lockfile,
  "Chromium from npm": read("chromium/sparticuz/package-lock.json"),
};

for (const [name, each] of Object.entries(lockfiles))
  test(`${name}: every package has a checksum, and none a registry URL (fix: npm run lockfile)`, () => {
    assert.deepEqual(listUnchecked(each), []);
    assert.deepEqual(listRegistryHosts(each), []);
  });

describe("package-lock.json", () => {
  test("contains the optional packages of every platform, which npm ci requires (fix: npm run lockfile)", () => {
    const missing = listMissingOptionals(lockfile).map(({ name, version }) => `${name}@${version}`);
    assert.deepEqual(missing, []);
  });
});

describe("completing a lockfile", () => {
  test("adds a stub for the platform in the package's name, and removes registry URLs", () => {
    const { lockfile: completed, added } = completeLockfile({
      packages: {
        "": {},
        "node_modules/tool": {
          version: "1.2.3",
          resolved: "https://registry.example/tool.tgz",
          dev: true,
          optionalDependencies: { "@tool/linux-x64": "1.2.3", "@tool/linux-arm64-musl": "1.2.3" },
        },
        "node_modules/@tool/linux-x64": { version: "1.2.3", optional: true },
      },
    });
    assert.deepEqual(added, ["@tool/linux-arm64-musl@1.2.3"]);
    assert.deepEqual(completed.packages["node_modules/@tool/linux-arm64-musl"], {
      version: "1.2.3",
      cpu: ["arm64"],
      dev: true,
      libc: ["musl"],
      optional: true,
      os: ["linux"],
    });
    assert.equal(completed.packages["node_modules/tool"]?.resolved, undefined);
  });

  test("adds the checksum of every package that npm fetches", async () => {
    const packages = {
      "": {},
      "node_modules/a": { version: "1.0.0", integrity: "sha512-a" },
      "node_modules/a/node_modules/@scope/b": { version: "2.0.0" },
      "node_modules/alias": { version: "3.0.0", name: "real" },
      "node_modules/bundled": { version: "4.0.0", inBundle: true },
      "node_modules/linked": { link: true },
    };
    const { lockfile: completed, checked } = await addIntegrity(
      { packages },
      async (spec) => `sha512-${spec}`,
    );
    assert.deepEqual(checked, ["@scope/b@2.0.0", "real@3.0.0"]);
    assert.equal(
      completed.packages["node_modules/a/node_modules/@scope/b"]?.integrity,
      "sha512-@scope/b@2.0.0",
    );
    assert.deepEqual(listUnchecked(completed), []);
    assert.equal(listUnchecked({ packages }).length, 2, "the argument is not changed");
  });

  test("finds an optional package in the package's own node_modules", () => {
    const packages = {
      "node_modules/tool": { optionalDependencies: { part: "1.0.0" } },
      "node_modules/tool/node_modules/part": { version: "1.0.0" },
    };
    assert.deepEqual(listMissingOptionals({ packages }), []);
  });

  test("refuses a missing package without a platform in its name", () => {
    const packages = { "node_modules/tool": { optionalDependencies: { part: "^1.0.0" } } };
    assert.throws(() => completeLockfile({ packages }), /part@\^1\.0\.0/);
  });
});
