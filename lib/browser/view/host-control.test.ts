import assert from "node:assert/strict";
import { test } from "node:test";
import type { PageEvent } from "../browser-records.ts";
import type { ViewportChange } from "../browser-service.ts";
import { createHostControl } from "./host-control.ts";

const SESSION = "ses_a";

function openControl() {
  const viewports: ViewportChange[] = [];
  const events: PageEvent[] = [];
  const control = createHostControl({
    hostId: "bh_1",
    browsers: () => ({
      input: async () => {},
      setViewport: async (_, change) => void viewports.push(change),
      readField: async () => "Name",
      addressOf: () => "https://shop.example/",
      listLive: () => [],
    }),
    onChange: () => {},
    isHandedOver: async () => false,
    handoverPages: () => undefined,
    emit: async (_, event) => void events.push(event),
    logger: { debug: () => {} },
  });
  const request = (type: "take" | "give_back", name: string) =>
    control.request(
      SESSION,
      type === "take" ? { type, connectionId: name, name } : { type, connectionId: name, note: "Go on." },
      control,
    );
  return { control, viewports, events, request };
}

test("when control ends, the pictures are as sharp as before, and the page keeps its size", async () => {
  const { control, viewports, request } = openControl();
  await request("take", "Ada");
  assert.deepEqual(viewports, []);
  await request("give_back", "Ada");
  assert.deepEqual(viewports, [{ size: null, scale: 1 }]);
  control.close();
});

test("the model is told once what each person did, and the events are in order", async () => {
  const { control, events, request } = openControl();
  assert.equal(await control.takeNote(SESSION), undefined);
  await request("take", "Ada");
  control.admit(SESSION, "Ada", control)?.({ type: "text", text: "secret" });
  await request("take", "Bob");
  await request("give_back", "Bob");
  const [ada = "", bob = "", ...others] = (await control.takeNote(SESSION))?.split("\n") ?? [];
  assert.match(ada, /^"Ada", a person, .* lost it to "Bob": filled "Name"; /);
  assert.match(bob, /^"Bob", a person, .* gave it back: .* "Go on\."$/);
  assert.deepEqual(others, []);
  assert.equal(await control.takeNote(SESSION), undefined);
  // Events are stored one after the other, in the background.
  await new Promise(setImmediate);
  assert.deepEqual(
    events.map((event) => [event.kind, "name" in event && event.name]),
    [
      ["control.taken", "Ada"],
      ["control.ended", "Ada"],
      ["control.taken", "Bob"],
      ["control.ended", "Bob"],
    ],
  );
  assert.doesNotMatch(JSON.stringify(events), /secret/);
  control.close();
});
