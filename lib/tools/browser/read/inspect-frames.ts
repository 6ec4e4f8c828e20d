import { z } from "zod";
import { shorten } from "#lib/text/shorten.ts";
import { quoteAsData } from "../../quote-as-data.ts";
import { textResult } from "../../tool.ts";
import { ensureLiveBrowser } from "../ensure-live-browser.ts";
import type { HostServices } from "../host-services.ts";
import { answerFromPage } from "../page-copy/read-page.ts";
import { pageDeadline } from "../page-deadline.ts";
import { evaluateIn } from "../page-kit/evaluate-in-frame.ts";
import type { PageFrame } from "../page-kit/page-frame.ts";
import { FRAME_ARROW, withFrames } from "../page-kit/page-frames.ts";
import { pageTool } from "../page-tool.ts";

const WORK_MS_MAX = 20_000;
const URL_CHARS_MAX = 500;
const NAME_CHARS_MAX = 200;

/** Shows the frame tree of the page. Source: specification, Structured sessions (`inspect_frames`). */
export const inspectFrames = pageTool(
  {
    name: "inspect_frames",
    description: "Lists the frames of the live page: key, parent, address, title, selector path, box.",
    input: z.strictObject({}),
    idempotent: true,
    readOnly: true,
    changes: false,
    timeoutMs: 120_000,
  },
  (services: Pick<HostServices, "browser">) => async (_input, call) => {
    const live = await ensureLiveBrowser(services.browser, call);
    return pageDeadline(call.signal, WORK_MS_MAX).race(() =>
      answerFromPage(live, (from) =>
        withFrames(from, async (frames, page) =>
          textResult(
            quoteAsData(
              "the page",
              JSON.stringify(
                {
                  url: shorten(page.url(), URL_CHARS_MAX),
                  total: frames.length,
                  frames: await Promise.all(frames.map(describeFrame)),
                },
                null,
                1,
              ),
            ),
          ),
        ),
      ),
    );
  },
);

async function describeFrame(frame: PageFrame) {
  // A frame that has been removed or does not answer is listed without its title and counts.
  const counted = await evaluateIn(frame, "countElements", null).catch(() => undefined);
  const { width, height, ...counts } = counted ?? { width: frame.box.width, height: frame.box.height };
  return {
    key: frame.key,
    parent: frame.parentKey,
    url: shorten(frame.url, URL_CHARS_MAX),
    ...(frame.name !== "" && { name: shorten(frame.name, NAME_CHARS_MAX) }),
    origin: shorten(frame.origin, URL_CHARS_MAX),
    crossOrigin: frame.isCrossOrigin,
    ...(frame.path.length > 0 && { frame: frame.path.join(FRAME_ARROW) }),
    visible: frame.isVisible,
    box: { x: Math.round(frame.box.x), y: Math.round(frame.box.y), width, height },
    ...counts,
  };
}
