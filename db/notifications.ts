/** A connection outside the pool that receives and sends the notifications of one channel. */
export type NotificationConnection = {
  /** Sends payloads of less than 8,000 bytes each, in order, in one statement. @throws when the connection is lost. */
  notify: (payloads: string[]) => Promise<void>;
  /** Checks that the server answers. @throws when it does not answer within 10 seconds. */
  ping: () => Promise<void>;
  close: () => Promise<void>;
};

type NotificationListener = {
  onNotification: (payload: string) => void;
  /** Called at most once, when the connection is lost. The code that opened the connection must open a new one. */
  onLost: (error: Error | undefined) => void;
};

/** Opens a connection that listens to a channel. @throws when the server cannot be reached. */
export type Listen = (channel: string, listener: NotificationListener) => Promise<NotificationConnection>;
