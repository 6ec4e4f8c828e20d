import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { sql } from "drizzle-orm";
import { openEmbedded } from "./embedded.ts";

const writer = `
  const { sql } = await import("drizzle-orm");
  const { openEmbedded } = await import(${JSON.stringify(new URL("embedded.ts", import.meta.url).href)});
  const { db } = await openEmbedded(process.env.DATA_DIR);
  await db.execute(sql\`create table written (n int primary key, is_half boolean not null)\`);
  for (let n = 0; ; n += 2) {
    await db.execute(sql\`insert into written values (\${n}, false)\`);
    process.stdout.write(n + "\\n");
    await db.transaction(async (tx) => {
      await tx.execute(sql\`insert into written values (\${n + 1}, true)\`);
      await tx.execute(sql\`update written set is_half = false where n = \${n + 1}\`);
    });
    process.stdout.write(n + 1 + "\\n");
  }
`;

test("what was acknowledged is there after the process was killed, and nothing by halves", async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "embedded-killed-"));
  t.after(() => rm(dataDir, { recursive: true, force: true }));
  const child = spawn(process.execPath, ["--input-type=module", "-e", writer], {
    cwd: import.meta.dirname,
    env: { ...process.env, DATA_DIR: dataDir },
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  const exit = once(child, "exit");
  let acknowledged = -1;
  for await (const line of createInterface({ input: child.stdout })) {
    acknowledged = Number(line);
    if (acknowledged === 300) child.kill("SIGKILL");
  }
  await exit;

  const database = await openEmbedded(dataDir);
  t.after(() => database.close());
  const found = await database.db.execute(sql`select n, is_half from written order by n`);
  const rows = (found as unknown as { rows: { n: number; is_half: boolean }[] }).rows;
  assert.ok(acknowledged >= 300);
  assert.ok(rows.length > acknowledged, `${rows.length} rows of ${acknowledged + 1}`);
  assert.deepEqual(
    rows,
    rows.map((_, n) => ({ n, is_half: false })),
  );
});
