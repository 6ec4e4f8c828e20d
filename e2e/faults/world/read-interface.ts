import type { RunningService } from "#e2e/fixtures/service.ts";
import type { Acknowledged, StreamReading } from "./evidence.ts";
import type { Random } from "./random.ts";

const STREAMS_READ = 20;

/**
 * Reads the event streams of the last 20 acknowledged messages. Each stream is read from its beginning, and again from
 * a random position.
 */
export async function readStreams(
  service: RunningService,
  acknowledged: Acknowledged[],
  random: Random,
): Promise<StreamReading[]> {
  const readings: StreamReading[] = [];
  for (const { sessionId, requestId } of acknowledged.slice(-STREAMS_READ)) {
    for (const after of [0, random.between(1, 12)]) {
      const path = `/api/sessions/${sessionId}/requests/${requestId}/stream?after=${after}`;
      const answer = await service.call("GET", path);
      readings.push({ sessionId, requestId, after, text: await answer.text() });
    }
  }
  return readings;
}

/** Reads what the API answers about each session: its status, messages, deliveries and browser. */
export async function readAnswers(service: RunningService, acknowledged: Acknowledged[]) {
  const texts: { name: string; text: string }[] = [];
  for (const sessionId of new Set(acknowledged.map((one) => one.sessionId)))
    for (const name of ["agent/status", "messages", "deliveries", "browser"]) {
      const answer = await service.call("GET", `/api/sessions/${sessionId}/${name}`);
      texts.push({ name, text: await answer.text() });
    }
  return texts;
}

/** Whether a session has neither an open turn nor a pending callback. */
export async function isIdle(service: RunningService, sessionId: string): Promise<boolean> {
  type Status = { turnState: string; queued: number };
  const status = await service.read<Status>(`/api/sessions/${sessionId}/agent/status`).catch(() => undefined);
  if (status?.turnState !== "idle" || status.queued !== 0) return false;
  const { data } = await service.read<{ data?: { state: string }[] }>(
    `/api/sessions/${sessionId}/deliveries`,
  );
  return data?.every(({ state }) => state === "delivered" || state === "dropped") ?? false;
}
