import { createHash } from "node:crypto";
import { isIP } from "node:net";
import { resolve } from "node:path";
import { z } from "zod";
import type { AnnotationLimits } from "#lib/annotation/annotation-store.ts";
import { readAddressRanges } from "#lib/api/http/client-address.ts";
import { parseFault } from "#lib/faults/fault-point.ts";
import type { OidcSettings } from "#lib/logins/identity-provider.ts";
import { readModelPrices } from "#lib/model/prices.ts";
import { canonicalHostname, readNetworkAllow } from "#lib/net/address/network-allow.ts";
import { profileNames } from "#lib/projection/profile/profile.ts";
import type { ByteLimits } from "#lib/session/byte-limits.ts";
import type { OwnerLimits } from "#lib/session/quota/owner-quota.ts";
import { isOrigin } from "#lib/text/http-url.ts";
import { readHostUrls } from "./read-host-urls.ts";

const wholeNumber = (fallback: number, min = 0, max = 2_000_000_000) =>
  z
    .string()
    .regex(/^\d{1,13}$/, { error: "must be a whole number" })
    .transform(Number)
    .refine((value) => value >= min && value <= max, { error: `must be from ${min} to ${max}` })
    .default(fallback);

const days = wholeNumber(0, 0, 36_500);
/** A number that may have decimals; 0 by default. */
const amount = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,6})?$/, { error: "must be a number" })
  .transform(Number)
  .default(0);

const httpOrigin = z
  .string()
  .refine((text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol), {
    error: "must be an http(s) URL",
  })
  .transform((text) => new URL(text).origin);

/** How many origins `EMBED_ORIGINS` can name: every page of a frame sends all of them in a header. */
const EMBED_ORIGINS_MAX = 50;

const list = z
  .string()
  .default("")
  .transform((text) =>
    text
      .split(",")
      .map((item) => item.trim())
      .filter(Boolean),
  );

/** A host, optionally with a port, normalized by `canonicalHostname`. */
const hostName = z
  .string()
  .regex(/^([\w.-]+|\[[0-9a-f:.]+\])(:\d{1,5})?$/i, { error: "must be host names, with or without a port" })
  .transform(canonicalHostname);

const url = z.string().refine((text) => URL.canParse(text), { error: "must be a URL" });

const EXCLUDED_MAX = 128;

/** Names of tools, or beginnings of names with a trailing `*`, as in the field `tools.externalTurnExclude`. */
const toolNames = list.superRefine((names, context) => {
  const invalid = names.find((name) => !/^([\w-]{1,256}\*?|\*)$/.test(name));
  const message =
    invalid !== undefined
      ? `${JSON.stringify(invalid.slice(0, 100))} must be the name of a tool, or the beginning of names with a * at its end, such as mcp_crm__*`
      : names.length > EXCLUDED_MAX
        ? `must hold at most ${EXCLUDED_MAX} names`
        : undefined;
  if (message !== undefined) context.addIssue({ code: "custom", message });
});

/** Minimum length of the token of browser hosts: it opens browsers that may be signed in. */
const HOST_TOKEN_LENGTH_MIN = 32;

/** Minimum length of API keys; shorter keys could be guessed. */
const API_KEY_LENGTH_MIN = 20;

/** Parses a value with a function that throws on invalid input. The error's message becomes the message of the Zod issue. */
function readOrReject<Value>(read: (text: string) => Value, text: string, context: z.RefinementCtx): Value {
  try {
    return read(text);
  } catch (error) {
    context.addIssue({ code: "custom", message: error instanceof Error ? error.message : String(error) });
    return z.NEVER;
  }
}

/** Every environment variable that the service reads. Source: `configuration.md`, Variables. */
const envSchema = z.object({
  NODE_ENV: z.enum(["development", "production", "test"]).default("production"),
  PORT: wholeNumber(3000).refine((port) => port <= 65_535, { error: "must be at most 65535" }),
  HOST: z.string().min(1).default("127.0.0.1"),
  BASE_URL: httpOrigin.optional(),
  PUBLIC_PAGES_ORIGIN: httpOrigin.optional(),
  ALLOWED_HOSTS: list.pipe(z.array(hostName)),
  DATA_DIR: z
    .string()
    .min(1)
    .default(".data")
    .transform((path) => resolve(path)),
  DISK_FREE_MIN_MB: wholeNumber(256),
  DATABASE_URL: url.optional(),
  DATABASE_DRIVER: z.enum(["pg", "neon"]).optional(),
  NEON_WSPROXY: z.string().optional(),
  INNGEST_DEV: z.string().optional(),
  INNGEST_BASE_URL: z.string().optional(),
  INNGEST_EVENT_KEY: z.string().optional(),
  INNGEST_SIGNING_KEY: z.string().optional(),
  OPENAI_API_KEY: z.string().optional(),
  OPENAI_BASE_URL: url.optional(),
  AI_GATEWAY_API_KEY: z.string().optional(),
  AGENT_MODEL: z.string().optional(),
  MODEL_PRICES: z
    .string()
    .default("{}")
    .transform((text, context) => readOrReject(readModelPrices, text, context)),
  OWNER_BUDGET_USD_PER_DAY: amount,
  OWNER_BUDGET_TOKENS_PER_DAY: wholeNumber(0, 0, 1_000_000_000_000),
  OWNER_BUDGET_MINUTES_PER_DAY: amount,
  AGENT_MODEL_API: z.enum(["responses", "chat"]).default("responses"),
  AGENT_CONTEXT_TOKENS: wholeNumber(0, 1_000).unwrap().optional(),
  AGENT_MAX_OUTPUT_TOKENS: wholeNumber(0, 1).unwrap().optional(),
  STRUCTURED_PROFILE: z.enum(profileNames).optional(),
  EXTERNAL_TURN_EXCLUDE: toolNames,
  LOGIN_IDLE_MINUTES: wholeNumber(1_440, 1),
  LOGIN_MAX_MINUTES: wholeNumber(10_080, 1),
  OIDC_ISSUER: url.optional(),
  OIDC_CLIENT_ID: z.string().optional(),
  OIDC_CLIENT_SECRET: z.string().optional(),
  OIDC_ALLOW: list,
  SERVICE_API_KEYS: list
    .transform((entries) => entries.map(readConfiguredKey))
    .superRefine((keys, context) => {
      // The message names the position and not the owner, because the owner may be a part of the key: a base64 key that
      // ends with "=" is split at the first "=".
      const short = keys.findIndex(({ key }) => key.length < API_KEY_LENGTH_MIN);
      if (short >= 0)
        context.addIssue({
          code: "custom",
          message: `key ${short + 1} of the list has ${keys[short]?.key.length} characters, but a key must have at least ${API_KEY_LENGTH_MIN}, such as the output of "openssl rand -hex 32"`,
        });
    }),
  BUILTIN_MCP_URL: url.optional(),
  ENCRYPTION_KEY: z
    .string()
    .transform((text) => Buffer.from(text, "base64"))
    .refine((key) => key.byteLength === 32, { error: "must be 32 bytes in base64" })
    .optional(),
  ENCRYPTION_KEY_PREVIOUS: list
    .transform((texts) => texts.map((text) => Buffer.from(text, "base64")))
    .refine((keys) => keys.every((key) => key.byteLength === 32), {
      error: "must be keys of 32 bytes in base64, comma-separated",
    }),
  DELEGATION_MAX_LIVE_CHILDREN: wholeNumber(4),
  DELEGATION_MAX_LIVE_BROWSERS: wholeNumber(4),
  DELEGATION_MAX_DEPTH: wholeNumber(2),
  DELEGATION_MAX_LIVE_TOTAL: wholeNumber(16),
  BROWSER_CDP_URL: url.optional(),
  BROWSER_EXECUTABLE_PATH: z
    .string()
    .transform((path) => (path.includes("/") ? resolve(path) : path))
    .optional(),
  SANDBOX: z.enum(["local", "vercel", "none", "unconfined"]).default("local"),
  VERCEL_SANDBOX_SNAPSHOT: z.string().min(1).optional(),
  VERCEL_SANDBOX_IMAGE: z.string().min(1).optional(),
  SKILLS_DIR: z
    .string()
    .min(1)
    .transform((path) => resolve(path))
    .optional(),
  NETWORK_ALLOW: z
    .string()
    .default("")
    .transform((text, context) => readOrReject(readNetworkAllow, text, context)),
  FIRST_PARTY_ORIGINS: list.pipe(z.array(httpOrigin)),
  EMBED_ORIGINS: list.pipe(
    z
      .array(
        z.string().refine(isOrigin, { error: "must be origins without a path, such as https://app.example" }),
      )
      .max(EMBED_ORIGINS_MAX, { error: `must hold at most ${EMBED_ORIGINS_MAX} origins` }),
  ),
  CALLBACK_RETRY_BASE_MS: wholeNumber(5_000),
  CALLBACK_RETRY_FACTOR: wholeNumber(5, 1),
  CALLBACK_SECRET_MIN: wholeNumber(0, 0, 1_024),
  CALLBACK_HTTP: z.enum(["allow", "refuse"]).default("allow"),
  CALLBACK_DISABLE_AFTER_HOURS: wholeNumber(120),
  SUBAGENT_WEB_FLAG_URL: url.optional(),
  TURN_BUDGET_MS: wholeNumber(0).unwrap().optional(),
  TURN_LIMIT_MS: wholeNumber(0)
    .unwrap()
    // 10 s are needed for the end of a call.
    .refine((ms) => ms === 0 || ms > 10_000, { error: "must be 0, or more than 10000" })
    .optional(),
  AGENT_MAX_STEPS: wholeNumber(200, 1),
  AGENT_RETRY_BASE_MS: wholeNumber(2_000),
  BROWSER_IDLE_MS: wholeNumber(600_000, 1),
  BROWSER_MAX_LIVE: wholeNumber(8, 1),
  BROWSER_CONTEXTS_PER_PROCESS: wholeNumber(1, 1, 50),
  BROWSER_PAGE_MEMORY_MB: wholeNumber(2_048, 0, 1_000_000),
  BROWSER_WAIT_MS: wholeNumber(300_000),
  BROWSER_SPARE: wholeNumber(1, 0, 1),
  RECORDING_MAX_MB: wholeNumber(24, 0, 1_000),
  BROWSER_WEBDRIVER: z.enum(["true", "false"]).default("true"),
  BROWSER_HOST_LINGER_MS: wholeNumber(60_000),
  BROWSER_HOSTS: z
    .string()
    .default("")
    .transform((text, context) => readOrReject(readHostUrls, text, context)),
  BROWSER_HOST_TOKEN: z
    .string()
    .min(HOST_TOKEN_LENGTH_MIN, {
      error: `must have at least ${HOST_TOKEN_LENGTH_MIN} characters, such as the output of "openssl rand -hex 32"`,
    })
    .optional(),
  BROWSER_HOST_LISTEN: z
    .string()
    .regex(/^([\w.-]+|\[[0-9a-f:.]+\]):\d{1,5}$/i, {
      error: "must be a host and a port, such as 0.0.0.0:7411",
    })
    .refine((text) => Number(/\d+$/.exec(text)?.[0]) <= 65_535, {
      error: "must have a port of at most 65535",
    })
    .default("0.0.0.0:7411"),
  BROWSER_HOST_CERT: z.string().min(1).optional(),
  BROWSER_HOST_KEY: z.string().min(1).optional(),
  INTERNAL_URL: httpOrigin.optional(),
  RATE_LIMIT_CREATE: wholeNumber(60),
  RATE_LIMIT_POLL: wholeNumber(600),
  RATE_LIMIT_ANNOTATE: wholeNumber(120),
  RATE_LIMIT_ACT: wholeNumber(120),
  RATE_LIMIT_CALLBACK: wholeNumber(6_000),
  RATE_LIMIT_PAGES: wholeNumber(1_200),
  ANNOTATIONS_SESSION_MAX: wholeNumber(10_000),
  ANNOTATIONS_SESSION_MIB: wholeNumber(100),
  OWNER_STORED_SESSIONS: wholeNumber(0),
  OWNER_OPEN_SESSIONS: wholeNumber(0),
  OWNER_STORED_MIB: wholeNumber(0),
  RATE_LIMIT_FAILED_AUTH: wholeNumber(30, 0, 1_000),
  TRUST_PROXY: z
    .string()
    .default("")
    .transform((text, context) => readOrReject(readAddressRanges, text, context)),
  SHUTDOWN_GRACE_MS: wholeNumber(10_000, 0, 3_600_000),
  PAGES_SESSION_MIB: wholeNumber(256),
  PAGES_OWNER_MIB: wholeNumber(2_048),
  IMPORTS_SESSION_MIB: wholeNumber(100),
  IMPORTS_OWNER_MIB: wholeNumber(1_024),
  /** Vercel sets this variable. */
  VERCEL: z.string().optional(),
  /** Days after which the retention job removes data; 0 keeps it. */
  RETENTION_SESSION_DAYS: days,
  RETENTION_EVIDENCE_DAYS: days,
  RETENTION_DELIVERY_DAYS: days,
  SECURITY_LOG: z
    .string()
    .min(1)
    .transform((path) => resolve(path))
    .optional(),
  LOG_LEVEL: z.enum(["fatal", "error", "warn", "info", "debug", "trace", "silent"]).default("info"),
  FAULT: z
    .string()
    .transform((text) => parseFault(text))
    .refine((fault) => fault !== undefined, {
      error: "must be <point>:<nth>:<kill9|throw|delay|exec-then-throw>",
    })
    .optional(),
  FAULTS_ALLOWED: z.literal("1", { error: "must be 1 or unset" }).optional(),
});

export type Env = z.output<typeof envSchema> & {
  /** Public origin, without a trailing slash. */
  baseUrl: string;
  /** Public origin of landing pages, without a trailing slash. */
  pagesOrigin: string;
  /** Origin of the service as seen from this machine; the agent's browser uses it. */
  ownOrigin: string;
  isLoopback: boolean;
  /**
   * How long one call of the durable function may play (execute) a turn, in ms. The next call continues the turn. 0: no
   * limit.
   */
  turnBudgetMs: number;
  /**
   * How long one call of the durable function can take at most, in ms. A step of a turn that may take longer than the rest
   * of this time is begun by the next call. 0: no limit.
   */
  turnLimitMs: number;
  /** Limits on how many bytes landing pages (`pageBytes`) and imported documents (`importBytes`) take in the database. */
  pageBytes: ByteLimits;
  importBytes: ByteLimits;
  /** The identity provider of operators; undefined if none is configured. */
  oidc: OidcSettings | undefined;
  /** Limits on the annotations of a session (`annotationLimits`) and on the sessions of an owner (`ownerLimits`). */
  annotationLimits: AnnotationLimits;
  ownerLimits: OwnerLimits;
};

/** The default of `turnBudgetMs` on Vercel. It is less than the `maxDuration` of the route that serves the durable function. */
const VERCEL_BUDGET_MS = 240_000;
/** The default of `turnLimitMs` on Vercel: the `maxDuration` of that route. A longer budget needs a longer `maxDuration`. */
const VERCEL_LIMIT_MS = 300_000;
const LIMIT_OVER_BUDGET_MS = 60_000;
const MEBIBYTE = 1_048_576;

/** Thrown for an invalid setting. The message begins with the name of the variable. */
export class EnvError extends Error {}

/**
 * Reads and checks the settings. The service reads its settings only here, with two exceptions: the logger of
 * serverless functions and a failed start read `LOG_LEVEL` themselves, and the Inngest client reads its own variables.
 * An empty variable counts as unset.
 *
 * @throws EnvError if a variable is invalid, or missing although another setting requires it.
 */
export function readEnv(source: Record<string, string | undefined>): Env {
  const variables = Object.fromEntries(
    Object.entries(source).filter(([, value]) => value !== undefined && value !== ""),
  );
  const parsed = envSchema.safeParse(variables);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const expected =
      issue?.code === "invalid_value" ? `must be one of ${issue.values.join(", ")}` : issue?.message;
    throw new EnvError(`${issue?.path[0]?.toString() ?? "environment"}: ${expected}`);
  }
  const env = parsed.data;
  if (env.FAULT && env.NODE_ENV === "production" && !env.FAULTS_ALLOWED)
    throw new EnvError(
      "FAULT: makes this process fail on purpose, which production refuses unless FAULTS_ALLOWED=1",
    );
  if (env.VERCEL_SANDBOX_SNAPSHOT && env.VERCEL_SANDBOX_IMAGE)
    throw new EnvError("VERCEL_SANDBOX_IMAGE: must be unset with VERCEL_SANDBOX_SNAPSHOT");
  const isLoopback = isLoopbackName(env.HOST);
  if (!isLoopback && !env.BASE_URL)
    throw new EnvError(
      "BASE_URL: is required when HOST is not loopback, because the request's Host header is never trusted",
    );
  const host = isIP(env.HOST) === 6 ? `[${env.HOST}]` : env.HOST;
  const isAnyAddress = env.HOST === "0.0.0.0" || env.HOST === "::";
  const ownOrigin = `http://${isAnyAddress ? "127.0.0.1" : host}:${env.PORT}`;
  const turnBudgetMs = env.TURN_BUDGET_MS ?? (env.VERCEL ? VERCEL_BUDGET_MS : 0);
  const vercelLimitMs = Math.max(VERCEL_LIMIT_MS, turnBudgetMs + LIMIT_OVER_BUDGET_MS);
  const turnLimitMs = env.TURN_LIMIT_MS ?? (env.VERCEL ? vercelLimitMs : 0);
  if (turnLimitMs > 0 && turnBudgetMs >= turnLimitMs)
    throw new EnvError("TURN_BUDGET_MS: must be less than TURN_LIMIT_MS");
  const baseUrl = env.BASE_URL ?? ownOrigin;
  const pagesOrigin = env.PUBLIC_PAGES_ORIGIN ?? baseUrl;
  // Browsers send the cookies of a host to all of its ports, so another port of the same host would not separate the
  // pages.
  if (env.PUBLIC_PAGES_ORIGIN && hostnameOf(pagesOrigin) === hostnameOf(baseUrl))
    throw new EnvError("PUBLIC_PAGES_ORIGIN: must have another host name than BASE_URL");
  const oidc = readOidc(env);
  if (env.BROWSER_HOSTS.length > 0 && !env.BROWSER_HOST_TOKEN)
    throw new EnvError("BROWSER_HOST_TOKEN: is required with BROWSER_HOSTS");
  if (env.BROWSER_WEBDRIVER === "false" && env.BROWSER_CDP_URL)
    throw new EnvError(
      "BROWSER_WEBDRIVER: must be unset with BROWSER_CDP_URL: the remote browser decides how it introduces itself",
    );
  if (env.BROWSER_HOSTS.length > 0 && env.BROWSER_CDP_URL)
    throw new EnvError("BROWSER_CDP_URL: must be unset with BROWSER_HOSTS; set it for the browser hosts");
  return {
    ...env,
    isLoopback,
    ownOrigin,
    baseUrl,
    pagesOrigin,
    turnBudgetMs,
    turnLimitMs,
    oidc,
    pageBytes: toBytes(env.PAGES_SESSION_MIB, env.PAGES_OWNER_MIB),
    importBytes: toBytes(env.IMPORTS_SESSION_MIB, env.IMPORTS_OWNER_MIB),
    annotationLimits: {
      count: env.ANNOTATIONS_SESSION_MAX,
      bytes: env.ANNOTATIONS_SESSION_MIB * MEBIBYTE,
    },
    ownerLimits: {
      storedSessions: env.OWNER_STORED_SESSIONS,
      openSessions: env.OWNER_OPEN_SESSIONS,
      storedBytes: env.OWNER_STORED_MIB * MEBIBYTE,
    },
  };
}

/**
 * Reads the settings of the identity provider; undefined if none is set.
 * @throws EnvError if only some are set, if an entry of `OIDC_ALLOW` is invalid, or if the issuer uses http and is not
 * on this machine, because sign-ins could then be intercepted.
 */
function readOidc(env: z.output<typeof envSchema>): OidcSettings | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret } = env;
  const allow = env.OIDC_ALLOW;
  if (!issuer && !clientId && !clientSecret && allow.length === 0) return undefined;
  if (!issuer) throw new EnvError("OIDC_ISSUER: is required with the other OIDC variables");
  if (!clientId) throw new EnvError("OIDC_CLIENT_ID: is required with OIDC_ISSUER");
  if (!clientSecret) throw new EnvError("OIDC_CLIENT_SECRET: is required with OIDC_ISSUER");
  if (allow.length === 0)
    throw new EnvError("OIDC_ALLOW: is required with OIDC_ISSUER; it lists who may sign in");
  const { protocol, hostname } = new URL(issuer);
  if (protocol !== "https:" && !(protocol === "http:" && isLoopbackName(hostname)))
    throw new EnvError("OIDC_ISSUER: must be an https URL, or an http URL of this machine");
  const invalidEntry = allow.find((entry) => !/^(sub:.+|[^@\s:]+@[^@\s]+)$/.test(entry));
  if (invalidEntry !== undefined)
    throw new EnvError(`OIDC_ALLOW: ${invalidEntry} must be an e-mail address, or sub:<subject>`);
  return { issuer, clientId, clientSecret, allow };
}

const isLoopbackName = (host: string): boolean => host === "localhost" || /^(127\.|::1$|\[::1\]$)/.test(host);

const toBytes = (session: number, owner: number): ByteLimits => ({
  session: session * MEBIBYTE,
  owner: owner * MEBIBYTE,
});

const hostnameOf = (origin: string): string => canonicalHostname(new URL(origin).hostname);

/** Whether browsers run in the machines of sessions (Vercel Sandboxes), which start from a snapshot with Chromium. */
export const hasBoxedBrowsers = (
  env: Pick<Env, "SANDBOX" | "BROWSER_CDP_URL" | "VERCEL_SANDBOX_SNAPSHOT">,
): boolean => env.SANDBOX === "vercel" && !env.BROWSER_CDP_URL && env.VERCEL_SANDBOX_SNAPSHOT !== undefined;

/**
 * Checks that the settings suit serverless functions, which have no persistent disk, no long-lived process, no browser
 * and no embedded engine.
 *
 * @throws EnvError that names every missing variable.
 */
export function requireServerless(env: Env): void {
  const required: Record<string, unknown> = {
    DATABASE_URL: env.DATABASE_URL,
    INNGEST_EVENT_KEY: env.INNGEST_EVENT_KEY,
    INNGEST_SIGNING_KEY: env.INNGEST_SIGNING_KEY,
    ENCRYPTION_KEY: env.ENCRYPTION_KEY,
    SERVICE_API_KEYS: env.SERVICE_API_KEYS.length > 0,
    BASE_URL: env.BASE_URL,
    "VERCEL_SANDBOX_SNAPSHOT with SANDBOX=vercel (or BROWSER_CDP_URL)":
      env.BROWSER_CDP_URL || hasBoxedBrowsers(env),
    "SANDBOX=vercel (or none)": env.SANDBOX === "vercel" || env.SANDBOX === "none",
  };
  const missing = Object.entries(required).flatMap(([name, value]) => (value ? [] : [name]));
  if (missing.length > 0)
    throw new EnvError(
      `${missing.join(", ")}: must be set if the pages are served without lib/server/main.ts, as on Vercel: ` +
        "no files can be kept on disk there, and no engine, browser or shell can run",
    );
}

/** Parses an entry of the form `owner=key`, or a key alone, from which the owner id is derived. */
function readConfiguredKey(entry: string): { key: string; ownerId: string } {
  const at = entry.indexOf("=");
  if (at > 0) return { ownerId: entry.slice(0, at), key: entry.slice(at + 1) };
  return { ownerId: `key:${createHash("sha256").update(entry).digest("hex").slice(0, 16)}`, key: entry };
}
