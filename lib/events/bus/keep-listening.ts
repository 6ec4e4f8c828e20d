import type { Listen, NotificationConnection } from "#db/notifications.ts";
import type { Logger } from "#lib/log/logger.ts";

/** A connection for notifications that is opened again whenever it is lost. */
export type Line = {
  isUp: () => boolean;
  /** @throws when the line is down, or goes down. */
  notify: (payloads: string[]) => Promise<void>;
  close: () => Promise<void>;
};

type LineOptions = {
  logger: Pick<Logger, "debug" | "warn">;
  onPayload: (payload: string) => void;
  /** Called whenever a lost line is up again. */
  onBack: () => void;
  /** Between two signs of life asked of the server, and the wait before a new try, which doubles up to the former. */
  pingMs?: number;
  retryMs?: number;
};

/** Opens the line. @throws DatabaseUnreachableError when the first connection cannot be had; later ones are tried for ever. */
export async function keepListening(listen: Listen, channel: string, options: LineOptions): Promise<Line> {
  const { logger, onPayload, onBack, pingMs = 5_000, retryMs = 50 } = options;
  let connection: NotificationConnection | undefined;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  async function open(): Promise<void> {
    const opened = await listen(channel, { onNotification: onPayload, onLost: (error) => lose(error) });
    if (isClosed) return opened.close();
    connection = opened;
    wait(pingMs, ping);
  }
  function lose(error: Error | undefined): void {
    if (isClosed) return;
    if (connection) logger.warn({ err: error }, "the connection for notifications was lost");
    connection = undefined;
    wait(retryMs, () => reopen(retryMs));
  }
  function reopen(waitedMs: number): void {
    open().then(onBack, (error) => {
      logger.debug({ err: error }, "the connection for notifications is not back yet");
      const nextMs = Math.min(waitedMs * 2, pingMs);
      if (!isClosed) wait(nextMs, () => reopen(nextMs));
    });
  }
  /** A server that vanished without a word is found out. */
  function ping(): void {
    const asked = connection;
    asked?.ping().then(
      () => {
        if (connection === asked) wait(pingMs, ping);
      },
      (error) => {
        if (connection !== asked) return;
        void asked.close();
        lose(error);
      },
    );
  }
  function wait(ms: number, then: () => void): void {
    clearTimeout(timer);
    timer = setTimeout(then, ms);
    timer.unref();
  }

  await open();
  return {
    isUp: () => connection !== undefined,
    async notify(payloads) {
      if (!connection) throw new Error("there is no connection for notifications");
      await connection.notify(payloads);
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await connection?.close();
    },
  };
}
