import { hashBody } from "#lib/session/canonical-json.ts";
import { type Admission, admitCaller } from "../auth/admit-caller.ts";
import { findKnownSession, unknownSession } from "../auth/known-session.ts";
import { ERROR_STATUS } from "../contract/error-codes.ts";
import type { Operation } from "../contract/operation.ts";
import { FILE_PATH } from "../contract/paths.ts";
import type { Answer, Call, Handler } from "../handlers/handler.ts";
import type { ApiServices } from "../handlers/services.ts";
import type { ReadBody } from "../http/body/body-reader.ts";
import { type Failure, fail, failureResponse } from "../http/errors.ts";
import { componentOf, failureOf } from "../http/failure-of.ts";
import { rateHeaders, refuseOverRate } from "../http/rates/rate-limiter.ts";
import { formatPath, type Validated, validate } from "../http/validate.ts";

/** Services for the steps that run before the handler, such as authentication and rate limiting, in all operations. */
export type RouteServices = Pick<
  ApiServices,
  "db" | "authenticate" | "failedAttempts" | "shares" | "rates" | "bodies" | "logger" | "securityLog"
> & { login: Pick<ApiServices["login"], "readLogin">; settings: Pick<ApiServices["settings"], "baseUrl"> };

const BODY_BYTES_MAX = 64 * 1024;
/**
 * Matches every id and every file name of a script. If a path parameter does not match, the answer is 404, and the
 * handler does not run.
 */
const ID = /^[\w-]{1,100}(@\d{1,9})?(\.js)?$/;
/** The path of a file is no id: its handler checks it. */
const isMalformed = ([name, id]: [string, string]): boolean => name !== FILE_PATH && !ID.test(id);

/**
 * Serves one operation: authenticates the caller, reads and validates the body and the query, counts the call against
 * the rate limit, runs the handler, and encodes the answer with its schema. A refused call changes no stored data. An
 * unexpected error is answered with 404 if the session no longer exists, with 503 if the database is unavailable, and
 * otherwise with 500 without any detail.
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
    const fields = { err: error, method: request.method, path: new URL(request.url).pathname };
    if (request.signal.aborted) {
      // Below the default level of the log, because clients decide how often it happens.
      logger.debug(fields, "a client disconnected before its request was answered");
      return refuse(operation, failureOf(error));
    }
    if (await isSessionGone(services, params)) {
      logger.info(fields, "a session was removed before a request to it was answered");
      return refuse(operation, unknownSession());
    }
    logger.error({ ...fields, ...componentOf(error) }, "a request failed");
    return refuse(operation, failureOf(error));
  }
}

/** Whether the session in the path no longer exists. Its removal may then have caused the failure. */
async function isSessionGone({ db }: RouteServices, { sessionId }: Record<string, string>): Promise<boolean> {
  if (sessionId === undefined) return false;
  const session = findKnownSession({ db }, sessionId);
  return session.then(
    (found) => found === undefined,
    () => false,
  );
}

/** Returns the response for a refusal. The response has no envelope if the operation lists the status in `bare`. */
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
  const admitted = await admitCaller(services, operation, request, params);
  if (!admitted.ok) return admitted;
  // For paths below /s/:sessionId/agents/:agentId, `admitted.session` is the sub-agent's session. The handler gets the
  // id of this session.
  const handlerParams = admitted.session ? { ...params, sessionId: admitted.session.id } : params;
  const malformed = Object.entries(params).find(isMalformed);
  if (malformed) return fail("not_found", `no such ${malformed[0].replace("Id", "")}`);
  const body = await readBody(services, operation, request, senderOf(admitted, params));
  if (!body.ok) return body;
  try {
    const query = readQuery(operation, request);
    if (!query.ok) return query;
    const parts = {
      request,
      params: handlerParams,
      body: body.value,
      hashBody: body.hash,
      query: query.value,
    };
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
  // Annotations are limited per session. Visitors of the page and callers of the webhook share this limit.
  const visitor = operation.rate === "annotate" ? undefined : link;
  const subject = visitor ?? call.caller?.keyId ?? call.params.sessionId ?? "anybody";
  const verdict = operation.rate && (await services.rates.consume(operation.rate, subject));
  if (verdict && !verdict.isAllowed) return refuseOverRate(verdict);
  // The cast holds because the previous steps have checked each part of the call as the operation defines it.
  const answer = await handler(services, call as Call<Of>);
  if (verdict && !(answer instanceof Response))
    answer.headers = { ...rateHeaders(verdict), ...answer.headers };
  return answer;
}

type CheckedCall = Extract<Admission, { ok: true }> &
  Pick<Call, "request" | "params" | "query" | "body" | "hashBody">;

const NO_BODY = { ok: true, value: undefined, hash: () => hashBody(null), release() {} } satisfies ReadBody;

/**
 * Names who sends the body of a request. The bodies of a session's visitors count together, apart from those of the
 * session's owner. Undefined without a credential.
 */
const senderOf = (
  { caller, visitor }: Extract<Admission, { ok: true }>,
  { sessionId }: Record<string, string>,
) => (caller ? `owner ${caller.ownerId}` : visitor === undefined ? undefined : `session ${sessionId}`);

async function readBody(
  { bodies }: RouteServices,
  operation: Operation,
  request: Request,
  owner: string | undefined,
): Promise<ReadBody> {
  const maxBytes = operation.bodyBytesMax ?? BODY_BYTES_MAX;
  if (operation.takesBytes) return bodies.readBytes(request, { maxBytes, owner });
  if (!operation.body) return NO_BODY;
  if (operation.isBodyOptional && isWithoutBody(request)) {
    const empty = validate(operation.body, {}, "body");
    return empty.ok ? { ...NO_BODY, ...empty } : empty;
  }
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? "";
  if (operation.requiresJsonType && !/^application\/(?:[\w.+-]+\+)?json$/.test(type))
    return fail("unsupported_media_type", "content-type: must be application/json");
  return bodies.read(request, { maxBytes, owner, operation });
}

const isWithoutBody = ({ headers }: Request): boolean =>
  !headers.has("content-type") &&
  !headers.has("transfer-encoding") &&
  Number(headers.get("content-length") ?? 0) === 0;

function readQuery(operation: Operation, request: Request): Validated<Record<string, unknown>> {
  if (!operation.query) return { ok: true, value: {} };
  const values = Object.fromEntries(new URL(request.url).searchParams);
  // Database columns cannot store NUL characters. Bodies that contain them are refused too.
  const [flawed] = Object.entries(values).find(([, value]) => value.includes("\0")) ?? [];
  if (flawed !== undefined)
    return fail("invalid_request", `${formatPath([flawed], "query")}: must not contain NUL characters`);
  return validate(operation.query, values, "query");
}
