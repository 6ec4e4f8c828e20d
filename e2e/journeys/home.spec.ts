import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { expect, type Page } from "@playwright/test";
import { logInOn } from "../fixtures/log-in.ts";
import { expectAccessible } from "./expect-accessible.ts";
import { script, test } from "./journey.ts";
import { startOnHome as start } from "./start-on-home.ts";

test.use({ viewport: { width: 1280, height: 900 } });

const list = (page: Page) => page.getByRole("region", { name: "Sessions", exact: true });
const rows = (page: Page) => list(page).getByRole("listitem");
const search = (page: Page) => list(page).getByRole("searchbox", { name: "Search sessions" });

test("a person searches, filters, renames and deletes sessions in a list that updates itself", async ({
  page,
  stage: { model, service },
}) => {
  const release = Promise.withResolvers<void>();
  script(model, {
    "[pear]": [{ text: "Held.", hold: release.promise }],
    "[fruit]": [{ text: "Done." }],
  });
  // The owner has sessions of other tests, too. Only sessions of this one contain the word.
  const word = `orchard-${randomUUID()}`;
  await logInOn(page, await service.printLoginLink());
  await start(page, "[pear] Listed elsewhere");
  await start(page, `[fruit] Apple ${word}`);
  await start(page, `[pear] Slow ${word}`);
  // No reload: the list reads itself again.
  const slow = rows(page).filter({ hasText: `Slow ${word}` });
  const apple = rows(page).filter({ hasText: `Apple ${word}` });
  await expect(slow.getByText("Working")).toBeVisible();
  await expect(apple.getByText("Done")).toBeVisible();

  await search(page).fill(`APPLE ${word}`);
  await expect(rows(page)).toHaveCount(1);
  await expect(list(page).getByRole("status")).toHaveText("1 session found.");
  await search(page).fill("100%_nothing");
  await expect(list(page).getByText("No session matches.")).toBeVisible();
  await search(page).fill(word);
  await expect(rows(page)).toHaveCount(2);
  await list(page).getByRole("combobox", { name: "State" }).selectOption("Working");
  await expect(rows(page)).toHaveCount(1);
  await expect(slow).toBeVisible();
  release.resolve();
  await expect(list(page).getByText("No session matches.")).toBeVisible();
  await list(page).getByRole("combobox", { name: "State" }).selectOption("All states");
  await expect(rows(page)).toHaveCount(2);
  await search(page).fill("");
  await expect(rows(page).filter({ hasText: "Listed elsewhere" }).first()).toBeVisible();

  await page.getByRole("button", { name: `Rename [fruit] Apple ${word}` }).click();
  const dialog = page.getByRole("dialog");
  await expectAccessible(page, "the dialog that renames a session");
  await dialog.getByLabel("Title").fill("");
  await dialog.getByRole("button", { name: "Rename" }).click();
  await expect(dialog.getByRole("alert")).toHaveText("Write a title.");
  await dialog.getByLabel("Title").fill(`Pears ${word}`);
  await page.keyboard.press("Enter");
  await expect(list(page).getByRole("status")).toHaveText(`The session is called “Pears ${word}” now.`);
  const renamed = rows(page).filter({ hasText: `Pears ${word}` });
  await expect(renamed).toHaveCount(1);

  await renamed.getByRole("button", { name: `Delete Pears ${word}` }).click();
  await expect(dialog.getByText("You cannot undo this.", { exact: false })).toBeVisible();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await expect(renamed).toHaveCount(1);
  await renamed.getByRole("button", { name: `Delete Pears ${word}` }).click();
  await dialog.getByRole("button", { name: "Delete permanently" }).click();
  await expect(renamed).toHaveCount(0);
  await expect(list(page).getByRole("status")).toContainText(`“Pears ${word}” was deleted.`);
});

test("the list has pages, and a page does not change when sessions are added", async ({
  page,
  stage: { model, service },
}) => {
  script(model, { "[paged]": [{ text: "Done." }] });
  await logInOn(page, await service.printLoginLink());
  for (let count = 1; count <= 21; count += 1) await start(page, `[paged] Number ${count}.`);
  await search(page).fill("[paged]");
  await expect(rows(page)).toHaveCount(20);
  await list(page).getByRole("button", { name: "Search older" }).click();
  await expect(rows(page)).toHaveCount(1);
  await expect(rows(page)).toContainText("Number 1.");
  await start(page, "[paged] Number 22.");
  const answered = page.waitForResponse((response) => response.url().includes("cursor="));
  await answered;
  await expect(rows(page)).toHaveCount(1);
  await expect(rows(page)).toContainText("Number 1.");
  await list(page).getByRole("button", { name: "Newer" }).click();
  await expect(rows(page).first()).toContainText("Number 22.");
});

test("an operator creates, rotates and revokes keys, and a person signs in with one", async ({
  page,
  browser,
  stage: { service },
}) => {
  await logInOn(page, await service.printLoginLink());
  const section = page.getByRole("region", { name: "API keys", exact: true });
  await section.getByRole("button", { name: "Manage API keys" }).click();
  await section.getByRole("button", { name: "Create a key" }).click();
  await expect(section.getByRole("alert")).toHaveText("Write what the key is for.");
  await section.getByLabel("Name").fill("of the journey");
  await section.getByLabel("Owner").fill("journey");
  await section.getByLabel("Scopes").selectOption("Read only");
  await section.getByRole("button", { name: "Create a key" }).click();
  const fresh = section.getByRole("region", { name: "New API key" });
  const key = (await fresh.getByText(/^ask_/).textContent()) ?? "";
  await expectAccessible(page, "the API keys with a new key");

  const context = await browser.newContext();
  const other = await context.newPage();
  await other.goto(service.baseUrl);
  await other.getByRole("button", { name: "Sign in with an API key" }).click();
  await other.getByLabel("API key").fill("ask_wrong_key");
  await other.getByRole("button", { name: "Sign in", exact: true }).click();
  await expect(other.getByText("The key is wrong, was revoked, or has expired")).toBeVisible();
  await expectAccessible(other, "the sign-in with an API key");
  await other.getByLabel("API key").fill(key);
  await other.getByRole("button", { name: "Sign in", exact: true }).click();
  await expect(
    other.getByText("You are signed in with an API key of journey.", { exact: false }),
  ).toBeVisible();
  await expect(other.getByRole("heading", { name: "Start a session" })).toHaveCount(0);
  await expect(other.getByRole("region", { name: "API keys" })).toHaveCount(0);

  await fresh.getByRole("button", { name: "I have stored it" }).click();
  await expect(fresh).toHaveCount(0);
  await section.getByRole("button", { name: "Rotate of the journey" }).click();
  await section.getByRole("button", { name: "Create the new key" }).click();
  await expect(fresh.getByText(/^ask_/)).not.toHaveText(key);
  const ofJourney = section.getByRole("listitem").filter({ hasText: "of the journey" });
  await expect(ofJourney).toHaveCount(2);
  for (const nth of [0, 1]) {
    const row = ofJourney.nth(nth);
    await row.getByRole("button", { name: "Revoke of the journey" }).click();
    await row.getByRole("button", { name: "Revoke the key" }).click();
    await expect(row.getByText("revoked")).toBeVisible();
  }
  await other.reload();
  await expect(other.getByRole("heading", { name: "Open a login link" })).toBeVisible();
  await context.close();
});

test("the example starts with one click", async ({ page, stage: { model, service } }) => {
  script(model, { "Winter sale": [{ text: "The example runs." }] });
  await logInOn(page, await service.printLoginLink());
  await page.getByRole("button", { name: "Try the example" }).click();
  await expect(page.getByText("The example runs.", { exact: true })).toBeVisible();
});

test("a result that is a list is shown as a table and downloaded as CSV", async ({
  page,
  stage: { model, service },
}) => {
  const item = {
    type: "object",
    properties: { label: { type: "string" }, count: { type: "integer" } },
    required: ["label", "count"],
  };
  const outputSchema = {
    type: "object",
    properties: { fields: { type: "array", items: item } },
    required: ["fields"],
  };
  const fields = [
    { label: '=cmd("x")', count: -2 },
    { label: "plain", count: 1 },
  ];
  model.respondWith(({ kind, text }) => {
    if (!text.includes("[csv]")) return undefined;
    if (kind === "turn") return { text: "Read." };
    return kind === "structured" ? { json: { fields } } : undefined;
  });
  const session = await service.create("[csv] List the fields", { outputSchema });
  await service.completed(session.statusUrl);
  await page.goto(service.baseUrl + session.shareUrl);
  const records = page.getByRole("region", { name: "Result and records" });
  await records.getByRole("button", { name: "Table" }).click();
  await expect(records.getByRole("columnheader")).toHaveText(["label", "count"]);
  await expect(records.getByRole("row")).toHaveCount(3);
  await expectAccessible(page, "a result as a table");
  const downloading = page.waitForEvent("download");
  await records.getByRole("button", { name: "Download CSV" }).click();
  const download = await downloading;
  expect(download.suggestedFilename()).toMatch(/^run_.*\.csv$/);
  expect(await readFile(await download.path(), "utf8")).toBe(
    'label,count\r\n"\'=cmd(""x"")",-2\r\nplain,1\r\n',
  );
});

for (const width of [375, 1280])
  for (const colorScheme of ["light", "dark"] as const)
    test(`the landing page with its list and keys fits ${width} px in ${colorScheme} mode`, async ({
      page,
      stage: { model, service },
    }, info) => {
      script(model, { "[shown]": [{ text: "Done." }] });
      await page.setViewportSize({ width, height: 800 });
      await logInOn(page, await service.printLoginLink());
      await start(
        page,
        "[shown] A session with a long title that does not fit into the row of a narrow screen",
      );
      await expect(page.getByRole("button", { name: /^Rename \[shown\]/ }).first()).toBeVisible();
      await page.getByRole("button", { name: "Manage API keys" }).click();
      await expect(page.getByRole("button", { name: "Create a key" })).toBeVisible();
      await expectAccessible(page, "the landing page with its list and keys");
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: info.outputPath(`home-${width}-${colorScheme}.png`), fullPage: true });
      await page.setViewportSize({ width: Math.min(width, 360), height: 800 });
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      expect(overflow).toBeLessThanOrEqual(0);
    });

test("a person describes a structured result with fields, and with JSON", async ({
  page,
  stage: { service },
}) => {
  await logInOn(page, await service.printLoginLink());
  await page.getByLabel("Structured result").click();
  const fields = page.getByRole("list", { name: "Fields of the result" });
  const command = page.getByRole("region", { name: "The same over HTTP" });
  await page.getByRole("button", { name: "Add a field" }).click();
  await expect(fields.getByText("Give the field a name.")).toBeVisible();
  await fields.getByLabel("Name of field 1").fill("title");
  await fields.getByLabel("Description of title").fill("The headline.");
  await page.getByRole("button", { name: "Add a field" }).last().click();
  await fields.getByLabel("Name of field 2").fill("sizes");
  await fields.getByLabel("Type of sizes").selectOption("List");
  await fields.getByLabel("Type of the entries of sizes").selectOption("Choice");
  await fields.getByLabel("Choices of the entries of sizes").fill("S, M,L");
  await fields.getByRole("switch", { name: "sizes is required" }).click();
  await expectAccessible(page, "the fields of a structured result");
  await page.getByRole("button", { name: "JSON", exact: true }).click();
  const json = page.getByRole("textbox", { name: "Schema" });
  const schema = {
    type: "object",
    properties: {
      title: { type: "string", description: "The headline." },
      sizes: { type: "array", items: { type: "string", enum: ["S", "M", "L"] } },
    },
    required: ["title"],
  };
  await expect(json).toHaveValue(JSON.stringify(schema, null, 2));
  await expect(command).toContainText('"enum"');

  await json.fill(JSON.stringify({ ...schema, additionalProperties: false }));
  await page.getByRole("button", { name: "Fields", exact: true }).click();
  await expect(page.getByText("Fields cannot show all of this schema.", { exact: false })).toBeVisible();
  await page.getByRole("button", { name: "Take the example" }).click();
  await expect(fields.getByLabel("Type of fields", { exact: true })).toHaveValue("list");
  await expect(fields.getByRole("list", { name: "Fields of the entries of fields" })).toBeVisible();
  await expect(command).toContainText('"label"');
});
