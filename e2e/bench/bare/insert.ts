import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { chooseDriver, openDatabase } from "#db/open-database.ts";
import { createSealer } from "#lib/secrets/sealer.ts";
import { createSession } from "#lib/session/creation/create-session.ts";
import { silentJobs } from "#lib/session/jobs/testing.ts";
import { createFreshRuns } from "#lib/session/run/fresh-runs.ts";

// A baseline: a plain HTTP server that inserts the rows of a new session in one transaction for every request.

const url = process.env.BENCH_DATABASE;
const dataDir = mkdtempSync(join(tmpdir(), "bench-insert-"));
const database = await openDatabase(
  chooseDriver(url) === "embedded" || url === undefined
    ? { driver: "embedded", dataDir }
    : { driver: "pg", url, onError: () => {} },
);
const { db } = database;

const pattern = await createSession(
  {
    db,
    sealer: createSealer(randomBytes(32)),
    jobs: silentJobs,
    freshRuns: createFreshRuns(),
  },
  {
    ownerId: "bench",
    messages: [{ role: "user", parts: [{ type: "text", text: "bench" }] }],
    bodyHash: "0".repeat(64),
    idempotencyKey: null,
    userId: null,
    source: "api",
    origin: "external",
    metadata: null,
    targetUrl: null,
    targetPageUrls: [],
    outputSchema: null,
    systemPrompt: null,
    skills: [],
    mcpServers: {},
    tools: { include: [], exclude: [], externalTurnExclude: [] },
    toolset: [],
    subAgents: false,
    capabilities: { browser: true, sandbox: true },
    callback: null,
    delegation: { maxLiveChildren: 4, maxLiveBrowsers: 4 },
    budget: null,
    interaction: null,
  },
);
if (pattern.status !== "created") throw new Error("the pattern session was not created");

// Marks the jobs as sent, so that a service that opens this database later does not play these sessions.
await db.execute(sql`update outbox set sent_at = now() where sent_at is null`);

/** The rows of the pattern session as JSON text, one for each table. */
const rows = await Promise.all(
  (["sessions", "requests", "runs", "messages", "outbox"] as const).map(async (table) => {
    const name = sql.identifier(table);
    const selected = await db.execute(
      sql`select row_to_json(t)::text as row from ${name} t where t::text like ${`%${pattern.sessionId}%`}`,
    );
    return { name, row: (selected as unknown as { rows: { row: string }[] }).rows[0]?.row ?? "{}" };
  }),
);

async function insertCopy(): Promise<void> {
  const suffix = randomBytes(12).toString("hex");
  const renew = (text: string) => text.replaceAll(/(ses|req|run|msg)_[a-z0-9]{24}/g, `$1_${suffix}`);
  await db.transaction(async (tx) => {
    for (const { name, row } of rows)
      await tx.execute(
        sql`insert into ${name} select * from json_populate_record(null::${name}, ${renew(row)}::json)`,
      );
  });
}

const server = createServer(async (request, response) => {
  for await (const _ of request);
  await insertCopy();
  response.writeHead(201, { "content-type": "application/json" }).end('{"success":true}');
});
const close = async () => {
  await database.close();
  rmSync(dataDir, { recursive: true, force: true });
  process.exit(0);
};
process.on("SIGTERM", close);
process.on("disconnect", close);
server.listen(0, "127.0.0.1", () => process.send?.({ port: (server.address() as AddressInfo).port }));
