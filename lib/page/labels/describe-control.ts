import type { ControlLoss } from "../state/apply-control.ts";

/** Tells a visitor why they have control of the browser no longer. */
export function describeLoss({ reason, takenBy }: ControlLoss): string {
  switch (reason) {
    case "taken":
      return `${takenBy ?? "Another person"} took control of the browser.`;
    case "idle":
      return "Control went back to the agent, because there was no input for two minutes.";
    case "away":
      return "Control went back to the agent, because your connection was lost for 30 seconds.";
    case "revoked":
      return "Control went back to the agent, because your access has changed.";
    case "host":
      return "Control ended, because the browser was closed.";
  }
}
