import { expect } from "@playwright/test";
import { script, test } from "./journey.ts";

test.use({ viewport: { width: 1280, height: 900 } });

test("text that is not an address stays in the address bar with an explanation; an address opens", async ({
  page,
  stage: { model, service, webPage },
}) => {
  script(model, { "[address]": [{ text: "Hello." }] });
  const session = await service.create("[address] hello");
  await page.goto(service.baseUrl + session.shareUrl);
  await expect(page.getByText("Hello.")).toBeVisible();
  const requests: string[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST") requests.push(request.url());
  });
  const bar = page.getByLabel("Address");
  await bar.fill("best red shoes");
  await bar.press("Enter");
  const problem = page.getByRole("alert").filter({ hasText: `"best red shoes" is not an address.` });
  await expect(problem).toBeVisible();
  await expect(bar).toHaveValue("best red shoes");
  await expect(bar).toBeFocused();
  await expect(bar).toHaveAttribute("aria-invalid", "true");
  expect(requests).toEqual([]);

  await bar.fill(webPage.url.replace("http://", ""));
  await expect(problem).toHaveCount(0);
  await bar.press("Enter");
  await expect(bar).toHaveValue(webPage.url);
  await expect(page.getByRole("img", { name: "Live view of the page" })).toBeVisible();
});
