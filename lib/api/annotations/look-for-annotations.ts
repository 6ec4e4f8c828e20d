import { z } from "zod";
import type { Database } from "#db/client.ts";
import type { AnnotationStatus } from "#db/schema/unions.ts";
import { type AnnotationRow, findAnnotations, listAnnotationRows } from "#lib/annotation/annotation-store.ts";
import { recordSight } from "#lib/annotation/record-sight.ts";
import type { BrowserService } from "#lib/browser/browser-service.ts";
import type { ElementAnchor, SoughtElement } from "#lib/browser/overlay/locate/find-elements.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import type { Box } from "#lib/injected/overlay/overlay-state.ts";

type Deps = {
  db: Database;
  log: EventLog;
  browser: Pick<BrowserService, "readStatus" | "findElements">;
};

/** How many annotations and how many elements are looked for in one call. The others stay as they are. */
const ANNOTATIONS_MAX = 50;
const ELEMENTS_MAX = 100;

/** An annotation of the page that the browser shows, with what was found of each of its elements. */
export type SoughtAnnotation = { id: string; elements: SoughtElement[] };

/**
 * Looks for the elements of open, lost and sent annotations on the page that the browser shows, and records which of them are
 * lost. Annotations of other pages are left out. Starts no browser. Source: `wire.md`, Annotations.
 *
 * @param ids the open and lost annotations to look for; the newest ones of the session if omitted.
 */
export async function lookForAnnotations(
  { db, log, browser }: Deps,
  sessionId: string,
  ids?: readonly string[],
): Promise<SoughtAnnotation[]> {
  // A message sends only open and lost ones. Sent ones are looked for because people see them on the page.
  const statuses: readonly AnnotationStatus[] = ids ? ["open", "lost"] : ["open", "lost", "sent"];
  const rows = ids
    ? (await findAnnotations(db, sessionId, ids)).filter(({ status }) =>
        statuses.some((each) => each === status),
      )
    : await listAnnotationRows(db, sessionId, { status: statuses, limit: ANNOTATIONS_MAX });
  if (rows.length === 0) return [];
  const { currentUrl } = await browser.readStatus(sessionId);
  const wanted = selectWanted(rows, currentUrl);
  if (wanted.length === 0) return [];
  const sought = await browser.findElements(
    sessionId,
    wanted.flatMap(({ anchors }) => anchors.map(({ marked: _, ...anchor }) => anchor)),
  );
  // The page may have navigated meanwhile.
  if (!sought || pageOf(sought.url) !== pageOf(currentUrl)) return [];
  let at = 0;
  const found = wanted.map(({ row, anchors }): SoughtAnnotation => {
    const elements = anchors.map((anchor, index) => ofMarked(sought.elements[at + index], anchor));
    at += anchors.length;
    return { id: row.id, elements };
  });
  const sights = new Map<string, boolean>();
  for (const [index, { id, elements }] of found.entries()) {
    const isThere = elements.some(({ state }) => state === "found");
    const isGone = elements.every(({ state }) => state === "gone");
    const status = wanted[index]?.row.status;
    if ((status === "lost" && isThere) || (status === "open" && isGone)) sights.set(id, isThere);
  }
  if (sights.size > 0) await recordSight({ log }, sessionId, sights);
  return found;
}

type Wanted = { row: AnnotationRow; anchors: MarkedAnchor[] };

/** The anchor of a note, and where the part that a person marked is in the box of its element; null for the whole. */
type MarkedAnchor = ElementAnchor & { marked: Box | null };

/** Reduces the box of an element to the part of it that a person marked. */
function ofMarked(element: SoughtElement = { state: "unknown" }, { marked }: MarkedAnchor): SoughtElement {
  if (element.state !== "found" || !element.box || !marked) return element;
  const { x, y } = element.box;
  return { ...element, box: { ...marked, x: x + marked.x, y: y + marked.y } };
}

/** Selects the annotations of a page that have anchors, as many as one call looks for. */
function selectWanted(rows: readonly AnnotationRow[], currentUrl: string | null): Wanted[] {
  const page = pageOf(currentUrl);
  let count = 0;
  return rows.flatMap((row): Wanted[] => {
    if (page === undefined || pageOf(row.payload.url) !== page) return [];
    const notes = Array.isArray(row.payload.annotations) ? row.payload.annotations : [];
    const anchors = notes.flatMap((note) => toAnchor(note) ?? []);
    count += anchors.length;
    return anchors.length > 0 && count <= ELEMENTS_MAX ? [{ row, anchors }] : [];
  });
}

/** The address of a page without its fragment, which names a place in the page. */
function pageOf(url: unknown): string | undefined {
  const parsed = typeof url === "string" ? URL.parse(url) : null;
  if (!parsed) return undefined;
  parsed.hash = "";
  return parsed.href;
}

const textUpTo = (max: number) => z.string().min(1).max(max).nullable().catch(null);
const boxSchema = z
  .object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() })
  .nullable()
  .catch(null);
const noteSchema = z.object({
  selector: textUpTo(10_000),
  shadowSelector: textUpTo(10_000),
  frame: textUpTo(10_000),
  role: textUpTo(100),
  name: textUpTo(1_000),
  text: textUpTo(160),
  element: textUpTo(500),
  boundingBox: boxSchema,
  area: boxSchema,
});

/** Reads the anchors of a note. Anyone can submit one, so its fields may be of any type. Undefined if it has none. */
function toAnchor(note: unknown): MarkedAnchor | undefined {
  const parsed = noteSchema.safeParse(note);
  if (!parsed.success) return undefined;
  const { selector, shadowSelector, frame, role, name, text, element, boundingBox, area } = parsed.data;
  if (selector === null && (role === null || name === null) && text === null) return undefined;
  // The overlay's label begins with the name of the tag. Other senders may write anything there.
  const tag = /^[a-z][a-z0-9-]*(?= “|$)/.exec(element ?? "")?.[0] ?? null;
  const center = boundingBox && {
    x: boundingBox.x + boundingBox.width / 2,
    y: boundingBox.y + boundingBox.height / 2,
  };
  const marked = boundingBox && area && { ...area, x: area.x - boundingBox.x, y: area.y - boundingBox.y };
  return { selector, shadowSelector, frame, traits: { tag, role, name, text, center }, marked };
}
