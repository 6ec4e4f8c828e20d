import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { z } from "zod";

/** A server's request to show a form to a person. */
export type FormRequest = { message: string; requestedSchema: unknown };

export type RequestOptions = {
  signal: AbortSignal;
  /** How long to wait for the answer, in milliseconds. */
  timeout: number;
  /** Called for each progress notification of the server. */
  onprogress?: () => void;
  /** Further headers of the request. Only connections of the revision 2026-07-28 send them. */
  headers?: Readonly<Record<string, string>>;
};

/** A connection to one tool server, in the revision of the protocol that both sides speak. */
export type McpConnection = {
  /** The revision, such as `2025-11-25`. */
  revision: string;
  hasTools: boolean;
  /** Whether the server runs tool calls as tasks. */
  hasTasks: boolean;
  /**
   * Sends a request and parses its result. @throws McpError if the server answers with an error, or with the reason of
   * the failure.
   */
  request: <Schema extends z.ZodType>(
    request: { method: string; params: Record<string, unknown> },
    schema: Schema,
    options: RequestOptions,
  ) => Promise<z.output<Schema>>;
  /** The SDK's client, for tasks. Undefined in the revision 2026-07-28, which has no tasks. */
  client: Client | undefined;
  isOpen: () => boolean;
  /** Whether the server can forget what the requests refer to: their MCP session, or the revision itself. */
  canBeLost: () => boolean;
  /** Waits for pending notifications, ends the server's session, and closes. The first two steps take at most 1 s each. */
  close: () => Promise<void>;
};

/** How this service introduces itself to tool servers. */
export const CLIENT = { name: "agent-session-service", version: "1" };

/** The first revision without `initialize` and without sessions. */
export const STATELESS = "2026-07-28";

/** Headers that the transport sets itself. A caller's headers with these names are not sent. */
const TRANSPORT_HEADERS =
  /^(host|connection|content-length|content-type|transfer-encoding|te|trailer|upgrade|keep-alive|expect|accept|last-event-id|mcp-(session-id|protocol-version|method|name|param-.*))$/i;

/** Selects the headers of a server that are sent with each request. */
export const withoutTransportHeaders = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !TRANSPORT_HEADERS.test(name)));
