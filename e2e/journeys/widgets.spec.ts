import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, type Page } from "@playwright/test";
import { goTo, liveView, script, test } from "./journey.ts";

test.use({ viewport: { width: 1400, height: 900 } });

type Stage = Parameters<Parameters<typeof test>[2]>[0]["stage"];

/** A shop's page with the controls that browsers draw outside of pages. It tells its server what it sees. */
const SHOP = `<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,">
<style>body { margin: 0; font: 20px sans-serif } .c { position: absolute; left: 100px; width: 300px; height: 50px; font-size: 20px }</style>
<select class="c" style="top: 50px" aria-label="Size"><option>Small<option>Medium<option disabled>Large<optgroup label="Wide"><option>Wide small</optgroup></select>
<button class="c" style="top: 150px" onclick="tell('removed', confirm('Remove this item?'))">Remove</button>
<button class="c" style="top: 250px" onclick="tell('name', prompt('Name of the list?', 'Gifts'))">Name</button>
<input class="c" style="top: 350px" type="file" aria-label="Photo">
<input class="c" style="top: 450px" type="date" aria-label="Delivery">
<button class="c" style="top: 550px" onclick="window.open('/terms')">Terms</button>
<script>
  const tell = (what, value) => fetch("/told?" + new URLSearchParams({ what, value }));
  document.querySelector("select").onchange = (event) => tell("size", event.target.value + " " + event.isTrusted);
  document.querySelector("[type=date]").onchange = (event) => tell("date", event.target.value);
  document.querySelector("[type=file]").onchange = async ({ target }) => tell("file", target.files[0].name + ":" + await target.files[0].text());
</script></html>`;

async function startShop() {
  const told: string[] = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://shop");
    if (pathname === "/told") {
      told.push(`${searchParams.get("what")}=${searchParams.get("value")}`);
      return void response.writeHead(204).end();
    }
    const page = pathname === "/terms" ? "<!doctype html><title>Terms</title><h1>The terms</h1>" : SHOP;
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(page);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    told,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/shop`,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

async function openShop(page: Page, { model, service }: Stage, url: string) {
  script(model, { "[shop]": [goTo(url), { text: "The shop is open." }] });
  const session = await service.create("[shop] open it");
  await page.goto(service.baseUrl + session.shareUrl);
  await expect(page.getByText("The shop is open.")).toBeVisible();
  await expect(liveView(page).canvas).toBeVisible();
}

test("a person uses lists, dialogs, files, dates and tabs of a page in the live browser", async ({
  page,
  stage,
}, info) => {
  const shop = await startShop();
  try {
    await openShop(page, stage, shop.url);
    const live = liveView(page);
    await live.takeOver();
    const shoot = (name: string) => page.screenshot({ path: info.outputPath(`${name}.png`) });

    await live.click(200, 75);
    const list = page.getByRole("listbox", { name: "Size" });
    await expect(list.getByRole("option", { name: "Large" })).toHaveAttribute("aria-disabled", "true");
    await shoot("list");
    await list.getByRole("option", { name: "Wide small" }).click();
    await expect.poll(() => shop.told).toEqual(["size=Wide small true"]);
    await expect(list).toHaveCount(0);
    await expect(page.getByText("You have control")).toBeVisible();

    await live.click(200, 175);
    const question = page.getByRole("alertdialog");
    await expect(question).toContainText("Remove this item?");
    await expect(question).toContainText("127.0.0.1");
    await shoot("confirm");
    await page.keyboard.press("Enter");
    await expect.poll(() => shop.told.at(-1)).toBe("removed=true");
    await expect(question).toHaveCount(0);

    await live.click(200, 275);
    await question.getByLabel("Answer to the page").fill("Grüße");
    await question.getByRole("button", { name: "OK" }).click();
    await expect.poll(() => shop.told.at(-1)).toBe("name=Grüße");

    await live.click(150, 375);
    const files = page.getByRole("dialog", { name: "The page asks for files" });
    await files
      .getByLabel("Files of this machine")
      .setInputFiles({ name: "photo.txt", mimeType: "text/plain", buffer: Buffer.from("bytes") });
    await expect(files.getByRole("list", { name: "Chosen files" })).toContainText("photo.txt");
    await shoot("files");
    await files.getByRole("button", { name: "Give the file" }).click();
    await expect.poll(() => shop.told.at(-1)).toBe("file=photo.txt:bytes");

    await live.click(386, 475);
    const date = page.getByRole("form", { name: "Delivery" });
    await date.getByLabel("Delivery").fill("2026-03-04");
    await shoot("date");
    await date.getByRole("button", { name: "Set" }).click();
    await expect.poll(() => shop.told.at(-1)).toBe("date=2026-03-04");

    await live.click(200, 575);
    const tabs = page.getByRole("list", { name: "Tabs of the live browser" });
    await expect(tabs.getByRole("button", { name: "Terms", exact: true })).toHaveAttribute(
      "aria-current",
      "page",
    );
    await shoot("tabs");
    await tabs.getByRole("button", { name: "Shop", exact: true }).click();
    await expect(page.getByLabel("Address")).toHaveValue(shop.url);
    await tabs.getByRole("button", { name: "Close the tab Terms" }).click();
    await expect(tabs).toHaveCount(0);
  } finally {
    await shop.close();
  }
});

test("a page that cannot be opened is explained over the picture, and can be tried again", async ({
  page,
  stage,
}) => {
  const shop = await startShop();
  await openShop(page, stage, shop.url);
  await shop.close();
  const bar = page.getByLabel("Address");
  await bar.fill(`${new URL(shop.url).host}/other`);
  await bar.press("Enter");
  const problem = page.getByRole("region", { name: "The page could not be opened" });
  await expect(problem).toContainText("The site did not answer");
  await expect(problem.getByRole("button", { name: "Retry" })).toBeVisible();
  await problem.getByRole("button", { name: "Close" }).click();
  await expect(problem).toHaveCount(0);
});
