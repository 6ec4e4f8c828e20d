import type { Listen, NotificationConnection } from "#db/notifications.ts";
import type { Logger } from "#lib/log/logger.ts";

/** The bus's connection for Postgres notifications. It reconnects automatically until it is closed. */
export type BusConnection = {
  /** Opens the first connection. @throws DatabaseUnreachableError when the server cannot be reached. */
  open: () => Promise<void>;
  isListening: () => boolean;
  /** Sends notifications. @throws if the connection is not listening, or is lost before the server confirms them. */
  notify: (payloads: string[]) => Promise<void>;
  close: () => Promise<void>;
};

/**
 * The lifecycle: `connecting` → `listening` ⇄ `reconnecting`. Each state can change to `closed`. A state has at most
 * one timer: `listening` has a timer for the next ping, `reconnecting` has one for the next attempt.
 */
type ConnectionState =
  | { name: "connecting" }
  | { name: "listening"; connection: NotificationConnection }
  | { name: "reconnecting"; delayMs: number }
  | { name: "closed" };

type ConnectionDeps = {
  listen: Listen;
  logger: Pick<Logger, "debug" | "warn">;
  onPayload: (payload: string) => void;
  /**
   * Called after the first connection and after each reconnect. Notifications that were sent while the process was
   * disconnected are lost, so the callback must recover what they announced.
   */
  onListening: () => void;
  /** Milliseconds between pings. Also the longest delay between two attempts to reconnect. */
  pingMs?: number;
  /** Milliseconds before the first attempt to reconnect. The delay doubles after each failed attempt. */
  retryMs?: number;
};

/** Creates a connection. It listens to a Postgres channel after `open` is called. */
export function createBusConnection(deps: ConnectionDeps, channel: string): BusConnection {
  const { listen, logger, onPayload, onListening, pingMs = 5_000, retryMs = 50 } = deps;
  let state: ConnectionState = { name: "connecting" };
  let timer: NodeJS.Timeout | undefined;

  /** Changes the state and replaces the timer. No other code changes the state. */
  function enter(next: ConnectionState): void {
    clearTimeout(timer);
    state = next;
    if (next.name === "listening") timer = setTimeout(() => void ping(next.connection), pingMs).unref();
    if (next.name === "reconnecting")
      timer = setTimeout(() => void reconnect(next.delayMs), next.delayMs).unref();
  }

  async function connect(): Promise<void> {
    let opened: NotificationConnection | undefined;
    opened = await listen(channel, {
      onNotification: onPayload,
      onLost: (error) => handleLoss(opened, error),
    });
    // If the bus was closed while `listen` was opening the connection, the connection is closed again.
    if (state.name === "closed") return opened.close();
    enter({ name: "listening", connection: opened });
    onListening();
  }

  async function reconnect(delayMs: number): Promise<void> {
    try {
      await connect();
    } catch (error) {
      logger.debug({ err: error }, "reconnecting for notifications failed");
      if (state.name === "reconnecting")
        enter({ name: "reconnecting", delayMs: Math.min(delayMs * 2, pingMs) });
    }
  }

  /** Detects a silently dropped connection. */
  async function ping(connection: NotificationConnection): Promise<void> {
    try {
      await connection.ping();
      // Entering the state again schedules the next ping.
      if (isCurrent(connection)) enter({ name: "listening", connection });
    } catch (error) {
      if (!isCurrent(connection)) return;
      void connection.close();
      handleLoss(connection, error);
    }
  }

  function handleLoss(connection: NotificationConnection | undefined, error: unknown): void {
    if (connection === undefined || !isCurrent(connection)) return;
    logger.warn({ err: error }, "connection for notifications was lost");
    enter({ name: "reconnecting", delayMs: retryMs });
  }

  const isCurrent = (connection: NotificationConnection) =>
    state.name === "listening" && state.connection === connection;

  return {
    open: connect,
    isListening: () => state.name === "listening",
    async notify(payloads) {
      if (state.name !== "listening") throw new Error(`the connection for notifications is ${state.name}`);
      await state.connection.notify(payloads);
    },
    async close() {
      const last = state;
      enter({ name: "closed" });
      if (last.name === "listening") await last.connection.close();
    },
  };
}
