import { setTimeout as sleep } from "node:timers/promises";
import { waitUntil } from "../../fixtures/service.ts";
import type { FaultCase } from "../fault-case.ts";
import type { World } from "../world/open-world.ts";
import { watchLive } from "../world/watch-live.ts";
import { browserCase, readStatus, retarget } from "./browsing.ts";

/** Kills all Chromium processes of the service, or only the renderers. @throws Error if there are none. */
function killChromium(world: World, which: "all" | "renderers"): void {
  const wanted = which === "renderers" ? "--type=renderer" : "";
  const chosen = world.processes.find(wanted).filter(({ name }) => /^chrom|headless/i.test(name));
  if (chosen.length === 0) throw new Error("there was no Chromium to kill");
  world.disturb();
  for (const { pid } of chosen) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // The process has ended because another process of the same browser was killed before.
    }
  }
}

/** The browser of a session dies, and the session continues. Source: `security.md`, What is never lost. */
export const browserFaults: FaultCase[] = [
  browserCase("browser-idle", "SIGKILL while idle", async (world, { sessionId }) => {
    killChromium(world, "all");
    await waitUntil(
      async () => ["expired", "error"].includes((await readStatus(world, sessionId)).status),
      "the status reports that the browser has ended",
    );
  }),
  browserCase("browser-navigating", "SIGKILL while navigating", async (world, { sessionId, page }) => {
    await retarget(world, sessionId, page("slow-page/one"));
    await sleep(world.random.between(20, 600));
    killChromium(world, "all");
  }),
  browserCase("browser-screencast", "SIGKILL in a screencast", async (world, { sessionId }) => {
    const viewer = await watchLive(world.service(), sessionId);
    await waitUntil(() => viewer.frames() > 0, "the first frame comes");
    killChromium(world, "all");
    await sleep(300);
    viewer.close();
  }),
  browserCase("browser-renderer", "renderer crash", async (world) => {
    killChromium(world, "renderers");
    await sleep(world.random.between(0, 500));
  }),
];
