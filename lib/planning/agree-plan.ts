import type { Transaction } from "#db/client.ts";
import { PLAN_AGREED_TEXT } from "#db/schema/unions.ts";
import type { Emit } from "#lib/events/event-log.ts";
import { acceptMessage } from "#lib/session/follow-up/accept-message.ts";
import { findSession } from "#lib/session/store/session-store.ts";
import type { WakeDeps } from "#lib/session/waiting/waiting.ts";
import { toPlan } from "./plan.ts";
import { findPlan } from "./planning-store.ts";
import { changeMode } from "./store-plan.ts";

type Agreement = {
  sessionId: string;
  /** The revision that the session page showed to the person. */
  revision: number;
  /** Text that the person adds to the agreement; may be empty. */
  text: string;
  userId: string | null;
  bodyHash: string;
  /** Whether the deployment excludes tools from turns that no person started. */
  deploymentExcludes: boolean;
};

/**
 * Agrees to a plan on behalf of a person: sets the plan's mode to `agreed` and posts a message to the agent, in one
 * transaction. The turn in progress reads the message between two steps. If no turn is in progress, the message starts
 * one. Refuses if the plan's mode is not `plan_first`, if the plan has no item left to do, or if the plan no longer has
 * the revision that the person saw.
 */
export function agreePlan(deps: WakeDeps, { sessionId, revision, text, ...person }: Agreement) {
  const words = text === "" ? PLAN_AGREED_TEXT : `${PLAN_AGREED_TEXT}\n\n${text}`;
  return acceptMessage(deps, {
    sessionId,
    messages: [{ role: "user", parts: [{ type: "text", text: words }] }],
    mode: "steer",
    origin: "person",
    ...person,
    idempotencyKey: null,
    alongside: (tx, emit) => agree(tx, emit, sessionId, revision),
  });
}

async function agree(
  tx: Transaction,
  emit: Emit,
  sessionId: string,
  revision: number,
): Promise<string | undefined> {
  // `acceptMessage` has already locked the session's row, so this function only reads the row. If it asked for a
  // stronger lock on the row, it could deadlock with other writers.
  const session = await findSession(tx, sessionId);
  if (!session) return "no such session";
  const plan = toPlan(await findPlan(tx, sessionId));
  if (plan.mode === "agreed") return "the plan is agreed already";
  if (plan.mode === "off") return "plan first is off, so there is nothing to agree to";
  if (plan.items.length === 0) return "there is no plan to agree to yet";
  if (plan.items.every(({ status }) => status === "done" || status === "dropped"))
    return "the plan has nothing left to do";
  if (plan.revision !== revision)
    return `revision: the plan has revision ${plan.revision} by now; read it and agree to that`;
  await changeMode(tx, emit, session, "agreed");
  return undefined;
}
