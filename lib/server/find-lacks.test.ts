import assert from "node:assert/strict";
import { test } from "node:test";
import { findLacks } from "./find-lacks.ts";

const sandbox = {
  describe: () =>
    ({ kind: "local", canRunCommands: true, detail: "bubblewrap", isolation: "bubblewrap" }) as const,
};
const noSandbox = {
  describe: () => ({ kind: "none", canRunCommands: false, detail: "none", isolation: "none" }) as const,
};

test("a service without Chromium and bubblewrap has the browser tools and test runs if its browsers run on other machines", () => {
  const find = (hosts: string[], kind: "local" | "none" = "local") =>
    findLacks({
      env: { SANDBOX: kind, BROWSER_HOSTS: hosts },
      isServerless: false,
      launch: {},
      sandbox: kind === "local" ? sandbox : noSandbox,
      scripts: { refusal: "bubblewrap does not work" },
    });
  const hosts = ["wss://browsers.example:7411"];
  assert.deepEqual(Object.keys(find([])).sort(), ["browser", "scripts", "testing"]);
  assert.deepEqual(find(hosts), {});
  assert.deepEqual(find(hosts, "none"), { files: "none", commands: "none", testing: "none" });
});
