import assert from "node:assert/strict";
import { after, before } from "node:test";
import { type Browser, chromium, type Page } from "playwright";
import { findTestChromium, startTestSite, waitFor } from "#lib/browser/testing.ts";
import type { ChangeReport, RuntimeReport } from "#lib/injected/runtime/runtime-types.ts";
import { variantScript } from "#lib/variant/compile/variant-script.ts";
import type { Change, VariantPage } from "#lib/variant/document.ts";

/** A page of the test site: its HTML, or the parts of its response. */
export type SitePage =
  | string
  | {
      headers?: Record<string, string>;
      body: string;
      /** The response is not sent before this promise resolves. */
      until?: Promise<void>;
      /** The rest of the body, which is sent when `rest.until` resolves. */
      rest?: { until: Promise<void>; body: string };
    };

/** A Chromium browser and a test site, for tests of the runtime. */
export type RuntimeBrowser = {
  origin: string;
  /** Adds a page to the site. @returns the address of the page. */
  serve: (path: string, page: SitePage) => string;
  /** Opens an address in a new browser context. The scripts run at the start of the document. */
  open: (url: string, scripts?: string[], waitUntil?: "commit" | "load") => Promise<OpenPage>;
  close: () => Promise<void>;
};

/** An open page. `problems` are its console errors, console warnings and exceptions. */
export type OpenPage = { page: Page; problems: string[]; close: () => Promise<void> };

/** Starts Chromium and the test site. */
export async function startRuntimeBrowser(): Promise<RuntimeBrowser> {
  const pages = new Map<string, SitePage>();
  const site = await startTestSite((request, response) => {
    const page = pages.get(new URL(request.url ?? "/", "http://site").pathname);
    const parts: Exclude<SitePage, string> =
      typeof page === "string" ? { body: page } : (page ?? { body: "" });
    const { headers = {}, body, until, rest } = parts;
    const answer = () => {
      response.writeHead(page === undefined ? 404 : 200, {
        "content-type": "text/html; charset=utf-8",
        ...headers,
      });
      response.write(body);
      if (rest) void rest.until.then(() => response.end(rest.body));
      else response.end();
    };
    if (until) void until.then(answer);
    else answer();
  });
  const { executablePath, args = [], env } = findTestChromium();
  const browser: Browser = await chromium.launch({
    executablePath,
    args: [...args, "--no-sandbox"],
    ...(env ? { env: { ...process.env, ...env } } : {}),
  });
  return {
    origin: site.origin,
    serve(path, page) {
      pages.set(path, page);
      return site.origin + path;
    },
    async open(url, scripts = [], waitUntil = "load") {
      const context = await browser.newContext();
      const page = await context.newPage();
      const problems: string[] = [];
      page.on("console", (message) => {
        if (message.type() === "error" || message.type() === "warning") problems.push(message.text());
      });
      page.on("pageerror", (error) => problems.push(String(error)));
      for (const content of scripts) await page.addInitScript({ content });
      await page.goto(url, { waitUntil });
      return { page, problems, close: () => context.close() };
    },
    async close() {
      await browser.close();
      await site.close();
    },
  };
}

/** Starts the browser before the tests of the calling file, and closes it after them. Tests and hooks may use it. */
export function openRuntimeBrowser(): RuntimeBrowser {
  let started: RuntimeBrowser | undefined;
  const current = () => {
    if (!started) throw new Error("the browser starts before the tests");
    return started;
  };
  before(async () => {
    started = await startRuntimeBrowser();
  });
  after(() => current().close());
  return {
    get origin() {
      return current().origin;
    },
    serve: (...call) => current().serve(...call),
    open: (...call) => current().open(...call),
    close: () => current().close(),
  };
}

/** Builds the script of a variant with one page. Changes without an id get an id. */
export function scriptOf(
  url: string,
  changes: (Change | DistributiveOmit<Change, "id">)[],
  rest: Partial<VariantPage> & { key?: string } = {},
): string {
  const { key = "main", match = "path", css = "", js = "", when } = rest;
  const changesWithIds = changes.map((change, index) => ({ id: `c${index + 1}`, ...change }) as Change);
  return variantScript({ pages: [{ url, match, when, css, js, changes: changesWithIds }] }, key);
}
type DistributiveOmit<Each, Key extends PropertyKey> = Each extends unknown ? Omit<Each, Key> : never;

/** A page of any browser driver, in which functions with one text as argument can be called. */
type AnyPage = { evaluate: <Result>(call: (text: string) => Result, text: string) => Promise<Result> };

/** Reads the report of a variant that is running on the page. */
export async function readReport(page: AnyPage, key = "main"): Promise<RuntimeReport> {
  const report = await page.evaluate(
    (name) => (window as VariantWindow).__agentSessionVariants?.[name]?.report(),
    key,
  );
  assert.ok(report, "the variant does not run");
  return report;
}

/** Reverts a variant that is running on the page. */
export const revert = (page: AnyPage, key = "main"): Promise<void> =>
  page.evaluate((name) => (window as VariantWindow).__agentSessionVariants?.[name]?.revert(), key);

type VariantWindow = Window & {
  __agentSessionVariants?: Record<string, { report: () => RuntimeReport; revert: () => void }>;
};

/** Waits until a change has a state. @returns the report of the change. */
export const waitForState = (
  page: Page,
  state: ChangeReport["state"],
  id = "c1",
  key = "main",
): Promise<ChangeReport> =>
  waitFor(async () => {
    const report = (await readReport(page, key)).changes.find((change) => change.id === id);
    return report?.state === state && report;
  }, `change ${id} is ${state}`);

/**
 * Reads the HTML of the body or of another element. Attributes are sorted, because reverting a change may move an
 * attribute to the end.
 */
export const readBody = (page: AnyPage, selector = "body"): Promise<string> =>
  page.evaluate((name) => {
    const copy = document.querySelector(name)?.cloneNode(true);
    if (!(copy instanceof HTMLElement)) throw new Error(`there is no ${name}`);
    for (const element of copy.querySelectorAll("*")) {
      const attributes = [...element.attributes].sort((one, other) => (one.name < other.name ? -1 : 1));
      for (const attribute of attributes) element.removeAttributeNode(attribute);
      for (const attribute of attributes) element.setAttributeNode(attribute);
    }
    return copy.innerHTML;
  }, selector);
