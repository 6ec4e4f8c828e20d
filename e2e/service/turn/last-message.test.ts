import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { RecordedRequest } from "#e2e/fixtures/scripted-model/types.ts";
import { openTestService, type TestService, userMessage } from "../testing.ts";

let service: TestService;
before(async () => {
  service = await openTestService({ SANDBOX: "unconfined", AGENT_RETRY_BASE_MS: "20" });
});
after(() => service.close());

const assistantMessage = (text: string) => ({ role: "assistant", parts: [{ type: "text", text }] });

type Item = { role?: string; type?: string; content?: unknown };

/** Returns the items of the conversation that a model call sent. */
const itemsOf = ({ body }: RecordedRequest): Item[] => body.input as Item[];

/** Checks that no request of these to the model ends with a message of the assistant, which is a prefill. */
function assertNoPrefill(requests: RecordedRequest[]): void {
  assert.ok(requests.length > 0);
  for (const request of requests) {
    const last = itemsOf(request).at(-1);
    assert.notEqual(last?.role, "assistant", JSON.stringify(last));
  }
}

describe("a model call", () => {
  it("ends with a user message if the transcript of a new session ends with the assistant's", async () => {
    service.model.requests.length = 0;
    service.model.respondWith(() => ({ text: "Done." }));
    const messages = [userMessage("the task"), assistantMessage("I begin by")];
    const session = await service.create("", { messages });
    await service.completed(session.statusUrl);
    const requests = [...service.model.requests];
    assertNoPrefill(requests);
    const texts = JSON.stringify(itemsOf(requests[0] as RecordedRequest));
    assert.ok(texts.indexOf("the task") < texts.indexOf("I begin by"), "the order of the transcript stays");
    const { data } = await service.read<{ data: { role: string }[] }>(
      `/api/sessions/${session.sessionId}/messages`,
    );
    assert.deepEqual(
      data.map(({ role }) => role),
      ["user", "assistant", "assistant"],
      "the transcript has no message that the caller did not send",
    );

    service.model.requests.length = 0;
    const followUp = await service.call("POST", `/api/sessions/${session.sessionId}/agent/messages`, {
      messages: [userMessage("the next task"), assistantMessage("First")],
    });
    await service.completed((await followUp.json()).statusUrl);
    assertNoPrefill([...service.model.requests]);
  });

  it("ends with a user message if a steer ends with the assistant's", async () => {
    service.model.requests.length = 0;
    const released = Promise.withResolvers<void>();
    service.model.respondWith(({ answersSoFar, userText }) =>
      answersSoFar === 0 && userText === "to be steered"
        ? { toolCalls: [{ name: "list_evidence", arguments: {} }], hold: released.promise }
        : { text: "Done." },
    );
    const session = await service.create("to be steered");
    await service.model.waitForRequest(({ userText }) => userText === "to be steered");
    const steer = await service.call("POST", `/api/sessions/${session.sessionId}/agent/messages`, {
      messages: [userMessage("another way"), assistantMessage("Certainly")],
      mode: "steer",
    });
    assert.equal(steer.status, 202);
    released.resolve();
    await service.completed((await steer.json()).statusUrl);
    const requests = [...service.model.requests];
    assert.ok(requests.some(({ text }) => text.includes("Certainly")));
    assertNoPrefill(requests);
  });

  it("ends with a user message in the retry of a run that failed after the model's answer", async () => {
    service.model.requests.length = 0;
    let failures = 1;
    service.model.respondWith(({ kind }) => {
      if (kind === "structured") return failures-- > 0 ? { status: 503 } : { json: { price: 12 } };
      return { text: "The price is 12." };
    });
    const session = await service.create("look up the price", {
      outputSchema: { type: "object", properties: { price: { type: "number" } }, required: ["price"] },
    });
    await service.completed(session.statusUrl);
    const requests = [...service.model.requests];
    const answered = requests.filter(({ text }) => text.includes("The price is 12."));
    assert.ok(
      answered.some(({ kind }) => kind === "turn"),
      "the retry asks the model again",
    );
    assertNoPrefill(requests);
  });
});
