import type { BusConnection } from "./connection.ts";
import { type Notice, packNotices } from "./notice.ts";

/** Sends notices to other processes in order and in batches. While the connection is down, notices wait. */
export type Outbox = {
  /** Queues a notice. @param to id of the receiving process; omit for all processes. */
  push: (notice: Notice, to?: string) => void;
  /** Queues a notice to all processes, ahead of the notices that already wait. */
  pushFirst: (notice: Notice) => void;
  /** Resolves when all waiting notices are sent. Resolves earlier if the connection is down or lost. */
  flush: () => Promise<void>;
};

type Entry = { to: string | undefined; notice: Notice };

/**
 * Maximum number of waiting notices. When this number is reached, the outbox replaces all of them with one `gap`
 * notice.
 */
const WAITING_MAX = 10_000;

/**
 * Creates the outbox.
 *
 * @param from the id of this process.
 * @param onSending called with a promise whenever the outbox begins to send; it resolves when nothing is left to send.
 */
export function createOutbox(
  connection: Pick<BusConnection, "isListening" | "notify">,
  from: string,
  onSending: (sending: Promise<void>) => void = () => {},
): Outbox {
  let waiting: Entry[] = [];
  /** Set while batches are being sent. */
  let sending: Promise<void> | undefined;

  async function flush(): Promise<void> {
    if (!sending && waiting.length > 0 && connection.isListening()) {
      sending = sendBatches();
      onSending(sending);
    }
    await sending;
  }

  /**
   * Sends the waiting notices, one statement at a time. Notices that arrive during a statement are sent with the next
   * statement.
   */
  async function sendBatches(): Promise<void> {
    while (waiting.length > 0 && connection.isListening()) {
      const batch = waiting;
      waiting = [];
      try {
        await connection.notify(toPayloads(from, batch));
      } catch {
        // Some notices of the batch may have arrived. They are sent again, because receiving a notice twice is harmless.
        waiting = [...batch, ...waiting];
        break;
      }
    }
    sending = undefined;
  }

  return {
    push(notice, to) {
      if (waiting.length >= WAITING_MAX) waiting = [{ to: undefined, notice: { type: "gap" } }];
      waiting.push({ to, notice });
      void flush();
    },
    pushFirst(notice) {
      waiting.unshift({ to: undefined, notice });
      void flush();
    },
    flush,
  };
}

/** Packs a batch in order; consecutive notices to the same process share payloads. */
function toPayloads(from: string, batch: Entry[]): string[] {
  const payloads: string[] = [];
  for (let start = 0; start < batch.length; ) {
    const to = batch[start]?.to;
    let end = start;
    while (end < batch.length && batch[end]?.to === to) end++;
    const notices = batch.slice(start, end).map(({ notice }) => notice);
    payloads.push(...packNotices(from, to, notices));
    start = end;
  }
  return payloads;
}
