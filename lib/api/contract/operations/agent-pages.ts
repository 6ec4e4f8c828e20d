import { messageRecordSchema } from "#lib/events/event-schemas.ts";
import { DRIVER_AUTH, defineOperation, type Operation, VISITOR_AUTH } from "../operation.ts";
import { listOf, stoppedSchema } from "../schemas/answers.ts";
import { messageListQuerySchema } from "../schemas/queries.ts";
import { agentViewsSchema } from "./agents.ts";

/**
 * Operations that the session page calls on the sub-agents below its session. Their paths begin with the path of the
 * page, because browsers send the page's cookie only to such paths. Source: `wire.md`, Sub-agents.
 */
export const agentPageOperations = {
  listPersonAgents: defineOperation({
    method: "GET",
    path: "/s/:sessionId/actions/agents",
    summary: "List sub-agents on the session page",
    auth: VISITOR_AUTH,
    rate: "poll",
    answers: { 200: agentViewsSchema },
  }),
  listAgentsBelow: defineOperation({
    method: "GET",
    path: "/s/:sessionId/agents/:agentId/actions/agents",
    summary: "List the sub-agents below a sub-agent",
    auth: VISITOR_AUTH,
    rate: "poll",
    answers: { 200: agentViewsSchema },
  }),
  cancelAgentAsPerson: defineOperation({
    method: "POST",
    path: "/s/:sessionId/agents/:agentId/actions/cancel",
    summary: "Stop a sub-agent from the session page",
    auth: DRIVER_AUTH,
    rate: "act",
    errors: ["conflict"],
    answers: { 202: stoppedSchema },
  }),
  listAgentMessages: defineOperation({
    method: "GET",
    path: "/s/:sessionId/agents/:agentId/messages",
    summary: "List a sub-agent's transcript on the session page",
    auth: VISITOR_AUTH,
    rate: "poll",
    query: messageListQuerySchema,
    answers: { 200: listOf(messageRecordSchema) },
  }),
  readAgentArtifact: defineOperation({
    method: "GET",
    path: "/s/:sessionId/agents/:agentId/artifacts/:artifactId",
    summary: "Download a sub-agent's artifact on the session page",
    auth: VISITOR_AUTH,
    answers: { 200: "stream", 304: "stream" },
    media: { 200: ["image/*", "application/octet-stream"] },
    answerHeaders: {
      200: ["ETag", "Cache-Control", "Content-Disposition"],
      304: ["ETag", "Cache-Control"],
    },
  }),
  readAgentPicture: defineOperation({
    method: "GET",
    path: "/s/:sessionId/agents/:agentId/live/picture",
    summary: "Read the last screenshot of a sub-agent's page",
    auth: VISITOR_AUTH,
    answers: { 200: "stream" },
    media: { 200: ["image/jpeg"] },
    answerHeaders: { 200: ["Cache-Control"] },
  }),
} as const satisfies Record<string, Operation>;
