import type { Page } from "playwright";
import { startTestSite, waitFor } from "#lib/browser/testing.ts";
import { checkDocumentContent } from "#lib/variant/compile/check-document.ts";
import { variantScript } from "#lib/variant/compile/variant-script.ts";
import type { Change, VariantDocument, VariantPage } from "#lib/variant/document.ts";
import { bundleForPage } from "../runtime/frameworks/framework.ts";
import { type RuntimeBrowser, readReport, startRuntimeBrowser } from "../runtime/runtime-fixture.ts";

/** A Chromium browser that applies a document, either with the service's runtime or with the SDK of a third party. */
export type FormatsBrowser = Pick<RuntimeBrowser, "serve" | "close"> & {
  /** Applies a document with the runtime of the service. */
  applyRuntime: (url: string, document: VariantDocument) => Promise<Applied>;
  /** Applies auto experiments with the SDK of GrowthBook. The visitor sees the variant of each experiment. */
  applyGrowthBook: (url: string, experiments: unknown[]) => Promise<Applied>;
  /** Applies web experiments with posthog-js. The visitor sees the variant `test` of each feature flag. */
  applyPostHog: (url: string, experiments: PostHogExperiment[]) => Promise<Applied>;
};

type PostHogExperiment = { feature_flag_key: string };

/** A page to which a document was applied. `problems` are its console errors, console warnings and exceptions. */
export type Applied = { page: Page; shown: Shown; problems: string[]; close: () => Promise<void> };

/**
 * What a page shows. So that pages can be compared, `html` has no comments and no empty class attributes, and its
 * attributes and the parts of its style attributes are sorted.
 */
export type Shown = { html: string; styles: string[]; scripts: unknown };

/** Hides that the browser is automated, because posthog-js does nothing for bots. */
const HIDE_AUTOMATION = `Object.defineProperties(Navigator.prototype, {
  webdriver: { get: () => false },
  userAgent: { get: () => "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36" },
  userAgentData: { get: () => undefined },
});`;

const bundle = (source: string) => bundleForPage(source, "production", { format: "iife" });

/** Starts Chromium, a test site, and a server that responds to the requests of posthog-js. */
export async function startFormatsBrowser(): Promise<FormatsBrowser> {
  const [growthBook, postHog] = await Promise.all([
    bundle(`import { GrowthBook } from "@growthbook/growthbook"; window.GrowthBook = GrowthBook;`),
    bundle(`import posthog from "posthog-js"; window.testPostHog = posthog;`),
  ]);
  const browser = await startRuntimeBrowser();
  let experiments: PostHogExperiment[] = [];
  const api = await startTestSite((request, response) => {
    const flags = Object.fromEntries(
      experiments.map(({ feature_flag_key: key }) => [key, { key, enabled: true, variant: "test" }]),
    );
    const path = request.url ?? "";
    const answer = path.startsWith("/api/web_experiments/")
      ? { experiments }
      : path.startsWith("/flags/")
        ? { flags, errorsWhileComputingFlags: false }
        : {};
    response.writeHead(200, {
      "content-type": "application/json",
      "access-control-allow-origin": request.headers.origin ?? "*",
      "access-control-allow-headers": "*, content-type",
    });
    response.end(JSON.stringify(answer));
  });
  const finish = async (opened: Omit<Applied, "shown">): Promise<Applied> => ({
    ...opened,
    shown: await readShown(opened.page),
  });

  return {
    serve: browser.serve,
    async applyRuntime(url, document) {
      const opened = await browser.open(url, [variantScript(document, "main")]);
      await readReport(opened.page);
      return finish(opened);
    },
    async applyGrowthBook(url, list) {
      const opened = await browser.open(url);
      await opened.page.evaluate(growthBook);
      await opened.page.evaluate(async (payload) => {
        const keys = payload.map((each) => String(Reflect.get(Object(each), "key")));
        const GrowthBook = Reflect.get(window, "GrowthBook");
        const sdk = new GrowthBook({
          attributes: { id: "visitor" },
          forcedVariations: Object.fromEntries(keys.map((key) => [key, 1])),
        });
        await sdk.setPayload({ experiments: payload });
      }, list);
      return finish(opened);
    },
    async applyPostHog(url, list) {
      // The experiment `marker` is applied last. When the effect of the marker is visible, the other experiments have
      // been applied.
      const marker = { transforms: [{ selector: "#applied", html: "applied" }] };
      experiments = [
        ...list,
        { feature_flag_key: "marker", ...{ id: 0, name: "marker", variants: { test: marker } } },
      ];
      const opened = await browser.open(url, [HIDE_AUTOMATION]);
      await opened.page.evaluate(
        `document.documentElement.insertAdjacentHTML("beforeend", "<i id=applied></i>");${postHog}`,
      );
      await opened.page.evaluate((host) => {
        Reflect.get(window, "testPostHog").init("phc_test", {
          api_host: host,
          disable_web_experiments: false,
          persistence: "memory",
          autocapture: false,
          capture_pageview: false,
          disable_session_recording: true,
          disable_surveys: true,
          disable_external_dependency_loading: true,
        });
      }, api.origin);
      await waitFor(
        () => opened.page.evaluate(() => document.querySelector("#applied")?.textContent === "applied"),
        "posthog-js has applied its experiments",
      );
      return finish(opened);
    },
    async close() {
      await browser.close();
      await api.close();
    },
  };
}

type WithoutId = Change extends infer Each ? (Each extends unknown ? Omit<Each, "id"> : never) : never;

/** Creates a variant document with one page. @throws if the document is not valid for storage. */
export function documentOf(
  url: string,
  changes: WithoutId[],
  rest: Partial<VariantPage> = {},
): VariantDocument {
  const changesWithIds = changes.map((change, index) => ({ id: `c${index + 1}`, ...change }) as Change);
  const document: VariantDocument = {
    pages: [{ url, match: "path", css: "", js: "", ...rest, changes: changesWithIds }],
  };
  const [problem] = checkDocumentContent(document);
  if (problem) throw new Error(`${problem.path}: ${problem.problem}`);
  return document;
}

/** Reads the HTML of the body, the computed styles of its elements, and `window.ran`, which the scripts set. */
const readShown = (page: Page): Promise<Shown> =>
  page.evaluate(() => {
    const elements = [...document.body.querySelectorAll("*")];
    const styles = elements.map((element) => {
      const style = getComputedStyle(element);
      return [...style].map((name) => `${name}:${style.getPropertyValue(name)}`).join(";");
    });
    const copy = document.body.cloneNode(true);
    const comments = document.createTreeWalker(copy, NodeFilter.SHOW_COMMENT);
    const removed: Node[] = [];
    while (comments.nextNode()) removed.push(comments.currentNode);
    for (const node of removed) node.parentNode?.removeChild(node);
    copy.normalize();
    for (const element of copy instanceof Element ? copy.querySelectorAll("*") : []) {
      const attributes = [...element.attributes].sort((one, other) => (one.name < other.name ? -1 : 1));
      for (const { name } of attributes) element.removeAttribute(name);
      for (const { name, value } of attributes) {
        if (name === "class" && value === "") continue;
        const { style } = document.createElement("i");
        if (name === "style") style.cssText = value;
        const parts = [...style].map(
          (each) => `${each}:${style.getPropertyValue(each)}${style.getPropertyPriority(each)}`,
        );
        element.setAttribute(name, name === "style" ? parts.sort().join(";") : value);
      }
    }
    return {
      html: copy instanceof Element ? copy.innerHTML : "",
      styles,
      scripts: Reflect.get(window, "ran") ?? null,
    };
  });
