import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { openTestService } from "#e2e/service/testing.ts";
import { findTestChromium } from "#lib/browser/testing.ts";
import { createIdealSolver } from "./ideal-solver.ts";
import { playTask, type TaskResult } from "./play-task.ts";
import { compareReports, type EvalReport, formatReport } from "./report.ts";
import { startTaskSite } from "./task-site.ts";
import { tasks } from "./tasks.ts";

// npm run eval [-- --only login,upload] [--ideal] [--at-once 2] [--json file] | --compare before.json after.json
// Plays tasks on pages of our own with the model that the environment configures (the demo model without one), or with
// the calls of an ideal solver. Progress goes to stderr, the table to stdout.

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: "string" },
    ideal: { type: "boolean", default: false },
    "at-once": { type: "string", default: "2" },
    json: { type: "string" },
    compare: { type: "boolean", default: false },
  },
});

const say = (text: string) => process.stderr.write(`${text}\n`);

/** Variables that choose the model; of the environment, nothing else reaches the service under evaluation. */
const MODEL_VARIABLES = [
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  "AI_GATEWAY_API_KEY",
  "AGENT_MODEL",
  "AGENT_MODEL_API",
  "AGENT_CONTEXT_TOKENS",
];

async function evaluate(): Promise<EvalReport> {
  const names = values.only?.split(",");
  const unknown = names?.filter((name) => !tasks.some(({ id }) => id === name)) ?? [];
  if (unknown.length > 0)
    throw new Error(`--only: no task ${unknown.join(", ")}. Tasks: ${tasks.map(({ id }) => id).join(", ")}`);
  const chosen = tasks.filter(({ id }) => !names || names.includes(id));
  const site = await startTaskSite(chosen);
  const { executablePath } = findTestChromium();
  const service = await openTestService({
    BROWSER_EXECUTABLE_PATH: executablePath,
    NETWORK_ALLOW: "127.0.0.1,localhost",
    ...(values.ideal ? {} : readModel()),
  });
  if (values.ideal) service.model.respondWith(createIdealSolver(chosen));
  const model = values.ideal ? "the ideal solver" : (process.env.AGENT_MODEL ?? "the configured model");
  const results: TaskResult[] = [];
  const queue = [...chosen];
  const playNext = async (): Promise<void> => {
    for (let task = queue.shift(); task; task = queue.shift()) {
      const result = await playTask(service, site, task);
      results.push(result);
      const { isSolved, seconds, toolCalls, remark } = result;
      say(
        `${results.length}/${chosen.length} ${task.id}: ${isSolved ? "solved" : `NOT solved: ${remark}`} (${toolCalls} calls, ${seconds} s)`,
      );
    }
  };
  try {
    await Promise.all(Array.from({ length: Number(values["at-once"]) }, playNext));
  } finally {
    await service.close();
    await site.close();
  }
  results.sort((one, other) => order(one.id) - order(other.id));
  return { model, date: new Date().toISOString(), results };
}

const order = (id: string) => tasks.findIndex((task) => task.id === id);

/** The configured model, in place of the scripted one that a service under test has. */
function readModel(): Record<string, string> {
  const chosen = MODEL_VARIABLES.map((name) => [name, process.env[name] ?? ""]);
  return Object.fromEntries(chosen) as Record<string, string>;
}

const readReport = (path = "") => JSON.parse(readFileSync(path, "utf8")) as EvalReport;

if (values.compare) {
  const [before, after] = positionals;
  console.log(compareReports(readReport(before), readReport(after)));
} else {
  const report = await evaluate();
  if (values.json) writeFileSync(values.json, `${JSON.stringify(report, null, 1)}\n`);
  console.log(`\n${formatReport(report)}`);
}
