import { defineConfig } from "@playwright/test";
import { readSetup } from "#lib/setup/read-setup.ts";

const dataDir = process.env.DATA_DIR ?? ".data";
const executablePath = process.env.BROWSER_EXECUTABLE_PATH ?? readSetup(dataDir).chromium?.executablePath;

export default defineConfig({
  testDir: ".",
  testMatch: "**/*.spec.ts",
  // These files are no tests of the service. They are a fixture: a test suite that the service runs in a session.
  testIgnore: "fixtures/workspace-tests/**",
  globalSetup: "./fixtures/start-database.ts",
  fullyParallel: false,
  // The tests wait for pages and processes much of the time, so two processors run two files at a time.
  workers: 2,
  forbidOnly: true,
  retries: 0,
  // Deadlines end a test that hangs. They are long, because a busy machine must not fail a test.
  timeout: 300_000,
  expect: { timeout: 90_000 },
  reporter: [["list"]],
  outputDir: "../test-results",
  use: {
    browserName: "chromium",
    // Without a GPU, each frame of an animation costs processor time. Pages look the same when it has ended.
    contextOptions: { reducedMotion: "reduce" },
    launchOptions: {
      ...(executablePath && { executablePath }),
      args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
    },
    // Traces are off, because they take a fifth of the CPU time. Pass `--trace retain-on-failure` to record them.
    trace: "off",
    screenshot: "only-on-failure",
  },
});
