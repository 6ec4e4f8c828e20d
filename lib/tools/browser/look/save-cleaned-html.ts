import { z } from "zod";
import { quoteAsData } from "../../quote-as-data.ts";
import type { ToolServices } from "../../services.ts";
import { defineTool } from "../../tool.ts";
import { openLive } from "../live-page-of.ts";
import { withinDeadline } from "../within-deadline.ts";
import { type CleanedHtml, cleanHtml } from "./clean-html.ts";
import { evaluateIn } from "./evaluate-in-frame.ts";
import { FRAME_ARROW, withFrames } from "./page-frames.ts";

const HTML_CHARS_MAX = 2_000_000;
const CLEAN_MS_MAX = 10_000;
const WORK_MS_MAX = 30_000;

/** Saves the page's cleaned HTML as evidence. Source: specification, Structured sessions (`save_cleaned_html`). */
export const saveCleanedHtml = (services: Pick<ToolServices, "browser" | "evidence">) =>
  defineTool({
    name: "save_cleaned_html",
    description:
      "Saves the HTML of the page in the live browser as it is now, without scripts, handlers, styles and embedded data, open shadow roots and frames included. It is kept as evidence of kind html; the answer gives id, address, size and the page's outline.",
    input: z.strictObject({ title: z.string().min(1).max(200).optional() }),
    needs: "browser",
    profile: "analysis",
    idempotent: true,
    readOnly: true,
    timeoutMs: 120_000,
    async execute({ title }, call) {
      const live = await openLive(services.browser, call);
      const { url, pageTitle, main, parts } = await withinDeadline(call.signal, WORK_MS_MAX, () =>
        withFrames(live, async (frames, page) => {
          const [first, ...others] = frames;
          if (!first) throw new Error("The page is gone; try again.");
          const main = await evaluateIn(first, cleanHtml, HTML_CHARS_MAX, CLEAN_MS_MAX);
          const parts: { label: string; cleaned: CleanedHtml }[] = [];
          let left = HTML_CHARS_MAX - main.html.length;
          for (const frame of others) {
            const cleaned =
              left > 0 && (await evaluateIn(frame, cleanHtml, left, CLEAN_MS_MAX).catch(() => undefined));
            if (!cleaned) continue;
            left -= cleaned.html.length;
            parts.push({ label: `${frame.path.join(FRAME_ARROW)} ${frame.url}`, cleaned });
          }
          return { url: page.url(), pageTitle: await page.title(), main, parts };
        }),
      );
      const html = [
        "<!doctype html>",
        main.html,
        ...parts.map(
          ({ label, cleaned }) => `<!-- frame ${label.replaceAll("--", "- -")} -->\n${cleaned.html}`,
        ),
      ].join("\n");
      const bytes = new TextEncoder().encode(html);
      const pointer = await services.evidence.save({
        sessionId: call.sessionId,
        runId: call.runId,
        kind: "html",
        title: title ?? `HTML of ${pageTitle || url}`.slice(0, 200),
        url,
        mediaType: "text/html",
        bytes,
      });
      const { links, forms, fields, images } = main.counts;
      const text = [
        `Evidence ${pointer.id}: ${pointer.title}`,
        `url: ${url}`,
        `time: ${new Date().toISOString()}`,
        `size: ${bytes.byteLength} bytes${main.isCut || parts.some(({ cleaned }) => cleaned.isCut) ? " (cut at the limit)" : ""}, ${parts.length + 1} ${parts.length === 0 ? "frame" : "frames"}`,
        quoteAsData(
          url,
          [
            `title: ${pageTitle}`,
            `${links} links, ${forms} forms, ${fields} fields, ${images} images`,
            ...(main.outline.length > 0 ? main.outline : ["(no headings)"]),
          ].join("\n"),
        ),
      ].join("\n");
      return {
        isError: false,
        content: [
          { type: "text", text },
          { type: "evidence", evidence: pointer },
        ],
      };
    },
  });
