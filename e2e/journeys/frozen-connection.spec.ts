import { expect } from "@playwright/test";
import { startScriptedModel } from "../fixtures/scripted-model/start-scripted-model.ts";
import { findFreePort, startService } from "../fixtures/service.ts";
import { startLinkRelay } from "../fixtures/start-link-relay.ts";
import { script, test } from "./journey.ts";

test("a connection that freezes without being closed is noticed, and resumes without loss or repetition", async ({
  page,
  cleanConsole,
}) => {
  cleanConsole.allow(/ERR_(CONNECTION_(RESET|CLOSED)|EMPTY_RESPONSE|NETWORK_CHANGED)|WebSocket/);
  const port = await findFreePort();
  const relay = await startLinkRelay(`ws://127.0.0.1:${port}`);
  const baseUrl = relay.url.replace("ws:", "http:");
  const model = await startScriptedModel();
  script(model, { "[one]": [{ text: "Before the freeze." }], "[two]": [{ text: "During the freeze." }] });
  const service = await startService({ OPENAI_BASE_URL: model.baseUrl, BASE_URL: baseUrl }, { port });
  try {
    const session = await service.create("[one] first");
    await page.goto(baseUrl + session.shareUrl);
    const conversation = page.getByRole("region", { name: "Conversation" });
    await expect(conversation.getByText("Before the freeze.")).toBeVisible();
    await expect(page.getByRole("banner").getByText("Done")).toBeVisible();
    relay.cut();
    const header = page.getByRole("banner");
    await service.call("POST", `/api/sessions/${session.sessionId}/agent/messages`, { text: "[two] second" });
    await expect(header.getByText("Reconnecting")).toBeVisible();
    await expect(conversation.getByText("During the freeze.")).toHaveCount(0);
    relay.heal();
    await expect(conversation.getByText("During the freeze.")).toHaveCount(1);
    await expect(conversation.getByText("[two] second")).toHaveCount(1);
    await expect(conversation.getByText("Before the freeze.")).toHaveCount(1);
    await expect(header.getByText("Done")).toBeVisible();
  } finally {
    // Closes the page first, because it would report the end of the service.
    await page.close();
    await service.close();
    await relay.close();
    await model.close();
  }
});
