import { errorText } from "#lib/text/error-text.ts";
import type { Box } from "#lib/tools/browser/compare/pictures.ts";
import { type Finding, VIEWPORTS } from "../check-report.ts";
import type { CheckContext, CheckTarget } from "../load/check-context.ts";
import type { PageLoad } from "../load/open-load.ts";
import type { PictureDeps } from "./take-pictures.ts";

/** JPEG pictures of parts of a page, by the finding that they belong to. */
export type Clips = ReadonlyMap<Finding, Uint8Array>;

/** Takes pictures of the elements that findings on one page are about. */
export type ClipTaker = {
  clips: Clips;
  /** One sentence for each load on which no picture could be taken. */
  notes: string[];
  /**
   * Takes a picture for each failure that concerns a change, as the load shows it now. Several findings about one change
   * share a picture. The first call also remembers where the elements of all changes are.
   *
   * @throws the signal's reason if the check is stopped.
   */
  take: (load: PageLoad, findings: readonly Finding[]) => Promise<void>;
};

/** Maximum number of pictures on one page at one width, and of pictures that one check stores. */
const PAGE_CLIPS_MAX = 6;
export const CLIPS_MAX = 12;
/** Space around the element, in CSS pixels. */
const MARGIN = 24;
const SIZE_MAX = { width: 1_280, height: 800 };
/** Findings that do not concern the page as the load shows it after the step. */
const WITHOUT_CLIP = new Set<Finding["code"]>(["not_examined", "stayed_after_leaving", "revert_left_trace"]);

/** Creates a {@link ClipTaker} for a page at one width. */
export function createClipTaker(check: CheckContext, target: CheckTarget): ClipTaker {
  const clips = new Map<Finding, Uint8Array>();
  const notes: string[] = [];
  let boxes: Record<string, Box> = {};
  let isLocated = false;
  let taken = 0;
  return {
    clips,
    notes,
    async take(load, findings) {
      const byChange = Map.groupBy(
        findings.filter(({ level, code }) => level === "fail" && !WITHOUT_CLIP.has(code)),
        ({ changeId }) => changeId,
      );
      if (isLocated && byChange.size === 0) return;
      try {
        // An element that is gone is shown at its last place.
        boxes = { ...boxes, ...(await load.look("findBoxes", null)) };
        isLocated = true;
        for (const [changeId, found] of byChange) {
          const box = boxes[changeId ?? ""];
          if (!box || taken >= PAGE_CLIPS_MAX) continue;
          taken += 1;
          const picture = await load.capture(clipAround(box, VIEWPORTS[target.viewport].width), "jpeg");
          for (const finding of found) clips.set(finding, picture);
        }
      } catch (error) {
        // The step before may have broken the page. The findings are complete without the pictures.
        check.signal.throwIfAborted();
        notes.push(`${target.url} (${target.viewport}): findings have no picture. ${errorText(error)}`);
      }
    },
  };
}

/** Adds the margin to a box, and cuts it to the page's left and upper side and to the maximum size. */
function clipAround({ x, y, width, height }: Box, pageWidth: number): Box {
  const left = Math.min(Math.max(0, Math.floor(x - MARGIN)), pageWidth - 1);
  const top = Math.max(0, Math.floor(y - MARGIN));
  return {
    x: left,
    y: top,
    width: Math.min(Math.ceil(x + width + MARGIN) - left, SIZE_MAX.width),
    height: Math.min(Math.ceil(y + height + MARGIN) - top, SIZE_MAX.height),
  };
}

/**
 * Stores pictures with their findings. Findings that share a picture get the same evidence.
 *
 * @param budget how many pictures the check may still store. Is lowered by the stored ones.
 * @throws the errors of the evidence store.
 */
export async function storeClips(
  { evidence, owner }: PictureDeps,
  { url, viewport }: Pick<CheckTarget, "url" | "viewport">,
  clips: Clips,
  budget: { left: number },
): Promise<void> {
  const stored = new Map<Uint8Array, Finding["picture"]>();
  for (const [finding, bytes] of clips) {
    if (!stored.has(bytes)) {
      if (budget.left === 0) continue;
      budget.left -= 1;
      const title = `Finding about the change ${finding.changeId} (${viewport})`;
      const picture = { kind: "screenshot", title, url, mediaType: "image/jpeg", bytes } as const;
      stored.set(bytes, await evidence.save({ ...owner, ...picture }));
    }
    finding.picture = stored.get(bytes);
  }
}
