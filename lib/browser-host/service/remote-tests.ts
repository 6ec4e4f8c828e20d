import { LinkEndedError } from "#lib/host-link/link-message.ts";
import type { TestPlace } from "#lib/sandbox/sandbox-service.ts";
import { WorkspaceError } from "#lib/sandbox/workspace-error.ts";
import type { BrowserHosts } from "./browser-hosts.ts";
import type { ConnectedHost } from "./host-connections.ts";

/**
 * Returns the place of a leased test run at a host on another machine. @throws LinkEndedError from each function if the
 * connection to the host has ended: the tests may still run there.
 */
export function openRemoteTests(
  hosts: Pick<BrowserHosts, "list">,
  hostId: string,
  leaseId: string,
): TestPlace {
  const call = async <Result>(act: (link: ConnectedHost["link"]) => Promise<Result>): Promise<Result> => {
    const host = hosts.list().find(({ id }) => id === hostId);
    if (!host) throw new LinkEndedError(`There is no connection to the browser host ${hostId} now.`);
    try {
      return await act(host.link);
    } catch (error) {
      // The link keeps names of errors, but not their classes.
      const { name, message } = error as Error;
      throw name === "WorkspaceError" ? new WorkspaceError(message, error) : error;
    }
  };
  return {
    async add(files) {
      await call((link) => link.call("addTestFiles", { leaseId, files }));
    },
    readFile: (path, limitBytes) => call((link) => link.call("readTestFile", { leaseId, path, limitBytes })),
    listChanged: () => call((link) => link.call("listChangedFiles", { leaseId })),
    hasTests: () => call((link) => link.call("hasTests", { leaseId })),
    async runTests(program, { timeoutMs, signal, survives = () => false }) {
      const left = new AbortController();
      const leave = () =>
        left.abort(survives(signal.reason) ? new LinkEndedError("the test run is continued") : signal.reason);
      signal.throwIfAborted();
      signal.addEventListener("abort", leave, { once: true });
      try {
        return await call((link) =>
          link.call("runTests", { leaseId, program, timeoutMs }, { signal: left.signal }),
        );
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        throw error;
      } finally {
        signal.removeEventListener("abort", leave);
      }
    },
  };
}

/** Finds the host on another machine at which an earlier process has started the tests of a lease. */
export async function findHostOfTests(
  hosts: Pick<BrowserHosts, "list">,
  leaseId: string,
): Promise<ConnectedHost | undefined> {
  const remote = hosts.list().filter(({ home }) => home === "remote");
  const found = await Promise.all(
    remote.map(({ link }) => link.call("hasTests", { leaseId }).catch(() => false)),
  );
  return remote.find((_, index) => found[index]);
}
