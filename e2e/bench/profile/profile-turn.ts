import { readFileSync } from "node:fs";
import { join } from "node:path";
import { waitUntil } from "../../fixtures/service.ts";
import { playTurn } from "../play-turn.ts";
import { readCpuMs } from "../process-stats.ts";
import { createRig } from "../rig.ts";
import { printCosts } from "./print-costs.ts";
import { type Cost, readProfile } from "./read-profile.ts";

const TURNS = 100;

/** Profiles the service while it plays turns with one tool call, one after the other. Prints the costs of the turns. */
export async function profileTurn(options: {
  database: string | undefined;
  isBuilt: boolean;
}): Promise<void> {
  const rig = await createRig({ ...options, observe: "profile.ts" });
  const { service, subject, folder } = rig;
  const signal = async (word: string) => {
    process.kill(subject.pid, "SIGUSR2");
    await waitUntil(() => service.output().includes(word), `the service has printed ${word}`);
  };
  try {
    for (let turn = 0; turn < TURNS; turn++) await playTurn(subject, { tools: 1 });
    await signal("bench:profiling");
    const cpuMs = readCpuMs(subject.pid);
    for (let turn = 0; turn < TURNS; turn++) await playTurn(subject, { tools: 1 });
    const cpuPerTurn = (readCpuMs(subject.pid) - cpuMs) / TURNS;
    await signal("bench:profiled");
    const read = (file: string) => JSON.parse(readFileSync(join(folder, file), "utf8"));
    const costs = readProfile(read("profile.json"), rig.pathOf("../.."));
    const statements = read("statements.json") as [string, number][];
    print(costs, statements, cpuPerTurn);
  } finally {
    await rig.close();
  }
}

function print(
  { packages, functions, busyMs }: ReturnType<typeof readProfile>,
  statements: [string, number][],
  cpuPerTurn: number,
): void {
  const frequent = statements.filter(([, times]) => times >= TURNS / 2).sort((a, b) => b[1] - a[1]);
  const all = statements.reduce((total, [, times]) => total + times, 0);
  console.log(
    `\n${TURNS} turns with one tool call: ${(busyMs / TURNS).toFixed(1)} ms of JavaScript and WebAssembly`,
  );
  console.log(`and ${cpuPerTurn.toFixed(1)} ms of total CPU time (including the profiler) per turn.\n`);
  console.log("Self time by package, ms per turn:\n");
  printCosts(packages, "selfMs", 25, TURNS);
  console.log("\nTotal time by package, with its synchronous calls, ms per turn:\n");
  printCosts(packages, "totalMs", 25, TURNS);
  console.log("\nSelf time by function, ms per turn:\n");
  printCosts(functions, "selfMs", 40, TURNS);
  console.log("\nTotal time by function of the project, with its synchronous calls, ms per turn:\n");
  const isOwn = ({ name }: Cost) => / (lib|inngest|db|app)\//.test(name);
  printCosts(functions.filter(isOwn), "totalMs", 40, TURNS);
  console.log(`\n${(all / TURNS).toFixed(1)} database statements per turn. The frequent ones, per turn:\n`);
  for (const [text, times] of frequent)
    console.log(`${(times / TURNS).toFixed(1).padStart(6)}  ${text.slice(0, 150)}`);
}
