/** A client that receives the frames of a browser page and can press the mouse button. */
export type View = {
  subscribe: (isOn: boolean) => void;
  /** Resolves with the time of the next frame (`performance.now()`). */
  nextFrame: () => Promise<number>;
  frames: () => number;
  press: () => void;
  release: () => void;
  close: () => unknown;
};
