/**
 * `@playwright/test` in a test run: Playwright's own module, with a browser that runs the variant in all pages of the
 * project `variant`. The rules here only produce readable errors; the sandbox confines the tests.
 */
const { readFileSync } = require("node:fs");
const playwrightTest = require("playwright/test");

const { script, identity } = JSON.parse(readFileSync("/run-tests/settings.json", "utf8"));

const ONE_BROWSER =
  "A test run has one Chromium, which the service starts: use the fixtures `page`, `context` and `browser`.";

const test = playwrightTest.test.extend({
  browser: [
    async ({ browser }, use, { project }) => {
      if (project.name === "variant" && script !== null) addToContexts(browser, script);
      if (identity !== null) identifyPages(browser);
      await use(browser);
    },
    { scope: "worker" },
  ],
  _browserRules: [
    async ({ browserName, channel, connectOptions, launchOptions }, use, { project }) => {
      if (browserName !== "chromium" || channel !== undefined || connectOptions !== undefined)
        throw new Error(`${ONE_BROWSER} browserName, channel and connectOptions cannot be set.`);
      if (JSON.stringify(launchOptions) !== JSON.stringify(project.use.launchOptions))
        throw new Error(`${ONE_BROWSER} launchOptions cannot be set.`);
      await use();
    },
    { scope: "worker", auto: true, box: true },
  ],
});

/** Makes new contexts of the browser run a script at the start of each document. */
function addToContexts(browser, content) {
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    const context = await newContext(options);
    await context.addInitScript({ content });
    return context;
  };
}

/**
 * Makes the pages of new contexts introduce themselves as a browser of people does. The flags of the browser do so, too,
 * except for the client hints. A popup may have requested its first document before.
 */
function identifyPages(browser) {
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    const context = await newContext(options);
    const identify = async (page) => {
      const cdp = await context.newCDPSession(page);
      await cdp.send("Emulation.setUserAgentOverride", identity);
    };
    const newPage = context.newPage.bind(context);
    context.newPage = async () => {
      const page = await newPage();
      await identify(page);
      return page;
    };
    // Fails if the popup was closed meanwhile.
    context.on("page", (page) => void identify(page).catch(() => {}));
    return context;
  };
}

/** Wraps a browser type so that starting a browser, or connecting to one, fails with an explanation. */
const refusing = (type) =>
  new Proxy(type, {
    get(target, name) {
      if (!["launch", "launchPersistentContext", "launchServer", "connect", "connectOverCDP"].includes(name))
        return Reflect.get(target, name);
      return () => Promise.reject(new Error(ONE_BROWSER));
    },
  });

const { defineConfig, devices, errors, expect, mergeExpects, mergeTests, request, selectors } =
  playwrightTest;
const chromium = refusing(playwrightTest.chromium);
const firefox = refusing(playwrightTest.firefox);
const webkit = refusing(playwrightTest.webkit);
const exported = {
  chromium,
  firefox,
  webkit,
  defineConfig,
  devices,
  errors,
  expect,
  mergeExpects,
  mergeTests,
  request,
  selectors,
  test,
  default: test,
};
// ES modules can import these names, because Node recognizes assignments of this form.
exports.chromium = chromium;
exports.defineConfig = defineConfig;
exports.devices = devices;
exports.errors = errors;
exports.expect = expect;
exports.firefox = firefox;
exports.mergeExpects = mergeExpects;
exports.mergeTests = mergeTests;
exports.request = request;
exports.selectors = selectors;
exports.test = test;
exports.webkit = webkit;
// As in Playwright's own module, the export is the function `test`, with all other exports as its properties.
module.exports = Object.assign(test, exported);
