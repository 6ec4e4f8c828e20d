import { countOf } from "#lib/text/count-of.ts";
import type { Receipt } from "../state/view-types.ts";
import type { Tone } from "./state-words.ts";

/** The words of each status, and how they are shown. */
export const RECEIPT_WORDS: Record<Receipt["status"], { word: string; tone: Tone }> = {
  seen: { word: "seen", tone: "good" },
  elsewhere: { word: "seen elsewhere", tone: "attention" },
  derived: { word: "computed", tone: "good" },
  weak: { word: "seen, but says little", tone: "quiet" },
  unseen: { word: "seen nowhere", tone: "bad" },
  unchecked: { word: "not checked", tone: "quiet" },
};

/** The notes at the values in the tree of a result, by JSON pointer: those that are nowhere, or in another record. */
export function markReceipts(receipts: readonly Receipt[]): Map<string, string> {
  const notes: Partial<Record<Receipt["status"], string>> = {
    unseen: "seen nowhere",
    elsewhere: "seen elsewhere, not with this record",
  };
  return new Map(
    receipts.flatMap(({ pointer, status }) => {
      const note = notes[status];
      return note === undefined ? [] : [[pointer, note] as const];
    }),
  );
}

/** Says in one sentence how many values are in what the session saw. */
export function summarizeReceipts(receipts: readonly Receipt[]): string {
  const count = (status: Receipt["status"]) => receipts.filter((each) => each.status === status).length;
  const missing = count("unseen");
  const strange = count("elsewhere");
  const parts = [
    ...(missing > 0 ? [`${missing} seen nowhere`] : []),
    ...(strange > 0 ? [`${strange} seen elsewhere`] : []),
  ];
  const checked = countOf(receipts.length, "value");
  return parts.length > 0 ? `Sources of ${checked}: ${parts.join(", ")}` : `Sources of ${checked}`;
}

/** Shows a JSON pointer as a path, with the indexes that the tree of the result shows: `plans › 2 › price`. */
export const describePointer = (pointer: string): string =>
  pointer
    .split("/")
    .slice(1)
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
    .join(" › ");
