import { z } from "zod";
import type { EvidenceStore } from "#lib/evidence/evidence.ts";
import { defineMcpTool, type McpTool, mcpError, mcpValue } from "../mcp-tool.ts";
import type { Size } from "./page-job.ts";
import { decodePicture, encodeDifference, isPicture, type Picture, readSize } from "./pictures.ts";
import type { UtilityServices } from "./utility-services.ts";

const PIXELS_MAX = 20_000_000;
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

/** `compare_pictures`: how two of the session's pictures differ. */
export const comparePictures = ({
  evidence,
  threads,
}: Pick<UtilityServices, "evidence" | "threads">): McpTool =>
  defineMcpTool({
    name: "compare_pictures",
    title: "Compare two pictures",
    description:
      "Compares two pictures of this session, pixel by pixel, by their evidence ids (screenshots and previews name " +
      "theirs, list_evidence lists them): the share of pixels that differ, the box around them, and a picture that " +
      "shows them in red, which is kept as evidence too. Pictures are laid over each other at their upper left corners.",
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
      const overlap = findOverlap(before.size, after.size);
      if (countPixels(overlap) > PIXELS_MAX)
        return mcpError(`The pictures have more than ${PIXELS_MAX.toLocaleString("en")} pixels in common.`);

      call.progress(0, 3, "decoding");
      const decoded = await Promise.all([decodePicture(before, overlap), decodePicture(after, overlap)]);
      call.progress(1, 3, "comparing");
      const [left, right] = decoded;
      const { threshold } = input;
      const found = await threads(
        { kind: "difference", before: left, after: right, size: overlap, threshold },
        call.signal,
      );
      const totalPixels = countPixels(before.size) + countPixels(after.size) - countPixels(overlap);
      const differingPixels = found.differingPixels + totalPixels - countPixels(overlap);
      const value = {
        isEqual: differingPixels === 0,
        share: differingPixels / totalPixels,
        differingPixels,
        totalPixels,
        before: before.size,
        after: after.size,
        box: found.box,
      };
      if (differingPixels === 0) return mcpValue({ ...value, differenceId: null });

      call.progress(2, 3, "drawing the differences");
      const drawn = await encodeDifference(found.picture, overlap);
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

type Read = ({ ok: true; size: Size } & Picture) | { ok: false; error: string };

async function readPicture(
  evidence: EvidenceStore,
  sessionId: string,
  field: string,
  id: string,
): Promise<Read> {
  const kept = await evidence.read(sessionId, id);
  if (!kept) return { ok: false, error: `${field}: this session has no evidence ${id}` };
  const { mediaType } = kept.pointer;
  if (!isPicture(mediaType)) return { ok: false, error: `${field}: ${id} is no picture, but ${mediaType}` };
  const measured = await readSize(kept.bytes);
  if (!measured) return { ok: false, error: `${field}: ${id} cannot be read as a picture` };
  return { ok: true, bytes: kept.bytes, size: measured };
}

const findOverlap = (a: Size, b: Size): Size => ({
  width: Math.min(a.width, b.width),
  height: Math.min(a.height, b.height),
});

const countPixels = ({ width, height }: Size): number => width * height;
