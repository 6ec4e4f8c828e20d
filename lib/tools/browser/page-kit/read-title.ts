import type { Page } from "playwright";
import { shorten } from "#lib/text/shorten.ts";
import { pageDeadline } from "../page-deadline.ts";
import { callInMainFrame } from "./tool-world.ts";

const TITLE_CHARS_MAX = 300;
const TITLE_MS_MAX = 1_000;

/** Reads the beginning of a page's title. Empty if the page is busy and does not answer. */
export const readTitle = (page: Page): Promise<string> =>
  pageDeadline(undefined, TITLE_MS_MAX)
    .race(async () => {
      // One character more than is shown is read, so that a longer title is marked as cut.
      const title = await callInMainFrame(page, "readTitle", [TITLE_CHARS_MAX + 1]);
      return shorten(title, TITLE_CHARS_MAX);
    })
    .catch(() => "");
