"use client";

import { useCallback, useEffect, useRef, useState } from "react";

/**
 * Returns a value that survives a reload of the page, and a function that changes and keeps it. The kept value is read
 * after hydration, because the server does not know it. The values are no functions.
 *
 * @param read returns the kept value; undefined if there is none.
 * @param write keeps a value.
 */
export function useDraft<Value>(
  read: () => Value | undefined,
  write: (value: Value) => void,
  initial: () => Value,
): [Value, (change: Value | ((current: Value) => Value)) => void] {
  const [value, setValue] = useState(initial);
  const latest = useRef({ value, isChanged: false, read, write });
  useEffect(() => {
    latest.current = { ...latest.current, read, write };
  });
  useEffect(() => {
    const kept = latest.current.read();
    if (kept === undefined || latest.current.isChanged) return;
    latest.current.value = kept;
    setValue(kept);
  }, []);
  const change = useCallback((next: Value | ((current: Value) => Value)) => {
    const { current } = latest;
    // The cast holds because the values are no functions.
    const changed = typeof next === "function" ? (next as (value: Value) => Value)(current.value) : next;
    current.value = changed;
    current.isChanged = true;
    setValue(changed);
    current.write(changed);
  }, []);
  return [value, change];
}
