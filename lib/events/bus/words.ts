import type { EventBus } from "./bus.ts";

/** One topic of short words (less than 4,000 bytes) between the processes of a service. */
export type Words = {
  /** Sends a word to every process, this one included. It may get lost. */
  tell: (word: string) => void;
  /** @param onGap called when words may have been missed. @returns the way to stop. */
  listen: (onWord: (word: string) => void, onGap: () => void) => () => void;
};

/** The words of one topic of the bus. */
export const openWords = (bus: Pick<EventBus, "signal" | "onSignal">, topic: string): Words => ({
  tell: (word) => bus.signal(topic, word),
  listen: (onWord, onGap) => bus.onSignal(topic, onWord, onGap),
});
