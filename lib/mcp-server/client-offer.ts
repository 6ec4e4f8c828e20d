import { randomUUID } from "node:crypto";
import { toRecord } from "./to-record.ts";

/** What a client can do for the server, beyond sending requests. */
export type ClientOffer = {
  /** Whether the client asks its person to open a page when the server wants it. */
  opensPages: boolean;
  /** Whether the client asks its person to fill in a form. Read only from requests of the revision 2026-07-28. */
  fillsForms: boolean;
  /** Whether the client has declared the extension for tasks. Only clients of the revision 2026-07-28 declare it. */
  hasTasks: boolean;
};

/** The header with which clients of the older revisions repeat what `initialize` has answered. */
export const MCP_SESSION_HEADER = "Mcp-Session-Id";
/** The end of the id of a client that opens pages. */
const OPENS_PAGES = "_url";

const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities";
/** The identifier of the extension for tasks. */
export const TASKS_EXTENSION = "io.modelcontextprotocol/tasks";

/**
 * Reads what a client offers. A request of the revision 2026-07-28 says it itself. In the older revisions only
 * `initialize` does, so {@link issueSessionId} writes it into an id that the client sends with all later requests. The id
 * is no credential and says only what the client has said, so it needs no signature.
 */
export function readClientOffer(body: unknown, headers: Headers): ClientOffer {
  const { _meta } = toRecord(toRecord(body).params);
  const { elicitation, extensions } = toRecord(toRecord(_meta)[CAPABILITIES]);
  return {
    opensPages:
      toRecord(elicitation).url !== undefined ||
      (headers.get(MCP_SESSION_HEADER)?.endsWith(OPENS_PAGES) ?? false),
    fillsForms: isFormOffered(elicitation),
    hasTasks: toRecord(extensions)[TASKS_EXTENSION] !== undefined,
  };
}

/** An empty `elicitation` stands for forms. */
function isFormOffered(elicitation: unknown): boolean {
  const { form, url } = toRecord(elicitation);
  return form !== undefined || (elicitation !== undefined && url === undefined);
}

/** Returns the id for the answer to `initialize`. Undefined if the client offers nothing that must be remembered. */
export function issueSessionId(body: unknown): string | undefined {
  const { method, params } = toRecord(body);
  if (method !== "initialize") return undefined;
  const { elicitation } = toRecord(toRecord(params).capabilities);
  return toRecord(elicitation).url === undefined ? undefined : `${randomUUID()}${OPENS_PAGES}`;
}
