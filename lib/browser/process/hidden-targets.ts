import { createDeadline } from "#lib/time/deadline.ts";
import type { DevtoolsConnection, DevtoolsMessage } from "./devtools-connection.ts";

/** Keeps targets of the service from Playwright, which attaches to every new page of the browser. */
type HiddenTargets = {
  /** Passes a message to Playwright, unless it is about a hidden target. */
  pass: (message: DevtoolsMessage) => void;
  /** Creates a hidden page. It ends with the connection. @returns its target id. */
  create: (connection: DevtoolsConnection, browserContextId: string) => Promise<string>;
};

const CREATE_MS_MAX = 10_000;

/**
 * Chromium announces a new target before it answers the command that has created it. So messages to Playwright wait until
 * it has answered, which takes a few milliseconds.
 *
 * @param deliver passes a message to Playwright.
 * @param detach detaches Playwright's session from its target.
 */
export function createHiddenTargets(
  deliver: (message: DevtoolsMessage) => void,
  detach: (sessionId: string) => void,
): HiddenTargets {
  const targets = new Set<unknown>();
  /** Playwright's sessions with hidden targets, until they are detached. */
  const sessions = new Set<unknown>();
  let creating = 0;
  let waiting: DevtoolsMessage[] = [];

  function isHidden({ method, params = {}, sessionId }: DevtoolsMessage): boolean {
    if (sessionId !== undefined) return sessions.has(sessionId);
    if (method === "Target.detachedFromTarget") return sessions.delete(params.sessionId);
    const { targetId } = (params.targetInfo ?? params) as { targetId?: unknown };
    if (targetId === undefined || !targets.has(targetId)) return false;
    if (method === "Target.attachedToTarget") {
      sessions.add(params.sessionId);
      detach(String(params.sessionId));
    }
    return true;
  }
  function pass(message: DevtoolsMessage): void {
    if (creating > 0) waiting.push(message);
    else if (!isHidden(message)) deliver(message);
  }

  return {
    pass,
    async create(connection, browserContextId) {
      creating += 1;
      try {
        const creation = connection.ask("Target.createTarget", {
          url: "about:blank",
          browserContextId,
          background: true,
          hidden: true,
        });
        const { targetId } = await createDeadline({ ms: CREATE_MS_MAX }).race(creation);
        targets.add(targetId);
        void connection.closed.then(() => targets.delete(targetId));
        return String(targetId);
      } finally {
        creating -= 1;
        if (creating === 0) {
          const messages = waiting;
          waiting = [];
          for (const message of messages) pass(message);
        }
      }
    },
  };
}
