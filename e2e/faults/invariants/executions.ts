import type { Invariant } from "../world/evidence.ts";

/** Largest difference between the clocks of two processes on one machine, plus the time to write a line. */
const SLACK_MS = 50;

/**
 * I6: a command does not run again after its result was recorded. An interrupted command does not run again either,
 * because its effect is unknown.
 */
export const noSecondExecution: Invariant = {
  id: "I6",
  promise: "no execution after a recorded result; an interrupted non-idempotent tool reports outcome unknown",
  findViolations({ rows, executions, traffic }) {
    const wrong: string[] = [];
    for (const call of rows.toolCalls) {
      if (call.state === "started") wrong.push(`call ${call.callId} has no end`);
      const nonce = /echo (\w+)/.exec(JSON.stringify(call.input))?.[1];
      if (call.name !== "run_shell" || nonce === undefined) continue;
      const own = executions.filter((execution) => execution.nonce === nonce);
      if (own.length > 1) wrong.push(`the command of ${nonce} ran ${own.length} times`);
      if (call.state === "succeeded" && own.length !== 1)
        wrong.push(`the command of ${nonce} succeeded after ${own.length} executions`);
      if (call.endedAt && own.some((one) => one.atMs > (call.endedAt?.getTime() ?? 0) + SLACK_MS))
        wrong.push(`the command of ${nonce} ran after its result was recorded`);
      if (call.state === "unknown" && !/outcome unknown/i.test(call.resultText ?? ""))
        wrong.push(`the interrupted command of ${nonce} does not report that its outcome is unknown`);
      const isReported = traffic.some((line) => line.type === "model" && line.unknown.includes(call.callId));
      if (call.state === "unknown" && !isReported)
        wrong.push(`the model was not shown that the outcome of ${nonce} is unknown`);
    }
    for (const session of rows.sessions) {
      const results = rows.events.filter(
        (event) => event.sessionId === session.id && event.kind === "tool.result",
      );
      const ids = results.map((event) => `${event.runId} ${JSON.parse(event.body).toolCallId}`);
      if (new Set(ids).size !== ids.length) wrong.push(`a tool call of ${session.id} has two results`);
      const calls = rows.events
        .filter((event) => event.sessionId === session.id && event.kind === "tool.call")
        .map((event) => `${event.runId} ${JSON.parse(event.body).toolCallId}`);
      const succeeded = new Set(rows.runs.filter((run) => run.state === "succeeded").map((run) => run.id));
      for (const id of calls)
        if (!ids.includes(id) && succeeded.has(id.split(" ")[0] ?? ""))
          wrong.push(`call ${id} has no result`);
    }
    return wrong;
  },
};
