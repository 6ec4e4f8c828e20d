import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { listDescendants } from "../../crash/processes.ts";
import { waitUntil } from "../../fixtures/service.ts";
import type { FaultCase } from "../fault-case.ts";
import type { World } from "../world/open-world.ts";
import { watchLive } from "../world/watch-live.ts";

const LANDED_MAX_MS = 30_000;
const GIVEN_UP_MAX_MS = 60_000;

/** Kills all Chromium processes of the service, or only the renderers. @returns the number of these processes. */
function killChromium(world: World, which: "all" | "renderers"): number {
  world.processes.look();
  world.disturb();
  const chosen = listDescendants(world.service().pid ?? 0).filter(({ pid, name }) => {
    if (!/^chrom|headless/i.test(name)) return false;
    return which === "all" || readCommandLine(pid).includes("--type=renderer");
  });
  for (const { pid } of chosen) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // The process has ended because another process of the same browser was killed before.
    }
  }
  return chosen.length;
}

function readCommandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

/** Returns the process of the service's browser host. @throws Error if it has none. */
function findHost(world: World): number {
  world.processes.look();
  const found = listDescendants(world.service().pid ?? 0).find(({ pid }) =>
    readCommandLine(pid).includes("host-worker"),
  );
  if (!found) throw new Error("the service has no browser host");
  return found.pid;
}

function signalHost(world: World, signal: NodeJS.Signals): number {
  const pid = findHost(world);
  world.disturb();
  process.kill(pid, signal);
  return pid;
}

type BrowserStatus = { status: string; lastNavigatedUrl: string | null; lastError: string | null };

const readStatus = (world: World, sessionId: string) =>
  world.service().read<BrowserStatus>(`/api/sessions/${sessionId}/browser`);

async function retarget(world: World, sessionId: string, url: string): Promise<void> {
  const answer = await world.service().call("POST", `/api/sessions/${sessionId}/browser`, { url });
  if (answer.status !== 202) world.problems.push(`the retarget answered ${answer.status}`);
}

/**
 * Waits until the browser shows this URL, which a client has requested. Records a problem if this takes more than 30 s.
 */
async function expectLanded(world: World, sessionId: string, url: string): Promise<void> {
  const end = Date.now() + LANDED_MAX_MS;
  for (;;) {
    const status = await readStatus(world, sessionId);
    if (status.lastNavigatedUrl === url && status.status === "ready") return;
    if (Date.now() > end) {
      world.problems.push(`the browser did not come back to ${url}: ${JSON.stringify(status)}`);
      return;
    }
    await sleep(50);
  }
}

/**
 * Starts a session whose browser shows a page. @returns the session's id, and a function that builds the URL of a page.
 */
async function startBrowsing(world: World, fault?: string) {
  await world.start(fault);
  const page = (name: string) => `${world.recorder.receiverUrl}/${name}`;
  const created = await world.create("browser", { body: { targetUrl: page("page/target") } });
  if (!created) throw new Error("the session was not created");
  await world.waitUntilIdle();
  await retarget(world, created.sessionId, page("page/first"));
  await expectLanded(world, created.sessionId, page("page/first"));
  return { sessionId: created.sessionId, page };
}

/**
 * Checks that the session gets a new browser after its old one was killed. The new browser must show the requested page
 * and serve another turn.
 */
async function expectNewBrowser(world: World, sessionId: string, url: string): Promise<void> {
  await retarget(world, sessionId, url);
  await expectLanded(world, sessionId, url);
  await world.followUp(sessionId, "browser");
  await world.waitUntilIdle();
}

const browserCase = (
  name: string,
  title: string,
  hurt: (world: World, browsing: Awaited<ReturnType<typeof startBrowsing>>) => Promise<void>,
  fault?: string,
): FaultCase => ({
  name,
  title,
  group: "browser",
  seedsMax: 2,
  async play(world) {
    const browsing = await startBrowsing(world, fault);
    await hurt(world, browsing);
    await expectNewBrowser(world, browsing.sessionId, browsing.page("page/second"));
  },
  findViolations: ({ rows }) =>
    rows.toolCalls
      .filter((call) => call.name === "browser_execute" && call.state !== "succeeded")
      .map((call) => `browser_execute ${call.state}: ${call.resultText?.slice(0, 200)}`),
});

const expectKilled = (count: number) => {
  if (count === 0) throw new Error("there was no Chromium to kill");
};

/** The browser of a session dies, and the session continues. Source: `security.md`, What is never lost. */
export const browserFaults: FaultCase[] = [
  browserCase("browser-idle", "SIGKILL while idle", async (world, { sessionId }) => {
    expectKilled(killChromium(world, "all"));
    await waitUntil(
      async () => ["expired", "error"].includes((await readStatus(world, sessionId)).status),
      "the status reports that the browser has ended",
    );
  }),
  browserCase("browser-navigating", "SIGKILL while navigating", async (world, { sessionId, page }) => {
    await retarget(world, sessionId, page("slow-page/one"));
    await sleep(world.random.between(20, 600));
    expectKilled(killChromium(world, "all"));
  }),
  browserCase("browser-screencast", "SIGKILL in a screencast", async (world, { sessionId }) => {
    const viewer = await watchLive(world.service(), sessionId);
    await waitUntil(() => viewer.frames() > 0, "the first frame comes");
    expectKilled(killChromium(world, "all"));
    await sleep(300);
    viewer.close();
  }),
  browserCase("browser-renderer", "renderer crash", async (world) => {
    expectKilled(killChromium(world, "renderers"));
    await sleep(world.random.between(0, 500));
  }),
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
    await sleep(30_000);
    process.kill(pid, "SIGCONT");
  }),
  browserCase(
    "K54",
    "a host given up, its browsers not expired",
    async (world) => {
      signalHost(world, "SIGKILL");
      if (!(await world.waitForDeath(GIVEN_UP_MAX_MS))) world.problems.push("K54 was not reached");
      await world.restart();
    },
    "K54:1:kill9",
  ),
];
