import { expect, type Page } from "@playwright/test";

/** Starts a session with the API of the landing page, as the signed-in person. */
export async function startOnHome(page: Page, text: string): Promise<void> {
  const status = await page.evaluate(async (text) => {
    const body = {
      messages: [{ role: "user", parts: [{ type: "text", text }] }],
      capabilities: { browser: false },
    };
    const init = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    };
    const response = await fetch("/actions/sessions", init);
    // The fixture that checks all answers waits until each body has been read.
    await response.json();
    return response.status;
  }, text);
  expect(status).toBe(201);
}
