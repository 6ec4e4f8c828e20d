import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { startChild } from "../child.ts";
import { callJson, followStream } from "../http.ts";
import { textOf } from "../play-turn.ts";
import { repeat } from "../repeat.ts";
import type { Rig } from "../rig.ts";
import { median, medianRatio } from "../statistics.ts";
import type { Subject } from "../subject.ts";
import type { Measurement, Row } from "../types.ts";

const SESSIONS = 40;
const SECRET = "secret of the bench";
const ARRIVED_WITHIN_MS = 20_000;

type Delivery = { sessionId: string; id: string };

/**
 * Measures how many signed callbacks the service sends per second if all are requested at once. The result is relative
 * to a loop that signs and sends them with `fetch`.
 */
async function measureCallbacks({ subject }: Rig): Promise<Row[]> {
  const receiver = await startReceiver();
  const loop = await startChild("./bare/callback-loop.ts");
  try {
    const deliveries = await createDeliveries(subject, receiver.url);
    const measured = await repeat({ rounds: 5, secondsMax: 10 }, async () => {
      const service = await receiver.readRate(deliveries.length, () => redeliverAll(subject, deliveries));
      const count = deliveries.length;
      const bare = await receiver.readRate(count, () =>
        loop.ask({ url: receiver.url, secret: SECRET, count }),
      );
      return [service, bare] as const;
    });
    return [
      {
        what: "callbacks per second, requested over HTTP, vs a signed fetch loop",
        unit: "×",
        target: { atLeast: 0.7 },
        value: medianRatio(measured),
        behind: {
          servicePerSecond: median(measured.map(([service]) => service)),
          barePerSecond: median(measured.map(([, bare]) => bare)),
        },
      },
    ];
  } finally {
    await loop.stop();
    receiver.close();
  }
}

/** Plays sessions with a callback. @returns the deliveries of these sessions. */
async function createDeliveries(subject: Subject, url: string): Promise<Delivery[]> {
  const deliveries: Delivery[] = [];
  for (let nth = 0; nth < SESSIONS; nth++) {
    const body = { ...(subject.bodyOf(textOf({ tools: 0 })) as object), callback: { url, secret: SECRET } };
    const created = await callJson("POST", subject.baseUrl + subject.createPath, subject.headers, body);
    const { sessionId, streamUrl } = created as { sessionId: string; streamUrl: string };
    await followStream(subject.baseUrl + streamUrl, subject.headers, () => {});
    deliveries.push(...(await readDelivered(subject, sessionId)));
  }
  return deliveries;
}

/** Waits until both callbacks of a session are delivered. @returns the two deliveries. */
async function readDelivered(subject: Subject, sessionId: string): Promise<Delivery[]> {
  const url = `${subject.baseUrl}/api/sessions/${sessionId}/deliveries`;
  const endsAt = performance.now() + ARRIVED_WITHIN_MS;
  for (;;) {
    const { data } = (await callJson("GET", url, subject.headers)) as {
      data: { id: string; state: string }[];
    };
    if (data.length === 2 && data.every(({ state }) => state === "delivered"))
      return data.map(({ id }) => ({ sessionId, id }));
    if (performance.now() > endsAt) throw new Error(`the callbacks of ${sessionId} did not arrive`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const redeliverAll = ({ baseUrl, headers }: Subject, deliveries: readonly Delivery[]) =>
  Promise.all(
    deliveries.map(({ sessionId, id }) =>
      callJson("POST", `${baseUrl}/api/sessions/${sessionId}/deliveries/${id}/redeliver`, headers),
    ),
  );

/** Starts a receiver that accepts all callbacks, and measures how many arrive per second. */
async function startReceiver() {
  let onRequest = () => {};
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      response.end();
      onRequest();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    async readRate(count: number, begin: () => Promise<unknown>): Promise<number> {
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const timer = setTimeout(() => reject(new Error("callbacks did not arrive")), ARRIVED_WITHIN_MS);
      let arrived = 0;
      onRequest = () => ++arrived === count && resolve();
      const startedAt = performance.now();
      await Promise.all([begin(), promise]);
      clearTimeout(timer);
      return (count * 1000) / (performance.now() - startedAt);
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

export const callbackMeasurement: Measurement = { name: "callbacks", seconds: 16, measure: measureCallbacks };
