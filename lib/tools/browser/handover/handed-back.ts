import { z } from "zod";
import { withoutQuery } from "#lib/text/without-query.ts";
import { quoteAsData } from "../../quote-as-data.ts";
import { ensureLiveBrowser } from "../ensure-live-browser.ts";
import type { HostServices } from "../host-services.ts";
import { readTitle } from "../page-kit/read-title.ts";
import { pageTool } from "../page-tool.ts";

/** The work of `request_handover` on the page after a person has given it back: says which page it shows. */
export const handedBack = pageTool(
  {
    name: "request_handover",
    description: "",
    input: z.object({}),
    idempotent: true,
    readOnly: true,
    changes: false,
    timeoutMs: 90_000,
  },
  ({ browser }: Pick<HostServices, "browser">) =>
    async (_, call) => {
      const page = (await ensureLiveBrowser(browser, call)).page();
      // A form may have sent what the person typed in the query.
      const address = withoutQuery(page.url()) || "about:blank";
      return quoteAsData(
        "the page",
        `Page: ${JSON.stringify(await readTitle(page))} ${JSON.stringify(address)}`,
      );
    },
);
