import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { EventSource as PackageSource } from "eventsource";
import { Agent, EventSource as UndiciSource } from "undici";
import { createClient } from "#lib/client/index.ts";
import { eventSchemas } from "#lib/events/event-schemas.ts";
import { type HttpTestService, openHttpTestService } from "../http-testing.ts";
import { TEST_KEY, waitUntil } from "../testing.ts";

// Two EventSource implementations and the project's own client must receive the complete stream although the connection
// breaks.

let service: HttpTestService;
/** The model sends its last answer when this promise resolves. */
let lastAnswer = Promise.withResolvers<void>();
before(async () => {
  service = await openHttpTestService();
  service.model.respondWith(({ answersSoFar }) => {
    if (answersSoFar === 0) return { text: "Looking.", toolCalls: [{ name: "list_files", arguments: {} }] };
    return { text: "There is nothing.", hold: lastAnswer.promise };
  });
});
after(() => service.close());

/** A stored event, in the form that a client received. */
type Received = { id: string; event: string; data: string };
/**
 * A client that follows a stream. `hasStopped` tells whether the client has stopped by itself, without a call of
 * `stop`.
 */
type Follower = { received: Received[]; hasStopped: () => boolean; stop: () => void };

/** The part of the EventSource interface that both implementations provide. */
type Source = {
  readyState: number;
  close: () => void;
  addEventListener: (kind: string, listener: (event: { lastEventId: string; data: string }) => void) => void;
};

function followSource(source: Source): Follower {
  const received: Received[] = [];
  for (const kind of Object.keys(eventSchemas))
    source.addEventListener(kind, ({ lastEventId, data }) =>
      received.push({ id: lastEventId, event: kind, data }),
    );
  return { received, hasStopped: () => source.readyState === 2, stop: () => source.close() };
}

function followOurs(url: string): Follower {
  const [, sessionId = "", requestId = ""] = /sessions\/(\w+)\/requests\/(\w+)/.exec(url) ?? [];
  const received: Received[] = [];
  const abort = new AbortController();
  let hasStopped = false;
  const follow = async () => {
    const client = createClient({ baseUrl: service.baseUrl, apiKey: TEST_KEY });
    for await (const event of client.events({ sessionId, requestId }, { signal: abort.signal }))
      if ("seq" in event)
        received.push({ id: String(event.seq), event: event.kind, data: JSON.stringify(event) });
    hasStopped = true;
  };
  follow().catch(() => {});
  return { received, hasStopped: () => hasStopped, stop: () => abort.abort() };
}

const authorization = `Bearer ${TEST_KEY}`;

const CLIENTS: Record<string, (url: string) => Follower> = {
  "the package eventsource": (url) =>
    followSource(
      new PackageSource(url, {
        fetch: (input, init) => fetch(input, { ...init, headers: { ...init.headers, authorization } }),
      }),
    ),
  "Node's EventSource (undici)": (url) => {
    const dispatcher = new Agent().compose((dispatch) => (options, handler) => {
      const headers = { ...(options.headers as Record<string, string>), authorization };
      return dispatch({ ...options, headers }, handler);
    });
    return followSource(new UndiciSource(url, { node: { dispatcher } }) as unknown as Source);
  },
  "the client of this project": followOurs,
};

describe("an event stream whose connection breaks", () => {
  for (const [name, follow] of Object.entries(CLIENTS))
    test(`is read to its end without gaps or repetitions by ${name}`, async (t) => {
      lastAnswer = Promise.withResolvers();
      const created = await service.create("look around");
      const follower = follow(service.baseUrl + created.streamUrl);
      t.after(follower.stop);
      const kinds = () => follower.received.map(({ event }) => event);
      await waitUntil(() => kinds().includes("tool.result"), "the tool's result has arrived");
      service.cutConnections();
      lastAnswer.resolve();
      await waitUntil(() => kinds().includes("run.completed"), "the last event has arrived");
      await waitUntil(follower.hasStopped, "the client has stopped");
      const replay = await (await service.call("GET", created.streamUrl)).text();
      const stored = [...replay.matchAll(/id: (\d+)\nevent: (\S+)\ndata: (.*)\n\n/g)];
      const expected = stored.map(([, id, event, data]) => ({ id, event, data }));
      assert.deepEqual(follower.received, expected);
    });
});
