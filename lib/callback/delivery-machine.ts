import { machine } from "#lib/session/machine.ts";

/**
 * The states of a delivery. `began` is also allowed in the state `sending`, because the same attempt begins again after
 * a crash and after a wait for the host's rate limit. A delivery to a disabled endpoint is withheld until the endpoint
 * works again, or until it expires. A redelivery reopens a delivery that has ended or is held.
 * Source: `architecture.md`, Words; specification, Delivery semantics, rule 3; decision 066.
 */
export const deliveryMachine = machine("delivery", {
  pending: { began: "sending", withheld: "held" },
  sending: {
    began: "sending",
    accepted: "delivered",
    failed: "pending",
    exhausted: "dropped",
    withheld: "held",
  },
  held: { released: "pending", expired: "dropped", reopened: "pending" },
  delivered: { reopened: "pending" },
  dropped: { reopened: "pending" },
});
