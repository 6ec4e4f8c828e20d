import { faultPoint } from "#lib/faults/fault-point.ts";
import { SESSION_FORMAT, SESSION_FORMAT_VERSION } from "./format.ts";
import type { SessionContent } from "./read-content.ts";

/** Maximum bytes of evidence in one export. */
export const EVIDENCE_BYTES_MAX = 20 * 1024 * 1024;

/**
 * Writes the JSON export of a session, piece by piece. Messages are written as they are read.
 *
 * @param options.hasBytes whether to include the bytes of evidence, up to 20 MiB in total.
 * @throws Error if the session was deleted during the export. Without this error, an incomplete export would look
 * complete.
 */
export async function* writeJson(
  content: SessionContent,
  options: { hasBytes: boolean },
): AsyncIterable<string> {
  const { id, exportedAt, session, leftOut } = content;
  const head = { format: SESSION_FORMAT, version: SESSION_FORMAT_VERSION, id, exportedAt, session };
  yield JSON.stringify(head).slice(0, -1);
  yield* writeList("messages", content.messages());
  await faultPoint("export-half-written");
  yield* writeList("variants", content.variants());
  yield `,"plan":${JSON.stringify(content.plan)}`;
  yield* writeList("requirements", content.requirements);
  yield* writeList("reports", content.reports());
  yield* writeList("pages", content.pages);
  yield* writeList("deliverables", content.deliverables);
  yield* writeList("receipts", content.receipts());
  yield* writeList("previews", content.previews);
  yield* writeList("annotations", content.annotations());
  yield* writeList("agents", content.agents);
  yield ',"imports":[';
  let isFirst = true;
  for await (const { messages, ...about } of content.imports()) {
    yield (isFirst ? "" : ",") + JSON.stringify(about).slice(0, -1);
    yield* writeList("messages", messages());
    yield "}";
    isFirst = false;
  }
  yield "]";
  yield* writeList("evidence", options.hasBytes ? readEvidence(content) : content.evidence);
  yield* writeList("leftOut", leftOut);
  yield "}\n";
  if (!(await content.exists())) throw new Error(`the session ${session.id} was deleted during its export`);
}

async function* writeList(name: string, items: Iterable<unknown> | AsyncIterable<unknown>) {
  yield `,${JSON.stringify(name)}:[`;
  let separator = "\n";
  for await (const item of items) {
    yield separator + JSON.stringify(item);
    separator = ",\n";
  }
  yield "]";
}

async function* readEvidence(content: SessionContent) {
  const { evidence, readData, leftOut } = content;
  let bytesLeft = EVIDENCE_BYTES_MAX;
  for (const [index, item] of evidence.entries()) {
    const fits = item.sizeBytes <= bytesLeft;
    const data = fits ? await readData(item) : undefined;
    if (data === undefined)
      leftOut.push({
        field: `evidence[${index}].data`,
        reason: fits ? "Its file is missing." : "An export carries at most 20 MiB of evidence.",
      });
    else bytesLeft -= item.sizeBytes;
    yield { ...item, ...(data !== undefined && { data }) };
  }
}
