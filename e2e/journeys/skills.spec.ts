import { expect } from "@playwright/test";
import { expectAccessible } from "./expect-accessible.ts";
import { script, test } from "./journey.ts";

test.use({ viewport: { width: 1280, height: 800 } });

const PAGE =
  '<!doctype html><html lang="en"><title>Shop</title><main><h1>Shop</h1><img src="a.png"></main></html>';

test("skill calls are described in plain words, and the session's skills are listed", async ({
  page,
  stage: { model, service },
}, info) => {
  script(model, {
    "[skills]": [
      { toolCalls: [{ name: "write_file", arguments: { path: "page.html", content: PAGE } }] },
      { toolCalls: [{ name: "read_skill", arguments: { name: "accessibility-audit" } }] },
      {
        toolCalls: [
          {
            name: "run_skill_script",
            arguments: { name: "accessibility-audit", script: "scripts/structure.mjs", args: ["page.html"] },
          },
        ],
      },
      { text: "One picture has no alternative text." },
    ],
  });
  const session = await service.create("[skills] audit the page");
  await page.goto(service.baseUrl + session.shareUrl);
  await expect(page.getByText("One picture has no alternative text.")).toBeVisible();
  const conversation = page.getByRole("main");
  await expect(conversation.getByText("Read a skill")).toBeVisible();
  await expect(conversation.getByText("Ran a script of a skill")).toBeVisible();
  await expect(conversation.getByText("accessibility-audit/structure.mjs page.html")).toBeVisible();

  for (const theme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: theme });
    for (const width of [1280, 375]) {
      await page.setViewportSize({ width, height: 800 });
      await page.screenshot({ path: info.outputPath(`timeline-${theme}-${width}.png`) });
      await page.getByRole("button", { name: "More" }).click();
      await page.getByRole("menuitem", { name: "Skills" }).click();
      const dialog = page.getByRole("dialog", { name: "Skills" });
      await expect(dialog.getByRole("listitem")).toHaveCount(3);
      await expect(dialog.getByRole("heading", { name: "accessibility-audit" })).toBeVisible();
      await expect(dialog.getByText(/^Version [0-9a-f]{12}, \d+ files$/).first()).toBeVisible();
      await page.screenshot({ path: info.outputPath(`skills-${theme}-${width}.png`) });
      await expectAccessible(page, `skills, ${theme}, ${width} px`);
      await page.keyboard.press("Escape");
      await expect(dialog).toHaveCount(0);
    }
  }
});

test("a session without a sandbox says that it has no skills", async ({
  page,
  stage: { model, service },
}) => {
  script(model, { "[no skills]": [{ text: "Hello." }] });
  const session = await service.create("[no skills] hello", { capabilities: { sandbox: false } });
  await page.goto(service.baseUrl + session.shareUrl);
  await page.getByRole("button", { name: "More" }).click();
  await page.getByRole("menuitem", { name: "Skills" }).click();
  await expect(page.getByRole("dialog", { name: "Skills" }).getByText("No skills")).toBeVisible();
});
