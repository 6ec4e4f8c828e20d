import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findSandboxUsers, openSandboxUsers } from "./sandbox-users.ts";

const WHOLE = "         0          0 4294967295\n";
const machine = {
  passwd: "root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534::/:/bin/false\n",
  group: "root:x:0:\n",
  subuid: "ada:100000:65536\n",
  subgid: "ada:100000:65536\n",
  uidMap: WHOLE,
  gidMap: WHOLE,
};
const find = (over: Partial<typeof machine> = {}) => findSandboxUsers({ ...machine, ...over }, new Set());

describe("users of sessions", () => {
  it("differ from each other, and can be released", () => {
    const users = find() ?? assert.fail();
    const some = Array.from({ length: 1_000 }, () => users.assign() ?? assert.fail());
    assert.equal(new Set(some.map(({ uid }) => uid)).size, 1_000);
    assert.ok(some.every(({ uid, gid }) => uid === gid && uid >= 1_879_048_192 && uid <= 2_147_352_575));
    const one = some[0] ?? assert.fail();
    assert.equal(users.assignOwner(one.uid), undefined);
    users.release(one);
    assert.deepEqual(users.assignOwner(one.uid), one);
  });

  it("can be assigned as owners of existing files, if in the range", () => {
    const users = find() ?? assert.fail();
    assert.equal(users.assignOwner(0), undefined);
    assert.equal(users.assignOwner(65_533), undefined);
    assert.deepEqual(users.assignOwner(2_000_000_000), { uid: 2_000_000_000, gid: 2_000_000_000 });
  });

  it("exist in a container with few user ids, until all are assigned", () => {
    const map = "0 100000 65536\n";
    const users = find({ uidMap: map, gidMap: map }) ?? assert.fail();
    const all = new Set<number>();
    for (let user = users.assign(); user; user = users.assign()) all.add(user.uid);
    assert.equal(all.size, 65_519 - 61_184 + 1);
    users.release({ uid: 61_200, gid: 61_200 });
    assert.equal(users.assign()?.uid, 61_200);
  });

  it("are never ids of an account or a group", () => {
    const map = "0 100000 65536\n";
    const users = find({
      uidMap: map,
      gidMap: map,
      passwd: `${machine.passwd}ada:x:61300:61300::/:/bin/sh\n`,
      group: `${machine.group}wheel:x:61301:\n`,
    });
    assert.equal(users?.assignOwner(61_300), undefined);
    for (let user = users?.assign(); user; user = users?.assign())
      assert.ok(user.uid !== 61_300 && user.uid !== 61_301);
  });

  it("are not in a range of subordinate ids", () => {
    assert.equal(find({ subuid: "ada:2000000000:65536\n" })?.range.last, 65_519);
    assert.equal(find({ subgid: "ada:2000000000:65536\nbob:60000:10000\n" }), undefined);
  });

  it("do not exist if the ids are not mapped", () => {
    assert.equal(find({ uidMap: "0 1000 1\n" }), undefined);
    assert.equal(find({ gidMap: "0 1000 1\n" }), undefined);
  });

  it("exist on this machine if the service is root", async () => {
    const isRoot = process.getuid?.() === 0;
    assert.equal((await openSandboxUsers()) !== undefined, isRoot);
  });
});
