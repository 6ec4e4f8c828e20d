import type { EvidenceStore } from "#lib/evidence/evidence.ts";
import { errorText } from "#lib/text/error-text.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import type { PictureComparer } from "#lib/tools/browser/compare/picture-comparer.ts";
import { encodeDifference } from "#lib/tools/browser/compare/pictures.ts";
import type { CheckedPage } from "../check-report.ts";
import { VIEWPORTS } from "../check-report.ts";
import type { CheckTarget } from "../load/check-context.ts";
import type { PageLoad } from "../load/open-load.ts";

/** A PNG picture of a page, at most 6,000 px high. */
export type PagePicture = { bytes: Uint8Array; size: { width: number; height: number } };

/** The pictures of a page without the variant and with it. */
export type PagePictures = { title: string; before: PagePicture; after: PagePicture };

/** Dependencies for storing and comparing pictures. */
export type PictureDeps = {
  evidence: Pick<EvidenceStore, "save">;
  compare: PictureComparer;
  owner: { sessionId: string; runId: string | null };
};

const HEIGHT_MAX = 6_000;
const TITLE_MAX = 100;
/** Maximum difference between two colours that count as equal, from 0 to 1. */
const THRESHOLD = 0.1;

/** Takes a picture of a page, as wide as the viewport and at most 6,000 px high. */
export async function takePagePicture(load: PageLoad, { viewport }: CheckTarget): Promise<PagePicture> {
  const { width, height: heightMin } = VIEWPORTS[viewport];
  const pageHeight = await load.look("readHeight", null);
  const height = Math.min(Math.max(pageHeight, heightMin), HEIGHT_MAX);
  return { bytes: await load.capture({ x: 0, y: 0, width, height }), size: { width, height } };
}

/**
 * Stores the pictures of a page without and with the variant. If they differ, also stores a picture of the differences.
 *
 * @throws the errors of the evidence store, or the signal's reason if the check is stopped.
 */
export async function storePictures(
  deps: PictureDeps,
  { url, viewport }: Pick<CheckTarget, "url" | "viewport">,
  { title, before, after }: PagePictures,
  signal: AbortSignal,
): Promise<{ pictures: CheckedPage["pictures"]; notes: string[] }> {
  const save = (what: string, kind: "screenshot" | "file", bytes: Uint8Array) =>
    deps.evidence.save({
      ...deps.owner,
      kind,
      title: `${what}: ${beginningOf(title, TITLE_MAX)} (${viewport})`,
      url,
      mediaType: "image/png",
      bytes,
    });
  const drawn = await drawDifference(deps, before, after, signal);
  const pictures = {
    before: await save("Before", "screenshot", before.bytes),
    after: await save("After", "screenshot", after.bytes),
    difference: drawn.png ? await save("Difference", "file", drawn.png) : null,
  };
  const notes = drawn.problem
    ? [`${url} (${viewport}): the pictures were not compared. ${drawn.problem}`]
    : [];
  return { pictures, notes };
}

/**
 * Compares the two pictures.
 * @returns a picture of the differences, if there are any, or why the pictures were not compared.
 */
async function drawDifference(
  { compare }: PictureDeps,
  before: PagePicture,
  after: PagePicture,
  signal: AbortSignal,
): Promise<{ png?: Uint8Array; problem?: string }> {
  if (Buffer.compare(before.bytes, after.bytes) === 0) return {};
  try {
    const difference = await compare(before, after, { threshold: THRESHOLD, signal });
    return difference.differingPixels === 0
      ? {}
      : { png: (await encodeDifference(difference.picture, difference.overlap)).png };
  } catch (error) {
    signal.throwIfAborted();
    return { problem: errorText(error) };
  }
}
