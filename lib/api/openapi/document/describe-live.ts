import { liveClientFrameSchema, liveFrameSchema } from "../../contract/schemas/live-frames.ts";
import { liveQuerySchema } from "../../contract/schemas/queries.ts";
import type { OperationObject } from "../types.ts";
import type { SchemaCollector } from "./collect-schemas.ts";
import { describeParameters, listPathParameters } from "./parameters.ts";

export const LIVE_PATH = "/api/sessions/:sessionId/live";

const DESCRIPTION = `Upgrades to a WebSocket. OpenAPI cannot describe what follows the upgrade:

- Text frames are JSON: \`LiveFrame\` from the service and \`LiveClientFrame\` from the client (\`x-websocket\` names the schemas). The first frame is \`ready\`. It is followed by the stored events with a higher \`seq\` than \`after\` and then by new events; without \`after\`, only by new events.
- Binary frames carry the live view to connections that sent \`view.subscribe\`: a header of 36 bytes, little endian, then a JPEG. The header has: magic \`ASF1\` (4 bytes), version u8, 3 bytes reserved, frame sequence u32, width u16, height u16, capture time f64 (milliseconds since 1970), device scale f32, scroll offsets i32 and i32.
- Send the API key as a header. If the client cannot set headers, send \`{ "type": "auth", "token": "…" }\` as the first frame within 10 s. Pages send the share cookie, and the service checks their \`Origin\`.
- The service accepts input (\`input.*\`) only from the connection that has control: send \`control.take\` first. The last connection that takes control has it. Control ends with \`control.release\`, after two minutes without input, and when the client closes the connection; after a lost connection it lasts 30 s, and \`control.resume\` with the token of \`control.token\` continues it. \`control\` frames notify every connection of its holder. While no person has control, the agent has it for as long as its turn runs. When a person takes control, the service stops the agent's running script, and the agent's next scripts wait until control ends.
- Close codes: 4001 unauthorized, 4003 forbidden, 4004 not found, 1013 overloaded (try later).`;

/**
 * Describes the live socket. It is not in the contract, because its response is not a body but an upgrade of the
 * connection. Source: `wire.md`, WebSocket.
 */
export function describeLive(collector: SchemaCollector): OperationObject {
  const refusal = (name: string) => ({ $ref: `#/components/responses/${name}` });
  const error = { schema: { $ref: "#/components/schemas/Error" } };
  return {
    operationId: "openLive",
    summary: "Follow and steer a session over a WebSocket",
    description: DESCRIPTION,
    tags: ["Requests"],
    security: [{ bearerKey: [] }, { headerKey: [] }, { shareCookie: [] }, {}],
    parameters: [
      ...listPathParameters(LIVE_PATH),
      ...describeParameters(collector, "query", liveQuerySchema),
    ],
    responses: {
      "101": {
        description: "The connection is upgraded.",
        headers: { Upgrade: { description: "`websocket`.", schema: { const: "websocket" } } },
      },
      "400": refusal("InvalidRequest"),
      "401": refusal("Unauthorized"),
      "403": refusal("Forbidden"),
      "404": refusal("NotFound"),
      "426": {
        description: "The request is not a WebSocket upgrade.",
        content: { "application/json": error },
      },
      "500": refusal("Internal"),
      "502": refusal("AuthUnavailable"),
      "503": {
        description: "The service is stopping, or its database is unavailable.",
        content: { "application/json": error },
      },
    },
    "x-websocket": {
      serverFrame: collector.add(liveFrameSchema, "output"),
      clientFrame: collector.add(liveClientFrameSchema, "input"),
    },
  };
}
