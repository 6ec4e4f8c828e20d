import { z } from "zod";
import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import type { CleanedHtml } from "#lib/injected/tools/clean-html.ts";
import { shorten } from "#lib/text/shorten.ts";
import { quoteAsData } from "../../quote-as-data.ts";
import type { ToolResult } from "../../tool.ts";
import { ensureLiveBrowser } from "../ensure-live-browser.ts";
import type { HostServices } from "../host-services.ts";
import { readPage, withNotice } from "../page-copy/read-page.ts";
import { pageDeadline } from "../page-deadline.ts";
import { evaluateIn } from "../page-kit/evaluate-in-frame.ts";
import { FRAME_ARROW, withFrames } from "../page-kit/page-frames.ts";
import { readTitle } from "../page-kit/read-title.ts";
import { pageTool } from "../page-tool.ts";

const HTML_CHARS_MAX = 2_000_000;
const URL_CHARS_MAX = 2_000;
const CLEAN_MS_MAX = 10_000;
const WORK_MS_MAX = 30_000;

/** Saves the page's cleaned HTML as evidence. Source: specification, Structured sessions (`save_cleaned_html`). */
export const saveCleanedHtml = pageTool(
  {
    name: "save_cleaned_html",
    description:
      "Keeps the live page's HTML as evidence, with frames and shadow roots, without scripts and styles.",
    input: z.strictObject({ title: z.string().min(1).max(200).optional() }),
    idempotent: true,
    readOnly: true,
    changes: false,
    timeoutMs: 120_000,
  },
  (services: Pick<HostServices, "browser" | "evidence">) =>
    async ({ title }, call) => {
      const live = await ensureLiveBrowser(services.browser, call);
      const { value: page, notice } = await pageDeadline(call.signal, WORK_MS_MAX).race(() =>
        readPage(live, readCleanedPage),
      );
      const bytes = new TextEncoder().encode(joinFrames(page));
      const pointer = await services.evidence.save({
        sessionId: call.sessionId,
        runId: call.runId,
        kind: "html",
        title: title ?? shorten(`HTML of ${page.title || page.url}`, 200),
        url: page.url,
        mediaType: "text/html",
        bytes,
      });
      const text = describePage(page, pointer.id, bytes.byteLength);
      const result: ToolResult = {
        isError: false,
        content: [
          { type: "text", text },
          { type: "evidence", evidence: pointer },
        ],
      };
      return withNotice(result, notice);
    },
);

type CleanedPage = {
  url: string;
  title: string;
  main: CleanedHtml;
  frames: { label: string; cleaned: CleanedHtml }[];
};

/**
 * Reads the cleaned HTML of the page and its frames, up to `HTML_CHARS_MAX` characters in all. Leaves out inner frames
 * that do not answer, and all frames after the limit is reached.
 */
function readCleanedPage(live: LiveBrowser): Promise<CleanedPage> {
  return withFrames(live, async ([first, ...others], page) => {
    if (!first) throw new Error("The page is gone; try again.");
    const main = await evaluateIn(first, "cleanHtml", HTML_CHARS_MAX, CLEAN_MS_MAX);
    const frames: CleanedPage["frames"] = [];
    let charsLeft = HTML_CHARS_MAX - main.html.length;
    for (const frame of others) {
      if (charsLeft <= 0) break;
      const cleaned = await evaluateIn(frame, "cleanHtml", charsLeft, CLEAN_MS_MAX).catch(() => undefined);
      if (!cleaned) continue;
      charsLeft -= cleaned.html.length;
      frames.push({ label: `${frame.path.join(FRAME_ARROW)} ${frame.url}`, cleaned });
    }
    return { url: shorten(page.url(), URL_CHARS_MAX), title: await readTitle(page), main, frames };
  });
}

function joinFrames({ main, frames }: CleanedPage): string {
  const parts = frames.map(
    ({ label, cleaned }) => `<!-- frame ${label.replaceAll("--", "- -")} -->\n${cleaned.html}`,
  );
  return ["<!doctype html>", main.html, ...parts].join("\n");
}

function describePage(page: CleanedPage, evidenceId: string, sizeBytes: number): string {
  const { url, title, main, frames } = page;
  const { links, forms, fields, images } = main.counts;
  const isCut = main.isCut || frames.some(({ cleaned }) => cleaned.isCut);
  const outline = [
    `url: ${url}`,
    `title: ${title}`,
    `${links} links, ${forms} forms, ${fields} fields, ${images} images`,
    ...(main.outline.length > 0 ? main.outline : ["(no headings)"]),
  ].join("\n");
  return [
    `Evidence ${evidenceId}`,
    `time: ${new Date().toISOString()}`,
    `size: ${sizeBytes} bytes${isCut ? " (cut at the limit)" : ""}, ${frames.length + 1} ${frames.length === 0 ? "frame" : "frames"}`,
    quoteAsData("the page", outline),
  ].join("\n");
}
