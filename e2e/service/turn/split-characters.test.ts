import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type HttpTestService, openHttpTestService } from "../http-testing.ts";

let service: HttpTestService;
before(async () => {
  service = await openHttpTestService();
});
after(() => service.close());

test("an emoji that the provider splits between two pieces is whole in every delta", async () => {
  const text = "🐈 and 🐈🐈";
  service.model.respondWith(() => ({
    reasoning: "🐈🐈🐈",
    text,
    textChunks: Array.from({ length: text.length }, (_, index) => text.charAt(index)),
    chunkDelayMs: 5,
    hold: released.promise,
    holdAt: "start",
  }));
  const released = Promise.withResolvers<void>();
  const session = await service.create("cats");
  const stream = await service.call("GET", session.streamUrl);
  const events = stream.text();
  released.resolve();
  type Event = { kind: string; part?: string; offset?: number; text?: string };
  const sent = [...(await events).matchAll(/^data: (.*)$/gm)].map(
    ([, json = ""]) => JSON.parse(json) as Event,
  );
  const deltas = sent.filter(({ kind, part }) => kind === "message.delta" && part === "text");
  assert.ok(deltas.length > 2, "the text arrives in pieces");
  let written = "";
  for (const { text: piece = "", offset = 0 } of deltas) {
    assert.ok(piece.isWellFormed() && !piece.includes("\ufffd"), JSON.stringify(piece));
    written = written.slice(0, offset) + piece;
  }
  assert.equal(written, text);
});
