import { setTimeout as sleep } from "node:timers/promises";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import {
  type ScriptedTool,
  startToolServer,
  type ToolServerOptions,
} from "../../fixtures/mcp/start-tool-server.ts";
import { monotonicMs, type RecordedLine } from "./log-line.ts";

const CALL_MS = 100;
const LIST_MS = 16_000;
const MANY = 10_000;
const HUGE_BYTES = 50 * 1_048_576;

/**
 * Starts the tool server of the recorder. The first segment of the URL's path names the fault that the server simulates.
 * The tool `note` logs the start and the end of each call, so that the executions can be counted.
 *
 * @returns the server's origin, and the certificate that a service must trust.
 */
export async function startTools(note: (line: RecordedLine) => void) {
  const write = (fault: string, did: "list" | "begin" | "end", nonce: string) =>
    note({ atMs: monotonicMs(), type: "tools", fault, did, nonce });

  const noteTool = (fault: string): ScriptedTool => ({
    name: "note",
    description: "Notes that it was called.",
    inputSchema:
      fault === "cyclic"
        ? CYCLIC
        : { type: "object", properties: { nonce: { type: "string" } }, required: ["nonce"] },
    async call({ nonce = "" }): Promise<CallToolResult> {
      write(fault, "begin", String(nonce));
      if (fault === "die") server.dropConnections();
      await sleep(CALL_MS);
      write(fault, "end", String(nonce));
      const text = fault === "huge" ? "x".repeat(HUGE_BYTES) : `noted ${nonce}`;
      return { content: [{ type: "text", text }] };
    },
    /** In the revision 2026-07-28: asks a person before it notes. */
    answer({ input, params }) {
      if (params.requestState === undefined) return ASKING;
      const nonce = String(input.nonce);
      write(fault, "begin", nonce);
      write(fault, "end", nonce);
      return { content: [{ type: "text", text: `noted ${nonce}` }] };
    },
  });
  const before: ToolServerOptions["before"] = async ({ path, message }, response) => {
    const fault = readFault(path);
    if (fault === "redirect") {
      response.writeHead(307, { location: "https://10.0.0.1/mcp" }).end();
      return true;
    }
    if (message?.method !== "tools/list") return false;
    write(fault, "list", "");
    if (fault === "hang") await sleep(LIST_MS);
    return false;
  };
  const server = await startToolServer({
    before,
    speaks: (path) => (readFault(path) === "ask" ? "stateless" : "older"),
    tools(path) {
      const fault = readFault(path);
      const others =
        fault === "many" ? Array.from({ length: MANY }, (_, nth) => ({ name: `tool_${nth}` })) : [];
      return [noteTool(fault), ...others];
    },
  });
  return { origin: server.origin, certificate: server.certificate };
}

/** What the server needs before it answers: a person's yes or no. */
const ASKING = {
  resultType: "input_required",
  inputRequests: {
    sure: {
      method: "elicitation/create",
      params: { mode: "form", message: "Sure?", requestedSchema: { type: "object", properties: {} } },
    },
  },
  requestState: "asked",
};

const readFault = (path: string): string => path.split("/")[1] ?? "";

/**
 * A schema that refers to itself: to its root, to one of its properties, and from one definition to another and back.
 */
const CYCLIC = {
  type: "object" as const,
  properties: { nonce: { $ref: "#/$defs/a" }, self: { $ref: "#" }, deep: { $ref: "#/properties/deep" } },
  $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } },
};
