import { expect } from "@playwright/test";
import { startService, waitUntil } from "../fixtures/service.ts";
import { goTo, liveView, script, test } from "./journey.ts";

test.use({ viewport: { width: 1400, height: 900 } });

test("a waiting session shows its position in the queue; a finished one shows its last picture until a person opens the live page", async ({
  page,
  stage: { model, webPage },
}) => {
  const service = await startService({ OPENAI_BASE_URL: model.baseUrl, BROWSER_MAX_LIVE: "1" });
  try {
    const end = Promise.withResolvers<void>();
    script(model, { "[first]": [goTo(webPage.url), { text: "First.", hold: end.promise }] });
    const first = await service.create("[first]");
    const statusOf = async ({ sessionId }: { sessionId: string }) =>
      (await service.read<{ status: string }>(`/api/sessions/${sessionId}/browser`)).status;
    await waitUntil(async () => (await statusOf(first)) === "ready", "the first session has the browser");
    script(model, {
      "[first]": [goTo(webPage.url), { text: "First.", hold: end.promise }],
      "[other]": [goTo(webPage.url), { text: "Other." }],
    });
    const second = await service.create("[other] one");
    await waitUntil(async () => (await statusOf(second)) === "creating", "the second session waits");
    const third = await service.create("[other] two");
    await page.goto(service.baseUrl + third.shareUrl);
    const note = page.getByRole("status").filter({ hasText: "Other sessions use every browser" });
    await expect(note).toContainText("Waiting for a browser, 1 ahead of you");
    await expect(page.getByText("Waiting for a browser, 1 ahead of you")).toHaveCount(2);
    await page.reload();
    await expect(note).toContainText("Waiting for a browser, 1 ahead of you");
    end.resolve();
    await expect(liveView(page).canvas).toBeVisible();
    await expect(page.getByText("Other.")).toBeVisible();

    // The service opens at most one browser. After the turn of the second session, the service ended the browser of
    // that session, which has no viewer, and opened one for the third session.
    await waitUntil(
      async () => (await statusOf(second)) === "expired",
      "the second session's browser has ended",
    );
    await page.goto(service.baseUrl + second.shareUrl);
    await expect(page.getByRole("img", { name: "The page when its browser was last used" })).toBeVisible();
    await expect(page.getByText("Last picture of the page")).toBeVisible();
    expect(await statusOf(second)).toBe("expired");
    await page.getByRole("button", { name: "Open live page" }).click();
    await expect(liveView(page).canvas).toBeVisible();
    expect(await statusOf(second)).toBe("ready");
  } finally {
    // Closes the page first, because an open page logs errors when the service stops.
    await page.close();
    await service.close();
  }
});
