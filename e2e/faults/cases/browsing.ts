import { setTimeout as sleep } from "node:timers/promises";
import type { FaultCase } from "../fault-case.ts";
import type { World } from "../world/open-world.ts";

const LANDED_MAX_MS = 30_000;
/**
 * Variables with which browser hosts outlive the service, for less time than after which the campaign counts a process
 * as left behind.
 */
export const LINGERING = { BROWSER_HOST_LINGER_MS: "25000" };

type BrowserStatus = { status: string; lastNavigatedUrl: string | null; lastError: string | null };

/** A session whose browser shows a page, and a function that builds the URL of a page. */
export type Browsing = { sessionId: string; page: (name: string) => string };

/** Reads the status of a session's browser. */
export const readStatus = (world: World, sessionId: string) =>
  world.service().read<BrowserStatus>(`/api/sessions/${sessionId}/browser`);

/** Requests that the browser shows a page. */
export async function retarget(world: World, sessionId: string, url: string): Promise<void> {
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

/** Starts the service, and a session whose browser shows a page. */
async function startBrowsing(
  world: World,
  fault: string | undefined,
  variables: Record<string, string>,
): Promise<Browsing> {
  await world.start(fault, variables);
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

/**
 * A case in which a fault occurs in the browser of a session, or in its host, and the session continues.
 *
 * @param options.fault armed in the first process of the service.
 * @param options.variables further environment variables of the service.
 */
export const browserCase = (
  name: string,
  title: string,
  hurt: (world: World, browsing: Browsing) => Promise<void>,
  { fault, variables = {} }: { fault?: string; variables?: Record<string, string> } = {},
): FaultCase => ({
  name,
  title,
  group: "browser",
  seedsMax: 2,
  async play(world) {
    const browsing = await startBrowsing(world, fault, variables);
    await hurt(world, browsing);
    await expectNewBrowser(world, browsing.sessionId, browsing.page("page/second"));
  },
  findViolations: ({ rows }) =>
    rows.toolCalls
      .filter((call) => call.name === "browser_execute" && call.state !== "succeeded")
      .map((call) => `browser_execute ${call.state}: ${call.resultText?.slice(0, 200)}`),
});

/** Sends a signal to the browser host that the service has started. @throws Error if there is none. */
export function signalHost(world: World, signal: NodeJS.Signals): number {
  const host = world.processes.find("host-worker").at(-1);
  if (!host) throw new Error("the service has no browser host");
  world.disturb();
  process.kill(host.pid, signal);
  return host.pid;
}
