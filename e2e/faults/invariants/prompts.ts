import type { LineOf } from "../recorder/log-line.ts";
import type { Invariant } from "../world/evidence.ts";

/**
 * Every prompt of a turn contains its task once, and each tool call with its result, also after crashes and
 * compactions. Prompts of probes and sub-agents need no task. Requests for a summary are not checked.
 */
export const soundPrompts: Invariant = {
  id: "prompts",
  promise: "every prompt has its task once, and no call without its result",
  findViolations({ rows, traffic, acknowledged }) {
    const prompts = traffic.filter(
      (line): line is LineOf<"model"> => line.type === "model" && line.outcome === "open" && !line.isSummary,
    );
    const requests = new Map(acknowledged.map((one) => [one.nonce, one.requestId]));
    const position = new Map(rows.requests.map((request) => [request.id, request.position]));
    return prompts.flatMap((prompt) => {
      const name = `prompt ${prompt.index} (${prompt.nonce})`;
      const wrong = prompt.unpaired.map((id) => `${name} has call ${id} without its other half`);
      if (prompt.kind === "probe" || prompt.isSubAgent) return wrong;
      if (prompt.tags.length === 0) return [...wrong, `${name} does not have the task`];
      if (new Set(prompt.tags).size !== prompt.tags.length)
        wrong.push(`${name} has a message twice: ${prompt.tags.join(", ")}`);
      if (new Set(prompt.tags.map((nonce) => nonce.length)).size > 1)
        wrong.push(`${name} has a message that is cut: ${prompt.tags.join(", ")}`);
      const accepted = prompt.tags.filter((nonce) => position.has(requests.get(nonce) ?? ""));
      // The order of the messages is not checked here, because an interrupt may overtake others. `oneTurnAtATime`
      // checks the order of the turns.
      return accepted.length === 0 ? [...wrong, `${name} has no message that was accepted`] : wrong;
    });
  },
};

/**
 * The starts and ends of a run's compactions alternate, and each compaction that ended has saved tokens. If the run
 * succeeded, its last compaction has ended, too.
 */
export const compactionsInPairs: Invariant = {
  id: "compaction",
  promise: "turn.compacting and turn.compacted in pairs, each with fewer tokens afterwards",
  findViolations({ rows }) {
    const wrong: string[] = [];
    for (const run of rows.runs) {
      const own = rows.events.filter(
        (event) => event.runId === run.id && event.kind.startsWith("turn.compact"),
      );
      let isOpen = false;
      for (const { kind, seq, body } of own) {
        const isBeginning = kind === "turn.compacting";
        if (isBeginning === isOpen) wrong.push(`${kind} of ${run.id} at ${seq} comes out of turn`);
        isOpen = isBeginning;
        const { tokensBefore, tokensAfter } = JSON.parse(body);
        if (!isBeginning && !(tokensAfter < tokensBefore))
          wrong.push(`the compaction at ${seq} saved no tokens`);
      }
      // A turn that was stopped or has failed may leave a compaction without an end.
      if (isOpen && run.state === "succeeded") wrong.push(`a compaction of ${run.id} has no end`);
    }
    return wrong;
  },
};
