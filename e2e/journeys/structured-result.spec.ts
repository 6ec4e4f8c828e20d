import { expect } from "@playwright/test";
import { expectAccessible } from "./expect-accessible.ts";
import { test } from "./journey.ts";

test.use({ viewport: { width: 1400, height: 900 } });

const outputSchema = {
  type: "object",
  properties: {
    shop: { type: "string", maxLength: 20 },
    fields: { type: "array", items: { type: "string" } },
  },
  required: ["shop", "fields"],
};

test("a person watches the result of a structured session arrive, and sees why a result failed", async ({
  page,
  stage: { model, service },
}) => {
  const release = Promise.withResolvers<void>();
  const results = [
    { json: { shop: "Harbour Paper", fields: ["email", "address"] }, hold: release.promise },
    { finish: "refusal" as const, refusal: "This one I may not." },
  ];
  model.respondWith(({ kind, text }) => {
    // Turns of earlier tests may still run on the same service. The requests of these turns get no step here, because
    // they would use up the results of this test.
    if (!text.includes("[checkout]")) return undefined;
    if (kind === "turn") return { text: "I have read the checkout." };
    return kind === "structured" ? results.shift() : undefined;
  });
  const session = await service.create("[checkout] What does the checkout ask for?", { outputSchema });
  await page.goto(service.baseUrl + session.shareUrl);
  const conversation = page.getByRole("region", { name: "Conversation" });
  await expect(conversation.getByText("I have read the checkout.")).toBeVisible();
  await expect(page.getByText("Writing the structured result")).toBeVisible();
  release.resolve();
  const header = page.getByRole("banner");
  await expect(header.getByText("Done")).toBeVisible();
  const records = page.getByRole("region", { name: "Result and records" });
  await expect(records.getByText("Harbour Paper")).toBeVisible();
  await expect(records.getByText("address", { exact: false }).first()).toBeVisible();

  await page.getByLabel("Message to the agent").fill("[checkout] And once more");
  await page.keyboard.press("Enter");
  await expect(records.getByText("The model refused: This one I may not.")).toBeVisible();
  await page.reload();
  await expect(records.getByText("The model refused: This one I may not.")).toBeVisible();
  await records.getByRole("button", { name: "Result 1" }).click();
  await expect(records.getByText("Harbour Paper")).toBeVisible();
  await expect(conversation.getByText("I have read the checkout.")).toHaveCount(2);
});

test("a person sees which values were seen nowhere, and where the others are", async ({
  page,
  stage: { model, service },
}) => {
  model.respondWith(({ kind, text }) => {
    if (!text.includes("[receipts]")) return undefined;
    if (kind === "turn") return { text: "I have read it." };
    return kind === "structured"
      ? { json: { shop: "Harbour Paper", fields: ["Invented field"] } }
      : undefined;
  });
  const session = await service.create("[receipts] The shop is Harbour Paper. What does it ask for?", {
    outputSchema,
  });
  await page.goto(service.baseUrl + session.shareUrl);
  const records = page.getByRole("region", { name: "Result and records" });
  await expect(records.getByText("seen nowhere", { exact: true }).filter({ visible: true })).toHaveCount(1);
  await records.getByText("Sources of 2 values: 1 seen nowhere").click();
  await expect(records.getByText("The shop is Harbour Paper.", { exact: false })).toBeVisible();
  await expect(records.getByText("fields › 0")).toBeVisible();
  await expectAccessible(page, "the sources of a result");
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByRole("button", { name: "Result", exact: true }).click();
  await expect(records.getByText("fields › 0")).toBeVisible();
  await expectAccessible(page, "the sources of a result on a phone");
});
