/** The Playwright configuration of all test runs. A configuration in the workspace is not read. */
import { defineConfig, devices } from "@playwright/test";
import { readSettings } from "./settings.ts";

const { proxyPort, launchOptions, viewport, targets, retries, baseUrl, timeoutMs, outputDir, workspace } =
  readSettings();
const proxy = { server: `http://127.0.0.1:${proxyPort}` };
const DEVICES = { desktop: "Desktop Chrome", tablet: "iPad (gen 11)", phone: "iPhone 15" } as const;

/** Returns a device's screen settings. The device's user agent and browser are not used: all tests run in Chromium. */
function readScreen() {
  const { viewport: size, deviceScaleFactor, isMobile, hasTouch } = devices[DEVICES[viewport]] ?? {};
  return viewport === "desktop"
    ? { viewport: { width: 1280, height: 800 } }
    : { viewport: size, deviceScaleFactor, isMobile, hasTouch };
}

export default defineConfig({
  testDir: workspace,
  testIgnore: ["**/node_modules/**", "**/test-results/**"],
  outputDir,
  // A single worker uses only one Chromium and reports the results in the order of the files.
  workers: 1,
  fullyParallel: false,
  retries,
  globalTimeout: timeoutMs,
  reporter: [["./reporter.ts"]],
  use: {
    ...readScreen(),
    ...(baseUrl === null ? {} : { baseURL: baseUrl }),
    browserName: "chromium",
    headless: true,
    proxy,
    launchOptions: { ...launchOptions, proxy },
    screenshot: "only-on-failure",
    trace: "retain-on-failure",
  },
  projects: targets.map((name) => ({ name })),
});
