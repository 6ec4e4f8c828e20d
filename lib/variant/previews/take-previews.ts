import { storableText } from "#db/storable.ts";
import { faultPoint } from "#lib/faults/fault-point.ts";
import { findSession } from "#lib/session/store/session-store.ts";
import type { PageCall } from "#lib/tools/browser/page-tools.ts";
import { VIEWPORTS } from "../check/check-report.ts";
import { findRevision } from "../variant-store.ts";
import type { VariantToolServices } from "../variants-deps.ts";
import { listPreviews, type PreviewRow, replacePreviews } from "./preview-store.ts";
import type { PreviewToTake } from "./take-pictures.ts";

/** The fields that describe a preview before its picture is taken. */
export type WantedPreview = Pick<
  PreviewRow,
  "title" | "url" | "viewport" | "width" | "height" | "variant" | "scrollTo" | "caption"
>;

/**
 * Takes the picture of each preview on a fresh load of its page. Then replaces the session's previews and emits
 * `preview.updated`, in one transaction. If the picture of a preview cannot be taken, the preview is stored with an
 * error instead.
 *
 * @returns `notes` says in sentences what of the session the pictures do without, such as databases that are too large.
 */
export async function takePreviews(
  services: VariantToolServices,
  call: PageCall,
  wanted: readonly WantedPreview[],
): Promise<{ rows: PreviewRow[]; notes: string[] }> {
  await faultPoint("preview-begun");
  const revisions = await Promise.all(
    wanted.map(({ variant }) =>
      variant === null ? undefined : findRevision(services.db, call.rootSessionId, variant),
    ),
  );
  const previews = wanted.map((preview, index): PreviewToTake => {
    const revision = revisions[index];
    const { title, url, width, height, viewport, scrollTo, variant } = preview;
    const size = { width, height, isMobile: viewport === "phone" };
    return { title, url, ...size, scrollTo, variant, document: revision?.document ?? null };
  });
  const { pictures, notes } = await services.pages.previews(previews, call);
  const takenAt = new Date();
  const rows = wanted.map((preview, position): PreviewRow => {
    const picture = pictures[position] ?? { error: "the browser took no picture" };
    const row = { ...preview, sessionId: call.rootSessionId, position };
    return "error" in picture
      ? { ...row, revision: null, evidenceId: null, error: storableText(picture.error), takenAt: null }
      : {
          ...row,
          revision: revisions[position]?.number ?? null,
          evidenceId: picture.evidenceId,
          error: null,
          takenAt,
        };
  });
  await storePreviews(services, call, rows);
  return { rows, notes };
}

async function storePreviews(
  { log }: Pick<VariantToolServices, "log">,
  { rootSessionId, requestId, runId }: PageCall,
  rows: PreviewRow[],
): Promise<void> {
  await log.transact(rootSessionId, async (tx, emit) => {
    const session = await findSession(tx, rootSessionId);
    if (!session) return;
    await replacePreviews(tx, rootSessionId, rows);
    const previews = await listPreviews(tx, rootSessionId);
    emit({ kind: "preview.updated", requestId, runId, source: session.source, previews });
  });
}

/**
 * Converts the `viewport` of a tool's input to the fields of a preview. `viewport` is null if only a size was given.
 */
export const readViewport = (
  viewport: keyof typeof VIEWPORTS | { width: number; height: number },
): Pick<WantedPreview, "viewport" | "width" | "height"> =>
  typeof viewport === "string"
    ? { viewport, ...VIEWPORTS[viewport] }
    : { viewport: null, width: viewport.width, height: viewport.height };
