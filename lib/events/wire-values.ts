import { z } from "zod";
import { SOURCES } from "#db/schema/unions.ts";

/** Schema of a string, with a description and an example for the API reference. */
const text = (description: string, example: string) => z.string().meta({ description, examples: [example] });

/** The values below occur in several responses and events. Source: `wire.md`, POST /api/session. */
export const sessionId = text("Id of the session.", "ses_xdbqydi2z2jnnberubbghcrn");
export const requestId = text(
  "Id of the request. A request is one accepted message.",
  "req_x3vhrt5vrmaw4gijc66izaly",
);
export const runId = text(
  "Id of the run. A run is one attempt at the turn of a request.",
  "run_cunu2lrkxnudqf2ch7lwqctg",
);
export const messageId = text("Id of a message in the transcript.", "msg_k2m4zqvbwcnr7xye3hjpdtas");
export const PUBLICATION = "pub_t5ovkw3zqdn2arc6xhy4ejmb";
export const publicationId = text("Id of the publication.", PUBLICATION);
export const releaseId = text("Id of the release.", "rel_h4mw2dqxa7kyc3zvn5tgrpju");
export const REPORT = "rep_m3xq7zkwd2ntvcyh5rpbjg4a";
export const reportId = text("Id of the report.", REPORT);
export const TEST_RUN = "tst_q4nwx7zkwd2mtvcyh5rpbjg3";
export const timestamp = text("Time in ISO 8601 format, UTC.", "2026-11-20T12:31:59.889Z");
export const count = z.int().min(0);
export const source = z
  .enum(SOURCES)
  .meta({ id: "Source", description: "Attribution that the session was created with." });

const REQUEST = "/api/sessions/ses_xdbqydi2z2jnnberubbghcrn/requests/req_x3vhrt5vrmaw4gijc66izaly";
export const statusUrl = text("Path to poll for the request's status.", REQUEST);
export const streamUrl = text("Path of the request's event stream.", `${REQUEST}/stream`);
export const shareUrl = text(
  "Path that opens the session in a browser, to watch or join. If the API key of the request lacks `sessions:write`, the path only allows watching.",
  "/s/ses_xdbqydi2z2jnnberubbghcrn?key=EWUUzB__npV8qHEB8F4_Mjr81HmuxFrL",
);

/**
 * Any JSON value. The schema returns the value unchanged. Zod's own `json()` is not used, because it copies the value
 * and drops a key named `__proto__`.
 */
export const jsonValue = z.unknown().meta({ shownAs: {}, description: "Any JSON value." });

/** Schema of the URL of a web page. */
export const pageUrl = (description: string) => text(description, "https://shop.example/checkout");
