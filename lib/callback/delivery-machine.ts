import { machine } from "#lib/session/machine.ts";

/**
 * The states of a delivery. `sending` may begin again: a crash in mid-attempt repeats it. What is over is
 * opened again when somebody asks for it.
 * Source: `architecture.md`, Words; specification, Delivery semantics, rule 3.
 */
export const deliveryMachine = machine("delivery", {
  pending: { began: "sending" },
  sending: { began: "sending", accepted: "delivered", failed: "pending", exhausted: "dropped" },
  delivered: { reopened: "pending" },
  dropped: { reopened: "pending" },
});
