import { expect } from "@playwright/test";
import { logInOn } from "../fixtures/log-in.ts";
import { API_KEY, startService } from "../fixtures/service.ts";
import { goTo, script, test } from "./journey.ts";

const SCHEMA = { type: "object", properties: { price: { type: "number" } }, required: ["price"] };

test("only a successful turn is shown as done, on its page and in the list", async ({
  page,
  stage: { model, webPage },
}) => {
  script(model, {
    "[success]": [goTo(webPage.url), { text: "The page makes an offer." }],
    "[page]": [goTo("http://127.0.0.1:9/"), { text: "There is nothing more to do." }],
    "[result]": [{ text: "I looked." }, { text: "no JSON at all" }],
    "[fails]": [{ status: 400, message: "the model refuses this" }],
    "[stops]": [{ text: "This takes long.", hold: new Promise(() => {}) }],
  });
  // The key belongs to the owner `local`, because the landing page lists the sessions of that owner.
  const service = await startService({
    OPENAI_BASE_URL: model.baseUrl,
    SERVICE_API_KEYS: `local=${API_KEY}`,
  });
  const succeeded = await service.create("[success] look");
  const unreached = await service.create("[page] look");
  const invalid = await service.create("[result] look", { outputSchema: SCHEMA });
  const failed = await service.create("[fails] look");
  const stopped = await service.create("[stops] look");
  await model.waitForRequest(({ userText }) => userText.includes("[stops]"));
  await service.call("POST", `/api/sessions/${stopped.sessionId}/agent/cancel`);
  const sessions = [succeeded, unreached, invalid, failed, stopped];
  for (const { statusUrl } of sessions) await service.completed(statusUrl);

  type Listed = { state: string; stateReason: string | null; lastOutcome: string };
  const { data } = await service.read<{ data: Listed[] }>("/api/sessions");
  expect(data.toReversed().map(({ state, lastOutcome }) => [state, lastOutcome])).toEqual([
    ["done", "succeeded"],
    ["page_error", "succeeded"],
    ["no_result", "succeeded"],
    ["failed", "errored"],
    ["stopped", "cancelled"],
  ]);
  const reasons = data.toReversed().map(({ stateReason }) => stateReason);
  expect(reasons).toEqual([null, expect.any(String), expect.any(String), expect.any(String), null]);

  await logInOn(page, service.loginUrl);
  const rows = page.getByRole("region", { name: "Sessions" }).getByRole("listitem");
  const words = ["Done", "Page not reached", "No valid result", "Failed", "Stopped"];
  for (const [index, word] of words.toReversed().entries()) {
    await expect(rows.nth(index)).toContainText(word);
    await expect(rows.nth(index)).toContainText(reasons.toReversed()[index] ?? "");
  }
  for (const [index, word] of words.entries()) {
    await page.goto(service.baseUrl + sessions[index]?.shareUrl);
    await expect(page.getByRole("banner").getByText(word)).toBeVisible();
    if (word !== "Done") await expect(page.getByText("Done", { exact: true })).toHaveCount(0);
  }
  await page.close();
  await service.close();
});
