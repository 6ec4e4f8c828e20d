import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "drizzle-orm";
import { toDirectUrl } from "./drivers/server-client.ts";
import { startNeonProxy } from "./neon-proxy-testing.ts";
import { openDatabase } from "./open-database.ts";
import { startTestPostgres, type TestPostgres } from "./postgres-testing.ts";
import { createDatabase, openTestPostgres, type TestDatabase } from "./testing.ts";
import { isConnectionLost } from "./unavailability.ts";

let postgres: TestPostgres;
let wsProxy: string;
let closeProxy: () => Promise<void>;
before(async () => {
  postgres = await startTestPostgres();
  ({ wsProxy, close: closeProxy } = await startNeonProxy(postgres.url));
});
after(async () => {
  await closeProxy();
  await postgres.stop();
});

for (const driver of ["pg", "neon"] as const) {
  describe(`a database server over ${driver}`, () => {
    let database: TestDatabase;
    let url: string;
    const lost: Error[] = [];
    const open = () => openTestPostgres({ driver, url, wsProxy }, (error) => lost.push(error));
    before(async () => {
      url = await createDatabase(postgres.url, driver, "template1");
      // Simulates two processes that start at the same time on an empty database: one creates the tables while the
      // other waits.
      const [first, second] = await Promise.all([open(), open()]);
      database = first;
      await second.close();
    });
    after(() => database.close());

    /** Terminates all connections of the pool on the server. */
    const cutConnections = async () => {
      const other = await open();
      await other.db.execute(sql`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`);
      await other.close();
    };

    it("rolls back a failed transaction", async () => {
      await database.db.execute(sql`create table if not exists marks (id int)`);
      const failing = database.db.transaction(async (tx) => {
        await tx.execute(sql`insert into marks values (1)`);
        await tx.execute(sql`select 1 / 0`);
      });
      await assert.rejects(failing, (error) => !isConnectionLost(error));
      assert.deepEqual((await database.client.query("select * from marks")).rows, []);
    });

    it("removes connections from its pool that were lost before or during a transaction", async () => {
      const transact = () => database.db.transaction((tx) => tx.execute(sql`select pg_sleep(0.01)`));
      for (let round = 0; round < 3; round++) {
        const running = Promise.allSettled(Array.from({ length: 16 }, transact));
        await cutConnections();
        await Promise.allSettled(Array.from({ length: 16 }, transact));
        await running;
      }
      await Promise.all(Array.from({ length: 32 }, transact));
      assert.ok(lost.length > 0, "onError was called");
    });

    it("throws the original error of a transaction, even if its rollback fails", async () => {
      const failing = database.db.transaction(async (tx) => {
        await tx.execute(sql`select 1`);
        await cutConnections();
        throw new Error("the reason");
      });
      await assert.rejects(failing, /^Error: the reason$/);
      const cut = database.db.transaction(async (tx) => {
        await tx.execute(sql`select 1`);
        await cutConnections();
        await tx.execute(sql`select 1`);
      });
      await assert.rejects(cut, (error) => isConnectionLost(error));
    });
  });
}

describe("a database server", () => {
  it("that ends connections while the pool closes does not report them as lost", async () => {
    const url = await createDatabase(postgres.url, "closing", "template1");
    const reported: Error[] = [];
    const database = await openTestPostgres({ driver: "pg", url }, (error) => reported.push(error));
    const closing = database.db.transaction(async (tx) => {
      void database.close();
      await assert.rejects(tx.execute(sql`select pg_terminate_backend(pg_backend_pid())`), isConnectionLost);
    });
    await assert.rejects(closing, isConnectionLost);
    assert.deepEqual(reported, []);
  });

  it("that cannot be reached is reported without the password", async () => {
    const url = "postgres://someone:geheim@127.0.0.1:1/nothing";
    await assert.rejects(openDatabase({ driver: "pg", url, onError() {} }), (error: Error) => {
      assert.match(error.message, /^the database cannot be reached \(DATABASE_URL\): .*ECONNREFUSED/);
      return !error.message.includes("geheim");
    });
  });

  it("of Neon has a URL without the pooler", () => {
    assert.equal(
      new URL(toDirectUrl("postgres://u:p@ep-cool-1-pooler.eu-central-1.aws.neon.tech/db")).hostname,
      "ep-cool-1.eu-central-1.aws.neon.tech",
    );
    assert.equal(new URL(toDirectUrl("postgres://u:p@my-pooler.example/db")).hostname, "my-pooler.example");
  });
});
