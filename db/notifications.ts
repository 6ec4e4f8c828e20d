/** A connection of its own, outside the pool, that hears the notifications of one channel and sends to it. */
export type NotificationConnection = {
  /** Sends payloads of less than 8,000 bytes each, in order, in one statement. @throws when the connection is lost. */
  notify: (payloads: string[]) => Promise<void>;
  /** Asks the server for a sign of life. @throws when there is none within some seconds. */
  ping: () => Promise<void>;
  close: () => Promise<void>;
};

type NotificationListener = {
  onNotification: (payload: string) => void;
  /** The connection has ended by itself; called at most once. Whoever wants another one opens it. */
  onLost: (error: Error | undefined) => void;
};

/** Opens a connection that listens to a channel. @throws when the server cannot be reached. */
export type Listen = (channel: string, listener: NotificationListener) => Promise<NotificationConnection>;
