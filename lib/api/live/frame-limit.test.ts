import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { openLiveRig, type TestClient, testPicture } from "./testing.ts";

let now = 0;
const rig = await openLiveRig({ now: () => now });
after(rig.close);
await rig.addSession("ses_a");
const viewToken = await rig.addShare("ses_a", "view");

const TOO_MANY = { code: 1008, reason: "too many frames; send at most 250 per second" };

/** Connects like a visitor with a link of the role `view`. */
async function connect(): Promise<TestClient> {
  const client = rig.connect("ses_a/live", {});
  await client.opened();
  client.send({ type: "auth", token: viewToken });
  await client.ready();
  return client;
}

describe("a client that sends too much is closed, whatever it sends:", () => {
  const floods: Record<string, (client: TestClient, index: number) => void> = {
    pings: ({ send }) => send({ type: "ping" }),
    "pings of the protocol": ({ socket }) => socket.ping(),
    "pongs of the protocol": ({ socket }) => socket.pong(),
    "subscriptions that it ends at once": ({ send }, index) =>
      send({ type: index % 2 === 0 ? "view.subscribe" : "view.unsubscribe" }),
    "large frames": ({ socket }) => socket.send(`{"type":"ping"}${" ".repeat(60_000)}`),
  };
  for (const [name, flood] of Object.entries(floods))
    it(name, async () => {
      const client = await connect();
      for (let index = 0; index < 1_500; index++) {
        if (client.socket.readyState !== client.socket.OPEN) break;
        flood(client, index);
      }
      assert.deepEqual(await client.ended(), TOO_MANY);
    });
});

describe("a client within the limits", () => {
  it("may send a burst, and 250 frames per second for any time", async () => {
    const client = await connect();
    const answers = () => client.frames.filter(({ type }) => type === "pong").length;
    for (let index = 0; index < 900; index++) client.send({ type: "ping" });
    await client.until(() => answers() === 900);
    for (let second = 1; second <= 10; second++) {
      now += 1_000;
      for (let index = 0; index < 200; index++) client.send({ type: "ping" });
      await client.until(() => answers() === 900 + 200 * second);
    }
    client.socket.close();
  });

  it("gets an answer to a ping of the protocol", async () => {
    const client = await connect();
    const answered = new Promise<string>((resolve) =>
      client.socket.once("pong", (data: Buffer) => resolve(data.toString())),
    );
    client.socket.ping("here");
    assert.equal(await answered, "here");
    client.socket.close();
  });

  it("gets no answers to pings of the protocol while it does not read", async () => {
    const [client, fast] = [await connect(), await connect()];
    for (const each of [client, fast]) {
      each.send({ type: "view.subscribe" });
      await each.settle();
    }
    const answers: string[] = [];
    client.socket.on("pong", (data: Buffer) => answers.push(data.toString()));
    client.socket.pause();
    // More than the operating system's buffers of a connection hold, so that the rest stays in the service.
    for (let sequence = 1; sequence <= 60; sequence += 1) {
      rig.browser.emit(testPicture(sequence, 300_000));
      await fast.until(() => fast.pictures.length === sequence);
    }
    for (let index = 0; index < 100; index++) client.socket.ping("not read");
    client.send({ type: "view.unsubscribe" });
    while (rig.browser.watchers() > 1) await new Promise((resolve) => setTimeout(resolve, 10));
    client.socket.resume();
    await client.settle();
    // The first answer may arrive before the service knows that its buffer is empty.
    await client.settle();
    client.socket.ping("read again");
    await client.settle();
    assert.deepEqual(answers, ["read again"]);
    client.socket.close();
    fast.socket.close();
  });
});
