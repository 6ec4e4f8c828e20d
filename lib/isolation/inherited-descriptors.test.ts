import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { test } from "node:test";

// Needs a process of its own: it counts the descriptors of its process.

test("a process that closes its inherited descriptors passes none on to its children", {
  skip: process.platform !== "linux",
}, () => {
  const script = `
    import { spawnSync } from "node:child_process";
    import { closeInheritedDescriptors } from ${JSON.stringify(import.meta.resolve("./inherited-descriptors.ts"))};
    const list = () => spawnSync("sh", ["-c", "readlink /proc/self/fd/*"]).stdout.toString().split("\\n");
    const before = list().includes("/etc/hostname");
    const closed = closeInheritedDescriptors();
    console.log(JSON.stringify([before, closed.includes(30), list().includes("/etc/hostname"), closeInheritedDescriptors()]));`;
  const held = openSync("/etc/hostname", "r");
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module-typescript", "-e", script], {
    stdio: ["ignore", "pipe", "pipe", ...Array.from({ length: 27 }, () => "ignore" as const), held],
    encoding: "utf8",
  });
  closeSync(held);
  assert.equal(stdout.trim(), JSON.stringify([true, true, false, []]), stderr);
});
