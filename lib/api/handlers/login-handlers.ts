import type { Login } from "#lib/logins/logins.ts";
import { actorOf } from "../auth/actor-of.ts";
import type { logInOperation } from "../contract/operations/logins.ts";
import { clientOf } from "../http/client-address.ts";
import { fail } from "../http/errors.ts";
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

/**
 * `POST /login`: signs in with the token of a login link, and sets the cookie of the login. A wrong, used or expired
 * token is a failed authentication of the client.
 */
export async function logIn(
  { login, securityLog, failedAttempts }: Pick<ApiServices, "login" | "securityLog" | "failedAttempts">,
  { request, body }: Call<typeof logInOperation>,
): Promise<Answer> {
  const { headers } = request;
  const cookie = await login.redeem(body.token, {
    cookie: headers.get("cookie"),
    userAgent: headers.get("user-agent"),
  });
  if (cookie === undefined) {
    securityLog.loginFailed({});
    return failedAttempts.refuse(
      clientOf(request),
      fail("unauthorized", "token: was used before, has expired, or is wrong; get a new login link"),
    );
  }
  securityLog.loginSucceeded({ actor: "operator" });
  const answerHeaders = { "Set-Cookie": cookie, "Cache-Control": "no-store" };
  return { ok: true, status: 200, body: { success: true }, headers: answerHeaders };
}

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
  logins.map(({ createdAt, lastSeenAt, expiresAt, ...login }) => ({
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
