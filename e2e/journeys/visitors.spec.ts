import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Browser, expect, type Page } from "@playwright/test";
import type { Publication } from "#lib/events/event.ts";
import type { Change } from "#lib/variant/document.ts";
import type { RunningService } from "../fixtures/service.ts";
import { site } from "./foreign-shop.ts";
import { goTo, script } from "./journey.ts";

/** Stores `changes` of the page at `url` as the newest revision of the session's variant. */
async function store(
  service: RunningService,
  sessionId: string,
  url: string,
  changes: Change[],
  baseRevision = 0,
): Promise<void> {
  const document = { pages: [{ url, match: "path", changes, css: "", js: "" }] };
  const path = `/api/sessions/${sessionId}/variants/main/import`;
  const stored = await service.call("POST", path, { format: "json", document, baseRevision });
  expect(stored.status).toBe(201);
}

async function publish(service: RunningService, sessionId: string): Promise<Publication> {
  const path = `/api/sessions/${sessionId}/variants/main/publish`;
  const answer = await service.call("POST", path, { unchecked: true });
  expect(answer.status).toBe(201);
  return ((await answer.json()) as { publication: Publication }).publication;
}

const setText = (id: string, selector: string, text: string): Change => ({
  id,
  op: "setText",
  selector,
  text,
});
const scriptTag = ({ scriptUrl }: Publication) => `<script async src="${scriptUrl}"></script>`;
const pinnedScriptTag = ({ pinnedScriptUrl, integrity }: Publication) =>
  `<script async src="${pinnedScriptUrl}" integrity="${integrity}" crossorigin="anonymous"></script>`;

/** Opens a page in a browser without cookies, as a new visitor does. */
async function visit(
  browser: Browser,
  url: string,
): Promise<{ page: Page; problems: string[]; leave: () => Promise<void> }> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(String(error)));
  await page.goto(url);
  return { page, problems, leave: () => context.close() };
}

site(
  "visitors see the current release, a rollback, and the original once it is unpublished",
  async ({ browser, stage: { service }, shop }) => {
    const { sessionId } = await service.create("hello");
    const url = shop.serve("/", "");
    await store(service, sessionId, url, [setText("c1", "#pay", "Pay now")]);
    const first = await publish(service, sessionId);
    await store(service, sessionId, url, [setText("c1", "#pay", "Buy")], 1);
    const second = await publish(service, sessionId);
    shop.serve("/", scriptTag(second));

    const see = async (text: string) => {
      const { page, problems, leave } = await visit(browser, url);
      await expect(page.locator("#pay")).toHaveText(text);
      expect(problems).toEqual([]);
      await leave();
    };
    await see("Buy");
    const change = (name: string, body?: object) =>
      service.call("POST", `/api/sessions/${sessionId}/variants/main/${name}`, body);
    await change("rollback", { release: first.number });
    await see("Pay now");
    await change("unpublish");
    await see("Pay");

    // A page with a pinned tag loads exactly the release that the tag names.
    await change("rollback", { release: 2 });
    shop.serve("/pinned", pinnedScriptTag(second));
    await store(service, sessionId, `${shop.url}/pinned`, [setText("c1", "#pay", "Only here")], 2);
    const third = await publish(service, sessionId);
    shop.serve("/pinned", pinnedScriptTag(third));
    const { page, problems, leave } = await visit(browser, `${shop.url}/pinned`);
    await expect(page.locator("#pay")).toHaveText("Only here");
    expect(problems).toEqual([]);
    await leave();
  },
);

site(
  "a script that does not match its hash does not run, and a content policy blocks the script as the check predicted",
  async ({ browser, stage: { service }, shop }) => {
    const { sessionId, shareUrl } = await service.create("hello");
    const url = shop.serve("/", "");
    const policy = "default-src 'self'; img-src data:";
    const guarded = shop.serve("/guarded", "", { "content-security-policy": policy });
    const document = {
      pages: [
        { url, match: "path", changes: [setText("c1", "#pay", "Pay now")], css: "", js: "" },
        { url: guarded, match: "path", changes: [setText("c2", "#pay", "Guarded")], css: "", js: "" },
      ],
    };
    await service.call("POST", `/api/sessions/${sessionId}/variants/main/import`, {
      format: "json",
      document,
    });
    const publication = await publish(service, sessionId);
    shop.serve("/", pinnedScriptTag({ ...publication, integrity: `sha384-${"A".repeat(64)}` }));
    const mismatched = await visit(browser, url);
    await expect.poll(() => mismatched.problems.join()).toMatch(/integrity/);
    await expect(mismatched.page.locator("#pay")).toHaveText("Pay");
    await mismatched.leave();

    const tag = scriptTag(publication);
    shop.serve("/guarded", tag, { "content-security-policy": policy });
    const blocked = await visit(browser, guarded);
    await expect.poll(() => blocked.problems.join()).toMatch(/Content Security Policy/);
    await expect(blocked.page.locator("#pay")).toHaveText("Pay");
    await blocked.leave();

    // The check names the directive that the policy lacks. With that directive, the script runs.
    const visitor = await browser.newContext();
    const opened = await visitor.newPage();
    await opened.goto(service.baseUrl + shareUrl);
    const checked = await opened.evaluate(async (path) => {
      const answer = await fetch(path, { method: "POST" });
      return answer.status;
    }, `/s/${sessionId}/actions/variants/main/check`);
    expect(checked).toBe(200);
    const revision = await service.call("GET", `/api/sessions/${sessionId}/variants/main/revisions/1`);
    const {
      revision: { check },
    } = (await revision.json()) as {
      revision: { check: { status: string; findings: { code: string; url: string; message: string }[] } };
    };
    const found = check.findings.filter(({ code }) => code === "csp_blocks_script");
    expect(new Set(found.map((finding) => finding.url))).toEqual(new Set([guarded]));
    const advised =
      /add the directive (script-src [^:]+:\/\/\S+?)\.?$/.exec(found[0]?.message ?? "")?.[1] ?? "";
    expect(advised).toContain("script-src 'self'");
    shop.serve("/guarded", tag, { "content-security-policy": `${policy}; ${advised}` });
    const allowed = await visit(browser, guarded);
    await expect(allowed.page.locator("#pay")).toHaveText("Guarded");
    await allowed.leave();
    await visitor.close();
  },
);

site(
  "two published variants change one page, and a page stays as it is while the service is down",
  async ({ browser, stage: { service }, shop }) => {
    const url = shop.serve("/", "");
    const [one, other] = [await service.create("hello"), await service.create("hello")];
    await store(service, one.sessionId, url, [setText("c1", "#pay", "Pay now")]);
    await store(service, other.sessionId, url, [
      setText("c1", "h1", "Store"),
      { id: "c2", op: "addClass", selector: "#pay", className: "big" },
    ]);
    const publications = [await publish(service, one.sessionId), await publish(service, other.sessionId)];
    shop.serve("/", publications.map(scriptTag).join(""));
    const both = await visit(browser, url);
    await expect(both.page.locator("h1")).toHaveText("Store");
    await expect(both.page.locator("#pay.big")).toHaveText("Pay now");
    expect(both.problems).toEqual([]);
    await both.leave();

    // At the first origin, the connection is refused. The second origin accepts the connection but never responds.
    const silent = createServer(() => {});
    await new Promise<void>((done) => silent.listen(0, "127.0.0.1", done));
    const { port } = silent.address() as AddressInfo;
    const deadTags = ["http://127.0.0.1:1", `http://127.0.0.1:${port}`].map(
      (origin) => `<script async src="${origin}/v/${publications[0]?.id}.js"></script>`,
    );
    shop.serve("/down", deadTags.join(""));
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(`${shop.url}/down`, { waitUntil: "domcontentloaded" });
    await expect(page.locator("#pay")).toHaveText("Pay");
    await context.close();
    silent.closeAllConnections();
    silent.close();
  },
);

site(
  "the session's own browser applies the edited variant once, without the published release",
  async ({ stage: { model, service }, shop }) => {
    const url = shop.serve("/", "");
    const insert = (text: string) => ({
      op: "insert",
      selector: "#pay",
      position: "after",
      html: `<i>${text}</i>`,
    });
    const read = {
      toolCalls: [
        {
          name: "browser_execute",
          arguments: { script: "await page.reload(); return page.locator('i').allTextContents();" },
        },
      ],
    };
    script(model, {
      "[publish]": [
        goTo(url),
        { toolCalls: [{ name: "apply_variant", arguments: { baseRevision: 0, add: [insert("one")] } }] },
        { text: "Done." },
      ],
      "[edit]": [
        read,
        {
          toolCalls: [
            { name: "apply_variant", arguments: { baseRevision: 1, add: [{ ...insert("two"), id: "c1" }] } },
          ],
        },
        read,
        { text: "Edited." },
      ],
    });
    const session = await service.create("[publish] Add a note");
    await service.completed(session.statusUrl);
    shop.serve("/", scriptTag(await publish(service, session.sessionId)));
    const edit = await service.call("POST", `/api/sessions/${session.sessionId}/agent/messages`, {
      text: "[edit] Another",
    });
    await service.completed(((await edit.json()) as { statusUrl: string }).statusUrl);
    const results = model.requests.findLast(({ userText }) => userText.includes("[edit]"))?.toolResults ?? [];
    expect(results[0]).toMatch(/\[\s*"one"\s*\]/);
    expect(results[2]).toMatch(/\[\s*"two"\s*\]/);
  },
);

site(
  "the demo shop shows visitors its publication, without the operator's rights",
  async ({ browser, stage: { service } }) => {
    const { sessionId } = await service.create("hello");
    const url = `${service.baseUrl}/demo/index.html`;
    const before = await visit(browser, `${service.baseUrl}/demo?visitor`);
    await expect(before.page.locator("h1")).not.toHaveText("Fresh ink");
    await before.leave();
    await store(service, sessionId, url, [setText("c1", "h1", "Fresh ink")]);
    await publish(service, sessionId);
    const { page, problems, leave } = await visit(browser, url);
    await expect(page.locator("h1")).not.toHaveText("Fresh ink");
    await page.goto(`${service.baseUrl}/demo?visitor`);
    await expect(page.locator("h1")).toHaveText("Fresh ink");
    expect(await page.evaluate(() => self.origin)).toBe("null");
    const rights = await page.evaluate(async () => {
      const read = async () => (await fetch("/api/sessions", { credentials: "include" })).status;
      const cookie = () => document.cookie;
      return [await read().catch(String), await Promise.resolve().then(cookie).catch(String)].join(" ");
    });
    expect(rights).toMatch(/TypeError: Failed to fetch SecurityError/);
    problems.length = 0;
    // After a navigation, the shop is still shown as visitors see it, and the cart keeps its items.
    await page
      .getByRole("link", { name: /Brass pen/i })
      .first()
      .click();
    await expect(page).toHaveURL(/brass-pen\.html\?visitor$/);
    await page.getByRole("button", { name: /add/i }).click();
    await page.goBack();
    await expect(page.locator("h1")).toHaveText("Fresh ink");
    await expect(page.locator("[data-cart-count]").first()).toHaveText("1");
    expect(problems).toEqual([]);
    await leave();
  },
);
