"use client";

import { RotateCw } from "lucide-react";
import { useState } from "react";
import { formatDuration } from "#lib/page/labels/format.ts";
import type { DeliveryView } from "#lib/page/state/view-types.ts";
import { countOf } from "#lib/text/count-of.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { ClockTime } from "../../ui/time.tsx";
import { useDeliveries } from "./use-deliveries.ts";

const STATES = {
  pending: ["quiet", "waiting"],
  sending: ["busy", "sending"],
  held: ["quiet", "held"],
  delivered: ["good", "delivered"],
  dropped: ["bad", "dropped"],
} as const;

/**
 * Shows the callbacks of the session, with the number of their attempts and the outcome of the last attempt. A button
 * sends a callback again that was delivered or dropped, or is held.
 */
export function DeliveryLog() {
  const { deliveries, error, redeliver } = useDeliveries();
  if (deliveries.length === 0) return null;
  return (
    <section aria-label="Callbacks" className="border-t pt-3">
      <h2 className="pb-1 text-faint text-xs">Callbacks</h2>
      <ol className="flex flex-col divide-y">
        {deliveries.map((delivery) => (
          <Delivery key={delivery.id} delivery={delivery} onRedeliver={() => redeliver(delivery.id)} />
        ))}
      </ol>
      {error && (
        <p role="alert" className="pt-2 text-bad text-xs">
          {error}
        </p>
      )}
    </section>
  );
}

function Delivery({ delivery, onRedeliver }: { delivery: DeliveryView; onRedeliver: () => Promise<void> }) {
  const [isSending, setSending] = useState(false);
  const { attempts, state, nextAttemptAt } = delivery;
  const last = attempts.at(-1);
  const canSend = state === "delivered" || state === "dropped" || state === "held";
  return (
    <li className="flex min-w-0 flex-col gap-1 py-2">
      <div className="flex h-6 items-center gap-2">
        <Badge tone={STATES[state][0]}>{STATES[state][1]}</Badge>
        <span className="truncate">{delivery.event}</span>
        <span className="ml-auto flex items-center gap-2 text-faint text-xs tabular-nums">
          {last && <ClockTime iso={last.at} />}
          {countOf(attempts.length, "attempt")}
        </span>
        {canSend && (
          <Button
            size="sm"
            variant="ghost"
            aria-label={`Send again: ${delivery.event}`}
            disabled={isSending}
            onClick={() => {
              setSending(true);
              void onRedeliver().finally(() => setSending(false));
            }}
          >
            <RotateCw /> Send again
          </Button>
        )}
      </div>
      {last && (
        <p className="flex gap-2 text-soft text-xs tabular-nums">
          <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">
            {last.error ?? `answered ${last.status}`}
          </span>
          <span className="shrink-0 text-faint">
            {last.latencyMs < 1_000 ? `${last.latencyMs} ms` : formatDuration(last.latencyMs)}
          </span>
        </p>
      )}
      {last?.excerpt && (
        <pre
          dir="auto"
          className="max-h-24 overflow-auto whitespace-pre-wrap rounded-sm bg-sunken px-2 py-1 font-mono text-faint text-xs [overflow-wrap:anywhere]"
        >
          {last.excerpt}
        </pre>
      )}
      {state === "held" && (
        <p className="text-faint text-xs">
          The receiver accepts no callbacks. This one is sent when it accepts them again, within 7 days.
        </p>
      )}
      {nextAttemptAt && attempts.length > 0 && (
        <p className="text-faint text-xs">
          Next attempt at <ClockTime iso={nextAttemptAt} />
        </p>
      )}
    </li>
  );
}
