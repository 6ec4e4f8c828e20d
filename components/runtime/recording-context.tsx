"use client";

import { createContext, use } from "react";

/** A moment of the recording: the page after a tool call, which ended at `atMs` (milliseconds since the epoch). */
type Moment = { callId: string; atMs: number };

/** What is shown of the recording of the session's browser. */
export type RecordingState = {
  /** Whether a person has opened the recording, in place of the live view. */
  isOpen: boolean;
  /** The moment to show; null for the newest picture. */
  moment: Moment | null;
  open: (moment?: Moment | null) => void;
  /** Shows a moment if the recording is shown now, because a person has opened it, or because no browser runs. */
  follow: (moment: Moment) => void;
  close: () => void;
};

export const RecordingContext = createContext<RecordingState | undefined>(undefined);

/** Returns what is shown of the recording. Undefined on a page without recordings, such as that of a sub-agent. */
export const useRecording = (): RecordingState | undefined => use(RecordingContext);
