import type { FaultCase } from "../../fault-case.ts";
import { armKill, expectKill } from "./arm-kill.ts";

const TURNS = 24;

/** `kill -9` after steps of several turns were written in one statement. Source: `faults.md`, Kill points. */
export const sharedWrites: FaultCase = {
  name: "K58",
  group: "kill",
  title: "steps of several turns written in one statement, none of the turns knows it",
  async play(world) {
    await world.start(armKill(world, "K58", world.random.pick([1, 2, 4])));
    await Promise.all(Array.from({ length: TURNS }, () => world.create("tools")));
    await expectKill(world, "K58");
    await world.restart();
    await world.waitUntilIdle();
  },
};
