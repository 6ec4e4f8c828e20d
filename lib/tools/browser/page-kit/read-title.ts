import type { Page } from "playwright";
import { shorten } from "#lib/text/shorten.ts";
import { withinDeadline } from "../within-deadline.ts";

const TITLE_CHARS_MAX = 300;
const TITLE_MS_MAX = 1_000;

/** Reads the beginning of a page's title. Empty if the page is busy and does not answer, or if the title is huge. */
export const readTitle = (page: Page): Promise<string> =>
  withinDeadline(new AbortController().signal, TITLE_MS_MAX, async () =>
    shorten(await page.title(), TITLE_CHARS_MAX),
  ).catch(() => "");
