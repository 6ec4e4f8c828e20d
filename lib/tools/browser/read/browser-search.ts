import { z } from "zod";
import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import type { TextMatch } from "#lib/injected/tools/search-text.ts";
import { countOf } from "#lib/text/count-of.ts";
import { shorten } from "#lib/text/shorten.ts";
import { quoteAsData } from "../../quote-as-data.ts";
import { errorResult, textResult } from "../../tool.ts";
import { ensureLiveBrowser } from "../ensure-live-browser.ts";
import type { HostServices } from "../host-services.ts";
import { answerFromPage } from "../page-copy/read-page.ts";
import { pageDeadline } from "../page-deadline.ts";
import { evaluateIn } from "../page-kit/evaluate-in-frame.ts";
import { FRAME_ARROW, withFrames } from "../page-kit/page-frames.ts";
import { pageTool } from "../page-tool.ts";

const input = z.strictObject({
  query: z.string().min(1).max(500),
  regex: z.boolean().default(false).describe("query is a regular expression"),
  limit: z.number().int().min(1).max(100).default(20),
});

/**
 * Maximum duration of the search in one frame. Chromium ends a longer search. Without the limit, a regular expression
 * could backtrack endlessly.
 */
const SEARCH_MS_MAX = 4_000;
const WORK_MS_MAX = 20_000;

/**
 * Searches the text of the page and all its frames. Also finds text that is not visible, and marks it as such.
 * Source: specification, Structured sessions (`browser_search`).
 */
export const browserSearch = pageTool(
  {
    name: "browser_search",
    description:
      "Finds a phrase on the live page, also in frames, shadow roots and form values: each match with its surroundings, selector and frame.",
    input,
    idempotent: true,
    readOnly: true,
    changes: false,
    timeoutMs: 120_000,
  },
  (services: Pick<HostServices, "browser">) =>
    async ({ query, regex, limit }, call) => {
      const problem = regex ? explainExpression(query) : undefined;
      if (problem) return errorResult(problem);
      const live = await ensureLiveBrowser(services.browser, call);
      const read = (from: LiveBrowser) =>
        withFrames(from, async (frames, page) => {
          let total = 0;
          const unanswered: string[] = [];
          const matches: (TextMatch & { frame?: string })[] = [];
          for (const frame of frames) {
            const found = await evaluateIn(
              frame,
              "searchText",
              { query, isRegex: regex, limit: limit - matches.length },
              SEARCH_MS_MAX,
            ).catch(() => undefined);
            if (!found) {
              unanswered.push(frame.key);
              continue;
            }
            total += found.total;
            for (const match of found.matches) {
              const visible = match.visible && frame.isVisible;
              matches.push({
                ...match,
                visible,
                ...(frame.path.length > 0 && { frame: frame.path.join(FRAME_ARROW) }),
              });
            }
          }
          if (unanswered.length === frames.length) {
            return errorResult(
              "The search took too long and was ended; simplify the expression, or search for plain text.",
            );
          }
          const lines = [
            `${countOf(total, "match", "matches")} for ${regex ? `/${query}/i` : `"${query}"`} in ${countOf(frames.length, "frame")}${total > matches.length ? `, the first ${matches.length} shown` : ""}.`,
            ...(unanswered.length > 0
              ? [`Not searched, as they did not answer: ${unanswered.join(", ")}.`]
              : []),
            ...matches.map(
              ({ snippet, selector, tag, visible, frame }, index) =>
                `${index + 1}. ${snippet}\n   ${tag} ${selector ?? "(in a closed shadow root)"}${frame ? ` in frame ${frame}` : ""}${visible ? "" : " (not visible)"}`,
            ),
          ];
          return textResult(
            quoteAsData("the page", [`Page: ${shorten(page.url(), 500)}`, ...lines].join("\n")),
          );
        });
      return pageDeadline(call.signal, WORK_MS_MAX).race(() => answerFromPage(live, read));
    },
);

function explainExpression(query: string): string | undefined {
  try {
    new RegExp(query, "gim");
    return undefined;
  } catch (error) {
    return `query: ${error instanceof Error ? error.message : "not a regular expression"}.`;
  }
}
