import type { CheckReport, Release, VariantRevision, VariantView } from "../state/view-types.ts";
import { describeCheck } from "./describe-check.ts";
import type { Tone } from "./state-words.ts";

type PublicationWords = { tone: Tone; title: string };

/** Describes which revision of a variant is published: `Revision 2 published`. */
export function describePublication({ revision, publication }: VariantView): PublicationWords {
  if (publication === null) return { tone: "quiet", title: "Not published" };
  const title = `Revision ${publication.revision} published`;
  if (publication.isUnchecked) return { tone: "attention", title: `${title} unchecked` };
  return { tone: publication.revision === revision ? "good" : "attention", title };
}

/** Describes the check that the revision had when the release was created. */
export const describeReleaseCheck = ({ check }: Release): PublicationWords =>
  check === null ? { tone: "attention", title: "Unchecked" } : describeCheck(check);

/**
 * A Content-Security-Policy that blocks the published script. `message` says what to add to the policy. `urls` are the
 * URLs of the pages that have the policy.
 */
type BlockingPolicy = { message: string; urls: string[] };

/** Lists the policies that block the published script, according to the findings of a check. */
export function listBlockingPolicies({ findings }: CheckReport): BlockingPolicy[] {
  const policies = new Map<string, string[]>();
  for (const { code, message, url } of findings) {
    if (code !== "csp_blocks_script") continue;
    const urls = policies.get(message) ?? [];
    policies.set(message, urls.includes(url) ? urls : [...urls, url]);
  }
  return [...policies].map(([message, urls]) => ({ message, urls }));
}

const DEMO_PATH = /^\/demo(\/|$)/;

/** Whether a variant changes a page of the demo shop. The service serves the shop at each of `origins`. */
export const changesDemoShop = ({ document }: VariantRevision, origins: string[]): boolean =>
  document.pages.some(({ url }) => {
    // The URL of a page of the variant may be a glob pattern, which is not always a valid URL.
    if (!URL.canParse(url)) return false;
    const { origin, pathname } = new URL(url);
    return origins.includes(origin) && DEMO_PATH.test(pathname);
  });
