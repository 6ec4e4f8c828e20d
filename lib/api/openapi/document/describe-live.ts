import { liveClientFrameSchema, liveFrameSchema } from "../../contract/schemas/live-frames.ts";
import { streamQuerySchema } from "../../contract/schemas/queries.ts";
import type { OperationObject } from "../types.ts";
import type { SchemaCollector } from "./collect-schemas.ts";
import { describeParameters, listPathParameters } from "./parameters.ts";

export const LIVE_PATH = "/api/sessions/:sessionId/live";

const DESCRIPTION = `Upgrade to a WebSocket. OpenAPI has no words for what comes then:

- Text frames are JSON, \`LiveFrame\` from the service and \`LiveClientFrame\` from the client (\`x-websocket\` names the schemas). The first is \`ready\`; stored events follow from \`after\` on, or from now where it is left out.
- Binary frames carry the live view to those who sent \`view.subscribe\`: 36 bytes of header, little endian, then a JPEG. Magic \`ASF1\` (4 bytes), version u8, 3 bytes reserved, frame sequence u32, width u16, height u16, capture time f64 (milliseconds since 1970), device scale f32, scroll offsets i32 and i32.
- Send the API key as a header, or, where that cannot be set, as the first frame: \`{ "type": "auth", "token": "…" }\` within 10 s. Pages send the share cookie, and \`Origin\` is checked.
- Input (\`input.*\`) counts only from the connection that has control: send \`control.take\` first. The newest take wins; control ends with \`control.release\` or the connection, and \`control\` frames tell every connection who has it. While no person has control, the agent has it for as long as its turn runs: taking control stops the agent's script, and its further scripts wait.
- Close codes: 4001 unauthorized, 4003 forbidden, 4004 not found, 1013 overloaded: try later.`;

/** The live socket, which is no operation of the contract: it is answered by an upgrade. Source: `wire.md`, WebSocket. */
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
      ...describeParameters(collector, "query", streamQuerySchema),
    ],
    responses: {
      "101": {
        description: "Upgraded.",
        headers: { Upgrade: { description: "`websocket`.", schema: { const: "websocket" } } },
      },
      "400": refusal("InvalidRequest"),
      "401": refusal("Unauthorized"),
      "403": refusal("Forbidden"),
      "404": refusal("NotFound"),
      "426": { description: "This was no upgrade.", content: { "application/json": error } },
      "500": refusal("Internal"),
      "502": refusal("AuthUnavailable"),
      "503": {
        description: "The service is stopping, or its database is away.",
        content: { "application/json": error },
      },
    },
    "x-websocket": {
      serverFrame: collector.add(liveFrameSchema, "output"),
      clientFrame: collector.add(liveClientFrameSchema, "input"),
    },
  };
}
