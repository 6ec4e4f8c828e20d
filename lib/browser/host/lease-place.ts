import type { BrowserLease } from "../browser-service.ts";
import { acceptOwnKey } from "../process/chromium-flags.ts";
import { identityFlags } from "../process/visitor-identity.ts";
import { explainNoPlace, type Parts } from "./host-parts.ts";

/** Implements {@link HostBrowsers.lease}. */
export async function leasePlace(
  { deps, egress, places, provider }: Pick<Parts, "deps" | "egress" | "places" | "provider">,
  signal: AbortSignal,
): Promise<BrowserLease> {
  const { executablePath, args = [], env = {}, cdpUrl } = deps.launch;
  if (cdpUrl !== undefined || executablePath === undefined)
    throw new Error(
      "this deployment has no local Chromium that could run in addition to the sessions' browsers",
    );
  signal.throwIfAborted();
  const ticket = places.request(undefined, () => {});
  const leave = () => ticket.release(signal.reason as Error);
  signal.addEventListener("abort", leave, { once: true });
  const timeout = setTimeout(() => ticket.release(new Error(explainNoPlace(deps))), deps.waitMs);
  try {
    await ticket.granted;
    clearTimeout(timeout);
    const identity = await provider.readIdentity();
    const proxy = await egress.startProxy({ acceptsKey: true });
    return {
      executablePath,
      args: [...args, ...acceptOwnKey(proxy.ownKeyHash), ...identityFlags(identity)],
      env,
      identity: identity ?? null,
      proxyPort: Number(new URL(proxy.server).port),
      listRefusals: async () => proxy.listRefusals(),
      async release() {
        ticket.release();
        await proxy.close();
      },
    };
  } catch (error) {
    ticket.release();
    throw error;
  } finally {
    clearTimeout(timeout);
    signal.removeEventListener("abort", leave);
  }
}
