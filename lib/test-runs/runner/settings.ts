import { readFileSync } from "node:fs";
import type { TestStatus, TestTarget } from "#db/schema/unions.ts";

/** Settings that the service passes to the runner's programs in the sandbox, as `settings.json` in their folder. */
export type RunnerSettings = {
  /** `proxyPort` on the sandbox's loopback is forwarded to `proxySocket`, a Unix socket of the service's proxy. */
  proxyPort: number;
  proxySocket: string;
  launchOptions: {
    executablePath: string;
    args: string[];
    env: Record<string, string>;
    chromiumSandbox: false;
  };
  /**
   * The parameters with which each page of the tests calls `Emulation.setUserAgentOverride`. Null if pages keep the
   * user agent of Chromium.
   */
  identity: object | null;
  viewport: "desktop" | "tablet" | "phone";
  targets: TestTarget[];
  /** The variant's script. Null if only the control is tested, which is the page without the variant. */
  script: string | null;
  retries: number;
  baseUrl: string | null;
  /** Time limit for all tests together, in milliseconds. */
  timeoutMs: number;
  /** `patterns` are regular expressions for paths of test files. `grep` is a regular expression for titles of tests. */
  patterns: string[];
  grep: string | null;
  testsMax: number;
  /** `workspace` and the three fields after it are absolute paths in the sandbox. */
  workspace: string;
  outputDir: string;
  reportPath: string;
  progressPath: string;
};

/** A line of the report. The service does not trust it, because a test can forge it. */
export type ReportLine =
  | { type: "begin"; total: number }
  | ({ type: "start"; attempt: number } & TestIdentity)
  | ({ type: "end"; attempt: number } & TestIdentity & TestEnd)
  | { type: "error"; message: string }
  | { type: "finish"; status: string };

type TestIdentity = { id: string; target: string; file: string; line: number; titles: string[] };

type TestEnd = {
  status: TestStatus;
  hasFailed: boolean;
  durationMs: number;
  errors: string[];
  steps: ReportedStep[];
  attachments: { name: string; mediaType: string; path: string }[];
  annotations: { type: string; description?: string }[];
  output: string;
};

export type ReportedStep = { title: string; durationMs: number; error?: string; steps?: ReportedStep[] };

/** Reads the settings. Works only in the sandbox. */
export const readSettings = (): RunnerSettings =>
  JSON.parse(readFileSync(new URL("settings.json", import.meta.url), "utf8"));
