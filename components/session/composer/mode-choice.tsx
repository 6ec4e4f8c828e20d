"use client";

import type { FollowUpMode } from "#lib/page/state/view-types.ts";

/** The name of each mode, and a description for the person who chooses. */
export const MODES: Record<FollowUpMode, { name: string; does: string }> = {
  queue: { name: "Queue", does: "Say what comes next" },
  steer: { name: "Steer", does: "Tell the agent while it works" },
  interrupt: { name: "Interrupt", does: "Stop this turn and ask for something else" },
};

/** Why a message does not join a turn. */
export const CANNOT_STEER =
  "No person started this turn, so it works without some tools. Your message starts a turn of its own, with all tools.";

/**
 * Lets the person choose how a message reaches a running turn. The choices are one Tab stop; the arrow keys change the
 * choice.
 */
export function ModeChoice({
  mode,
  maySteer,
  onChange,
}: {
  mode: FollowUpMode;
  /** Whether a message can join the running turn. If not, the choice says why. */
  maySteer: boolean;
  onChange: (mode: FollowUpMode) => void;
}) {
  return (
    <fieldset className="flex h-7 min-w-0 items-stretch rounded-md bg-sunken p-0.5">
      <legend className="sr-only">When the agent reads it</legend>
      {Object.entries(MODES).map(([choice, { name, does }]) => (
        <label
          key={choice}
          title={choice === "steer" && !maySteer ? CANNOT_STEER : does}
          className="relative flex select-none items-center rounded-sm px-2 font-medium text-soft text-xs outline-offset-[-2px] hover:text-ink has-checked:bg-raised has-checked:text-ink has-checked:shadow-(color:--shadow-color) has-checked:shadow-sm has-disabled:text-faint has-disabled:hover:text-faint has-focus-visible:outline-2 has-focus-visible:outline-accent max-sm:px-1.5"
        >
          <input
            type="radio"
            name="mode"
            className="absolute inset-0 cursor-pointer appearance-none outline-none"
            checked={choice === mode}
            disabled={choice === "steer" && !maySteer}
            // `choice` is a key of `MODES`.
            onChange={() => onChange(choice as FollowUpMode)}
          />
          {name}
        </label>
      ))}
    </fieldset>
  );
}
