import { createHash } from "node:crypto";

const hash = (text: string, digits: number): string =>
  createHash("sha256").update(text).digest("hex").slice(0, digits);

/**
 * Returns the trace context of a request to a tool server, as a W3C `traceparent`. All requests of a run have one trace
 * id, which follows from the run's id, so that it survives restarts without being stored. Source: decision 152.
 *
 * @param part what the request is for: the id of the tool call, or `list`.
 */
export const traceparentOf = (runId: string, part: string): string =>
  `00-${hash(`trace ${runId}`, 32)}-${hash(`${runId} ${part}`, 16)}-01`;
