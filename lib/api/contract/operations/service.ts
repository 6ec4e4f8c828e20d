import { z } from "zod";
import { defineOperation, type Operation } from "../operation.ts";
import { deploymentFields, runningHostSchema } from "../schemas/deployment.ts";

const check = z
  .object({ ok: z.boolean(), detail: z.string().meta({ examples: ["embedded Postgres"] }) })
  .meta({ id: "ReadinessCheck" });

const healthSchema = z.object({ ok: z.literal(true) }).meta({ id: "Health" });

const readySchema = z
  .object({
    ok: z.boolean(),
    checks: z
      .object({ database: check, engine: check, browser: check, sandbox: check, model: check })
      .optional()
      .meta({
        description:
          "State of each part. Present only for callers with a valid API key and, if the service's `BASE_URL` is a loopback address, for processes on the same machine. The same holds for the other details.",
      }),
    browserHosts: z.array(runningHostSchema).nullable().optional().meta({
      description:
        "The browser hosts that run now, at most 100. Empty before the first browser, which starts one. Null if the database does not answer.",
    }),
    scripts: deploymentFields.scripts.optional(),
    missingTools: deploymentFields.missingTools.optional(),
  })
  .meta({ id: "Readiness" });

export const serviceOperations = {
  readHealth: defineOperation({
    method: "GET",
    path: "/api/health",
    summary: "Check liveness",
    auth: { kind: "none" },
    answers: { 200: healthSchema },
  }),
  readReadiness: defineOperation({
    method: "GET",
    path: "/api/ready",
    summary: "Check readiness",
    description:
      "Returns 200 if every part that a turn needs is available, otherwise 503. Needs no API key. `checks` has the state of each part, `browserHosts` the browser hosts, and `missingTools` what does not work on this deployment, but only for callers with a valid API key and, if the service's `BASE_URL` is a loopback address, for processes on the same machine.",
    auth: { kind: "none" },
    answers: { 200: readySchema, 503: readySchema },
  }),
  readOpenApi: defineOperation({
    method: "GET",
    path: "/api/openapi.json",
    summary: "Read the OpenAPI document",
    description: "Send the `ETag` as `If-None-Match` to get a 304 if the document has not changed.",
    auth: { kind: "none" },
    answers: { 200: "stream", 304: "stream" },
    media: { 200: ["application/json"] },
    // The service's own process limits the rate of what anybody can load.
    errors: ["rate_limited"],
    answerHeaders: { 200: ["ETag", "Cache-Control"], 304: ["ETag", "Cache-Control"] },
  }),
} as const satisfies Record<string, Operation>;
