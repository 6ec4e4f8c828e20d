import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { enclose, type HostCommand } from "#lib/client/frame-messages.ts";
import { createHostLink, type FrameWindow } from "./host-link.ts";

const HOST = "https://host.example";

/** A window in a frame. `arrive` delivers a message, by default one of the parent window. */
function openFrame(ancestorOrigins?: string[]) {
  const listeners = new Set<(event: MessageEvent) => void>();
  const sent: { message: unknown; to: unknown }[] = [];
  const parent = { postMessage: (message: unknown, to?: unknown) => void sent.push({ message, to }) };
  // The cast holds because a link uses only these members of a window.
  const view = {
    addEventListener: (_: string, listener: (event: MessageEvent) => void) => listeners.add(listener),
    removeEventListener: (_: string, listener: (event: MessageEvent) => void) => listeners.delete(listener),
    parent,
    location: { ...(ancestorOrigins && { ancestorOrigins }) },
  } as unknown as FrameWindow;
  const commands: HostCommand[] = [];
  const link = createHostLink(view, (command) => commands.push(command));
  const arrive = (data: unknown, { source = parent as unknown, origin = HOST } = {}) => {
    for (const listener of listeners) listener({ source, origin, data } as MessageEvent);
  };
  return { link, sent, commands, arrive, listeners };
}

const takeOver = enclose({ type: "takeOver", id: "a" });

describe("the link of a frame to its host page", () => {
  test("sends to the origin of an allowed host page, and nothing before", async () => {
    const { link, sent } = openFrame([HOST]);
    link.post({ type: "height", height: 1 });
    assert.deepEqual(sent, []);
    assert.equal(await link.allow(["https://other.example", HOST]), true);
    link.post({ type: "height", height: 2 });
    assert.deepEqual(sent, [{ message: enclose({ type: "height", height: 2 }), to: HOST }]);
  });

  test("neither sends to nor hears a host page that is not allowed, or one inside such a page", async () => {
    for (const ancestors of [["https://evil.example"], [HOST, "https://evil.example"]]) {
      const { link, sent, commands, arrive } = openFrame(ancestors);
      assert.equal(await link.allow([HOST]), false);
      link.post({ type: "height", height: 1 });
      arrive(takeOver, { origin: ancestors[0] ?? "" });
      assert.deepEqual([sent, commands], [[], []]);
    }
  });

  test("ignores other windows, other origins and other messages", async () => {
    const { link, commands, arrive } = openFrame([HOST]);
    arrive(takeOver);
    await link.allow([HOST]);
    arrive(takeOver, { source: {} });
    arrive(takeOver, { origin: "https://evil.example" });
    for (const data of [
      null,
      "takeOver",
      { type: "takeOver", id: "a" },
      { ...takeOver, version: 2 },
      { ...takeOver, id: "" },
      { ...takeOver, id: "a".repeat(101) },
      enclose({ type: "send", id: "a", text: "a".repeat(100_001) }),
      { ...enclose({ type: "send", id: "a", text: "a" }), mode: "now" },
      enclose({ type: "giveBack", id: "a", note: "a".repeat(1_001) }),
    ])
      arrive(data);
    assert.deepEqual(commands, []);
    arrive(takeOver);
    arrive(enclose({ type: "send", id: "b", text: "a", mode: "steer" }));
    assert.deepEqual(commands, [
      { type: "takeOver", id: "a" },
      { type: "send", id: "b", text: "a", mode: "steer" },
    ]);
  });

  test("learns the origin from a hello where the browser does not tell it", async () => {
    const { link, arrive } = openFrame();
    const isAllowed = link.allow([HOST]);
    arrive(enclose({ type: "hello" }), { source: {}, origin: "https://evil.example" });
    arrive(enclose({ type: "hello" }));
    assert.equal(await isAllowed, true);
  });

  test("learns the origin from a hello where the host page hides it, and accepts hidden origins above it", async () => {
    for (const ancestors of [["null"], ["null", "null"], ["null", HOST]]) {
      const { link, sent, arrive } = openFrame(ancestors);
      const isAllowed = link.allow([HOST]);
      arrive(enclose({ type: "hello" }));
      assert.equal(await isAllowed, true);
      link.post({ type: "height", height: 1 });
      assert.deepEqual(sent, [{ message: enclose({ type: "height", height: 1 }), to: HOST }]);
    }
    assert.equal(await openFrame([HOST, "null"]).link.allow([HOST]), true);
  });

  test("refuses a host page without an origin, and known other origins in addition to hidden ones", async () => {
    for (const [ancestors, origin] of [
      [["null"], "null"],
      [["null", "https://evil.example"], HOST],
    ] as const) {
      const { link, arrive } = openFrame([...ancestors]);
      const isAllowed = link.allow([HOST]);
      arrive(enclose({ type: "hello" }), { origin });
      assert.equal(await isAllowed, false);
    }
  });

  test("hears nothing after it is closed", async () => {
    const { link, sent, listeners } = openFrame([HOST]);
    await link.allow([HOST]);
    link.close();
    link.post({ type: "height", height: 1 });
    assert.deepEqual([sent, listeners.size], [[], 0]);
  });
});
