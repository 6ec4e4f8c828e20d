"use client";

import { type RefObject, useEffect, useMemo, useRef } from "react";
import { useRuntime } from "#components/runtime/session-context.tsx";
import { readPaste, toItems, writeToClipboard } from "./person-clipboard.ts";

type Copied = { text: string; html: string | null };

/** Longer pastes are sent as a request, because a frame of the live connection is limited. */
const FRAME_CHARS_MAX = 12_000;
const FILES_BYTES_MAX = 10 * 1024 * 1024;
const ANSWER_MS_MAX = 12_000;

/**
 * Connects the person's clipboard with the live page: `copy` copies or cuts what is selected there, and `paste` pastes
 * into it.
 *
 * @param onProblem gets a sentence if one of them fails, and null when the next one begins.
 */
export function usePageClipboard(
  surface: RefObject<HTMLTextAreaElement | null>,
  onProblem: (problem: string | null) => void,
) {
  const { live, actions, onTransientFrame } = useRuntime();
  const report = useRef(onProblem);
  report.current = onProblem;
  /** What waits for the answer to a copy, by the number of the copy. */
  const waiting = useRef(new Map<number, (copied: Copied | undefined) => void>());

  useEffect(
    () =>
      onTransientFrame((frame) => {
        if (frame.type !== "clipboard") return;
        const { id, text, html } = frame.data;
        waiting.current.get(id)?.(text === null ? undefined : { text, html });
      }),
    [onTransientFrame],
  );

  return useMemo(() => {
    let copies = 0;
    function askForCopy(action: "copy" | "cut"): Promise<Copied | undefined> {
      copies += 1;
      const id = copies;
      const { promise, resolve } = Promise.withResolvers<Copied | undefined>();
      waiting.current.set(id, resolve);
      const timer = setTimeout(() => resolve(undefined), ANSWER_MS_MAX);
      if (!live.send({ type: "input.copy", action, id })) resolve(undefined);
      return promise.finally(() => {
        clearTimeout(timer);
        waiting.current.delete(id);
      });
    }
    return {
      copy(action: "copy" | "cut"): void {
        report.current(null);
        void writeToClipboard(askForCopy(action), surface.current).then((isDone) => {
          if (!isDone) report.current("Your browser did not allow copying to the clipboard.");
        });
      },
      async paste(data: DataTransfer): Promise<void> {
        report.current(null);
        const pasted = readPaste(data);
        const { text, html, files } = pasted;
        if (files.length === 0 && text.length + (html?.length ?? 0) <= FRAME_CHARS_MAX) {
          if (text !== "" || html !== undefined)
            live.send({ type: "input.paste", text, ...(html !== undefined && { html }), isEvent: true });
          return;
        }
        if (files.reduce((sum, { size }) => sum + size, 0) > FILES_BYTES_MAX)
          return report.current("Files of more than 10 MB cannot be pasted.");
        const outcome = await actions.pasteIntoPage(await toItems(pasted));
        if (!outcome.isDone) report.current(`The paste failed: ${outcome.error}`);
      },
    };
  }, [live, actions, surface]);
}
