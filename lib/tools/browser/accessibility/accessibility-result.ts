import type { AxeFindings } from "#lib/injected/accessibility/main.ts";

/** What to check. `tags` are axe-core's. With `selector`, only this part of the main frame is checked. */
export type AccessibilityRequest = { tags: string[]; selector: string | undefined; elementsPerRule: number };

/** The findings of all frames that were checked. */
export type AccessibilityResult = {
  url: string;
  violations: (AxeFindings["violations"][number] & { frame: string })[];
  /** Number of rules that hold in the main frame. */
  passed: number;
  /** Rules that a person has to look at. */
  undecided: string[];
  framesChecked: number;
  framesLeftOut: number;
};
