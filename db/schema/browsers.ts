import { index, integer, json, jsonb, pgTable, text } from "drizzle-orm/pg-core";
import { bytes, createdAt, instant, oneOf } from "./columns.ts";
import { runs } from "./runs.ts";
import { sessions } from "./sessions.ts";
import {
  BROWSER_STATUSES,
  type BrowserStatus,
  ELICITATION_STATES,
  type ElicitationState,
  EVIDENCE_KINDS,
  type EvidenceKind,
  PAGE_WANTS,
  type PageWant,
} from "./unions.ts";

/** The browser of a session, as its status endpoint tells it. A session without a row is `idle`. */
export const browsers = pgTable(
  "browsers",
  {
    sessionId: text("session_id")
      .primaryKey()
      .references(() => sessions.id, { onDelete: "cascade" }),
    status: text("status").$type<BrowserStatus>().notNull(),
    /** The process that holds it (its database connections carry this name); null while nobody does. */
    owner: text("owner"),
    /** The page that the session targets: chosen at its creation or by a retarget. */
    desiredUrl: text("desired_url"),
    lastNavigatedUrl: text("last_navigated_url"),
    /** Address of the last http(s) page shown; a browser that starts again comes back to it. */
    returnUrl: text("return_url"),
    /**
     * Progress of the page wanted last: `desiredUrl` is `selected` until it is reached or `refused`; a browser that
     * starts again is `returning` to its last page; `reached` from the first page that the browser shows after that.
     */
    pageWant: text("page_want").$type<PageWant>().notNull().default("reached"),
    currentUrl: text("current_url"),
    lastError: text("last_error"),
    /** Raised by every retarget: the outcome of an older navigation does not overwrite a newer one's. */
    retargets: integer("retargets").notNull().default(0),
    /** How often a browser was started for the session. */
    starts: integer("starts").notNull().default(0),
    lastUsedAt: instant("last_used_at").notNull().defaultNow(),
    updatedAt: instant("updated_at").notNull().defaultNow(),
  },
  (table) => [
    oneOf("browsers_status", table.status, BROWSER_STATUSES),
    oneOf("browsers_page_want", table.pageWant, PAGE_WANTS),
  ],
);

/** What the page of a session looked like last: shown while no browser runs. One for each session. */
export const pagePictures = pgTable("page_pictures", {
  sessionId: text("session_id")
    .primaryKey()
    .references(() => sessions.id, { onDelete: "cascade" }),
  mediaType: text("media_type").notNull(),
  bytes: bytes("bytes").notNull(),
  takenAt: instant("taken_at").notNull().defaultNow(),
});

/** A remark made by a person in the live browser's overlay. */
export const annotations = pgTable(
  "annotations",
  {
    id: text("id").primaryKey(),
    sessionId: text("session_id")
      .notNull()
      .references(() => sessions.id, { onDelete: "cascade" }),
    event: text("event").notNull(),
    /** The submission as it came, unknown keys included. */
    payload: json("payload").$type<Record<string, unknown>>().notNull(),
    createdAt: createdAt(),
  },
  (table) => [index("annotations_session").on(table.sessionId, table.createdAt)],
);

/** A picture or saved page that a turn made; the bytes lie in the file store under `path`. */
export const evidence = pgTable(
  "evidence",
  {
    id: text("id").primaryKey(),
    sessionId: text("session_id")
      .notNull()
      .references(() => sessions.id, { onDelete: "cascade" }),
    runId: text("run_id").references(() => runs.id, { onDelete: "cascade" }),
    kind: text("kind").$type<EvidenceKind>().notNull(),
    title: text("title").notNull(),
    /** Address of the page at that moment. */
    url: text("url"),
    mediaType: text("media_type").notNull(),
    sizeBytes: integer("size_bytes").notNull(),
    /** Path below the data folder. */
    path: text("path").notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    index("evidence_session").on(table.sessionId, table.createdAt),
    index("evidence_run").on(table.runId),
    oneOf("evidence_kind", table.kind, EVIDENCE_KINDS),
  ],
);

/** A field of a form, in the words of JSON Schema. */
export type FormField = {
  type: "string" | "number" | "integer" | "boolean" | "array";
  title?: string | undefined;
  description?: string | undefined;
  default?: FormValue | undefined;
  enum?: string[] | undefined;
  oneOf?: { const: string; title?: string | undefined }[] | undefined;
  items?:
    | {
        type?: "string" | undefined;
        enum?: string[] | undefined;
        anyOf?: { const: string; title?: string | undefined }[] | undefined;
      }
    | undefined;
  format?: "date" | "date-time" | "email" | "uri" | undefined;
  minLength?: number | undefined;
  maxLength?: number | undefined;
  minimum?: number | undefined;
  maximum?: number | undefined;
  minItems?: number | undefined;
  maxItems?: number | undefined;
};
export type FormValue = string | number | boolean | string[];
/** The form of a question: a flat JSON Schema. */
export type ElicitationForm = {
  type: "object";
  properties: Record<string, FormField>;
  required: string[];
};
export type ElicitationAnswer = string | Record<string, FormValue>;

/** A question the agent asked a person. */
export const elicitations = pgTable(
  "elicitations",
  {
    id: text("id").primaryKey(),
    sessionId: text("session_id")
      .notNull()
      .references(() => sessions.id, { onDelete: "cascade" }),
    runId: text("run_id")
      .notNull()
      .references(() => runs.id, { onDelete: "cascade" }),
    callId: text("call_id").notNull(),
    question: text("question").notNull(),
    /** Choices offered, if any. */
    options: jsonb("options").$type<string[]>(),
    /** The fields to fill in, if the question is a form. */
    form: json("form").$type<ElicitationForm>(),
    state: text("state").$type<ElicitationState>().notNull().default("open"),
    /** Text; for a form, the values of its fields by name. */
    answer: json("answer").$type<ElicitationAnswer>(),
    /** When the question is no longer asked. */
    expiresAt: instant("expires_at").notNull(),
    createdAt: createdAt(),
    resolvedAt: instant("resolved_at"),
  },
  (table) => [
    index("elicitations_session").on(table.sessionId, table.createdAt),
    index("elicitations_run").on(table.runId),
    oneOf("elicitations_state", table.state, ELICITATION_STATES),
  ],
);
