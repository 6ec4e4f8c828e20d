import assert from "node:assert/strict";
import { test } from "node:test";
import { findLacks } from "./find-lacks.ts";

const sandbox = {
  describe: () =>
    ({ kind: "local", canRunCommands: true, detail: "bubblewrap", isolation: "bubblewrap" }) as const,
};

test("a service without Chromium and bubblewrap has the browser tools if its browsers run on other machines", () => {
  const find = (hosts: string[]) =>
    findLacks({
      env: { SANDBOX: "local", BROWSER_HOSTS: hosts },
      isServerless: false,
      launch: {},
      sandbox,
      scripts: { refusal: "bubblewrap does not work" },
    });
  assert.deepEqual(Object.keys(find([])).sort(), ["browser", "scripts", "testing"]);
  assert.deepEqual(find(["wss://browsers.example:7411"]), {
    testing: "test runs need a browser host on the service's machine, and BROWSER_HOSTS is set",
  });
});
