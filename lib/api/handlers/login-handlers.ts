import type { Login } from "#lib/logins/logins.ts";
import { actorOf } from "../auth/actor-of.ts";
import { refuseScope } from "../auth/authenticate.ts";
import type { SignInHeaders } from "../auth/login-gate.ts";
import type { logInOperation } from "../contract/operations/logins.ts";
import { clientOf } from "../http/client-address.ts";
import { type Failure, fail } from "../http/errors.ts";
import { rateHeaders, refuseOverRate } from "../http/rates/rate-limiter.ts";
import type { Answer, Call, CallOf, Handlers } from "./handler.ts";
import type { ApiServices } from "./services.ts";

/** `GET /actions/logins`: lists the browsers that are signed in, the most recently used first. */
export async function listLogins(
  { logins }: Pick<ApiServices, "logins">,
  { caller }: CallOf<"listLogins">,
): Promise<Answer> {
  const data = describeLogins(await logins.list(), caller.loginId);
  return { ok: true, status: 200, body: { success: true, data, nextCursor: null } };
}

/** `DELETE /actions/logins/:loginId`: ends a login at once. Repeating the call changes nothing. */
export async function endLogin(
  { logins, securityLog }: Pick<ApiServices, "logins" | "securityLog">,
  { params, caller }: CallOf<"endLogin">,
): Promise<Answer> {
  if (!(await logins.end(params.loginId))) return fail("not_found", "no such login");
  securityLog.loginEnded({ actor: actorOf(caller), loginId: params.loginId });
  return { ok: true, status: 200, body: { success: true } };
}

type SignInServices = Pick<
  ApiServices,
  "authenticate" | "login" | "rates" | "securityLog" | "failedAttempts"
>;

/** The result of a sign-in: the cookie to set, and the name of the person for the security log. */
type SignedIn = { ok: true; cookie: string; actor: string; headers?: Record<string, string> } | Failure;

/**
 * `POST /login`: signs in with the token of a login link or with an API key, and sets the cookie of the login. A wrong
 * or used credential is a failed authentication of the client.
 */
export async function logIn(
  services: SignInServices,
  { request, body }: Call<typeof logInOperation>,
): Promise<Answer> {
  const signed =
    body.apiKey === undefined
      ? await redeemToken(services, request, body.token ?? "")
      : await signInWithKey(services, request, body.apiKey);
  if (!signed.ok) {
    // An unreachable key store says nothing about the key, and a sign-in over its rate has a valid one.
    if (signed.code === "auth_unavailable" || signed.code === "rate_limited") return signed;
    services.securityLog.loginFailed({});
    return signed.code === "unauthorized"
      ? services.failedAttempts.refuse(clientOf(request), signed)
      : signed;
  }
  services.securityLog.loginSucceeded({ actor: signed.actor });
  const answerHeaders = { ...signed.headers, "Set-Cookie": signed.cookie, "Cache-Control": "no-store" };
  return { ok: true, status: 200, body: { success: true }, headers: answerHeaders };
}

async function redeemToken({ login }: SignInServices, request: Request, token: string): Promise<SignedIn> {
  const cookie = await login.redeem(token, signInHeaders(request));
  return cookie === undefined
    ? fail("unauthorized", "token: was used before, has expired, or is wrong; get a new login link")
    : { ok: true, cookie, actor: "operator" };
}

/**
 * Checks the key as the API does. The page shows sessions, so the key needs the scope for reading them. The sign-ins with
 * a key are counted apart from its other calls, so that a busy program does not keep the holder of the key out.
 */
async function signInWithKey(
  { authenticate, login, rates }: SignInServices,
  request: Request,
  apiKey: string,
): Promise<SignedIn> {
  const wrong = fail("unauthorized", "apiKey: is wrong, was revoked, or has expired");
  // A key of other characters cannot be in a header. No key has them.
  if (!/^[\x21-\x7e]+$/.test(apiKey)) return wrong;
  const checked = await authenticate(new Headers({ authorization: `Bearer ${apiKey}` }));
  if (!checked.ok) return checked.code === "unauthorized" ? wrong : checked;
  const refusal = refuseScope(checked.caller, "sessions:read");
  if (refusal) return refusal;
  const { keyId } = checked.caller;
  const verdict = await rates.consume("create", `login ${keyId}`);
  if (verdict && !verdict.isAllowed) return refuseOverRate(verdict);
  const cookie = await login.signInWithKey(keyId, signInHeaders(request));
  return { ok: true, cookie, actor: actorOf({ keyId }), ...(verdict && { headers: rateHeaders(verdict) }) };
}

const signInHeaders = ({ headers }: Request): SignInHeaders => ({
  cookie: headers.get("cookie"),
  userAgent: headers.get("user-agent"),
});

/** `POST /actions/logout`: ends the login of the browser that sent the request, and removes its cookie. */
async function logOut(
  { logins, login, securityLog }: Pick<ApiServices, "logins" | "login" | "securityLog">,
  { caller }: CallOf<"logOut">,
): Promise<Answer> {
  const { loginId } = caller;
  if (loginId !== undefined) {
    await logins.end(loginId);
    securityLog.loginEnded({ actor: actorOf(caller), loginId });
  }
  const headers = { "Set-Cookie": login.clearCookie() };
  return { ok: true, status: 200, body: { success: true }, headers };
}

/** Describes logins for a list. `currentId` is the id of the login of the browser that sent the request. */
export const describeLogins = (logins: readonly Login[], currentId: string | undefined) =>
  logins.map(({ createdAt, lastSeenAt, expiresAt, key: _, ...login }) => ({
    ...login,
    createdAt: createdAt.toISOString(),
    lastSeenAt: lastSeenAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    isCurrent: login.id === currentId,
  }));

export const loginHandlers = {
  listLogins,
  endLogin,
  logOut,
} satisfies Partial<Handlers>;
