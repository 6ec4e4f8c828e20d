import assert from "node:assert/strict";
import { after, before, it } from "node:test";
import { sql } from "drizzle-orm";
import pg from "pg";
import { openTestService, type TestService } from "../testing.ts";
import { listItems } from "./inbox-testing.ts";
import { startParked } from "./waiting-testing.ts";

let service: TestService;
/** The texts of the statements that this process sends, while a test records them. */
let recorded: string[] | undefined;

const { query } = pg.Client.prototype;
before(async () => {
  // The service wraps this function for each of its connections, so it is replaced first.
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const [first] = args as [string | { text?: string }];
    recorded?.push(typeof first === "string" ? first : (first.text ?? ""));
    return Reflect.apply(query, this, args);
  } as typeof query;
  service = await openTestService({ SANDBOX: "unconfined" });
});
after(async () => {
  await service.close();
  pg.Client.prototype.query = query;
});

async function recordStatements(work: () => Promise<unknown>): Promise<string[]> {
  const texts: string[] = [];
  recorded = texts;
  await work();
  recorded = undefined;
  return texts;
}

it("the regular work of a process reads no item, however many wait", async () => {
  const session = await startParked(service);
  const { db } = service.container.services;
  const isItem = (text: string) => text.includes("inbox_items");
  await db.execute(sql`insert into inbox_items (id, session_id, root_session_id, owner_id, run_id, kind, subject_id, title,
      body, last_event, expires_at)
    select 'itm_' || n, session_id, root_session_id, owner_id, run_id, kind, 'subject ' || n, title, body, last_event,
      expires_at from inbox_items, generate_series(1, 1000) n`);
  const regular = await recordStatements(() => service.container.sweep());
  assert.ok(regular.length > 5, `${regular.length} statements`);
  assert.deepEqual(regular.filter(isItem), []);
  // The recorder does see statements about items.
  const listed = await recordStatements(() => listItems(service, session));
  assert.equal(listed.filter(isItem).length, 1);
});
