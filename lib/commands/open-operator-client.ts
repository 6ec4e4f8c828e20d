import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { chooseDriver, type DatabaseOptions, openDatabase } from "#db/open-database.ts";
import { ACCESS_TOPIC, createAccessWatch } from "#lib/api/auth/access-watch.ts";
import { LOCAL_OWNER } from "#lib/api/auth/admit-caller.ts";
import { createAuthenticator, isSettingsKey } from "#lib/api/auth/authenticate.ts";
import { createFailedAttempts } from "#lib/api/auth/failed-attempts.ts";
import { contract } from "#lib/api/contract/contract.ts";
import {
  createKey,
  listKeys,
  revokeKey,
  rotateEncryption,
  rotateKey,
  updateKey,
} from "#lib/api/handlers/key-handlers.ts";
import { endLogin, listLogins } from "#lib/api/handlers/login-handlers.ts";
import type { ApiServices } from "#lib/api/handlers/services.ts";
import { createBodyReader } from "#lib/api/http/body/body-reader.ts";
import { createPathMatcher } from "#lib/api/http/match-path.ts";
import { createRateLimiter } from "#lib/api/http/rates/rate-limiter.ts";
import { type RouteServices, serveOperation } from "#lib/api/serve/serve-operation.ts";
import { sendSignal } from "#lib/events/bus/postgres-bus.ts";
import { KEY_SCOPES } from "#lib/keys/key-scopes.ts";
import { createKeyStore, type KeyStore } from "#lib/keys/key-store.ts";
import { createLoginTokens } from "#lib/logins/login-tokens.ts";
import type { KeyAccess, Login } from "#lib/logins/logins.ts";
import { createSealer } from "#lib/secrets/sealer.ts";
import { createOperatorLogins, readKeyAccess } from "#lib/server/create-access.ts";
import type { Env } from "#lib/server/env.ts";
import { createLogger } from "#lib/server/log.ts";
import { openSecurityLog } from "#lib/server/open-security-log.ts";
import { hasSecretKey, readSecretKey } from "#lib/server/secret-key.ts";
import { createShareLinks } from "#lib/session/share/share-link.ts";

/** Calls the operations under `/actions/keys`, `/actions/encryption` and `/actions/logins` on behalf of the operator. */
export type OperatorClient = {
  request: (method: string, path: string, body?: unknown) => Promise<Response>;
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
 * Opens a client for the service's keys and logins. The client works on the database directly. If a running service
 * owns the embedded database, the client calls that service instead: it logs in with a token that it signs with the
 * deployment's secret key, and logs out when it is closed.
 *
 * @throws Error with a message for the user if neither a database nor a service is available, or if the service does
 * not accept the login.
 */
export async function openOperatorClient(env: Env): Promise<OperatorClient> {
  const driver = chooseDriver(env.DATABASE_URL, env.DATABASE_DRIVER);
  if (driver !== "embedded") return openAtDatabase(env, readServer(env, driver));
  // The command does not create a database, because no service would use it.
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
  // Errors of the connection are ignored: a lost connection also fails the running query, whose error is shown.
  const onError = () => {};
  if (driver === "pg") return { driver, url, onError };
  return { driver, url, onError, ...(env.NEON_WSPROXY && { wsProxy: env.NEON_WSPROXY }) };
}

const {
  listKeys: list,
  createKey: create,
  revokeKey: revoke,
  updateKey: update,
  rotateKey: rotate,
} = contract;
const { listLogins: browsers, endLogin: end, rotateEncryption: reseal } = contract;
const match = createPathMatcher({ list, create, revoke, update, rotate, reseal, browsers, end });

/**
 * Reads the access of API keys for the list of logins. Without keys in the settings, the service accepts the key that it
 * generated. The command does not read that key, so it lists every login with such a key.
 */
function readKeysOf(env: Env, store: KeyStore): (keyIds: string[]) => Promise<Map<string, KeyAccess>> {
  const read = readKeyAccess(env.SERVICE_API_KEYS, store);
  return async (keyIds) => {
    const found = await read(keyIds);
    if (env.SERVICE_API_KEYS.length > 0) return found;
    for (const keyId of keyIds.filter(isSettingsKey))
      found.set(keyId, { keyId, ownerId: LOCAL_OWNER, scopes: KEY_SCOPES });
    return found;
  };
}

async function openAtDatabase(env: Env, options: DatabaseOptions): Promise<OperatorClient> {
  const { db, close } = await openDatabase(options);
  const isKeyKnown = hasSecretKey(env);
  // Without the service's secret key, a random key is used. The random key suffices for all operations except
  // `rotate-encryption`, which is refused below.
  const key = isKeyKnown ? await readSecretKey(env) : randomBytes(32);
  // If no file is set for security events, they go to standard error, because standard output is for the command's
  // answer.
  const securityLog = openSecurityLog(env, createLogger(env.LOG_LEVEL, process.stderr));
  const store = createKeyStore(db);
  let notified = Promise.resolve();
  const access = createAccessWatch({
    rows: { readKeys: store.readLive, readShares: async () => new Map() },
    topic: {
      // With an embedded database, there is no other process to notify.
      publish(text) {
        if (options.driver !== "embedded") notified = sendSignal(db, ACCESS_TOPIC, text);
      },
      subscribe: () => () => {},
    },
    logger: errorsOnly,
  });
  const services: RouteServices & Pick<ApiServices, "access" | "logins" | "sealer"> = {
    db,
    sealer: createSealer(key, env.ENCRYPTION_KEY_PREVIOUS),
    access,
    logins: createOperatorLogins(env, { db, encryptionKey: key }, readKeysOf(env, store)),
    // Callers need no further login: access to the database is the authorization.
    login: { readLogin: async () => THIS_COMMAND },
    authenticate: createAuthenticator([], store),
    failedAttempts: createFailedAttempts({ limit: 0, trustedProxies: [] }),
    shares: createShareLinks(db, key),
    bodies: createBodyReader(),
    rates: createRateLimiter({ create: 0, poll: 0, annotate: 0, act: 0 }),
    logger: errorsOnly,
    securityLog,
    settings: { baseUrl: env.baseUrl },
  };
  /**
   * Returns the response after running services have been notified of the change. Only the notification makes them
   * close the open connections of the key. Rejects if the notification fails.
   */
  async function afterNotifying(response: Response): Promise<Response> {
    await notified;
    return response;
  }
  return {
    close,
    async request(method, path, body) {
      const found = match(path.split("?")[0] ?? "");
      const request = makeRequest(env, "", method, path, body);
      const params = found?.params ?? {};
      switch (found?.operations[method]) {
        case "list":
          return serveOperation(services, list, listKeys, request, params);
        case "reseal":
          // Refused without the key of the service, because services could not decrypt secrets that this command
          // encrypts with a random key.
          if (!isKeyKnown)
            throw new Error(
              "ENCRYPTION_KEY: is not set, and DATA_DIR has none: run this command with the settings of the service",
            );
          return serveOperation(services, reseal, rotateEncryption, request, params);
        case "create":
          return serveOperation(services, create, createKey, request, params);
        case "revoke":
          return afterNotifying(await serveOperation(services, revoke, revokeKey, request, params));
        case "update":
          return afterNotifying(await serveOperation(services, update, updateKey, request, params));
        case "rotate":
          return afterNotifying(await serveOperation(services, rotate, rotateKey, request, params));
        case "browsers":
          return serveOperation(services, browsers, listLogins, request, params);
        case "end":
          return serveOperation(services, end, endLogin, request, params);
        default:
          throw new Error(`no operation at ${method} ${path}`);
      }
    },
  };
}

async function openAtService(env: Env, whyLocked: string): Promise<OperatorClient> {
  const send = (request: Request) =>
    fetch(request, { redirect: "manual", signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS) }).catch(() => {
      throw new Error(
        `${whyLocked}, and the service does not answer at ${env.ownOrigin}: run this command with the service's PORT and HOST, or stop the service first`,
      );
    });
  const token = createLoginTokens(await readSecretKey(env)).signToken();
  const entered = await send(makeRequest(env, undefined, "POST", "/login", { token }));
  const cookie = entered.headers.getSetCookie()[0]?.split(";")[0];
  if (cookie === undefined)
    throw new Error(
      `the service at ${env.ownOrigin} did not accept this command's login: run it with the service's DATA_DIR or ENCRYPTION_KEY`,
    );
  return {
    async close() {
      await send(makeRequest(env, cookie, "POST", "/actions/logout", undefined));
    },
    request: (method, path, body) => send(makeRequest(env, cookie, method, path, body)),
  };
}

/** The user agent that the list of logins shows for this program. */
const COMMAND = "npm run";
const THIS_COMMAND: Login = {
  id: "command",
  method: "link",
  account: null,
  key: null,
  userAgent: COMMAND,
  createdAt: new Date(),
  lastSeenAt: new Date(),
  expiresAt: new Date(),
};

function makeRequest(
  env: Env,
  cookie: string | undefined,
  method: string,
  path: string,
  body: unknown,
): Request {
  const headers = {
    ...(cookie !== undefined && { cookie }),
    origin: env.baseUrl,
    "content-type": "application/json",
    "user-agent": COMMAND,
  };
  return new Request(new URL(path, env.ownOrigin), {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}
