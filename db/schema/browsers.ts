import { sql } from "drizzle-orm";
import { index, integer, json, jsonb, pgTable, primaryKey, text, timestamp } from "drizzle-orm/pg-core";
import { bytes, createdAt, instant, oneOf } from "./columns.ts";
import { runs } from "./runs.ts";
import { sessions } from "./sessions.ts";
import {
  ANNOTATION_STATUSES,
  type AnnotationStatus,
  BROWSER_STATUSES,
  type BrowserStatus,
  ELICITATION_STATES,
  type ElicitationState,
  EVIDENCE_KINDS,
  type EvidenceKind,
  PAGE_WANTS,
  type PageWant,
  type PlanAuthor,
} from "./unions.ts";

/** The browser of a session, as the status endpoint reports it. A session without a row is `idle`. */
export const browsers = pgTable(
  "browsers",
  {
    sessionId: text("session_id")
      .primaryKey()
      .references(() => sessions.id, { onDelete: "cascade" }),
    status: text("status").$type<BrowserStatus>().notNull(),
    /** Id of the browser host that runs or starts the browser. Null while no host does. */
    hostId: text("host_id"),
    /**
     * URL of the session's target page. It is set when the session is created. A retarget (a client's request to show
     * another page) replaces it.
     */
    desiredUrl: text("desired_url"),
    lastNavigatedUrl: text("last_navigated_url"),
    /** URL of the last http(s) page that was shown; a restarted browser returns to it. */
    returnUrl: text("return_url"),
    /**
     * State of the navigation to a requested page. `selected`: `desiredUrl` has not been loaded yet. `refused`:
     * `desiredUrl` could not be loaded. `returning`: a restarted browser must load `returnUrl`. `reached`: no
     * navigation is outstanding.
     */
    pageWant: text("page_want").$type<PageWant>().notNull().default("reached"),
    currentUrl: text("current_url"),
    lastError: text("last_error"),
    /**
     * Number of retargets. The outcome of a navigation is stored only if this number has not changed since the
     * navigation began, so that it does not overwrite the outcome of a newer navigation.
     */
    retargets: integer("retargets").notNull().default(0),
    /**
     * Number of times that a browser was started for the session: the generation of the browser. Refs in snapshots are
     * derived from it.
     */
    starts: integer("starts").notNull().default(0),
    /**
     * The last change that a host has made. A host that got no answer repeats its change; the repetition then has no
     * effect.
     */
    lastChange: text("last_change"),
    /**
     * Since when the session waits for a place. Null while it does not wait. In microseconds, because it is the order of
     * the queue.
     */
    waitingSince: timestamp("waiting_since", { withTimezone: true, mode: "date", precision: 6 }),
    /**
     * What a person is told about the start of a browser in a session that had one already: what was restored, and what
     * was not. Null for the first browser.
     */
    restartNotice: text("restart_notice"),
    lastUsedAt: instant("last_used_at").notNull().defaultNow(),
    updatedAt: instant("updated_at").notNull().defaultNow(),
  },
  (table) => [
    oneOf("browsers_status", table.status, BROWSER_STATUSES),
    oneOf("browsers_page_want", table.pageWant, PAGE_WANTS),
    index("browsers_waiting").on(table.waitingSince).where(sql`waiting_since is not null`),
  ],
);

/** The last picture of a session's page. It is shown while the session has no running browser. */
export const pagePictures = pgTable("page_pictures", {
  sessionId: text("session_id")
    .primaryKey()
    .references(() => sessions.id, { onDelete: "cascade" }),
  mediaType: text("media_type").notNull(),
  bytes: bytes("bytes").notNull(),
  takenAt: instant("taken_at").notNull().defaultNow(),
});

/**
 * Cookies, local storage and databases of a session's browser, from which its next browser starts. A row has the cookies,
 * or what one origin has stored. Source: decision 097.
 */
export const siteData = pgTable(
  "site_data",
  {
    sessionId: text("session_id")
      .notNull()
      .references(() => sessions.id, { onDelete: "cascade" }),
    /** `cookies`, or Chromium's storage key of the origin. */
    name: text("name").notNull(),
    /** The data, compressed and encrypted. */
    sealed: text("sealed").notNull(),
    /** Size of the data as JSON. */
    sizeBytes: integer("size_bytes").notNull(),
    usedAt: instant("used_at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.sessionId, table.name] })],
);

/** A remark that a person submitted in the overlay of the live browser, and its status. */
export const annotations = pgTable(
  "annotations",
  {
    id: text("id").primaryKey(),
    sessionId: text("session_id")
      .notNull()
      .references(() => sessions.id, { onDelete: "cascade" }),
    event: text("event").notNull(),
    /** The submission as received, including unknown keys. */
    payload: json("payload").$type<Record<string, unknown>>().notNull(),
    status: text("status").$type<AnnotationStatus>().notNull().default("open"),
    /** What was done about it, in the words of the agent or of a person; null unless it is resolved. */
    resolution: text("resolution"),
    resolvedBy: text("resolved_by").$type<PlanAuthor>(),
    /** The request with whose message it was sent to the agent last. */
    sentRequestId: text("sent_request_id"),
    createdAt: createdAt(),
  },
  (table) => [
    index("annotations_session").on(table.sessionId, table.createdAt),
    oneOf("annotations_status", table.status, ANNOTATION_STATUSES),
  ],
);

/** A picture, page or file that a tool saved. Its bytes are not in the row but at `path`. */
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
    /** URL of the page that was open when the evidence was saved. */
    url: text("url"),
    mediaType: text("media_type").notNull(),
    sizeBytes: integer("size_bytes").notNull(),
    /** Path below the data folder, or `database:<oid>` if the bytes are in a large object of the database. */
    path: text("path").notNull(),
    createdAt: createdAt(),
  },
  (table) => [
    index("evidence_session").on(table.sessionId, table.createdAt),
    index("evidence_run").on(table.runId),
    oneOf("evidence_kind", table.kind, EVIDENCE_KINDS),
  ],
);

/** A field of a form, as JSON Schema. */
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

/** A question that the agent asked a person. */
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
    /** The answers that the person can choose from; null if the question offers none. */
    options: jsonb("options").$type<string[]>(),
    /** The form to fill in; null if the question is not a form. */
    form: json("form").$type<ElicitationForm>(),
    state: text("state").$type<ElicitationState>().notNull().default("open"),
    /** The text of the answer; for a form, the values of the form's fields by name. */
    answer: json("answer").$type<ElicitationAnswer>(),
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
