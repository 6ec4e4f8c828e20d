import type { Logger } from "#lib/log/logger.ts";
import type { HostLoad, UnrecordedSessions } from "../host-calls.ts";
import type { AttachedServices } from "./attached-services.ts";

/** The right of a host to run scripts and input. A process of the service renews it in the database. */
export type HostLease = {
  /** @throws Error with a sentence if the lease has expired. */
  check: () => void;
  /** Renews the lease without waiting for the next regular time. Resolves when that was tried; never rejects. */
  renewNow: () => Promise<void>;
  close: () => void;
};

type LeaseDeps = {
  services: Pick<AttachedServices, "count" | "aloneSinceMs" | "ask">;
  readLoad: () => Promise<HostLoad>;
  /** Called when the lease has expired: scripts must stop. */
  onSuspended: (reason: string) => void;
  /** Called with the sessions of the load whose browser is not recorded at this host. */
  onUnrecorded: (sessions: UnrecordedSessions) => Promise<void>;
  /** Called when the service has given the host up. */
  onLost: () => void;
  logger: Logger;
  /** Replaces the clock in tests, in milliseconds. */
  nowMs?: () => number;
};

const RENEW_EVERY_MS = 5_000;
const CHECK_EVERY_MS = 500;
/** How long a host without a connected process may run scripts and input. */
const ALONE_MS = 5_000;
const SUSPENDED = "The browser host has no connection to the service, so the call was stopped.";

/** Creates the lease of a host, and renews it. */
export function createHostLease(deps: LeaseDeps): HostLease {
  const {
    services,
    readLoad,
    onSuspended,
    onUnrecorded,
    onLost,
    logger,
    nowMs = () => performance.now(),
  } = deps;
  let validUntilMs = nowMs() + RENEW_EVERY_MS * 2;
  let isSuspended = false;
  let last = Promise.resolve();
  let open = 0;

  // The time is compared at each check: a host that was stopped (SIGSTOP) handles calls before its timers.
  function isExpired(): boolean {
    const since = services.aloneSinceMs();
    return nowMs() >= validUntilMs || (since !== undefined && nowMs() - since > ALONE_MS);
  }

  async function renew(): Promise<void> {
    if (services.count() === 0) return;
    try {
      const sentAtMs = nowMs();
      const renewed = await services.ask("renewLease", await readLoad());
      if (!renewed) return onLost();
      validUntilMs = sentAtMs + renewed.leaseMs;
      if (!isExpired()) isSuspended = false;
      if (renewed.elsewhere.length + renewed.ended.length > 0) await onUnrecorded(renewed);
    } catch (error) {
      logger.warn({ err: error }, "the lease of the browser host was not renewed");
    }
  }

  /** A renewal in progress may have begun long ago, and its answer may be old. Therefore another one follows it. */
  async function renewNow(): Promise<void> {
    open += 1;
    last = last.then(renew);
    await last;
    open -= 1;
  }

  function suspendIfExpired(): void {
    if (isSuspended || !isExpired()) return;
    isSuspended = true;
    onSuspended(SUSPENDED);
  }

  const timers = [
    setInterval(() => open === 0 && void renewNow(), RENEW_EVERY_MS),
    setInterval(suspendIfExpired, CHECK_EVERY_MS),
  ];
  return {
    check() {
      suspendIfExpired();
      if (isSuspended || isExpired()) throw new Error(SUSPENDED);
    },
    renewNow,
    close() {
      for (const timer of timers) clearInterval(timer);
    },
  };
}
