import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { completeLockfile, listMissingOptionals, listRegistryHosts } from "./complete-lockfile.mjs";

const lockfile = JSON.parse(readFileSync(new URL("../../package-lock.json", import.meta.url), "utf8"));

describe("package-lock.json", () => {
  test("contains the optional packages of every platform, which npm ci requires (fix: npm run lockfile)", () => {
    const missing = listMissingOptionals(lockfile).map(({ name, version }) => `${name}@${version}`);
    assert.deepEqual(missing, []);
  });

  test("contains no registry URL (fix: npm run lockfile)", () => {
    assert.deepEqual(listRegistryHosts(lockfile), []);
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
