import type { Listen } from "../notifications.ts";
import { connect, type ServerClient } from "./server-client.ts";

/** Creates a {@link Listen} that opens a new connection for each call. Source: Postgres manual, LISTEN and NOTIFY. */
export function createListen(makeClient: () => ServerClient): Listen {
  return async (channel, listener) => {
    const client = makeClient();
    let isOpen = false;
    const handleLoss = (error?: Error) => {
      if (!isOpen) return;
      isOpen = false;
      listener.onLost(error);
      void client.end().catch(() => {});
    };
    client.on("notification", ({ payload }) => listener.onNotification(payload ?? ""));
    client.on("error", handleLoss);
    client.on("end", () => handleLoss());
    await connect(client);
    try {
      // Commits of this connection do not wait for the disk. A crash of the server may then lose notifications, but the
      // event bus (`lib/events/bus`) detects lost notifications.
      await client.query("set synchronous_commit = off");
      await client.query(`listen ${JSON.stringify(channel)}`);
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
    isOpen = true;

    return {
      async notify(payloads) {
        const values = [channel, payloads];
        await client.query("select pg_notify($1, payload) from unnest($2::text[]) as payload", values);
      },
      async ping() {
        await client.query("select 1");
      },
      async close() {
        isOpen = false;
        await client.end().catch(() => {});
      },
    };
  };
}
