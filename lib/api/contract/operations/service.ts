import { defineOperation, type Operation } from "../operation.ts";
import { healthSchema, readySchema } from "../schemas/answers.ts";

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
    auth: { kind: "none" },
    answers: { 200: readySchema, 503: readySchema },
  }),
  readOpenApi: defineOperation({
    method: "GET",
    path: "/api/openapi.json",
    summary: "Read the OpenAPI document",
    auth: { kind: "none" },
    answers: { 200: "stream", 304: "stream" },
    media: { 200: ["application/json"] },
    // The service's own process limits the rate of what anybody can load.
    errors: ["rate_limited"],
    answerHeaders: { 200: ["ETag", "Cache-Control"], 304: ["ETag", "Cache-Control"] },
  }),
} as const satisfies Record<string, Operation>;
