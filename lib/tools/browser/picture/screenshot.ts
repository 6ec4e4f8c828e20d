import { z } from "zod";
import { beginningOf } from "#lib/text/whole-characters.ts";
import type { ToolServices } from "../../services.ts";
import { defineTool } from "../../tool.ts";
import { openLive } from "../live-page-of.ts";
import { withinDeadline } from "../within-deadline.ts";
import { keepPicture } from "./keep-picture.ts";
import { nameVariant, pictureVariant, withVariant } from "./picture-variant.ts";
import { takePicture } from "./take-picture.ts";

const WORK_MS_MAX = 30_000;

/** Takes a picture of the current page and stores it as evidence. Source: specification, Capabilities. */
export const screenshot = (services: Pick<ToolServices, "browser" | "evidence" | "variants">) =>
  defineTool({
    name: "screenshot",
    description:
      "Takes and keeps a picture of the live page as it is: what is in view, one element, or the full page. With marks, controls carry their refs.",
    input: z.strictObject({
      selector: z.string().min(1).max(2_000).optional().describe("Playwright selector of one element"),
      fullPage: z.boolean().default(false),
      marks: z.boolean().default(false),
      variant: pictureVariant,
    }),
    needs: "browser",
    profile: "editing",
    idempotent: true,
    // Not run in parallel with other calls, because they would read the page with the wrong variant.
    readOnly: false,
    changes: false,
    timeoutMs: 120_000,
    async execute({ selector, fullPage, marks, variant }, call) {
      const live = await openLive(services.browser, call);
      const page = live.page();
      const picture = await withinDeadline(call.signal, WORK_MS_MAX, () =>
        withVariant(services.variants, call, live, variant, () =>
          takePicture(live, { selector, fullPage, hasMarks: marks }),
        ),
      );
      const url = page.url();
      const title = `Screenshot of ${selector ?? (fullPage ? "the full page" : "the page")}${nameVariant(variant)}`;
      return keepPicture(services.evidence, call, picture, {
        kind: "screenshot",
        title: beginningOf(title, 200),
        url,
      });
    },
  });
