import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { findFreePort } from "#e2e/fixtures/service.ts";

const main = fileURLToPath(new URL("./main.ts", import.meta.url));

/** Makes Next impossible to load, as a broken build does. */
const withoutNext = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module";
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier === "next") throw new Error("the pages are not built");
      return next(specifier, context);
    },
  });`)}`;

/** Starts a service that is expected to fail, and collects what it prints until it has ended. */
async function startInVain(variables: Record<string, string>, args: string[] = []) {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", ...args, main], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      ...{ PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: "production", LOG_LEVEL: "warn" },
      ...{ PORT: String(await findFreePort()), SANDBOX: "none", ...variables },
    },
  });
  const [[code], output, errors] = await Promise.all([
    once(child, "exit"),
    text(child.stdout),
    text(child.stderr),
  ]);
  return { code, output, errors };
}

async function makeFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "start-service-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test("a service whose pages cannot be loaded never says that it is ready", async (t) => {
  const dataDir = await makeFolder(t);
  const { code, output, errors } = await startInVain({ DATA_DIR: dataDir }, ["--import", withoutNext]);
  assert.doesNotMatch(output, /ready/);
  assert.match(errors, /The service could not start\. the pages are not built/);
  assert.equal(code, 1);
});
