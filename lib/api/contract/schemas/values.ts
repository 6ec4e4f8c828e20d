import { z } from "zod";
import { SOURCES } from "#db/schema/unions.ts";

/** An id or another text of ours, told of and shown in the reference. */
const text = (description: string, example: string) => z.string().meta({ description, examples: [example] });

/** Ids and other values that several answers and events carry. Source: `wire.md`, POST /api/session. */
export const sessionId = text("Names the session.", "ses_xdbqydi2z2jnnberubbghcrn");
export const requestId = text("Names one accepted message.", "req_x3vhrt5vrmaw4gijc66izaly");
export const runId = text("Names one attempt at a request's turn.", "run_cunu2lrkxnudqf2ch7lwqctg");
export const messageId = text("Names a message of the transcript.", "msg_k2m4zqvbwcnr7xye3hjpdtas");
export const timestamp = text("ISO 8601, UTC.", "2026-11-20T12:31:59.889Z");
export const count = z.int().min(0);
export const source = z.enum(SOURCES).meta({ id: "Source", description: "Where the session comes from." });

const shownPath = (description: string, path: string) => text(`${description} A path of this service.`, path);
const REQUEST = "/api/sessions/ses_xdbqydi2z2jnnberubbghcrn/requests/req_x3vhrt5vrmaw4gijc66izaly";
export const statusUrl = shownPath("Where the request is polled.", REQUEST);
export const streamUrl = shownPath("Where the request's events are streamed.", `${REQUEST}/stream`);
export const shareUrl = shownPath(
  "Opens the session in a browser, to watch or join; to watch alone where a key that may only read asked.",
  "/s/ses_xdbqydi2z2jnnberubbghcrn?key=EWUUzB__npV8qHEB8F4_Mjr81HmuxFrL",
);

/** Any JSON value, given as it is: the library's own would copy it, without a key named `__proto__`. */
export const jsonValue = z.unknown().meta({ shownAs: {}, description: "Any JSON value." });

/** A page of the web, as its address. */
export const pageUrl = (description: string) => text(description, "https://shop.example/checkout");
