import type { Page } from "@playwright/test";

/** What the page of {@link recordNotifications} has for the test. */
type Recorded = {
  shown: string[];
  hide: (isHidden: boolean) => void;
  Notification: { asked: number };
};

/**
 * Records the notifications of a page, and lets a test hide the page's tab. Call it before the page is opened: headless
 * Chromium neither shows notifications nor hides tabs.
 */
export async function recordNotifications(page: Page, origin: string) {
  await page.context().grantPermissions(["notifications"], { origin });
  await page.addInitScript(() => {
    const shown: string[] = [];
    class Recorder {
      static permission = "default";
      static asked = 0;
      static async requestPermission() {
        Recorder.asked += 1;
        Recorder.permission = "granted";
        return "granted";
      }
      constructor(title: string, { body }: { body: string }) {
        shown.push(`${title}: ${body}`);
      }
      close() {}
    }
    let isHidden = false;
    Object.defineProperty(document, "hidden", { get: () => isHidden });
    Object.assign(window, {
      Notification: Recorder,
      shown,
      hide(hidden: boolean) {
        isHidden = hidden;
        document.dispatchEvent(new Event("visibilitychange"));
      },
    });
  });
  return {
    hide: (isHidden: boolean) =>
      page.evaluate((hidden) => (window as unknown as Recorded).hide(hidden), isHidden),
    shown: () => page.evaluate(() => (window as unknown as Recorded).shown),
    /** How many times the person was asked for the permission. */
    asked: () => page.evaluate(() => (window as unknown as Recorded).Notification.asked),
  };
}
