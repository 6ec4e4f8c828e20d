"use client";

import { useState } from "react";
import { shorten } from "#lib/text/shorten.ts";
import { cn } from "../../ui/cn.ts";

/** Shows text of a change. A long text is cut off, and a button shows all of it. HTML is not rendered. */
export function LongText({
  text,
  isCode,
  charactersMax = 240,
}: {
  text: string;
  isCode: boolean;
  charactersMax?: number;
}) {
  const [isWhole, setWhole] = useState(false);
  const isLong = text.length > charactersMax;
  const shown = isWhole ? text : shorten(text, charactersMax);
  return (
    <>
      <span
        dir="auto"
        className={cn("whitespace-pre-wrap [overflow-wrap:anywhere]", isCode && "font-mono text-xs")}
      >
        {shown}
      </span>
      {isLong && (
        <button
          type="button"
          aria-expanded={isWhole}
          onClick={() => setWhole(!isWhole)}
          className="ml-1 rounded-sm text-accent-strong text-xs hover:underline"
        >
          {isWhole ? "Show less" : `Show all ${text.length.toLocaleString("en")} characters`}
        </button>
      )}
    </>
  );
}
