import { z } from "zod";
import { BROWSER_STATUSES } from "#db/schema/unions.ts";
import { shownBrowserFields } from "#lib/events/event-schemas.ts";
import { count, pageUrl, runId, sessionId, timestamp } from "#lib/events/wire-values.ts";
import { defineOperation, KEY_AUTH, type Operation, READER_AUTH } from "../operation.ts";
import { success } from "../schemas/answers.ts";
import { httpUrl } from "../schemas/fields.ts";

/** The status of a session's browser. Source: specification, Browser status; `wire.md`, Browser. */
const browserStatusSchema = z
  .object({
    status: z.enum(BROWSER_STATUSES).meta({
      description:
        "`idle`: the session has not used a browser yet. `creating`: a browser starts, or the session waits for one. `ready`: the browser runs. `expired`: the browser was closed, for example because it was idle. `error`: the browser could not start or crashed. After `expired` and `error`, the next use starts a browser again.",
      examples: ["ready"],
    }),
    sessionId: sessionId
      .nullable()
      .describe(
        "Id of the session that the browser belongs to. For a sub-agent that shares its parent's browser, the id of the parent. It is set even if the session has not used a browser yet; null only if the session is removed while its status is read.",
      ),
    liveViewUrl: z
      .string()
      .nullable()
      .meta({
        description:
          "Absolute URL of a read-only page with only the live view. Anyone with the link can open it. Null unless `status` is `ready`. Revoking all share links replaces it.",
        examples: [
          "https://agents.example.com/s/ses_xdbqydi2z2jnnberubbghcrn/live?key=JdGm7kq0-bTqk2wVYv3cE8rN1xLh5uPa",
        ],
      }),
    desiredUrl: shownBrowserFields.desiredUrl,
    lastNavigatedUrl: pageUrl(
      "The last page that the browser reached; null if it has reached none yet. After a successful retarget, this is the requested URL, even if that URL redirects. So a client can poll until this field equals the requested URL. When a retarget or a browser start begins to load the URL that is already in this field, the field is set to null until the browser has reached the page again.",
    ).nullable(),
    currentUrl: shownBrowserFields.currentUrl,
    lastError: shownBrowserFields.lastError,
    restartNotice: shownBrowserFields.restartNotice,
  })
  .meta({ id: "BrowserStatus" });

/**
 * Body of a request to navigate the browser, for the API reference. The handler validates the body, because the
 * specification defines the exact error messages. Source: specification, POST /api/sessions/:sessionId/browser.
 */
const retargetSchema = z
  .object({ url: httpUrl.meta({ description: "URL to navigate to." }) })
  .meta({ id: "Retarget" });

const retargetAcceptedSchema = z
  .object({
    accepted: z.literal(true),
    url: pageUrl("The requested URL."),
    statusUrl: z.string().meta({
      description: "Path to poll for the browser's status.",
      examples: ["/api/sessions/ses_xdbqydi2z2jnnberubbghcrn/browser"],
    }),
  })
  .meta({
    id: "RetargetAccepted",
    description:
      "The retarget was accepted, but the navigation is not complete yet. Poll the browser's status.",
  });

const recordedPictureSchema = z
  .object({
    id: z.string().meta({ examples: ["pic_q7nxw3zkbd2mtvcyh5rp4jga"] }),
    runId: runId
      .nullable()
      .describe(
        "The run whose call left the page like this. Null for the page before the first call of a turn.",
      ),
    callId: z
      .string()
      .nullable()
      .meta({ description: "The tool call; null with `runId`.", examples: [null] }),
    url: pageUrl("The page. At most 2,000 characters."),
    title: z
      .string()
      .meta({ description: "Title of the page. At most 200 characters.", examples: ["Checkout"] }),
    sizeBytes: count,
    takenAt: timestamp,
  })
  .meta({ id: "RecordedPicture" });

const recordingSchema = z
  .object({ success, data: z.array(recordedPictureSchema).describe("Oldest first, at most 500.") })
  .meta({ id: "Recording", description: "The recording of a session's browser." });

export const browserOperations = {
  readBrowser: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/browser",
    summary: "Read the browser's status",
    auth: KEY_AUTH,
    errors: ["forbidden"],
    rate: "poll",
    answers: { 200: browserStatusSchema },
  }),
  retargetBrowser: defineOperation({
    method: "POST",
    path: "/api/sessions/:sessionId/browser",
    summary: "Retarget the live browser",
    description:
      "A 202 means that the retarget is accepted. Poll the browser's status until `lastNavigatedUrl` equals `url`, or until `lastError` says why the navigation was refused. If no browser runs, one is started first, which can take about 30 s. A session with `browser: false` returns 409.",
    auth: KEY_AUTH,
    body: z.unknown(),
    bodyShownAs: retargetSchema,
    bodyBytesMax: 64 * 1024,
    rate: "poll",
    errors: ["forbidden", "conflict"],
    answers: { 202: retargetAcceptedSchema },
    bare: { 400: "url is required" },
  }),
  readPagePicture: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/live/picture",
    summary: "Read the last screenshot of the page",
    description:
      "Returns the screenshot that was taken when the browser last became idle or closed. The session page shows it while no browser runs. Returns 404 if there is no screenshot.",
    auth: { ...READER_AUTH, liveView: true },
    answers: { 200: "stream" },
    media: { 200: ["image/jpeg"] },
    answerHeaders: { 200: ["Cache-Control"] },
  }),
  listRecordedPictures: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/recording",
    summary: "List the pictures of the browser's recording",
    description:
      "A picture is taken of the page as each call of the agent that may change it has left it, and of the page before the first call of a turn. A picture that looks like the one before is left out. At most 500 pictures are kept, within a budget of the operator (`RECORDING_MAX_MB`); older ones are thinned out.",
    auth: READER_AUTH,
    rate: "poll",
    answers: { 200: recordingSchema },
  }),
  readRecordedPicture: defineOperation({
    method: "GET",
    path: "/api/sessions/:sessionId/recording/:pictureId",
    summary: "Read a picture of the browser's recording",
    auth: READER_AUTH,
    answers: { 200: "stream", 304: "stream" },
    media: { 200: ["image/jpeg"] },
    answerHeaders: { 200: ["ETag", "Cache-Control"], 304: ["ETag", "Cache-Control"] },
  }),
} as const satisfies Record<string, Operation>;
