import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { getPriority } from "node:os";
import { dirname } from "node:path";
import { test } from "node:test";
import { LOW_PRIORITY } from "#lib/isolation/low-priority.ts";
import { CONFINEMENT_KINDS, findConfinement } from "./script-confinement.ts";
import { startScriptProcess } from "./script-process.ts";

/** The command line of a process and of its descendants, one process a line. */
async function listCommands(pid: number): Promise<string[]> {
  const read = (path: string) => readFile(`/proc/${pid}/${path}`, "utf8").catch(() => "");
  const command = (await read("cmdline")).replaceAll("\0", " ").trim();
  const children = (await read(`task/${pid}/children`)).split(" ").filter(Boolean);
  return [command, ...(await Promise.all(children.map((child) => listCommands(Number(child))))).flat()];
}

test("a script's processes have low priority, and their arguments no path of the machine", async () => {
  const found = await findConfinement(process.execPath, CONFINEMENT_KINDS);
  assert.ok("kind" in found, "scripts cannot be confined here");
  const child = startScriptProcess(found.start(undefined));
  try {
    await child.ready;
    const { pid } = child;
    assert.ok(pid !== undefined);
    assert.equal(getPriority(pid), getPriority() + LOW_PRIORITY);
    const autogroup = await readFile(`/proc/${pid}/autogroup`, "utf8").catch(() => `nice ${LOW_PRIORITY}`);
    assert.match(autogroup, new RegExp(`nice ${LOW_PRIORITY}\\s*$`));
    if (found.kind !== "bubblewrap") return;
    const commands = (await listCommands(pid)).join("\n");
    assert.match(commands, /^bwrap --args 3 \/runner\/node /);
    for (const path of [import.meta.dirname, dirname(process.execPath)])
      assert.ok(!commands.includes(path), commands);
  } finally {
    child.kill();
    await child.ended;
  }
});
