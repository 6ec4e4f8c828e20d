import { WebSocket } from "ws";
import { API_KEY, type RunningService } from "../fixtures/service.ts";

/** A stored event of a session's log. */
export type LogEvent = {
  kind: string;
  seq: number;
  requestId: string | null;
  runId: string | null;
  [field: string]: unknown;
};

const DEADLINE_MS = 30_000;

/**
 * Reads a session's log over the live socket, from the first event until `isDone` returns true.
 *
 * @throws Error if `isDone` is not true after 30 s, or if a sequence number is skipped or repeated.
 */
export function readLog(
  service: RunningService,
  sessionId: string,
  isDone: (events: LogEvent[]) => boolean,
): Promise<LogEvent[]> {
  const url = `${service.baseUrl.replace("http", "ws")}/api/sessions/${sessionId}/live?after=0`;
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${API_KEY}` } });
  const events: LogEvent[] = [];
  return new Promise<LogEvent[]>((resolve, reject) => {
    const timer = setTimeout(
      () => reject(new Error(`the log of ${sessionId} ends with ${JSON.stringify(events.slice(-3))}`)),
      DEADLINE_MS,
    );
    socket.on("error", reject);
    socket.on("message", (data, isBinary) => {
      if (isBinary) return;
      const frame = JSON.parse(String(data)) as { type: string; seq?: number; data: LogEvent };
      if (frame.type === "ready" || frame.seq === undefined) return;
      events.push(frame.data);
      if (frame.seq !== events.length)
        reject(new Error(`event ${events.length} of ${sessionId} has the number ${frame.seq}`));
      if (!isDone(events)) return;
      clearTimeout(timer);
      resolve(events);
    });
  }).finally(() => socket.terminate());
}

/** Returns a condition: whether at least this many requests have ended. A run that will be retried ends no request. */
export const haveEnded = (requests: number) => (events: LogEvent[]) =>
  events.filter((event) => event.kind === "run.completed" && event.willRetry === undefined).length >=
  requests;
