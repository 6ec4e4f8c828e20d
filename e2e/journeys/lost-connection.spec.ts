import { expect } from "@playwright/test";
import { startScriptedModel } from "../fixtures/scripted-model/start-scripted-model.ts";
import { startService } from "../fixtures/service.ts";
import { script, test } from "./journey.ts";

test("the page says that it reconnects when the service is gone, and goes on where it was", async ({
  page,
  cleanConsole,
}) => {
  // The browser itself notes each attempt that finds nobody there.
  cleanConsole.allow(
    /ERR_CONNECTION_REFUSED|ERR_SOCKET_NOT_CONNECTED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET/,
  );
  const model = await startScriptedModel();
  script(model, {
    "[before]": [{ text: "A long answer that is being written.", hold: "once" }],
    "[after]": [{ text: "Back again." }],
  });
  const settings = { OPENAI_BASE_URL: model.baseUrl };
  let service = await startService(settings);
  try {
    const session = await service.create("[before] begin");
    await page.goto(service.baseUrl + session.shareUrl);
    const conversation = page.getByRole("main");
    await expect(conversation.getByText("A long answer that is being written.")).toBeVisible();
    await service.kill();
    const header = page.getByRole("banner");
    await expect(header.getByText("Reconnecting")).toBeVisible();

    service = await startService(settings, { dataDir: service.dataDir, port: service.port });
    await expect(header.getByText("Done")).toBeVisible({ timeout: 30_000 });
    await expect(conversation.getByText("A long answer that is being written.")).toHaveCount(1);
    await page.getByLabel("Message to the agent").fill("[after] and now?");
    await page.keyboard.press("Enter");
    await expect(conversation.getByText("Back again.")).toBeVisible();
    await expect(conversation.getByText("[after] and now?")).toHaveCount(1);
  } finally {
    await service.close();
    await model.close();
  }
});
