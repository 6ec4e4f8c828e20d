import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openTestService, type TestService } from "#e2e/service/testing.ts";
import { type LoginCommand, readLoginCommand } from "./read-command.ts";

const MAIN = fileURLToPath(new URL("main.ts", import.meta.url));

let service: TestService;
before(async () => {
  service = await openTestService();
});
after(() => service.close());

/** Runs the command in a child process, as `npm run login` does. The settings are environment variables. */
const run = (settings: Record<string, string>, ...words: string[]) =>
  promisify(execFile)(process.execPath, ["--disable-warning=ExperimentalWarning", MAIN, ...words], {
    env: { NODE_ENV: "production", PATH: process.env.PATH ?? "", ...settings },
  });

test("npm run login prints a link that signs a browser in at the running service", async () => {
  const { stdout } = await run({ DATA_DIR: service.dataDir, BASE_URL: "https://agents.example" });
  const [link = ""] = /https:\S+/.exec(stdout) ?? [];
  assert.ok(link.startsWith("https://agents.example/login?token="), stdout);
  const { origin } = new URL(service.env.baseUrl);
  const token = new URL(link).searchParams.get("token");
  const logIn = () =>
    service.container.mounted.logIn(
      new Request(`${origin}/login`, {
        method: "POST",
        headers: { origin, "content-type": "application/json" },
        body: JSON.stringify({ token }),
      }),
    );
  const [first, second] = [await logIn(), await logIn()];
  const cookie = first.headers.get("set-cookie")?.split(";")[0] ?? null;
  assert.ok(await service.container.services.login.readLogin(cookie));
  assert.equal(second.status, 401);
});

test("npm run login does not generate a key in a folder that no service has used", async () => {
  const failure = await run({ DATA_DIR: `${service.dataDir}/elsewhere` }).then(
    () => undefined,
    (error: { code: number; stderr: string }) => error,
  );
  assert.equal(failure?.code, 1);
  assert.match(failure?.stderr ?? "", /^No login link: there is no encryption-key in .*elsewhere/);
});

test("the arguments of npm run login are parsed", () => {
  const cases: [string, LoginCommand][] = [
    ["list", { kind: "list" }],
    ["end lgn_a", { kind: "end", id: "lgn_a" }],
    ["end --all", { kind: "end-all" }],
    ["--help", { kind: "help" }],
    ["print", { kind: "invalid", message: "Unknown command: print." }],
    ["list --all", { kind: "invalid", message: "list does not accept --all." }],
    ["list lgn_a", { kind: "invalid", message: "Unexpected argument: lgn_a." }],
    ["end lgn_a --all", { kind: "invalid", message: "Unexpected argument: lgn_a." }],
    ["end lgn_a lgn_b", { kind: "invalid", message: "Unexpected argument: lgn_b." }],
    [
      "end",
      {
        kind: "invalid",
        message: "end requires the id of a login, or --all. The list command shows the ids.",
      },
    ],
  ];
  for (const [words, command] of cases) assert.deepEqual(readLoginCommand(words.split(" ")), command, words);
});

test("npm run login -- list runs as a program", async () => {
  const { env, dataDir } = service;
  const { stdout } = await run(
    { DATA_DIR: dataDir, DATABASE_URL: env.DATABASE_URL ?? "", DATABASE_DRIVER: env.DATABASE_DRIVER ?? "" },
    "list",
  );
  assert.match(stdout, /^id +account +signed in +last used +ends +browser\nlgn_\w+ +login link /);
});
