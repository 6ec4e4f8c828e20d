import type { Logger } from "pino";
import { ACCESS_TOPIC, createAccessWatch } from "#lib/api/auth/access-watch.ts";
import { LOCAL_OWNER } from "#lib/api/auth/admit-caller.ts";
import type { OidcLogin } from "#lib/api/auth/auth-services.ts";
import { createAuthenticator, isSettingsKey, settingsKeyId } from "#lib/api/auth/authenticate.ts";
import { createFailedAttempts } from "#lib/api/auth/failed-attempts.ts";
import { createLoginGate } from "#lib/api/auth/login-gate.ts";
import { OIDC_PATH } from "#lib/api/auth/oidc-sign-in.ts";
import { reportRefusedKeys } from "#lib/api/auth/report-refused-keys.ts";
import { createBodyReader } from "#lib/api/http/body/body-reader.ts";
import { createLeasedRateLimiter } from "#lib/api/http/rates/leased-rate-limiter.ts";
import { createRateLimiter } from "#lib/api/http/rates/rate-limiter.ts";
import { leaseCalls } from "#lib/api/http/rates/rate-store.ts";
import { KEY_SCOPES } from "#lib/keys/key-scopes.ts";
import { createKeyStore, type KeyStore } from "#lib/keys/key-store.ts";
import { createIdentityProvider, isAllowedAccount } from "#lib/logins/identity-provider.ts";
import { createLoginTokens } from "#lib/logins/login-tokens.ts";
import { createLogins, type KeyAccess } from "#lib/logins/logins.ts";
import type { SecurityLog } from "#lib/security-log/security-log.ts";
import { createAnswerLinks } from "#lib/session/inbox/answer-link.ts";
import { createShareLinks } from "#lib/session/share/share-link.ts";
import { readShareStates } from "#lib/session/store/share-store.ts";
import { createExportKeys } from "#lib/variant/formats/export-key.ts";
import type { Env } from "./env.ts";
import type { Storage } from "./open-storage.ts";

type AccessParts = { storage: Storage; logger: Logger; securityLog: SecurityLog; isServerless: boolean };

/** Vercel refuses larger bodies before a function gets them (decision 094). */
const FUNCTION_BODY_BYTES_MAX = 4_500_000;

/** Creates the access control of API calls: keys, share links, logins, their revocation, rate limits and body limits. */
export function createAccess(env: Env, { storage, logger, securityLog, isServerless }: AccessParts) {
  const { db } = storage;
  const keys = createKeyStore(db);
  const configured = readConfiguredKeys(env, storage.generatedKey);
  const logins = createOperatorLogins(env, storage, readKeyAccess(configured, keys));
  return {
    keys,
    logins,
    settingsKeyIds: new Set(configured.map(({ key }) => settingsKeyId(key))),
    authenticate: reportRefusedKeys(createAuthenticator(configured, keys), securityLog),
    failedAttempts: createFailedAttempts({
      limit: env.RATE_LIMIT_FAILED_AUTH,
      trustedProxies: env.TRUST_PROXY,
      onThrottled: () => securityLog.authenticationThrottled({}),
    }),
    shares: createShareLinks(db, storage.encryptionKey, storage.previousKeys),
    answers: createAnswerLinks(env.baseUrl, storage.encryptionKey, storage.previousKeys),
    exportKeyOf: createExportKeys(storage.encryptionKey),
    login: createLoginGate(
      logins,
      createLoginTokens(storage.encryptionKey),
      env.baseUrl.startsWith("https:"),
    ),
    oidc: openOidc(env),
    access: createAccessWatch({
      rows: {
        readKeys: keys.readLive,
        readShares: (sessionIds) => readShareStates(db, sessionIds, new Date()),
      },
      topic: storage.openTopic(ACCESS_TOPIC),
      logger,
    }),
    rates: createRates(env, storage, logger),
    bodies: createBodyReader(isServerless ? { platformBytesMax: FUNCTION_BODY_BYTES_MAX } : {}),
  };
}

const MINUTE_MS = 60_000;

/** Creates the function that reads the access of live keys by id: keys from the settings, and keys of the database. */
export function readKeyAccess(
  configured: { key: string; ownerId: string }[],
  keys: Pick<KeyStore, "readLive">,
): (keyIds: string[]) => Promise<Map<string, KeyAccess>> {
  const fromSettings = new Map(
    configured.map(({ key, ownerId }) => [settingsKeyId(key), { ownerId, scopes: KEY_SCOPES }]),
  );
  return async (keyIds) => {
    const stored = keyIds.filter((keyId) => !isSettingsKey(keyId));
    const live = stored.length === 0 ? new Map() : await keys.readLive(stored);
    return new Map(
      keyIds.flatMap((keyId) => {
        const found = fromSettings.get(keyId) ?? live.get(keyId);
        return found ? [[keyId, { keyId, ownerId: found.ownerId, scopes: found.scopes }]] : [];
      }),
    );
  };
}

/** Creates the logins of people, with the lifetimes and the allowed accounts from the settings. */
export const createOperatorLogins = (
  { oidc, LOGIN_IDLE_MINUTES, LOGIN_MAX_MINUTES }: Env,
  { db, encryptionKey }: { db: Storage["db"]; encryptionKey: Uint8Array },
  readKeys: (keyIds: string[]) => Promise<Map<string, KeyAccess>>,
) =>
  createLogins({
    db,
    key: encryptionKey,
    idleMs: LOGIN_IDLE_MINUTES * MINUTE_MS,
    lifeMs: LOGIN_MAX_MINUTES * MINUTE_MS,
    isAllowed: (account) => oidc !== undefined && isAllowedAccount(oidc, account),
    readKeys,
  });

function openOidc({ oidc, baseUrl }: Env): OidcLogin | undefined {
  if (!oidc) return undefined;
  return { settings: oidc, provider: createIdentityProvider(oidc, `${baseUrl}${OIDC_PATH.callback}`) };
}

function createRates(env: Env, { db, isEmbedded }: Storage, logger: Logger) {
  const limits = {
    create: env.RATE_LIMIT_CREATE,
    poll: env.RATE_LIMIT_POLL,
    annotate: env.RATE_LIMIT_ANNOTATE,
    act: env.RATE_LIMIT_ACT,
  };
  // An embedded database is used by this process only, so calls are counted in memory. Processes that share a database
  // lease parts of each limit from the database.
  if (isEmbedded) return createRateLimiter(limits);
  const lease = (name: string, limit: number, slice: number) => leaseCalls(db, name, limit, slice);
  return createLeasedRateLimiter(limits, { lease, logger });
}

/** Returns the API keys in the settings; if there are none, the generated key in the data folder. */
function readConfiguredKeys(env: Env, generatedKey: string | undefined) {
  if (env.SERVICE_API_KEYS.length > 0 || generatedKey === undefined) return env.SERVICE_API_KEYS;
  return [{ key: generatedKey, ownerId: LOCAL_OWNER }];
}
