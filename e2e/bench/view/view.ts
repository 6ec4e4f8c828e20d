/** A client that receives the frames of a browser page and can use the mouse, always at the height of 300 px. */
export type View = {
  subscribe: (isOn: boolean) => void;
  /** Resolves with the time of the next frame (`performance.now()`). */
  nextFrame: () => Promise<number>;
  frames: () => number;
  press: () => void;
  /** Moves the mouse to `x` with the button pressed. */
  drag: (x: number) => void;
  release: () => void;
  close: () => unknown;
};
