import { z } from "zod";
import { defineOperation, KEY_AUTH, type Operation, READER_AUTH } from "../operation.ts";
import { browserStatusSchema, retargetAcceptedSchema } from "../schemas/answers.ts";
import { retargetSchema } from "../schemas/handler-validated-bodies.ts";

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
} as const satisfies Record<string, Operation>;
