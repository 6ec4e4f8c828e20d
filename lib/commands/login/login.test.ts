import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openTestService, type TestService } from "#e2e/service/testing.ts";
import { enterByLink } from "#lib/api/auth/entrance.ts";

const MAIN = fileURLToPath(new URL("main.ts", import.meta.url));

let service: TestService;
before(async () => {
  service = await openTestService();
});
after(() => service.close());

/** Runs the command as `npm run login` does, with these settings. */
const run = (settings: Record<string, string>) =>
  promisify(execFile)(process.execPath, ["--disable-warning=ExperimentalWarning", MAIN], {
    env: { NODE_ENV: "production", PATH: process.env.PATH ?? "", ...settings },
  });

test("npm run login prints a link that signs a browser in at the running service", async () => {
  const { stdout } = await run({ DATA_DIR: service.dataDir, BASE_URL: "https://agents.example" });
  const [link = ""] = /https:\S+/.exec(stdout) ?? [];
  assert.ok(link.startsWith("https://agents.example/login?token="), stdout);
  const enter = () => enterByLink(service.container.services, "GET", new URL(link), null);
  const [first, second] = [await enter(), await enter()];
  assert.ok(first instanceof Response && second instanceof Response);
  assert.deepEqual([first.status, first.headers.get("location")], [303, "/"]);
  assert.ok(
    service.container.services.login.isSignedIn(first.headers.get("set-cookie")?.split(";")[0] ?? null),
  );
  assert.equal(second.headers.get("location"), "/?login=expired");
});

test("npm run login does not generate a key in a folder that no service has used", async () => {
  const failure = await run({ DATA_DIR: `${service.dataDir}/elsewhere` }).then(
    () => undefined,
    (error: { code: number; stderr: string }) => error,
  );
  assert.equal(failure?.code, 1);
  assert.match(failure?.stderr ?? "", /^No login link: there is no encryption-key in .*elsewhere/);
});
