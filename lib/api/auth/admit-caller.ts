import { SHARE_ROLES } from "#db/schema/unions.ts";
import { KEY_SCOPES } from "#lib/keys/key-scopes.ts";
import type { Login } from "#lib/logins/logins.ts";
import type { SessionRow } from "#lib/session/store/session-store.ts";
import { type Operation, type OperationAuth, scopeOf } from "../contract/operation.ts";
import { clientOf } from "../http/client-address.ts";
import { type Failure, fail } from "../http/errors.ts";
import { markKnownCaller } from "../http/known-caller.ts";
import { isSameService } from "../http/same-origin.ts";
import { actorOf, visitorActor } from "./actor-of.ts";
import type { AuthServices } from "./auth-services.ts";
import { type Caller, readKey, refuseScope } from "./authenticate.ts";
import { readLiveViewCookie, readShareCookie } from "./cookies.ts";
import { findKnownSession, findSubAgent, unknownSession } from "./known-session.ts";
import { readRequestAccess, readShareToken } from "./share-token.ts";

type AdmissionServices = Pick<
  AuthServices,
  "db" | "authenticate" | "failedAttempts" | "shares" | "securityLog"
> & {
  login: Pick<AuthServices["login"], "readLogin">;
  settings: Pick<AuthServices["settings"], "baseUrl">;
};

export type Admission =
  | {
      ok: true;
      caller: Caller | undefined;
      session: SessionRow | undefined;
      /** Names the share link that a visitor used. Visitors with the same link share a rate limit. */
      visitor?: string;
      /** Names the key or link of a call to a session, as the security log does. */
      actor?: string;
    }
  | Failure;

/**
 * Authenticates the caller of an operation. Checks the scope of the caller's key or the role of the visitor's link, and
 * that the caller may access the session in the path. For a session of another owner, the answer is the same as for a
 * session that does not exist. With `sessionCheck: "handler"`, the handler checks the session of a caller with a key.
 */
export async function admitCaller(
  services: AdmissionServices,
  operation: Operation,
  request: Request,
  params: Record<string, string>,
): Promise<Admission> {
  const { auth } = operation;
  const { headers } = request;
  const isKeyed =
    auth.kind === "key" || (auth.kind === "share" && auth.orKey && readKey(headers) !== undefined);
  if (isKeyed) {
    const checked = await services.authenticate(headers);
    if (!checked.ok) return refuseKey(services, request, checked);
    markKnownCaller(request);
    const refusal = refuseCaller(services, operation, checked.caller, params.sessionId);
    if (refusal) return refusal;
    if (params.sessionId === undefined || operation.sessionCheck === "handler")
      return { ok: true, caller: checked.caller, session: undefined };
    const session = await findKnownSession(services, params.sessionId, checked.caller.ownerId);
    if (!session) return unknownSession();
    const { caller } = checked;
    return refuseControl(operation, session) ?? { ok: true, caller, session, actor: actorOf(caller) };
  }
  if (auth.kind === "none") return { ok: true, caller: undefined, session: undefined };
  // Without a credential, `authenticate` always returns an error, which names the headers for an API key.
  if (auth.kind === "share" && auth.orKey && readToken(auth, headers) === undefined)
    return (await services.authenticate(headers)) as Failure;
  if (!isOwnOrigin(services, request))
    return fail("forbidden", "only the service's own pages may send this request");
  if (auth.kind === "page") return { ok: true, caller: undefined, session: undefined };
  if (auth.kind === "login" || auth.kind === "person")
    return admitLogin(services, operation, request, params);
  const admitted = await admitVisitor(services, operation, auth, request, params.sessionId ?? "");
  if (!admitted.ok || !admitted.session) return admitted;
  if (params.agentId === undefined) return refuseControl(operation, admitted.session) ?? admitted;
  const session = await findSubAgent(services, admitted.session.id, params.agentId);
  return session ? { ...admitted, session } : fail("not_found", "no such sub-agent");
}

/** Refuses a caller whose key lacks the scope that the operation needs, and records the refusal. */
function refuseCaller(
  { securityLog }: AdmissionServices,
  operation: Operation,
  caller: Caller,
  sessionId: string | undefined,
): Failure | undefined {
  const needed = scopeOf(operation);
  if (needed === null) return undefined;
  const refusal = refuseScope(caller, needed);
  if (refusal)
    securityLog.scopeRefused({
      actor: actorOf(caller),
      operation: nameOperation(operation),
      needed,
      sessionId,
    });
  return refusal;
}

/**
 * Refuses every operation except GET if the session in the path is a sub-agent, because the session that delegated to
 * the sub-agent controls it. A sub-agent is deleted together with its root session. Source: `wire.md`, Sub-agents.
 */
function refuseControl({ method }: Operation, { parentSessionId }: SessionRow): Failure | undefined {
  if (method === "GET" || parentSessionId === null) return undefined;
  return fail(
    "conflict",
    `this session is a sub-agent: it can be read, but only the session that delegated to it (${parentSessionId}) controls it`,
  );
}

/**
 * Returns the answer to a request whose key was refused: `refusal`, or a 429 after too many wrong keys. Counts a wrong
 * key as a failed authentication, but not a missing key or an unreachable key store.
 */
export const refuseKey = (
  { failedAttempts }: Pick<AdmissionServices, "failedAttempts">,
  request: Request,
  refusal: Failure,
): Failure =>
  refusal.code === "unauthorized" && readKey(request.headers) !== undefined
    ? failedAttempts.refuse(clientOf(request), refusal)
    : refusal;

/** The owner of sessions that are started on the landing page or with the API key that the service generates. */
export const LOCAL_OWNER = "local";

/** The person who is signed in on the landing page. */
const OPERATOR: Caller = { keyId: "operator", ownerId: LOCAL_OWNER, scopes: KEY_SCOPES };

/**
 * Admits a person who is signed in on the landing page. A person who signed in with an API key may call only operations
 * of the kind `person`, with the scopes of the key and on the sessions of its owner.
 */
async function admitLogin(
  services: AdmissionServices,
  operation: Operation,
  request: Request,
  { sessionId }: Record<string, string>,
): Promise<Admission> {
  const login = await services.login.readLogin(request.headers.get("cookie"));
  if (!login) {
    services.securityLog.operatorRefused({ operation: nameOperation(operation) });
    return fail("unauthorized", "sign in with the link printed where the service was started");
  }
  markKnownCaller(request);
  const caller = callerOf(login);
  if (login.key && operation.auth.kind === "login") {
    services.securityLog.operatorRefused({ operation: nameOperation(operation) });
    return fail("forbidden", "a person who signed in with an API key may not do this; only an operator may");
  }
  const refusal = refuseCaller(services, operation, caller, sessionId);
  if (refusal) return refusal;
  if (sessionId === undefined) return { ok: true, caller, session: undefined };
  const session = await findKnownSession(services, sessionId, caller.ownerId);
  if (!session) return unknownSession();
  return refuseControl(operation, session) ?? { ok: true, caller, session, actor: actorOf(caller) };
}

/** Returns the caller that a signed-in person is: the holder of the person's API key, or the operator. */
export const callerOf = ({ id, key }: Pick<Login, "id" | "key">): Caller => ({
  ...(key ?? OPERATOR),
  loginId: id,
});

/** Reads the secret of a visitor's link from the request's header or cookies. */
const readToken = ({ liveView }: ShareAuth, headers: Headers): string | undefined =>
  readShareToken(headers) ??
  readShareCookie(headers.get("cookie")) ??
  (liveView ? readLiveViewCookie(headers.get("cookie")) : undefined);

type ShareAuth = Extract<OperationAuth, { kind: "share" }>;

async function admitVisitor(
  services: AdmissionServices,
  operation: Operation,
  auth: ShareAuth,
  request: Request,
  sessionId: string,
): Promise<Admission> {
  const { headers } = request;
  if (readToken(auth, headers) === undefined) return unknownSession();
  const session = await findKnownSession(services, sessionId);
  const access = session && (await readRequestAccess(services, sessionId, headers, auth.liveView ?? false));
  if (!session || !access) return services.failedAttempts.refuse(clientOf(request), unknownSession());
  markKnownCaller(request);
  const lacksRole = SHARE_ROLES.indexOf(access.role) < SHARE_ROLES.indexOf(auth.role);
  const lacksOwnLink = auth.ownLink && access.linkId !== null;
  if (lacksRole || lacksOwnLink)
    services.securityLog.scopeRefused({
      actor: visitorActor(access),
      operation: nameOperation(operation),
      needed: lacksRole ? auth.role : "shareUrl",
      sessionId,
    });
  if (lacksRole) return fail("forbidden", `this share link may ${access.role}, not ${auth.role}`);
  if (lacksOwnLink) return fail("forbidden", "only the session's own shareUrl manages its share links");
  const visitor = `${sessionId}/${access.linkId ?? "shareUrl"}`;
  return { ok: true, caller: undefined, session, visitor, actor: visitorActor(access) };
}

/** Returns the name of an operation for the security log. */
const nameOperation = ({ method, path }: Operation): string => `${method} ${path}`;

/**
 * Whether a page of the service may have sent the request. Browsers send the `Origin` header with every write, and
 * pages cannot forge it. A GET or HEAD without the header is accepted unless `Sec-Fetch-Site` names another origin or site.
 */
function isOwnOrigin(services: AdmissionServices, request: Request): boolean {
  const origin = request.headers.get("origin");
  if (origin !== null) return isSameService(origin, services.settings.baseUrl);
  return (
    (request.method === "GET" || request.method === "HEAD") &&
    !["cross-site", "same-site"].includes(request.headers.get("sec-fetch-site") ?? "")
  );
}
