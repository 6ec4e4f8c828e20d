import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { evaluate, MODEL_VARIABLES } from "./evaluate.ts";
import { comparePages, formatComparison } from "./libraries/compare-pages.ts";
import { formatSystems, PEER_TASKS, playSystems } from "./peers/compare-peers.ts";
import { compareReports, type EvalReport, formatReport } from "./report.ts";
import type { Task } from "./task.ts";
import { libraryTasks } from "./tasks/libraries.ts";
import { tasks } from "./tasks.ts";

// npm run eval [-- --only login,upload] [--ideal] [--functions] [--at-once 2] [--json file]
//   | --compare before.json after.json | --accessibility | --peers [--only login,upload] [--systems service,agent-browser]
// Plays the tasks of `tasks.ts` with the model that the environment configures (by default the demo model). With
// `--ideal`, the ideal solver plays them. With `--functions`, the service runs as on Vercel: two instances of Next alone,
// with a stand-in for Vercel Sandbox. Progress goes to stderr, the table goes to stdout. The exit code is 1 if the ideal
// solver did not solve a task. With `--accessibility`, no task is played: the snapshots of the libraries' pages are
// compared with the accessibility trees of DevTools. With `--peers`, the configured model plays eight tasks with the service,
// with Playwright MCP and with agent-browser, and the characters of all model calls are compared.

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: "string" },
    ideal: { type: "boolean", default: false },
    functions: { type: "boolean", default: false },
    "at-once": { type: "string", default: "2" },
    json: { type: "string" },
    compare: { type: "boolean", default: false },
    accessibility: { type: "boolean", default: false },
    peers: { type: "boolean", default: false },
    systems: { type: "string" },
  },
});

const printProgress = (text: string) => process.stderr.write(`${text}\n`);

const variables = Object.fromEntries(
  MODEL_VARIABLES.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
);

function chooseTasks(names: readonly string[]): Task[] {
  const unknown = names.filter((name) => !tasks.some(({ id }) => id === name));
  if (unknown.length > 0)
    throw new Error(`--only: no task ${unknown.join(", ")}. Tasks: ${tasks.map(({ id }) => id).join(", ")}`);
  return tasks.filter(({ id }) => names.includes(id));
}

async function createReport(): Promise<EvalReport> {
  const atOnce = Number(values["at-once"]);
  if (!Number.isInteger(atOnce) || atOnce < 1) throw new Error("--at-once: must be a number of at least 1");
  const chosen = chooseTasks(values.only?.split(",") ?? tasks.map(({ id }) => id));
  let played = 0;
  const results = await evaluate(chosen, values.ideal ? { kind: "ideal" } : { kind: "model", variables }, {
    atOnce,
    onFunctions: values.functions,
    log: printProgress,
    onResult({ id, isSolved, toolCalls, seconds, remark }) {
      played += 1;
      const how = isSolved ? "solved" : `NOT solved: ${remark}`;
      printProgress(`${played}/${chosen.length} ${id}: ${how} (${toolCalls} calls, ${seconds} s)`);
    },
  });
  return { model: nameModel(), date: new Date().toISOString(), results };
}

function nameModel(): string {
  if (values.ideal) return `ideal solver${values.functions ? " on functions" : ""}`;
  if (variables.AGENT_MODEL) return variables.AGENT_MODEL;
  return Object.keys(variables).length === 0 ? "demo model" : "default model";
}

const readReport = (path = "") => JSON.parse(readFileSync(path, "utf8")) as EvalReport;

if (values.accessibility) {
  const pages = await comparePages(libraryTasks, printProgress);
  console.log(formatComparison(pages));
  const isComplete = pages.every(({ missing }) => missing.every(({ reason }) => reason !== null));
  process.exitCode = isComplete ? 0 : 1;
} else if (values.peers) {
  if (!variables.OPENAI_API_KEY && !variables.OPENAI_BASE_URL)
    throw new Error(
      "--peers: set OPENAI_API_KEY or OPENAI_BASE_URL, because the demo model cannot play with the peers",
    );
  const chosen = chooseTasks(values.only?.split(",") ?? PEER_TASKS);
  const played = await playSystems(chosen, variables, values.systems?.split(","), printProgress);
  if (values.json) writeFileSync(values.json, `${JSON.stringify(played, null, 1)}\n`);
  console.log(`\n${formatSystems(played)}`);
} else if (values.compare) {
  const [before, after] = positionals;
  if (!before || !after) throw new Error("--compare: give two files that --json has written");
  console.log(compareReports(readReport(before), readReport(after)));
} else {
  const report = await createReport();
  if (values.json) writeFileSync(values.json, `${JSON.stringify(report, null, 1)}\n`);
  console.log(`\n${formatReport(report)}`);
  if (values.ideal && report.results.some(({ isSolved }) => !isSolved)) process.exitCode = 1;
}
