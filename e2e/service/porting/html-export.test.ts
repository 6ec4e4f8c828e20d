import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import axe from "axe-core";
import { eq } from "drizzle-orm";
import { type Browser, chromium } from "playwright-core";
import sharp from "sharp";
import { evidence } from "#db/schema/index.ts";
import { findTestChromium } from "#lib/browser/testing.ts";
import { replacePlan } from "#lib/planning/store-plan.ts";
import { addRequirements } from "#lib/planning/store-requirements.ts";
import { publishReport } from "#lib/reports/publish-report.ts";
import { readTestedVariants } from "#lib/variant/read-tested-variants.ts";
import { savePicture } from "../reports/reports-testing.ts";
import { openTestService, type TestService } from "../testing.ts";
import { playTurn, scriptTurn, step } from "../variants/variants-testing.ts";
import { exportHtml, exportSession, imported, storeVariant } from "./porting-testing.ts";

let service: TestService;
let browser: Browser;
let folder: string;
before(async () => {
  const { executablePath, args } = findTestChromium();
  [service, browser, folder] = await Promise.all([
    openTestService({ SANDBOX: "unconfined" }),
    chromium.launch({ executablePath, args: [...(args ?? []), "--no-sandbox"] }),
    mkdtemp(join(tmpdir(), "html-export-")),
  ]);
});
after(async () => {
  await browser.close();
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

/** Texts that run a script if the HTML does not escape them. */
const EVIL = [
  `"><script>window.ran = 1</script>`,
  `<img src=x onerror="window.ran = 2">`,
  `'><svg onload=window.ran=3>`,
  `</style></title></pre></details><iframe src="javascript:parent.ran=4"></iframe>`,
  `<meta http-equiv="refresh" content="0;url=https://evil.example/">`,
  `<base href="https://evil.example/"><link rel=stylesheet href="https://evil.example/a.css">`,
].join(" ");
const MARKDOWN = `# Result\n\n${EVIL}\n\n![x](https://evil.example/x.png) [run](javascript:window.ran=5) [data](data:text/html,x) [ok](https://shop.example/cart)\n\n| a | b |\n|-|-|\n| 1 | <b>2</b> |\n\n- [x] done\n\n\`\`\`html\n<script>window.ran = 6</script>\n\`\`\``;

/** Creates a session with hostile text in every field that an export can contain. */
async function makeHostileSession(): Promise<string> {
  const marker = `task ${crypto.randomUUID()}`;
  scriptTurn(service, marker, [
    step("write_file", { path: "notes.txt", content: EVIL }),
    step("read_file", { path: "notes.txt" }),
    { text: MARKDOWN },
  ]);
  const { sessionId, statusUrl } = await service.create(`${EVIL} ${marker}`, {
    capabilities: { browser: false },
  });
  await service.completed(statusUrl);
  const safe = EVIL.replaceAll("<script", "&lt;script");
  await storeVariant(service, sessionId, "main", {
    pages: [
      {
        url: "https://shop.example/?a=<script>window.ran=7</script>",
        match: "path",
        changes: [
          { id: "c1", op: "setText", selector: '[title="</code><script>window.ran=8</script>"]', text: EVIL },
          {
            id: "c2",
            op: "insert",
            selector: "h1",
            position: "after",
            html: "<p>Free</p>",
            note: EVIL.slice(0, 300),
          },
          { id: "c3", op: "setStyle", selector: "h1", style: { color: "red" } },
          { id: "c4", op: "move", selector: "h1", position: "end", target: "main" },
        ],
        css: `/* </pre>${safe} */`,
        js: 'const text = "</pre><script>window.ran = 9</script>";',
      },
    ],
  });
  await service.call("POST", `/api/sessions/${sessionId}/annotations/webhook`, {
    event: "submit",
    url: `https://shop.example/${EVIL}`,
    annotations: [{ selector: EVIL, comment: EVIL }],
  });
  const picture = await sharp({ create: { width: 600, height: 300, channels: 3, background: "#2a6" } })
    .png()
    .toBuffer();
  for (const [mediaType, bytes] of [
    ["image/png", picture],
    ["image/svg+xml", Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" onload="window.ran=10"/>`)],
  ] as const)
    await service.container.services.evidence.save({
      sessionId,
      runId: null,
      kind: "screenshot",
      title: EVIL,
      url: null,
      mediaType,
      bytes,
    });
  const { planning } = service.container.services;
  const call = { rootSessionId: sessionId, requestId: null, runId: null, callId: null };
  const text = EVIL.slice(0, 400);
  await replacePlan(planning, { ...call, items: [{ text, status: "todo" }] });
  const assertion = {
    url: "https://shop.example/?a=<script>window.ran=11</script>",
    selector: `[title="<script>window.ran=12</script>"]`,
    is: "text" as const,
    value: text,
  };
  const added = await addRequirements(planning, {
    ...call,
    author: "person",
    requirements: [{ text, assertion }],
  });
  assert.ok(added.ok);
  const [pictureId = ""] = (await exportSession(service, sessionId)).evidence.map(({ id }) => id);
  const finding = {
    severity: "serious" as const,
    title: EVIL.slice(0, 150),
    detail: MARKDOWN,
    selector: EVIL,
    url: "https://shop.example/",
    steps: [EVIL],
    evidenceIds: [pictureId],
  };
  const published = await publishReport(
    { ...service.container.services, readTestedVariants },
    {
      ...{ sessionId, requestId: null, runId: null, callId: null },
      report: {
        title: EVIL.slice(0, 150),
        summary: MARKDOWN,
        findings: [{ ...finding, severity: "info", evidenceIds: [] }, finding],
      },
    },
  );
  assert.ok(published.ok);
  const copy = await exportSession(service, sessionId);
  await imported(service, sessionId, copy);
  return sessionId;
}

describe("the HTML export, opened as a file", () => {
  it("runs nothing, loads nothing, and is readable in light and dark, wide and narrow", async () => {
    const html = await exportHtml(service, await makeHostileSession());
    const file = join(folder, "session.html");
    await writeFile(file, html);
    const page = await browser.newPage();
    const requests: string[] = [];
    const errors: string[] = [];
    page.on("request", (request) => requests.push(request.url()));
    page.on("console", (message) => errors.push(message.text()));
    page.on("pageerror", (error) => errors.push(String(error)));
    page.on("dialog", (dialog) => errors.push(dialog.message()));
    await page.goto(pathToFileURL(file).href);
    await page.waitForLoadState("networkidle");
    for (const details of await page.locator("details").all())
      await details.evaluate((element) => element.setAttribute("open", ""));
    assert.deepEqual(
      requests.filter((url) => !url.startsWith("data:image/png")),
      [pathToFileURL(file).href],
    );
    assert.deepEqual(errors, []);
    assert.equal(await page.evaluate(() => (window as unknown as { ran?: number }).ran), undefined);
    assert.equal(
      await page.locator("script, iframe, svg, object, base, link, [onerror], [onload]").count(),
      0,
    );
    const links = await page.locator("a[href]").evaluateAll((all) => all.map((link) => link.outerHTML));
    assert.ok(links.some((link) => link.includes('href="https://shop.example/cart"')));
    for (const link of links)
      assert.match(link, /^<a href="https:\/\/[^"]*" target="_blank" rel="noopener noreferrer nofollow">/);
    assert.equal(
      await page
        .locator("figure img")
        .evaluateAll((all) => all.filter((each) => (each as HTMLImageElement).naturalWidth > 0).length),
      1,
    );
    assert.deepEqual(await page.locator("h2").allTextContents(), [
      "Plan",
      "Requirements",
      "Reports",
      "Changes of pages",
      "Conversation",
      "Imported conversations",
      "Annotations",
      "Not in this file",
    ]);
    const severities = page.locator(".finding > h4 > span:first-child");
    assert.deepEqual(await severities.allTextContents(), ["serious", "info"]);
    assert.equal(await page.locator(".finding figure img").count(), 1, "the finding contains its picture");
    for (const colorScheme of ["light", "dark"] as const)
      for (const width of [1280, 375]) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 900 });
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(overflow <= 0, `${overflow} px wider than ${width} px`);
        await page.evaluate(axe.source);
        const found = await page.evaluate(async () => {
          const { violations } = await (window as unknown as { axe: typeof axe }).axe.run(document);
          return violations.map(
            ({ id, nodes }) => `${id}: ${nodes.map(({ html: at }) => at.slice(0, 200)).join(" | ")}`,
          );
        });
        assert.deepEqual(found, [], `${colorScheme}, ${width} px`);
      }
    await page.close();
  });
});

describe("a report with pictures of sub-agents", () => {
  it("contains each picture once, links to it where it appears again, and names missing pictures", async () => {
    const agents = [{ objective: "look around", name: "scout" }];
    const { session } = await playTurn(service, [step("spawn_agents", { agents })], {
      subAgents: true,
      capabilities: { browser: false },
    });
    const { sessionId } = session;
    const [child] = (await exportSession(service, sessionId)).agents;
    assert.ok(child);
    const own = await savePicture(service, sessionId, "Of the session");
    const childs = await savePicture(service, child.id, "Of the scout");
    const finding = { severity: "minor" as const, title: "A", detail: "b", steps: [] };
    const published = await publishReport(
      { ...service.container.services, readTestedVariants },
      {
        ...{ sessionId, requestId: null, runId: null, callId: null },
        report: {
          title: "With pictures",
          summary: "",
          findings: [
            { ...finding, evidenceIds: [childs] },
            { ...finding, evidenceIds: [childs, own] },
          ],
        },
      },
    );
    assert.ok(published.ok);
    const html = await exportHtml(service, sessionId);
    const figures = [...html.matchAll(/<figure id="(\w+)"><img src="data:image\/png/g)].map(([, id]) => id);
    assert.deepEqual(figures, [childs, own]);
    assert.ok(html.includes(`Evidence: <a href="#${childs}">Of the scout</a>, shown above`));

    await service.container.services.db.delete(evidence).where(eq(evidence.id, childs));
    const later = await exportHtml(service, sessionId);
    assert.equal(later.match(/Evidence: Of the scout, not in this file/g)?.length, 2);
    assert.equal(later.match(/<li>Of the scout: The evidence was deleted\.<\/li>/g)?.length, 1);
  });
});
