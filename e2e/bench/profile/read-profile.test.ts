import assert from "node:assert/strict";
import type { Profiler } from "node:inspector";
import { test } from "node:test";
import { readProfile } from "./read-profile.ts";

const node = (
  id: number,
  functionName: string,
  url: string,
  children: number[] = [],
): Profiler.ProfileNode => ({
  id,
  children,
  callFrame: { functionName, url, lineNumber: 4, columnNumber: 0, scriptId: "1" },
});

test("costs are summed by package and room; recursion counts once, idle time and the profiler do not count", () => {
  const profile: Profiler.Profile = {
    startTime: 0,
    endTime: 0,
    nodes: [
      node(1, "(root)", "", [2, 6, 7]),
      node(2, "play", "file:///here/lib/turn/play.ts", [3]),
      node(3, "play", "file:///here/lib/turn/play.ts", [4]),
      node(4, "query", "file:///here/node_modules/@scope/db/dist/index.js", [5]),
      node(5, "run", "wasm://wasm/abc"),
      node(6, "(idle)", ""),
      node(7, "post", "node:inspector"),
    ],
    samples: [2, 3, 4, 5, 6, 7],
    timeDeltas: [1000, 2000, 3000, 4000, 5000, 6000],
  };
  const { packages, functions, busyMs } = readProfile(profile, "/here/");
  const cost = (name: string) => packages.find((each) => each.name === name);
  assert.equal(busyMs, 10);
  assert.deepEqual(cost("lib/turn"), { name: "lib/turn", selfMs: 3, totalMs: 10 });
  assert.deepEqual(cost("@scope/db"), { name: "@scope/db", selfMs: 3, totalMs: 7 });
  assert.equal(cost("wasm")?.selfMs, 4);
  assert.equal(functions.find(({ name }) => name === "play lib/turn/play.ts:5")?.totalMs, 10);
});
