"use client";

import { useState } from "react";

/** Whether a value was ever true. A dialog stays in the page after it was opened, so that it can close in order. */
export function useEver(isTrue: boolean): boolean {
  const [wasTrue, setWasTrue] = useState(isTrue);
  if (isTrue && !wasTrue) setWasTrue(true);
  return wasTrue || isTrue;
}
