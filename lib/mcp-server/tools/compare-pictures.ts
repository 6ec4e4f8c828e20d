import { z } from "zod";
import { type EvidenceStore, MISSING_BYTES } from "#lib/evidence/evidence.ts";
import type { ReadPicture } from "#lib/tools/browser/compare/picture-comparer.ts";
import { encodeDifference, isPicture, readSize } from "#lib/tools/browser/compare/pictures.ts";
import { defineMcpTool, type McpTool, mcpError, mcpValue } from "../mcp-tool.ts";
import type { UtilityServices } from "./utility-services.ts";

const whole = z.int().min(0);
const size = z.object({ width: whole, height: whole });

const output = z.object({
  isEqual: z.boolean(),
  share: z.number().min(0).max(1).describe("of the pixels of both together, how many differ"),
  differingPixels: whole,
  totalPixels: whole,
  before: size,
  after: size,
  box: z
    .object({ x: whole, y: whole, width: whole, height: whole })
    .nullable()
    .describe("around everything that differs where the pictures overlap"),
  differenceId: z.string().nullable().describe("evidence: the picture that shows the differences in red"),
});

/** Creates the tool `compare_pictures`, which compares two pictures of the session. */
export const comparePictures = ({
  evidence,
  compare,
}: Pick<UtilityServices, "evidence" | "compare">): McpTool =>
  defineMcpTool({
    name: "compare_pictures",
    title: "Compare two pictures",
    description:
      "Compares two pictures of this session by their evidence ids, pixel by pixel, from the upper left corner: the " +
      "share of pixels that differ, the box around them, and a picture that shows them in red, kept as evidence.",
    input: z.strictObject({
      before: z.string().min(1).max(100).describe("evidence id"),
      after: z.string().min(1).max(100).describe("evidence id"),
      threshold: z
        .number()
        .min(0)
        .max(1)
        .default(0.1)
        .describe("how far colours may be apart and count as equal"),
    }),
    output,
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    changes: false,
    timeoutMs: 60_000,
    async execute(input, call) {
      const pictures = await Promise.all(
        (["before", "after"] as const).map((field) =>
          readPicture(evidence, call.sessionId, field, input[field]),
        ),
      );
      const [before, after] = pictures;
      if (!before?.ok) return mcpError(before?.error ?? "before: is required");
      if (!after?.ok) return mcpError(after?.error ?? "after: is required");
      call.progress(0, 2, "comparing");
      const { threshold } = input;
      const { differingPixels, totalPixels, box, ...drawing } = await compare(before, after, {
        threshold,
        signal: call.signal,
      });
      const value = {
        isEqual: differingPixels === 0,
        share: differingPixels / totalPixels,
        differingPixels,
        totalPixels,
        before: before.size,
        after: after.size,
        box,
      };
      if (differingPixels === 0) return mcpValue({ ...value, differenceId: null });

      call.progress(1, 2, "drawing the differences");
      const drawn = await encodeDifference(drawing.picture, drawing.overlap);
      call.signal.throwIfAborted();
      const pointer = await evidence.save({
        sessionId: call.sessionId,
        runId: null,
        kind: "file",
        url: null,
        title: `Differences of ${input.before} and ${input.after}`,
        mediaType: "image/png",
        bytes: drawn.png,
      });
      const result = mcpValue({ ...value, differenceId: pointer.id });
      const data = Buffer.from(drawn.small).toString("base64");
      return { ...result, content: [...result.content, { type: "image", data, mimeType: "image/jpeg" }] };
    },
  });

type Read = ({ ok: true } & ReadPicture) | { ok: false; error: string };

async function readPicture(
  evidence: EvidenceStore,
  sessionId: string,
  field: string,
  id: string,
): Promise<Read> {
  const stored = await evidence.read(sessionId, id);
  if (!stored) return { ok: false, error: `${field}: this session has no evidence ${id}` };
  const { bytes } = stored;
  if (!bytes) return { ok: false, error: `${field}: ${id} cannot be compared, because ${MISSING_BYTES}` };
  const { mediaType } = stored.pointer;
  if (!isPicture(mediaType)) return { ok: false, error: `${field}: ${id} is no picture, but ${mediaType}` };
  const measured = await readSize(bytes);
  if (!measured) return { ok: false, error: `${field}: ${id} cannot be read as a picture` };
  return { ok: true, bytes, size: measured };
}
