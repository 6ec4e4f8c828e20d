import { countOf } from "#lib/text/count-of.ts";
import type { LandingPage, LandingPageVersion } from "../state/view-types.ts";

type PageWords = { tone: "good" | "quiet" | "attention"; title: string };

/** Which version of a landing page is served. */
export function describePage({ version, newestVersion }: LandingPage): PageWords {
  if (version === null) return { tone: "quiet", title: "Unpublished" };
  const title = `Version ${version} published`;
  return { tone: version === newestVersion ? "good" : "attention", title };
}

const UNITS = ["bytes", "KiB", "MiB"];

/** A size for people: `980 bytes`, `17.8 KiB`. */
function formatSize(bytes: number): string {
  const exponent = bytes < 1_024 ? 0 : bytes < 1_048_576 ? 1 : 2;
  const value = bytes / 1_024 ** exponent;
  return `${exponent === 0 ? value : value.toFixed(1)} ${UNITS[exponent]}`;
}

/** The size of a version: `4 files, 17.8 KiB`. */
export const describeFiles = ({ files, bytes }: Pick<LandingPageVersion, "files" | "bytes">): string =>
  `${countOf(files, "file")}, ${formatSize(bytes)}`;

/** Names the version that a call of `deploy_landing_page` made: `version 2 of sale`. Null if the result names none. */
export const describeDeployOfCall = (result: string): string | null =>
  /^Deployed (version \d+ of [a-z0-9-]+):/.exec(result)?.[1] ?? null;
