import type { Invariant } from "../world/evidence.ts";

/** I9: every process that the service has started ends at most 30 s after the service. */
export const nothingLeft: Invariant = {
  id: "I9",
  promise: "no browser or sandbox process outlives its session by 30 s",
  findViolations: ({ leftProcesses }) =>
    leftProcesses.map(({ pid, name }) => `process ${pid} (${name}) was left behind`),
};

/** I11: no answer, log, row or file contains a canary, a unique secret of the test. */
export const noCanary: Invariant = {
  id: "I11",
  promise: "no secret canary anywhere",
  findViolations: ({ canaries, haystacks }) =>
    haystacks.flatMap(({ name, text }) =>
      canaries.filter((canary) => text.includes(canary)).map((canary) => `${canary} is in ${name}`),
    ),
};
