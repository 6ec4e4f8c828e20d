import type { Login } from "#lib/logins/logins.ts";
import { actorOf } from "../auth/actor-of.ts";
import { fail } from "../http/errors.ts";
import type { Answer } from "../operations/handler.ts";
import type { ApiServices } from "../services.ts";
import type { CallOf } from "./handler.ts";

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

/** `POST /actions/logout`: ends the login of the browser that sent the request, and removes its cookie. */
export async function logOut(
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
