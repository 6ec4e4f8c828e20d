import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import type { BrowserInput } from "../browser-service.ts";
import { createControlLeases } from "./control-leases.ts";
import type { ControlRecord, ControlState } from "./control-state.ts";

const TIMES = { awayMs: 30_000, idleMs: 120_000, warnMs: 30_000, scriptEndMs: 5_000 };
const SESSION = "ses_a";
const LINK = {};

/** Creates the control of a host, with a clock that the test moves. */
function openLeases({ mock }: TestContext) {
  mock.timers.enable({ apis: ["setTimeout"] });
  let now = 1_000_000;
  const states: ControlState[] = [];
  const sent: BrowserInput[] = [];
  const ended: Promise<ControlRecord>[] = [];
  const taken: { name: string; from: string | null }[] = [];
  const focus = { field: null as string | null };
  const leases = createControlLeases({
    hostId: "bh_1",
    input: async (_, input) => void sent.push(input),
    readField: async () => focus.field,
    addressOf: () => "https://shop.example/checkout",
    onChange: (state) => states.push(state),
    onTaken: (_, take) => taken.push(take),
    onEnded: (_, record) => void ended.push(record),
    times: TIMES,
    nowMs: () => now,
  });
  return {
    leases,
    states,
    sent,
    taken,
    focus,
    last: () => states.at(-1),
    records: () => Promise.all(ended),
    pass(ms: number) {
      now += ms;
      mock.timers.tick(ms);
    },
    take: async (connectionId: string, name = connectionId, via: object = LINK) =>
      (await leases.request(SESSION, { type: "take", connectionId, name }, via)).secret,
    send(connectionId: string, input: BrowserInput = text("x")) {
      const isPassed = leases.admit(SESSION, connectionId, LINK)?.(input) === true;
      if (isPassed) sent.push(input);
      return isPassed;
    },
  };
}
const text = (typed: string): BrowserInput => ({ type: "text", text: typed });
const press = (action: "down" | "up"): BrowserInput => ({
  type: "mouse",
  action,
  x: 1,
  y: 2,
  button: "left",
  clickCount: 1,
  modifiers: 0,
});

describe("control of a browser", () => {
  test("is with the connection that took it last, and only that one's input passes", async (t) => {
    const own = openLeases(t);
    assert.equal(own.send("con_1"), false);
    await own.take("con_1", "Ada");
    assert.deepEqual([own.send("con_1"), own.send("con_2")], [true, false]);
    await own.take("con_2", "Bob");
    assert.deepEqual([own.send("con_1"), own.send("con_2")], [false, true]);
    // A late release of the former holder changes nothing.
    await own.leases.request(SESSION, { type: "give_back", connectionId: "con_1", note: null }, LINK);
    assert.equal(own.leases.holderOf(SESSION), "con_2");
    assert.deepEqual(own.taken, [
      { name: "Ada", from: null },
      { name: "Bob", from: "Ada" },
    ]);
    assert.deepEqual(
      own.states.map(({ holder }) => holder?.name),
      ["Ada", "Bob"],
    );
  });

  test("that is taken again by its holder changes nothing", async (t) => {
    const own = openLeases(t);
    assert.ok(await own.take("con_1"));
    assert.equal(await own.take("con_1"), null);
    assert.equal(own.states.length, 1);
  });

  test("passes no input that was admitted before it ended", async (t) => {
    const own = openLeases(t);
    await own.take("con_1");
    const gate = own.leases.admit(SESSION, "con_1", LINK);
    await own.take("con_2");
    assert.equal(gate?.(text("late")), false);
  });

  test("that ends releases what its holder still presses, before anything of the next holder", async (t) => {
    const own = openLeases(t);
    await own.take("con_1");
    own.send("con_1", press("down"));
    await own.take("con_2");
    own.send("con_2", text("b"));
    assert.deepEqual(own.sent, [press("down"), press("up"), text("b")]);
  });

  test("goes back to the agent after two minutes without input; a countdown of 30 s comes first", async (t) => {
    const own = openLeases(t);
    await own.take("con_1", "Ada");
    own.pass(80_000);
    own.send("con_1");
    own.pass(89_999);
    assert.equal(own.last()?.holder?.expiry, null);
    own.pass(1);
    assert.equal(own.last()?.holder?.expiry?.reason, "idle");
    own.pass(29_999);
    assert.equal(own.leases.holderOf(SESSION), "con_1");
    own.pass(1);
    assert.deepEqual([own.last()?.holder, own.last()?.ended], [null, "idle"]);
    assert.equal((await own.records())[0]?.reason, "idle");
  });

  test("is kept by one request during the countdown, or by input", async (t) => {
    const own = openLeases(t);
    await own.take("con_1");
    for (const keep of [
      () => own.leases.request(SESSION, { type: "keep", connectionId: "con_1" }, LINK),
      async () => own.send("con_1"),
    ]) {
      own.pass(100_000);
      assert.equal(own.last()?.holder?.expiry?.reason, "idle");
      await keep();
      assert.equal(own.last()?.holder?.expiry, null);
    }
    // No other connection can keep it.
    own.pass(100_000);
    await own.leases.request(SESSION, { type: "keep", connectionId: "con_2" }, LINK);
    own.pass(20_000);
    assert.equal(own.leases.holderOf(SESSION), undefined);
  });

  test("survives 30 s without the connection; only the secret of its holder resumes it, once", async (t) => {
    const own = openLeases(t);
    const secret = (await own.take("con_1", "Ada")) ?? "";
    own.send("con_1", press("down"));
    await own.leases.request(SESSION, { type: "leave", connectionId: "con_1", reason: null }, LINK);
    assert.deepEqual(own.sent, [press("down"), press("up")], "nothing stays pressed");
    assert.equal(own.last()?.holder?.expiry?.reason, "away");
    own.pass(29_000);
    const resume = async (connectionId: string, given: string) =>
      (await own.leases.request(SESSION, { type: "resume", connectionId, name: "Ada", secret: given }, LINK))
        .secret;
    assert.equal(await resume("con_3", "guessed"), null);
    assert.equal(await resume("con_3", "con_1"), null, "the id of a connection is no secret");
    assert.equal(own.send("con_3"), false);
    const next = await resume("con_2", secret);
    assert.ok(next && next !== secret);
    assert.deepEqual([own.leases.holderOf(SESSION), own.last()?.holder?.expiry], ["con_2", null]);
    assert.equal(own.send("con_2"), true);
    assert.equal(await resume("con_3", secret), null, "a secret works once");
    assert.equal(own.leases.holderOf(SESSION), "con_2");
    await own.leases.request(SESSION, { type: "leave", connectionId: "con_2", reason: null }, LINK);
    own.pass(30_000);
    assert.deepEqual([own.last()?.holder, own.last()?.ended], [null, "away"]);
    assert.equal(await resume("con_4", next), null, "the control has ended");
  });

  test("whose process is gone counts as away, and stays if the connection reports itself again", async (t) => {
    const own = openLeases(t);
    const [first, second] = [{}, {}];
    await own.take("con_1", "Ada", first);
    own.leases.forgetLink(second);
    assert.equal(own.last()?.holder?.expiry, null);
    own.leases.forgetLink(first);
    assert.equal(own.last()?.holder?.expiry?.reason, "away");
    await own.leases.request(SESSION, { type: "stay", connectionId: "con_1" }, second);
    assert.equal(own.last()?.holder?.expiry, null);
    own.leases.forgetLink(first);
    own.pass(60_000);
    assert.equal(own.leases.holderOf(SESSION), "con_1");
  });

  test("ends at once if the person closes the connection on purpose, or lost access", async (t) => {
    const own = openLeases(t);
    for (const reason of ["given_back", "revoked"] as const) {
      await own.take("con_1");
      await own.leases.request(SESSION, { type: "leave", connectionId: "con_1", reason }, LINK);
      assert.deepEqual([own.last()?.holder, own.last()?.ended], [null, reason]);
    }
  });

  test("interrupts the agent's script, and begins when nothing of the script reaches the page any more", async (t) => {
    const own = openLeases(t);
    const script = own.leases.beginScript(SESSION);
    const taking = own.take("con_1", "Ada");
    assert.equal(script.signal.aborted, true);
    assert.equal(script.interruptedBy(), "Ada");
    assert.deepEqual([own.send("con_1"), own.states.length], [false, 0]);
    // A script that wants to begin now is interrupted at once.
    const next = own.leases.beginScript(SESSION);
    assert.equal(next.interruptedBy(), "Ada");
    next.end();
    script.end();
    assert.ok(await taking);
    assert.equal(own.send("con_1"), true);
    assert.equal(own.leases.beginScript("ses_b").interruptedBy(), undefined, "of another session");
  });

  test("that waits for a script goes to the newest take, and to none if the person leaves", async (t) => {
    const own = openLeases(t);
    const script = own.leases.beginScript(SESSION);
    const [first, second] = [own.take("con_1"), own.take("con_2")];
    script.end();
    assert.equal(await first, null);
    assert.ok(await second);
    assert.deepEqual(
      own.states.map(({ holder }) => holder?.connectionId),
      ["con_2"],
    );
    await own.leases.request(SESSION, { type: "give_back", connectionId: "con_2", note: null }, LINK);
    const other = own.leases.beginScript(SESSION);
    const third = own.take("con_3");
    await own.leases.request(SESSION, { type: "leave", connectionId: "con_3", reason: null }, LINK);
    other.end();
    assert.equal(await third, null);
    assert.equal(own.leases.holderOf(SESSION), undefined);
  });

  test("is recorded with clicks, names of fields, the address and the note, and never with a value", async (t) => {
    const own = openLeases(t);
    await own.take("con_1", "Ada");
    own.send("con_1", press("down"));
    own.send("con_1", press("up"));
    own.focus.field = "Email";
    own.send("con_1", text("ada@example.com"));
    await Promise.resolve();
    own.send("con_1", press("down"));
    own.focus.field = "Password";
    own.send("con_1", { type: "key", action: "down", key: "s", code: "KeyS", modifiers: 0 });
    own.send("con_1", { type: "key", action: "up", key: "s", code: "KeyS", modifiers: 0 });
    await Promise.resolve();
    own.send("con_1", { type: "key", action: "down", key: "Tab", code: "Tab", modifiers: 0 });
    own.focus.field = "Newsletter";
    await own.leases.request(SESSION, { type: "give_back", connectionId: "con_1", note: "Log in now" }, LINK);
    assert.deepEqual(await own.records(), [
      {
        name: "Ada",
        reason: "given_back",
        takenBy: null,
        note: "Log in now",
        address: "https://shop.example/checkout",
        fields: ["Email", "Password"],
        clicks: 2,
      },
    ]);
  });

  test("lets one write at a time, of 1,000 inputs of two people and the agent that reach the page late", async (t) => {
    const own = openLeases(t);
    /** What the page got, and who had control when it did. */
    const log: string[] = [];
    const late: Promise<void>[] = [];
    let random = 7;
    const draw = (below: number) => {
      random = (random * 1_103_515_245 + 12_345) % 2 ** 31;
      return Math.floor((random / 2 ** 31) * below);
    };
    const turns = async (count: number) => {
      for (let turn = 0; turn < count; turn += 1) await Promise.resolve();
    };
    async function runScript(): Promise<void> {
      const script = own.leases.beginScript(SESSION);
      while (!script.signal.aborted) {
        log.push("agent");
        await turns(draw(4));
      }
      // Its last input is under way when it is interrupted.
      log.push("agent");
      await turns(draw(20));
      script.end();
    }
    for (let input = 0; input < 1_000; input += 1) {
      const connectionId = draw(2) === 0 ? "ada" : "bob";
      if (draw(10) === 0) late.push(own.take(connectionId).then(() => {}));
      if (draw(40) === 0) {
        const note = { type: "give_back", note: null } as const;
        for (const id of ["ada", "bob"])
          await own.leases.request(SESSION, { ...note, connectionId: id }, LINK);
        void runScript();
      }
      const gate = own.leases.admit(SESSION, connectionId, LINK);
      late.push(turns(draw(10)).then(() => void (gate?.(text("x")) && log.push(connectionId))));
      if (draw(3) === 0) await turns(draw(30));
    }
    await own.take("ada");
    await Promise.all(late);
    const grants = own.states.map(({ holder }) => holder?.connectionId ?? "agent");
    const parts = log.filter((writer, at) => writer !== log[at - 1]);
    assert.ok(["ada", "bob", "agent"].every((writer) => parts.includes(writer)));
    let from = 0;
    for (const writer of parts) {
      const found = ["agent", ...grants].indexOf(writer, from);
      assert.notEqual(found, -1, `${parts.join(" ")} does not follow ${grants.join(" ")}`);
      from = found;
    }
  });

  test("of many sessions is forgotten when it is free, up to a number", async (t) => {
    const own = openLeases(t);
    for (let each = 0; each < 3_000; each += 1)
      await own.leases.request(`ses_${each}`, { type: "keep", connectionId: "con_1" }, LINK);
    const known = Array.from({ length: 3_000 }, (_, each) => own.leases.stateOf(`ses_${each}`));
    assert.equal(known.filter((state) => state !== undefined).length, 1_001);
    assert.ok(known.at(-1));
  });

  test("can be waited for until it is free, the timeout or an abort", async (t) => {
    const own = openLeases(t);
    const never = new AbortController().signal;
    assert.equal(await own.leases.untilFree(SESSION, 0, never), true);
    await own.take("con_1");
    const late = own.leases.untilFree(SESSION, 1, never);
    own.pass(1);
    assert.equal(await late, false);
    assert.equal(await own.leases.untilFree(SESSION, 60_000, AbortSignal.abort()), false);
    const free = own.leases.untilFree(SESSION, 60_000, never);
    own.leases.drop(SESSION);
    assert.equal(await free, true);
  });
});
