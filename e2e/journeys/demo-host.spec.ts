import { expect } from "@playwright/test";
import { findFreePort, startService } from "../fixtures/service.ts";
import { expectAccessible } from "./expect-accessible.ts";
import { script, test } from "./journey.ts";

test.use({ viewport: { width: 1280, height: 900 } });

test("the demo host page shows a session in a frame, sends a message, and lists what the frame reports", async ({
  page,
  stage: { model },
}) => {
  script(model, { "[hello]": [{ text: "Hello." }], "[again]": [{ text: "Here again." }] });
  const port = await findFreePort();
  const service = await startService(
    { OPENAI_BASE_URL: model.baseUrl, EMBED_ORIGINS: `http://127.0.0.1:${port}` },
    { port },
  );
  try {
    const session = await service.create("[hello] Say hello");
    await service.completed(session.statusUrl);
    await page.goto(`${service.baseUrl}/demo/embed/host.html`);
    await expectAccessible(page, "the host page without a session");
    await page.getByLabel("Share link").fill("nothing");
    await page.getByRole("button", { name: "Show session" }).click();
    await expect(page.getByRole("alert")).not.toBeEmpty();
    await page.getByLabel("Share link").fill(session.shareUrl);
    await page.getByLabel("Shows").selectOption("conversation");
    await page.getByRole("button", { name: "Show session" }).click();
    const frame = page.frameLocator("iframe");
    await expect(frame.getByText("Hello.")).toBeVisible();
    await expect(page.getByRole("status")).toHaveText("ready, role drive, turn idle, control with the agent");
    await page.getByLabel("Message to the agent").fill("[again]");
    await page.getByRole("button", { name: "Send" }).click();
    await expect(frame.getByText("Here again.")).toBeVisible();
    const events = page.getByRole("list", { name: "Events" });
    await expect(events.getByText(/^send .*"requestId"/)).toBeVisible();
    await expect(events.getByText(/^height /).first()).toBeVisible();
    const folder = process.env.SCREENSHOTS;
    if (folder !== undefined)
      for (const width of [375, 1280])
        for (const colorScheme of ["dark", "light"] as const) {
          await page.setViewportSize({ width, height: 900 });
          await page.emulateMedia({ colorScheme });
          await page.screenshot({ path: `${folder}/demo-host-${width}-${colorScheme}.png`, fullPage: true });
        }
    await expectAccessible(page, "the host page with a session");
    await page.getByRole("button", { name: "Remove" }).click();
    await expect(page.locator("iframe")).toHaveCount(0);
  } finally {
    await service.close();
  }
});
