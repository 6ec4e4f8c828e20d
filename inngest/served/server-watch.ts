import type { Logger } from "#lib/log/logger.ts";
import type { ServerAnswer } from "./ask-server.ts";

/** Keeps the functions of the service registered with an Inngest server. */
export type ServerWatch = {
  /**
   * Asks the server, and registers the functions if the server does not know them. A server that returns after an outage
   * and does not tell whether it knows them counts as one that does not. Concurrent calls share one check. Never rejects.
   *
   * @param isDoubtful whether there is another reason to believe that the server has lost its state.
   */
  check: (isDoubtful?: boolean) => Promise<void>;
  /** As `check`, unless the last check ended less than `ageMs` ago. */
  checkIfOlder: (ageMs: number) => Promise<void>;
  /** Tells the watch that the server has called a function, so the server knows the functions. */
  recordCall: () => void;
  isReachable: () => boolean;
  isRegistered: () => boolean;
  /** Whether the server was found without its state during the last `ms` milliseconds. */
  hasForgottenWithin: (ms: number) => boolean;
};

/**
 * Creates a {@link ServerWatch}.
 *
 * @param deps.register registers the functions; resolves to false if this failed.
 * @param deps.isRegistered whether the functions were registered before, for example by the deployment.
 * @param deps.nowMs a monotonic clock in milliseconds.
 */
export function createServerWatch(deps: {
  ask: () => Promise<ServerAnswer>;
  register: () => Promise<boolean>;
  logger: Pick<Logger, "info" | "warn">;
  isRegistered: boolean;
  nowMs?: () => number;
}): ServerWatch {
  const { ask, register, logger, nowMs = () => performance.now() } = deps;
  let { isRegistered } = deps;
  let isReachable = true;
  /** False after the server answered `unregistered` directly after a registration that it had accepted. */
  let isAnswerTrusted = true;
  let forgottenAtMs = Number.NEGATIVE_INFINITY;
  let checkedAtMs = Number.NEGATIVE_INFINITY;
  let checking: Promise<void> | undefined;

  async function runCheck(isDoubtful: boolean): Promise<void> {
    const answer = await ask();
    const wasReachable = isReachable;
    isReachable = answer !== "unreachable";
    if (!isReachable) {
      if (wasReachable) logger.warn({}, "the Inngest server cannot be reached; its jobs wait in the outbox");
      return;
    }
    if (!wasReachable) logger.info({}, "the Inngest server can be reached again");
    if (answer === "registered") isAnswerTrusted = true;
    const hasForgotten = answer === "unregistered" && isAnswerTrusted;
    const mayHaveForgotten = (isDoubtful || !wasReachable) && answer !== "registered";
    if (isRegistered && (hasForgotten || mayHaveForgotten)) {
      isRegistered = false;
      forgottenAtMs = nowMs();
      logger.warn({}, "the Inngest server may not know the functions anymore; they are registered again");
    }
    if (isRegistered) return;
    isRegistered = await register();
    // Such a server does not tell the truth about this app. Without this, every check would register the functions.
    if (isRegistered && answer === "unregistered") isAnswerTrusted = (await ask()) !== "unregistered";
  }

  const check = (isDoubtful = false) => {
    checking ??= runCheck(isDoubtful)
      .catch((error: unknown) => logger.warn({ err: error }, "the check of the Inngest server failed"))
      .finally(() => {
        checkedAtMs = nowMs();
        checking = undefined;
      });
    return checking;
  };
  return {
    check,
    checkIfOlder: async (ageMs) => {
      if (nowMs() - checkedAtMs >= ageMs) await check();
    },
    recordCall() {
      isRegistered = true;
    },
    isReachable: () => isReachable,
    isRegistered: () => isRegistered,
    hasForgottenWithin: (ms) => nowMs() - forgottenAtMs < ms,
  };
}
