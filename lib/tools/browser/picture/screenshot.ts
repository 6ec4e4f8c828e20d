import { z } from "zod";
import type { LiveBrowser } from "#lib/browser/browser-service.ts";
import { unlessStalled } from "#lib/browser/page/pending-documents.ts";
import { beginningOf } from "#lib/text/whole-characters.ts";
import { ensureLiveBrowser } from "../ensure-live-browser.ts";
import type { HostServices } from "../host-services.ts";
import { readPage, withNotice } from "../page-copy/read-page.ts";
import { pageDeadline } from "../page-deadline.ts";
import { pageTool } from "../page-tool.ts";
import { nameVariant, pictureVariant, withVariant } from "./picture-variant.ts";
import { storePicture } from "./store-picture.ts";
import { takePicture, takePictureOfView } from "./take-picture.ts";

const WORK_MS_MAX = 30_000;

/** Takes a picture of the current page and stores it as evidence. Source: specification, Capabilities. */
export const screenshot = pageTool(
  {
    name: "screenshot",
    description:
      "Takes and keeps a picture of the live page: what is in view, one element, or the full page. With marks, controls carry their refs.",
    input: z.strictObject({
      selector: z.string().min(1).max(2_000).optional().describe("of one element"),
      fullPage: z.boolean().default(false),
      marks: z.boolean().default(false),
      variant: pictureVariant,
    }),
    idempotent: true,
    // Not run in parallel with other calls, because they would read the page with the wrong variant.
    readOnly: false,
    changes: false,
    timeoutMs: 120_000,
  },
  (services: Pick<HostServices, "browser" | "evidence" | "variants">) =>
    async ({ selector, fullPage, marks, variant }, call) => {
      const live = await ensureLiveBrowser(services.browser, call);
      const page = live.page();
      const take = (from: LiveBrowser) =>
        unlessStalled(from.documents, from.page(), () =>
          withVariant(services.variants, call, from, variant, () =>
            takePicture(from, { selector, fullPage, hasMarks: marks }),
          ),
        );
      const isOfView = selector === undefined && !fullPage && !marks && variant === undefined;
      const { value: picture, notice } = await pageDeadline(call.signal, WORK_MS_MAX).race(() =>
        readPage(live, take, isOfView ? takePictureOfView : undefined),
      );
      const url = page.url();
      const title = `Screenshot of ${selector ?? (fullPage ? "the full page" : "the page")}${nameVariant(variant)}`;
      const about = { kind: "screenshot", title: beginningOf(title, 200), url } as const;
      return withNotice(await storePicture(services.evidence, call, picture, about), notice);
    },
);
