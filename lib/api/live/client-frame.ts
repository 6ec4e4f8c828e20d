import type { ShareRole } from "#db/schema/unions.ts";
import { type LiveClientFrame, liveClientFrameSchema } from "../contract/schemas/live-frames.ts";
import { describeFirstIssue } from "../http/validate.ts";

/**
 * A parsed frame of a client or, for a malformed frame, the code (RFC 6455) and the reason with which to close the
 * connection.
 */
type ParsedFrame = { ok: true; frame: LiveClientFrame } | { ok: false; code: 1007 | 1008; reason: string };

/** Parses one frame of a client. */
export function parseClientFrame(data: Buffer, isBinary: boolean): ParsedFrame {
  if (isBinary) return { ok: false, code: 1008, reason: "frames must be JSON text" };
  const value = parseJson(data);
  if (value === undefined) return { ok: false, code: 1007, reason: "the frame is not JSON" };
  const parsed = liveClientFrameSchema.safeParse(value, { reportInput: true });
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

/** Whether a role may send a frame. Only `drive` may control the page. Source: `security.md`, Share URL. */
export const maySend = (role: ShareRole, type: LiveClientFrame["type"]): boolean =>
  role === "drive" || !/^(input|control|viewport)\./.test(type);
