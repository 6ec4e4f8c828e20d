import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import type { MessageDelta } from "#lib/events/event.ts";
import { openLiveRig } from "./testing.ts";

const rig = await openLiveRig();
after(rig.close);

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
const questions = (count: number) => range(1, count).map((number) => `question ${number}`);

describe("the events of a connection", () => {
  it("are only new ones without `after`; `ready` has the last event's number as lastSeq, but no seq", async () => {
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

  it("are sent as frames with type, seq, sessionId, timestamp, and the stored event as data", async () => {
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

  it("are replayed from `after`, page by page, then sent live, without a gap or a repetition", async () => {
    await rig.addSession("ses_replay");
    await rig.append("ses_replay", questions(450));
    // Events are stored while three clients start to follow at different positions.
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

  it("arrive in order if they are appended concurrently", async () => {
    await rig.addSession("ses_rush");
    const client = rig.connect("ses_rush/live");
    await client.ready();
    await Promise.all(range(1, 30).map(() => rig.append("ses_rush", questions(2))));
    await client.until(() => client.seqs().at(-1) === 60);
    assert.deepEqual(client.seqs(), range(1, 60));
    client.socket.close();
  });

  it("are only new ones if `after` is beyond the last event", async () => {
    await rig.addSession("ses_ahead");
    const client = rig.connect("ses_ahead/live?after=1000");
    await client.ready();
    await rig.append("ses_ahead", ["first"]);
    await client.until(() => client.seqs().length > 0);
    assert.deepEqual(client.seqs(), [1]);
    client.socket.close();
  });

  it("are followed by the text so far of an unfinished message as one delta, then by its next deltas", async () => {
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
    const deltas = () => client.frames.flatMap((frame) => (frame.type === "message.delta" ? [frame] : []));
    await client.until(() => deltas().length === 1);
    rig.log.publishDelta(delta(8, "on"));
    await client.until(() => deltas().length === 2);
    assert.deepEqual(
      client.frames.map(({ type }) => type),
      ["ready", "elicitation.requested", "message.delta", "message.delta"],
    );
    assert.deepEqual(
      deltas().map(({ data }) => [data.offset, data.text]),
      [
        [0, "It goes "],
        [8, "on"],
      ],
    );
    assert.equal("seq" in (deltas()[0] ?? {}), false);
    client.socket.close();
  });

  it("close the connection of a reader that stops reading with 1013, while other readers continue", async () => {
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

  it("are replayed at the reader's pace, even beyond the limit of a socket's buffer", async () => {
    const client = rig.connect("ses_slow/live?after=0");
    await client.until(() => client.seqs().length === 40);
    assert.deepEqual(client.seqs(), range(1, 40));
    client.socket.close();
  });
});
