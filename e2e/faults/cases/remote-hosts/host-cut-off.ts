import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { startLinkRelay } from "#e2e/fixtures/start-link-relay.ts";
import { waitUntil } from "../../../fixtures/service.ts";
import type { FaultCase } from "../../fault-case.ts";
import type { World } from "../../world/open-world.ts";
import { remoteHostVariables, startRemoteHost } from "../../world/start-remote-host.ts";

/** Starts a site with one page. `paths` has the paths of its requests, in order. */
async function startSite() {
  const paths: string[] = [];
  const server = createServer(({ url = "" }, response) => {
    paths.push(url);
    response.setHeader("content-type", "text/html").end("<title>Shop</title><h1>Shop</h1>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    paths,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/shop`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const isClick = (path: string) => path === "/click";

/**
 * The network between the service and a host is cut while a script of the agent clicks there. The host must have stopped
 * clicking when the next host opens the page. Then the network works again, and the earlier host ends its browser.
 */
async function playCut(world: World): Promise<void> {
  const { dataDir, problems } = world;
  const site = await startSite();
  const hosts = await Promise.all(
    ["one", "two"].map((name) => startRemoteHost({ dataDir, name, places: 2 })),
  );
  const relays = await Promise.all(hosts.map(({ url }) => startLinkRelay(url)));
  try {
    await world.start(undefined, {
      ...remoteHostVariables(relays.map(({ url }) => url)),
      BROWSER_SPARE: "0",
    });
    const created = await world.create("clicks", { body: { targetUrl: site.url } });
    if (!created) throw new Error("the session was not created");
    await waitUntil(() => site.paths.filter(isClick).length > 3, "the script clicks");
    const used = hosts.findIndex((host) => host.hasBrowser());
    world.disturb();
    relays[used]?.cut();
    await world.waitUntilIdle();
    const opened = site.paths.lastIndexOf("/shop");
    if (site.paths.indexOf("/shop") === opened) problems.push("the page was not opened at another host");
    const late = site.paths.slice(opened).filter(isClick).length;
    if (late > 0)
      problems.push(`the host that was cut off clicked ${late} times after its successor had begun`);
    world.disturb();
    relays[used]?.heal();
    await waitUntil(() => hosts[used]?.hasBrowser() === false, "the earlier host has ended its browser");
    if (site.paths.slice(opened).some(isClick)) problems.push("the earlier host clicked again");
    await world.followUp(created.sessionId, "visit");
    await world.waitUntilIdle();
  } finally {
    const left = await Promise.all(hosts.map((host) => host.end()));
    problems.push(...left.flat());
    await Promise.all(relays.map((relay) => relay.close()));
    site.close();
  }
}

/** A host is cut off from a service that goes on. There are never two writers of one page. */
export const hostCutOff: FaultCase = {
  name: "host-cut-off",
  group: "browser",
  title: "a host cut off by the network while the service runs",
  seedsMax: 2,
  play: playCut,
  findViolations: ({ rows }) => {
    const states = rows.toolCalls
      .filter(({ name }) => name === "browser_execute")
      .sort((one, other) => Number(one.startedAt) - Number(other.startedAt))
      .map(({ state }) => state);
    return states.join() === "failed,succeeded,succeeded" ? [] : [`the calls ended ${states.join()}`];
  },
};
