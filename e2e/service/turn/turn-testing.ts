import assert from "node:assert/strict";
import type { DomainEvent, EventKind } from "#lib/events/event.ts";
import type { EventLog } from "#lib/events/event-log.ts";
import type { TestService } from "../testing.ts";

/** Reads the stored events of a session, parsed and in order. */
export async function readEvents(
  service: { container: { services: { log: Pick<EventLog, "read"> } } },
  sessionId: string,
): Promise<DomainEvent[]> {
  const stored = await service.container.services.log.read(sessionId, { after: 0, limit: 1_000 });
  const events = stored.map(({ body }) => JSON.parse(body) as DomainEvent);
  assert.deepEqual(
    events.map(({ seq }) => seq),
    events.map((_, index) => index + 1),
    "sequence numbers rise without a gap",
  );
  return events.filter(({ kind }) => kind !== "deliverable.receipts");
}

/** Returns the events of one kind. */
export const only = <Kind extends EventKind>(events: DomainEvent[], kind: Kind) =>
  events.filter((event): event is Extract<DomainEvent, { kind: Kind }> => event.kind === kind);

/** Reads the agent status of a session. */
export const readStatus = (service: TestService, sessionId: string) =>
  service.read<{
    turnState: string;
    waitingOn: { kind: string; ids: string[]; since: string; until: string | null; reason?: string } | null;
    activeRunId: string | null;
    lastRunId: string | null;
    lastRun: { outcome: string; error: string | null } | null;
    deliverable: {
      runId: string;
      status: string;
      value?: unknown;
      error?: string;
      rawText?: string;
      violations?: unknown[];
    } | null;
    queued: number;
  }>(`/api/sessions/${sessionId}/agent/status`);
