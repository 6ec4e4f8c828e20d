import type { ScreencastFrame, ScriptPointer } from "#lib/browser/browser-service.ts";
import type { HostCalls } from "../host-calls.ts";

/** Sends frames and pointers of scripts to a viewer. */
type NewestFirst = {
  frame: (frame: ScreencastFrame) => void;
  pointer: (pointer: ScriptPointer) => void;
};

/** Sends one item at a time. If items arrive faster than they leave, sends only the newest frame and the newest pointer. */
export function createNewestFirst(send: (item: HostCalls["watch"]["item"]) => Promise<void>): NewestFirst {
  let frame: ScreencastFrame | undefined;
  let pointer: ScriptPointer | undefined;
  let isSending = false;

  async function sendAll(): Promise<void> {
    if (isSending) return;
    isSending = true;
    while (frame !== undefined || pointer !== undefined) {
      const next = pointer === undefined ? [] : [{ pointer }];
      const items = frame === undefined ? next : [...next, { frame }];
      frame = undefined;
      pointer = undefined;
      await Promise.all(items.map(send));
    }
    isSending = false;
  }

  return {
    frame(newest) {
      frame = newest;
      void sendAll();
    },
    pointer(newest) {
      pointer = newest;
      void sendAll();
    },
  };
}
