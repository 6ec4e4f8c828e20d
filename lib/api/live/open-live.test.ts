import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { after, describe, it } from "node:test";
import { apiKeys } from "#db/schema/index.ts";
import { decodeFrame } from "#lib/client/frame-header.ts";
import { formatKey, hashSecret } from "#lib/keys/key-store.ts";
import type { LiveClientFrame } from "#lib/page/state/view-types.ts";
import { openLiveRig, TEST_KEY, TEST_ORIGIN, type TestClient, testPicture } from "./testing.ts";

const rig = await openLiveRig();
after(rig.close);
for (const id of ["ses_a", "ses_b", "ses_c", "ses_d", "ses_e", "ses_f"]) await rig.addSession(id);

const shareCookie = (sessionId: string) => `share=${rig.shares.deriveToken(sessionId, 0, "drive")}`;

describe("a request to connect, before the upgrade", () => {
  it("without an upgrade is 426", async () => {
    const response = await fetch(`http://${rig.address}/api/sessions/ses_a/live`);
    assert.equal(response.status, 426);
    assert.equal(response.headers.get("upgrade"), "websocket");
    assert.deepEqual(await response.json(), {
      success: false,
      error: "upgrade to WebSocket required",
      code: "invalid_request",
    });
  });

  it("with another method than GET is 405", async () => {
    const upgrading = request(`http://${rig.address}/api/sessions/ses_a/live`, {
      method: "POST",
      headers: { connection: "upgrade", upgrade: "websocket", "sec-websocket-version": "13" },
    }).end();
    const [answer] = (await once(upgrading, "response")) as [IncomingMessage];
    assert.equal(answer.statusCode, 405);
    assert.deepEqual(JSON.parse((await answer.toArray()).join("")), {
      success: false,
      error: "method: must be GET",
      code: "method_not_allowed",
    });
  });

  const refusals: [string, string, Record<string, string>, number, string][] = [
    ["to an unknown session is 404", "ses_none/live", {}, 404, "not_found"],
    [
      "to an unknown session is 404 with a valid key too",
      "ses_none/live",
      { "x-service-api-key": TEST_KEY },
      404,
      "not_found",
    ],
    [
      "to a session of another owner is 404",
      "ses_a/live",
      { "x-service-api-key": "a-key-of-somebody-else" },
      404,
      "not_found",
    ],
    ["with a wrong key is 401", "ses_a/live", { authorization: "Bearer nonsense" }, 401, "unauthorized"],
    [
      "with a wrong share cookie is 401",
      "ses_a/live",
      { cookie: "share=x", origin: TEST_ORIGIN },
      401,
      "unauthorized",
    ],
    [
      "with the share cookie of another session is 401",
      "ses_a/live",
      { cookie: shareCookie("ses_b"), origin: TEST_ORIGIN },
      401,
      "unauthorized",
    ],
    [
      "with a valid cookie from another site is 403",
      "ses_a/live",
      { cookie: shareCookie("ses_a"), origin: "https://evil.example" },
      403,
      "forbidden",
    ],
    [
      "with a malformed `after` is 400",
      "ses_a/live?after=-1",
      { "x-service-api-key": TEST_KEY },
      400,
      "invalid_request",
    ],
  ];
  for (const [title, path, headers, status, code] of refusals)
    it(title, async () => {
      const end = await rig.connect(path, headers).ended();
      assert.ok(end && "status" in end);
      assert.equal(end.status, status);
      const body = JSON.parse(end.body);
      assert.equal(body.success, false);
      assert.equal(body.code, code);
    });

  it("gives the role drive with an API key, and the role of its link with a share cookie", async () => {
    const byKey = rig.connect("ses_a/live");
    await byKey.ready();
    const [ready] = byKey.frames;
    assert.ok(ready?.type === "ready");
    assert.equal(ready.data.role, "drive");
    const token = await rig.addShare("ses_a", "comment");
    const byCookie = rig.connect("ses_a/live", { cookie: `share=${token}`, origin: TEST_ORIGIN });
    await byCookie.ready();
    assert.ok(byCookie.frames[0]?.type === "ready");
    assert.equal(byCookie.frames[0].data.role, "comment");
    byKey.socket.close();
    byCookie.socket.close();
  });
});

describe("a connection without a credential", () => {
  for (const [name, token] of [
    ["an API key", TEST_KEY],
    ["a share token", rig.shares.deriveToken("ses_a", 0, "drive")],
  ] as const)
    it(`is admitted by a first frame with ${name}; frames sent right after it wait`, async () => {
      const client = rig.connect("ses_a/live", {});
      await client.opened();
      client.send({ type: "auth", token });
      client.send({ type: "ping" });
      await client.until(() => client.frames.length >= 2);
      assert.deepEqual(
        client.frames.slice(0, 2).map(({ type }) => type),
        ["ready", "pong"],
      );
      client.socket.close();
    });

  it("is closed 4001 for a wrong token, and for a first frame that is not auth", async () => {
    const wrong = rig.connect("ses_a/live", {});
    await wrong.opened();
    wrong.send({ type: "auth", token: "nonsense" });
    const other = rig.connect("ses_a/live", {});
    await other.opened();
    other.send({ type: "view.subscribe" });
    for (const client of [wrong, other]) {
      const end = await client.ended();
      assert.ok(end && "code" in end && end.code === 4001);
      assert.equal(client.frames.length, 0);
    }
  });

  it("is closed 4004 for a key whose owner has no such session", async () => {
    const client = rig.connect("ses_a/live", {});
    await client.opened();
    client.send({ type: "auth", token: "a-key-of-somebody-else" });
    assert.deepEqual(await client.ended(), { code: 4004, reason: "no such session" });
  });

  it("gives the role view to a key that may only read, and refuses a key that may not read", async () => {
    const row = { ownerId: "owner", name: "test", secretHash: hashSecret("s".repeat(43)) };
    await rig.db.insert(apiKeys).values([
      { ...row, id: "reader", scopes: ["sessions:read"] },
      { ...row, id: "writer", scopes: ["sessions:write"] },
    ]);
    const keyOf = (id: string) => ({ "x-service-api-key": formatKey(id, "s".repeat(43)) });
    const reader = rig.connect("ses_a/live", keyOf("reader"));
    await reader.until(() => reader.frames.length > 0);
    const [ready] = reader.frames;
    assert.equal(ready?.type === "ready" && ready.data.role, "view");
    reader.send({ type: "control.take" });
    assert.deepEqual(await reader.ended(), { code: 4003, reason: "the role view may not send control.take" });
    const refused = await rig.connect("ses_a/live", keyOf("writer")).ended();
    assert.ok(refused && "status" in refused && refused.status === 403);
  });

  it("is closed 4004 when its session is removed, admitted or not; connections of other sessions stay", async () => {
    const [admitted, waiting, other] = [
      rig.connect("ses_e/live", { "x-service-api-key": TEST_KEY }),
      rig.connect("ses_e/live", {}),
      rig.connect("ses_f/live", { "x-service-api-key": TEST_KEY }),
    ];
    for (const client of [admitted, waiting, other]) await client.opened();
    rig.hub.sessionRemoved("ses_e");
    for (const client of [admitted, waiting])
      assert.deepEqual(await client.ended(), { code: 4004, reason: "the session was removed" });
    other.send({ type: "ping" });
    await other.until(() => other.frames.some(({ type }) => type === "pong"));
    other.socket.close();
  });

  it("is closed 4001 when its first frame does not arrive in time", async (t) => {
    const impatient = await openLiveRig({ authTimeoutMs: 20, db: rig.db });
    t.after(impatient.close);
    assert.deepEqual(await impatient.connect("ses_a/live", {}).ended(), {
      code: 4001,
      reason: "no auth frame was sent in time",
    });
  });
});

describe("a frame from a client", () => {
  const malformed: [string, string | Buffer, number][] = [
    ["that is not JSON closes the connection with 1007", "{", 1007],
    ["of an unknown type closes the connection with 1008", '{"type":"dance"}', 1008],
    ["with an unknown field closes the connection with 1008", '{"type":"ping","extra":1}', 1008],
    [
      "with a coordinate that is not a number closes the connection with 1008",
      '{"type":"input.wheel","x":"1"}',
      1008,
    ],
    ["that is binary closes the connection with 1008", Buffer.from('{"type":"ping"}'), 1008],
    [
      "over 64 KiB closes the connection with 1009",
      JSON.stringify({ type: "input.paste", text: "x".repeat(65_536) }),
      1009,
    ],
  ];
  for (const [title, data, code] of malformed)
    it(title, async () => {
      const client = rig.connect("ses_b/live");
      await client.ready();
      client.socket.send(data);
      const end = await client.ended();
      assert.ok(end && "code" in end);
      assert.equal(end.code, code);
    });

  for (const role of ["view", "comment"] as const)
    it(`that controls the page closes the connection with 4003 for the role ${role}`, async () => {
      const cookie = `share=${await rig.addShare("ses_b", role)}`;
      for (const frame of [
        { type: "input.text", text: "x" },
        { type: "control.take" },
        { type: "viewport.set", size: null, scale: 1 },
      ] as const) {
        const client = rig.connect("ses_b/live", { cookie, origin: TEST_ORIGIN });
        await client.ready();
        client.send({ type: "view.subscribe" });
        client.send(frame);
        assert.deepEqual(await client.ended(), {
          code: 4003,
          reason: `the role ${role} may not send ${frame.type}`,
        });
      }
      assert.deepEqual(rig.browser.inputs, []);
    });

  it("with input reaches the page, in order, if its connection has control", async () => {
    const client = rig.connect("ses_b/live");
    await client.ready();
    client.send({ type: "control.take" });
    const mouse = { action: "down", x: 1.5, y: 2, button: "left", clickCount: 1, modifiers: 0 } as const;
    client.send({ type: "input.mouse", ...mouse });
    client.send({ type: "input.mouse", ...mouse, action: "up" });
    client.send({ type: "input.key", action: "down", key: "a", code: "KeyA", modifiers: 8 });
    client.send({ type: "input.key", action: "up", key: "a", code: "KeyA", modifiers: 8 });
    client.send({ type: "input.paste", text: "pasted" });
    await client.settle();
    assert.deepEqual(rig.browser.inputs.splice(0), [
      { type: "mouse", ...mouse },
      { type: "mouse", ...mouse, action: "up" },
      { type: "key", action: "down", key: "a", code: "KeyA", modifiers: 8 },
      { type: "key", action: "up", key: "a", code: "KeyA", modifiers: 8 },
      { type: "paste", text: "pasted" },
    ]);
    client.socket.close();
    await client.ended();
  });

  it("with input of any kind is dropped if its connection has no control", async () => {
    const [holder, other] = [rig.connect("ses_b/live"), rig.connect("ses_b/live")];
    await Promise.all([holder.ready(), other.ready()]);
    const inputs: LiveClientFrame[] = [
      { type: "input.mouse", action: "down", x: 1, y: 2, button: "left", clickCount: 1, modifiers: 0 },
      { type: "input.wheel", x: 1, y: 2, deltaX: 0, deltaY: 9, modifiers: 0 },
      { type: "input.key", action: "down", key: "a", code: "KeyA", modifiers: 0 },
      { type: "input.text", text: "typed" },
      { type: "input.paste", text: "pasted" },
      { type: "input.paste", text: "pasted", isEvent: true },
      { type: "input.touch", action: "start", points: [{ id: 0, x: 1, y: 2 }], modifiers: 0 },
      { type: "input.compose", text: "に", selectionStart: 1, selectionEnd: 1 },
      { type: "input.copy", action: "copy", id: 1 },
      { type: "viewport.set", size: { width: 390, height: 844 }, scale: 2 },
    ];
    for (const input of inputs) other.send(input);
    await other.settle();
    holder.send({ type: "control.take" });
    await holder.settle();
    for (const input of inputs) other.send(input);
    await other.settle();
    assert.deepEqual([rig.browser.inputs, rig.browser.pastes, rig.browser.viewports], [[], [], []]);
    assert.ok(!other.frames.some(({ type }) => type === "clipboard"));
    holder.send({ type: "input.text", text: "mine" });
    await holder.settle();
    assert.deepEqual(rig.browser.inputs.splice(0), [{ type: "text", text: "mine" }]);
    for (const client of [holder, other]) client.socket.close();
    await Promise.all([holder.ended(), other.ended()]);
  });

  it("that copies is answered with the content, which other connections do not get", async () => {
    const [holder, other] = [rig.connect("ses_b/live"), rig.connect("ses_b/live")];
    await Promise.all([holder.ready(), other.ready()]);
    holder.send({ type: "control.take" });
    holder.send({ type: "input.copy", action: "cut", id: 7 });
    const copied = () => holder.frames.flatMap((frame) => (frame.type === "clipboard" ? [frame.data] : []));
    await holder.until(() => copied().length > 0);
    assert.deepEqual(copied(), [{ id: 7, text: "text of a cut", html: null }]);
    await other.settle();
    assert.ok(!other.frames.some(({ type }) => type === "clipboard"));
    for (const client of [holder, other]) client.socket.close();
    await Promise.all([holder.ended(), other.ended()]);
  });

  it("that pastes as an event gives the page text and HTML", async () => {
    const client = rig.connect("ses_b/live");
    await client.ready();
    client.send({ type: "control.take" });
    client.send({ type: "input.paste", text: "a", html: "<b>a</b>", isEvent: true });
    await client.settle();
    assert.deepEqual(rig.browser.pastes.splice(0), [
      [
        { kind: "text", type: "text/plain", text: "a" },
        { kind: "text", type: "text/html", text: "<b>a</b>" },
      ],
    ]);
    assert.deepEqual(rig.browser.inputs, []);
    client.socket.close();
    await client.ended();
  });

  it("that sets the viewport has an effect", async () => {
    const client = rig.connect("ses_b/live");
    await client.ready();
    client.send({ type: "control.take" });
    const size = { width: 390, height: 844 };
    client.send({ type: "viewport.set", size, scale: 2 });
    await client.settle();
    assert.deepEqual(rig.browser.viewports.splice(0), [{ size, scale: 2 }]);
    client.socket.close();
    await client.ended();
  });

  it("gets the stage only with view.subscribe and stage, and acts on it only with control", async () => {
    const [plain, holder] = [rig.connect("ses_b/live"), rig.connect("ses_b/live")];
    await Promise.all([plain.ready(), holder.ready()]);
    plain.send({ type: "view.subscribe" });
    holder.send({ type: "view.subscribe", stage: true });
    await Promise.all([plain.settle(), holder.settle()]);
    const tab = { id: "1", title: "A page", url: "https://shop.example/", isShown: true };
    const state = { tabs: [tab], isLoading: false, failure: null, widget: null };
    rig.browser.stage(state);
    await holder.until(() => holder.frames.some(({ type }) => type === "stage"));
    const frame = holder.frames.find(({ type }) => type === "stage");
    assert.deepEqual(frame?.type === "stage" && frame.data, state);
    await plain.settle();
    assert.ok(!plain.frames.some(({ type }) => type === "stage"));

    const actions: LiveClientFrame[] = [
      { type: "input.widget", widgetId: "w", answer: { kind: "dialog", isAccepted: true, text: "Ada" } },
      { type: "input.tab", action: "close", tabId: "1" },
      { type: "input.stop" },
    ];
    holder.send({ type: "control.take" });
    await holder.settle();
    for (const action of actions) plain.send(action);
    await plain.settle();
    assert.deepEqual(rig.browser.actions, []);
    for (const action of actions) holder.send(action);
    await holder.settle();
    assert.deepEqual(rig.browser.actions.splice(0), [
      { type: "answer", widgetId: "w", answer: { kind: "dialog", isAccepted: true, text: "Ada" } },
      { type: "closeTab", tabId: "1" },
      { type: "stop" },
    ]);
    for (const client of [plain, holder]) client.socket.close();
    await Promise.all([plain.ended(), holder.ended()]);
  });

  it("that takes control releases the keys and buttons which the previous holder still presses", async () => {
    const [first, second] = [rig.connect("ses_b/live"), rig.connect("ses_b/live")];
    await Promise.all([first.ready(), second.ready()]);
    const press = { action: "down", x: 1, y: 2, button: "left", clickCount: 1, modifiers: 0 } as const;
    first.send({ type: "control.take" });
    first.send({ type: "input.mouse", ...press });
    first.send({ type: "input.key", action: "down", key: "Shift", code: "ShiftLeft", modifiers: 8 });
    await first.settle();
    rig.browser.inputs.splice(0);
    second.send({ type: "control.take" });
    await second.settle();
    assert.deepEqual(rig.browser.inputs.splice(0), [
      { type: "mouse", ...press, action: "up" },
      { type: "key", action: "up", key: "Shift", code: "ShiftLeft", modifiers: 0 },
    ]);
    for (const client of [first, second]) client.socket.close();
    await Promise.all([first.ended(), second.ended()]);
  });

  it("that takes control gives it to its connection, until that releases it, ends, or another one takes it", async () => {
    const [first, second] = [rig.connect("ses_b/live"), rig.connect("ses_b/live")];
    await Promise.all([first.ready(), second.ready()]);
    const isHeld = () => rig.control.holderOf("ses_b") !== undefined;
    first.send({ type: "control.take" });
    await first.settle();
    assert.equal(isHeld(), true);
    second.send({ type: "control.take" });
    await second.settle();
    first.send({ type: "control.release" });
    await first.settle();
    assert.equal(isHeld(), true);
    const late = rig.connect("ses_b/live");
    await late.until(() => late.frames.some(({ type }) => type === "control"));
    second.socket.close();
    await first.until(() => !isHeld());
    const holders = (client: typeof first) =>
      client.frames.flatMap((frame) => (frame.type === "control" ? [frame.data.holder] : []));
    await first.until(() => holders(first).length === 3);
    await late.until(() => holders(late).length === 2);
    assert.deepEqual(holders(first), ["you", "someone", null]);
    assert.deepEqual(holders(second), ["someone", "you"]);
    assert.deepEqual(holders(late), ["someone", null]);
    first.socket.close();
    late.socket.close();
  });

  it("that moves the pointer is answered with the page's cursor, which other connections do not get", async () => {
    const [mover, other] = [rig.connect("ses_b/live"), rig.connect("ses_b/live")];
    await Promise.all([mover.ready(), other.ready()]);
    mover.send({ type: "control.take" });
    const move = {
      type: "input.mouse",
      action: "move",
      y: 2,
      button: "none",
      clickCount: 0,
      modifiers: 0,
    } as const;
    const cursors = () =>
      mover.frames.flatMap((frame) => (frame.type === "cursor" ? [frame.data.cursor] : []));
    mover.send({ ...move, x: 5 });
    await mover.until(() => cursors().length === 1);
    for (const x of [20, 60, 150]) mover.send({ ...move, x });
    await mover.until(() => cursors().length === 2);
    assert.deepEqual(cursors(), ["default", "pointer"]);
    assert.ok(!other.frames.some(({ type }) => type === "cursor"));
    mover.socket.close();
    other.socket.close();
  });
});

describe("control", () => {
  const lastOf = ({ frames }: TestClient) =>
    frames.flatMap((frame) => (frame.type === "control" ? [frame.data] : [])).at(-1);
  const tokenOf = ({ frames }: TestClient) =>
    frames.flatMap((frame) => (frame.type === "control.token" ? [frame.data.token] : [])).at(-1);
  const visit = async (label: string) => {
    const token = await rig.addShare("ses_b", "drive", label);
    return async () => {
      const client = rig.connect("ses_b/live", {});
      await client.opened();
      client.send({ type: "auth", token });
      await client.ready();
      return client;
    };
  };

  it("has the name of the link's label, which all connections are shown", async () => {
    const [ada, bob] = [await (await visit(" Ada\n L. "))(), await (await visit("Bob"))()];
    ada.send({ type: "control.take" });
    await bob.until(() => lastOf(bob)?.name === "Ada L.");
    bob.send({ type: "control.take" });
    await ada.until(() => lastOf(ada)?.holder === "someone");
    assert.equal(lastOf(ada)?.name, "Bob");
    bob.send({ type: "control.release", note: "n".repeat(1_000) });
    await ada.until(() => lastOf(ada)?.holder === null);
    assert.deepEqual([lastOf(ada)?.name, lastOf(ada)?.ended], [null, "given_back"]);
    bob.send({ type: "control.release", note: "n".repeat(1_001) });
    assert.partialDeepStrictEqual(await bob.ended(), { code: 1008 });
    ada.socket.close();
  });

  it("survives a lost connection; only the token of its holder resumes it", async () => {
    rig.browser.inputs.splice(0);
    const connectAda = await visit("Ada again");
    const ada = await connectAda();
    const bob = await (await visit("Bob again"))();
    ada.send({ type: "control.take" });
    await ada.settle();
    const token = tokenOf(ada) ?? "";
    assert.match(token, /^[\w-]{32}$/);
    ada.socket.terminate();
    await bob.until(() => lastOf(bob)?.expiresBecause === "away");
    assert.ok((lastOf(bob)?.expiresAt ?? "") > new Date().toISOString());
    for (const guess of ["x", "con_1"]) bob.send({ type: "control.resume", token: guess });
    bob.send({ type: "input.text", text: "stolen" });
    await bob.settle();
    assert.deepEqual([lastOf(bob)?.holder, tokenOf(bob)], ["someone", undefined]);
    const back = await connectAda();
    back.send({ type: "control.resume", token });
    back.send({ type: "input.text", text: "mine" });
    await back.settle();
    assert.equal(lastOf(back)?.holder, "you");
    assert.notEqual(tokenOf(back), token);
    assert.deepEqual(rig.browser.inputs.splice(0), [{ type: "text", text: "mine" }]);
    back.socket.close();
    await bob.until(() => lastOf(bob)?.holder === null);
    bob.socket.close();
  });

  it("has a countdown when there was no input for long; one frame keeps it, and it ends without", async (t) => {
    const quick = await openLiveRig({ db: rig.db, controlTimes: { idleMs: 600, warnMs: 500 } });
    t.after(quick.close);
    const ada = quick.connect("ses_b/live");
    await ada.ready();
    ada.send({ type: "control.take" });
    await ada.until(() => lastOf(ada)?.expiresBecause === "idle");
    ada.send({ type: "control.keep" });
    await ada.until(() => lastOf(ada)?.expiresBecause === null);
    await ada.until(() => lastOf(ada)?.ended === "idle");
    assert.equal(lastOf(ada)?.holder, null);
    ada.socket.close();
  });

  it("is not taken more than 30 times a minute by one connection, which is told so", async () => {
    const client = rig.connect("ses_b/live");
    await client.ready();
    for (let each = 0; each < 31; each += 1) {
      client.send({ type: "control.take" });
      client.send({ type: "control.release" });
      await client.settle();
    }
    assert.match(lastOf(client)?.problem ?? "", /too often/);
    assert.equal(client.frames.filter(({ type }) => type === "control.token").length, 30);
    client.socket.close();
    await client.ended();
  });

  it("begins when the agent's script has ended; input that is sent meanwhile waits for it", async () => {
    const client = rig.connect("ses_b/live");
    await client.ready();
    const script = rig.browser.leases.beginScript("ses_b");
    client.send({ type: "control.take" });
    client.send({ type: "input.text", text: "early" });
    const { promise, resolve } = Promise.withResolvers<void>();
    script.signal.addEventListener("abort", () => resolve());
    if (!script.signal.aborted) await promise;
    assert.deepEqual([script.interruptedBy(), lastOf(client)?.holder], ["Someone", undefined]);
    script.end();
    await client.settle();
    assert.equal(lastOf(client)?.holder, "you");
    assert.deepEqual(rig.browser.inputs.splice(0), [{ type: "text", text: "early" }]);
    client.socket.close();
    await client.ended();
  });
});

describe("a change of the queue", () => {
  it("is announced to all connections of the session, and to no others", async () => {
    const [one, two, other] = [
      rig.connect("ses_b/live"),
      rig.connect("ses_b/live"),
      rig.connect("ses_c/live"),
    ];
    await Promise.all([one.ready(), two.ready(), other.ready()]);
    rig.hub.queueChanged("ses_b");
    for (const client of [one, two])
      await client.until(() => client.frames.some(({ type }) => type === "queue"));
    await other.settle();
    assert.ok(!other.frames.some(({ type }) => type === "queue"));
    for (const client of [one, two, other]) client.socket.close();
  });
});

describe("the live view", () => {
  it("sends pictures to subscribed connections, until they unsubscribe or close", async () => {
    const [one, two, none] = [1, 2, 3].map(() => rig.connect("ses_c/live"));
    assert.ok(one && two && none);
    await Promise.all([one.ready(), two.ready(), none.ready()]);
    for (const client of [one, one, two]) client.send({ type: "view.subscribe" });
    await Promise.all([one.settle(), two.settle()]);
    assert.equal(rig.browser.watchers(), 2);
    rig.browser.emit(testPicture(7));
    await Promise.all([one, two].map((client) => client.until(() => client.pictures.length === 1)));
    assert.deepEqual(decodeFrame(one.pictures[0] ?? new Uint8Array())?.sequence, 7);
    assert.deepEqual(one.pictures[0], two.pictures[0]);
    rig.browser.point({ kind: "down", x: 3, y: 4 });
    await one.until(() => one.frames.some(({ type }) => type === "pointer"));
    one.send({ type: "view.unsubscribe" });
    await one.settle();
    assert.equal(rig.browser.watchers(), 1);
    two.socket.close();
    await none.until(() => rig.browser.watchers() === 0);
    assert.equal(none.pictures.length, 0);
    one.socket.close();
    none.socket.close();
  });

  it("skips pictures for a slow viewer, and sends the newest once the viewer has caught up", async () => {
    const [slow, fast] = [rig.connect("ses_c/live"), rig.connect("ses_c/live")];
    await Promise.all([slow.ready(), fast.ready()]);
    for (const client of [slow, fast]) {
      client.send({ type: "view.subscribe" });
      await client.settle();
    }
    slow.socket.pause();
    const total = 60;
    for (let sequence = 1; sequence <= total; sequence += 1) {
      rig.browser.emit(testPicture(sequence, 300_000));
      await fast.until(() => fast.pictures.length === sequence);
    }
    slow.socket.resume();
    const sequences = () => slow.pictures.map((picture) => decodeFrame(picture)?.sequence ?? 0);
    await slow.until(() => sequences().at(-1) === total);
    assert.ok(sequences().length < total, `${sequences().length} of ${total} arrived`);
    assert.deepEqual(
      sequences(),
      sequences().toSorted((a, b) => a - b),
    );
    slow.socket.close();
    fast.socket.close();
  });
});

describe("the number of viewers", () => {
  it("is sent to all connections when it changes", async () => {
    const first = rig.connect("ses_d/live");
    await first.ready();
    const second = rig.connect("ses_d/live");
    await second.ready();
    assert.ok(second.frames[0]?.type === "ready");
    assert.equal(second.frames[0].data.watching, 2);
    const numbers = () =>
      first.frames.flatMap((frame) => (frame.type === "watching" ? [frame.data.watching] : []));
    await first.until(() => numbers().length === 1);
    second.socket.close();
    await first.until(() => numbers().length === 2);
    assert.deepEqual(numbers(), [2, 1]);
    assert.equal(second.frames.length, 1);
    assert.equal(rig.hub.watching("ses_d"), 1);
    first.socket.terminate();
    await first.ended();
  });

  it("does not include connections that are not admitted yet", async () => {
    const client = rig.connect("ses_e/live", {});
    await client.opened();
    assert.equal(rig.hub.watching("ses_e"), 0);
    client.socket.close();
    await client.ended();
  });
});

describe("the end of a connection", () => {
  it("follows if its peer answers no pings; connections whose peer answers stay", async (t) => {
    t.mock.timers.enable({ apis: ["setInterval"] });
    let now = 0;
    const strict = await openLiveRig({ now: () => now, db: rig.db });
    t.after(strict.close);
    const [dead, alive] = [strict.connect("ses_a/live"), strict.connect("ses_a/live")];
    await Promise.all([dead.ready(), alive.ready()]);
    dead.socket.pause();
    const playRound = async (elapsedMs: number) => {
      now += elapsedMs;
      t.mock.timers.tick(10_000);
      await alive.settle();
    };
    await playRound(10_000);
    // A ping round that comes late, for example because the process was suspended, must not close any connection.
    await playRound(600_000);
    assert.equal(strict.hub.watching("ses_a"), 2);
    await playRound(10_000);
    await alive.until(() =>
      alive.frames.some((frame) => frame.type === "watching" && frame.data.watching === 1),
    );
    assert.equal(strict.hub.watching("ses_a"), 1);
    await alive.settle();
    dead.socket.terminate();
  });

  it("has the code 1001 if the service stops, which then accepts no more connections", async (t) => {
    const stopping = await openLiveRig({ db: rig.db });
    t.after(stopping.close);
    const client = stopping.connect("ses_a/live");
    await client.ready();
    await stopping.hub.close();
    assert.deepEqual(await client.ended(), { code: 1001, reason: "the service is stopping" });
    const late = await stopping.connect("ses_a/live").ended();
    assert.ok(late && "status" in late && late.status === 503);
  });
});
