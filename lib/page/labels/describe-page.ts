import { countOf } from "#lib/text/count-of.ts";
import type { LandingPage, LandingPageVersion } from "../state/view-types.ts";
import { formatSize } from "./format.ts";

type PageWords = { tone: "good" | "quiet" | "attention"; title: string };

/** Describes which version of a landing page is published. */
export function describePage({ version, newestVersion }: LandingPage): PageWords {
  if (version === null) return { tone: "quiet", title: "Unpublished" };
  const title = `Version ${version} published`;
  return { tone: version === newestVersion ? "good" : "attention", title };
}

/** Describes the size of a version of a landing page: `4 files, 17.8 KiB`. */
export const describeFiles = ({ files, bytes }: Pick<LandingPageVersion, "files" | "bytes">): string =>
  `${countOf(files, "file")}, ${formatSize(bytes)}`;

/**
 * Names the version that a call of `deploy_landing_page` created: `version 2 of sale`. Null if the result has no
 * version.
 */
export const describeDeployOfCall = (result: string): string | null =>
  /^Deployed (version \d+ of [a-z0-9-]+):/.exec(result)?.[1] ?? null;
