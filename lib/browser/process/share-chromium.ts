import type { Logger } from "#lib/log/logger.ts";
import { createDeadline } from "#lib/time/deadline.ts";
import type { BrowserEgress } from "./browser-egress.ts";
import type { BrowserProcess, BrowserProvider, ChromiumUse } from "./browser-provider.ts";
import { createContexts } from "./connect-playwright.ts";
import type { Devtools, DevtoolsConnection } from "./devtools-connection.ts";

/** Starts browsers that sessions of one owner share. */
type SharedProvider = BrowserProvider & {
  /** Whether a Chromium of this owner runs or starts, and another session may use it. */
  hasRoom: (owner: string | undefined) => boolean;
};

/** What a session waits for. Nothing of it stays in memory when the session has left a Chromium that others use. */
type Member = { exited: PromiseWithResolvers<void>; faulted: PromiseWithResolvers<unknown> };

type Chromium = {
  use: ChromiumUse;
  starting: Promise<BrowserProcess>;
  members: Set<Member>;
  /** Whether more sessions may use it: it has not failed, and its last session has not left. */
  isOpen: boolean;
};

/** How long the contexts of a session may take to close. A Chromium that needs longer is ended. */
const CLOSE_MS_MAX = 30_000;

/**
 * Creates a provider whose Chromiums are used by up to `max` sessions of the same owner. Each session has a context, a
 * proxy and DevTools connections of its own. The last session that leaves a Chromium ends it.
 */
export function shareChromium(deps: {
  provider: BrowserProvider;
  egress: Pick<BrowserEgress, "startProxy">;
  max: number;
  logger: Logger;
}): SharedProvider {
  const { provider, egress, max, logger } = deps;
  const chromiums = new Set<Chromium>();

  const find = (owner: string | undefined): Chromium | undefined =>
    owner === undefined
      ? undefined
      : [...chromiums].find(({ isOpen, use }) => isOpen && use.owner === owner && use.sessions < max);

  function begin(use: ChromiumUse): Chromium {
    const chromium: Chromium = { use, starting: provider.start(use), members: new Set(), isOpen: true };
    chromiums.add(chromium);
    const retire = (notify: (member: Member) => void) => {
      chromium.isOpen = false;
      chromiums.delete(chromium);
      for (const member of [...chromium.members]) notify(member);
    };
    chromium.starting.then(
      (process) => {
        void process.exited.then(() => retire(({ exited }) => exited.resolve()));
        void process.faulted.then((error) => retire(({ faulted }) => faulted.resolve(error)));
      },
      () => retire(() => {}),
    );
    return chromium;
  }

  async function leave(chromium: Chromium): Promise<void> {
    chromium.use.sessions -= 1;
    if (chromium.use.sessions > 0) return;
    chromium.isOpen = false;
    chromiums.delete(chromium);
    const process = await chromium.starting.catch(() => undefined);
    await process?.kill();
  }

  async function enter(chromium: Chromium): Promise<BrowserProcess> {
    const process = await chromium.starting;
    const proxy = await egress.startProxy({ acceptsKey: process.acceptsKey });
    if (!chromium.isOpen) {
      await proxy.close();
      throw new Error("the browser ended as the session joined it");
    }
    const member: Member = { exited: Promise.withResolvers(), faulted: Promise.withResolvers() };
    chromium.members.add(member);
    const contexts = createContexts(process.browser, proxy.server);
    const own = ownConnections(process.devtools);
    const closeContexts = () =>
      createDeadline({ ms: CLOSE_MS_MAX }).race(
        contexts.closeAll().then(
          () => true,
          () => !process.browser.isConnected(),
        ),
        () => false,
      );
    const end = async () => {
      chromium.members.delete(member);
      own.endAll();
      // The last session ends the process, which is faster.
      const isLast = chromium.use.sessions === 1;
      if (!isLast && !(await closeContexts())) {
        logger.warn({}, "a session's pages could not be closed; the shared Chromium was ended");
        chromium.isOpen = false;
        await process.kill();
      }
      await leave(chromium);
      // Until the pages have ended, no other program may get the proxy's port.
      await proxy.close();
      member.exited.resolve();
    };
    let ending: Promise<void> | undefined;
    const kill = () => (ending ??= end());
    void member.exited.promise.then(kill);
    return {
      ...process,
      exited: member.exited.promise,
      faulted: member.faulted.promise,
      devtools: own.devtools,
      newContext: contexts.open,
      findRefusal: proxy.findRefusal,
      nameSession: proxy.nameSession,
      holdRequests: proxy.holdRequests,
      kill,
    };
  }

  return {
    readIdentity: provider.readIdentity,
    describe() {
      const { available, detail } = provider.describe();
      return { available, detail: `${detail}, shared by up to ${max} sessions of an owner` };
    },
    hasRoom: (owner) => find(owner) !== undefined,
    async start(use) {
      const chromium = find(use.owner) ?? begin(use);
      chromium.use.sessions += 1;
      try {
        return await enter(chromium);
      } catch (error) {
        await leave(chromium);
        throw error;
      }
    },
  };
}

/** Keeps the DevTools connections of one session, which end with the session and not with the Chromium. */
function ownConnections(devtools: Devtools): { devtools: Devtools; endAll: () => void } {
  const connections = new Set<DevtoolsConnection>();
  let isEnded = false;
  return {
    devtools: {
      ...devtools,
      async open(timeoutMs, handlers) {
        const connection = await devtools.open(timeoutMs, handlers);
        connections.add(connection);
        void connection.closed.then(() => connections.delete(connection));
        if (isEnded) connection.terminate();
        return connection;
      },
    },
    endAll() {
      isEnded = true;
      for (const connection of connections) connection.terminate();
    },
  };
}
