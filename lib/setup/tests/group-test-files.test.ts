import assert from "node:assert/strict";
import { test } from "node:test";
import { groupTestFiles } from "./group-test-files.mjs";

const filesOf = (room: string, count: number) =>
  Array.from({ length: count }, (_, index) => `lib/${room}/file-${index}.test.ts`);

const roomsOf = (files: string[]) =>
  groupTestFiles(files, () => "").map(([file]) => /^lib\/(\w+)/.exec(file ?? "")?.[1]);

test("groups that wait are mixed with groups that compute, and the last one is short", () => {
  const short = ["api", "keys", "net", "text"].flatMap((room) => filesOf(room, 24));
  const mixed = roomsOf([...filesOf("browser", 24), ...short]);
  assert.equal(mixed.join(), "browser,api,browser,keys,browser,net,text");
  assert.deepEqual(roomsOf([...filesOf("tools", 16), ...filesOf("text", 1)]), ["tools", "tools", "text"]);
  assert.deepEqual(roomsOf(short), ["api", "keys", "net", "text"]);
});

test("short files of several rooms share a process, long ones do not, and a file can have a process of its own", () => {
  const short = ["api", "keys", "net"].flatMap((room) => filesOf(room, 2));
  const long = ["browser", "tools"].flatMap((room) => filesOf(room, 2));
  const own = "lib/net/file-0.test.ts";
  const groups = groupTestFiles([...long, ...short], (file) =>
    file === own ? "// Needs a process of its own: it says so\n" : "",
  );
  const rest = short.filter((file) => file !== own);
  assert.deepEqual(groups.toSorted(), [long.slice(0, 2), [own], long.slice(2), rest].toSorted());
});
