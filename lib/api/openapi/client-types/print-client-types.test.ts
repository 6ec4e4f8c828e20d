import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { z } from "zod";
import type * as wire from "#lib/client/wire.ts";
import type { MessageDelta as ServerDelta, DomainEvent as ServerEvent } from "#lib/events/event.ts";
import type { LiveClientFrame } from "#lib/page/state/view-types.ts";
import type { followUpSchema } from "../../contract/operations/follow-ups.ts";
import type { createSessionSchema } from "../../contract/schemas/create-session.ts";
import { CLIENT_TYPES } from "./client-types-path.ts";
import { printClientTypes } from "./print-client-types.ts";
import { printType } from "./print-types.ts";

test("the client's types match the contract (`npm run build:client` regenerates them)", () => {
  assert.equal(readFileSync(CLIENT_TYPES, "utf8"), printClientTypes());
});

/**
 * Leaves out annotation events. Their `event` may be any string, so the log's type accepts more than the client's type.
 */
type PlainEvent = Exclude<ServerEvent, { kind: "annotation.submitted" }>;

/**
 * Checked by the compiler: the client's types accept the service's responses, and the service accepts the client's
 * bodies.
 */
export const agreements = {
  event: (event: PlainEvent): wire.DomainEvent => event,
  delta: (delta: ServerDelta): wire.MessageDelta => delta,
  clientFrame: (frame: LiveClientFrame): wire.LiveClientFrame => frame,
  creation: (body: wire.CreateSession): z.input<typeof createSessionSchema> => body,
  followUp: (body: wire.FollowUp): z.input<typeof followUpSchema> => body,
};

test("prints a JSON Schema as a TypeScript type", () => {
  const rows: [Parameters<typeof printType>[0], string][] = [
    [{}, "unknown"],
    [{ type: "integer" }, "number"],
    [{ type: ["string", "null"] }, "string | null"],
    [{ anyOf: [{ type: "string" }, { type: "null" }] }, "string | null"],
    [{ enum: ["a", "b"] }, '"a" | "b"'],
    [{ const: true }, "true"],
    [{ type: "array", items: { enum: [1, 2] } }, "Array<1 | 2>"],
    [{ $ref: "#/components/schemas/Message" }, "Message"],
    [{ type: "object", additionalProperties: { type: "number" } }, "Record<string, number>"],
    [{ type: "object", additionalProperties: true }, "Record<string, unknown>"],
    [
      {
        type: "object",
        properties: { a: { type: "string" }, "b-c": {}, gone: { not: {} } },
        required: ["a"],
      },
      '{\n  a: string;\n  "b-c"?: unknown | undefined;\n}',
    ],
  ];
  for (const [schema, type] of rows) assert.equal(printType(schema), type);
});
