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
    auth: { ...READER_AUTH, liveView: true },
    answers: { 200: "stream" },
    media: { 200: ["image/jpeg"] },
    answerHeaders: { 200: ["Cache-Control"] },
  }),
} as const satisfies Record<string, Operation>;
