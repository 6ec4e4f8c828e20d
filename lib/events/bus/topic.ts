import type { EventBus } from "./bus.ts";

/** A topic of the bus. The processes of a service use it to send each other short texts (less than 4,000 bytes). */
export type Topic = {
  /** Sends a text to every process, including this one. Delivery is not guaranteed. */
  publish: (text: string) => void;
  /**
   * Listens to the topic. @returns a function that unsubscribes.
   * @param onGap called when texts may have been missed.
   */
  subscribe: (onText: (text: string) => void, onGap: () => void) => () => void;
};

/** Opens a topic of the bus. */
export const openTopic = (bus: Pick<EventBus, "signal" | "onSignal">, topic: string): Topic => ({
  publish: (text) => bus.signal(topic, text),
  subscribe: (onText, onGap) => bus.onSignal(topic, onText, onGap),
});
