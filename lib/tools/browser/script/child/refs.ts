import type { BrowserContext, Locator, Page } from "playwright-core";
import { sendToService } from "./parent.ts";

/**
 * Adds the function `ref` to every page: `page.ref("e7")` returns the locator of the element that a snapshot shows as
 * `[e7]`. `page.locator("ref=e7")` returns the same locator.
 */
export function giveRefs(context: BrowserContext, frames: Record<string, string[]>): void {
  const give = (page: Page) => {
    const refOf = (ref: unknown) => locateRef(page, frames, String(ref));
    const locator = page.locator.bind(page);
    Object.assign(page, {
      ref: refOf,
      locator(selector: string, options?: Parameters<Page["locator"]>[1]) {
        const ref = typeof selector === "string" ? /^(?:aria-)?ref=(\w+)$/.exec(selector)?.[1] : undefined;
        return ref === undefined ? locator(selector, options) : refOf(ref);
      },
    });
  };
  for (const page of context.pages()) give(page);
  context.on("page", give);
}

function locateRef(page: Page, frames: Record<string, string[]>, ref: string): Locator {
  const frame = /^(f\d+)?e\d+$/.exec(ref);
  if (!frame) throw new Error(`"${ref}" is no ref; refs look like e7 or f1e7, and dom_query gives them`);
  const owners = frame[1] === undefined ? [] : frames[frame[1]];
  if (!owners) throw new Error(`the element of ref ${ref} is not in the page: its frame is gone`);
  const withRef = (scope: Pick<Page, "locator">, one: string) => {
    sendToService({ type: "ref", ref: one });
    return scope.locator(`ref=${one} >> nth=0`);
  };
  let scope: Pick<Page, "locator"> = page;
  for (const owner of owners) scope = withRef(scope, owner).contentFrame();
  return withRef(scope, ref);
}
