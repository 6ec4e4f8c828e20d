import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { EnvError, readEnv } from "./env.ts";
import { createLogger } from "./log.ts";
import { openSecurityLog } from "./open-security-log.ts";

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "security-log-"));
});
after(() => rm(folder, { recursive: true, force: true }));

const event = { actor: "operator", keyId: "a1", ownerId: "acme" };

/** Logs one security event under these settings. Returns the lines of the ordinary log. */
function recordWith(variables: Record<string, string>): string {
  const lines: string[] = [];
  const env = readEnv(variables);
  const logger = createLogger(env.LOG_LEVEL, { write: (line) => void lines.push(line) });
  openSecurityLog(env, logger).keyRevoked(event);
  return lines.join("");
}

test("without a file, lines are in the ordinary log with the field `log`, unless LOG_LEVEL is silent", () => {
  for (const level of ["info", "error", "fatal"]) {
    const { time, ...line } = JSON.parse(recordWith({ LOG_LEVEL: level }));
    assert.ok(Date.parse(time) > 0);
    assert.deepEqual(line, {
      level: 30,
      log: "security",
      event: "api_key.revoked",
      outcome: "success",
      ...event,
      msg: "an API key was revoked",
    });
  }
  assert.equal(recordWith({ LOG_LEVEL: "silent" }), "");
});

test("the file is appended to, only its owner can read it, and it works with every LOG_LEVEL", async () => {
  const path = join(folder, "security.log");
  for (const level of ["info", "silent"])
    assert.equal(recordWith({ SECURITY_LOG: path, LOG_LEVEL: level }), "");
  const lines = (await readFile(path, "utf8")).trim().split("\n");
  assert.deepEqual(
    lines.map((line) => JSON.parse(line).event),
    ["api_key.revoked", "api_key.revoked"],
  );
  assert.equal((await stat(path)).mode & 0o777, 0o600);
});

test("a file that cannot be opened is an EnvError", () => {
  assert.throws(
    () => recordWith({ SECURITY_LOG: join(folder, "missing", "security.log") }),
    (error) => error instanceof EnvError && /^SECURITY_LOG: .* \(ENOENT\)$/.test(error.message),
  );
});
