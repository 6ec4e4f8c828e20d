"use client";

import { ChevronLeft, ChevronRight, Pause, Play, X } from "lucide-react";
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { useRecording } from "#components/runtime/recording-context.tsx";
import { useRuntime, useSession } from "#components/runtime/session-context.tsx";
import { useStoredAddress } from "#components/runtime/use-stored-address.ts";
import { Button } from "#components/ui/button.tsx";
import { cn } from "#components/ui/cn.ts";
import { IconButton } from "#components/ui/icon-button.tsx";
import { ClockTime } from "#components/ui/time.tsx";
import type { RecordedPicture } from "#lib/client/wire.ts";
import { findMoment } from "./find-moment.ts";

const PLAY_MS = 1_000;

/**
 * Shows the recording: a slider with which a person moves through its pictures, and the chosen picture in place of the
 * live view. Until a person has opened the recording, only the slider is shown, below the last picture of the page; it is
 * not shown if there is nothing to move through.
 */
export function RecordingView() {
  const { browser } = useSession();
  const recording = useRecording();
  const { pictures, problem, reload } = usePictures();
  const isOpen = recording?.isOpen ?? false;
  const moment = recording?.moment ?? null;
  const [chosen, setChosen] = useState<{ for: typeof moment; index: number } | null>(null);
  const last = pictures.length - 1;
  const wanted = useMemo(
    () => (moment ? findMoment(pictures, moment) : pictures.length - 1),
    [pictures, moment],
  );
  const index = isOpen && chosen && chosen.for === moment ? Math.min(chosen.index, last) : wanted;
  const choose = (next: number) => {
    setChosen({ for: moment, index: Math.max(0, Math.min(next, last)) });
    if (!isOpen) recording?.open(moment);
  };
  const play = usePlaying(index < last, () => choose(index + 1));
  const close = (
    <Button
      size="sm"
      onClick={() => {
        setChosen(null);
        recording?.close();
      }}
    >
      <X />
      {browser.status === "ready" ? "Back to live" : "Close"}
    </Button>
  );
  const shown = pictures[index];
  if (!shown || (!isOpen && last === 0))
    return isOpen ? (
      <section aria-label="Recording" className="flex min-h-0 flex-1 flex-col bg-sunken">
        <p role={problem ? "alert" : undefined} className="m-auto text-soft text-sm">
          {problem ?? "There are no pictures of this session's page yet."}
        </p>
        <Bar>
          {problem && <Button onClick={reload}>Try again</Button>}
          {close}
        </Bar>
      </section>
    ) : null;
  return (
    <section aria-label="Recording" className={cn("flex flex-col", isOpen && "min-h-0 flex-1 bg-sunken")}>
      {isOpen && <Picture picture={shown} />}
      <Bar>
        <IconButton label="Previous picture" disabled={index === 0} onClick={() => choose(index - 1)}>
          <ChevronLeft />
        </IconButton>
        <IconButton
          label={play.isPlaying ? "Pause" : "Play"}
          disabled={last === 0}
          onClick={() => {
            if (index === last) choose(0);
            play.toggle();
          }}
        >
          {play.isPlaying ? <Pause /> : <Play />}
        </IconButton>
        <IconButton label="Next picture" disabled={index === last} onClick={() => choose(index + 1)}>
          <ChevronRight />
        </IconButton>
        <input
          type="range"
          aria-label="Moment of the recording"
          aria-valuetext={`Picture ${index + 1} of ${pictures.length}: ${shown.title || shown.url}`}
          className="min-w-24 flex-1 accent-(--accent)"
          min={0}
          max={last}
          value={index}
          onChange={({ currentTarget }) => choose(Number(currentTarget.value))}
        />
        <span className="shrink-0 text-soft text-xs tabular-nums">
          {index + 1} of {pictures.length} · <ClockTime iso={shown.takenAt} />
        </span>
        {isOpen && close}
      </Bar>
    </section>
  );
}

/**
 * Shows a picture. While a person drags the slider, one picture is loaded at a time, and then the newest chosen one: loads
 * that are started and given up for each step would keep the service busy, and show nothing on the way. Source: decision
 * 125.
 */
function Picture({ picture }: { picture: RecordedPicture }) {
  const { paths } = useSession();
  const [loading, setLoading] = useState(picture);
  const [settledId, setSettledId] = useState<string | null>(null);
  if (loading.id !== picture.id && settledId === loading.id) setLoading(picture);
  const { id, title, url } = loading;
  const address = useStoredAddress(`${paths.recording}/${id}`);
  const settle = () => setSettledId(id);
  return (
    <div className="flex min-h-0 flex-1 flex-col items-center gap-2 p-3 max-lg:p-2">
      {/* biome-ignore lint/performance/noImgElement: only the visitor's own browser has the cookie for this picture */}
      <img
        src={address}
        alt={`The page at this moment: ${title || url}`}
        onLoad={settle}
        onError={settle}
        className="m-auto max-h-full min-h-0 max-w-full rounded-sm bg-white object-contain ring-1 ring-line"
      />
      <p className="w-full shrink-0 truncate text-center text-faint text-xs" title={url}>
        {url}
      </p>
    </div>
  );
}

const Bar = ({ children }: { children: ReactNode }) => (
  <div className="flex flex-wrap items-center justify-end gap-1 border-t bg-canvas px-3 py-1.5">
    {children}
  </div>
);

/** Calls `advance` every second while the recording plays. It stops at the last picture. */
function usePlaying(canAdvance: boolean, advance: () => void) {
  const [wantsPlay, setPlaying] = useState(false);
  const isPlaying = wantsPlay && canAdvance;
  useEffect(() => {
    if (!isPlaying) return;
    const timer = setTimeout(advance, PLAY_MS);
    return () => clearTimeout(timer);
  });
  return { isPlaying, toggle: () => setPlaying(!isPlaying) };
}

/** Reads the list of pictures, and reads it again when a turn or the browser has ended, or a person wants a moment. */
function usePictures() {
  const { fetch } = useRuntime();
  const { paths, turnState, browser } = useSession();
  const moment = useRecording()?.moment;
  const [pictures, setPictures] = useState<RecordedPicture[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const [attempt, setAttempt] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: these values say that there may be more pictures
  useEffect(() => {
    const stop = new AbortController();
    readPictures(fetch, paths.recording, stop.signal).then(
      (read) => {
        setPictures(read);
        setProblem(null);
      },
      () => {
        if (!stop.signal.aborted) setProblem("The recording could not be loaded.");
      },
    );
    return () => stop.abort();
  }, [fetch, paths.recording, turnState, browser.status, moment, attempt]);
  return { pictures, problem, reload: () => setAttempt(attempt + 1) };
}

async function readPictures(
  fetcher: typeof fetch,
  path: string,
  signal: AbortSignal,
): Promise<RecordedPicture[]> {
  const response = await fetcher(path, { signal });
  if (!response.ok) throw new Error(`the list was answered with ${response.status}`);
  return ((await response.json()) as { data: RecordedPicture[] }).data;
}
