import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { completeLockfile, listMissingOptionals, listRegistryHosts } from "./complete-lockfile.mjs";

const lockfile = JSON.parse(readFileSync(new URL("../../package-lock.json", import.meta.url), "utf8"));

describe("package-lock.json", () => {
  test("holds every platform's optional packages, or npm ci refuses it elsewhere (npm run lockfile mends it)", () => {
    const missing = listMissingOptionals(lockfile).map(({ name, version }) => `${name}@${version}`);
    assert.deepEqual(missing, []);
  });

  test("names no registry host (npm run lockfile mends it)", () => {
    assert.deepEqual(listRegistryHosts(lockfile), []);
  });
});

describe("completing a lockfile", () => {
  test("adds a stub with the platform that the name tells, and removes the registry", () => {
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

  test("finds an optional package that stands inside the package that needs it", () => {
    const packages = {
      "node_modules/tool": { optionalDependencies: { part: "1.0.0" } },
      "node_modules/tool/node_modules/part": { version: "1.0.0" },
    };
    assert.deepEqual(listMissingOptionals({ packages }), []);
  });

  test("refuses a missing package whose name tells no platform", () => {
    const packages = { "node_modules/tool": { optionalDependencies: { part: "^1.0.0" } } };
    assert.throws(() => completeLockfile({ packages }), /part@\^1\.0\.0/);
  });
});
