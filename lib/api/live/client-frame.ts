import { z } from "zod";
import type { ShareRole } from "#db/schema/unions.ts";
import type { LiveClientFrame } from "../client/types.ts";
import { describeFirstIssue } from "../field-error.ts";

const COORDINATE_MAX = 1_000_000;

const coordinate = z.number().min(-COORDINATE_MAX).max(COORDINATE_MAX);
const modifiers = z.int().min(0).max(15);
const keyName = z.string().min(1).max(64);
const position = { x: coordinate, y: coordinate, modifiers };

const clientFrame: z.ZodType<LiveClientFrame> = z.discriminatedUnion("type", [
  // What a header could carry: the token may be an API key.
  z.strictObject({ type: z.literal("auth"), token: z.string().regex(/^[\x21-\x7e]{1,1000}$/) }),
  z.strictObject({ type: z.literal("view.subscribe") }),
  z.strictObject({ type: z.literal("view.unsubscribe") }),
  z.strictObject({ type: z.literal("control.take") }),
  z.strictObject({ type: z.literal("control.release") }),
  z.strictObject({ type: z.literal("ping") }),
  z.strictObject({
    type: z.literal("input.mouse"),
    action: z.enum(["move", "down", "up"]),
    button: z.enum(["left", "middle", "right", "none"]),
    clickCount: z.int().min(0).max(10),
    ...position,
  }),
  z.strictObject({ type: z.literal("input.wheel"), deltaX: coordinate, deltaY: coordinate, ...position }),
  z.strictObject({
    type: z.literal("input.key"),
    action: z.enum(["down", "up"]),
    key: keyName,
    code: z.string().max(64),
    modifiers,
    text: z.string().max(64).exactOptional(),
  }),
  z.strictObject({ type: z.literal("input.text"), text: z.string() }),
  z.strictObject({ type: z.literal("input.paste"), text: z.string() }),
]);

/** A frame of a client, or the close code (RFC 6455) and reason that a malformed one is answered with. */
export type ParsedFrame =
  | { ok: true; frame: LiveClientFrame }
  | { ok: false; code: 1007 | 1008; reason: string };

/** Reads one frame of a client. */
export function parseClientFrame(data: Buffer, isBinary: boolean): ParsedFrame {
  if (isBinary) return { ok: false, code: 1008, reason: "frames are JSON text" };
  const value = parseJson(data);
  if (value === undefined) return { ok: false, code: 1007, reason: "the frame is not JSON" };
  const parsed = clientFrame.safeParse(value, { reportInput: true });
  if (parsed.success) return { ok: true, frame: parsed.data };
  return { ok: false, code: 1008, reason: describeFirstIssue(parsed.error.issues, "frame") };
}

function parseJson(data: Buffer): unknown {
  try {
    return JSON.parse(data.toString());
  } catch {
    return undefined;
  }
}

/** Whether a role may send a frame: everybody may look, only drivers touch the page. Source: `security.md`, Share URL. */
export const maySend = (role: ShareRole, type: LiveClientFrame["type"]): boolean =>
  role === "drive" || !(type.startsWith("input.") || type.startsWith("control."));
