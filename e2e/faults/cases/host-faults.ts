import { setTimeout as sleep } from "node:timers/promises";
import type { FaultCase } from "../fault-case.ts";
import type { World } from "../world/open-world.ts";
import { browserCase, LINGERING, readStatus, signalHost } from "./browsing.ts";

const DIE_MAX_MS = 60_000;
const STOPPED_MS = 30_000;

async function expectDeath(world: World, point: string): Promise<void> {
  if (!(await world.waitForDeath(DIE_MAX_MS))) world.problems.push(`${point} was not reached`);
}

/** The browser host of a service is killed, stopped or given up, and its sessions continue. */
export const hostFaults: FaultCase[] = [
  browserCase("host-killed", "SIGKILL of the browser host", async (world) => {
    signalHost(world, "SIGKILL");
    await sleep(world.random.between(0, 500));
  }),
  browserCase("host-and-service", "SIGKILL of the browser host and the service", async (world) => {
    signalHost(world, "SIGKILL");
    await world.kill();
    await world.restart();
  }),
  browserCase("host-stopped", "SIGSTOP of the browser host for 30 s", async (world) => {
    const pid = signalHost(world, "SIGSTOP");
    await sleep(STOPPED_MS);
    process.kill(pid, "SIGCONT");
  }),
  browserCase(
    "host-attached-again",
    "the service killed while it attaches to a host that outlived it",
    async (world, { sessionId }) => {
      await world.kill();
      await world.restart("K53:1:kill9");
      await expectDeath(world, "K53");
      await world.restart();
      const { status } = await readStatus(world, sessionId);
      if (status !== "ready") world.problems.push(`the page did not outlive the service: ${status}`);
    },
    { variables: LINGERING },
  ),
  browserCase(
    "host-next-generation",
    "the host killed, then the service when the next browser is recorded",
    async (world, { sessionId, page }) => {
      signalHost(world, "SIGKILL");
      // The answer may be lost with the service. The case requests another page after the restart.
      const path = `/api/sessions/${sessionId}/browser`;
      await world
        .service()
        .call("POST", path, { url: page("page/between") })
        .catch(() => {});
      await expectDeath(world, "K27");
      await world.restart();
    },
    { fault: "K27:2:kill9", variables: LINGERING },
  ),
  browserCase(
    "K54",
    "a host given up, its browsers not expired",
    async (world) => {
      signalHost(world, "SIGKILL");
      await expectDeath(world, "K54");
      await world.restart();
    },
    { fault: "K54:1:kill9" },
  ),
];
