import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { EventSource as PackageSource } from "eventsource";
import { Agent, EventSource as UndiciSource } from "undici";
import { createClient } from "#lib/client/index.ts";
import { eventSchemas } from "#lib/events/event-schemas.ts";
import { type HttpTestService, openHttpTestService } from "../http-testing.ts";
import { TEST_KEY, waitUntil } from "../testing.ts";

// Clients that others have written read the stream as it is meant, also when it breaks off in the middle.

let service: HttpTestService;
/** What the model's last answer waits for. */
let held = Promise.withResolvers<void>();
before(async () => {
  service = await openHttpTestService();
  service.model.respondWith(({ answersSoFar }) => {
    if (answersSoFar === 0) return { text: "Looking.", toolCalls: [{ name: "list_files", arguments: {} }] };
    return { text: "There is nothing.", hold: held.promise };
  });
});
after(() => service.close());

/** A stored event as a client got it, and whether the client has stopped by itself. */
type Seen = { id: string; event: string; data: string };
type Following = { seen: Seen[]; hasStopped: () => boolean; stop: () => void };

/** What both implementations of the HTML standard's interface have. */
type Source = {
  readyState: number;
  close: () => void;
  addEventListener: (kind: string, listener: (event: { lastEventId: string; data: string }) => void) => void;
};

function followSource(source: Source): Following {
  const seen: Seen[] = [];
  for (const kind of Object.keys(eventSchemas))
    source.addEventListener(kind, ({ lastEventId, data }) =>
      seen.push({ id: lastEventId, event: kind, data }),
    );
  return { seen, hasStopped: () => source.readyState === 2, stop: () => source.close() };
}

function followOurs(url: string): Following {
  const [, sessionId = "", requestId = ""] = /sessions\/(\w+)\/requests\/(\w+)/.exec(url) ?? [];
  const seen: Seen[] = [];
  const gone = new AbortController();
  let hasStopped = false;
  const follow = async () => {
    const client = createClient({ baseUrl: service.baseUrl, apiKey: TEST_KEY });
    for await (const event of client.events({ sessionId, requestId }, { signal: gone.signal }))
      if ("seq" in event)
        seen.push({ id: String(event.seq), event: event.kind, data: JSON.stringify(event) });
    hasStopped = true;
  };
  follow().catch(() => {});
  return { seen, hasStopped: () => hasStopped, stop: () => gone.abort() };
}

const authorization = `Bearer ${TEST_KEY}`;

const CLIENTS: Record<string, (url: string) => Following> = {
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

describe("the event stream, cut in the middle, is read to its end without a gap or a repetition", () => {
  for (const [name, follow] of Object.entries(CLIENTS))
    test(`by ${name}`, async (t) => {
      held = Promise.withResolvers();
      const created = await service.create("look around");
      const following = follow(service.baseUrl + created.streamUrl);
      t.after(following.stop);
      const kinds = () => following.seen.map(({ event }) => event);
      await waitUntil(() => kinds().includes("tool.result"), "the tool's result has come");
      service.cutConnections();
      held.resolve();
      await waitUntil(() => kinds().includes("run.completed"), "the last event has come");
      await waitUntil(following.hasStopped, "it has stopped by itself");
      const replay = await (await service.call("GET", created.streamUrl)).text();
      const stored = [...replay.matchAll(/id: (\d+)\nevent: (\S+)\ndata: (.*)\n\n/g)];
      const expected = stored.map(([, id, event, data]) => ({ id, event, data }));
      assert.deepEqual(following.seen, expected);
    });
});
