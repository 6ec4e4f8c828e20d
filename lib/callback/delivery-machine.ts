import { machine } from "#lib/session/machine.ts";

/**
 * The states of a delivery. `sending` may begin again, because an attempt is repeated after a crash. A delivered or dropped
 * delivery is reopened by a redelivery.
 * Source: `architecture.md`, Words; specification, Delivery semantics, rule 3.
 */
export const deliveryMachine = machine("delivery", {
  pending: { began: "sending" },
  sending: { began: "sending", accepted: "delivered", failed: "pending", exhausted: "dropped" },
  delivered: { reopened: "pending" },
  dropped: { reopened: "pending" },
});
