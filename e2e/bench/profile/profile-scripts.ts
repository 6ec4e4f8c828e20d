import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { waitUntil } from "../../fixtures/service.ts";
import { startChild } from "../child.ts";
import type { LoadReport } from "../load/main.ts";
import { planLoads, publishScript } from "../load/publish-script.ts";
import { createRig } from "../rig.ts";
import { printCosts } from "./print-costs.ts";
import { readProfile } from "./read-profile.ts";

const PER_SECOND = 1_000;
const LOAD_MS = 5_000;

/** Profiles the service while visitors request published scripts. Prints the average costs per 1,000 requests. */
export async function profileScripts(options: {
  database: string | undefined;
  isBuilt: boolean;
}): Promise<void> {
  const rig = await createRig({ ...options, observe: "profile.ts" });
  const { service, subject, folder } = rig;
  const loader = await startChild("./load/main.ts");
  const signal = async (word: string) => {
    process.kill(subject.pid, "SIGUSR2");
    await waitUntil(() => service.output().includes(word), `the service has printed ${word}`);
  };
  const load = async () => {
    await loader.ask({ requests, perSecond: PER_SECOND });
    await sleep(LOAD_MS);
    return (await loader.ask("stop")) as LoadReport;
  };
  const { moving, pinned } = await publishScript(subject);
  const requests = await planLoads([moving, pinned]);
  try {
    await load();
    await signal("bench:profiling");
    const { sent, errors } = await load();
    await signal("bench:profiled");
    const profile = JSON.parse(readFileSync(join(folder, "profile.json"), "utf8"));
    const { packages, functions, busyMs } = readProfile(profile, rig.pathOf("../.."));
    const thousands = sent / 1_000;
    console.log(`\n${sent} requests, ${errors} errors: ${(busyMs / thousands).toFixed(0)} ms per 1,000.\n`);
    console.log("Self time by package, ms per 1,000 requests:\n");
    printCosts(packages, "selfMs", 15, thousands);
    console.log("\nSelf time by function, ms per 1,000 requests:\n");
    printCosts(functions, "selfMs", 30, thousands);
    console.log("\nTotal time by function, with its synchronous calls, ms per 1,000 requests:\n");
    printCosts(functions, "totalMs", 45, thousands);
  } finally {
    await loader.stop();
    await rig.close();
  }
}
