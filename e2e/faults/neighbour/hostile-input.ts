import type { IncomingMessage, ServerResponse } from "node:http";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import type { Step } from "#e2e/fixtures/scripted-model/types.ts";
import type { CreatedSession } from "#e2e/fixtures/service.ts";

/** What an input can use. Everything is on loopback. */
export type Scene = {
  /** The base URL of the service. */
  service: string;
  /** The API key of the hostile owner. */
  apiKey: string;
  /** The address of the input's page, if it has one. */
  pageUrl: string;
};

/**
 * Hostile work that runs while another owner's turns are measured. All of its parts are optional; the work is repeated
 * until the measurement ends. It must be harmless for the machine: bounded in size, and only against the service.
 */
export type HostileInput = {
  /** A short name for `--only` and the output. */
  name: string;
  title: string;
  /**
   * The steps of a turn of the hostile session, in order; the last one should end the turn. If it is omitted, the input
   * has no turns.
   */
  steps?: (scene: Scene) => Step[];
  /** Serves the input's page, on which the hostile session's browser starts. */
  page?: (request: IncomingMessage, response: ServerResponse) => void;
  /** The result of the tool `mcp_hostile__flood`. If it is omitted, the session has no tool server. */
  toolResult?: () => CallToolResult;
  /** Acts from outside of the service, until the signal aborts. It runs during the turns; `session` is the hostile one. */
  attack?: (scene: Scene & { session: CreatedSession }, signal: AbortSignal) => Promise<void>;
};

/** The tool of the hostile tool server, as the model calls it. */
export const FLOOD_TOOL = "mcp_hostile__flood";
