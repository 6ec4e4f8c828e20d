import type { z } from "zod";
import type {
  deliverableSchema,
  eventSchemas,
  evidenceSchema,
  importSummarySchema,
  messageDeltaSchema,
  messageRecordSchema,
  outcomeSchema,
  previewSchema,
  waitingOnSchema,
} from "./event-schemas.ts";
import type {
  landingPageSchema,
  publicationSchema,
  reportSummarySchema,
  variantSummarySchema,
} from "./outcome-schemas.ts";
import type { planSchema, requirementSchema } from "./planning-schemas.ts";
import type { testRunSchema } from "./test-run-schemas.ts";

// The types below are inferred from the schemas of the contract. `event-schemas.ts` explains the fields.

/** The outcome of a run. */
export type RunOutcome = z.output<typeof outcomeSchema>;

/** The typed result of a run as the API shows it. */
export type Deliverable = z.output<typeof deliverableSchema>;

/** What a turn waits for. */
export type WaitingOn = z.output<typeof waitingOnSchema>;

/** A message as the API lists it. */
export type TranscriptMessage = z.output<typeof messageRecordSchema>;

/** A pointer to evidence that a tool stored. `GET /api/sessions/:id/artifacts/:evidenceId` serves the evidence. */
export type EvidencePointer = z.output<typeof evidenceSchema>;

/** A chunk of a message that the model is writing. Chunks are not stored and have no sequence number. */
export type MessageDelta = z.output<typeof messageDeltaSchema>;

/** A variant and the state of its newest revision, as the API lists it. */
export type VariantSummary = z.output<typeof variantSummarySchema>;

/** The published release of a variant, as the API shows it. */
export type Publication = z.output<typeof publicationSchema>;

/** A QA report as the API lists it. */
export type ReportSummary = z.output<typeof reportSummarySchema>;
/** A landing page as the API shows it. */
export type LandingPage = z.output<typeof landingPageSchema>;

/** A preview as the API lists it. */
export type Preview = z.output<typeof previewSchema>;

/** A test run as the API lists it. */
export type TestRun = z.output<typeof testRunSchema>;

/** A plan as the API shows it. */
export type Plan = z.output<typeof planSchema>;

/** A requirement as the API lists it. */
export type Requirement = z.output<typeof requirementSchema>;
/** An import as the API lists it. */
export type ImportSummary = z.output<typeof importSummarySchema>;

type EventSchemas = typeof eventSchemas;

export type EventKind = keyof EventSchemas;

/** An event as clients receive it: the common fields and the fields of its kind. */
export type DomainEvent = { [Kind in EventKind]: z.output<EventSchemas[Kind]> }[EventKind];

/** An event to append. The log adds the sequence number, the timestamp and the session id. */
export type NewEvent = {
  [Kind in EventKind]: Omit<z.output<EventSchemas[Kind]>, "seq" | "timestamp" | "sessionId">;
}[EventKind];

/** A stored event in its serialized form. It is serialized once, and all readers share the text. */
export type StoredEvent = {
  sessionId: string;
  seq: number;
  kind: EventKind;
  requestId: string | null;
  runId: string | null;
  body: string;
};
