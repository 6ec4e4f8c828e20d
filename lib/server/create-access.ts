import type { Logger } from "pino";
import { ACCESS_TOPIC, createAccessWatch } from "#lib/api/auth/access-watch.ts";
import { LOCAL_OWNER } from "#lib/api/auth/admit-caller.ts";
import { createAuthenticator } from "#lib/api/auth/authenticate.ts";
import { createFailedAttempts } from "#lib/api/auth/failed-attempts.ts";
import { createLoginGate } from "#lib/api/auth/login-gate.ts";
import { createBodyReader } from "#lib/api/http/body/body-reader.ts";
import { createLeasedRateLimiter } from "#lib/api/http/rates/leased-rate-limiter.ts";
import { createRateLimiter } from "#lib/api/http/rates/rate-limiter.ts";
import { leaseCalls } from "#lib/api/http/rates/rate-store.ts";
import { createKeyStore } from "#lib/keys/key-store.ts";
import { createShareLinks } from "#lib/session/share/share-link.ts";
import { readShareStates } from "#lib/session/share/share-store.ts";
import type { Env } from "./env.ts";
import type { Storage } from "./open-storage.ts";

/** Creates what decides whether a call is served: keys, share links, logins, their end, rate limits and body limits. */
export function createAccess(env: Env, storage: Storage, logger: Logger) {
  const { db } = storage;
  const keys = createKeyStore(db);
  return {
    keys,
    authenticate: createAuthenticator(readConfiguredKeys(env, storage.generatedKey), keys),
    failedAttempts: createFailedAttempts({
      limit: env.RATE_LIMIT_FAILED_AUTH,
      trustedProxies: env.TRUST_PROXY,
    }),
    shares: createShareLinks(db, storage.encryptionKey),
    login: createLoginGate(storage.encryptionKey, env.baseUrl.startsWith("https:")),
    access: createAccessWatch({
      rows: {
        readKeys: keys.readExpiries,
        readShares: (sessionIds) => readShareStates(db, sessionIds, new Date()),
      },
      words: storage.words(ACCESS_TOPIC),
      logger,
    }),
    rates: createRates(env, storage, logger),
    bodies: createBodyReader(),
  };
}

function createRates(env: Env, { db, isEmbedded }: Storage, logger: Logger) {
  const limits = {
    create: env.RATE_LIMIT_CREATE,
    poll: env.RATE_LIMIT_POLL,
    annotate: env.RATE_LIMIT_ANNOTATE,
    act: env.RATE_LIMIT_ACT,
  };
  // Only this process uses the embedded database; processes that share one lease their part of a limit.
  if (isEmbedded) return createRateLimiter(limits);
  const lease = (name: string, limit: number, slice: number) => leaseCalls(db, name, limit, slice);
  return createLeasedRateLimiter(limits, { lease, logger });
}

/** The keys of the settings; without any, the one that the data folder keeps. */
function readConfiguredKeys(env: Env, generated: string | undefined) {
  if (env.SERVICE_API_KEYS.length > 0 || generated === undefined) return env.SERVICE_API_KEYS;
  return [{ key: generated, ownerId: LOCAL_OWNER }];
}
