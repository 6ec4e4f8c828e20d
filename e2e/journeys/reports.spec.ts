import { readFile } from "node:fs/promises";
import { expect, type Page } from "@playwright/test";
import { openAsViewer, records } from "./edited-session.ts";
import { expectAccessible } from "./expect-accessible.ts";
import { goTo, type Stage, script, test } from "./journey.ts";

test.use({ viewport: { width: 1280, height: 800 }, permissions: ["clipboard-read", "clipboard-write"] });

const FINDINGS = [
  {
    severity: "minor",
    title: "The heading is not the page’s first",
    detail: "An `h1` follows the form.",
  },
  {
    severity: "critical",
    title: "The field has no visible label",
    detail:
      'People who see the page do not know what to enter.\n\n```html\n<label for="name">Name</label>\n```',
    selector: "#name",
    steps: ["Open the page.", "Look at the field."],
  },
];

/** Opens a session whose agent took a picture and published a report that contains the picture. */
async function openSessionWithReport(
  page: Page,
  { model, service, webPage }: Stage,
  more: Record<string, unknown> = {},
) {
  model.respondWith(({ kind, userText, answersSoFar, toolResults }) => {
    if (kind !== "turn" || !userText.includes("[qa]")) return undefined;
    if (answersSoFar === 0) return goTo(webPage.url);
    if (answersSoFar === 1) return { toolCalls: [{ name: "screenshot", arguments: {} }] };
    const evidenceIds = [/evi_[a-z2-7]{24}/.exec(toolResults.join("\n"))?.[0]];
    const findings = FINDINGS.map((finding) => ({ ...finding, url: webPage.url, evidenceIds }));
    const report = {
      title: "Accessibility of the page",
      summary: "The page **works**, with one [blocker](https://www.w3.org/WAI/).",
      findings,
      ...more,
    };
    if (answersSoFar === 2) return { toolCalls: [{ name: "publish_qa_report", arguments: report }] };
    return { text: "The report is published." };
  });
  const session = await service.create("[qa] Look at the page");
  await page.goto(service.baseUrl + session.shareUrl);
  await expect(page.getByText("The report is published.")).toBeVisible();
  const { data } = await service.read<{ data: { id: string; url: string }[] }>(
    `/api/sessions/${session.sessionId}/reports`,
  );
  return { ...session, report: data[0] ?? { id: "", url: "" } };
}

const findings = (page: Page) => page.getByRole("article");

/**
 * Checks a state with axe at the widths of a desktop and of a phone. On the phone, also checks that the page does not
 * scroll sideways.
 */
async function expectAccessibleEverywhere(page: Page, what: string): Promise<void> {
  await expectAccessible(page, what);
  await page.setViewportSize({ width: 375, height: 740 });
  await expectAccessible(page, what);
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(overflow, "the page does not scroll sideways").toBeLessThanOrEqual(0);
  await page.setViewportSize({ width: 1280, height: 800 });
}

test("a report is opened from the session, read, filtered, copied, saved and printed", async ({
  page,
  stage,
}) => {
  const { report, sessionId } = await openSessionWithReport(page, stage);
  await expect(page.getByRole("link", { name: "Open the report" }).first()).toHaveAttribute(
    "href",
    report.url,
  );
  await records(page).getByRole("tab", { name: "Result" }).click();
  const listed = records(page).getByRole("list", { name: "Reports" });
  await expect(listed).toContainText("Accessibility of the page");
  await expect(listed).toContainText("1 critical");
  await expectAccessible(page, "the result of a session with a report");
  await page.screenshot({ path: "test-results/reports-drawer.png" });
  await listed.getByRole("link").click();

  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Accessibility of the page");
  await expect(page).toHaveTitle(/^Accessibility of the page · /);
  await expect(page.getByText("The page works, with one blocker.")).toBeVisible();
  await expect(findings(page)).toHaveCount(2);
  const worst = findings(page).first();
  await expect(worst).toContainText("Critical");
  await expect(worst.getByRole("heading", { level: 3 })).toHaveText("1. The field has no visible label");
  await expect(worst.locator("code").filter({ hasText: stage.webPage.url })).toBeVisible();
  await expect(worst.locator("code").filter({ hasText: "#name" })).toBeVisible();
  await expect(worst.locator("pre")).toContainText('<label for="name">');
  await expect(worst.getByRole("listitem").filter({ hasText: "Look at the field." })).toBeVisible();
  const picture = worst.getByRole("img");
  await expect
    .poll(() => picture.evaluate((image) => (image as HTMLImageElement).naturalWidth))
    .toBeGreaterThan(0);
  await expect(picture).toHaveAttribute("alt", /.+/);
  await expectAccessibleEverywhere(page, "a report");
  for (const colorScheme of ["light", "dark"] as const)
    for (const width of [1280, 375]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 800 });
      await page.screenshot({ path: `test-results/report-${colorScheme}-${width}.png`, fullPage: true });
    }
  await page.setViewportSize({ width: 1280, height: 800 });
  await worst.getByRole("button", { name: /^Open picture/ }).press("Enter");
  await expect(page.getByRole("dialog").getByRole("img")).toBeVisible();
  await expectAccessible(page, "a picture of a report");
  await page.keyboard.press("Escape");
  await expect(worst.getByRole("button", { name: /^Open picture/ })).toBeFocused();

  await page.getByRole("button", { name: "Minor", exact: true }).press("Enter");
  await expect(findings(page)).toHaveCount(1);
  await expect(page.getByRole("status")).toHaveText("1 of 2 findings are shown.");
  await expect(findings(page).getByRole("heading", { level: 3 })).toHaveText(/^2\. /);
  await expectAccessibleEverywhere(page, "a filtered report");
  await page.getByRole("button", { name: "All", exact: true }).click();
  await expect(findings(page)).toHaveCount(2);

  const read = (format: string) =>
    stage.service.call("GET", `/api/sessions/${sessionId}/reports/${report.id}?format=${format}`);
  const markdown = await (await read("markdown")).text();
  await page.getByRole("button", { name: "Copy as Markdown" }).first().click();
  await expect(page.getByText("Copied")).toBeVisible();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(markdown);
  for (const [item, name, text] of [
    ["Download Markdown", `${report.id}.md`, markdown],
    ["Download JSON", `${report.id}.json`, await (await read("json")).text()],
  ] as const) {
    await page.getByRole("button", { name: "Download and appearance" }).click();
    await expectAccessible(page, "the menu of a report");
    const saved = page.waitForEvent("download");
    await page.getByRole("menuitem", { name: item }).click();
    const download = await saved;
    expect(download.suggestedFilename()).toBe(name);
    expect(await readFile(await download.path(), "utf8")).toBe(text);
  }

  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  await expect(page.getByRole("banner")).toBeHidden();
  await expect(page.getByRole("group", { name: "Severity" })).toBeHidden();
  await expect(findings(page)).toHaveCount(2);
  await expect(page.locator("body")).toHaveCSS("background-color", "rgb(255, 255, 255)");
  await expect(page.getByRole("heading", { level: 1 })).toHaveCSS("color", /^(?:lab\([12]?\d\.|oklch\(0\.2)/);
  await page.screenshot({ path: "test-results/reports-print.png", fullPage: true });
});

test("an older version links to the newer one, and a viewer can read both", async ({
  page,
  browser,
  stage,
}) => {
  const first = await openSessionWithReport(page, stage);
  await stage.service.call("POST", `/api/sessions/${first.sessionId}/agent/messages`, { text: "[again]" });
  script(stage.model, {
    "[again]": [
      {
        toolCalls: [
          {
            name: "publish_qa_report",
            arguments: { title: "Accessibility of the page", summary: "All is well.", findings: [] },
          },
        ],
      },
      { text: "It is published again." },
    ],
  });
  await records(page).getByRole("tab", { name: "Result" }).click();
  await expect(records(page).getByRole("list", { name: "Reports" })).toContainText("version 2");
  const guest = await openAsViewer(browser, stage.service, first.sessionId);
  await guest.goto(stage.service.baseUrl + first.report.url);
  await expect(guest.getByRole("note")).toContainText("This is an earlier version.");
  await expect(findings(guest)).toHaveCount(2);
  await expect
    .poll(() =>
      findings(guest)
        .first()
        .getByRole("img")
        .evaluate((image) => (image as HTMLImageElement).naturalWidth),
    )
    .toBeGreaterThan(0);
  await expectAccessible(guest, "an earlier version of a report");
  await guest.getByRole("link", { name: "Open version 2" }).click();
  await expect(guest.getByText("All is well.")).toBeVisible();
  await expect(guest.getByText("No findings")).toBeVisible();
  await expectAccessible(guest, "a report without findings");
  await guest.getByRole("link", { name: /^Back to/ }).click();
  await expect(records(guest)).toBeVisible();
  await guest.context().close();
});

test("a report is the 404 page without access, and opens with a share link", async ({
  page,
  browser,
  cleanConsole,
  stage,
}) => {
  cleanConsole.allow(/status of 404/);
  const { report, sessionId, shareUrl } = await openSessionWithReport(page, stage);
  const stranger = await (await browser.newContext()).newPage();
  const answer = await stranger.goto(stage.service.baseUrl + report.url);
  expect(answer?.status()).toBe(404);
  await expect(stranger.getByRole("heading", { name: "Nothing here" })).toBeVisible();
  const none = await page.goto(`${stage.service.baseUrl}/s/${sessionId}/reports/rep_none`);
  expect(none?.status()).toBe(404);
  const key = new URL(shareUrl, stage.service.baseUrl).searchParams.get("key");
  await stranger.goto(`${stage.service.baseUrl}${report.url}?key=${key}`);
  await expect(stranger).toHaveURL(stage.service.baseUrl + report.url);
  await expect(stranger.getByRole("heading", { level: 1 })).toHaveText("Accessibility of the page");
  await stranger.context().close();
});

const HOSTILE =
  '<script>window.owned = 1</script><img src=x onerror="window.owned = 1">\n\n[a](javascript:window.owned=1) ![p](https://evil.example/p.png)\n\n<!--\n```\n# b';

test("hostile and long texts are shown as text", async ({ page, stage }) => {
  const one = {
    severity: "serious",
    title: `<script>window.owned = 1</script> "><b>x</b> {{7*7}} ${"w".repeat(140)}`,
    detail: HOSTILE,
    url: `https://evil.example/?q=</code><script>window.owned=1</script>${"u".repeat(200)}`,
    selector: '`</code><img src=x onerror="window.owned=1">',
    steps: ['<b onclick="x">step</b>', "s".repeat(900)],
  };
  const many = Array.from({ length: 198 }, (_, index) => ({
    severity: ["critical", "moderate", "info"][index % 3],
    title: `Finding ${index} ${"long ".repeat(20)}`,
    detail: `${"Text of a finding. ".repeat(45)}\n\n- \`a\`\n- **b**`,
  }));
  const deep = { severity: "minor", title: "Deep", detail: `${">".repeat(2_000)} ${"**".repeat(900)}` };
  const { report, sessionId } = await openSessionWithReport(page, stage, {
    title: one.title,
    summary: HOSTILE,
    findings: [one, deep, ...many],
  });
  await page.goto(stage.service.baseUrl + report.url);
  await expect(findings(page)).toHaveCount(200);
  const hostile = findings(page).filter({ hasText: "step" });
  await expect(hostile.getByRole("heading", { level: 3 })).toContainText("<script>window.owned = 1</script>");
  await expect(hostile.locator("code").filter({ hasText: "onerror" })).toBeVisible();
  expect(await page.evaluate(() => (window as { owned?: number }).owned)).toBeUndefined();
  await expect(findings(page).filter({ hasText: /\d+\. Deep/ })).toContainText(deep.detail);
  const evil = page.locator(
    'main [src*="evil"], main [href^="javascript"], main script, main [onerror], main [onclick]',
  );
  await expect(evil).toHaveCount(0);
  await page.setViewportSize({ width: 375, height: 740 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  const path = `/api/sessions/${sessionId}/reports/${report.id}`;
  const { report: read } = await stage.service.read<{
    report: { findings: { title: string; detail: string }[]; summary: string };
  }>(path);
  expect(read.summary).toBe(HOSTILE);
  expect(read.findings.find(({ detail }) => detail === HOSTILE)?.title).toBe(one.title);
  const markdown = await (await stage.service.call("GET", `${path}?format=markdown`)).text();
  expect(markdown.match(/^### \d+\. \[\w+\] /gm)).toHaveLength(200);
  expect(markdown).toContain("\\<script\\>window.owned = 1\\</script\\>");
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.goto(`${stage.service.baseUrl}/s/${sessionId}`);
  await records(page).getByRole("tab", { name: "Result" }).click();
  await expect(records(page).getByRole("list", { name: "Reports" })).toContainText("<script>");
  await page.setViewportSize({ width: 375, height: 740 });
  await page
    .getByRole("navigation", { name: "Parts of the session" })
    .getByRole("button", { name: "Result" })
    .click();
  await expect(records(page).getByRole("list", { name: "Reports" })).toBeVisible();
  await expectAccessible(page, "the result of a session with a report of a long title");
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  await page.screenshot({ path: "test-results/reports-drawer-375.png" });
});
