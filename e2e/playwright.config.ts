import { defineConfig } from "@playwright/test";
import { readSetup } from "#lib/setup/read-setup.ts";

const dataDir = process.env.DATA_DIR ?? ".data";
const executablePath = process.env.BROWSER_EXECUTABLE_PATH ?? readSetup(dataDir).chromium?.executablePath;

export default defineConfig({
  testDir: ".",
  testMatch: "**/*.spec.ts",
  // These files are the fixture suite that tests of the service run in a session. They are not tests of the service
  // themselves.
  testIgnore: "fixtures/workspace-tests/**",
  globalSetup: "./fixtures/start-database.ts",
  fullyParallel: false,
  workers: 2,
  forbidOnly: true,
  retries: 0,
  timeout: 60_000,
  expect: { timeout: 15_000 },
  reporter: [["list"]],
  outputDir: "../test-results",
  use: {
    browserName: "chromium",
    launchOptions: {
      ...(executablePath && { executablePath }),
      args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
    },
    // Recording a trace of every test takes a fifth of the run's CPU time. To record traces, pass `--trace
    // retain-on-failure`.
    trace: "off",
    screenshot: "only-on-failure",
  },
});
