import { z } from "zod";
import { jsonValue } from "#lib/events/wire-values.ts";
import { DRIVER_AUTH, defineOperation, type Operation, VISITOR_AUTH } from "../operation.ts";
import { success } from "../schemas/answers.ts";
import { followUp } from "./follow-ups.ts";

const frameSchema = z
  .object({
    success,
    scope: z.enum(["session", "live-view"]).meta({
      description:
        "`live-view` if the token is that of a `liveViewUrl`, which shows nothing else of the session.",
    }),
    origins: z.array(z.string()).meta({
      description: "The service's `EMBED_ORIGINS`.",
      examples: [["https://app.example"]],
    }),
    linkOrigins: z
      .array(z.string())
      .nullable()
      .meta({
        description: "Those of `origins` that the link names. Null if it names none.",
        examples: [null],
      }),
    snapshot: jsonValue.meta({
      description: "What the page shows at first. Its form is internal and changes without notice.",
    }),
  })
  .meta({ id: "Frame", description: "What the page of a frame shows." });

/** Operations of the page of a frame (`/embed/:sessionId`). Source: `wire.md`, Embedding. */
export const embedOperations = {
  readFrame: defineOperation({
    method: "GET",
    path: "/s/:sessionId/actions/frame",
    summary: "Load the page of a frame",
    description:
      "For the page at `/embed/<sessionId>`, which sends the token of its link in the header `X-Share-Token`.",
    auth: { ...VISITOR_AUTH, liveView: true },
    rate: "poll",
    answers: { 200: frameSchema },
  }),
  postHostMessage: defineOperation({
    method: "POST",
    path: "/s/:sessionId/actions/host-messages",
    summary: "Post a message of the page around a frame",
    description:
      "For messages that the host page of a frame sends with `send`. The turn never counts as started by a person, as with `POST …/agent/messages`.",
    auth: DRIVER_AUTH,
    rate: "act",
    ...followUp,
  }),
} as const satisfies Record<string, Operation>;
