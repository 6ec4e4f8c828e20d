import { existsSync } from "node:fs";
import { join } from "node:path";
import { chooseDriver, type DatabaseOptions, openDatabase } from "#db/client.ts";
import { ACCESS_TOPIC, createAccessWatch } from "#lib/api/auth/access-watch.ts";
import { createAuthenticator } from "#lib/api/auth/authenticate.ts";
import { createFailedAttempts } from "#lib/api/auth/failed-attempts.ts";
import { createLoginGate } from "#lib/api/auth/login-gate.ts";
import { contract } from "#lib/api/contract/contract.ts";
import { createBodyReader } from "#lib/api/http/body/body-reader.ts";
import { createPathMatcher } from "#lib/api/http/match-path.ts";
import { createRateLimiter } from "#lib/api/http/rates/rate-limiter.ts";
import { type RouteServices, serveOperation } from "#lib/api/http/serve-operation.ts";
import { createKey, listKeys, revokeKey, rotateKey } from "#lib/api/operations/keys.ts";
import type { ApiServices } from "#lib/api/services.ts";
import { sendSignal } from "#lib/events/bus/postgres-bus.ts";
import { createKeyStore } from "#lib/keys/key-store.ts";
import type { Env } from "#lib/server/env.ts";
import { keepSecrets } from "#lib/server/prepare-data-folder.ts";
import { createShareLinks } from "#lib/session/share/share-link.ts";

/** Calls the operations of `/actions/keys` as the operator. */
export type KeyDesk = {
  ask: (method: string, path: string, body?: unknown) => Promise<Response>;
  close: () => Promise<void>;
};

const REQUEST_TIMEOUT_MS = 30_000;
const errorsOnly = {
  debug() {},
  info() {},
  warn() {},
  error: ({ err }: { err?: unknown }) => console.error(err),
};

/**
 * Opens a client for the service's keys. It works on the database directly. If a running service owns the embedded
 * database, it calls that service instead, with a cookie signed with the deployment's secret key.
 *
 * @throws Error with a message for the user if neither is available.
 */
export async function openKeyDesk(env: Env): Promise<KeyDesk> {
  const driver = chooseDriver(env.DATABASE_URL, env.DATABASE_DRIVER);
  if (driver !== "embedded") return openAtDatabase(env, readServer(env, driver));
  // A key in a new database would be useless, because no service uses it.
  if (!existsSync(join(env.DATA_DIR, "postgres")))
    throw new Error(
      `there is no database in ${env.DATA_DIR}: run this with the service's own DATA_DIR, after its first start`,
    );
  try {
    return await openAtDatabase(env, { driver, dataDir: env.DATA_DIR });
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "DatabaseLockedError") throw error;
    return openAtService(env, error.message);
  }
}

function readServer(env: Env, driver: "pg" | "neon"): DatabaseOptions {
  const url = env.DATABASE_URL;
  if (!url) throw new Error(`DATABASE_URL: is required with DATABASE_DRIVER=${driver}`);
  // A lost connection also fails the running query, whose error is shown.
  const onError = () => {};
  if (driver === "pg") return { driver, url, onError };
  return { driver, url, onError, ...(env.NEON_WSPROXY && { wsProxy: env.NEON_WSPROXY }) };
}

const { listKeys: list, createKey: create, revokeKey: revoke, rotateKey: rotate } = contract;
const match = createPathMatcher({ list, create, revoke, rotate });

async function openAtDatabase(env: Env, options: DatabaseOptions): Promise<KeyDesk> {
  const { db, close } = await openDatabase(options);
  const key = await readSecretKey(env);
  const operator = signIn(key);
  const store = createKeyStore(db);
  let notified = Promise.resolve();
  const access = createAccessWatch({
    rows: { readKeys: store.readExpiries, readShares: async () => new Map() },
    words: {
      // An embedded database has no other process to notify.
      tell(word) {
        if (options.driver !== "embedded") notified = sendSignal(db, ACCESS_TOPIC, word);
      },
      listen: () => () => {},
    },
    logger: errorsOnly,
  });
  const services: RouteServices & Pick<ApiServices, "access"> = {
    db,
    access,
    login: operator.gate,
    authenticate: createAuthenticator([], store),
    failedAttempts: createFailedAttempts({ limit: 0, trustedProxies: [] }),
    shares: createShareLinks(db, key),
    bodies: createBodyReader(),
    rates: createRateLimiter({ create: 0, poll: 0, annotate: 0, act: 0 }),
    logger: errorsOnly,
    settings: { baseUrl: env.baseUrl },
  };
  /** Running services close the key's connections only when they are notified, so the command fails if that fails. */
  async function afterNotifying(response: Response): Promise<Response> {
    await notified;
    return response;
  }
  return {
    close,
    async ask(method, path, body) {
      const found = match(path.split("?")[0] ?? "");
      const request = makeRequest(env, operator.cookie, method, path, body);
      const params = found?.params ?? {};
      switch (found?.operations[method]) {
        case "list":
          return serveOperation(services, list, listKeys, request, params);
        case "create":
          return serveOperation(services, create, createKey, request, params);
        case "revoke":
          return afterNotifying(await serveOperation(services, revoke, revokeKey, request, params));
        case "rotate":
          return afterNotifying(await serveOperation(services, rotate, rotateKey, request, params));
        default:
          throw new Error(`no operation at ${method} ${path}`);
      }
    },
  };
}

async function openAtService(env: Env, whyLocked: string): Promise<KeyDesk> {
  const { cookie } = signIn(await readSecretKey(env));
  return {
    close: async () => {},
    ask: (method, path, body) =>
      fetch(makeRequest(env, cookie, method, path, body), {
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      }).catch(() => {
        throw new Error(
          `${whyLocked}, and the service does not answer at ${env.ownOrigin}: run this command with the service's PORT and HOST, or stop the service first`,
        );
      }),
  };
}

function makeRequest(env: Env, cookie: string, method: string, path: string, body: unknown): Request {
  const headers = { cookie, origin: env.baseUrl, "content-type": "application/json" };
  return new Request(new URL(path, env.ownOrigin), {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

/** Issues the operator's cookie. Access to the deployment's secret key is the authorization. */
function signIn(key: Uint8Array) {
  const gate = createLoginGate(key, false);
  return { gate, cookie: gate.redeem(gate.issueToken())?.split(";")[0] ?? "" };
}

const readSecretKey = async (env: Env): Promise<Uint8Array> =>
  env.ENCRYPTION_KEY ?? (await keepSecrets(env.DATA_DIR)).encryptionKey;
