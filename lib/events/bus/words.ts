import type { EventBus } from "./bus.ts";

/** One topic of the bus: short texts (less than 4,000 bytes) between the processes of a service. */
export type Words = {
  /** Sends a text to every process, including this one. Delivery is not guaranteed. */
  tell: (word: string) => void;
  /** @param onGap called when texts may have been missed. @returns a function that unsubscribes. */
  listen: (onWord: (word: string) => void, onGap: () => void) => () => void;
};

/** Opens a topic of the bus. */
export const openWords = (bus: Pick<EventBus, "signal" | "onSignal">, topic: string): Words => ({
  tell: (word) => bus.signal(topic, word),
  listen: (onWord, onGap) => bus.onSignal(topic, onWord, onGap),
});
