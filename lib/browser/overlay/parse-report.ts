import { z } from "zod";
import type { OverlayReport } from "./overlay-script.ts";

/** Largest report of the overlay, in characters. The webhook accepts a submission of 256 KiB. */
const REPORT_CHARS_MAX = 600_000;

const reportSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("ready") }),
  z.strictObject({ kind: z.literal("submit"), body: z.string() }),
]);

/**
 * Parses what a call of the overlay's binding has passed. Returns undefined for anything but a report of the overlay: a
 * program that reaches the overlay's world can call the binding with any text.
 */
export function parseReport(payload: string): OverlayReport | undefined {
  if (payload.length > REPORT_CHARS_MAX) return undefined;
  try {
    return reportSchema.safeParse(JSON.parse(payload)).data;
  } catch {
    return undefined;
  }
}
