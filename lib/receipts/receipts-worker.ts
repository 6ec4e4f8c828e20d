import { parentPort } from "node:worker_threads";
import { findReceipts } from "./find/find-receipts.ts";
import type { Citation, SeenText } from "./find/receipt.ts";
import type { FoundReceipts, ThreadJob } from "./find-in-thread.ts";

// Entry point of the worker thread that looks up the values of one deliverable. It gets the texts in several messages.

const texts: SeenText[] = [];

function parse(text: string | null): unknown {
  return text === null ? undefined : (JSON.parse(text) as unknown);
}

/** Reads what the agent cited. The input of a failed call may have any form. */
function readCitation(text: string): Citation[] {
  const { value, from } = parse(text) as { value?: unknown; from?: unknown };
  return Array.isArray(from) ? [{ value, from: from.filter((each) => typeof each === "string") }] : [];
}

function find({ value, schema, citations, pictures, isWhole }: ThreadJob): FoundReceipts {
  const list = findReceipts({
    value: parse(value),
    schema: parse(schema),
    texts,
    citations: citations.flatMap(readCitation),
    pictures: new Map(pictures),
    isWhole,
  });
  const counts = { seen: 0, elsewhere: 0, derived: 0, weak: 0, unseen: 0, unchecked: 0 };
  for (const { status } of list) counts[status] += 1;
  return { list: JSON.stringify(list), counts };
}

parentPort?.on("message", (message: { texts: SeenText[] } | { job: ThreadJob }) => {
  if ("texts" in message) texts.push(...message.texts);
  else parentPort?.postMessage(find(message.job));
});
