"use client";

import {
  History,
  Keyboard,
  Maximize,
  Minimize,
  Monitor,
  MoveDiagonal,
  Smartphone,
  Tablet,
} from "lucide-react";
import { type RefObject, useEffect, useState, useSyncExternalStore } from "react";
import { useRecording } from "#components/runtime/recording-context.tsx";
import { useSession } from "#components/runtime/session-context.tsx";
import { Menu, MenuChoices, MenuItem, MenuLine } from "#components/ui/menu.tsx";
import type { ViewportChoice } from "./use-viewport.ts";
import { ViewButton } from "./view-button.tsx";

const CHOICES = [
  { value: "fit", label: "Fit", icon: <MoveDiagonal /> },
  { value: "desktop", label: "Desktop, 1280 × 800", icon: <Monitor /> },
  { value: "tablet", label: "Tablet, 820 × 1180", icon: <Tablet /> },
  { value: "phone", label: "Phone, 390 × 844", icon: <Smartphone /> },
] as const;

/** Shows the menu of the live view: the size of the page, full screen, and the keyboard of a touch screen. */
export function ViewMenu({
  stage,
  viewport,
  onViewport,
  hasKeyboard,
  onKeyboard,
}: {
  stage: RefObject<HTMLElement | null>;
  /** The size of the page; null for another size. */
  viewport: ViewportChoice;
  onViewport: (choice: ViewportChoice) => void;
  hasKeyboard: boolean;
  onKeyboard: (hasKeyboard: boolean) => void;
}) {
  const { control, role } = useSession();
  const recording = useRecording();
  const isTouch = useMedia("(pointer: coarse)");
  const { isFull, canBeFull, toggle } = useFullScreen(stage);
  return (
    <Menu isOpenAtFirst trigger={<ViewButton />}>
      {role === "drive" && (
        <>
          <MenuChoices
            label={control === "you" ? "Page size" : "Page size: take control to change it"}
            value={viewport}
            choices={CHOICES}
            isDisabled={control !== "you"}
            onChange={onViewport}
          />
          <MenuLine />
        </>
      )}
      {role === "drive" && isTouch && (
        <MenuItem onSelect={() => onKeyboard(!hasKeyboard)}>
          <Keyboard />
          {hasKeyboard ? "Hide the keyboard" : "Show the keyboard"}
        </MenuItem>
      )}
      {recording && (
        <MenuItem onSelect={() => recording.open()}>
          <History />
          Recording
        </MenuItem>
      )}
      <MenuItem disabled={!canBeFull} onSelect={toggle}>
        {isFull ? <Minimize /> : <Maximize />}
        {isFull ? "Leave full screen" : "Full screen"}
      </MenuItem>
    </Menu>
  );
}

/** Whether an element fills the screen, and a function that changes it. Some browsers, as on iPhones, do not allow it. */
function useFullScreen(element: RefObject<HTMLElement | null>) {
  const [isFull, setFull] = useState(false);
  useEffect(() => {
    const follow = () => setFull(document.fullscreenElement === element.current);
    document.addEventListener("fullscreenchange", follow);
    return () => document.removeEventListener("fullscreenchange", follow);
  }, [element]);
  return {
    isFull,
    canBeFull: typeof document !== "undefined" && document.fullscreenEnabled,
    toggle() {
      // A refusal changes nothing, and the browser itself tells the person why.
      const changed = isFull ? document.exitFullscreen() : element.current?.requestFullscreen();
      changed?.catch(() => {});
    },
  };
}

/** Returns whether a media query matches. False on the server. */
function useMedia(query: string): boolean {
  return useSyncExternalStore(
    (listener) => {
      const media = matchMedia(query);
      media.addEventListener("change", listener);
      return () => media.removeEventListener("change", listener);
    },
    () => matchMedia(query).matches,
    () => false,
  );
}
