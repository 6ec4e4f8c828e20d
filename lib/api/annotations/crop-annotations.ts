import type { BrowserService } from "#lib/browser/browser-service.ts";
import type { EvidenceStore } from "#lib/evidence/evidence.ts";
import type { SoughtAnnotation } from "./look-for-annotations.ts";

/** How many annotations of a message get a picture. */
const CROPS_MAX = 6;

/** The evidence with the picture of each annotation, by the annotation's id. `discard` removes what was stored. */
type Crops = { evidenceIds: ReadonlyMap<string, string>; discard: () => Promise<void> };

/**
 * Takes pictures of the page at annotations that were just found there, and stores them as evidence, because the page may
 * change but the picture in the transcript must not. An annotation that is not in view has none. Source: decision 118.
 */
export async function cropAnnotations(
  {
    browser,
    evidence,
  }: { browser: Pick<BrowserService, "captureBoxes" | "readStatus">; evidence: EvidenceStore },
  sessionId: string,
  found: readonly SoughtAnnotation[],
): Promise<Crops> {
  const wanted = found
    .flatMap(({ id, elements }) => {
      const first = elements.find((element) => element.state === "found" && element.box !== null);
      return first?.state === "found" && first.box ? [{ id, box: first.box }] : [];
    })
    .slice(0, CROPS_MAX);
  const evidenceIds = new Map<string, string>();
  const discard = async () => {
    for (const id of evidenceIds.values()) await evidence.discard(sessionId, id);
  };
  if (wanted.length === 0) return { evidenceIds, discard };
  const { currentUrl: url } = await browser.readStatus(sessionId);
  const pictures = await browser.captureBoxes(
    sessionId,
    wanted.map(({ box }) => box),
  );
  try {
    for (const [index, { id }] of wanted.entries()) {
      const bytes = pictures?.[index];
      if (!bytes) continue;
      const title = `The page at annotation ${id}`;
      const kind = "screenshot";
      const mediaType = "image/jpeg";
      const stored = await evidence.save({ sessionId, runId: null, kind, title, url, mediaType, bytes });
      evidenceIds.set(id, stored.id);
    }
    return { evidenceIds, discard };
  } catch (error) {
    await discard();
    throw error;
  }
}
