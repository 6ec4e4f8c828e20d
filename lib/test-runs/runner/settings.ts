import { readFileSync } from "node:fs";
import type { TestStatus, TestTarget } from "#db/schema/unions.ts";

/** What the service tells the programs in the sandbox, as `settings.json` beside them. */
export type RunnerSettings = {
  /** Port of the sandbox's own loopback that leads to the service's proxy, and the socket behind it. */
  proxyPort: number;
  proxySocket: string;
  launchOptions: {
    executablePath: string;
    args: string[];
    env: Record<string, string>;
    chromiumSandbox: false;
  };
  viewport: "desktop" | "tablet" | "phone";
  targets: TestTarget[];
  /** Script of the variant; null where only the control is tested. */
  script: string | null;
  retries: number;
  baseUrl: string | null;
  /** For all tests together, in milliseconds. */
  timeoutMs: number;
  /** Regular expressions of the test files, and of the tests' titles. */
  patterns: string[];
  grep: string | null;
  testsMax: number;
  /** Absolute paths. */
  workspace: string;
  outputDir: string;
  reportPath: string;
  progressPath: string;
};

/** A line of the report: what happened in the run. The service trusts none of it. */
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

/** Reads the settings in the sandbox. */
export const readSettings = (): RunnerSettings =>
  JSON.parse(readFileSync(new URL("settings.json", import.meta.url), "utf8"));
