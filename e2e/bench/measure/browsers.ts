import { setTimeout as sleep } from "node:timers/promises";
import { callJson, followStream } from "../http.ts";
import { textOf } from "../play-turn.ts";
import { listMemoryMb } from "../process-stats.ts";
import type { Rig } from "../rig.ts";
import type { Subject } from "../subject.ts";
import type { Measurement, Row } from "../types.ts";

const BROWSERS = 4;
/** Time until all pages are loaded and a new spare browser is ready, which the host starts after 2 s. */
const SETTLE_MS = 8_000;

/** Measures the memory of the browser host, and of host and Chromium for each session with an open page. */
export async function measureBrowsers(subject: Subject): Promise<Row[]> {
  const targetUrl = `${subject.baseUrl}/demo`;
  const createOne = async () => {
    const body = { ...(subject.bodyOf(textOf({ tools: 0 })) as object), targetUrl };
    const created = await callJson("POST", subject.baseUrl + subject.createPath, subject.headers, body);
    return created as { sessionId: string; streamUrl: string };
  };
  const sessions: string[] = [];
  const readings: { hostMb: number; chromiumMb: number }[] = [];
  // The result is the difference between two readings. The first reading includes the spare browser, which the host
  // starts because of the first session.
  for (const count of [1, BROWSERS]) {
    for (let number = 0; number < count; number++) {
      const { sessionId, streamUrl } = await createOne();
      await followStream(subject.baseUrl + streamUrl, subject.headers, () => {});
      sessions.push(sessionId);
    }
    await sleep(SETTLE_MS);
    const { hostMb = 0, chromiumMb = 0 } = listMemoryMb(subject.pid);
    readings.push({ hostMb, chromiumMb });
  }
  for (const sessionId of sessions)
    await callJson("DELETE", `${subject.baseUrl}/api/sessions/${sessionId}`, subject.headers);
  const [one, all] = readings;
  if (!one || !all || one.hostMb === 0 || one.chromiumMb === 0) throw new Error("no browser host runs");
  const chromiumMb = (all.chromiumMb - one.chromiumMb) / BROWSERS;
  const hostMb = (all.hostMb - one.hostMb) / BROWSERS;
  return [
    { what: "memory of the browser host with one session", unit: "MB", value: one.hostMb, behind: {} },
    {
      what: "memory of Chromium and host for a further session with a page",
      unit: "MB",
      value: chromiumMb + hostMb,
      behind: { chromiumMb, hostMb },
    },
  ];
}

export const browserMeasurement: Measurement = {
  name: "browsers",
  seconds: 40,
  measure: ({ subject }: Rig) => measureBrowsers(subject),
};
