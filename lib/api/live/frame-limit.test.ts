import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { openLiveRig, type TestClient } from "./testing.ts";

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

  it("gets an answer to a ping of the protocol, unless it does not read", async () => {
    const client = await connect();
    const answered = new Promise<string>((resolve) =>
      client.socket.once("pong", (data: Buffer) => resolve(data.toString())),
    );
    client.socket.ping("here");
    assert.equal(await answered, "here");
    client.socket.close();
  });
});
