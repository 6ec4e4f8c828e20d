import type { IncomingMessage, ServerResponse } from "node:http";
import type { Step } from "#e2e/fixtures/scripted-model/types.ts";

/** The step that ends a hostile turn. */
export const DONE: Step = { text: "Done." };

/** A step with one tool call. */
export const call = (name: string, args: Record<string, unknown>): Step => ({
  toolCalls: [{ name, arguments: args }],
});

/** Serves a document with this body. */
export const servePage =
  (body: string) =>
  (_request: IncomingMessage, response: ServerResponse): void =>
    void response
      .writeHead(200, { "content-type": "text/html; charset=utf-8" })
      .end(`<!doctype html><title>Hostile</title><body>${body}</body>`);
