import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { MessageDelta } from "#lib/events/event.ts";
import { openLiveRig } from "./testing.ts";

const rig = await openLiveRig();
after(rig.close);

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
const questions = (count: number) => range(1, count).map((number) => `question ${number}`);

describe("the events of a connection", () => {
  it("without after it begins now; ready names the last event as lastSeq, and has no seq of its own", async () => {
    await rig.addSession("ses_now");
    await rig.append("ses_now", questions(3));
    const client = rig.connect("ses_now/live");
    await client.ready();
    assert.equal(client.frames[0]?.type === "ready" && client.frames[0].lastSeq, 3);
    assert.ok(!("seq" in (client.frames[0] ?? {})));
    await rig.append("ses_now", ["later"]);
    await client.until(() => client.seqs().length > 0);
    assert.deepEqual(client.seqs(), [4]);
    client.socket.close();
  });

  it("a frame is the stored event, wrapped: type, seq, sessionId, timestamp, data", async () => {
    await rig.addSession("ses_frame");
    await rig.append("ses_frame", ['"seq":9,"timestamp":"no"']);
    const [stored] = await rig.log.read("ses_frame", { after: 0, limit: 1 });
    const data = JSON.parse(stored?.body ?? "");
    const client = rig.connect("ses_frame/live?after=0");
    await client.until(() => client.seqs().length > 0);
    assert.deepEqual(client.frames[1], {
      type: "elicitation.requested",
      seq: 1,
      sessionId: "ses_frame",
      timestamp: data.timestamp,
      data,
    });
    client.socket.close();
  });

  it("after replays what follows it, page by page, then goes on live, without a gap or a repeat", async () => {
    await rig.addSession("ses_replay");
    await rig.append("ses_replay", questions(450));
    // Appends run on while three followers join at different places.
    const appending = (async () => {
      for (const _ of range(1, 40)) await rig.append("ses_replay", questions(5));
    })();
    const clients = [0, 100, 449].map((from) => ({
      from,
      client: rig.connect(`ses_replay/live?after=${from}`),
    }));
    await appending;
    for (const { from, client } of clients) {
      await client.until(() => client.seqs().at(-1) === 650);
      assert.deepEqual(client.seqs(), range(from + 1, 650));
      client.socket.close();
    }
  });

  it("appends at the same moment arrive in order", async () => {
    await rig.addSession("ses_rush");
    const client = rig.connect("ses_rush/live");
    await client.ready();
    await Promise.all(range(1, 30).map(() => rig.append("ses_rush", questions(2))));
    await client.until(() => client.seqs().at(-1) === 60);
    assert.deepEqual(client.seqs(), range(1, 60));
    client.socket.close();
  });

  it("an after that is ahead of the log begins now", async () => {
    await rig.addSession("ses_ahead");
    const client = rig.connect("ses_ahead/live?after=1000");
    await client.ready();
    await rig.append("ses_ahead", ["first"]);
    await client.until(() => client.seqs().length > 0);
    assert.deepEqual(client.seqs(), [1]);
    client.socket.close();
  });

  it("whoever joins in mid-message gets it so far as one piece, after the replay, then the next pieces", async () => {
    await rig.addSession("ses_delta");
    await rig.append("ses_delta", ["before"]);
    const delta = (offset: number, text: string): MessageDelta => ({
      kind: "message.delta",
      timestamp: "2026-01-01T00:00:00.000Z",
      sessionId: "ses_delta",
      requestId: "req_1",
      runId: "run_1",
      source: "api",
      messageId: "msg_1",
      part: "text",
      attempt: 1,
      offset,
      text,
    });
    rig.log.publishDelta(delta(0, "It "));
    rig.log.publishDelta(delta(3, "goes "));
    const client = rig.connect("ses_delta/live?after=0");
    const pieces = () => client.frames.flatMap((frame) => (frame.type === "message.delta" ? [frame] : []));
    await client.until(() => pieces().length === 1);
    rig.log.publishDelta(delta(8, "on"));
    await client.until(() => pieces().length === 2);
    assert.deepEqual(
      client.frames.map(({ type }) => type),
      ["ready", "elicitation.requested", "message.delta", "message.delta"],
    );
    assert.deepEqual(
      pieces().map(({ data }) => [data.offset, data.text]),
      [
        [0, "It goes "],
        [8, "on"],
      ],
    );
    assert.equal("seq" in (pieces()[0] ?? {}), false);
    client.socket.close();
  });

  it("a reader that stops reading is closed 1013, and the others read on", async () => {
    await rig.addSession("ses_slow");
    const [slow, fast] = [rig.connect("ses_slow/live"), rig.connect("ses_slow/live")];
    await Promise.all([slow.ready(), fast.ready()]);
    slow.socket.pause();
    const large = "x".repeat(1_000_000);
    for (const count of range(1, 40)) {
      await rig.append("ses_slow", [large]);
      await fast.until(() => fast.seqs().length === count);
    }
    slow.socket.resume();
    const end = await slow.ended();
    assert.ok(end && "code" in end);
    assert.equal(end.code, 1013);
    assert.deepEqual(fast.seqs(), range(1, 40));
    fast.socket.close();
  });

  it("a replay larger than a socket's limit waits for its reader", async () => {
    const client = rig.connect("ses_slow/live?after=0");
    await client.until(() => client.seqs().length === 40);
    assert.deepEqual(client.seqs(), range(1, 40));
    client.socket.close();
  });
});
