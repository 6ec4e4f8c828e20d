import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { assistant, fill, user } from "../compaction/testing.ts";
import { referToPicture } from "../prompt/show-pictures.ts";
import {
  estimateMessage,
  estimateMessageTokens,
  estimateTokens,
  estimateTools,
  PICTURE_TOKENS,
} from "./estimate-tokens.ts";
import type { HistoryMessage } from "./history-entry.ts";
import { createPromptMeter } from "./prompt-meter.ts";

const pictured = (count: number): HistoryMessage => ({
  role: "tool",
  content: [
    {
      type: "tool-result",
      toolCallId: "c",
      toolName: "screenshot",
      output: {
        type: "content",
        value: Array.from({ length: count }, (_, index) => referToPicture(`ev_${index}`, "image/png")),
      },
    },
  ],
});

describe("the estimate", () => {
  it("counts bytes, so that it fits text in any script", () => {
    assert.equal(estimateTokens(""), 0);
    assert.equal(estimateTokens("a".repeat(350)), 100);
    assert.ok(estimateTokens("日本語".repeat(100)) > 250);
  });

  it("reads a message only once", () => {
    const message = assistant("text", ["c", { long: fill("input", 700) }]);
    assert.equal(estimateMessage(message), estimateMessage(message));
    assert.ok(estimateMessage(message).tokens > 200);
  });

  it("counts a picture at a fixed size, and only as many as are shown", () => {
    const [message, bare] = [pictured(6), pictured(0)];
    assert.equal(estimateMessageTokens([message], 4) - estimateMessageTokens([bare], 4), 4 * PICTURE_TOKENS);
    assert.equal(estimateMessageTokens([message], 0), estimateMessageTokens([bare], 0));
  });

  it("counts tool definitions with their schemas", () => {
    const definition = {
      type: "function" as const,
      name: "look",
      description: fill("what it does", 700),
      inputSchema: { type: "object" as const, properties: { [fill("name", 700)]: {} } },
    };
    const tokens = estimateTools(new Map([["look", { definition, input: z.unknown() }]]));
    assert.ok(tokens > 400 && tokens < 500, `${tokens}`);
  });
});

describe("createPromptMeter", () => {
  const prompt = (messages: HistoryMessage[]) => ({
    instructions: fill("how", 3_500),
    tools: new Map(),
    messages,
  });
  const first = user(fill("task", 3_500));
  const second = assistant(fill("answer", 3_500));

  it("estimates everything until the provider has reported", () => {
    assert.equal(createPromptMeter(4).count(prompt([first])), 2_006);
    assert.equal(createPromptMeter(4).count(prompt([])), 1_000);
  });

  it("uses the reported count, and estimates only later messages", () => {
    const meter = createPromptMeter(4);
    meter.report(prompt([first]), 3_009);
    assert.equal(meter.count(prompt([first])), 3_009);
    assert.equal(meter.count(prompt([first, second])), 3_009 + 1_509);
  });

  it("estimates a compacted history at the ratio of the last report", () => {
    const meter = createPromptMeter(4);
    meter.report(prompt([first, second]), 1.5 * 3_012);
    assert.equal(meter.count(prompt([user("summary")])), Math.ceil(1.5 * (1_000 + 6 + 2)));
  });

  it("limits the ratio that a provider's hidden additions to a short prompt cause", () => {
    const meter = createPromptMeter(4);
    meter.report(prompt([first]), 40_000);
    assert.equal(meter.count(prompt([first, second])), 40_000 + 2 * 1_006);
  });

  for (const reports of ["that it believes", "of zero"])
    it(`reads no message twice, however long the history grows, with reports ${reports}`, () => {
      const meter = createPromptMeter(4);
      const messages: HistoryMessage[] = [first];
      let messagesRead = 0;
      for (let step = 0; step < 300; step++) {
        messages.push(step % 2 === 0 ? assistant(`step ${step}`) : pictured(1));
        // Counts the messages that the meter takes through `slice`.
        const watched = Object.assign([...messages], {
          slice: (from?: number) => {
            const part = messages.slice(from);
            messagesRead += part.length;
            return part;
          },
        });
        meter.count(prompt(watched));
        meter.report(prompt(watched), reports === "of zero" ? 0 : 4_000 + step * 10);
      }
      assert.ok(messagesRead <= 4 * 300, `${messagesRead} messages`);
      const estimate = createPromptMeter(4).count(prompt(messages));
      assert.equal(meter.count(prompt(messages)), reports === "of zero" ? estimate : 4_000 + 2_990);
    });

  it("ignores a report without cached tokens, and a report of zero", () => {
    const meter = createPromptMeter(4);
    meter.report(prompt([first]), 0);
    meter.report(prompt([first]), 300);
    assert.equal(meter.count(prompt([first])), 2_006);
  });
});
