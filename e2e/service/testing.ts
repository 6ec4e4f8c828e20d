import { mkdir, mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { prepareTestDatabase } from "#db/testing.ts";
import { startScriptedModel } from "#e2e/fixtures/scripted-model/start-scripted-model.ts";
import type { Step } from "#e2e/fixtures/scripted-model/types.ts";
import { waitUntil } from "#e2e/fixtures/wait-until.ts";
import { contract, type OperationName } from "#lib/api/contract/contract.ts";
import { FILE_PATH, readFilePath } from "#lib/api/contract/paths.ts";
import { createAnswerCheck } from "#lib/api/openapi/check-answer.ts";
import type { PathOperations } from "#lib/api/serve/serve-path.ts";
import { createContainer } from "#lib/server/container.ts";
import { readEnv } from "#lib/server/env.ts";
import { createLogger } from "#lib/server/log.ts";

export { waitUntil };

/** The API key that tests use by default. */
export const TEST_KEY = "key-of-the-service-tests";
/** An API key of another owner, which test services accept too. */
export const OTHER_KEY = "key-of-the-other-owner";

/** A program in place of Chromium that ends at once, for tests that only need the browser tools to be offered. */
export const UNUSED_BROWSER = { BROWSER_EXECUTABLE_PATH: "/bin/false" };

export type TestService = Awaited<ReturnType<typeof openTestService>>;

/** The operations of each path by HTTP method, as in the route files. */
const operationsOf = new Map<string, PathOperations>();
for (const [name, { path, method }] of Object.entries(contract))
  operationsOf.set(path, { ...operationsOf.get(path), [method]: name as OperationName });
const paths = [...operationsOf].map(([path, operations]) => ({
  pattern: new RegExp(
    `^${path.replace(/:(\w+)/g, (_, name) => `(?<${name}>${name === FILE_PATH ? ".+" : "[^/]+"})`)}$`,
  ),
  operations,
}));

/** Checks every answer of a test service against the OpenAPI document. */
export const checkAnswer = createAnswerCheck();

/**
 * Opens a service without Next. It has the real container, its own database and folder, and a scripted model over HTTP.
 * `call` passes requests to the function that the route files call.
 */
export async function openTestService(
  variables: Record<string, string> = {},
  dataDir?: string,
  options: Parameters<typeof createContainer>[2] = {},
) {
  const folder = dataDir ?? (await mkdtemp(join(tmpdir(), "service-")));
  // Creates the folder here, because the service opens the security log before it creates the folder itself.
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const model = await startScriptedModel({});
  const env = readEnv({
    DATA_DIR: folder,
    OPENAI_BASE_URL: model.baseUrl,
    AGENT_MODEL: "scripted",
    SERVICE_API_KEYS: `owner=${TEST_KEY},other=${OTHER_KEY}`,
    NETWORK_ALLOW: "127.0.0.1",
    LOG_LEVEL: "fatal",
    SECURITY_LOG: join(folder, "security.log"),
    AGENT_RETRY_BASE_MS: "20",
    // A spare browser would only take processor time.
    BROWSER_SPARE: "0",
    RATE_LIMIT_CREATE: "0",
    RATE_LIMIT_POLL: "0",
    RATE_LIMIT_ANNOTATE: "0",
    RATE_LIMIT_FAILED_AUTH: "0",
    ...(await prepareTestDatabase(folder)),
    ...variables,
  });
  const container = await createContainer(env, createLogger(env.LOG_LEVEL), options).catch(async (error) => {
    await model.close();
    throw error;
  });
  await container.start();

  /** Sends a request with the test key. `headers` may replace the key. */
  async function call(
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    const url = new URL(path, env.baseUrl);
    const [operations, params] = matchPath(url.pathname);
    const init: RequestInit = { method, headers: { authorization: `Bearer ${TEST_KEY}`, ...headers } };
    if (body !== undefined) {
      const isRaw = typeof body === "string" || body instanceof Uint8Array;
      init.body = isRaw ? (body as BodyInit) : JSON.stringify(body);
      init.headers = { "content-type": "application/json", ...init.headers };
    }
    const exchange = {
      method,
      pathname: url.pathname,
      ...(typeof body === "object" && !(body instanceof Uint8Array) && { body }),
    };
    return checkAnswer(exchange, await container.mounted.serve(operations, new Request(url, init), params));
  }

  return {
    container,
    model,
    env,
    call,
    dataDir: folder,
    /** Reads the lines of the security log, oldest first. */
    async readSecurityLog(): Promise<Record<string, unknown>[]> {
      const text = await readFile(join(folder, "security.log"), "utf8");
      return text.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
    },
    /** Creates a session whose first message is `text`. */
    async create(text: string, more: Record<string, unknown> = {}) {
      const response = await call("POST", "/api/session", { messages: [userMessage(text)], ...more });
      if (response.status !== 201)
        throw new Error(`creation answered ${response.status}: ${await response.text()}`);
      return (await response.json()) as {
        sessionId: string;
        requestId: string;
        runId: string;
        statusUrl: string;
        streamUrl: string;
        shareUrl: string;
      };
    },
    /** Reads the JSON at a path. */
    async read<Body = Record<string, unknown>>(path: string): Promise<Body> {
      return (await (await call("GET", path)).json()) as Body;
    },
    /** Waits until the request with this status URL is completed. */
    completed: (statusUrl: string, withinMs?: number) =>
      waitUntil(
        async () => (await (await call("GET", statusUrl)).json()).status === "completed",
        `${statusUrl} is completed`,
        withinMs,
      ),
    async close(options: { keepFiles?: boolean } = {}) {
      await container.close();
      await model.close();
      if (!options.keepFiles) await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Lists the tools that cannot work on the machine of the tests, for example because bubblewrap does not work on it. */
export const listMissing = ({ container }: Pick<TestService, "container">): string[] =>
  container.describe().missingTools.flatMap(({ tools }) => tools);

/** Signs an operator in. @returns the session cookie of the operator. */
export async function signIn({ container }: Pick<TestService, "container">): Promise<string> {
  const { login } = container.services;
  return (await login.redeem(login.issueToken()))?.split(";")[0] ?? "";
}

/** Creates a user message with a single text part. */
export const userMessage = (text: string) => ({ role: "user", parts: [{ type: "text", text }] });

/** Creates a step in which the scripted model answers with a text, which ends the turn. */
export const say = (text: string): Step => ({ text });

function matchPath(pathname: string): [PathOperations, Record<string, string>] {
  for (const { pattern, operations } of paths) {
    const found = pattern.exec(pathname);
    const filePath = found?.groups?.[FILE_PATH];
    const file = filePath === undefined ? {} : { [FILE_PATH]: readFilePath(filePath.split("/")) ?? "" };
    if (found) return [operations, { ...found.groups, ...file }];
  }
  throw new Error(`no operation at ${pathname}`);
}
