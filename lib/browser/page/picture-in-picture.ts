import type { Page } from "playwright";
import { createDeadline } from "#lib/time/deadline.ts";

/** How long a window may take to answer. A window whose document does not arrive answers nothing. */
const ANSWER_MS_MAX = 1_000;

/**
 * Whether a page is the small window that another page shows above all windows (`documentPictureInPicture`). People and
 * the agent continue with the page that opened it.
 */
export async function isPictureInPicture(page: Page): Promise<boolean> {
  // Such a window always has this address, and never another one.
  if (page.url() !== "about:blank" || (await page.opener()) === null) return false;
  const asked = page.evaluate("opener?.documentPictureInPicture?.window === window");
  return (
    (await createDeadline({ ms: ANSWER_MS_MAX, lateMessage: "the window did not answer" })
      .race(asked)
      .catch(() => false)) === true
  );
}
