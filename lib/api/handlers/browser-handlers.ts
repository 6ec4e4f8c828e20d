import { findAgent } from "#lib/agents/agent-store.ts";
import type { BrowserOpening, PastedItem } from "#lib/browser/browser-service.ts";
import {
  hasRecordedPicture,
  readRecordedPicture as readPicture,
  listRecordedPictures as readRecording,
} from "#lib/browser/store/recording-store.ts";
import { readTypedAddress } from "#lib/page/actions/read-typed-address.ts";
import { findSession } from "#lib/session/store/session-store.ts";
import { readHttpUrl } from "#lib/text/http-url.ts";
import { MIB } from "../contract/operation.ts";
import { browserPath } from "../contract/paths.ts";
import { namesTag } from "../http/entity-tag.ts";
import { fail } from "../http/errors.ts";
import type { Answer, CallOf, Handlers } from "./handler.ts";
import type { ApiServices } from "./services.ts";

/**
 * `GET /api/sessions/:sessionId/browser`: returns the browser's status without an envelope. `liveViewUrl`
 * is absolute, and gets its token only here and in the list of sub-agents. The browser service does not know the token, so no event, log
 * or prompt can contain the token.
 */
async function readBrowser(
  { db, browser, shares, settings }: ApiServices,
  { session }: CallOf<"readBrowser">,
): Promise<Answer> {
  // For a sub-agent that shares its parent's page, the status is that of the parent's browser, because the sub-agent
  // has no browser of its own.
  const agent = session.parentSessionId === null ? undefined : await findAgent(db, session.id);
  const shown = agent?.browser === "shared" ? agent.browserSessionId : null;
  const owner = shown === null ? session : ((await findSession(db, shown)) ?? session);
  const record = await browser.readStatus(owner.id);
  const liveViewUrl =
    record.liveViewUrl && settings.baseUrl + shares.liveViewPath(owner.id, owner.shareRevocation);
  return { ok: true, status: 200, body: { ...record, liveViewUrl } };
}

/** `GET /api/sessions/:sessionId/live/picture`: answers with the last picture of the session's page. */
const readPagePicture = (services: ApiServices, { params }: CallOf<"readPagePicture">): Promise<Answer> =>
  sendPicture(services, params.sessionId);

const PICTURE_HEADERS = {
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
  "X-Content-Type-Options": "nosniff",
};

/** Answers with the last picture of a session's page. */
export async function sendPicture({ browser }: ApiServices, sessionId: string): Promise<Answer> {
  const picture = await browser.readPicture(sessionId);
  if (!picture) return fail("not_found", "no picture of this session's page is stored");
  return new Response(Buffer.from(picture.bytes), {
    headers: {
      "Content-Type": picture.mediaType,
      ...PICTURE_HEADERS,
      "Cache-Control": "private, no-cache",
    },
  });
}

/** `GET …/recording`: lists the pictures of the browser's recording. */
async function listRecordedPictures(
  { db }: ApiServices,
  { params }: CallOf<"listRecordedPictures">,
): Promise<Answer> {
  const pictures = await readRecording(db, params.sessionId);
  const data = pictures.map(({ takenAt, ...picture }) => ({ ...picture, takenAt: takenAt.toISOString() }));
  return { ok: true, status: 200, body: { success: true, data } };
}

/**
 * `GET …/recording/:pictureId`: answers with a picture. Browsers keep it, but ask each time whether they may still show
 * it, so that a revoked link ends the access.
 */
async function readRecordedPicture(
  { db }: ApiServices,
  { params, request }: CallOf<"readRecordedPicture">,
): Promise<Answer> {
  // A picture never changes, so its id is its entity tag.
  const caching = { ETag: `"${params.pictureId}"`, "Cache-Control": "private, no-cache" };
  if (namesTag(request.headers.get("if-none-match"), caching.ETag)) {
    if (await hasRecordedPicture(db, params.sessionId, params.pictureId))
      return new Response(null, { status: 304, headers: caching });
  }
  const bytes = await readPicture(db, params.sessionId, params.pictureId);
  if (!bytes) return fail("not_found", "the recording of this session has no such picture");
  return new Response(Buffer.from(bytes), {
    headers: { "Content-Type": "image/jpeg", ...PICTURE_HEADERS, ...caching },
  });
}

/**
 * `POST /api/sessions/:sessionId/browser`: navigates the browser to another URL. The 400 answers have no envelope, as
 * the specification defines. Source: specification, POST /api/sessions/:sessionId/browser; `wire.md`, Browser.
 */
async function retargetBrowser(
  services: ApiServices,
  { params, session, body }: CallOf<"retargetBrowser">,
): Promise<Answer> {
  const { sessionId } = params;
  const url = readUrl(body);
  if (!url.ok) return Response.json({ error: url.error }, { status: 400 });
  if (!session.capabilities.browser)
    return fail("conflict", "capabilities.browser: this session has no browser");
  await services.browser.retarget(sessionId, url.value);
  return {
    ok: true,
    status: 202,
    body: { accepted: true, url: url.value, statusUrl: browserPath(sessionId) },
  };
}

const RETRY_AFTER = { "Retry-After": "5" };

type UrlRead = { ok: true; value: string } | { ok: false; error: string };

function readUrl(body: unknown): UrlRead {
  const url = typeof body === "object" && body !== null && "url" in body ? body.url : undefined;
  if (url === undefined || url === null || url === "") return { ok: false, error: "url is required" };
  if (typeof url !== "string" || url.length > 8_192 || !readHttpUrl(url))
    return { ok: false, error: "url must be an http(s) URL" };
  return { ok: true, value: url };
}

/**
 * Handles the address bar of the live view: opens an address that a person typed, moves through the page's history, or
 * starts the browser. Like all input, an address or a move is refused while another connection has control. While no
 * connection has control, both are refused if the agent is working.
 */
async function steerBrowser(
  services: ApiServices,
  { params, session, body }: CallOf<"steerBrowser">,
): Promise<Answer> {
  const { sessionId } = params;
  if (!session.capabilities.browser)
    return fail("conflict", "capabilities.browser: this session has no browser");
  // Starting the browser does not change the page, so the person needs no control for it.
  if ("action" in body && body.action === "open")
    return answerOpening(await services.browser.open(sessionId));
  const holder = services.control.holderOf(sessionId);
  if (holder === undefined && session.activeRunId !== null)
    return fail("conflict", "the agent has control of the browser; take control first");
  if (holder !== undefined && holder !== body.connectionId)
    return fail("conflict", "someone else has control of the browser; take control first");
  if (holder !== undefined) {
    const kept = services.browser.control(sessionId, { type: "keep", connectionId: holder });
    kept.catch((error: unknown) => services.logger.debug({ err: error, sessionId }, "control was not kept"));
  }
  if ("action" in body) return answerOpening(await services.browser.history(sessionId, body.action));
  const typed = readTypedAddress(body.url);
  if (!typed.isAddress) return fail("invalid_request", `url: ${typed.problem}`);
  await services.browser.retarget(sessionId, typed.url);
  return ACCEPTED;
}

const ACCEPTED: Answer = { ok: true, status: 202, body: { success: true } };

/**
 * Answers an attempt to open the browser. Waiting for a free browser counts as success, because the page then shows the
 * position in the queue.
 */
const answerOpening = (opening: BrowserOpening): Answer =>
  opening.state === "failed" ? fail("unavailable", opening.reason, RETRY_AFTER) : ACCEPTED;

const PASTED_BYTES_MAX = 10 * MIB;

/** Pastes what a person has copied on their own machine into the live browser, if their connection has control. */
async function pasteIntoPage(
  { control, browser }: ApiServices,
  { params, session, body }: CallOf<"pasteIntoPage">,
): Promise<Answer> {
  const { sessionId } = params;
  if (!session.capabilities.browser)
    return fail("conflict", "capabilities.browser: this session has no browser");
  if (control.holderOf(sessionId) !== body.connectionId)
    return fail("conflict", "connectionId: this connection does not have control of the browser");
  const items = body.items.map(
    (item): PastedItem =>
      "text" in item
        ? { kind: "text", type: item.type, text: item.text }
        : { kind: "file", type: item.type, name: item.name, bytes: Buffer.from(item.base64, "base64") },
  );
  const bytes = items.reduce((sum, item) => sum + (item.kind === "file" ? item.bytes.byteLength : 0), 0);
  if (bytes > PASTED_BYTES_MAX) return fail("invalid_request", "items: the files must not exceed 10 MiB");
  const outcome = await browser.paste(sessionId, body.connectionId, items);
  return outcome.isDone
    ? { ok: true, status: 200, body: { success: true } }
    : fail("conflict", outcome.reason);
}

export const browserHandlers = {
  readBrowser,
  readPagePicture,
  listRecordedPictures,
  readRecordedPicture,
  retargetBrowser,
  steerBrowser,
  pasteIntoPage,
} satisfies Partial<Handlers>;
