import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { TestClient } from "#lib/api/live/testing.ts";
import type { StageWidget, WidgetAnswer } from "#lib/browser/stage/stage-state.ts";
import { waitUntil } from "../testing.ts";
import { openSite, script } from "../variants/variants-testing.ts";
import { openTwoServices, type TwoServices, watchLive } from "./two-services-testing.ts";

/** Allows only the page's own script, and no HTML from text. What the service draws must not need more. */
const POLICY =
  "default-src 'none'; script-src 'nonce-own'; style-src 'unsafe-inline'; connect-src 'self'; require-trusted-types-for 'script'; trusted-types 'none'";

/** A page with the controls that browsers draw outside of pages. It tells its server what it gets. */
const SHOP = `<!doctype html><title>Shop</title>
<style>.c { position: absolute; left: 100px; width: 300px; height: 50px }</style>
<select class=c style="top: 50px" aria-label=Size><option>Small<option>Medium<option>Large</select>
<button class=c style="top: 150px" id=remove>Remove</button>
<input class=c style="top: 250px" type=file aria-label=Photo>
<input class=c style="top: 350px" type=date aria-label=Delivery>
<button class=c style="top: 450px" id=terms>Terms</button>
<p class=c style="top: 550px; margin: 0" draggable=true id=item>Drag me</p><p class=c style="top: 650px; margin: 0" id=cart>Cart</p>
<script nonce=own>
  const tell = (what, value) => fetch("/told?" + new URLSearchParams({ what, value }));
  const [size, photo, delivery] = document.querySelectorAll("select, input");
  size.onchange = () => tell("size", size.value);
  photo.onchange = async () => tell("file", photo.files[0].name + ":" + await photo.files[0].text());
  delivery.onchange = () => tell("date", delivery.value);
  remove.onclick = () => tell("removed", confirm("Remove this item?"));
  terms.onclick = () => window.open("/terms");
  item.ondragstart = ({ dataTransfer }) => dataTransfer.setData("text/plain", "item 7");
  cart.ondragover = (event) => event.preventDefault();
  cart.ondrop = (event) => { event.preventDefault(); tell("dropped", event.dataTransfer.getData("text/plain")); };
  addEventListener("securitypolicyviolation", ({ violatedDirective }) => tell("violated", violatedDirective));
</script>`;

const turns = new Map([["[open]", [script("return page.title();")]]]);
const told: string[] = [];
let both: TwoServices;
let site: Awaited<ReturnType<typeof openSite>>;

before(async () => {
  site = await openSite((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "", "http://shop");
    if (pathname === "/told") {
      told.push(`${searchParams.get("what")}=${searchParams.get("value")}`);
      response.writeHead(204).end();
      return;
    }
    const page = pathname === "/terms" ? "<!doctype html><title>Terms</title>" : SHOP;
    response.writeHead(200, { "content-type": "text/html", "content-security-policy": POLICY }).end(page);
  });
  both = await openTwoServices(turns);
});
after(async () => {
  await both?.close();
  site?.close();
});

const idOf = ({ frames }: TestClient): string =>
  frames.flatMap((frame) => (frame.type === "ready" ? [frame.data.connectionId] : []))[0] ?? assert.fail();
const stageOf = ({ frames }: TestClient) =>
  frames.flatMap((frame) => (frame.type === "stage" ? [frame.data] : [])).at(-1);

test("a person at another process than the agent's uses lists, dialogs, files, dates, drags and tabs of a strict page", async () => {
  const [agent, other] = both.services;
  const session = await agent.create("[open] the shop", { targetUrl: `${site.url}/` });
  await agent.completed(session.statusUrl);
  const ada = await watchLive(other, session.sessionId, { stage: true });
  ada.send({ type: "control.take" });
  await ada.until(() => ada.frames.some((frame) => frame.type === "control" && frame.data.holder === "you"));
  await ada.until(() => stageOf(ada)?.tabs[0]?.title === "Shop");

  const mouse = (action: "move" | "down" | "up", x: number, y: number, button: "left" | "none" = "left") =>
    ada.send({ type: "input.mouse", action, button, clickCount: 1, modifiers: 0, x, y });
  const click = (y: number, x = 200) => {
    mouse("move", x, y, "none");
    mouse("down", x, y);
    mouse("up", x, y);
  };
  const widget = async <Kind extends StageWidget["kind"]>(kind: Kind) => {
    await ada.until(() => stageOf(ada)?.widget?.kind === kind);
    return stageOf(ada)?.widget as StageWidget & { kind: Kind };
  };
  const answer = (widgetId: string, given: WidgetAnswer) =>
    ada.send({ type: "input.widget", widgetId, answer: given });
  const hears = (what: string) => waitUntil(() => told.at(-1) === what, `the page hears ${what}`);

  click(75);
  const list = await widget("select");
  assert.deepEqual(
    [list.label, list.options.map(({ label }) => label)],
    ["Size", ["Small", "Medium", "Large"]],
  );
  answer(list.id, { kind: "option", chosen: 2 });
  await hears("size=Large");

  click(175);
  const dialog = await widget("dialog");
  assert.deepEqual([dialog.dialog, dialog.message], ["confirm", "Remove this item?"]);
  answer(dialog.id, { kind: "dialog", isAccepted: true });
  await hears("removed=true");

  click(275);
  const files = await widget("files");
  const added = await other.call(
    "POST",
    `/s/${session.sessionId}/actions/browser/files`,
    {
      widgetId: files.id,
      connectionId: idOf(ada),
      name: "a.txt",
      content: Buffer.from("from Ada").toString("base64"),
    },
    visitorOf(other.env.baseUrl, session.shareUrl),
  );
  assert.equal(added.status, 200, await added.text());
  answer(files.id, { kind: "files" });
  await hears("file=a.txt:from Ada");

  // On the button in the field.
  click(375, 386);
  const picker = await widget("picker");
  answer(picker.id, { kind: "value", value: "2026-12-24" });
  await hears("date=2026-12-24");

  mouse("move", 200, 575, "none");
  mouse("down", 200, 575);
  for (let y = 585; y <= 675; y += 10) {
    await pause(20);
    mouse("move", 200, y);
  }
  mouse("up", 200, 675);
  await hears("dropped=item 7");

  click(475);
  await ada.until(() => stageOf(ada)?.tabs.length === 2);
  const opened = stageOf(ada)?.tabs.find(({ url }) => url.endsWith("/terms")) ?? assert.fail();
  ada.send({ type: "input.tab", action: "close", tabId: opened.id });
  await ada.until(() => stageOf(ada)?.tabs.length === 1);
  assert.deepEqual(
    told.filter((each) => each.startsWith("violated")),
    [],
  );
  ada.socket.close();
});

/** The headers of a visitor's page with the share link of a session. */
function visitorOf(baseUrl: string, shareUrl: string): Record<string, string> {
  const key = new URL(shareUrl, baseUrl).searchParams.get("key") ?? assert.fail();
  return { authorization: "", cookie: `share=${key}`, origin: baseUrl };
}
