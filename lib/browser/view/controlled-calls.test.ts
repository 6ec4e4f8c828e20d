import assert from "node:assert/strict";
import { test } from "node:test";
import type { BrowserInput, InputGate } from "../browser-service.ts";
import { DONE, NOT_IN_CONTROL } from "../stage/stage-state.ts";
import { createControlLeases } from "./control-leases.ts";
import { createControlledCalls } from "./controlled-calls.ts";

const SESSION = "ses_a";
const KEY: BrowserInput = { type: "text", text: "x" };
const COPIED = { text: "copied", html: null };
const PASTED = [{ kind: "text", type: "text/plain", text: "pasted" }] as const;
const SIZE = { size: { width: 390, height: 844 }, scale: 1 };

/** Creates calls to browsers that write down what reaches them. A gate is asked when the browser is up. */
function openCalls() {
  const reached: string[] = [];
  const isUp = Promise.withResolvers<void>();
  async function reach(what: string, mayPass?: InputGate): Promise<boolean> {
    await isUp.promise;
    if (mayPass && !mayPass(KEY)) return false;
    reached.push(what);
    return true;
  }
  const control = createControlLeases({
    hostId: "bh_1",
    input: async () => {},
    readField: async () => null,
    addressOf: () => null,
    onChange: () => {},
    onTaken: () => {},
    onEnded: () => {},
  });
  const link = {};
  const calls = createControlledCalls({
    control: { ...control, beforeInput: () => undefined },
    via: () => link,
    browsers: async () => ({
      input: async (_, _input, mayPass) => void (await reach("input", mayPass)),
      copy: async (_, action, mayPass) => ((await reach(action, mayPass)) ? COPIED : null),
      paste: async (_, _items, mayPass) => ((await reach("paste", mayPass)) ? DONE : NOT_IN_CONTROL),
      setViewport: async () => void (await reach("viewport")),
      act: async () => ((await reach("act")) ? DONE : NOT_IN_CONTROL),
    }),
  });
  const callAll = async (connectionId: string) => [
    await calls.drive(SESSION, connectionId, KEY),
    await calls.copy(SESSION, connectionId, "copy"),
    await calls.paste(SESSION, connectionId, PASTED),
    await calls.setViewport(SESSION, connectionId, SIZE),
    await calls.act(SESSION, connectionId, { type: "stop" }),
  ];
  return {
    calls,
    reached,
    callAll,
    start: isUp.resolve,
    take: (connectionId: string) =>
      calls.control(SESSION, { type: "take", connectionId, name: connectionId }),
    close: control.close,
  };
}

test("every call of a connection with control reaches the browser, and none of another connection", async () => {
  const own = openCalls();
  own.start();
  await own.take("con_1");
  const refused = [undefined, null, NOT_IN_CONTROL, undefined, NOT_IN_CONTROL];
  assert.deepEqual(await own.callAll("con_2"), refused);
  assert.deepEqual(own.reached, []);
  assert.deepEqual(await own.callAll("con_1"), [undefined, COPIED, DONE, undefined, DONE]);
  assert.deepEqual(own.reached, ["input", "copy", "paste", "viewport", "act"]);
  await own.calls.control(SESSION, { type: "give_back", connectionId: "con_1", note: null });
  assert.deepEqual(await own.callAll("con_1"), refused);
  own.close();
});

test("input that waits for the browser is dropped if its connection loses control meanwhile", async () => {
  const own = openCalls();
  await own.take("con_1");
  const waiting = Promise.all([
    own.calls.drive(SESSION, "con_1", KEY),
    own.calls.copy(SESSION, "con_1", "cut"),
    own.calls.paste(SESSION, "con_1", PASTED),
  ]);
  await own.take("con_2");
  own.start();
  await waiting;
  assert.deepEqual(own.reached, []);
  own.close();
});
