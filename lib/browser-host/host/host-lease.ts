import type { Logger } from "#lib/log/logger.ts";
import type { HostLoad } from "../host-calls.ts";
import type { AttachedServices } from "./attached-services.ts";

/** The right of a host to run scripts and input. A process of the service renews it in the database. */
export type HostLease = {
  /** @throws Error with a sentence if the lease has expired. */
  check: () => void;
  /** Renews the lease without waiting for the next regular time. */
  renewNow: () => void;
  close: () => void;
};

type LeaseDeps = {
  services: AttachedServices;
  readLoad: () => Promise<HostLoad>;
  /** Called when the lease has expired: scripts must stop. */
  onSuspended: (reason: string) => void;
  /** Called with the sessions whose browser is recorded elsewhere, and deleted ones. */
  onEnded: (sessionIds: string[]) => Promise<void>;
  /** Called when the service has given the host up. */
  onLost: () => void;
  logger: Logger;
};

const RENEW_EVERY_MS = 5_000;
const CHECK_EVERY_MS = 500;
/** How long a host without a connected process may run scripts and input. */
const ALONE_MS = 5_000;
const SUSPENDED = "The browser host has no connection to the service, so the call was stopped.";

/** Creates the lease of a host, and renews it. */
export function createHostLease(deps: LeaseDeps): HostLease {
  const { services, readLoad, onSuspended, onEnded, onLost, logger } = deps;
  let validUntilMs = performance.now() + RENEW_EVERY_MS * 2;
  let isSuspended = false;
  let isRenewing = false;

  async function renew(): Promise<void> {
    if (isRenewing || services.count() === 0) return;
    isRenewing = true;
    const sentAtMs = performance.now();
    try {
      const renewed = await services.ask("renewLease", await readLoad());
      if (!renewed) return onLost();
      validUntilMs = sentAtMs + renewed.leaseMs;
      isSuspended = false;
      if (renewed.ended.length > 0) await onEnded(renewed.ended);
    } catch (error) {
      logger.warn({ err: error }, "the lease of the browser host was not renewed");
    } finally {
      isRenewing = false;
    }
  }

  function suspendIfExpired(): void {
    const since = services.aloneSinceMs();
    const isAlone = since !== undefined && performance.now() - since > ALONE_MS;
    if (isSuspended || (!isAlone && performance.now() < validUntilMs)) return;
    isSuspended = true;
    onSuspended(SUSPENDED);
  }

  const timers = [
    setInterval(() => void renew(), RENEW_EVERY_MS),
    setInterval(suspendIfExpired, CHECK_EVERY_MS),
  ];
  return {
    check() {
      if (isSuspended) throw new Error(SUSPENDED);
    },
    renewNow: () => void renew(),
    close() {
      for (const timer of timers) clearInterval(timer);
    },
  };
}
