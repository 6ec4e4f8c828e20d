import { waitUntil } from "../../fixtures/service.ts";
import type { FaultCase } from "../fault-case.ts";
import { watchLive } from "../world/watch-live.ts";

const BROWSERS = 8;

/**
 * The service runs as many browsers as it allows at the same time. An agent uses each browser, and a viewer watches it.
 */
export const liveBrowsers: FaultCase = {
  name: "browsers-8",
  group: "load",
  title: "8 live browsers, each watched",
  seedsMax: 1,
  runsAlone: true,
  async play(world) {
    await world.start();
    const body = { targetUrl: `${world.recorder.receiverUrl}/page/target` };
    const created = await Promise.all(
      Array.from({ length: BROWSERS }, () => world.create("browser", { body })),
    );
    await world.waitUntilIdle();
    const viewers = await Promise.all(
      created.map((session) => watchLive(world.service(), session?.sessionId ?? "")),
    );
    const isWatched = () => viewers.every((viewer) => viewer.frames() > 0);
    await waitUntil(isWatched, "every viewer has a frame").catch(() =>
      world.problems.push(`frames came: ${viewers.map((viewer) => viewer.frames()).join(", ")}`),
    );
    for (const viewer of viewers) viewer.close();
    for (const session of created) if (session) await world.followUp(session.sessionId, "browser");
    await world.waitUntilIdle();
  },
  findViolations: ({ rows }) => {
    const calls = rows.toolCalls.filter((call) => call.name === "browser_execute");
    const wrong = calls
      .filter((call) => call.state !== "succeeded")
      .map((call) => `browser_execute ${call.state}: ${call.resultText?.slice(0, 200)}`);
    return calls.length === 2 * BROWSERS ? wrong : [...wrong, `there were ${calls.length} calls`];
  },
};
