import type { Page } from "playwright";
import { z } from "zod";
import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import { unlessStalled } from "#lib/browser/page/pending-documents.ts";
import { ensureLiveBrowser } from "../ensure-live-browser.ts";
import type { HostServices } from "../host-services.ts";
import { readPage, withNotice } from "../page-copy/read-page.ts";
import { pageDeadline } from "../page-deadline.ts";
import { callInMainFrame } from "../page-kit/tool-world.ts";
import { pageTool } from "../page-tool.ts";
import { nameVariant, pictureVariant, withVariant } from "./picture-variant.ts";
import { storePicture } from "./store-picture.ts";
import { readViewport, takePicture } from "./take-picture.ts";

/** The viewport of each kind of device, in CSS pixels. */
const DEVICES = {
  desktop: { width: 1440, height: 900 },
  tablet: { width: 820, height: 1180 },
  mobile: { width: 390, height: 844 },
} as const;

const WORK_MS_MAX = 40_000;

/** Takes a preview of the page at a chosen viewport and stores it as evidence. Source: specification, Structured sessions. */
export const capturePreview = pageTool(
  {
    name: "capture_preview",
    description:
      "Takes and keeps a picture of the live page, as it is or in another size. With marks, controls carry their refs.",
    input: z.strictObject({
      device: z.enum(["desktop", "tablet", "mobile"]).optional(),
      width: z.number().int().min(240).max(3_840).optional(),
      height: z.number().int().min(240).max(4_320).optional(),
      fullPage: z.boolean().default(false),
      marks: z.boolean().default(false),
      title: z.string().min(1).max(200).optional(),
      variant: pictureVariant,
    }),
    idempotent: true,
    // Not run in parallel with other calls, because they would read the page in the wrong size.
    readOnly: false,
    changes: false,
    timeoutMs: 120_000,
  },
  (services: Pick<HostServices, "browser" | "evidence" | "variants">) =>
    async ({ device, width, height, fullPage, marks, title, variant }, call) => {
      const live = await ensureLiveBrowser(services.browser, call);
      const page = live.page();
      const preset = device && DEVICES[device];
      const current = await pageDeadline(call.signal, 5_000).race(() => readSize(page));
      const size = {
        width: width ?? preset?.width ?? current.width,
        height: height ?? preset?.height ?? current.height,
      };
      const take = (from: LiveBrowser) =>
        unlessStalled(from.documents, from.page(), () =>
          withViewport(from.page(), current, size, () =>
            withVariant(services.variants, call, from, variant, () =>
              takePicture(from, { fullPage, hasMarks: marks }),
            ),
          ),
        );
      const { value: picture, notice } = await pageDeadline(call.signal, WORK_MS_MAX).race(() =>
        readPage(live, take),
      );
      const about = {
        kind: "preview",
        title:
          title ??
          `Preview at ${size.width}×${size.height}${fullPage ? ", full page" : ""}${nameVariant(variant)}`,
        url: page.url(),
      } as const;
      return withNotice(await storePicture(services.evidence, call, picture, about), notice);
    },
);

type Size = { width: number; height: number };

const readSize = async (page: Page): Promise<Size> => page.viewportSize() ?? readViewport(page);

async function withViewport<Result>(
  page: Page,
  current: Size,
  size: Size,
  work: () => Promise<Result>,
): Promise<Result> {
  if (size.width === current.width && size.height === current.height) return work();
  try {
    await page.setViewportSize(size);
    await settle(page);
    return await work();
  } finally {
    await page.setViewportSize(current).catch(() => {});
  }
}

/**
 * Waits until the fonts are loaded and two frames are drawn, so that the layout has adapted to the new size. Waits at
 * most one second.
 */
const settle = (page: Page): Promise<void> => callInMainFrame(page, "untilDrawn", []);
