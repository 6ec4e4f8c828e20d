import { machine } from "#lib/session/machine.ts";

/**
 * The states of a delivery. `began` is also allowed in the state `sending`, because the same attempt begins again after
 * a crash and after a wait for the host's rate limit. A redelivery reopens a delivered or dropped delivery.
 * Source: `architecture.md`, Words; specification, Delivery semantics, rule 3.
 */
export const deliveryMachine = machine("delivery", {
  pending: { began: "sending" },
  sending: { began: "sending", accepted: "delivered", failed: "pending", exhausted: "dropped" },
  delivered: { reopened: "pending" },
  dropped: { reopened: "pending" },
});
