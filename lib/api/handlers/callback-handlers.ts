import { enableEndpoint, readCallbackState } from "#lib/callback/callback-state-store.ts";
import { openPrevious } from "#lib/callback/secret/open-secrets.ts";
import { rotateCallbackSecret as rotateSecret } from "#lib/callback/secret/rotate-secret.ts";
import { CALLBACK_SECRET } from "#lib/session/secrets/secret-names.ts";
import type { SessionRow } from "#lib/session/store/session-store.ts";
import { maskUrl } from "#lib/text/mask-url.ts";
import { actorOf } from "../auth/actor-of.ts";
import { fail } from "../http/errors.ts";
import type { Answer, CallOf, Handlers } from "./handler.ts";
import type { ApiServices } from "./services.ts";

const OVERLAP_HOURS = 24;

/** Returns the reason why the deployment refuses a callback secret. Undefined if the deployment accepts the secret. */
export const refuseSecret = (
  { secretLengthMin }: ApiServices["callbackRules"],
  secret: string,
): string | undefined =>
  secret.length < secretLengthMin ? `must be at least ${secretLengthMin} characters` : undefined;

/** Describes the callback of a session for the API, without secrets. Null if the session has no callback. */
export async function describeCallback(
  { db, sealer }: Pick<ApiServices, "db" | "sealer">,
  { id, callbackUrl: url, callbackEvents: events }: SessionRow,
) {
  if (url === null || events === null) return null;
  const state = await readCallbackState(db, id);
  const sealed = state?.sealed ?? {};
  return {
    url: maskUrl(url),
    events,
    isSigned: CALLBACK_SECRET in sealed,
    previousSecretExpiresAt: openPrevious(sealer, id, sealed, new Date())?.expiresAt.toISOString() ?? null,
    failingSince: state?.failingSince?.toISOString() ?? null,
    disabledAt: state?.disabledAt?.toISOString() ?? null,
  };
}

/**
 * `POST …/callback/secret`: replaces the secret, or adds one. Until the overlap ends, deliveries are signed with both
 * the old and the new secret.
 */
async function rotateCallbackSecret(
  services: ApiServices,
  { session, body, caller }: CallOf<"rotateCallbackSecret">,
): Promise<Answer> {
  const { secret, overlapHours = OVERLAP_HOURS } = body;
  const refusal = refuseSecret(services.callbackRules, secret);
  if (refusal !== undefined) return fail("invalid_request", `secret: ${refusal}`);
  const overlapMs = overlapHours * 3_600_000;
  const isRotated = await rotateSecret(services, session.id, { secret, overlapMs });
  if (!isRotated) return withoutCallback();
  services.securityLog.callbackSecretRotated({ actor: actorOf(caller), sessionId: session.id });
  return answerCallback(services, session);
}

/** `POST …/callback/enable`: enables callbacks to the host of the session's callback URL again. */
async function enableCallback(
  services: ApiServices,
  { session, caller }: CallOf<"enableCallback">,
): Promise<Answer> {
  if (session.callbackUrl === null) return withoutCallback();
  await enableEndpoint(services.db, session.id);
  const { host } = new URL(session.callbackUrl);
  services.securityLog.callbackEnabled({ actor: actorOf(caller), sessionId: session.id, host });
  return answerCallback(services, session);
}

const answerCallback = async (services: ApiServices, session: SessionRow): Promise<Answer> => ({
  ok: true,
  status: 200,
  body: { success: true, callback: await describeCallback(services, session) },
});

const withoutCallback = () => fail("conflict", "this session was created without a callback");

export const callbackHandlers = {
  rotateCallbackSecret,
  enableCallback,
} satisfies Partial<Handlers>;
