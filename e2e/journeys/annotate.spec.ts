import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, type Page } from "@playwright/test";
import { records } from "./edited-session.ts";
import { createLink, embedding } from "./embed-host.ts";
import { expectAccessible } from "./expect-accessible.ts";
import { goTo, liveView, type Stage, script } from "./journey.ts";

/** A page with a heading, a text, an element in a shadow root and a frame of another origin. It notes what reaches it. */
const HTML = `<!doctype html><html lang="en"><title>Shop</title><link rel="icon" href="data:,">
<style>
  body { margin: 0; height: 2400px; font: 20px/40px monospace; background: white; }
  h1, p, x-card, iframe { position: absolute; left: 100px; margin: 0; height: 40px; }
  h1 { top: 60px; } p { top: 140px; width: 600px; } x-card { top: 220px; } iframe { top: 300px; height: 120px; border: 0; }
</style>
<h1 id="title">Winter sale</h1><p id="text">Delivery within five days</p><x-card id="card"></x-card>
<iframe id="frame" src="http://localhost:PORT/inner"></iframe>
<script>
  document.querySelector("#card").attachShadow({ mode: "open" }).innerHTML = "<button id=buy>Buy now</button>";
  for (const name of ["pointermove", "mousedown", "keydown", "focus"])
    addEventListener(name, () => fetch("/seen?" + name), true);
</script></html>`;
const INNER = `<!doctype html><title>Inner</title><style>body{margin:0}</style><button id="pay" style="width:200px;height:60px">Pay</button>`;

async function startShop() {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    if (request.url?.startsWith("/seen")) {
      seen.push(request.url);
      return void response.writeHead(204).end();
    }
    const body = request.url === "/inner" ? INNER : HTML.replaceAll("PORT", String(port()));
    response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(body);
  });
  const port = () => (server.address() as AddressInfo).port;
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    seen,
    url: `http://127.0.0.1:${port()}/`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

/** Creates a session whose agent has opened the shop. */
async function openShop({ model, service }: Stage, url: string) {
  script(model, { "[look]": [goTo(url), { text: "I have looked." }], "": [{ text: "I handled them." }] });
  const session = await service.create("[look] Look at the shop");
  await service.completed(session.statusUrl);
  return session;
}

type Listed = { annotations: Record<string, unknown>[]; url: string; event: string };

const listOf = async ({ service }: Stage, sessionId: string) =>
  (await service.read<{ data: Listed[] }>(`/api/sessions/${sessionId}/annotations`)).data;

const browserOf = (page: Page) => page.getByRole("region", { name: "Live browser" });
const layer = (page: Page) => page.getByRole("application");
const card = (page: Page) => page.getByRole("form", { name: /^Comment on / });

/** Returns the point of the screen at which the picture shows a point of the page. */
async function toScreen(page: Page, x: number, y: number) {
  const box = await layer(page).boundingBox();
  if (!box) throw new Error("the layer is not shown");
  const width = await liveView(page).canvas.evaluate((element) => (element as HTMLCanvasElement).width);
  const scale = box.width / width;
  return { x: box.x + x * scale, y: box.y + y * scale };
}

async function clickAt(page: Page, x: number, y: number): Promise<void> {
  const at = await toScreen(page, x, y);
  await page.mouse.click(at.x, at.y);
}

async function dragFrom(page: Page, from: [number, number], to: [number, number]): Promise<void> {
  const [start, end] = [await toScreen(page, ...from), await toScreen(page, ...to)];
  await page.mouse.move(start.x, start.y);
  await page.mouse.down();
  await page.mouse.move(end.x, end.y, { steps: 4 });
  await page.mouse.up();
}

async function comment(page: Page, text: string): Promise<void> {
  await expect(card(page).getByLabel("Comment")).toBeFocused();
  await page.keyboard.type(text);
  await page.keyboard.press("Enter");
  await expect(browserOf(page).getByText("Your comment is in the list of annotations.")).toBeVisible();
}

/** Takes pictures of the page if `SCREENSHOTS` names a folder for the pictures. */
async function takePictures(page: Page, what: string): Promise<void> {
  const folder = process.env.SCREENSHOTS;
  if (folder === undefined) return;
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: `${folder}/${what}-${colorScheme}.png` });
  }
}

embedding.use({ viewport: { width: 1280, height: 800 } });

embedding(
  "a link for comments annotates elements, areas and texts without control, and the page notices nothing",
  async ({ page, stage }) => {
    await using shop = await startShop();
    const { sessionId } = await openShop(stage, shop.url);
    const { shareUrl } = await createLink(stage.service, sessionId, { role: "comment" });
    await page.goto(stage.service.baseUrl + shareUrl);
    await expect(liveView(page).canvas).toBeVisible();
    const annotate = browserOf(page).getByRole("button", { name: "Annotate" });
    await annotate.click();
    await expect(layer(page)).toBeFocused();

    const over = await toScreen(page, 150, 80);
    await page.mouse.move(over.x, over.y);
    await expect(layer(page).getByText("h1 “Winter sale”")).toBeVisible();
    await clickAt(page, 150, 80);
    await expectAccessible(page, "the card for a comment");
    await takePictures(page, "annotate-card-1280");
    await comment(page, "Larger, please");
    await clickAt(page, 130, 240);
    await comment(page, "In the shadow root");
    await clickAt(page, 150, 330);
    await comment(page, "In the frame");

    await page.getByRole("button", { name: "Area", exact: true }).click();
    await dragFrom(page, [110, 145], [300, 175]);
    await comment(page, "This part");
    await page.getByRole("button", { name: "Text", exact: true }).click();
    // "Delivery within": a character of the page is 12 px wide.
    await dragFrom(page, [101, 160], [100 + 15 * 12, 160]);
    await expect(card(page)).toContainText("“Delivery within”");
    await comment(page, "Wording");

    const [text, area, inFrame, inShadow, heading] = await listOf(stage, sessionId);
    expect(heading).toMatchObject({
      event: "submit",
      url: shop.url,
      annotations: [
        {
          type: "element",
          comment: "Larger, please",
          selector: "#title",
          role: "heading",
          name: "Winter sale",
          text: "Winter sale",
          boundingBox: { x: 100, y: 60 },
        },
      ],
    });
    expect(inShadow?.annotations[0]).toMatchObject({ selector: "#card >> #buy", role: "button" });
    expect(inFrame?.annotations[0]).toMatchObject({ frame: "#frame", selector: "#pay", name: "Pay" });
    expect(area?.annotations[0]).toMatchObject({ type: "area", selector: "#text", comment: "This part" });
    expect(text?.annotations[0]).toMatchObject({
      type: "text",
      selector: "#text",
      quote: "Delivery within",
      area: { y: expect.closeTo(150, -1) },
    });

    // Esc closes a card first, and then leaves.
    await page.getByRole("button", { name: "Element", exact: true }).click();
    await clickAt(page, 150, 80);
    await expect(card(page)).toBeVisible();
    await page.keyboard.press("Escape");
    await expect(card(page)).toHaveCount(0);
    await expect(layer(page)).toBeFocused();
    await page.keyboard.press("Escape");
    await expect(annotate).toBeFocused();
    expect(shop.seen).toEqual([]);
  },
);

embedding(
  "the keyboard alone picks an element, comments on it and marks an area",
  async ({ page, stage }) => {
    await using shop = await startShop();
    const { sessionId, shareUrl } = await openShop(stage, shop.url);
    await page.goto(stage.service.baseUrl + shareUrl);
    await expect(liveView(page).canvas).toBeVisible();
    await browserOf(page).getByRole("button", { name: "Annotate" }).focus();
    await page.keyboard.press("Enter");
    await expect(layer(page)).toBeFocused();
    const width = await liveView(page).canvas.evaluate((element) => (element as HTMLCanvasElement).width);
    const height = await liveView(page).canvas.evaluate((element) => (element as HTMLCanvasElement).height);
    const press = async (key: string, times: number) => {
      for (let count = 0; count < times; count += 1) await page.keyboard.press(key);
    };
    // The crosshair starts in the middle. Shift moves by 60 px, else by 10.
    await press("Shift+ArrowLeft", Math.round((width / 2 - 150) / 60));
    await press("Shift+ArrowUp", Math.round((height / 2 - 80) / 60));
    await expect(browserOf(page).getByRole("status").filter({ hasText: "Winter sale" })).toHaveCount(1);
    await page.keyboard.press("Enter");
    await comment(page, "By keyboard");
    await expect(layer(page)).toBeFocused();
    await expect(page.getByRole("button", { name: "Annotation 1, open: By keyboard" })).toBeVisible();
    // Back over the pin of the annotation and "Done".
    await press("Shift+Tab", 3);
    await expect(page.getByRole("button", { name: "Text", exact: true })).toBeFocused();
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Enter");
    await layer(page).focus();
    await page.keyboard.press("Enter");
    await expect(browserOf(page).getByText("First corner set.")).toBeVisible();
    await press("ArrowRight", 5);
    await press("ArrowDown", 3);
    await page.keyboard.press("Enter");
    await comment(page, "An area");
    const [area, element] = await listOf(stage, sessionId);
    expect(element?.annotations[0]).toMatchObject({ selector: "#title", comment: "By keyboard" });
    expect(area?.annotations[0]).toMatchObject({ type: "area", area: { width: 50, height: 30 } });
    expect(shop.seen).toEqual([]);
  },
);

embedding(
  "a person annotates while another one has control, also on a phone; pins follow the page and open the list",
  async ({ page, browser, stage }) => {
    await using shop = await startShop();
    const { sessionId, shareUrl } = await openShop(stage, shop.url);
    const other = await browser.newPage();
    await other.goto(stage.service.baseUrl + shareUrl);
    await liveView(other).takeOver();
    const { shareUrl: link } = await createLink(stage.service, sessionId, { role: "comment" });
    await page.goto(stage.service.baseUrl + link);
    await expect(liveView(page).canvas).toBeVisible();
    await page.setViewportSize({ width: 375, height: 740 });
    await page.getByRole("button", { name: "Browser", exact: true }).click();
    await browserOf(page).getByRole("button", { name: "Annotate" }).click();
    await clickAt(page, 150, 80);
    await expect(card(page)).toBeVisible();
    await expectAccessible(page, "the card at 375 px");
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(overflow).toBeLessThanOrEqual(0);
    await takePictures(page, "annotate-card-375");
    await comment(page, "Larger, please");
    await expect(other.getByText("You have control")).toBeVisible();
    await page.getByRole("button", { name: "Done" }).click();

    await page.setViewportSize({ width: 1280, height: 800 });
    const pin = page.getByRole("button", { name: "Annotation 1, open: Larger, please" });
    await expect(pin).toBeVisible();
    // The person in control sees none, and uses the page below.
    await expect(other.getByRole("button", { name: /^Annotation 1/ })).toHaveCount(0);
    const before = await pin.boundingBox();
    const at = await other.getByRole("img", { name: "Live view of the page" }).boundingBox();
    if (!at || !before) throw new Error("the picture or the pin is not shown");
    await other.mouse.move(at.x + at.width / 2, at.y + at.height * 0.8);
    await other.mouse.wheel(0, 40);
    await expect.poll(async () => (await pin.boundingBox())?.y ?? 0).toBeLessThan(before.y - 10);
    await expectAccessible(page, "a page with a pin");
    await takePictures(page, "annotate-pins-1280");
    await pin.click();
    const row = records(page).getByRole("listitem").filter({ hasText: "Larger, please" });
    await expect(row).toBeFocused();
    await stage.service.call("POST", `/api/sessions/${sessionId}/browser`, { url: `${shop.url}inner` });
    await expect(pin).toHaveCount(0);
    await other.close();
  },
);

embedding("a frame on another site annotates, and its pins open the list", async ({ page, sites, stage }) => {
  await using shop = await startShop();
  const { sessionId } = await openShop(stage, shop.url);
  const { shareUrl } = await createLink(stage.service, sessionId, { role: "comment" });
  const options = JSON.stringify({ baseUrl: stage.service.baseUrl, shareUrl, view: "live" });
  await page.goto(
    sites.allowed.serve(
      "/annotate",
      `<main style="height:90vh"></main><script type="module">
        import { mountSession } from "/client/mount-session.js";
        mountSession(document.querySelector("main"), ${options});
      </script>`,
    ),
  );
  const frame = page.frameLocator("iframe");
  await frame.getByRole("button", { name: "Annotate" }).click();
  const shown = frame.getByRole("application");
  const box = await shown.boundingBox();
  if (!box) throw new Error("the layer is not shown");
  const width = await frame
    .getByRole("img", { name: "Live view of the page" })
    .evaluate((element) => (element as HTMLCanvasElement).width);
  const scale = box.width / width;
  await page.mouse.click(box.x + 150 * scale, box.y + 80 * scale);
  await frame.getByLabel("Comment", { exact: true }).fill("From a frame");
  await frame.getByRole("button", { name: "Add comment" }).click();
  await frame.getByRole("button", { name: "Done" }).click();
  await frame.getByRole("button", { name: "Annotation 1, open: From a frame" }).click();
  await expect(frame.getByRole("listitem").filter({ hasText: "From a frame" })).toBeFocused();
  expect(shop.seen).toEqual([]);
});
