import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, test } from "node:test";
import { makeCertificate } from "#e2e/fixtures/make-certificate.ts";
import { findTestChromium } from "#lib/browser/testing.ts";
import { hostPath, PROTOCOL_VERSION } from "#lib/host-link/link-message.ts";
import { EnvError } from "#lib/server/env.ts";
import { readHostSettings } from "./read-host-settings.ts";

const TOKEN = "a".repeat(32);
let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "host-command-"));
});
after(() => rm(folder, { recursive: true, force: true }));

describe("the settings of a browser host", () => {
  const refuse = (source: Record<string, string>, message: string) =>
    assert.rejects(readHostSettings({ DATA_DIR: folder, ...source }), new EnvError(message));

  test("need a token of 32 characters", async () => {
    await refuse({}, "BROWSER_HOST_TOKEN: is required; set the same for the service");
    await refuse(
      { BROWSER_HOST_TOKEN: "a".repeat(31) },
      'BROWSER_HOST_TOKEN: must have at least 32 characters, such as the output of "openssl rand -hex 32"',
    );
  });

  test("must not have what opens the database", async () => {
    for (const name of ["DATABASE_URL", "ENCRYPTION_KEY", "ENCRYPTION_KEY_PREVIOUS"])
      await refuse(
        { BROWSER_HOST_TOKEN: TOKEN, [name]: "postgres://x" },
        `${name}: must not be set for a browser host, because pages and scripts run there`,
      );
  });

  test("have an address, and both or neither of certificate and key", async () => {
    const { listen, tls, isRemote } = await readHostSettings({ DATA_DIR: folder, BROWSER_HOST_TOKEN: TOKEN });
    assert.deepEqual([listen, tls, isRemote], [{ host: "0.0.0.0", port: 7411 }, undefined, true]);
    const at = (BROWSER_HOST_LISTEN: string) => ({ BROWSER_HOST_TOKEN: TOKEN, BROWSER_HOST_LISTEN });
    const six = await readHostSettings({ DATA_DIR: folder, ...at("[::1]:80") });
    assert.deepEqual(six.listen, { host: "::1", port: 80 });
    await refuse(at("7411"), "BROWSER_HOST_LISTEN: must be a host and a port, such as 0.0.0.0:7411");
    await refuse(at("a:70000"), "BROWSER_HOST_LISTEN: must have a port of at most 65535");
    await refuse(
      { BROWSER_HOST_TOKEN: TOKEN, BROWSER_HOST_CERT: "/cert.pem" },
      "BROWSER_HOST_CERT: needs BROWSER_HOST_KEY, and the other way round",
    );
    const { cert } = makeCertificate();
    const [file, missing] = [join(folder, "only-a-certificate.pem"), join(folder, "missing.pem")];
    await writeFile(file, cert);
    const files = (certPath: string) =>
      readHostSettings({
        DATA_DIR: folder,
        BROWSER_HOST_TOKEN: TOKEN,
        BROWSER_HOST_CERT: certPath,
        BROWSER_HOST_KEY: file,
      });
    await assert.rejects(files(missing), {
      message: /^BROWSER_HOST_CERT: \S+missing\.pem cannot be read: no such file/,
    });
    await assert.rejects(files(file), {
      message: /^BROWSER_HOST_CERT, BROWSER_HOST_KEY: must be a certificate and its private key in PEM/,
    });
  });

  test("say how many sessions share a Chromium, and what a page may take", async () => {
    const read = async (source: Record<string, string>) => {
      const start = await readHostSettings({ DATA_DIR: folder, BROWSER_HOST_TOKEN: TOKEN, ...source });
      return [start.contextsPerProcess, start.pageLimits];
    };
    assert.deepEqual(await read({}), [1, { memoryBytes: 2_048 * 2 ** 20 }]);
    const set = { BROWSER_CONTEXTS_PER_PROCESS: "4", BROWSER_PAGE_MEMORY_MB: "0" };
    assert.deepEqual(await read(set), [4, { memoryBytes: 0 }]);
    const none = { BROWSER_HOST_TOKEN: TOKEN, BROWSER_CONTEXTS_PER_PROCESS: "0" };
    await refuse(none, "BROWSER_CONTEXTS_PER_PROCESS: must be from 1 to 50");
  });
});

test("the program listens with TLS, demands its token, waits without a service, and ends in order at SIGTERM", async () => {
  const { cert, key } = makeCertificate();
  await writeFile(join(folder, "cert.pem"), cert);
  await writeFile(join(folder, "key.pem"), key);
  const program = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", join(import.meta.dirname, "main.ts")],
    {
      env: {
        PATH: process.env.PATH,
        NODE_ENV: "production",
        DATA_DIR: folder,
        BROWSER_EXECUTABLE_PATH: findTestChromium().executablePath,
        BROWSER_HOST_TOKEN: TOKEN,
        BROWSER_HOST_LISTEN: "127.0.0.1:0",
        BROWSER_HOST_CERT: join(folder, "cert.pem"),
        BROWSER_HOST_KEY: join(folder, "key.pem"),
      },
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const exited = once(program, "exit");
  try {
    const line = await readLine(program);
    const [, id, port] =
      /^Browser host (bh_[\w-]{12}) listens at wss:\/\/127\.0\.0\.1:(\d+) \(8 browsers; /.exec(line) ?? [];
    assert.ok(id && port, line);
    const ask = (token: string) => get(Number(port), cert, token);
    assert.deepEqual(await ask(TOKEN), {
      status: 200,
      body: JSON.stringify({ id, places: 8, protocol: PROTOCOL_VERSION }),
    });
    assert.deepEqual(await ask("b".repeat(32)), { status: 401, body: "" });
    program.kill("SIGTERM");
    assert.deepEqual(await exited, [0, null]);
  } finally {
    program.kill("SIGKILL");
  }
});

async function readLine(program: ChildProcess): Promise<string> {
  assert.ok(program.stdout);
  const [line] = await once(createInterface(program.stdout), "line");
  return String(line);
}

async function get(port: number, ca: string, token: string): Promise<{ status: number; body: string }> {
  const sent = request({
    host: "127.0.0.1",
    port,
    path: hostPath(PROTOCOL_VERSION),
    ca,
    headers: { authorization: `Bearer ${token}` },
  });
  sent.end();
  const [response] = await once(sent, "response");
  let body = "";
  for await (const chunk of response) body += chunk;
  return { status: response.statusCode, body };
}
