import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createLane } from "./create-lane.ts";

const LOST = new Error("Connection terminated unexpectedly");

/** Creates a lane of words. Its statements end when the test ends them, and the key of a word is its first letter. */
function createControlled() {
  const statements: { words: readonly string[]; end: PromiseWithResolvers<Map<string, string>> }[] = [];
  const alone: string[] = [];
  const write = createLane<string, string>({
    keyOf: (word) => word.charAt(0),
    writeTogether(words) {
      const end = Promise.withResolvers<Map<string, string>>();
      statements.push({ words, end });
      return end.promise;
    },
    async writeAlone(word) {
      alone.push(word);
      if (word.endsWith("!")) throw new Error(`refused ${word}`);
      return `${word} alone`;
    },
    isOutcomeUnknown: (error) => error === LOST,
  });
  /** Ends a statement: each word is written, except `leftOut`. */
  const end = (index: number, ...leftOut: string[]) => {
    const { words, end } = statements[index] ?? assert.fail("no statement");
    const written = words.filter((word) => !leftOut.includes(word));
    end.resolve(new Map(written.map((word) => [word.charAt(0), `${word} together`])));
  };
  const listWords = () => statements.map(({ words }) => words.join(" "));
  return { write, statements, alone, end, listWords };
}

/** Starts a lane with two statements on their way, so that the next words gather. */
function createBusy() {
  const lane = createControlled();
  const first = [lane.write("x"), lane.write("y")];
  return { ...lane, first };
}

describe("a lane", () => {
  it("writes an item at once, and those that arrive meanwhile in one statement", async () => {
    const { write, end, first, listWords } = createBusy();
    const others = ["a", "b", "c"].map(write);
    assert.deepEqual(listWords(), ["x", "y"]);
    end(0);
    assert.equal(await first[0], "x together");
    await new Promise(setImmediate);
    assert.deepEqual(listWords(), ["x", "y", "a b c"]);
    end(2);
    assert.deepEqual(await Promise.all(others), ["a together", "b together", "c together"]);
    end(1);
    await first[1];
  });

  it("writes items with one key one after the other, in their order", async () => {
    const { write, end, listWords } = createBusy();
    for (const word of ["a1", "b", "a2"]) void write(word);
    end(0);
    await new Promise(setImmediate);
    end(1);
    await new Promise(setImmediate);
    assert.deepEqual(listWords().slice(2), ["a1 b", "a2"]);
  });

  it("writes at most 16 items together", async () => {
    const { write, end, listWords } = createBusy();
    for (let index = 0; index < 20; index++) void write(String.fromCharCode(97 + index));
    end(0);
    await new Promise(setImmediate);
    end(1);
    await new Promise(setImmediate);
    assert.deepEqual(
      listWords().map((words) => words.split(" ").length),
      [1, 1, 16, 4],
    );
  });

  it("writes an item alone that its statement left out, without stopping the others", async () => {
    const { write, end, alone } = createBusy();
    const words = ["a", "b", "c"].map(write);
    end(0);
    await new Promise(setImmediate);
    end(2, "b");
    assert.deepEqual(await Promise.all(words), ["a together", "b alone", "c together"]);
    assert.deepEqual(alone, ["b"]);
  });

  it("writes each item of a failed statement alone, so that only the guilty one fails", async () => {
    const { write, end, statements, alone } = createBusy();
    const words = ["a", "b!", "c"].map(write);
    const ends = Promise.allSettled(words);
    end(0);
    await new Promise(setImmediate);
    statements[2]?.end.reject(new Error("unique violation"));
    assert.deepEqual(
      (await ends).map((each) => (each.status === "fulfilled" ? each.value : String(each.reason))),
      ["a alone", "Error: refused b!", "c alone"],
    );
    assert.deepEqual(alone, ["a", "b!", "c"]);
  });

  it("fails all items of a statement whose outcome is unknown, and writes none again", async () => {
    const { write, end, statements, alone } = createBusy();
    const ends = Promise.allSettled(["a", "b"].map(write));
    end(0);
    await new Promise(setImmediate);
    statements[2]?.end.reject(LOST);
    assert.deepEqual(
      (await ends).map((each) => each.status === "rejected" && each.reason),
      [LOST, LOST],
    );
    assert.deepEqual(alone, []);
  });

  it("does not write a single item again whose statement failed", async () => {
    const { write, statements, alone } = createControlled();
    const end = assert.rejects(write("a"), /refused/);
    statements[0]?.end.reject(new Error("refused"));
    await end;
    assert.deepEqual(alone, []);
  });
});
