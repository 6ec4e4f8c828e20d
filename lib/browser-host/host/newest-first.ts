import type { ScreencastFrame, ScriptPointer } from "#lib/browser/browser-service.ts";
import type { StageState } from "#lib/browser/stage/stage-state.ts";
import type { HostCalls } from "../host-calls.ts";

/** Sends frames, pointers of scripts and states of the stage to a viewer. */
type NewestFirst = {
  frame: (frame: ScreencastFrame) => void;
  pointer: (pointer: ScriptPointer) => void;
  stage: (state: StageState) => void;
};

/** Sends one item at a time. If items arrive faster than they leave, sends only the newest of each kind. */
export function createNewestFirst(send: (item: HostCalls["watch"]["item"]) => Promise<void>): NewestFirst {
  let frame: ScreencastFrame | undefined;
  let pointer: ScriptPointer | undefined;
  let stage: StageState | undefined;
  let isSending = false;

  async function sendAll(): Promise<void> {
    if (isSending) return;
    isSending = true;
    while (frame !== undefined || pointer !== undefined || stage !== undefined) {
      const items = [
        ...(pointer === undefined ? [] : [{ pointer }]),
        ...(stage === undefined ? [] : [{ stage }]),
        ...(frame === undefined ? [] : [{ frame }]),
      ];
      frame = undefined;
      pointer = undefined;
      stage = undefined;
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
    stage(newest) {
      stage = newest;
      void sendAll();
    },
  };
}
