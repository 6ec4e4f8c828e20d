import { readFile } from "node:fs/promises";
import { expect, type Locator, type Page } from "@playwright/test";
import sharp from "sharp";
import { records } from "./edited-session.ts";
import { expectAccessible } from "./expect-accessible.ts";
import { script, test } from "./journey.ts";

test.use({ viewport: { width: 1280, height: 800 } });

const NOTES = "# Notes\n\nThe price is 12 EUR.\n";

/** Drops files on an element. */
async function drop(page: Page, target: Locator, files: { name: string; type: string; bytes: Buffer }[]) {
  const sent = files.map(({ bytes, ...file }) => ({ ...file, base64: bytes.toString("base64") }));
  const dataTransfer = await page.evaluateHandle((all) => {
    const data = new DataTransfer();
    for (const { name, type, base64 } of all) {
      const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
      data.items.add(new File([bytes], name, { type }));
    }
    return data;
  }, sent);
  for (const type of ["dragenter", "dragover", "drop"]) await target.dispatchEvent(type, { dataTransfer });
}

const picture = () =>
  sharp({ create: { width: 320, height: 200, channels: 3, background: "#2a6" } })
    .png()
    .toBuffer();

/** Takes pictures of the page if `SCREENSHOTS` names a folder for the pictures. */
async function takePictures(page: Page, what: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder === undefined) return;
  const size = page.viewportSize();
  for (const width of [375, 768, 1280, 1920]) {
    await page.setViewportSize({ width, height: 800 });
    for (const colorScheme of ["dark", "light"] as const) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: `${folder}/${what}-${width}-${colorScheme}.png` });
    }
  }
  if (size) await page.setViewportSize(size);
}

test("a person gives the agent files, and takes those that it wrote", async ({ page, stage }) => {
  const { model, service } = stage;
  script(model, {
    "[read]": [
      { toolCalls: [{ name: "read_file", arguments: { path: "uploads/notes.md" } }] },
      { text: "The notes name a price." },
    ],
    "[write]": [
      {
        toolCalls: [
          { name: "write_file", arguments: { path: "site/index.html", content: "<h1>12 EUR</h1>" } },
        ],
      },
      { text: "The page is written." },
    ],
    "[start]": [{ text: "Ready." }],
  });
  const session = await service.create("[start] Wait for the files");
  await page.goto(service.baseUrl + session.shareUrl);
  await expect(page.getByText("Ready.")).toBeVisible();

  // Files are dropped on the message box and sent with the message.
  const box = page.getByRole("textbox", { name: "Message to the agent" });
  const composer = page.getByRole("region", { name: "Message" });
  await drop(page, box, [
    { name: "notes.md", type: "text/markdown", bytes: Buffer.from(NOTES) },
    { name: "plan.png", type: "image/png", bytes: await picture() },
  ]);
  const attached = composer.getByRole("list", { name: "Files of the message" }).getByRole("listitem");
  await expect(attached).toHaveCount(2);
  await expect(attached.getByLabel("Uploaded")).toHaveCount(2);
  await expectAccessible(page, "a message with files");
  await takePictures(page, "files-composer");
  await box.fill("[read] What is the price?");
  await page.keyboard.press("Enter");
  await expect(attached).toHaveCount(0);
  await expect(page.getByText("The notes name a price.")).toBeVisible();
  const message = page.getByRole("article", { name: "Request" }).last();
  await expect(message.getByRole("link", { name: /notes\.md/ })).toBeVisible();
  await expect(message.getByRole("button", { name: "Open picture: uploads/plan.png" })).toBeVisible();
  const read = model.requests.findLast(({ userText }) => userText.includes("[read]"));
  expect(read?.toolResults.at(-1)).toContain("The price is 12 EUR.");
  expect(JSON.stringify(read?.body)).toContain("- uploads/plan.png (image/png,");

  // The Files tab shows them, and updates when the agent writes.
  await records(page).getByRole("tab", { name: "Files" }).click();
  const files = page.getByRole("region", { name: "Files of the workspace" });
  const list = files.getByRole("list", { name: "Files", exact: true }).getByRole("listitem");
  await expect(list).toHaveCount(1);
  await box.fill("[write] Write the page");
  await page.keyboard.press("Enter");
  await expect(list).toHaveCount(2);
  await expect(list.first()).toContainText("site");
  await files.getByRole("button", { name: "uploads", exact: true }).click();
  await expect(list).toHaveCount(2);
  await expect(list.first()).toContainText("notes.md");
  await expect(page.getByText("The page is written.")).toBeVisible();
  await expectAccessible(page, "the Files tab");
  await takePictures(page, "files-tab");

  // A text and a picture are shown, and a download has the bytes of the file.
  await files.getByRole("button", { name: "notes.md", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "uploads/notes.md" });
  await expect(dialog.getByText("The price is 12 EUR.")).toBeVisible();
  await expectAccessible(page, "the preview of a text");
  await takePictures(page, "files-preview");
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    dialog.getByRole("link", { name: "Download" }).click(),
  ]);
  expect(download.suggestedFilename()).toBe("notes.md");
  expect(await readFile(await download.path(), "utf8")).toBe(NOTES);
  await page.keyboard.press("Escape");
  await files.getByRole("button", { name: "plan.png", exact: true }).click();
  const shown = page.getByRole("dialog", { name: "uploads/plan.png" }).getByRole("img");
  await expect.poll(() => shown.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBe(320);
  await page.keyboard.press("Escape");

  // Another file of the same name gets a number. A file can be removed.
  const [chooser] = await Promise.all([
    page.waitForEvent("filechooser"),
    files.getByRole("button", { name: "Upload files" }).click(),
  ]);
  await chooser.setFiles({ name: "notes.md", mimeType: "text/markdown", buffer: Buffer.from("other") });
  await expect(list).toHaveCount(3);
  await expect(list.getByRole("button", { name: "notes (2).md", exact: true })).toBeVisible();
  await files.getByRole("button", { name: "Remove notes (2).md" }).click();
  await expect(list).toHaveCount(2);
  await files.getByRole("button", { name: "Workspace" }).click();
  await expect(list.first()).toContainText("site");
});

test("a file that is too large says so, and visitors who watch cannot upload", async ({ page, stage }) => {
  const { model, service } = stage;
  script(model, { "[start]": [{ text: "Ready." }] });
  const session = await service.create("[start] Wait");
  await service.call("PUT", `/api/sessions/${session.sessionId}/files/page.html`, "<h1>x</h1>");
  const link = await service.call("POST", `/api/sessions/${session.sessionId}/share-links`, { role: "view" });
  await page.goto(service.baseUrl + session.shareUrl);
  const box = page.getByRole("textbox", { name: "Message to the agent" });
  await drop(page, box, [{ name: "large.bin", type: "", bytes: Buffer.alloc(16 * 2 ** 20 + 1) }]);
  const upload = page.getByRole("list", { name: "Files of the message" }).getByRole("listitem");
  await expect(upload).toContainText("Too large: a file may have 16.0 MiB.");
  await expect(page.getByRole("button", { name: "Send" })).toBeDisabled();
  await page.getByRole("button", { name: "Remove large.bin" }).click();
  await expect(upload).toHaveCount(0);

  const { shareUrl } = (await link.json()) as { shareUrl: string };
  await page.context().clearCookies();
  await page.goto(service.baseUrl + shareUrl);
  await records(page).getByRole("tab", { name: "Files" }).click();
  const files = page.getByRole("region", { name: "Files of the workspace" });
  await expect(files.getByRole("button", { name: "page.html", exact: true })).toBeVisible();
  await expect(files.getByRole("button", { name: /Upload|Remove/ })).toHaveCount(0);
  await files.getByRole("button", { name: "page.html", exact: true }).click();
  await expect(page.getByRole("dialog").getByText("<h1>x</h1>")).toBeVisible();
});
