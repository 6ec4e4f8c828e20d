import type { LandingPage, LandingPageVersion } from "../state/view-types.ts";
import { type ActionOutcome, callAction, pick } from "./call-action.ts";

/** The actions of the session page on the session's landing pages. Source: `wire.md`, Landing pages. */
export type PageActions = {
  /** Reads the versions of a page, newest first. */
  readPageVersions: (slug: string) => Promise<ActionOutcome<LandingPageVersion[]>>;
  /** Publishes another version of a page, even if the page is unpublished. */
  rollBackPage: (slug: string, version: number) => Promise<ActionOutcome<LandingPage>>;
  unpublishPage: (slug: string) => Promise<ActionOutcome<LandingPage>>;
};

/** @param actions path of the session's actions. */
export function createPageActions(actions: string, fetcher: typeof fetch): PageActions {
  const call = <Answer>(method: string, path: string, body?: unknown) =>
    callAction<Answer>(fetcher, method, `${actions}/pages/${path}`, body);
  const change = async (path: string, body?: unknown): Promise<ActionOutcome<LandingPage>> => {
    const outcome = await call<{ page: LandingPage }>("POST", path, body);
    return pick(outcome, "page");
  };
  return {
    async readPageVersions(slug) {
      const outcome = await call<{ data: LandingPageVersion[] }>("GET", `${slug}/versions`);
      return pick(outcome, "data");
    },
    rollBackPage: (slug, version) => change(`${slug}/rollback`, { version }),
    unpublishPage: (slug) => change(`${slug}/unpublish`),
  };
}
