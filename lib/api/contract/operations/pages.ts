import { z } from "zod";
import {
  AS_FOR_KEYS,
  DRIVER_AUTH,
  defineOperation,
  MIB,
  type Operation,
  VISITOR_AUTH,
} from "../operation.ts";
import { listOf, settledSchema, stoppedSchema } from "../schemas/answers.ts";
import { nameUpTo } from "../schemas/fields.ts";
import { listQuerySchema } from "../schemas/queries.ts";
import { deliveryRecordSchema, redeliveredSchema } from "./callbacks.ts";
import { elicitationAnswer } from "./elicitations.ts";
import { followUp } from "./follow-ups.ts";
import { inboxListing, inboxSettlement } from "./inbox.ts";
import { queuedEdit, queueSchema } from "./queue.ts";
import { annotationSubmission } from "./records.ts";
import { sessionCreation } from "./sessions.ts";
import {
  ownShareLinksSchema,
  shareLinkCreation,
  shareLinkRevokedSchema,
  sharesRevokedSchema,
} from "./share-links.ts";

const OF_SHARE_OWNERS = `${AS_FOR_KEYS} Only visitors who opened the session's own \`shareUrl\` may call it; visitors with a created share link cannot manage links.`;

const SHARE_OWNER_AUTH = { ...DRIVER_AUTH, ownLink: true } as const;

const connectionId = nameUpTo(100)
  .optional()
  .meta({
    description:
      "Id of the visitor's live connection, from the connection's `ready` frame. Omit if the visitor has no live connection.",
    examples: ["con_k2m4zqvbwcnr7xye3hjpdtas"],
  });

/** Operations of the landing page and the session page. They authenticate by cookie and refuse API keys. */
export const pageOperations = {
  startSession: defineOperation({
    method: "POST",
    path: "/actions/sessions",
    summary: "Start a session from the landing page",
    description:
      "The same as `POST /api/session`, with the login cookie as the credential. The first turn counts as started by a person (`origin: person`), and `source` is always `web`.",
    auth: { kind: "person" },
    ...sessionCreation,
  }),
  postPersonMessage: defineOperation({
    method: "POST",
    path: "/s/:sessionId/actions/messages",
    summary: "Post a message from the session page",
    description: `${AS_FOR_KEYS} The turn counts as started by a person.`,
    auth: DRIVER_AUTH,
    rate: "act",
    ...followUp,
  }),
  annotateAsPerson: defineOperation({
    method: "POST",
    path: "/s/:sessionId/actions/annotations",
    summary: "Annotate from the session page",
    description:
      "Takes the same body as the annotation webhook. Requires a share cookie with at least the role `comment`. An annotation never starts a turn.",
    auth: { kind: "share", role: "comment", orKey: false },
    requiresJsonType: true,
    ...annotationSubmission,
  }),
  cancelPersonTurn: defineOperation({
    method: "POST",
    path: "/s/:sessionId/actions/cancel",
    summary: "Stop the turn from the session page",
    description: AS_FOR_KEYS,
    auth: DRIVER_AUTH,
    rate: "act",
    answers: { 202: stoppedSchema },
  }),
  answerPersonElicitation: defineOperation({
    method: "POST",
    path: "/s/:sessionId/actions/elicitations/:elicitationId",
    summary: "Answer the agent's question from the session page",
    description: AS_FOR_KEYS,
    auth: DRIVER_AUTH,
    rate: "act",
    ...elicitationAnswer,
  }),
  listPersonInbox: defineOperation({
    method: "GET",
    path: "/s/:sessionId/actions/inbox",
    summary: "List what waits for a person on the session page",
    description: AS_FOR_KEYS,
    auth: VISITOR_AUTH,
    rate: "poll",
    ...inboxListing,
  }),
  settlePersonInboxItem: defineOperation({
    method: "POST",
    path: "/s/:sessionId/actions/inbox/:itemId",
    summary: "Settle an item of the inbox from the session page",
    description: AS_FOR_KEYS,
    auth: DRIVER_AUTH,
    rate: "act",
    ...inboxSettlement,
  }),
  listPersonQueue: defineOperation({
    method: "GET",
    path: "/s/:sessionId/actions/queue",
    summary: "List queued messages on the session page",
    description: AS_FOR_KEYS,
    auth: VISITOR_AUTH,
    rate: "poll",
    answers: { 200: queueSchema },
  }),
  editPersonQueued: defineOperation({
    method: "PATCH",
    path: "/s/:sessionId/actions/queue/:requestId",
    summary: "Edit a queued message from the session page",
    description: AS_FOR_KEYS,
    auth: DRIVER_AUTH,
    rate: "act",
    ...queuedEdit,
  }),
  removePersonQueued: defineOperation({
    method: "DELETE",
    path: "/s/:sessionId/actions/queue/:requestId",
    summary: "Remove a queued message from the session page",
    description: AS_FOR_KEYS,
    auth: DRIVER_AUTH,
    rate: "act",
    errors: ["conflict"],
    answers: { 200: settledSchema },
  }),
  listPersonShareLinks: defineOperation({
    method: "GET",
    path: "/s/:sessionId/actions/share-links",
    summary: "List share links on the session page",
    description: `${OF_SHARE_OWNERS} The response also has the session's own \`shareUrl\`.`,
    auth: SHARE_OWNER_AUTH,
    rate: "poll",
    query: listQuerySchema,
    answers: { 200: ownShareLinksSchema },
  }),
  createPersonShareLink: defineOperation({
    method: "POST",
    path: "/s/:sessionId/actions/share-links",
    summary: "Create a share link from the session page",
    description: OF_SHARE_OWNERS,
    auth: SHARE_OWNER_AUTH,
    rate: "act",
    requiresJsonType: true,
    ...shareLinkCreation,
  }),
  revokeAllPersonShareLinks: defineOperation({
    method: "POST",
    path: "/s/:sessionId/actions/share-links/revoke-all",
    summary: "Revoke every share link from the session page",
    description: `${OF_SHARE_OWNERS} The response replaces the visitor's own cookie, so that the page keeps its access. The page's WebSocket is closed and must reconnect.`,
    auth: SHARE_OWNER_AUTH,
    rate: "act",
    answers: { 200: sharesRevokedSchema },
  }),
  revokePersonShareLink: defineOperation({
    method: "DELETE",
    path: "/s/:sessionId/actions/share-links/:linkId",
    summary: "Revoke a share link from the session page",
    description: OF_SHARE_OWNERS,
    auth: SHARE_OWNER_AUTH,
    rate: "act",
    answers: { 200: shareLinkRevokedSchema },
  }),
  listPersonDeliveries: defineOperation({
    method: "GET",
    path: "/s/:sessionId/actions/deliveries",
    summary: "List callbacks on the session page",
    description: AS_FOR_KEYS,
    auth: DRIVER_AUTH,
    rate: "poll",
    query: listQuerySchema,
    answers: { 200: listOf(deliveryRecordSchema) },
  }),
  redeliverPersonCallback: defineOperation({
    method: "POST",
    path: "/s/:sessionId/actions/deliveries/:deliveryId/redeliver",
    summary: "Send a callback again from the session page",
    description: AS_FOR_KEYS,
    auth: DRIVER_AUTH,
    rate: "act",
    errors: ["conflict"],
    answers: { 202: redeliveredSchema },
  }),
  steerBrowser: defineOperation({
    method: "POST",
    path: "/s/:sessionId/actions/browser",
    summary: "Navigate from the live view's address bar",
    description:
      "`url` is what a person typed: an http(s) URL, or a host without a scheme. Search terms and other schemes return 400. Returns 409 while another connection has control of the browser, or while the agent is working and no person has taken control. The action `open` only starts the browser if none runs, and never returns 409 for these reasons. 202 means that the browser is running, or that the session waits for one (`browser.waiting`). A 503 contains the reason why no browser is available.",
    bodyExamples: {
      "Another page": { url: "shop.example/cart" },
      Back: { action: "back" },
      "The live page": { action: "open" },
    },
    auth: DRIVER_AUTH,
    rate: "act",
    body: z.union([
      z.strictObject({ url: nameUpTo(8_192), connectionId }),
      z.strictObject({ action: z.enum(["back", "forward", "reload"]), connectionId }),
      z.strictObject({ action: z.literal("open"), connectionId }),
    ]),
    bodyBytesMax: 64 * 1024,
    requiresJsonType: true,
    errors: ["conflict"],
    answers: { 202: settledSchema },
  }),
  pasteIntoPage: defineOperation({
    method: "POST",
    path: "/s/:sessionId/actions/paste",
    summary: "Paste into the live browser",
    description:
      "For files, and for text that is too long for a frame of the live connection. The page gets a paste event with all items. If it does not handle the event, the text is inserted, or the HTML where the page's text can have formatting. Returns 409 unless the connection `connectionId` has control of the browser, or if the page does not take it, and 400 if the files have more than 10 MiB.",
    bodyExamples: {
      "A picture": {
        connectionId: "con_k2m4zqvbwcnr7xye3hjpdtas",
        items: [{ type: "image/png", name: "image.png", base64: "iVBORw0KGgo=" }],
      },
    },
    auth: DRIVER_AUTH,
    rate: "act",
    body: z.strictObject({
      connectionId: nameUpTo(100),
      items: z
        .array(
          z.union([
            z.strictObject({ type: z.enum(["text/plain", "text/html"]), text: z.string() }),
            z.strictObject({
              type: z.string().regex(/^[\w.+-]{1,100}\/[\w.+-]{1,100}$/),
              name: nameUpTo(255),
              base64: z.base64(),
            }),
          ]),
        )
        .min(1)
        .max(20),
    }),
    bodyBytesMax: 15 * MIB,
    requiresJsonType: true,
    errors: ["conflict"],
    answers: { 200: settledSchema },
  }),
} as const satisfies Record<string, Operation>;
