import { z } from "zod";
import type { Database } from "#db/client.ts";
import { ANNOTATION_STATUSES } from "#db/schema/unions.ts";
import { listAnnotationRows } from "#lib/annotation/annotation-store.ts";
import { changeAnnotation, RESOLUTION_UNITS_MAX } from "#lib/annotation/change-annotation.ts";
import { writeAnnotation } from "#lib/annotation/write-annotation.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import { shorten } from "#lib/text/shorten.ts";
import { quoteAsData } from "../quote-as-data.ts";
import { defineTool, errorResult, type Tool } from "../tool.ts";

/** What the tools for annotations work with. */
type AnnotationDeps = { db: Database; log: EventLog };

/** How many annotations one call lists, and the largest length of the text of one, in UTF-16 units. */
const LISTED_MAX = 20;
const LISTED_UNITS_MAX = 2_000;

/** The tools with which the agent reads and resolves what people annotated on the page. Source: `wire.md`, Annotations. */
export const annotationTools = (deps: AnnotationDeps): Tool[] => [
  defineTool({
    name: "list_annotations",
    description: `Lists what people annotated on the page, newest first, ${LISTED_MAX} at most. Without a status: those that are not resolved.`,
    input: z.strictObject({ status: z.enum(ANNOTATION_STATUSES).optional() }),
    idempotent: true,
    readOnly: true,
    changes: false,
    readsStore: true,
    async execute({ status }, { rootSessionId }) {
      const statuses = status ? [status] : ANNOTATION_STATUSES.filter((each) => each !== "resolved");
      const rows = await listAnnotationRows(deps.db, rootSessionId, {
        status: statuses,
        limit: LISTED_MAX + 1,
      });
      if (rows.length === 0) return "There are no such annotations.";
      const listed = rows.slice(0, LISTED_MAX).map((row) => {
        const resolution = row.resolution === null ? "" : `\nresolution: ${row.resolution}`;
        return `[${row.status}] ${shorten(writeAnnotation(row), LISTED_UNITS_MAX)}${resolution}`;
      });
      const more =
        rows.length > LISTED_MAX ? `\nThere are more than ${LISTED_MAX}; these are the newest.` : "";
      return quoteAsData("people who annotated the page", listed.join("\n\n")) + more;
    },
  }),
  defineTool({
    name: "resolve_annotation",
    description: "Marks an annotation as resolved, after what it asks for is done, or if nothing is to do.",
    input: z.strictObject({
      id: z.string().min(1).max(100),
      resolution: z.string().trim().min(1).max(RESOLUTION_UNITS_MAX).describe("What you did, for the person"),
    }),
    idempotent: true,
    readOnly: false,
    changes: false,
    async execute({ id, resolution }, { rootSessionId, requestId, runId }) {
      const change = { status: "resolved", resolution } as const;
      const author = { by: "agent", requestId, runId } as const;
      const changed = await changeAnnotation(deps, rootSessionId, id, change, author);
      return changed
        ? `Resolved ${id}.`
        : errorResult(
            "resolve_annotation: id: the session has no such annotation; list_annotations has the ids.",
          );
    },
  }),
];
