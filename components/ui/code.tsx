"use client";

import { useEffect, useState } from "react";
import type { CodeToken } from "./highlight.ts";

/** The time from the last change of a text until it is colored, so that streamed code is colored once. */
const PAUSE_MS = 200;

/**
 * Shows code in colors. The colors are loaded after the first paint, and take no space. Without a known language, the
 * code has none.
 */
export function Code({ text, language }: { text: string; language: string | undefined }) {
  const [colored, setColored] = useState<{ text: string; tokens: CodeToken[] }>();
  useEffect(() => {
    if (language === undefined) return;
    let isCurrent = true;
    const timer = setTimeout(async () => {
      try {
        const { highlight } = await import("./highlight.ts");
        const tokens = highlight(text, language);
        if (isCurrent && tokens) setColored({ text, tokens });
      } catch {
        // The colors could not be loaded. The code is readable without them.
      }
    }, PAUSE_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [text, language]);
  if (colored?.text !== text) return text;
  return colored.tokens.map(({ text: part, color }, index) =>
    color === undefined ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: tokens have no ids
      <span key={index} className={color}>
        {part}
      </span>
    ),
  );
}
