import { expect } from "@playwright/test";
import { startScriptedModel } from "../fixtures/scripted-model/start-scripted-model.ts";
import { startService } from "../fixtures/service.ts";
import { script, test } from "./journey.ts";

/** Matches what the browser logs for each attempt to connect while the service is down. */
const UNREACHABLE =
  /ERR_(CONNECTION_(REFUSED|RESET|CLOSED)|SOCKET_NOT_CONNECTED|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING)|status of 503/;

test("the page says that it reconnects while the service is down, and then resumes", async ({
  page,
  cleanConsole,
}) => {
  cleanConsole.allow(UNREACHABLE);
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
    const conversation = page.getByRole("region", { name: "Conversation" });
    await expect(conversation.getByText("A long answer that is being written.")).toBeVisible();
    await service.kill();
    const header = page.getByRole("banner");
    await expect(header.getByText("Reconnecting")).toBeVisible();

    service = await startService(settings, { dataDir: service.dataDir, port: service.port });
    await expect(header.getByText("Done")).toBeVisible();
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

test("a question to a person survives an orderly restart, and can be answered after it", async ({
  page,
  cleanConsole,
}) => {
  cleanConsole.allow(UNREACHABLE);
  const question = { question: "Which colour?", options: ["Red", "Green"] };
  const model = await startScriptedModel();
  script(model, {
    "[hello]": [{ text: "Hello." }],
    "[ask]": [{ toolCalls: [{ name: "elicit_user_input", arguments: question }] }, { text: "As you wish." }],
  });
  const settings = { OPENAI_BASE_URL: model.baseUrl };
  let service = await startService(settings);
  try {
    const session = await service.create("[hello]");
    await page.goto(service.baseUrl + session.shareUrl);
    await expect(page.getByText("Hello.")).toBeVisible();
    await page.getByLabel("Message to the agent").fill("[ask] me");
    await page.keyboard.press("Enter");
    await expect(page.getByRole("button", { name: "Green" })).toBeVisible();
    await service.stop();
    service = await startService(settings, { dataDir: service.dataDir, port: service.port });
    const header = page.getByRole("banner");
    await expect(header.getByText("Waiting for you")).toBeVisible();
    await page.getByRole("button", { name: "Green" }).click();
    await expect(page.getByText("As you wish.")).toBeVisible();
    expect(model.requests.at(-1)?.toolResults).toEqual(["The person answered: Green"]);
  } finally {
    await service.close();
    await model.close();
  }
});
