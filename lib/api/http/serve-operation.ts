import { SHARE_ROLES } from "#db/schema/unions.ts";
import { KEY_SCOPES } from "#lib/keys/key-scopes.ts";
import { hashBody } from "#lib/session/canonical-json.ts";
import type { SessionRow } from "#lib/session/session-store.ts";
import { type Caller, readKey, refuseScope } from "../auth/authenticate.ts";
import { readLiveViewCookie, readShareCookie } from "../auth/cookies.ts";
import { readVisit } from "../auth/entrance.ts";
import { type Operation, type OperationAuth, scopeOf } from "../contract/operation.ts";
import type { Call } from "../operations/call.ts";
import { findKnownSession, unknownSession } from "../operations/known-session.ts";
import type { ApiServices } from "../services.ts";
import type { ReadBody } from "./body/body-reader.ts";
import { ERROR_STATUS, type Failure, fail, failureResponse } from "./errors.ts";
import { failureOf } from "./failure-of.ts";
import { rateHeaders } from "./rates/rate-limiter.ts";
import { isSameService } from "./same-origin.ts";
import { formatPath, type Validated, validate } from "./validate.ts";

/** A handler's answer: a value that is encoded through the contract, a refusal, or a response of its own (streams). */
export type Answer =
  | { ok: true; status: number; body: unknown; headers?: Record<string, string> }
  | Failure
  | Response;

/** Serves an operation, given what its shared steps have checked. */
export type Handler<Of extends Operation = Operation, Services = ApiServices> = (
  services: Services,
  call: Call<Of>,
) => Promise<Answer>;

/** What the shared steps before a handler work with. */
export type RouteServices = Pick<
  ApiServices,
  "db" | "authenticate" | "shares" | "login" | "rates" | "bodies" | "logger"
> & { settings: Pick<ApiServices["settings"], "baseUrl"> };

const BODY_BYTES_MAX = 64 * 1024;
/** What any id of ours looks like; anything else names nothing, and need not be looked up. */
const ID = /^[\w-]{1,100}$/;

/**
 * Serves one operation: authentication, body cap, strict JSON, validation, rate limit, the handler, and the answer
 * encoded through its schema. A refusal changes nothing; a throw is our fault and answers 500 without a detail, or 503
 * where the database is away.
 */
export async function serveOperation<Of extends Operation, Services extends RouteServices>(
  services: Services,
  operation: Of,
  handler: Handler<Of, Services>,
  request: Request,
  params: Record<string, string>,
): Promise<Response> {
  try {
    const answer = await answerCall(services, operation, handler, request, params);
    if (answer instanceof Response) return answer;
    if (!answer.ok) return refuse(operation, answer);
    const schema = operation.answers[answer.status];
    if (!schema || schema === "stream") throw new Error(`the contract has no answer ${answer.status} here`);
    return Response.json(schema.parse(answer.body), { status: answer.status, headers: answer.headers ?? {} });
  } catch (error) {
    const { logger } = services;
    const told = { err: error, method: request.method, path: new URL(request.url).pathname };
    if (await isSessionGone(services, params)) {
      logger.info(told, "a session was removed before a request to it was answered");
      return refuse(operation, unknownSession());
    }
    if (request.signal.aborted) logger.info(told, "a client went before it was answered");
    else logger.error(told, "a request failed");
    return refuse(operation, failureOf(error));
  }
}

/** Whether a failure may be that of a session that somebody removed meanwhile. */
async function isSessionGone({ db }: RouteServices, { sessionId }: Record<string, string>): Promise<boolean> {
  if (sessionId === undefined) return false;
  const session = findKnownSession({ db }, sessionId);
  return session.then(
    (found) => found === undefined,
    () => false,
  );
}

/** A refusal in the envelope, or bare where the specification prints this operation's so. */
function refuse(operation: Operation, failure: Failure): Response {
  const sentence = operation.bare?.[ERROR_STATUS[failure.code]];
  return sentence === undefined
    ? failureResponse(failure)
    : failureResponse({ ...failure, error: sentence }, { bare: true });
}

async function answerCall<Of extends Operation, Services extends RouteServices>(
  services: Services,
  operation: Of,
  handler: Handler<Of, Services>,
  request: Request,
  params: Record<string, string>,
): Promise<Answer> {
  const admitted = await admit(services, operation, request, params);
  if (!admitted.ok) return admitted;
  const stray = Object.entries(params).find(([, id]) => !ID.test(id));
  if (stray) return fail("not_found", `no such ${stray[0].replace("Id", "")}`);
  const body = await readBody(services, operation, request);
  if (!body.ok) return body;
  try {
    const query = readQuery(operation, request);
    if (!query.ok) return query;
    const parts = { request, params, body: body.value, hashBody: body.hash, query: query.value };
    return await answerChecked(services, operation, handler, { ...parts, ...admitted });
  } finally {
    body.release();
  }
}

/** Counts the call against its rate limit, and runs the handler. */
async function answerChecked<Of extends Operation, Services extends RouteServices>(
  services: Services,
  operation: Of,
  handler: Handler<Of, Services>,
  { ok: _, visitor: link, ...call }: CheckedCall,
): Promise<Answer> {
  // Annotations are limited per session, whichever way they come.
  const visitor = operation.rate === "annotate" ? undefined : link;
  const subject = visitor ?? call.caller?.keyId ?? call.params.sessionId ?? "anybody";
  const verdict = operation.rate && (await services.rates.take(operation.rate, subject));
  if (verdict && !verdict.isAllowed)
    return fail(
      "rate_limited",
      `too many requests; try again in ${Math.max(1, verdict.resetSeconds)} s`,
      rateHeaders(verdict),
    );
  // The steps above followed the operation, so that each part of the call has the type that the operation gives it.
  const answer = await handler(services, call as Call<Of>);
  if (verdict && !(answer instanceof Response))
    answer.headers = { ...rateHeaders(verdict), ...answer.headers };
  return answer;
}

type Admission =
  | {
      ok: true;
      caller: Caller | undefined;
      session: SessionRow | undefined;
      /** The share link of a visitor, by which visitors are counted. */
      visitor?: string;
    }
  | Failure;

/** Who is calling, and whether the session of the path is theirs. Another owner's session is as unknown as none. */
async function admit(
  services: RouteServices,
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
    if (!checked.ok) return checked;
    const refusal = refuseScope(checked.caller, scopeOf(operation));
    if (refusal) return refusal;
    if (params.sessionId === undefined || operation.sessionCheck === "handler")
      return { ok: true, caller: checked.caller, session: undefined };
    const session = await findKnownSession(services, params.sessionId, checked.caller.ownerId);
    return session ? { ok: true, caller: checked.caller, session } : unknownSession();
  }
  if (auth.kind === "none") return { ok: true, caller: undefined, session: undefined };
  if (!isOwnOrigin(services, request)) return fail("forbidden", "this is for the service's own pages");
  if (auth.kind === "login") {
    const isSignedIn = services.login.isSignedIn(headers.get("cookie"));
    return isSignedIn
      ? { ok: true, caller: OPERATOR, session: undefined }
      : fail("unauthorized", "sign in with the link printed where the service was started");
  }
  return admitVisitor(services, auth, request, params.sessionId ?? "");
}

/** Owner of what is started on the landing page and with the generated key. */
export const LOCAL_OWNER = "local";

/** Whoever is signed in on the landing page. */
const OPERATOR: Caller = { keyId: "operator", ownerId: LOCAL_OWNER, scopes: KEY_SCOPES };

async function admitVisitor(
  services: RouteServices,
  auth: Extract<OperationAuth, { kind: "share" }>,
  request: Request,
  sessionId: string,
): Promise<Admission> {
  const cookies = request.headers.get("cookie");
  const { liveView = false } = auth;
  const token = readShareCookie(cookies) ?? (liveView ? readLiveViewCookie(cookies) : undefined);
  // Without a key this is always a refusal; its sentence names the headers that take one.
  if (token === undefined && auth.orKey) return (await services.authenticate(request.headers)) as Failure;
  if (token === undefined) return unknownSession();
  const session = await findKnownSession(services, sessionId);
  const access = session && (await readVisit(services, sessionId, cookies, liveView));
  if (!session || !access) return unknownSession();
  if (SHARE_ROLES.indexOf(access.role) < SHARE_ROLES.indexOf(auth.role))
    return fail("forbidden", `this share link may ${access.role}, not ${auth.role}`);
  if (auth.ownLink && access.linkId !== null)
    return fail("forbidden", "only the session's own shareUrl manages its share links");
  const visitor = `${sessionId}/${access.linkId ?? "shareUrl"}`;
  return { ok: true, caller: undefined, session, visitor };
}

/** A page's own request: browsers send `Origin` with every write, and never another site's as ours. */
function isOwnOrigin(services: RouteServices, request: Request): boolean {
  const origin = request.headers.get("origin");
  if (origin !== null) return isSameService(origin, services.settings.baseUrl);
  return (
    request.method === "GET" &&
    !["cross-site", "same-site"].includes(request.headers.get("sec-fetch-site") ?? "")
  );
}

type CheckedCall = Extract<Admission, { ok: true }> &
  Pick<Call, "request" | "params" | "query" | "body" | "hashBody">;

const NO_BODY: ReadBody = { ok: true, value: undefined, hash: () => hashBody(null), release() {} };

async function readBody(
  { bodies }: RouteServices,
  operation: Operation,
  request: Request,
): Promise<ReadBody> {
  if (!operation.body) return NO_BODY;
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (operation.requiresJsonType && !/^application\/(?:[\w.+-]+\+)?json$/.test(type))
    return fail("unsupported_media_type", "content-type: must be application/json");
  return bodies.read(request, operation.bodyBytesMax ?? BODY_BYTES_MAX, operation);
}

function readQuery(operation: Operation, request: Request): Validated<Record<string, unknown>> {
  if (!operation.query) return { ok: true, value: {} };
  const given = Object.fromEntries(new URL(request.url).searchParams);
  // No column holds one; in a body it is refused too.
  const [flawed] = Object.entries(given).find(([, value]) => value.includes("\0")) ?? [];
  if (flawed !== undefined)
    return fail("invalid_request", `${formatPath([flawed], "query")}: must not contain NUL characters`);
  return validate(operation.query, given, "query");
}
