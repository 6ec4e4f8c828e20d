import type { EvidenceKind } from "#db/schema/unions.ts";
import type { EvidencePointer } from "#lib/events/event.ts";

/** A picture or saved page to keep. */
export type NewEvidence = {
  sessionId: string;
  runId: string | null;
  kind: EvidenceKind;
  title: string;
  /** Address of the page it shows. */
  url: string | null;
  mediaType: string;
  bytes: Uint8Array;
};

/** Where evidence is kept: a row in the database, the bytes in a file below the data folder. */
export type EvidenceStore = {
  save: (evidence: NewEvidence) => Promise<EvidencePointer>;
  list: (sessionId: string) => Promise<(EvidencePointer & { sizeBytes: number; createdAt: string })[]>;
  /** The bytes, or undefined where the session has no such evidence. */
  read: (sessionId: string, id: string) => Promise<{ pointer: EvidencePointer; bytes: Uint8Array } | undefined>;
};
