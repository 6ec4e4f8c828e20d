import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { estimateMessageTokens } from "../history/estimate-tokens.ts";
import { createHistory as createTurnHistory } from "../history/history.ts";
import { applyCompaction, type HistoryEntry, type HistoryMessage } from "../history/history-entry.ts";
import { insertSummary } from "./summary-plan.ts";
import {
  assistant,
  createHistory,
  createRandom,
  fill,
  messagesOf,
  plan,
  type Random,
  result,
  user,
} from "./testing.ts";

type Plan = ReturnType<typeof plan>;

/** Returns the history after a plan was carried out. If the plan needs a summary, the summary has the maximum length. */
function carryOut(entries: readonly HistoryEntry[], planned: Plan): HistoryEntry[] {
  if (planned.kind === "offload") return applyCompaction(entries, planned.compaction);
  if (planned.kind !== "summarize") return [...entries];
  const text = fill("summary", planned.summary.summaryTokens * 4);
  return applyCompaction(entries, insertSummary(planned.summary, text));
}

const resultsOf = (messages: HistoryMessage[]) =>
  messages.flatMap((message) => (message.role === "tool" ? message.content : []));
const textOf = (message: HistoryMessage | undefined) => JSON.stringify(message?.content);

describe("planCompaction", () => {
  it("does nothing below 80 % of the budget", () => {
    const history = createHistory();
    history.add(user(fill("task", 27_000)));
    assert.deepEqual(plan({ entries: history.entries }), { kind: "none" });
    assert.deepEqual(plan({ entries: [] }), { kind: "none" });
  });

  it("offloads old tool results first, and says how to read them again", () => {
    const history = createHistory();
    history.add(user("the task"));
    for (let index = 0; index < 8; index++) {
      history.add(assistant("looking", [`c${index}`]));
      history.add(result(`c${index}`, fill("page", 4_000)));
    }
    const planned = plan({ entries: history.entries });
    assert.equal(planned.kind, "offload");
    const after = messagesOf(carryOut(history.entries, planned));
    assert.equal(after.length, 17);
    assert.match(
      textOf(after[2]),
      /\[Left out to make room: the result of look, 4,000 characters; read_tool_result with resultId res_c0 shows it again\.\]/,
    );
    assert.equal(after.at(-1), messagesOf(history.entries).at(-1));
    assert.ok(planned.tokensAfter <= 5_000 && planned.tokensBefore > 8_000);
    assert.ok(planned.messagesReplaced > 0 && planned.messagesReplaced < 8);
  });

  it("does not name read_tool_result to a session without it", () => {
    const history = createHistory();
    for (let index = 0; index < 8; index++)
      history.add(assistant("looking", [`c${index}`]), result(`c${index}`, fill("page", 4_000)));
    const planned = plan({ entries: history.entries, canReadOn: false });
    assert.equal(planned.kind, "offload");
    assert.doesNotMatch(JSON.stringify(planned), /read_tool_result/);
  });

  it("summarizes if offloading is not enough, and keeps the task, the steers and the recent messages", () => {
    const history = createHistory();
    history.add(user("an earlier request"));
    history.add(assistant(fill("an earlier answer", 6_000)));
    const requestFrom = history.add(user("the task"));
    for (let index = 0; index < 12; index++) history.add(assistant(fill(`thought ${index}`, 2_000)));
    history.add(user("a steer"));
    for (let index = 12; index < 16; index++) history.add(assistant(fill(`thought ${index}`, 2_000)));
    const planned = plan({ entries: history.entries, requestFrom }, 0.9);
    assert.equal(planned.kind, "summarize");
    assert.deepEqual(planned.summary.task.map(textOf), ['"the task"', '"a steer"']);
    const after = messagesOf(carryOut(history.entries, planned));
    assert.deepEqual(after[0], { role: "user", content: "the task", position: requestFrom });
    const summary = after.find(({ isSummary }) => isSummary);
    assert.match(textOf(summary), /Written by this service, not by the user/);
    assert.equal(after.filter((message) => textOf(message) === '"a steer"').length, 1);
    assert.equal(after.at(-1), messagesOf(history.entries).at(-1));
    assert.doesNotMatch(JSON.stringify(after), /an earlier/);
    assert.ok(planned.tokensAfter <= 5_000);
  });

  it("passes on the previous summary separately from the messages to summarize", () => {
    const history = createHistory();
    const requestFrom = history.add(user("the task"));
    const think = (count: number) => {
      for (let index = 0; index < count; index++) history.add(assistant(fill(`thought ${index}`, 2_000)));
    };
    think(16);
    const first = plan({ entries: history.entries, requestFrom });
    assert.equal(first.kind, "summarize");
    history.entries = applyCompaction(history.entries, insertSummary(first.summary, "what was found first"));
    think(16);
    const second = plan({ entries: history.entries, requestFrom });
    assert.equal(second.kind, "summarize");
    assert.equal(second.summary.previousSummary, "what was found first");
    assert.equal(
      second.summary.messages.some(({ isSummary }) => isSummary),
      false,
    );
    const after = messagesOf(carryOut(history.entries, second));
    assert.equal(after.filter(({ isSummary }) => isSummary).length, 1);
    assert.equal(after.filter((message) => textOf(message) === '"the task"').length, 1);
  });

  it("treats the task of an earlier request like any other message", () => {
    const history = createHistory();
    const requestFrom = history.add(user("the first task"));
    for (let index = 0; index < 16; index++) history.add(assistant(fill(`thought ${index}`, 2_000)));
    const first = plan({ entries: history.entries, requestFrom });
    history.entries = carryOut(history.entries, first);
    const later = history.add(user("the second task"));
    for (let index = 0; index < 16; index++) history.add(assistant(fill(`thought ${index}`, 2_000)));
    const second = plan({ entries: history.entries, requestFrom: later });
    const after = messagesOf(carryOut(history.entries, second)).map(textOf);
    assert.equal(after.includes('"the first task"'), false);
    assert.equal(after.includes('"the second task"'), true);
  });

  it("keeps the last user messages of a long first transcript", () => {
    const history = createHistory();
    const lines = Array.from({ length: 20 }, (_, index) => [
      user(fill(`question ${index}`, 1_000)),
      assistant(fill(`answer ${index}`, 1_000)),
    ]).flat();
    history.add(...lines, user("the task"));
    const planned = plan({ entries: history.entries, requestFrom: 10 });
    assert.equal(planned.kind, "summarize");
    assert.deepEqual(planned.summary.task.map(textOf), ['"the task"']);
    const after = messagesOf(carryOut(history.entries, planned));
    assert.equal(textOf(after.at(-1)), '"the task"');
  });

  it("never separates a call from its results, even with several calls and steps and a steer between them", () => {
    const history = createHistory();
    history.add(user("the task"));
    history.add(assistant(fill("thought", 20_000)));
    history.add(assistant("looking", ["a"], ["b"], ["c"]));
    history.add(result("b", fill("page", 3_000)));
    history.add(user("a steer"));
    history.add(result("a", fill("page", 3_000)));
    history.add(result("c", fill("page", 3_000)));
    const planned = plan({ entries: history.entries });
    assert.equal(planned.kind, "summarize");
    const after = messagesOf(carryOut(history.entries, planned));
    assertWhole(messagesOf(history.entries), after, true);
  });

  it("cuts the results of a newest exchange that is larger than the budget", () => {
    const history = createHistory();
    history.add(user("the task"));
    history.add(assistant("looking", ...Array.from({ length: 20 }, (_, index) => [`c${index}`] as [string])));
    for (let index = 0; index < 20; index++) history.add(result(`c${index}`, fill("page", 11_000)));
    const planned = plan({ entries: history.entries });
    assert.equal(planned.kind, "offload");
    const after = messagesOf(carryOut(history.entries, planned));
    assertWhole(messagesOf(history.entries), after, true);
    assert.ok(planned.tokensAfter <= 8_000);
    assert.match(
      textOf(after[5]),
      /characters left out to make room; read on with read_tool_result, resultId res_c3, offset 700 /,
    );
    assert.equal(plan({ entries: carryOut(history.entries, planned) }).kind, "none");
  });

  it("reports that compaction is impossible if the task alone is larger than the budget", () => {
    const history = createHistory();
    history.add(user(fill("task", 60_000)));
    const planned = plan({ entries: history.entries });
    assert.equal(planned.kind, "impossible");
    assert.match(planned.message, /about 17\d\d\d tokens, and the budget is 10000/);
  });

  it("reports that compaction is impossible before it plans a summary that would not help", () => {
    const history = createHistory();
    history.add(user("the task"));
    for (let index = 0; index < 8; index++) history.add(assistant(fill(`thought ${index}`, 2_000)));
    assert.equal(plan({ entries: history.entries, overheadTokens: 10_200 }).kind, "impossible");
  });

  it("starts later if instructions and tools take most of the budget", () => {
    const history = createHistory();
    history.add(user(fill("task", 1_000)));
    assert.equal(plan({ entries: history.entries, overheadTokens: 8_200 }).kind, "none");
  });

  it("adds a result to the unanswered call of a stopped turn when it becomes part of a compaction", () => {
    const history = createHistory();
    history.add(user("the task"));
    history.add(assistant("looking", ["stopped"], ["done"]));
    history.add(result("done", fill("page", 20_000)));
    history.add(user("again"));
    for (let index = 0; index < 3; index++) {
      history.add(assistant("looking", [`c${index}`]));
      history.add(result(`c${index}`, fill("page", 6_000)));
    }
    const planned = plan({ entries: history.entries });
    assert.equal(planned.kind, "offload");
    const after = createTurnHistory(carryOut(history.entries, planned)).messages;
    assert.deepEqual(
      resultsOf([...after]).map((part) => "toolCallId" in part && part.toolCallId),
      ["done", "stopped", "c0", "c1", "c2"],
    );
    assert.match(textOf(after[3]) ?? "", /was not executed/);
    assert.equal(textOf(after[4]), '"again"');
  });

  it("finds nothing to do in the compacted history that is rebuilt from the steps", () => {
    const history = createHistory();
    const requestFrom = history.add(user("the task"));
    const steps: Parameters<typeof createTurnHistory>[0] = [...history.entries];
    for (let index = 0; index < 40; index++) {
      const messages = [
        assistant(fill(`thought ${index}`, 600), [`c${index}`]),
        result(`c${index}`, fill("page", 3_000)),
      ];
      steps.push({ position: history.add(...messages), messages });
      const planned = plan({ entries: history.entries, requestFrom });
      if (planned.kind === "none") continue;
      history.entries = carryOut(history.entries, planned);
      const [compacted] = history.entries;
      // The step that records the compaction takes a position, too.
      if (compacted)
        steps.push({
          position: history.skip(),
          messages: compacted.messages,
          replacesThrough: compacted.position,
        });
    }
    const through = Math.max(...steps.map(({ replacesThrough }) => replacesThrough ?? 0));
    const rebuilt = createTurnHistory(steps.filter(({ position }) => position > through));
    assert.deepEqual(rebuilt.entries, history.entries);
    assert.deepEqual(
      plan({ entries: rebuilt.entries, requestFrom }),
      plan({ entries: history.entries, requestFrom }),
    );
  });

  it("leaves old pictures, reasoning and long inputs out, and names the pictures", () => {
    const history = createHistory();
    history.add({
      role: "assistant",
      content: [
        { type: "reasoning", text: fill("hm", 2_000) },
        { type: "tool-call", toolCallId: "p", toolName: "screenshot", input: { html: fill("<p>", 9_000) } },
      ],
    });
    history.add({
      role: "tool",
      content: [
        {
          type: "tool-result",
          toolCallId: "p",
          toolName: "screenshot",
          output: {
            type: "content",
            value: [
              { type: "text", text: "seen" },
              { type: "text", text: "evidence:ev_1;image/png" },
            ],
          },
        },
      ],
    });
    history.add(assistant(fill("thought", 14_000)));
    history.add(assistant("done"));
    const planned = plan({ entries: history.entries }, 1.05);
    assert.equal(planned.kind, "offload");
    const [call, shown] = planned.compaction.messages;
    assert.ok((textOf(call)?.length ?? 0) < 600);
    assert.doesNotMatch(textOf(call) ?? "", /reasoning/);
    assert.match(textOf(shown) ?? "", /seen\\n\[picture ev_1, not shown again\]/);
  });
});

describe("planCompaction, for any history", () => {
  for (let seed = 1; seed <= 150; seed++) {
    it(`seed ${seed}: keeps calls with their results, the task and the newest exchange, and is idempotent`, () => {
      const random = createRandom(seed);
      const { entries, requestFrom } = makeHistory(random);
      const overheadTokens = random.below(3_000);
      const factor = 0.5 + random.next() * 1.5;
      const size = (estimateMessageTokens(messagesOf(entries), 4) + overheadTokens) * factor;
      // Usually the prompt is only a little too large, because a turn checks the size before every model call.
      const budgetTokens = Math.round(size / (0.8 + random.next() * (random.isOnce(3) ? 5 : 0.4)));
      const given = { entries, requestFrom, overheadTokens, budgetTokens };
      const planned = plan(given, factor);
      if (planned.kind === "none" || planned.kind === "impossible") return;
      const [before, next] = [messagesOf(entries), carryOut(entries, planned)];
      const after = messagesOf(next);
      assertWhole(before, after, planned.kind === "offload");
      assertKept(before, after);
      assertSendable(createTurnHistory(next).messages);
      assert.ok(planned.tokensAfter < planned.tokensBefore);
      const again = plan({ ...given, entries: next }, factor);
      assert.notEqual(again.kind, "offload");
      assert.notEqual(again.kind, "summarize");
      const smallest = (estimateMessageTokens(leastOf(before), 4) + overheadTokens) * factor;
      const isPossible = smallest < budgetTokens * 0.4 && overheadTokens * factor < budgetTokens * 0.3;
      if (isPossible) assert.ok(planned.tokensAfter <= budgetTokens * 0.8, "too much was left");
    });
  }

  it("thousands of steps of one turn stay within bounds, and few of them compact", () => {
    const random = createRandom(7);
    const history = createHistory();
    const requestFrom = history.add(user("the task"));
    const counts = { none: 0, offload: 0, summarize: 0, impossible: 0 };
    let most = 0;
    for (let step = 0; step < 4_000; step++) {
      const planned = plan({
        entries: history.entries,
        requestFrom,
        overheadTokens: 2_000,
        budgetTokens: 30_000,
      });
      counts[planned.kind] += 1;
      history.entries = carryOut(history.entries, planned);
      most = Math.max(most, messagesOf(history.entries).length);
      history.add(assistant(fill(`thought ${step}`, random.below(600)), [`c${step}`], [`d${step}`]));
      history.add(result(`c${step}`, fill("page", random.below(9_000))));
      history.add(result(`d${step}`, fill("page", random.below(900))));
      if (random.isOnce(100)) history.add(user(`steer ${step}`));
    }
    assert.equal(counts.impossible, 0);
    assert.ok(counts.summarize > 20 && counts.offload + counts.summarize < 800, JSON.stringify(counts));
    assert.ok(most < 600, `${most} messages`);
    assert.equal(textOf(messagesOf(history.entries)[0]), '"the task"');
  });
});

/**
 * Asserts that every result in `after` follows its call and occurs once, and that no call has lost its result. If
 * `isAllThere`, all results of `before` must be in `after`.
 */
function assertWhole(before: HistoryMessage[], after: HistoryMessage[], isAllThere: boolean): void {
  const answered = new Set(resultsOf(before).map((part) => ("toolCallId" in part ? part.toolCallId : "")));
  const called = new Set<string>();
  const got = new Set<string>();
  for (const message of after) {
    if (message.role === "assistant" && typeof message.content !== "string")
      for (const part of message.content) if (part.type === "tool-call") called.add(part.toolCallId);
    for (const part of resultsOf([message])) {
      assert.ok("toolCallId" in part && called.has(part.toolCallId), "a result without its call");
      assert.ok(!got.has(part.toolCallId), "a result twice");
      got.add(part.toolCallId);
    }
  }
  for (const callId of called)
    if (answered.has(callId)) assert.ok(got.has(callId), `${callId} lost its result`);
  if (isAllThere) for (const callId of answered) assert.ok(got.has(callId), `${callId} is gone`);
}

/** Asserts that a provider accepts the messages: all calls have results before the next assistant message and at the end. */
function assertSendable(messages: readonly HistoryMessage[]): void {
  const open = new Set<string>();
  for (const message of messages) {
    if (message.role === "assistant") assert.equal(open.size, 0, `${[...open]} without a result`);
    if (message.role === "assistant" && typeof message.content !== "string")
      for (const part of message.content) if (part.type === "tool-call") open.add(part.toolCallId);
    for (const part of resultsOf([message])) if ("toolCallId" in part) open.delete(part.toolCallId);
  }
  assert.equal(open.size, 0);
}

/** Returns the messages that every compaction must keep: those of the running request and the newest exchange. */
function leastOf(messages: HistoryMessage[]): HistoryMessage[] {
  const newest = messages.findLastIndex(({ role }) => role === "assistant");
  return messages.filter((message, index) => index >= newest || isOfRunning(message));
}

const isOfRunning = (message: HistoryMessage) => /^"(task|steer) of the running/.test(textOf(message) ?? "");

/** Asserts that the task, its steers and the newest exchange are still in the history. */
function assertKept(before: HistoryMessage[], after: HistoryMessage[]): void {
  const texts = after.map(textOf);
  for (const message of before.filter(isOfRunning))
    assert.ok(texts.includes(textOf(message)), "a task message is gone");
  const newest = before.findLast(({ role }) => role === "assistant");
  if (newest?.role !== "assistant" || typeof newest.content === "string") return;
  const text = newest.content.find((part) => part.type === "text")?.text ?? "";
  assert.ok(text && JSON.stringify(after).includes(text), "the newest exchange is gone");
}

/** Creates the history of a random session: requests with exchanges of many shapes and sizes, some of them interrupted. */
function makeHistory(random: Random): { entries: HistoryEntry[]; requestFrom: number } {
  const history = createHistory();
  const size = () => (random.isOnce(12) ? random.below(40_000) : random.below(3_000));
  const requests = 1 + random.below(3);
  let [requestFrom, calls] = [0, 0];
  for (let request = 1; request <= requests; request++) {
    const name = request === requests ? "the running request" : `request ${request}`;
    requestFrom = history.add(user(`task of ${name}`));
    for (let left = random.below(25); left > 0; left--) {
      const callIds = Array.from({ length: random.below(4) }, () => `call${calls++}`);
      const message = assistant(
        fill(`said ${calls}`, 20 + random.below(1_000)),
        ...callIds.map((callId): [string, unknown] => [
          callId,
          { text: fill("in", random.isOnce(6) ? 5_000 : 30) },
        ]),
      );
      const invalid = random.isOnce(8) ? callIds.splice(0, 1) : [];
      history.add(message, ...invalid.map((callId) => result(callId, "does not fit")));
      if (left === 1 && request < requests && random.isOnce(2)) callIds.pop();
      for (const callId of callIds.toSorted(() => random.next() - 0.5)) {
        history.add(result(callId, fill("page", size())));
        if (random.isOnce(20)) history.add(user(`steer of ${name}, ${history.entries.length}`));
      }
    }
  }
  return { entries: history.entries, requestFrom };
}
